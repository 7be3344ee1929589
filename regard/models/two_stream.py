"""An encoder that can also ask: what stands at a place, judged by some of the other tokens? XLNet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from regard.config import fields_of
from regard.models.encoder import Encoder, EncoderModel
from regard.nn.call.cache import Cache, Project
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import real_tokens
from regard.nn.call.past import Past
from regard.nn.linear import normal_

STD = 0.02  # from which the vector of the query stream starts


@dataclass(frozen=True, kw_only=True)
class TwoStream(Encoder, kind="two-stream"):
    """An encoder with a second stream of queries, which know their place and not what stands there.

    Yang et al. 2019, arXiv:1906.08237, section 2.3. As the reader of another model it is a plain encoder.
    """

    def inside(self) -> Encoder:
        return Encoder(**{name: getattr(self, name) for name in fields_of(Encoder)}).inside()

    def assemble(self) -> TwoStreamModel:
        return TwoStreamModel(self)


class TwoStreamModel(EncoderModel):
    """`encode`, `features` and `forward` read a text as any encoder does; `predict` runs both streams.

    Both pass through the layers as one sequence: the content of all tokens, and behind it the queries, which see
    content and are seen by nobody.
    """

    def __init__(self, config: TwoStream) -> None:
        super().__init__(config)
        self.query = nn.Parameter(torch.empty(config.width - self.encoder.position.taken))  # w, before any layer
        self.reset_parameters()

    def reset_parameters(self) -> None:
        normal_(self.query, std=STD)

    def predict(
        self,
        tokens: Tensor,
        visible: Tensor,
        places: Tensor,
        keep: Tensor | None = None,
        segments: Tensor | None = None,
        past: Past | None = None,
    ) -> Tensor:
        """(B, N, D): states of which the head tells what stands at `places` (B, N) of the tokens (B, T).

        `visible` (B, T, T) tells which tokens each place may see; the content of a token sees itself too. What a `past`
        remembers is seen by all.
        """
        context, x = self.enter(tokens, keep, segments, None, past)
        batch, length = tokens.shape
        content = context.geometry
        positions = content.query_positions.expand(batch, length)
        asking = replace(content, query_positions=positions.gather(1, places))
        asked = self.encoder.position(self.query.expand(batch, places.shape[1], -1), context.at(asking))
        facts = content.facts
        if "segments" in facts:
            mine, keys = facts["segments"]
            facts = {"segments": (torch.cat([mine, mine.gather(1, places)], 1), keys)}
        both = replace(
            content,
            mask=replace(content.mask, pairs=pairs(visible, places, content.reach - length)),
            query_positions=torch.cat([positions, asking.query_positions], 1),
            asking=places.shape[1],
            facts=facts,
        )
        inner = self.called(Context(both, cache=ContentOnly(length, past))).enter("encoder")
        states: Tensor
        states, _ = self.encoder(torch.cat([x, asked.to(x.dtype)], 1), inner)
        if past is not None:
            past.move_on(both)
        return states[:, length:]

    def expected(self, tokens: Tensor, keep: Tensor | None, hidden: Tensor, segments: Tensor | None = None) -> Tensor:
        """Each place is judged by all tokens that are not hidden."""
        counts = hidden.sum(1)
        real = real_tokens(counts, int(counts.max()))
        places = hidden.long().argsort(dim=1, descending=True, stable=True)[:, : real.shape[1]]
        visible = (~hidden).unsqueeze(1).expand(-1, tokens.shape[1], -1)
        return self.predict(tokens, visible, places, keep, segments)[real]


class ContentOnly(Cache):
    """Keeps nothing: it takes the keys and values of content alone, behind those of a `past`. Queries have none."""

    def __init__(self, length: int, past: Past | None) -> None:
        super().__init__()
        self.length, self.past = length, past

    def extend(
        self, name: str, k: Tensor, v: Tensor, x: Tensor, geometry: Geometry, project: Project
    ) -> tuple[Tensor, Tensor]:
        k, v, x = k[:, :, : self.length], v[:, :, : self.length], x[:, : self.length]
        return (k, v) if self.past is None else self.past.extend(name, k, v, x, geometry, project)


def pairs(visible: Tensor, places: Tensor, known: int) -> Tensor:
    """(B, 1, T + N, M + T): what content sees, then what queries see; all of the `known` that is remembered."""
    itself = torch.eye(visible.shape[1], dtype=torch.bool, device=visible.device)
    asked = visible.take_along_dim(places.unsqueeze(-1), 1)
    return nn.functional.pad(torch.cat([visible | itself, asked], 1), (known, 0), value=True).unsqueeze(1)
