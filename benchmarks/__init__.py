"""Our training step beside that of other toolkits, as ratios of one run: `python -m benchmarks`."""
