"""`from regard.nn import …` gives the parts."""

from __future__ import annotations

import subprocess
import sys

import regard.models
import regard.nn
from regard.config import FAMILIES, kinds


def test_every_part_of_the_room_is_given_by_its_name() -> None:
    families = [family for family in FAMILIES.values() if family.__module__.startswith("regard.nn.")]
    assert len(families) > 10
    for family in families:
        for part in (family, *kinds(family).values()):
            if part.__module__.startswith("regard.nn.") and part.__name__ not in ("ChoiceConfig", "WindowConfig"):
                assert getattr(regard.nn, part.__name__) is part


def test_every_name_is_there() -> None:
    assert len(regard.nn.__all__) == len(set(regard.nn.__all__))
    for name in regard.nn.__all__:
        assert getattr(regard.nn, name).__name__ == name
        assert name in dir(regard.nn)


def test_the_room_is_entered_without_torch() -> None:
    code = "import sys, regard.nn; assert 'torch' not in sys.modules; from regard.nn import Block; Block()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    assert not hasattr(regard.nn, "Nothing")
