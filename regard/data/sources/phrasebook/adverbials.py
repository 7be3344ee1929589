"""Adverbs and phrases of time and place, with the times and verbs they fit."""

from __future__ import annotations

from collections.abc import Callable

from regard.data.sources.phrasebook import names
from regard.data.sources.phrasebook.determiners import FOUND, KNOWN_ONE, Style
from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.entries import Noun
from regard.data.sources.phrasebook.lexicon import of_kinds
from regard.data.sources.phrasebook.nominal import NUMBERS, NounPhrase, common, style_of
from regard.data.sources.phrasebook.numbers import english_number, french_number, ordinal
from regard.data.sources.phrasebook.phrases import Phrase, phrase, phrases
from regard.data.sources.phrasebook.words import DE, LA, LE, LES, A, Tokens, Word, en, fr

Adverbial = tuple[Tokens, Tokens]

# Between the auxiliary and the verb in English, after the finite verb in French.
OFTEN = phrases("""
often/ADV:1 = souvent/ADV:1
always/ADV:1 = toujours/ADV:1
sometimes/ADV:1 = parfois/ADV:1
rarely/ADV:1 = rarement/ADV:1
also/ADV:1 = aussi/ADV:1
""")
ALREADY = phrases("""
already/ADV:1 = déjà/ADV:1
""")
PROBABLY = phrases("""
probably/ADV:1 = probablement/ADV:1
certainly/ADV:1 = certainement/ADV:1
also/ADV:1 = aussi/ADV:1
""")

# How something is done, with the verbs that are done so.
MANNER = {
    "slowly/ADV:1 = lentement/ADV:1": "eat walk work read write drive swim draw drink run",
    "quickly/ADV:1 = rapidement/ADV:1": "eat walk work read write drive swim run prepare clean repair drink wash learn",
    "carefully/ADV:1 = soigneusement/ADV:1": "write wash prepare clean repair paint draw translate correct cut hide",
    "quietly/ADV:1 = silencieusement/ADV:1": "sleep walk work read eat cry leave pray",
    "patiently/ADV:1 = patiemment/ADV:1": "wait listen_to explain look_at work repeat",
    "politely/ADV:1 = poliment/ADV:1": "answer thank greet refuse invite",
    "secretly/ADV:1 = secrètement/ADV:1": "leave love laugh hide meet read",
    "happily/ADV:1 = joyeusement/ADV:1": "sing dance laugh shout greet jump",
    "suddenly/ADV:1 = soudainement/ADV:1": "leave stop disappear laugh shout fall",
    "prudently/ADV:1 = prudemment/ADV:1": "drive cross walk swim",
    "perfectly/ADV:1 = parfaitement/ADV:1": "understand know translate explain sing dance cook swim",
    "regularly/ADV:1 = régulièrement/ADV:1": "travel work clean visit write meet help call feed water",
}


def _manners() -> dict[str, tuple[Phrase, ...]]:
    found: dict[str, list[Phrase]] = {}
    for row, fitting in MANNER.items():
        for lemma in fitting.split():
            found.setdefault(lemma.replace("_", " "), []).append(phrase(row))
    return {lemma: tuple(rows) for lemma, rows in found.items()}


MANNERS = _manners()

YESTERDAY = phrases("""
yesterday/NOUN:1 = hier/ADV:1
yesterday/NOUN:1 = hier/ADV:1
last/ADJ:1 week/NOUN:2 = la/DET semaine/NOUN:2 dernière/ADJ:1
last/ADJ:1 month/NOUN:2 = le/DET mois/NOUN:2 dernier/ADJ:1
last/ADJ:1 year/NOUN:2 = la/DET année/NOUN:2 dernière/ADJ:1
last/ADJ:1 summer/NOUN:2 = le/DET été/NOUN:2 dernier/ADJ:1
last/ADJ:1 winter/NOUN:2 = le/DET hiver/NOUN:2 dernier/ADJ:1
last/ADJ:1 night/NOUN:2 = la/DET nuit/NOUN:2 dernière/ADJ:1
yesterday/NOUN:1 morning/NOUN:2 = hier/ADV:1 matin/NOUN:2
yesterday/NOUN:1 evening/NOUN:2 = hier/ADV:1 soir/NOUN:2
yesterday/NOUN:1 afternoon/NOUN:2 = hier/ADV:1 après-midi/NOUN:2
the/DET:1 day/NOUN:1 before/ADP:1 yesterday/NOUN:1 = avant-hier/ADV:1
this/DET:1 morning/NOUN:2 = ce/DET:1 matin/NOUN:2
a/DET:1 long/ADJ:2 time/NOUN:2 ago/ADV:3 = il/PRON:3 y/PRON:3 a/VERB:3 longtemps/ADV:2
""")
NOW = phrases("""
now/ADV:1 = maintenant/ADV:1
at/ADP:1 the/DET:2 moment/NOUN:3 = en/ADP:1 ce/DET:2 moment/NOUN:3
today/NOUN:1 = aujourd'hui/ADV:1
this/DET:1 morning/NOUN:2 = ce/DET:1 matin/NOUN:2
this/DET:1 evening/NOUN:2 = ce/DET:1 soir/NOUN:2
this/DET:1 week/NOUN:2 = cette/DET:1 semaine/NOUN:2
""")
USUALLY = phrases("""
every/DET:1 day/NOUN:2 = tous/ADJ:1 les/DET:1 jours/NOUN:2
every/DET:1 morning/NOUN:2 = tous/ADJ:1 les/DET:1 matins/NOUN:2
every/DET:1 evening/NOUN:2 = tous/ADJ:1 les/DET:1 soirs/NOUN:2
every/DET:1 week/NOUN:2 = toutes/ADJ:1 les/DET:1 semaines/NOUN:2
every/DET:1 month/NOUN:2 = tous/ADJ:1 les/DET:1 mois/NOUN:2
every/DET:1 year/NOUN:2 = tous/ADJ:1 les/DET:1 ans/NOUN:2
in/ADP the/DET:1 morning/NOUN:2 = le/DET:1 matin/NOUN:2
in/ADP the/DET:1 evening/NOUN:2 = le/DET:1 soir/NOUN:2
in/ADP the/DET:1 afternoon/NOUN:2 = le/DET:1 après-midi/NOUN:2
at/ADP night/NOUN:1 = la/DET nuit/NOUN:1
in/ADP:1 summer/NOUN:2 = en/ADP:1 été/NOUN:2
in/ADP:1 winter/NOUN:2 = en/ADP:1 hiver/NOUN:2
in/ADP:1 autumn/NOUN:2 = en/ADP:1 automne/NOUN:2
in/ADP:1 spring/NOUN:2 = à/ADP:1 le/DET printemps/NOUN:2
on/ADP Mondays/PROPN:1 = le/DET lundi/NOUN:1
on/ADP Saturdays/PROPN:1 = le/DET samedi/NOUN:1
on/ADP Sundays/PROPN:1 = le/DET dimanche/NOUN:1
once/ADV:1 a/DET:2 week/NOUN:3 = une/NUM:1 fois/NOUN:1 par/ADP:2 semaine/NOUN:3
once/ADV:1 a/DET:2 month/NOUN:3 = une/NUM:1 fois/NOUN:1 par/ADP:2 mois/NOUN:3
twice/ADV:1 a/DET:2 week/NOUN:3 = deux/NUM:1 fois/NOUN:1 par/ADP:2 semaine/NOUN:3
twice/ADV:1 a/DET:2 year/NOUN:3 = deux/NUM:1 fois/NOUN:1 par/ADP:2 an/NOUN:3
""")
TOMORROW = phrases("""
tomorrow/NOUN:1 = demain/ADV:1
tomorrow/NOUN:1 = demain/ADV:1
tomorrow/NOUN:1 morning/NOUN:2 = demain/ADV:1 matin/NOUN:2
tomorrow/NOUN:1 evening/NOUN:2 = demain/ADV:1 soir/NOUN:2
tomorrow/NOUN:1 afternoon/NOUN:2 = demain/ADV:1 après-midi/NOUN:2
the/DET:1 day/NOUN:1 after/ADP:1 tomorrow/NOUN:1 = après-demain/ADV:1
next/ADJ:1 week/NOUN:2 = la/DET semaine/NOUN:2 prochaine/ADJ:1
next/ADJ:1 month/NOUN:2 = le/DET mois/NOUN:2 prochain/ADJ:1
next/ADJ:1 year/NOUN:2 = la/DET année/NOUN:2 prochaine/ADJ:1
next/ADJ:1 summer/NOUN:2 = le/DET été/NOUN:2 prochain/ADJ:1
soon/ADV:1 = bientôt/ADV:1
later/ADV:1 = plus/ADV:1 tard/ADV:1
tonight/NOUN:1 = ce/DET:1 soir/NOUN:1
one/NUM:1 day/NOUN:2 = un/NUM:1 jour/NOUN:2
""")
DAYS = tuple(
    (en(day, "PROPN"), fr(jour, "NOUN"))
    for day, jour in zip(
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
        "lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
        strict=True,
    )
)
PARTS = tuple(
    (en(a, "NOUN"), fr(b, "NOUN")) for a, b in (("morning", "matin"), ("evening", "soir"), ("afternoon", "après-midi"))
)
MONTHS = tuple(
    (en(month, "PROPN"), fr(mois, "NOUN"))
    for month, mois in zip(
        "January February March April May June July August September October November December".split(),
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
        strict=True,
    )
)
YEARS = tuple((en(str(year), "NUM"), fr(str(year), "NUM")) for year in range(1900, 2026))
FIGURES = tuple((en(ordinal(day), "ADJ"), fr("1er" if day == 1 else str(day), "NUM")) for day in range(1, 29))
ON, IN, AT, OF, FOR, AGO = (en(word, "ADP") for word in ("on", "in", "at", "of", "for", "ago"))
THE = en("the", "DET")
EN_IN, DANS, SUR, PENDANT = (fr(word, "ADP") for word in ("en", "dans", "sur", "pendant"))
NEXT, LAST = en("next", "ADJ"), en("last", "ADJ")
PROCHAIN, DERNIER = fr("prochain", "ADJ"), fr("dernier", "ADJ")


def date(draw: Draw) -> Adverbial:
    """ "on the 3rd of May", "le 3 mai", sometimes with the year."""
    day, jour = draw.pick(FIGURES)
    month, mois = draw.pick(MONTHS)
    first = draw.reserve(3)
    english = [(ON, 0), (THE, first), (day, first << 1), (OF, 0), (month, first << 2)]
    french = [(LE_PLAIN, first), (jour, first << 1), (mois, first << 2)]
    return english, french


LE_PLAIN = fr("le", "DET")  # never elided: "le 8 mai", "le 11 mai"


def full_date(draw: Draw) -> Adverbial:
    english, french = date(draw)
    year, annee = draw.pick(YEARS)
    key = draw.key()
    return [*english, (year, key)], [*french, (annee, key)]


def weekday(draw: Draw) -> Adverbial:
    """ "on Monday", "on Monday evening"."""
    day, jour = draw.pick(DAYS)
    key = draw.key()
    english, french = [(ON, 0), (day, key)], [(jour, key)]
    if draw.chance(0.4):
        part, partie = draw.pick(PARTS)
        key = draw.key()
        english.append((part, key))
        french.append((partie, key))
    return english, french


def near_weekday(draw: Draw, mark: Word, marque: Word) -> Adverbial:
    """ "next Monday", "lundi prochain"."""
    day, jour = draw.pick(DAYS)
    first, second = draw.key(), draw.key()
    return [(mark, first), (day, second)], [(jour, second), (marque, first)]


def month(draw: Draw) -> Adverbial:
    name, nom = draw.pick(MONTHS)
    first, second = draw.key(), draw.key()
    return [(IN, first), (name, second)], [(EN_IN, first), (nom, second)]


def year(draw: Draw) -> Adverbial:
    name, nom = draw.pick(YEARS)
    first, second = draw.key(), draw.key()
    return [(IN, first), (name, second)], [(EN_IN, first), (nom, second)]


_HEURE, _HEURES = fr("heure", "NOUN"), fr("heures", "NOUN")
_OCLOCK = en("o'clock", "ADV")
_HALF, _PAST, _QUARTER, _TO = en("half", "NOUN"), en("past", "ADP"), en("quarter", "NOUN"), en("to", "ADP")
_A = en("a", "DET", "an")
_ET, _DEMIE, _QUART, _MOINS = fr("et", "CCONJ"), fr("demie", "NOUN"), fr("quart", "NOUN"), fr("moins", "ADP")
HOURS = tuple(
    (en(english_number(n), "NUM"), fr(french_number(n, feminine=True), "NUM"), _HEURE if n == 1 else _HEURES)
    for n in range(1, 12)
)


def clock(draw: Draw) -> Adverbial:
    """ "at three o'clock", "at half past three", "at a quarter to three"."""
    number, nombre, heures = draw.pick(HOURS)
    at, key, rest = draw.key(), draw.key(), draw.key()
    chance = draw.random()
    if chance < 0.6:
        return [(AT, at), (number, key), (_OCLOCK, rest)], [(A, at), (nombre, key), (heures, rest)]
    hour = [(A, at), (nombre, key), (heures, 0)]
    if chance < 0.8:
        return [(AT, at), (_HALF, rest), (_PAST, rest), (number, key)], [*hour, (_ET, rest), (_DEMIE, rest)]
    quarter = draw.key()
    start = [(AT, at), (_A, quarter), (_QUARTER, quarter)]
    if chance < 0.9:
        return [*start, (_PAST, rest), (number, key)], [*hour, (_ET, rest), (_QUART, quarter)]
    return [*start, (_TO, rest), (number, key)], [*hour, (_MOINS, rest), (LE, quarter), (_QUART, quarter)]


NOON = phrases("""
at/ADP:1 noon/NOUN:2 = à/ADP:1 midi/NOUN:2
at/ADP:1 midnight/NOUN:2 = à/ADP:1 minuit/NOUN:2
""")

_UNITS = tuple(
    (en(a, "NOUN"), fr(b, "NOUN"), feminine)
    for a, b, feminine in (
        ("hours", "heures", True), ("days", "jours", False), ("weeks", "semaines", True), ("months", "mois", False),
        ("years", "ans", False), ("minutes", "minutes", True),
    )
)  # fmt: skip
IL_Y_A = (fr("il", "PRON"), fr("y", "PRON"), fr("a", "VERB"))


def _span(draw: Draw) -> Adverbial:
    unit, unite, feminine = draw.pick(_UNITS)
    number, nombre, nombre_f = draw.pick(NUMBERS)
    first, second = draw.key(), draw.key()
    return [(number, first), (unit, second)], [
        *((part, first) for part in (nombre_f if feminine else nombre)),
        (unite, second),
    ]


def ago(draw: Draw) -> Adverbial:
    """ "two years ago", "il y a deux ans"."""
    english, french = _span(draw)
    key = draw.key()
    return [*english, (AGO, key)], [*((word, key) for word in IL_Y_A), *french]


def within(draw: Draw) -> Adverbial:
    """ "in two years", "dans deux ans"."""
    english, french = _span(draw)
    key = draw.key()
    return [(IN, key), *english], [(DANS, key), *french]


def lasting(draw: Draw) -> Adverbial:
    """ "for two hours", "pendant deux heures"."""
    english, french = _span(draw)
    key = draw.key()
    return [(FOR, key), *english], [(PENDANT, key), *french]


EVENTS = of_kinds("event")
_ROUND = tuple(
    (en(a, "ADP"), fr(b, "ADP")) for a, b in (("before", "avant"), ("after", "après"), ("during", "pendant"))
)


def around(draw: Draw) -> Adverbial:
    """ "before the concert", "avant le concert"."""
    when, quand = draw.pick(_ROUND)
    key = draw.key()
    noun = draw.pick(EVENTS)
    event = common(draw, noun, style_of(noun, KNOWN_ONE), 0.15)
    return [(when, key), *event.en], [(quand, key), *event.fr]


Rule = Callable[[Draw], Adverbial]


def _of(table: tuple[Phrase, ...]) -> Rule:
    return lambda draw: draw.pick(table).use(draw)


# By the sphere of the tense.
TIMES: dict[str, tuple[Rule, ...]] = {
    "past": (_of(YESTERDAY),) * 6 + (date, full_date, weekday, clock, ago, ago, month, year, around, around, _of(NOON))
    + (lambda draw: near_weekday(draw, LAST, DERNIER),),
    "now": (_of(NOW),),
    "present": (_of(USUALLY),) * 6 + (clock, around, _of(NOON)),
    "future": (_of(TOMORROW),) * 6 + (date, weekday, clock, within, within, month, around, around, _of(NOON))
    + (lambda draw: near_weekday(draw, NEXT, PROCHAIN),),
}  # fmt: skip


def time(draw: Draw, sphere: str) -> Adverbial:
    """When: something that fits the sphere of a tense."""
    return draw.pick(TIMES[sphere])(draw)


FIXED_PLACES = phrases("""
here/ADV:1 = ici/ADV:1
over/ADV:1 there/ADV:1 = là-bas/ADV:1
at/ADP:1 home/NOUN:2 = à/ADP:1 la/DET maison/NOUN:2
outside/ADV:1 = dehors/ADV:1
everywhere/ADV:1 = partout/ADV:1
abroad/ADV:1 = à/ADP:1 le/DET:1 étranger/NOUN:1
""")
CITIES = tuple(
    (
        tuple(en(part, "PROPN") for part in left.split()),
        tuple(fr(part, "PROPN") for part in (right or left).split()),
    )
    for left, _, right in (item.strip().partition(" = ") for item in names.CITIES.split(";"))
)


def _countries() -> tuple[tuple[tuple[Word, ...], Word, str], ...]:
    found = []
    for item in names.COUNTRIES.split(";"):
        left, _, right = item.strip().partition(" = ")
        name, gender = right.split()
        words = tuple(en(part, "DET" if part == "the" else "PROPN") for part in left.split())
        found.append((words, fr(name, "PROPN"), gender))
    return tuple(found)


COUNTRIES = _countries()


def city(draw: Draw) -> Adverbial:
    """The name of a city, without preposition."""
    english, french = draw.pick(CITIES)
    key = draw.key()
    return [(word, key) for word in english], [(word, key) for word in french]


def country(draw: Draw, use: str) -> Adverbial:
    """A country after "in", "to" or "from", or by itself with its article ("the"), as `use` says."""
    english, french, gender = draw.pick(COUNTRIES)
    key = draw.key()
    the = draw.key()
    named = [(word, the if word is THE else key) for word in english]
    article = ({"m": LE, "f": LA, "p": LES}[gender], the)
    if use == "the":
        return named, [article, (french, key)]
    link = draw.key()
    preposition = IN if use == "in" else TO_PLACE if use == "to" else FROM
    if gender == "f":
        return [(preposition, link), *named], [(DE if use == "from" else EN_IN, link), (french, key)]
    return [(preposition, link), *named], [(DE if use == "from" else A, link), article, (french, key)]


TO_PLACE, FROM = en("to", "ADP"), en("from", "ADP")
PLACES = tuple(noun for noun in of_kinds("place") if noun.rest)
_REST = {"à": (AT, A), "dans": (IN, DANS), "sur": (ON, SUR)}
_NEAR = (
    phrase("near/ADP:1 = près/ADV:1 de/ADP:1"),
    phrase("near/ADP:1 = près/ADV:1 de/ADP:1"),
    phrase("behind/ADP:1 = derrière/ADP:1"),
    phrase("in/ADP:1 front/NOUN:1 of/ADP:1 = devant/ADP:1"),
    phrase("next/ADV:1 to/ADP:1 = à/ADP:1 côté/NOUN:1 de/ADP:1"),
    phrase("opposite/ADP:1 = en/ADP:1 face/NOUN:1 de/ADP:1"),
    phrase("far/ADV:1 from/ADP:2 = loin/ADV:1 de/ADP:2"),
)
BUILDINGS = of_kinds("building")


def _spot(draw: Draw, noun: Noun, style: Style) -> NounPhrase:
    return common(draw, noun, style_of(noun, style), 0.25)


def place(draw: Draw) -> Adverbial:
    """Where something happens."""
    chance = draw.random()
    if chance < 0.12:
        return draw.pick(FIXED_PLACES).use(draw)
    if chance < 0.22:
        english, french = city(draw)
        key = draw.key()
        return [(IN, key), *english], [(A, key), *french]
    if chance < 0.3:
        return country(draw, "in")
    if chance < 0.42:
        left, right = draw.pick(_NEAR).use(draw)
        building = _spot(draw, draw.pick(BUILDINGS), KNOWN_ONE)
        return left + building.en, right + building.fr
    noun = draw.pick(PLACES)
    preposition, french_preposition = _REST[noun.rest]
    spot = _spot(draw, noun, KNOWN_ONE if noun.rest == "à" else FOUND)
    key = draw.key()
    return [(preposition, key), *spot.en], [(french_preposition, key), *spot.fr]


def goal(draw: Draw) -> Adverbial:
    """Where somebody goes: "to the station", "to Paris", "to France"."""
    chance = draw.random()
    if chance < 0.25:
        english, french = city(draw)
        key = draw.key()
        return [(TO_PLACE, key), *english], [(A, key), *french]
    if chance < 0.45:
        return country(draw, "to")
    noun = draw.pick(PLACES)
    key = draw.key()
    spot = _spot(draw, noun, KNOWN_ONE)
    return [(TO_PLACE, key), *spot.en], [(_REST[noun.motion][1], key), *spot.fr]


def origin(draw: Draw) -> Adverbial:
    """Where somebody comes from."""
    chance = draw.random()
    if chance < 0.4:
        english, french = city(draw)
        key = draw.key()
        return [(FROM, key), *english], [(DE, key), *french]
    if chance < 0.75:
        return country(draw, "from")
    key = draw.key()
    spot = _spot(draw, draw.pick(PLACES), KNOWN_ONE)
    return [(FROM, key), *spot.en], [(DE, key), *spot.fr]
