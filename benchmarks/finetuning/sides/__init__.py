"""One script per toolkit: tunes the model as its user would."""
