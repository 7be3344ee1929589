"""From a model's next-token scores to whole sequences: token ids in, token ids out."""

from regard.decoding.hypothesis import Hypothesis
from regard.decoding.options import Decoding
from regard.decoding.run import complete, decode, translate, write

__all__ = ["Decoding", "Hypothesis", "complete", "decode", "translate", "write"]
