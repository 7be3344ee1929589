"""Pages with the studio's own modules inside: one file, nothing fetched.

The modules import each other by bare names ("regard/dom.js"). A server maps these to addresses; here an import map
holds the modules themselves, as data.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

STATIC = Path(__file__).parent / "static"
PREFIX = "regard/"
FRAME_HEIGHT_PIXELS = 640


@cache
def import_map() -> str:
    """All modules, each as a data address."""
    imports = {f"{PREFIX}{path.name}": data_address(path) for path in sorted(STATIC.glob("*.js"))}
    return json.dumps({"imports": imports})


def data_address(path: Path) -> str:
    return "data:text/javascript;base64," + base64.b64encode(path.read_bytes()).decode()


def look_page(title: str, looks: Sequence[bytes]) -> str:
    """A whole document that shows looks, packed as `regard.look` packs them."""
    style = "".join((STATIC / name).read_text(encoding="utf-8") for name in ("style.css", "views.css"))
    packed = "".join(
        f'<script type="application/octet-stream;base64" class="look">{base64.b64encode(look).decode()}</script>'
        for look in looks
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style>"
        f'<script type="importmap">{import_map()}</script></head>'
        f'<body class="lookpage"><main id="look"></main>{packed}'
        f'<script type="module">import {{ showLooks }} from "{PREFIX}lookpage.js"; '
        'showLooks(document.getElementById("look"));</script></body></html>\n'
    )


def frame(title: str, document: str) -> str:
    """A document inside another, where it may run its own scripts and reach nothing else."""
    return (
        f'<iframe srcdoc="{escape(document, quote=True)}" sandbox="allow-scripts" '
        f'style="width:100%;height:{FRAME_HEIGHT_PIXELS}px;border:0" title="{escape(title, quote=True)}"></iframe>'
    )
