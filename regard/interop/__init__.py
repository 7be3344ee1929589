"""Models and tokenizers from elsewhere, in and out: one table of names per foreign format."""

from __future__ import annotations

from regard.interop.exporting import export_huggingface
from regard.interop.importing import Imported, import_source
from regard.interop.runtimes import export_ctranslate2, export_onnx

__all__ = ["Imported", "export_ctranslate2", "export_huggingface", "export_onnx", "import_source"]
