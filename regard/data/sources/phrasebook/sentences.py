"""Sentences: statements, questions, requests, and clauses joined by conjunctions or by what they speak of."""

from __future__ import annotations

from collections.abc import Callable

from regard.data.sources.phrasebook import adverbials
from regard.data.sources.phrasebook.clauses import TENSES, Clause, put, say
from regard.data.sources.phrasebook.complements import Rule as Saying
from regard.data.sources.phrasebook.complements import acting, dealing, giving, intransitive, ongoing
from regard.data.sources.phrasebook.determiners import ANY, KNOWN, MANY, THE
from regard.data.sources.phrasebook.draw import Draw, Partners
from regard.data.sources.phrasebook.entries import Noun, Verb
from regard.data.sources.phrasebook.lexicon import CLAUSAL, PERSON_KINDS, TRANSITIVE, of_kinds
from regard.data.sources.phrasebook.nominal import HUMAN, NounPhrase, build, common, pronominal, somebody, style_of
from regard.data.sources.phrasebook.phrases import phrase
from regard.data.sources.phrasebook.pronouns import BACK_TO, THINGS, YOU
from regard.data.sources.phrasebook.statements import ordinary, statement, weather
from regard.data.sources.phrasebook.states import describing, feeling
from regard.data.sources.phrasebook.verbal import (
    CONDITIONAL,
    FUTURE,
    PAST,
    PAST_PROGRESSIVE,
    PAST_STATE,
    PERFECT,
    PRESENT,
    PRESENT_FOR_FUTURE,
    PROGRESSIVE,
    Predicate,
    Tense,
    fitting,
    realise,
)
from regard.data.sources.phrasebook.words import DE, NE, QUE, SI, Tokens, Word, en, fr

Rule = Callable[[Draw], Clause]

COMMA_EN, COMMA_FR = en(",", "PUNCT"), fr(",", "PUNCT")
STOP_EN, STOP_FR = en(".", "PUNCT"), fr(".", "PUNCT")
ASK_EN, ASK_FR = en("?", "PUNCT"), fr("?", "PUNCT")
NOTHING = Clause([], [])
SPHERES = ("present",) * 4 + ("past",) * 4 + ("future",) * 2


def closed(draw: Draw, clause: Clause, mark: tuple[Word, Word] = (STOP_EN, STOP_FR)) -> Clause:
    """With its full stop or question mark."""
    key = draw.key()
    return Clause([*clause.en, (mark[0], key)], [*clause.fr, (mark[1], key)])


# --- one clause -------------------------------------------------------------------------------------------------------


def simple(draw: Draw) -> Clause:
    """One statement; now and then a time stands before it."""
    sphere = draw.pick(SPHERES)
    if sphere != "present" and draw.rich(0.08):
        when = adverbials.time(draw, sphere)
        tenses = (PAST,) if sphere == "past" else (FUTURE,)
        clause = put(say(draw, somebody(draw), tenses, False, draw.pick(ACTIONS), end=False))
        return after(draw, Clause(*when), clause)
    return statement(draw, sphere)


ACTIONS = (intransitive, acting, acting, acting, giving, dealing)
ONGOING = (intransitive, ongoing, ongoing, ongoing, giving)


def after(draw: Draw, first: Clause, second: Clause) -> Clause:
    """Two parts with a comma between them."""
    key = draw.key()
    return Clause([*first.en, (COMMA_EN, key), *second.en], [*first.fr, (COMMA_FR, key), *second.fr])


EST_CE, QUE_ASK = fr("est-ce", "PART"), fr("que", "PART", "qu'")


def _inverted(
    draw: Draw, before: Clause, who: NounPhrase, rule: Saying | None = None, negative: bool = False, end: bool = True
) -> Clause:
    """ "(where) does he sleep", "(où) est-ce qu'il dort"."""
    key = draw.key()
    sphere = draw.pick(SPHERES)
    tenses = tuple(each for each in TENSES[sphere] if each.en not in ("used", "past progressive"))
    said = say(draw, who, tenses, negative, rule, asking=key, end=end)
    return Clause(
        [*before.en, *said.group.front, *who.en, *said.group.en, *said.tail[0]],
        [*before.fr, (EST_CE, key), (QUE_ASK, key), *who.fr, *said.group.fr, *said.tail[1]],
    )


def yes_or_no(draw: Draw) -> Clause:
    """ "Does Paul eat bread?", "Est-ce que Paul mange du pain ?" """
    return _inverted(draw, NOTHING, somebody(draw), negative=draw.chance(0.08))


WH = tuple(phrase(row) for row in (
    "where/ADV:1 = où/ADV:1", "when/ADV:1 = quand/ADV:1", "why/ADV:1 = pourquoi/ADV:1", "how/ADV:1 = comment/ADV:1",
))  # fmt: skip


def wh_adverb(draw: Draw) -> Clause:
    """ "Why does he laugh?", "Pourquoi est-ce qu'il rit ?" """
    before = Clause(*draw.pick(WH).use(draw))
    return _inverted(draw, before, somebody(draw), draw.pick(ACTIONS), end=False)


WHAT, QUOI = en("what", "PRON"), fr("que", "PRON", "qu'")
HUMAN_VERBS = tuple(each for each in TRANSITIVE if each.subjects & PERSON_KINDS)
THING_VERBS = tuple(
    each for each in HUMAN_VERBS
    if not each.general and not any(noun.kinds & PERSON_KINDS for noun in each.objects.kept)
)  # fmt: skip


def _asked(entry: Verb, form: int) -> Saying:
    """A predicate whose object stands at the head of the question."""

    def made(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
        predicate = Predicate(draw, entry, subject)
        predicate.agreement = form
        return predicate

    return made


def what(draw: Draw) -> Clause:
    """ "What does Paul eat?", "Qu'est-ce que Paul mange ?" """
    key = draw.key()
    before = Clause([(WHAT, key)], [(QUOI, key)])
    return _inverted(draw, before, somebody(draw), _asked(draw.pick(THING_VERBS), 0))


WHICH = en("which", "DET")
QUELS = tuple(fr(form, "DET") for form in ("quel", "quelle", "quels", "quelles"))
HOW, MANY_EN, COMBIEN = en("how", "ADV"), en("many", "ADJ"), fr("combien", "ADV")


def which(draw: Draw) -> Clause:
    """ "Which apples did she buy?", "Quelles pommes est-ce qu'elle a achetées ?" """
    entry = draw.pick(THING_VERBS)
    noun = draw.partner(entry.objects)
    key = draw.key()
    if not noun.mass and not noun.one and draw.chance(0.4):
        asked = build(draw, noun, 1, MANY, 0.25)
        before = Clause([(HOW, key), (MANY_EN, key), *asked.en[1:]], [(COMBIEN, key), (DE, key), *asked.fr[2:]])
    else:
        asked = build(draw, noun, 0 if noun.mass or noun.one else int(draw.chance(0.4)), THE, 0.25)
        before = Clause([(WHICH, key), *asked.en[1:]], [(QUELS[asked.form], key), *asked.fr[1:]])
    return _inverted(draw, before, somebody(draw), _asked(entry, asked.form))


WHO_ASK, QUI_ASK = en("who", "PRON"), fr("qui", "PRON")


def who(draw: Draw) -> Clause:
    """ "Who has bought the car?", "Qui a acheté la voiture ?" """
    key = draw.key()
    subject = NounPhrase([(WHO_ASK, key)], [(QUI_ASK, key)], 2, 0, (), HUMAN, pronoun=True)
    return put(say(draw, subject, TENSES[draw.pick(SPHERES)], False, draw.pick(ACTIONS)))


DO, NOT_EN, PAS = en("do", "AUX"), en("not", "PART"), fr("pas", "ADV")
ORDERED = tuple(each for each in HUMAN_VERBS if not each.plain and not each.general)


def request(draw: Draw) -> Clause:
    """ "Close the door.", "Fermez la porte."; "Do not touch the glass.", "Ne touchez pas le verre." """
    you = pronominal(draw, YOU)
    negative = draw.chance(0.25)
    entry = draw.pick(ORDERED)
    noun = draw.partner(entry.objects)
    thing = common(draw, noun, style_of(noun, KNOWN))
    made = Predicate(draw, entry, you)
    verb = (entry.simple["present"][4], made.key)
    key = draw.key()
    before: Tokens = [(DO, key), (NOT_EN, key)] if negative else []
    english = [*before, (entry.base, made.key), *made.en, *thing.en]
    french: Tokens = [(NE, key), verb, (PAS, key), *thing.fr] if negative else [verb, *thing.fr]
    if draw.rich(0.4):
        where = draw.pick(BY_THEN).use(draw) if draw.chance(0.4) else adverbials.place(draw)
        if "placed" not in entry.marks:
            english, french = english + where[0], french + where[1]
    return Clause(english, french)


BY_THEN = adverbials.NOW[:1] + adverbials.TOMORROW[:5]

# --- two clauses ------------------------------------------------------------------------------------------------------

AND, BUT, SO = (
    phrase(row) for row in ("and/CCONJ:1 = et/CCONJ:1", "but/CCONJ:1 = mais/CCONJ:1", "so/CCONJ:1 = donc/CCONJ:1")
)
BECAUSE = phrase("because/SCONJ:1 = parce/SCONJ:1 que/SCONJ:1")
WHEN, WHILE = phrase("when/SCONJ:1 = quand/SCONJ:1"), phrase("while/SCONJ:1 = pendant/SCONJ:1 que/SCONJ:1")
THAT, IF = en("that", "SCONJ"), en("if", "SCONJ")


def linked(first: Clause, link: tuple[Tokens, Tokens], second: Clause) -> Clause:
    """Two clauses, or nothing and a clause, with a conjunction between them."""
    return Clause([*first.en, *link[0], *second.en], [*first.fr, *link[1], *second.fr])


def later(draw: Draw, sphere: str) -> Clause:
    """A statement after another one."""
    draw.later = True
    return statement(draw, sphere)


def compound(draw: Draw) -> Clause:
    """Two statements of one time with and, but or so."""
    sphere = draw.pick(SPHERES)
    first = statement(draw, sphere)
    second = later(draw, sphere)
    chance = draw.random()
    if chance < 0.5:
        return linked(first, AND.use(draw), second)
    return after(draw, first, linked(NOTHING, (BUT if chance < 0.8 else SO).use(draw), second))


def because(draw: Draw) -> Clause:
    """ "Paul sleeps because he is tired": the reason is a state, the weather, or what happened before."""
    sphere = draw.pick(SPHERES)
    first = ordinary(draw, sphere)
    draw.later = True
    return linked(first, BECAUSE.use(draw), _reason(draw, sphere))


def _reason(draw: Draw, sphere: str) -> Clause:
    chance = draw.random()
    if chance < 0.15:
        return weather(draw, sphere if sphere == "past" else "present")
    who = somebody(draw)
    if sphere == "past":
        rule = draw.pick((describing, feeling)) if chance < 0.6 else draw.pick(ACTIONS)
        tenses: tuple[Tense, ...] = (PAST,) if chance < 0.6 else TENSES["had"]
    else:
        rule = draw.pick((describing, feeling)) if chance < 0.6 else draw.pick(ACTIONS)
        tenses = (PRESENT,) if chance < 0.6 else (PERFECT, PRESENT)
    return put(say(draw, who, tenses, draw.chance(0.1), rule, end=False))


def when(draw: Draw) -> Clause:
    """ "When he arrives, we will eat", "Quand il arrivera, nous mangerons"; "was eating when he arrived"."""
    chance = draw.random()
    if chance < 0.35:
        first = _simple_action(draw, (PRESENT_FOR_FUTURE,))
        draw.later = True
        second = put(say(draw, somebody(draw), (FUTURE,), draw.chance(0.1), draw.pick(ACTIONS)))
        return after(draw, linked(NOTHING, WHEN.use(draw), first), second)
    if chance < 0.7:
        first = _simple_action(draw, (PAST_PROGRESSIVE,))
        draw.later = True
        return linked(first, WHEN.use(draw), _simple_action(draw, (PAST,)))
    tenses = draw.pick(((PAST_PROGRESSIVE,), (PROGRESSIVE,)))
    first = _simple_action(draw, tenses, ONGOING)
    draw.later = True
    return linked(first, WHILE.use(draw), _simple_action(draw, tenses, ONGOING))


def _simple_action(draw: Draw, tenses: tuple[Tense, ...], rules: tuple[Saying, ...] = ACTIONS) -> Clause:
    return put(say(draw, somebody(draw), tenses, False, draw.pick(rules), end=False))


def if_(draw: Draw) -> Clause:
    """ "If he comes, we will eat", "S'il vient, nous mangerons"; "If he came, we would eat", "S'il venait, …"."""
    real = draw.chance(0.55)
    key = draw.key()
    rule = draw.pick((*ACTIONS, describing, feeling))
    condition = put(
        say(draw, somebody(draw), (PRESENT if real else PAST_STATE,), draw.chance(0.15), rule, modal=False, end=False)
    )
    draw.later = True
    result = put(
        say(
            draw,
            somebody(draw),
            (FUTURE if real else CONDITIONAL,),
            draw.chance(0.12),
            draw.pick(ACTIONS),
            end=draw.chance(0.3) and real,
        )
    )
    if draw.chance(0.6):
        return after(draw, Clause([(IF, key), *condition.en], [(SI, key), *condition.fr]), result)
    return Clause([*result.en, (IF, key), *condition.en], [*result.fr, (SI, key), *condition.fr])


def reported(draw: Draw, rest: Rule | None = None) -> Clause:
    """ "Mary says that Paul is ill", "Marie dit que Paul est malade"; `rest` may give what is said."""
    entry = draw.pick(CLAUSAL)
    if rest is not None and entry.lemma == "hope":
        entry = CLAUSAL[0]  # one hopes for the future, and the rest may be past
    speaker = somebody(draw)
    past = rest is None and draw.chance(0.4)
    made = Predicate(draw, entry, speaker)
    group = realise(draw, made, fitting(PAST if past else PRESENT, entry), speaker)
    draw.later = True
    key = draw.key()
    if past:
        sphere = "would" if entry.lemma == "hope" else draw.pick(("had", "would", "ongoing"))
        content = put(say(draw, somebody(draw), TENSES[sphere], draw.chance(0.1), modal=False, end=False))
    elif rest is not None:
        content = rest(draw)
    else:
        content = later(draw, "future" if entry.lemma == "hope" else draw.pick(SPHERES))
    return Clause([*speaker.en, *group.en, (THAT, key), *content.en], [*speaker.fr, *group.fr, (QUE, key), *content.fr])


def twice(draw: Draw, sphere: str = "") -> Clause:
    """One subject and two verbs: "Paul opens the door and sees a cat"."""
    sphere = sphere or draw.pick(SPHERES)
    tense = {"present": PRESENT, "past": PAST, "future": FUTURE}[sphere]
    subject = somebody(draw)
    first = say(draw, subject, (tense,), False, draw.pick(ACTIONS), end=False)
    draw.later = True
    nobody = NounPhrase([], [], subject.person, subject.form, subject.nouns, subject.kinds)
    # "nous rions et nous arrêtons" would want its subject again: no reflexive verb after nous and vous.
    rules = (acting, giving) if subject.person in (3, 4) else ACTIONS
    second = say(draw, nobody, (tense,), False, draw.pick(rules), end=True)
    return linked(put(first), AND.use(draw), put(second))


# --- speaking of the same thing ---------------------------------------------------------------------------------------

_TAKEN = tuple(each for each in THING_VERBS if not each.state)


def _again(noun: Noun, first: Verb) -> Partners[Verb]:
    """What else can be done to a thing by somebody."""
    kept = tuple(each for each in noun.verbs.kept if each in _TAKEN and each.base is not first.base)
    return Partners(kept, ())


def it_again(draw: Draw) -> Clause:
    """ "Paul buys the apple and eats it", "Paul achète la pomme et la mange": the pronoun knows its noun."""
    before = draw.used_held_out
    tense = draw.pick((PRESENT, PAST, PAST, FUTURE))
    subject = somebody(draw)
    entry = draw.pick(_TAKEN)
    noun = draw.partner(entry.objects)
    others = _again(noun, entry)
    if not others.kept:
        draw.used_held_out = before  # what is thrown away was not used
        return twice(draw)
    thing = common(draw, noun, style_of(noun, ANY))
    made = Predicate(draw, entry, subject)
    made.en, made.fr = made.en + thing.en, made.fr + thing.fr
    second_subject, link = subject, AND
    if draw.chance(0.5):
        draw.later = True
        second_subject, link = somebody(draw), draw.pick((AND, AND, BUT))
    again = draw.partner(others)
    other = Predicate(draw, again, second_subject)
    pronoun = BACK_TO[thing.form]
    key = draw.key()
    other.add_clitic(pronoun.fr, key)
    other.agreement = thing.form
    other.en.append((pronoun.en, key))
    first = realise(draw, made, _single(tense, entry, subject), subject)
    second = realise(draw, other, _single(tense, again, second_subject), second_subject)
    left = Clause(subject.en + first.en, subject.fr + first.fr)
    if second_subject is subject:
        return linked(left, link.use(draw), Clause(second.en, second.fr))
    right = Clause(second_subject.en + second.en, second_subject.fr + second.fr)
    if link is BUT:
        return after(draw, left, linked(NOTHING, link.use(draw), right))
    return linked(left, link.use(draw), right)


def _single(tense: Tense, entry: Verb, subject: NounPhrase) -> Tense:
    if tense is PAST and entry.ambiguous and subject.person != 2:
        return PAST_PROGRESSIVE
    return tense


QUALIFIED = tuple(noun for noun in of_kinds("goods food groceries drink building room") if noun.said.kept)


def it_is(draw: Draw) -> Clause:
    """ "Mary sold the house because it was old", "Marie a vendu la maison parce qu'elle était vieille"."""
    before = draw.used_held_out
    past = draw.chance(0.5)
    subject = somebody(draw)
    entry = draw.pick(THING_VERBS)
    noun = draw.partner(entry.objects)
    if noun not in QUALIFIED:
        draw.used_held_out = before
        return because(draw)
    thing = common(draw, noun, style_of(noun, ANY), 0.25)
    made = Predicate(draw, entry, subject)
    made.en, made.fr = made.en + thing.en, made.fr + thing.fr
    tense = fitting(PAST if past else PRESENT, entry)
    group = realise(draw, made, _single(tense, entry, subject), subject)
    draw.later = True
    pronoun = THINGS[thing.form]
    key = draw.key()
    it = NounPhrase([(pronoun.en, key)], [(pronoun.fr, key)], pronoun.person, pronoun.form, thing.nouns, thing.kinds)
    it.adjective = thing.adjective
    reason = put(say(draw, it, (PAST_STATE if past else PRESENT,), draw.chance(0.15), describing, end=False))
    return linked(Clause(subject.en + group.en, subject.fr + group.fr), BECAUSE.use(draw), reason)


def chain(draw: Draw) -> Clause:
    """Several statements in a row: the longest sentences."""
    sphere = draw.pick(SPHERES)
    whole = draw.pick(LINKED)(draw, sphere)
    links = [AND, BUT, BECAUSE, AND, SO]
    for _ in range(2 + int(draw.chance(0.6)) + int(draw.chance(0.4))):
        link = links.pop(int(draw.random() * len(links)))
        draw.later = True
        part = _reason(draw, sphere) if link is BECAUSE else draw.pick(LINKED)(draw, sphere)
        joined = linked(NOTHING, link.use(draw), part)
        whole = after(draw, whole, joined) if link in (BUT, SO) else Clause(whole.en + joined.en, whole.fr + joined.fr)
    return whole


LINKED: tuple[Callable[[Draw, str], Clause], ...] = (statement, statement, ordinary, ordinary, twice)
DECLARED: tuple[Rule, ...] = (
    (simple,) * 34 + (compound,) * 7 + (because,) * 4 + (when,) * 4 + (if_,) * 4 + (reported,) * 6 + (twice,) * 4
    + (it_again,) * 4 + (it_is,) * 3
)  # fmt: skip
ASKED: tuple[Rule, ...] = (yes_or_no,) * 4 + (wh_adverb,) * 3 + (what, which, which, who)
LONG: tuple[Rule, ...] = (chain, chain, chain, lambda draw: reported(draw, chain), compound)


def sentence(draw: Draw) -> Clause:
    """A sentence of ordinary length."""
    chance = draw.random()
    if chance < 0.82:
        return closed(draw, draw.pick(DECLARED)(draw))
    if chance < 0.95:
        return closed(draw, draw.pick(ASKED)(draw), (ASK_EN, ASK_FR))
    return closed(draw, request(draw))


def long_sentence(draw: Draw) -> Clause:
    """A sentence made to be long."""
    return closed(draw, draw.pick(LONG)(draw))
