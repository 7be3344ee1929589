"""What is the user's mistake, and what is not.

`Error` is the one exception that the command line turns into a sentence and exit code 2, and the studio into an answer
of 4xx. Any other exception is a mistake of the program's and shows its traceback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Error(ValueError):
    """A mistake of the user's; the message is one sentence that says what is wrong, where, and what to change."""


class DataError(Error):
    """A file that is missing, damaged or not as promised; the message says where and what to do."""


class FileError(Error):
    """A file or a folder that the system does not let us read or write."""


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """What the system refuses in this block is said of `path`."""
    try:
        yield
    except FileNotFoundError:
        raise FileError(f"{path} does not exist") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read ({reason(error)})") from error


GUARDS: list[Callable[[Path], None]] = []  # asked before a file or a folder is written; each may raise an `Error`


def check_guards(path: Path | str) -> None:
    """Ask whether something may be written at `path`."""
    for guard in tuple(GUARDS):
        guard(Path(path))


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """What the system refuses in this block is said of `path`."""
    check_guards(path)
    try:
        yield
    except OSError as error:
        raise FileError(f"{path} cannot be written ({reason(error)})") from error


def reason(error: OSError) -> str:
    """Why the system refused, such as "No space left on device"."""
    return error.strerror or str(error) or type(error).__name__
