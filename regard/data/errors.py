"""What is said of data that cannot be read."""

from __future__ import annotations

from regard.errors import Error


class DataError(Error):
    """A file that is missing, damaged or not as promised; the message says where and what to do."""
