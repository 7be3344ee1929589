"""Where the sentence pairs of a task come from, as a config."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from regard.config import Config, ConfigError, Size
from regard.data.catalogue import open_data
from regard.data.files import DataError, PairFile, ParallelFiles
from regard.data.pairs import First, Pair


@dataclass(frozen=True)
class PairData(Config):
    """Where sentence pairs come from: one file, two parallel files, or a named set."""

    file: str | None = None
    source: str | None = None
    target: str | None = None
    name: str | None = None
    languages: str | None = None
    split: str = "train"
    columns: tuple[str, ...] | None = None
    count: Size | None = None

    def check(self) -> None:
        ways = [self.file is not None, self.source is not None or self.target is not None, self.name is not None]
        if sum(ways) > 1:
            raise ConfigError(
                "sentence pairs come from one file, from two parallel files or from a named set: choose one"
            )
        if (self.source is None) != (self.target is None):
            raise ConfigError(f"source {self.source!r} and target {self.target!r}: parallel files come in two")
        if self.columns is not None and len(self.columns) != 2:
            raise ConfigError(f"columns {','.join(self.columns)}: name two, the source's and the target's")

    @property
    def given(self) -> bool:
        return any((self.file, self.source, self.name))

    def pairs(self) -> Iterable[Pair]:
        if self.name is not None:
            return open_data(self.name, self.languages, self.split, self.count)
        pairs: Iterable[Pair]
        if self.file is not None:
            pairs = PairFile(self.file, cast("tuple[str, str] | None", self.columns))
        elif self.source is not None and self.target is not None:
            pairs = ParallelFiles(self.source, self.target)
        else:
            raise DataError("no sentence pairs were given: name a file, two parallel files or a data set")
        return pairs if self.count is None else First(pairs, self.count)
