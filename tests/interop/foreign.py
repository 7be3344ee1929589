"""Small models of `transformers` with random weights, saved as people find them, with tokenizers of each make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers
from torch import Tensor

from tests.helpers import randomise, unsettle

TEXTS = [
    "Once upon a time there was a little girl.",
    "She had a red ball, and the ball was hers.",
    "The end of it!",
] * 3
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["the", "little", "girl", "had", "a", "red", "ball", ",", ".", "!", "##s", "##ing", "play"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS[1:], *(f"##{letter}" for letter in LETTERS)]

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def byte_level_files(folder: Path, *specials: str) -> int:
    """vocab.json and merges.txt; how many pieces they have."""
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=list(specials), initial_alphabet=alphabet)
    backend.train_from_iterator(TEXTS, trainer)
    folder.mkdir(parents=True, exist_ok=True)
    backend.model.save(str(folder))
    return backend.get_vocab_size()


def wordpiece_file(folder: Path, **about: Any) -> int:
    """vocab.txt, and what is said beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    if about:
        (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return len(PIECES)


def save(model: Any, folder: Path, **options: Any) -> Any:
    randomise(model)
    model.eval().save_pretrained(folder, **options)
    return model


def gpt2(folder: Path, **changes: Any) -> Any:
    size = byte_level_files(folder, "<|endoftext|>")
    sizes = {"vocab_size": size, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32}
    config = transformers.GPT2Config(**sizes | {"bos_token_id": 0, "eos_token_id": 0} | changes)
    return save(transformers.GPT2LMHeadModel(config), folder)


def gpt(folder: Path, **changes: Any) -> Any:
    """With a tokenizer as it was published: pieces that say where a word ends, and no token for the end of a text."""
    backend = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.BPEDecoder(suffix="</w>")
    backend.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=120, special_tokens=["<unk>"], end_of_word_suffix="</w>")
    )
    folder.mkdir(parents=True, exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    sizes = {"vocab_size": backend.get_vocab_size(), "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32}
    return save(transformers.OpenAIGPTLMHeadModel(transformers.OpenAIGPTConfig(**sizes | changes)), folder)


BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


def bert(folder: Path, kind: str = "BertForMaskedLM", **changes: Any) -> Any:
    size = wordpiece_file(folder, do_lower_case=True)
    config = transformers.BertConfig(**{"vocab_size": size, "max_position_embeddings": 40, **BERT, **changes})
    return save(getattr(transformers, kind)(config), folder)


def roberta(folder: Path, kind: str = "RobertaForMaskedLM", **changes: Any) -> Any:
    size = byte_level_files(folder, "<s>", "<pad>", "</s>", "<unk>", "<mask>")
    given = {"vocab_size": size, "max_position_embeddings": 42, "type_vocab_size": 1, "layer_norm_eps": 1e-5, **BERT}
    return save(getattr(transformers, kind)(transformers.RobertaConfig(**{**given, **changes})), folder)


def distilbert(folder: Path, kind: str = "DistilBertForMaskedLM", **changes: Any) -> Any:
    size = wordpiece_file(folder, do_lower_case=True)
    sizes = {"vocab_size": size, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}
    config = transformers.DistilBertConfig(**{**sizes, "max_position_embeddings": 40, **changes})
    return save(getattr(transformers, kind)(config), folder)


def llama(folder: Path, **changes: Any) -> Any:
    size = byte_level_files(folder, "<s>", "</s>")
    ids = {"bos_token_id": 0, "eos_token_id": 1}
    given = {"vocab_size": size, "num_key_value_heads": 2, "max_position_embeddings": 64, **BERT, **ids}
    return save(transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**given, **changes})), folder)


SCORED = [  # XLNet's special tokens, then pieces with their scores
    *((name, 0.0) for name in ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>")),
    *((f"▁{word}", -3.0 - i / 10) for i, word in enumerate(WORDS) if not word.startswith("#")),
    *((f"▁{letter}", -8.0 - i / 10) for i, letter in enumerate(LETTERS) if letter != "a"),
    *((letter, -9.0 - i / 10) for i, letter in enumerate(LETTERS)),
    ("▁", -6.0),
    ('"', -7.0),
]


def xlnet(folder: Path, kind: str = "XLNetLMHeadModel", **changes: Any) -> Any:
    transformers.XLNetTokenizer(vocab=SCORED, unk_id=0).save_pretrained(folder)
    sizes = {"vocab_size": len(SCORED), "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}
    return save(getattr(transformers, kind)(transformers.XLNetConfig(**{**sizes, **changes})), folder)


def some_tokens(size: int, length: int = 11) -> tuple[Tensor, Tensor]:
    """Tokens none of which is special, and which of them are real: the second row is shorter."""
    keep = torch.ones(2, length, dtype=torch.bool)
    keep[1, -4:] = False
    return torch.randint(8, size, (2, length)), keep


PATCHED = {"image_size": 32, "patch_size": 8, "num_labels": 3}


def vit(folder: Path, kind: str = "ViTForImageClassification", **changes: Any) -> Any:
    return save(getattr(transformers, kind)(transformers.ViTConfig(**{**BERT, **PATCHED, **changes})), folder)


def deit(folder: Path, kind: str = "DeiTForImageClassification", **changes: Any) -> Any:
    return save(getattr(transformers, kind)(transformers.DeiTConfig(**{**BERT, **PATCHED, **changes})), folder)


def dinov2(folder: Path, kind: str = "Dinov2ForImageClassification", **changes: Any) -> Any:
    sizes = {name: size for name, size in BERT.items() if name != "intermediate_size"}
    config = transformers.Dinov2Config(**{**sizes, "mlp_ratio": 2, **PATCHED, **changes})
    return save(getattr(transformers, kind)(config), folder)


def resnet(folder: Path, kind: str = "ResNetForImageClassification", **changes: Any) -> Any:
    sizes = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 2], "layer_type": "basic", "num_labels": 3}
    model = getattr(transformers, kind)(transformers.ResNetConfig(**{**sizes, **changes}))
    unsettle(model)
    return save(model, folder)
