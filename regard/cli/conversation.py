"""Prompts that are asked for on a terminal, one after the other, with a history."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from regard.cli.interrupts import Interrupts
from regard.cli.progress import say
from regard.errors import Error

SIGN = "> "


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
