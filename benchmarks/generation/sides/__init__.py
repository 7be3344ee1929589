"""One script per toolkit: loads the model as its user would and hands a function to `benchmarks.generation.measure`."""
