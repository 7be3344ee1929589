"""What is said of data that cannot be read."""

from __future__ import annotations


class DataError(ValueError):
    """A file that is missing, damaged or not as promised; the message says where and what to do."""
