"""One script per toolkit: trains by its own loop, reading the files itself, and tells `benchmarks.epoch.measure` when
the epoch is over.

Each runs in a process and an environment of its own, so it imports nothing but its toolkit, torch and `benchmarks`.
"""
