"""`regard import`: a run folder of models and tokenizers from elsewhere."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.options import add_verb
from regard.cli.progress import say
from regard.errors import Error


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "import",
        run,
        help="make a run folder of a model or tokenizer from elsewhere",
        usage="regard import SOURCE --run DIR [--task pair]",
        description="Make a run folder of a model from elsewhere, so that every verb works on it. SOURCE can be a "
        "folder of Hugging Face (GPT-2, Llama, BERT, RoBERTa, DistilBERT, XLNet, also as "
        "sentence-transformers saves them; the last four also with a head for labels, tags or answers; ViT, DeiT, "
        "DINOv2 and ResNet for pictures), safetensors of timm or torchvision (vit, deit, resnet, efficientnet_lite), a "
        "checkpoint of llama2.c beside its tokenizer, or a tokenizer alone (tiktoken's ranks, encoder.json with "
        "vocab.bpe, vocab.txt). Its files tell which it is. Nothing is downloaded, and no pickle is opened.",
        epilog="examples:\n"
        "  regard import downloads/gpt2 --run runs/gpt2\n"
        '  regard generate runs/gpt2 "Once upon a time"\n'
        "  regard import downloads/bert-base-NER --run runs/names\n"
        '  regard tag runs/names "Ada lives in Paris."\n'
        "  regard import downloads/vit-base --run runs/vit\n"
        "  regard classify runs/vit picture.jpg\n"
        "  regard import resnet50.safetensors --run runs/resnet\n"
        "  regard import stories260K --run runs/stories\n"
        "  regard import cl100k_base.tiktoken --run runs/cl100k\n",
    )
    verb.add_argument("source", metavar="SOURCE", help="a folder or a file")
    verb.add_argument("--run", required=True, metavar="DIR", help="the run folder to make")
    verb.add_argument(
        "--task",
        choices=("classify", "pair"),
        help="whether a model that gives labels reads one text (classify, the default) or two (pair, the "
        "default where it gives a score)",
    )


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if rest:
        raise Error(f"unexpected argument {rest[0]!r}; see regard import --help")
    from regard.interop import import_source

    made = import_source(options.source, options.run, say, options.task)
    kind = "a tokenizer alone" if made.family is None else f"{made.family}, {made.parameters:,} parameters"
    say(kind if made.tokenizer is None else f"{kind}; {made.tokenizer.vocabulary:,} tokens")
    print(made.run.path)
