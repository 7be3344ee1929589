"""The same MiniLM tuned to tell classes of texts: ours beside transformers' Trainer, in the same time."""
