"""Models and tokenizers from elsewhere, in and out: one table of names per foreign format."""

from __future__ import annotations

from regard.interop.exporting import export_huggingface
from regard.interop.importing import Imported, import_source

__all__ = ["Imported", "export_huggingface", "import_source"]
