"""A look as something to see: a page of its own, a frame in a notebook, a picture."""

from __future__ import annotations

from pathlib import Path

from regard.errors import Error
from regard.look.records import POOLED_WORDS, Look
from regard.page.bundle import frame, look_page


def page(look: Look) -> str:
    """One self-contained document."""
    return look_page(title(look), [look.to_bytes()])


def title(look: Look) -> str:
    text = next(iter(look.sides.values())).text
    return text if len(text) <= 60 else f"{text[:59]}…"


def in_notebook(look: Look) -> str:
    """In a frame, so that its style and scripts keep to themselves; no network is needed."""
    return frame(title(look), page(look))


def write_png(look: Look, path: Path, layer: str | None = None, head: int | None = None, words: bool = False) -> None:
    """One map as a picture: the alignment or else the last layer, unless a layer is named."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise Error("pictures need matplotlib: pip install 'regard[plots]'") from error
    if layer is None and look.alignment is not None:
        rows, columns = look.sides["target"].words, look.sides["source"].words
        name, weights = look.alignment.layer, look.arrays["alignment"][0]
    elif not look.layers:
        raise Error("this model has no attention to draw")
    else:
        pooled = look.verdicts and POOLED_WORDS in look.arrays  # the words of a text say more than its sentences
        shown = look.map(layer or (POOLED_WORDS if pooled else look.layers[-1].name), head, words)
        name, rows, columns, weights = shown.name, list(shown.rows), list(shown.columns), shown.weights
    figure = Figure(figsize=(1.6 + 0.34 * len(columns), 1.4 + 0.30 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=50, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for s, t in (look.alignment.gold or []) if layer is None and look.alignment is not None else []:
        axes.plot(
            [s - 0.5, s + 0.5, s + 0.5, s - 0.5, s - 0.5], [t - 0.5, t - 0.5, t + 0.5, t + 0.5, t - 0.5], "#d55e00"
        )
    axes.set_xlabel(name if head is None else f"{name}, head {head}")
    figure.savefig(path, format="png", dpi=150)
