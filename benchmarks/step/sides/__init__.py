"""One script per toolkit: builds its model through its own interface and hands its loss to `benchmarks.step.measure`.

Each runs in a process and an environment of its own, so it imports nothing but its toolkit, torch and `benchmarks`.
"""
