"""One script per toolkit: loads the model as its user would and hands its ways to `benchmarks.embedding.measure`."""
