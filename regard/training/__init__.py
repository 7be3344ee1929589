"""Training: loop, optimisers, schedules, averaging, events."""
