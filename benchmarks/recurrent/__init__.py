"""A recurrent translator with attention beside JoeyNMT's of the same size: `python -m benchmarks.recurrent`."""
