"""Writing on from prompts with GPT-2's 124 million random weights, the same on all sides."""
