"""One training step, beside other toolkits: `python -m benchmarks`."""
