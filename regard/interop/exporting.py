"""From a run folder to files that others open."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tokenizers
import torch
from tokenizers import processors
from torch import Tensor

from regard.checkpoint import STATISTICS, load_whole, weights_of, write_tensors
from regard.config import ConfigError
from regard.data.tokenizers import NAMES, Tokenizer
from regard.errors import reading
from regard.interop.family import Family, Fields
from regard.interop.huggingface import EMBEDDING, FAMILIES, MODULES, POOLS, WEIGHTS, picture_reader_of
from regard.interop.labellers import LABELLERS, above, label_fields
from regard.interop.preprocessing import PREPROCESSOR, preprocessor_of
from regard.interop.rules import scattered, shapes_of
from regard.models import (
    Classifier,
    LabellerConfig,
    Model,
    ModelConfig,
    PictureReaderConfig,
    TextModelConfig,
    TextWriterConfig,
    encoder_in,
)
from regard.runfolder import LABELS, Run, RunError, Scale, read_labels, write_text

Say = Callable[[str], None]

MEAN = STATISTICS[0]

ROLES = {"start": ("bos_token", "cls_token"), "end": ("eos_token", "sep_token"), "pad": ("pad_token",)}
ROLES |= {"unknown": ("unk_token",), "mask": ("mask_token",)}


def export_huggingface(run: str | Path, out: str | Path, say: Say = lambda line: None) -> str:
    """Write a folder that `transformers` opens; the name of the class that does."""
    source, folder = Run(run), Path(out)
    check_free(folder)
    model, tokenizer = load_whole(source)
    about = source.read_config()
    task, pad = about.get("task", {}), 0 if tokenizer is None else tokenizer.pad
    family, config = counterpart(model.config, pad, about.get("origin", {}).get("family"), task)
    scale = Scale.read(source.path) if isinstance(config, Classifier) else None
    weights = adapted(on_their_scale(weights_of(model), scale), config, say)
    fields = family.fields(config, pad)
    if (source.path / LABELS).exists() and isinstance(config, LabellerConfig):
        fields |= label_fields(read_labels(source.path))
    longest = (model.longest or task.get("context")) if family.limited else None
    extra = {} if "max_position_embeddings" in fields or longest is None else {"max_position_embeddings": longest}
    architecture = family.architecture(config)
    ids = {} if tokenizer is None else special_ids(tokenizer)
    named = {"architectures": [architecture], "model_type": family.kind, "dtype": "float32", **ids, **extra, **fields}
    tensors = scattered(config, family.rules(config, Fields(fields, str(folder))), weights)
    headed = any(name.startswith(family.heads) for name in tensors) or isinstance(config, TextWriterConfig)
    if beside := family.beside(config):
        say(f"written as zeros, for the class that opens the folder has them: {', '.join(beside)}")
    prefixed = {family.full(name) if headed else name: tensor for name, tensor in (counted(tensors) | beside).items()}
    write_tensors(folder / WEIGHTS, prefixed, {"format": "pt"})
    if tokenizer is None:
        write_preprocessor(folder, picture_reader_of(config), task, say)
        write_json(folder / "config.json", named)
        return architecture
    write_tokenizer(folder, tokenizer, model, longest, "origin" in about)
    if isinstance(config, TextWriterConfig):
        write_json(folder / "generation_config.json", {"_from_model_config": True, **ids})
    write_sentences(folder, config, about.get(EMBEDDING, {}))
    write_json(folder / "config.json", named)
    return architecture


def check_free(folder: Path) -> None:
    with reading(folder):
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if taken:
        raise RunError(f"{folder} already holds something; name another folder, or remove it")


def counterpart(config: ModelConfig, pad: int, origin: str | None, task: Mapping[str, Any]) -> tuple[Family, Any]:
    """The family that can be such a model, and our model as it can be there. That which it came from goes first; `task`
    is that of the run."""
    labellers = [above(one) for one in LABELLERS.values() if task.get("kind") in one.tasks]
    order = sorted([*FAMILIES.values(), *labellers], key=lambda family: family.kind != origin)
    candidates = [family for family in order if isinstance(config, family.model)]
    if not candidates:
        raise ConfigError(f"a model of kind {config.kind!r} has no counterpart among {', '.join(FAMILIES)}")
    adapted = [(family, family.adapt(config)) for family in candidates]
    lacking = [family.differences(other, pad) for family, other in adapted]
    best = min(range(len(lacking)), key=lambda i: (lacking[i][:1] == [f"model {config.kind}"], len(lacking[i])))
    if lacking[best]:
        raise ConfigError(
            f"the model's {', '.join(lacking[best])} {'has' if len(lacking[best]) == 1 else 'have'} no counterpart in "
            f"{candidates[best].kind}, the nearest of Hugging Face's models"
        )
    if isinstance(config, Classifier) and task.get("kind") == "classify" and not task.get("framed"):
        raise ConfigError("the model reads texts sentence by sentence, which has no counterpart among Hugging Face's")
    return adapted[best]


def adapted(weights: Mapping[str, Tensor], config: ModelConfig, say: Say) -> dict[str, Tensor]:
    """The weights of an equal model: without some that do not matter to its output, with zeros for others."""
    own = shapes_of(config)
    if lost := [name for name in weights if name not in own]:
        say(f"left out, for the class that opens the folder has none: {', '.join(lost)}")
    if new := [name for name in own if name not in weights]:
        say(f"written as zeros, for the class that opens the folder has them: {', '.join(new)}")
    return {name: weights[name] if name in weights else torch.zeros(shape.shape) for name, shape in own.items()}


def counted(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """With how many batches each batch norm has seen, by which nothing is computed: none."""
    norms = [name.removesuffix(MEAN) for name in tensors if name.endswith(MEAN)]
    return tensors | {f"{name}num_batches_tracked": torch.zeros((), dtype=torch.long) for name in norms}


def on_their_scale(weights: dict[str, Tensor], scale: Scale | None) -> dict[str, Tensor]:
    """Of a model that learnt scores from 0 to 1, such that it gives them as they are."""
    if scale is None:
        return weights
    size = scale.high - scale.low
    moved = {"output.weight": size * weights["output.weight"], "output.bias": scale.low + size * weights["output.bias"]}
    return {**weights, **moved}


def write_preprocessor(folder: Path, reader: PictureReaderConfig, task: Mapping[str, Any], say: Say) -> None:
    if task.get("fit") == "pad":
        say("pictures are cropped there, for no class pads them with grey as here")
    write_json(folder / PREPROCESSOR, preprocessor_of(reader, task))


# --- the tokenizer ----------------------------------------------------------------------------------------------------


def special_ids(tokenizer: Tokenizer) -> dict[str, int]:
    """By the names that `transformers` gives to them in a model's config."""
    return {"bos_token_id": tokenizer.start, "eos_token_id": tokenizer.end, "pad_token_id": tokenizer.pad}


def special_names(tokenizer: Tokenizer) -> dict[str, str]:
    """The special tokens that there are, by what they are for."""
    there = (
        (role, [name for name in names if tokenizer.backend.token_to_id(name) is not None])
        for role, names in NAMES.items()
    )
    found = {role: names[0] for role, names in there if names}
    if tokenizer.closes:
        found |= {"start": tokenizer.token(tokenizer.start), "end": tokenizer.token(tokenizer.end)}
    return found


def write_tokenizer(folder: Path, tokenizer: Tokenizer, model: Model, longest: int | None, imported: bool) -> None:
    """`tokenizer.json` with how texts are framed, and which special token is for what. A tokenizer that was imported
    with its model frames them as it did at home; one that a model of ours was trained with, as we read them."""
    names, encoder = special_names(tokenizer), encoder_in(model)
    segmented = encoder is not None and encoder.segmented
    about: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    about["model_input_names"] = ["input_ids", *(["token_type_ids"] if segmented else []), "attention_mask"]
    about |= {theirs: name for role, name in names.items() for theirs in ROLES[role]}
    if tokenizer.closes:
        about["padding_side"] = "left"  # so that the start stands in the last column
    if longest is not None:
        about["model_max_length"] = longest
    backend = tokenizers.Tokenizer.from_str(with_greedy_mask(tokenizer))
    framed = backend.num_special_tokens_to_add(False) > 0
    if encoder is not None and not (framed and (imported or tokenizer.closes)):
        backend.post_processor = reading_template(tokenizer, segmented)
    elif not framed and tokenizer.opens:
        backend.post_processor = writing_template(tokenizer)
    write_text(folder / "tokenizer.json", backend.to_str(pretty=False))
    write_json(folder / "tokenizer_config.json", about)


def with_greedy_mask(tokenizer: Tokenizer) -> str:
    """Its JSON, in which a mask takes the space before it along, where `Tokenizer.masked` drops that space and other
    pieces would keep it."""
    data = json.loads(tokenizer.to_json())
    for added in data["added_tokens"]:
        if added["id"] == tokenizer.mask and tokenizer.kind in ("bpe", "unigram"):
            added["lstrip"] = True
    return json.dumps(data, ensure_ascii=False)


def reading_template(tokenizer: Tokenizer, segmented: bool) -> processors.PostProcessor:
    """As `Tokenizer.framed` and `Tokenizer.paired` have it: two segments, or as many ends between the texts."""
    start, end = tokenizer.token(tokenizer.start), tokenizer.token(tokenizer.end)
    between, second = [end] * len(tokenizer.between(segmented)), int(segmented)
    return template(
        tokenizer,
        single=f"{start} $A {end}",
        pair=" ".join([start, "$A", end, *between, f"$B:{second}", f"{end}:{second}"]),
    )


def writing_template(tokenizer: Tokenizer) -> processors.PostProcessor:
    """A writer goes on from a text, so nothing ends it."""
    start, end = tokenizer.token(tokenizer.start), tokenizer.token(tokenizer.end)
    return template(tokenizer, single=f"{start} $A", pair=f"{start} $A {end} $B")


def template(tokenizer: Tokenizer, single: str, pair: str) -> processors.PostProcessor:
    ids = {tokenizer.token(i): i for i in (tokenizer.start, tokenizer.end)}
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=list(ids.items()))


def write_json(path: Path, data: Any) -> None:
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


# --- sentence-transformers --------------------------------------------------------------------------------------------


def write_sentences(folder: Path, config: ModelConfig, about: Mapping[str, Any]) -> None:
    """How a text becomes one vector, as sentence-transformers keep it, where the run says so."""
    if "pool" not in about or not isinstance(config, TextModelConfig):
        return
    steps = ["Transformer", "Pooling", *(["Normalize"] if about.get("normalised") else [])]
    paths = ["" if i == 0 else f"{i}_{name}" for i, name in enumerate(steps)]
    write_json(
        folder / MODULES,
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{name}"}
            for i, (name, path) in enumerate(zip(steps, paths, strict=True))
        ],
    )
    modes = {old: new == about["pool"] for old, new in POOLS.items()}
    write_json(folder / paths[1] / "config.json", {"word_embedding_dimension": config.width, **modes})
    if "longest" in about:
        reading = {"max_seq_length": about["longest"], "do_lower_case": False}
        write_json(folder / "sentence_bert_config.json", reading)
