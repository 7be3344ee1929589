"""One data set a file: each yields plain examples, and imports no torch."""
