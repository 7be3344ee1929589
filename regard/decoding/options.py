"""How sequences are searched for or drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from regard.config import Config, ConfigError, Count, Positive, Size, Within


@dataclass(frozen=True)
class Decoding(Config):
    """Greedy search, or a beam (`beam` above 1), or `sample`.

    A hypothesis scores log_prob / length ** length_penalty, as in fairseq (arXiv:1904.01038): a penalty of 0 ranks by
    the probability of the whole and so favours short sequences, 1 by the mean of the tokens. The length counts every
    token that was predicted, the end as well.

    Length: at least `min_length` tokens and at most `max_length`, the end not counted. Without a `max_length`, it is
    `max_ratio` times the length of what was read (the source; the prompt of a decoder) plus `max_extra`. What reaches
    it without an end is cut there. `no_repeat` of n lets no sequence of n tokens come twice; a `repetition_penalty`
    above 1 makes tokens that were written before less likely (arXiv:1909.05858). What was read counts for neither.

    `sample` draws from softmax(logits / temperature), of the `top_k` likeliest tokens alone (0: all), of those the
    fewest that hold `top_p` of the probability (arXiv:1904.09751), and of those the ones that have at least `min_p` of
    the likeliest one's (arXiv:2407.01082). `nbest` hypotheses are returned, best first: of a sample, so many draws.
    """

    beam: Size = 1
    nbest: Size = 1
    length_penalty: float = 1.0
    min_length: Count = 0
    max_length: Size | None = None
    max_ratio: Annotated[float, Within(low=0)] = 1.5
    max_extra: Size = 20
    no_repeat: Count = 0
    repetition_penalty: Positive = 1.0
    sample: bool = False
    temperature: Positive = 1.0
    top_k: Count = 0
    top_p: Annotated[float, Within(low=1e-9, high=1)] = 1.0
    min_p: Annotated[float, Within(low=0, high=1)] = 0.0
    seed: Count | None = None

    def check(self) -> None:
        if self.sample and self.beam > 1:
            raise ConfigError(f"sample with a beam of {self.beam}: samples are drawn one by one, nbest of them")
        if not self.sample and self.nbest > self.beam:
            raise ConfigError(f"nbest {self.nbest} is more than the beam of {self.beam} can give")
        if self.max_length is not None and self.min_length > self.max_length:
            raise ConfigError(f"min_length {self.min_length} is more than max_length {self.max_length}")
        if self.beam > 1 and self.repetition_penalty != 1.0:
            raise ConfigError(
                f"repetition_penalty {self.repetition_penalty:g} with a beam of {self.beam}: hypotheses would be "
                "ranked by penalties; take no_repeat, or no beam"
            )
        usual = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
        shaped = [f"{name} {getattr(self, name):g}" for name, value in usual.items() if getattr(self, name) != value]
        if shaped and not self.sample:
            why = f"a beam of {self.beam} draws nothing" if self.beam > 1 else "sample is false"
            raise ConfigError(f"{', '.join(shaped)}: it shapes what is drawn, but {why}")
