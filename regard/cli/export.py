"""`regard export`: a run in the files of others."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.options import add_verb
from regard.cli.progress import say
from regard.errors import Error

FORMATS = ("huggingface", "ctranslate2", "onnx")


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "export",
        run,
        help="write a run in the form that another program opens",
        usage="regard export RUN --to FORMAT OUT",
        description="Write a run in the form that another program opens. huggingface: a folder with config.json, "
        "model.safetensors and the tokenizer's files, which transformers opens; for models that are shaped as GPT-2, "
        "Llama, BERT, RoBERTa, DistilBERT or XLNet, the last four also with what was tuned above them (train tag and "
        "answer; classify and pair with --pool first), and of readers of pictures as ViT, DeiT, DINOv2 or ResNet. "
        "What has no counterpart there is named. ctranslate2: the same models, without heads of encoders and without "
        "readers of pictures, by that package's converter. onnx: model.onnx of any encoder or decoder, beside its "
        "tokenizer. The packages of the last two are installed apart.",
        epilog="examples:\n"
        "  regard export runs/my --to huggingface exported/my\n"
        "  regard export runs/my --to onnx exported/onnx\n"
        "  python -c \"import transformers; transformers.AutoModelForCausalLM.from_pretrained('exported/my')\"\n",
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("out", metavar="OUT", help="the folder to write")
    verb.add_argument("--to", required=True, choices=FORMATS, help="the form")


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if rest:
        raise Error(f"unexpected argument {rest[0]!r}; see regard export --help")
    from regard.interop import export_ctranslate2, export_huggingface, export_onnx

    if options.to == "huggingface":
        say(f"transformers opens it as {export_huggingface(options.run, options.out, say)}")
    else:
        {"ctranslate2": export_ctranslate2, "onnx": export_onnx}[options.to](options.run, options.out, say)
    print(options.out)
