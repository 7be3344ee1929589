"""Statements: the kinds of main clause that are more than a subject and a verb, and the choice among all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from regard.data.sources.phrasebook import adverbials
from regard.data.sources.phrasebook.clauses import TENSES, Clause, of_anybody, put, say, subject
from regard.data.sources.phrasebook.determiners import ANY, KNOWN, KNOWN_ONE, NEGATED, THE
from regard.data.sources.phrasebook.draw import Draw, held_out
from regard.data.sources.phrasebook.entries import Adjective, Noun, Verb
from regard.data.sources.phrasebook.lexicon import BE, HAVE, HUMAN_ADJECTIVES, PERSON_KINDS, TRANSITIVE, of_kinds
from regard.data.sources.phrasebook.nominal import HUMAN, NounPhrase, build, common, person, somebody, style_of
from regard.data.sources.phrasebook.phrases import phrase, phrases
from regard.data.sources.phrasebook.pronouns import STRONG
from regard.data.sources.phrasebook.relatives import BESIDE, relate
from regard.data.sources.phrasebook.verbal import (
    AVOIR,
    BE_NOW,
    BE_THEN,
    FUTURE,
    PAST_STATE,
    PRESENT,
    Predicate,
    Tense,
    realise,
)
from regard.data.sources.phrasebook.words import DE, LA, LE, LES, NE, QUE, A, Tokens, Word, en, fr

Statement = Callable[[Draw, str], Clause]


def ordinary(draw: Draw, sphere: str) -> Clause:
    """A subject that does or is something; relative clauses may hang on the subject and on what ends the predicate."""
    if draw.chance(0.03):
        return of_anybody(draw, sphere)
    return about(draw, sphere, subject(draw), draw.chance(0.15))


def about(draw: Draw, sphere: str, who: NounPhrase, negative: bool = False) -> Clause:
    """A clause about somebody or something that is given."""
    near = sphere if sphere in BESIDE else "past"
    if who.open and draw.rich(0.1):
        english, french = relate(draw, who, near)
        who.en, who.fr, who.open = who.en + english, who.fr + french, False

    def extend(inner: Draw, last: NounPhrase) -> tuple[Tokens, Tokens]:
        return relate(inner, last, near)

    return put(say(draw, who, TENSES[sphere], negative, relate=extend))


_THERE, _NO = en("there", "PRON"), en("no", "DET")
_IL, _Y = fr("il", "PRON"), fr("y", "PRON")
_PAS, _DE = fr("pas", "ADV"), fr("de", "DET", "d'")
SEEN = of_kinds("animal person furniture object plant book newspaper letter car bicycle boat food")


def there_is(draw: Draw, sphere: str) -> Clause:
    """ "there is a cat in the garden", "il y a un chat dans le jardin"."""
    noun = draw.pick(SEEN)
    key = draw.key()
    tense = {"present": "present", "past": "imperfect", "future": "future"}.get(sphere, "imperfect")
    plural = int(draw.chance(0.5))
    forms = {"present": BE_NOW, "imperfect": BE_THEN}
    has = HAVE.simple[tense][2]
    verb: Tokens = [(forms[tense][5 if plural else 2], key)] if tense in forms else [(_WILL, key), (_BE, key)]
    if draw.chance(0.2):
        no = draw.key()
        thing = build(draw, noun, plural, NEGATED.mass[0], 0.4)
        thing.en, thing.fr = thing.en[1:], thing.fr[1:]
        english = [(_THERE, key), *verb, (_NO, no), *thing.en]
        french = [(_IL, key), (NE, no), (_Y, key), (has, key), (_PAS, no), (_DE, no), *thing.fr]
    else:
        style = ANY.plural if plural else ANY.singular
        fresh = [each for each in style if each.links == 1 and each.en[0][0].text in FRESH]
        thing = build(draw, noun, plural, draw.pick(fresh), 0.5)
        english = [(_THERE, key), *verb, *thing.en]
        french = [(_IL, key), (_Y, key), (has, key), *thing.fr]
    where = adverbials.place(draw)
    return Clause(english + where[0], french + where[1])


FRESH = frozenset({"a", "some", "several", "many"})
_WILL, _BE = en("will", "AUX"), en("be", "AUX")

WEATHER = {
    "present": phrases("""
        it/PRON:1 is/AUX:2 raining/VERB:2 = il/PRON:1 pleut/VERB:2
        it/PRON:1 is/AUX:2 snowing/VERB:2 = il/PRON:1 neige/VERB:2
        it/PRON:1 is/AUX:2 cold/ADJ:3 = il/PRON:1 fait/VERB:2 froid/ADJ:3
        it/PRON:1 is/AUX:2 hot/ADJ:3 = il/PRON:1 fait/VERB:2 chaud/ADJ:3
        the/DET:1 weather/NOUN:1 is/AUX:2 nice/ADJ:3 = il/PRON:1 fait/VERB:2 beau/ADJ:3
        the/DET:1 weather/NOUN:1 is/AUX:2 bad/ADJ:3 = il/PRON:1 fait/VERB:2 mauvais/ADJ:3
    """),
    "past": phrases("""
        it/PRON:1 was/AUX:2 raining/VERB:2 = il/PRON:1 pleuvait/VERB:2
        it/PRON:1 was/AUX:2 snowing/VERB:2 = il/PRON:1 neigeait/VERB:2
        it/PRON:1 was/AUX:2 cold/ADJ:3 = il/PRON:1 faisait/VERB:2 froid/ADJ:3
        it/PRON:1 was/AUX:2 hot/ADJ:3 = il/PRON:1 faisait/VERB:2 chaud/ADJ:3
        the/DET:1 weather/NOUN:1 was/AUX:2 nice/ADJ:3 = il/PRON:1 faisait/VERB:2 beau/ADJ:3
        the/DET:1 weather/NOUN:1 was/AUX:2 bad/ADJ:3 = il/PRON:1 faisait/VERB:2 mauvais/ADJ:3
    """),
    "future": phrases("""
        it/PRON:1 will/AUX:2 rain/VERB:2 = il/PRON:1 pleuvra/VERB:2
        it/PRON:1 will/AUX:2 snow/VERB:2 = il/PRON:1 neigera/VERB:2
        it/PRON:1 will/AUX:2 be/AUX:2 cold/ADJ:3 = il/PRON:1 fera/VERB:2 froid/ADJ:3
        it/PRON:1 will/AUX:2 be/AUX:2 hot/ADJ:3 = il/PRON:1 fera/VERB:2 chaud/ADJ:3
        it/PRON:1 is/AUX:2 going/VERB:2 to/PART:2 rain/VERB:3 = il/PRON:1 va/VERB:2 pleuvoir/VERB:3
        the/DET:1 weather/NOUN:1 will/AUX:2 be/AUX:2 nice/ADJ:3 = il/PRON:1 fera/VERB:2 beau/ADJ:3
    """),
}


_UNMISTAKABLE = {
    table: tuple(each for each in table if each.en[-1][0].text not in ("hot", "cold")) for table in WEATHER.values()
}


def weather(draw: Draw, sphere: str) -> Clause:
    """ "it is raining in Paris", "il pleut à Paris"."""
    choices = WEATHER.get(sphere, WEATHER["past"])
    # After a first clause "it was hot" would speak of the soup that somebody drank.
    english, french = draw.pick(_UNMISTAKABLE[choices] if draw.later else choices).use(draw)
    if draw.rich(0.5):
        where = adverbials.country(draw, "in") if draw.chance(0.4) else _in_city(draw)
        english, french = english + where[0], french + where[1]
    if draw.rich(0.4) and sphere in ("past", "future"):
        when = draw.pick(adverbials.YESTERDAY if sphere == "past" else adverbials.TOMORROW).use(draw)
        english, french = english + when[0], french + when[1]
    return Clause(english, french)


def _in_city(draw: Draw) -> adverbials.Adverbial:
    english, french = adverbials.city(draw)
    key = draw.key()
    return [(adverbials.IN, key), *english], [(A, key), *french]


_THAN, _AS, _AS_LINK, _LESS = en("than", "ADP"), en("as", "ADV"), en("as", "ADP"), en("less", "ADV")
_PLUS, _AUSSI, _MOINS = fr("plus", "ADV"), fr("aussi", "ADV"), fr("moins", "ADV")
COMPARED = tuple(
    noun for noun in of_kinds("building outdoors vehicle clothes furniture object text animal food")
    if any(not each.absolute for each in noun.said.kept)
)  # fmt: skip


def comparison(draw: Draw, sphere: str) -> Clause:
    """ "Paul is taller than Mary", "Paul est plus grand que Marie"."""
    before = draw.used_held_out
    if draw.chance(0.6):
        first, second = somebody(draw), person(draw, KNOWN)
        fitting: tuple[Adjective, ...] = HUMAN_ADJECTIVES
    else:
        noun = draw.pick(COMPARED)
        first = common(draw, noun, style_of(noun, KNOWN), 0.15)
        other = draw.pick(_alike(noun))
        second = common(draw, other, style_of(other, KNOWN), 0.15)
        fitting = noun.said.kept
    adjective = next((each for each in _shuffled(draw, fitting) if _comparable(each, first, second)), None)
    if adjective is None:
        draw.used_held_out = before  # what is thrown away was not used
        return ordinary(draw, sphere)
    return _compare(draw, sphere, first, second, adjective)


@cache
def _alike(noun: Noun) -> tuple[Noun, ...]:
    return tuple(each for each in COMPARED if each.kinds & noun.kinds)


def _shuffled(draw: Draw, adjectives: tuple[Adjective, ...]) -> list[Adjective]:
    return [draw.pick(adjectives) for _ in range(4)]


def _comparable(adjective: Adjective, *phrases: NounPhrase) -> bool:
    return not adjective.absolute and all(
        adjective.kinds & noun.kinds and not held_out(adjective.lemma, noun.lemma)
        for phrase in phrases
        for noun in phrase.nouns
    )


def _compare(draw: Draw, sphere: str, first: NounPhrase, second: NounPhrase, adjective: Adjective) -> Clause:
    made = Predicate(draw, BE, first)
    degree, key, link = draw.key(), draw.key(), draw.key()
    form = first.form
    chance = draw.random()
    if chance < 0.65:
        if adjective.better is not None:
            made.en.append((adjective.more[0], key))
            made.fr.append((adjective.better[form], key))
        else:
            # "taller" is one word for two, "more patient" is two for two
            both = degree | key if len(adjective.more) == 1 else key
            made.en += [(word, degree) for word in adjective.more[:-1]] + [(adjective.more[-1], both)]
            made.fr += [(_PLUS, degree), (adjective.far[form], key)]
        made.en.append((_THAN, link))
    elif chance < 0.85 or len(adjective.more) == 1:
        made.en += [(_AS, degree), (adjective.en, key), (_AS_LINK, link)]
        made.fr += [(_AUSSI, degree), (adjective.far[form], key)]
    else:
        made.en += [(_LESS, degree), (adjective.en, key), (_THAN, link)]
        made.fr += [(_MOINS, degree), (adjective.far[form], key)]
    made.fr.append((QUE, link))
    if first.kinds & HUMAN and draw.chance(0.2):
        pronoun = draw.pick(STRONG)
        if pronoun.person not in (first.person, 0, 3, 5):
            key = draw.key()
            second = NounPhrase([(pronoun.en, key)], [(pronoun.fr, key)], pronoun.person, pronoun.form)
    made.en += second.en
    made.fr += second.fr
    group = realise(draw, made, _state_tense(sphere), first)
    return Clause(first.en + group.en, first.fr + group.fr)


def _state_tense(sphere: str) -> Tense:
    return PAST_STATE if sphere == "past" else PRESENT


_BY, _PAR = en("by", "ADP"), fr("par", "ADP")
_BEEN, _ETE = en("been", "AUX"), fr("été", "AUX")
PASSIVE = tuple(entry for entry in TRANSITIVE if "passive" in entry.marks)


def passive(draw: Draw, sphere: str) -> Clause:
    """ "the house was built by Paul", "la maison a été construite par Paul"."""
    entry: Verb = draw.pick(PASSIVE)
    noun = draw.partner(entry.objects)
    what = common(draw, noun, style_of(noun, ANY), 0.0 if entry.lemma == "break" else 0.35)
    be, key, by = draw.key(), draw.key(), draw.key()
    if sphere == "future":
        english: Tokens = [(_WILL, be), (_BE, be)]
        french: Tokens = [(BE.simple["future"][what.person], be)]
    else:
        third = what.person == 2
        was = BE_THEN[what.person]
        perfect = draw.chance(0.3)
        english = [(_HAS if third else _HAVE, be), (_BEEN, be)] if perfect else [(was, be)]
        french = [(AVOIR["perfect"][what.person], be), (_ETE, be)]
        sphere = "perfect" if perfect else "past"
    if entry.subjects & PERSON_KINDS:
        agent = person(draw, ANY)
    else:
        agent = common(draw, draw.pick(of_kinds(" ".join(sorted(entry.subjects)))), ANY, 0.3)
    english = [*what.en, *english, (entry.participle, key), (_BY, by), *agent.en]
    french = [*what.fr, *french, (entry.agreeing[what.form], key), (_PAR, by), *agent.fr]
    if sphere != "perfect" and draw.rich(0.35):
        when = adverbials.time(draw, sphere)
        english, french = english + when[0], french + when[1]
    return Clause(english, french)


_HAS, _HAVE = en("has", "AUX"), en("have", "AUX")
_SPOTS = tuple(
    (phrase(row), of_kinds(kind))
    for row, kind in (
        ("on/ADP:1 = sur/ADP:1", "on"), ("under/ADP:1 = sous/ADP:1", "on"), ("in/ADP:1 = dans/ADP:1", "in"),
        ("behind/ADP:1 = derrière/ADP:1", "furniture"),
        ("next/ADV:1 to/ADP:1 = à/ADP:1 côté/NOUN:1 de/ADP:1", "furniture"),
        ("in/ADP:1 front/NOUN:1 of/ADP:1 = devant/ADP:1", "furniture opening"),
    )
)  # fmt: skip
SMALL = of_kinds(
    "key knife fork spoon plate glass cup bottle phone camera watch pen pencil brush candle ball doll toy gift ticket"
    " map umbrella book letter newspaper novel magazine dictionary hat glove scarf tie ring apple pear cat"
)


def located(draw: Draw, sphere: str) -> Clause:
    """ "the book is on the table", "my uncle was in the garden"."""
    if draw.chance(0.4):
        who = somebody(draw)
        where = adverbials.place(draw)
    else:
        who = common(draw, draw.pick(SMALL), KNOWN)
        spot, nouns = draw.pick(_SPOTS)
        left, right = spot.use(draw)
        at = common(draw, draw.pick(nouns), KNOWN, 0.3)
        where = left + at.en, right + at.fr
    made = Predicate(draw, BE, who)
    made.en += where[0]
    made.fr += where[1]
    tense = FUTURE if sphere == "future" and who.kinds & HUMAN else _state_tense(sphere)
    group = realise(draw, made, tense, who)
    return Clause(who.en + group.en, who.fr + group.fr)


_MOST = en("most", "ADV")
_IN = en("in", "ADP")
OUTDOOR_REGIONS, INDOOR_REGIONS = (
    of_kinds("town village valley street"),
    of_kinds("shop museum house school castle market"),
)


def superlative(draw: Draw, sphere: str) -> Clause:
    """ "Paul buys the oldest house in the village", "Paul achète la plus vieille maison du village"."""
    noun = draw.pick(COMPARED)
    choices = [each for each in noun.adjectives.kept if not each.absolute]
    if not choices:
        return ordinary(draw, sphere)
    adjective = draw.pick(choices)
    what = build(draw, noun, int(draw.chance(0.3)), THE, 0.0)
    degree, key, of = draw.key(), draw.key(), draw.key()
    article, article_fr = what.en[0], what.fr[0]
    most = _superlative_words(adjective)
    english = [article, *((word, degree) for word in most[:-1]), (most[-1], key if len(most) > 1 else key | degree)]
    if adjective.better is not None:
        french = [article_fr, (adjective.better[what.form], key | degree), *what.fr[1:]]
    elif adjective.before:
        french = [article_fr, (_PLUS, degree), (adjective.far[what.form], key), *what.fr[1:]]
    else:
        french = [*what.fr, (_ARTICLES[what.form], degree), (_PLUS, degree), (adjective.far[what.form], key)]
    outside = noun.kinds & {"building", "outdoors", "vehicle", "animal"}
    place = draw.pick(OUTDOOR_REGIONS if outside else INDOOR_REGIONS)
    if place is noun:
        return ordinary(draw, sphere)
    region = common(draw, place, style_of(place, KNOWN_ONE), 0.0)
    who = NounPhrase(
        [*english, *what.en[1:], (_IN, of), *region.en],
        [*french, (DE, of), *region.fr],
        what.person,
        what.form,
        what.nouns,
        what.kinds,
    )
    who.adjective = adjective
    return about(draw, sphere, who)


_ARTICLES = (LE, LA, LES, LES)


def _superlative_words(adjective: Adjective) -> tuple[Word, ...]:
    special = {"better": "best", "worse": "worst"}
    more = adjective.more
    if len(more) > 1:
        return _MOST, more[1]
    text = more[0].text
    return (en(special.get(text) or text[:-1] + "st", "ADJ"),)


STATEMENTS: tuple[Statement, ...] = (
    (ordinary,) * 30 + (there_is,) * 2 + (comparison,) * 2 + (passive,) * 3 + (located,) * 2 + (superlative, weather)
)  # fmt: skip


def statement(draw: Draw, sphere: str) -> Clause:
    """Any statement about a time: "present", "past" or "future"."""
    return draw.pick(STATEMENTS)(draw, sphere)
