"""What people would say of a scene: captions, and questions with their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

from regard.data.sources.scenes.draw import COLOURS, SHAPES, Scene, Thing

NUMBERS = ("zero", "one", "two", "three", "four")
ANSWERS = (*COLOURS, *SHAPES, *NUMBERS, "yes", "no")
BEGINNINGS = ("", "there is ", "we see ", "the picture shows ", "here is ")
CAPTIONS = 5
APART = 0.08  # the least distance by which one thing is said to be left of another, as a share of the side
MIDDLE = (0.36, 0.64)  # from where to where a thing is in the middle

Said = Callable[[Thing], str]


# --- captions ---------------------------------------------------------------------------------------------------------


def captions(scene: Scene, number: int) -> list[str]:
    """Several for a scene, each by somebody else; all are true."""
    random = Random(f"regard captions {number}")
    return [caption(scene.things, random, BEGINNINGS[place % len(BEGINNINGS)]) for place in range(CAPTIONS)]


def caption(things: Sequence[Thing], random: Random, beginning: str) -> str:
    said = full if random.random() < 0.6 else short
    if len(things) == 1:
        where = f" {area(things[0])}" if random.random() < 0.6 else ""
        return f"{beginning}{a(said(things[0]))}{where}"
    if len(things) == 2 and random.random() < 0.7 and said(things[0]) != said(things[1]):
        one, other = things if random.random() < 0.5 else things[::-1]
        return f"{beginning}{a(said(one))} {relation(one, other)} {a(said(other))}"
    return f"{beginning}{listed(counted(things, said))}"


def full(thing: Thing) -> str:
    return f"{thing.size} {thing.colour} {thing.shape}"


def short(thing: Thing) -> str:
    return f"{thing.colour} {thing.shape}"


def a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def counted(things: Sequence[Thing], said: Said) -> list[str]:
    """Each kind of thing with its number, from left to right."""
    kinds = Counter(said(thing) for thing in sorted(things, key=lambda thing: thing.x))
    return [a(kind) if count == 1 else f"{NUMBERS[count]} {plural(kind)}" for kind, count in kinds.items()]


def plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def listed(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def area(thing: Thing) -> str:
    """Where in the picture a thing stands."""
    low, high = MIDDLE
    vertical = "top" if thing.y < low else "bottom" if thing.y > high else ""
    horizontal = "left" if thing.x < low else "right" if thing.x > high else ""
    if not vertical and not horizontal:
        return "in the middle"
    return f"at the {' '.join(part for part in (vertical, horizontal) if part)}"


def relation(one: Thing, other: Thing) -> str:
    """How one thing stands to another, along the direction in which they are further apart."""
    right, down = one.x - other.x, one.y - other.y
    if abs(right) >= abs(down):
        return "to the right of" if right > 0 else "to the left of"
    return "below" if down > 0 else "above"


# --- questions --------------------------------------------------------------------------------------------------------


def questions(scene: Scene, number: int, count: int) -> list[tuple[str, str]]:
    """So many different ones with their answers, drawn from all kinds that this scene can answer; fewer where it has no
    more."""
    random = Random(f"regard questions {number}")
    kinds = [list(kind(scene.things, random)) for kind in (colours, shapes, numbers, presence, places, relations)]
    found: list[tuple[str, str]] = []
    while len(found) < count and any(kinds):
        kind = random.choice([kind for kind in kinds if kind])
        found.append(kind.pop(int(random.random() * len(kind))))
    return found


def alone(things: Sequence[Thing], said: Said) -> list[Thing]:
    """Those that are the only ones of which this can be said."""
    every = Counter(map(said, things))
    return [thing for thing in things if every[said(thing)] == 1]


def colours(things: Sequence[Thing], random: Random) -> Iterator[tuple[str, str]]:
    for thing in alone(things, lambda one: one.shape):
        yield f"what colour is the {thing.shape}?", thing.colour


def shapes(things: Sequence[Thing], random: Random) -> Iterator[tuple[str, str]]:
    for thing in alone(things, lambda one: one.colour):
        yield f"what shape is the {thing.colour} thing?", thing.shape


def numbers(things: Sequence[Thing], random: Random) -> Iterator[tuple[str, str]]:
    yield "how many things are there?", NUMBERS[len(things)]
    there = sorted({thing.shape for thing in things})
    one, other = random.choice(there), random.choice(SHAPES)
    for shape in dict.fromkeys((one, other)):
        count = sum(thing.shape == shape for thing in things)
        yield f"how many {plural(shape)} are there?", NUMBERS[count]


def presence(things: Sequence[Thing], random: Random) -> Iterator[tuple[str, str]]:
    """As often there as not; what is not there is one that could be: in its colour or its shape."""
    there = {(thing.colour, thing.shape) for thing in things}
    thing = random.choice(things)
    yield f"is there {a(short(thing))}?", "yes"
    others = sorted({(thing.colour, shape) for shape in SHAPES} | {(colour, thing.shape) for colour in COLOURS})
    colour, shape = random.choice([one for one in others if one not in there])
    yield f"is there {a(f'{colour} {shape}')}?", "no"


def places(things: Sequence[Thing], random: Random) -> Iterator[tuple[str, str]]:
    """What stands beside another, where there are two."""
    if len(things) == 2:
        for one, other in (things, things[::-1]):
            yield f"what shape is {relation(one, other)} the {short(other)}?", one.shape


def relations(things: Sequence[Thing], random: Random) -> Iterator[tuple[str, str]]:
    known = alone(things, short)
    for one in known:
        for other in known:
            if one is other:
                continue
            for word, gap in (("to the left of", other.x - one.x), ("above", other.y - one.y)):
                if abs(gap) > APART:
                    yield f"is the {short(one)} {word} the {short(other)}?", "yes" if gap > 0 else "no"
