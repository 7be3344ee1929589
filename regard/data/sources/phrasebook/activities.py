"""What people do beside their objects: going, living, playing, speaking, having, and caring for themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from regard.data.sources.phrasebook import adverbials
from regard.data.sources.phrasebook.complements import complement
from regard.data.sources.phrasebook.determiners import ANY, NEGATED
from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.entries import Noun, Verb, verb
from regard.data.sources.phrasebook.lexicon import HAVE, of_kinds
from regard.data.sources.phrasebook.nominal import NONE, NUMBERS, NounPhrase, build, common
from regard.data.sources.phrasebook.verbal import Predicate
from regard.data.sources.phrasebook.words import DE, LA, LE, LES, A, Tokens, en


def motion(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """Going somewhere, coming from somewhere, living somewhere."""
    entry, rule = draw.pick(MOTION)
    predicate = Predicate(draw, entry, subject)
    english, french = rule(draw)
    predicate.en += english
    predicate.fr += french
    return predicate


def _home(draw: Draw) -> adverbials.Adverbial:
    chance = draw.random()
    if chance < 0.4:
        english, french = adverbials.city(draw)
        key = draw.key()
        return [(adverbials.IN, key), *english], [(A, key), *french]
    if chance < 0.65:
        return adverbials.country(draw, "in")
    key = draw.key()
    noun = draw.pick(HOMES)
    home = common(draw, noun, ONE_HOME, 0.5)
    return [(adverbials.IN, key), *home.en], [(adverbials.DANS, key), *home.fr]


HOMES = of_kinds("home village town")
ONE_HOME = replace(ANY, plurals=0.0)
MOTION: tuple[tuple[Verb, Callable[[Draw], adverbials.Adverbial]], ...] = (
    (verb("go went gone", "aller", "human", "placed"), adverbials.goal),
    (verb("go went gone", "aller", "human", "placed"), adverbials.goal),
    (verb("return", "retourner", "human", "placed"), adverbials.goal),
    (verb("come came come", "venir", "human", "placed state"), adverbials.origin),
    (verb("live", "habiter", "human", "placed state"), _home),
)


def playing(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "plays the piano", "joue du piano"; "plays football", "joue au football"; "speaks French", "parle français"."""
    kind = draw.pick(("instrument", "ballgame", "tongue"))
    noun = draw.pick(PLAYED[kind])
    key = draw.key()
    predicate = Predicate(draw, SPEAK if kind == "tongue" else PLAY, subject)
    english = [(word, key) for word in noun.en[0]]
    french = [(word, key) for word in noun.fr[0]]
    if kind == "instrument":
        the = draw.key()
        predicate.en += [(adverbials.THE, the), *english]
        predicate.fr += [(DE, 0), (LA if noun.gender else LE, the), *french]
        return predicate
    predicate.en += english
    predicate.fr += french if kind == "tongue" else [(A, 0), (LE, 0), *french]
    return predicate


PLAYED = {kind: of_kinds(kind) for kind in ("instrument", "ballgame", "tongue")}
PLAY, SPEAK = verb("play", "jouer", "human", ""), verb("speak spoke spoken", "parler", "human", "")


def owning(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "has a dog", "a un chien"."""
    predicate = Predicate(draw, HAVE, subject)
    noun = draw.pick(OWNED)
    plural = draw.chance(0.35)
    style = NEGATED if negative else ANY
    determiners = tuple(
        each for each in (style.plural if plural else style.singular) if each.links == 1 and not each.counts
    )
    if plural and not negative and draw.chance(0.4):
        number, nombre, feminine = draw.pick(NUMBERS[:88])
        key = draw.key()
        count: tuple[Tokens, Tokens] = (
            [(number, key)],
            [(part, key) for part in (feminine if noun.gender else nombre)],
        )
        complement(predicate, build(draw, noun, 1, NONE, 0.4, count))
    else:
        complement(predicate, build(draw, noun, int(plural), draw.pick(determiners), 0.4))
    return predicate


OWNED = of_kinds("pet owned brother sister son daughter uncle aunt cousin house flat garden friend object clothes")

MY = tuple(en(word, "DET") for word in ("my", "your", "his", "our", "your", "their"))
HER = en("her", "DET")
CARE = (
    (verb("wash", "se laver", "human", ""), of_kinds("washed face"), 1),
    (verb("brush", "se brosser", "human", ""), of_kinds("tooth"), 1),
)
HURT = ((verb("break broke broken", "se casser", "human", "plain"), of_kinds("arm leg nose"), 0),)


def caring(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "washes his hands", "se lave les mains": the object follows, so the participle does not agree."""
    return _to_body(draw, subject, draw.pick(CARE))


def hurting(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "breaks her arm", "se casse le bras"."""
    return _to_body(draw, subject, HURT[0])


def _to_body(draw: Draw, subject: NounPhrase, choice: tuple[Verb, tuple[Noun, ...], int]) -> Predicate:
    entry, parts, plural = choice
    predicate = Predicate(draw, entry, subject)
    predicate.agreement = 0
    noun = draw.pick(parts)
    if noun.lemma == "face":
        plural = 0
    own, key = draw.key(), draw.key()
    whose = HER if subject.person == 2 and subject.form == 1 else MY[subject.person]
    article = LES if plural else (LA if noun.gender else LE)
    # Several people break their arms, each his own: "ils se cassent le bras".
    several = plural or subject.person in (3, 5)
    predicate.en += [(whose, own), *((word, key) for word in noun.en[int(several)])]
    predicate.fr += [(article, own), *((word, key) for word in noun.fr[plural])]
    return predicate
