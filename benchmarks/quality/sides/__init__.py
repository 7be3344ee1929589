"""One script per toolkit: trains by its own loop and recipe, and tells `benchmarks.quality.watch` of every validation.

Each runs in a process and an environment of its own, so it imports nothing but its toolkit, torch and `benchmarks`.
"""
