"""Prompts that are asked for on a terminal, one after the other, with a history; and what Ctrl-C does to a text."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from regard.cli.progress import say
from regard.errors import Error

SIGN = "> "


class Interrupts:
    """While the block runs, the first Ctrl-C is only remembered, and what is written is kept; where nothing is there
    before the end (`kept` is false), it ends the block at once. A second one ends the program where it is."""

    def __init__(self, kept: bool = True) -> None:
        self.kept, self.came = kept, False
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        self.came = False
        if self.kept:
            self.before = signal.signal(signal.SIGINT, self.remember)
        return self

    def __exit__(self, *error: object) -> None:
        if self.kept:
            signal.signal(signal.SIGINT, self.before)

    def remember(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.signal(signal.SIGINT, self.before)

    def met(self) -> bool:
        return self.came

    def check(self) -> None:
        """Go no further, if it came."""
        if self.came:
            raise KeyboardInterrupt


def converse(answer: Callable[[str, Callable[[], bool]], None], kept: bool = True) -> None:
    """Ask, have it answered, ask again. Ctrl-C ends an answer (what is there of it is `kept`), empties a line that was
    begun, or ends it all."""
    editor = line_editor()
    say("write on from what you type; Ctrl-C ends a text, and here the program, as does Ctrl-D")
    while True:
        try:
            prompt = input(SIGN)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print()
            if editor is not None and editor.get_line_buffer():
                continue
            return
        with Interrupts(kept) as interrupts:
            try:
                answer(prompt, interrupts.met)
            except KeyboardInterrupt:
                if kept:  # it was the second
                    raise
                print()
            except Error as error:  # such as a prompt that is too long: the next one may do
                say(str(error))


def line_editor() -> ModuleType | None:
    """With the arrow keys for what was typed before; Python may have been built without it."""
    try:
        import readline
    except ImportError:
        return None
    return readline
