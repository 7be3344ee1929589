"""Captioning: a picture in, a text about it out."""
