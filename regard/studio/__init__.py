"""The studio: a small web server that lists runs and lets a person use them and look inside, and its HTTP API.

It listens before torch is imported, so that its page is there at once; whatever needs torch is computed by a few
workers behind a short queue, and stops when whoever asked for it has left.
"""
