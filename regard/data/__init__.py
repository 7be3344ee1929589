"""Data: where examples come from, and how they become tokens and batches."""
