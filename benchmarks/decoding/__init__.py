"""Translating with the same weights, beside other toolkits: `python -m benchmarks.decoding`."""
