"""The time to a BLEU on held-out sentences, beside another toolkit: `python -m benchmarks.quality`."""
