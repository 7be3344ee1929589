"""The reference is made of the docstrings, and builds without a warning."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import regard

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """The hook of mkdocs, which needs none of it until it is called."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_room_has_a_page_and_every_module_stands_on_one(reference: ModuleType) -> None:
    pages = {room: reference.page(room, paths) for room, paths in reference.rooms().items()}
    assert {"regard", "regard.nn", "regard.models", "regard.errors", "regard.tasks"} <= pages.keys()
    for name in regard._HOMES.values():
        assert any(f"::: {name}\n" in page for page in pages.values()), name


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "regard").rglob("*.py")
        if (source := path.read_text(encoding="utf-8")).strip() and not ast.get_docstring(ast.parse(source))
    ]
    assert silent == []


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed: `make docs` does it")
def test_the_site_builds_without_warnings_and_fetches_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(words, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    for path in tmp_path.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|iframe)[^>]*\bsrc="?(?:https?:)?//', text), path
        assert not re.search(r'<link[^>]*rel="(?:stylesheet|preconnect)"[^>]*href="?(?:https?:)?//', text), path
    kernel = (tmp_path / "reference" / "regard.nn.html").read_text(encoding="utf-8")
    assert 'id="regard.nn.attention.kernel.Kernel.weights"' in kernel
