"""The page's modules, read as text: they find each other, fetch nothing from elsewhere, and shade evenly."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import pytest

from regard.page import bundle

STATIC = bundle.STATIC
MODULES = sorted(STATIC.glob("*.js"))
IMPORT = re.compile(r'^(?:import|export) (?:\{([^}]*)\} )?from "([^"]+)";', re.MULTILINE)
LAZY = re.compile(r'import\("([^"]+)"\)')
EXPORT = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
VIEWS = "translate generate readview headsview way playback training runs positions compare".split()


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def exports(path: Path) -> set[str]:
    again = (names for names, _ in re.findall(r'^export \{([^}]*)\}( from "[^"]+")?;', text(path), re.MULTILINE))
    return {*EXPORT.findall(text(path)), *(name.strip() for names in again for name in names.split(","))}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_every_import_names_what_another_module_exports(module: Path) -> None:
    for names, where in IMPORT.findall(text(module)):
        assert where.startswith(bundle.PREFIX), f"{where} is not a name of the import map"
        other = STATIC / where.removeprefix(bundle.PREFIX)
        assert other.is_file(), f"there is no {where}"
        wanted = {name.split(" as ")[0].strip() for name in names.split(",") if name.strip()}
        assert wanted <= exports(other), f"{where} does not export {sorted(wanted - exports(other))}"
    for where in LAZY.findall(text(module)):
        assert (STATIC / where.removeprefix(bundle.PREFIX)).is_file(), f"there is no {where}"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_what_is_imported_is_used(module: Path) -> None:
    source = text(module)
    for line in re.findall(r"^import \{[^}]*\} from .*$", source, re.MULTILINE):
        for name in re.findall(r"\{([^}]*)\}", line)[0].split(","):
            local = name.split(" as ")[-1].strip()
            assert len(re.findall(rf"\b{local}\b", source.replace(line, ""))) > 0, f"{local} is imported in vain"


@pytest.mark.parametrize("path", [*MODULES, *STATIC.glob("*.css"), *STATIC.glob("*.html")], ids=lambda path: path.name)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    assert not re.findall(r"(?:https?|wss?|ftp)://|\bsrc=\"//|@import|url\(\s*[\"']?(?!data:|#)", text(path))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_text_cannot_become_markup(module: Path) -> None:
    """One constant is parsed, to learn the name of SVG's namespace; nothing else is."""
    source = text(module).replace('{ innerHTML: "<svg/>" }', "")
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", source)


def test_the_page_of_the_studio_names_files_that_exist() -> None:
    page = text(STATIC / "studio.html")
    (names,) = re.findall(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)
    assert json.loads(names) == {"imports": {bundle.PREFIX: "/static/"}}
    for address in re.findall(r'(?:src|href)="(/[^"]*)"', page):
        assert (STATIC / address.removeprefix("/static/")).is_file(), f"there is no {address}"


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_can_be_shown(name: str) -> None:
    assert f'import("{bundle.PREFIX}{name}.js")' in text(STATIC / "studio.js")
    assert "show" in exports(STATIC / f"{name}.js")


def test_a_page_on_disk_holds_every_module_that_it_needs() -> None:
    needed, known = set(), {"lookpage.js"}
    while known - needed:
        name = (known - needed).pop()
        needed.add(name)
        known |= {where.removeprefix(bundle.PREFIX) for _, where in IMPORT.findall(text(STATIC / name))}
    page = bundle.look_page("a look", [b""])
    assert all(f'"{bundle.PREFIX}{name}"' in page for name in needed)
    assert "studio.js" not in needed, "it would start the studio"


def test_style_has_one_rule_for_both_ways_to_a_dark_page() -> None:
    """Asked for by the system, and chosen on the page: the same colours."""
    dark = re.findall(
        r'(?:not\(\[data-theme="light"\]\)|\[data-theme="dark"\]) \{(.*?)\}', text(STATIC / "style.css"), re.S
    )
    asked, chosen = (re.findall(r"(--[\w-]+): ([^;]+);", block) for block in dark[:2])
    assert asked == chosen
    assert len(asked) > 8


# --- colours ----------------------------------------------------------------------------------------------------------


def anchors() -> dict[str, tuple[list[float], list[list[float]]]]:
    """By map and theme: lightness at both ends, and tints."""
    source = re.sub(r"//.*", "", text(STATIC / "colours.js"))
    found = {}
    for name in ("SEQUENTIAL", "ARMS"):
        (body,) = re.findall(rf"const {name} = (\{{.*?^\}});", source, re.DOTALL | re.MULTILINE)
        for theme, maps in json.loads(re.sub(r",(\s*[}\]])", r"\1", re.sub(r"(\w+):", r'"\1":', body))).items():
            for arm, tints in maps.items():
                if arm != "lightness":
                    found[f"{theme} {arm}"] = maps["lightness"], tints
    return found


def spline(points: list[float], place: float) -> float:
    last = len(points) - 1
    left = min(int(place * last), last - 1)
    t = place * last - left
    p0, p1, p2, p3 = (points[min(max(i, 0), last)] for i in range(left - 1, left + 3))
    return p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * p1 - p0 - 3 * p2 + p3)))


def linear_rgb(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    """OKLab to linear sRGB (B. Ottosson, 2020)."""
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
    )


@pytest.mark.parametrize(
    "name", ["light tints", "dark tints", "light below", "light above", "dark below", "dark above"]
)
def test_shades_step_evenly_and_can_be_shown(name: str) -> None:
    (start, end), tints = anchors()[name]
    places = [i / 255 for i in range(256)]
    colours = [
        (start + (end - start) * v, spline([a for a, _ in tints], v), spline([b for _, b in tints], v)) for v in places
    ]
    steps = [math.dist(one, other) for one, other in pairwise(colours)]
    assert max(steps) / min(steps) < 1.2
    assert all(-0.003 < channel < 1.003 for colour in colours for channel in linear_rgb(*colour))
