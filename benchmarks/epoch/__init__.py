"""From files to the end of one epoch, beside other toolkits: `python -m benchmarks.epoch`."""
