"""One script per toolkit: loads the model as its user would and hands a function to `benchmarks.decoding.measure`.

Each runs in a process and an environment of its own, so it imports nothing but its toolkit and `benchmarks`.
"""
