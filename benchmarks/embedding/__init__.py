"""Vectors of 2,000 texts of many lengths, made with the same MiniLM on all sides."""
