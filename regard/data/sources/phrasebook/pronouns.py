"""Personal pronouns: subjects, clitics before the verb, and the strong forms after a preposition.

One translation each: "you" is vous (one man), "I" is a man, "they" are men, "it" is masculine unless a rule knows what
it stands for. So an English sentence never has two translations.
"""

from __future__ import annotations

from typing import NamedTuple

from regard.data.sources.phrasebook.words import IL, ILS, Word, en, fr


class Pronoun(NamedTuple):
    """A pronoun in both languages; `person` counts je, tu, il, nous, vous, ils from 0, `form` is gender and number."""

    en: Word
    fr: Word
    person: int
    form: int


def _p(text: str) -> Word:
    return en(text, "PRON")


ELLE, ELLES = fr("elle", "PRON"), fr("elles", "PRON")
ME, SE = fr("me", "PRON", "m'"), fr("se", "PRON", "s'")
NOUS, VOUS = fr("nous", "PRON"), fr("vous", "PRON")
LE_IT, LA_IT, LES_THEM = fr("le", "PRON", "l'"), fr("la", "PRON", "l'"), fr("les", "PRON")
LUI, LEUR = fr("lui", "PRON"), fr("leur", "PRON")
Y, EN = fr("y", "PRON"), fr("en", "PRON")

I = Pronoun(_p("I"), fr("je", "PRON", "j'"), 0, 0)  # noqa: E741
YOU = Pronoun(_p("you"), VOUS, 4, 0)
HE = Pronoun(_p("he"), IL, 2, 0)
SHE = Pronoun(_p("she"), ELLE, 2, 1)
WE = Pronoun(_p("we"), NOUS, 3, 2)
THEY = Pronoun(_p("they"), ILS, 5, 2)
SUBJECTS = (I, YOU, HE, SHE, WE, THEY)
# For things, by form: it (m), it (f), they (m), they (f).
THINGS = (
    Pronoun(_p("it"), IL, 2, 0),
    Pronoun(_p("it"), ELLE, 2, 1),
    Pronoun(_p("they"), ILS, 5, 2),
    Pronoun(_p("they"), ELLES, 5, 3),
)

OBJECTS = (
    Pronoun(_p("me"), ME, 0, 0),
    Pronoun(_p("you"), VOUS, 4, 0),
    Pronoun(_p("him"), LE_IT, 2, 0),
    Pronoun(_p("her"), LA_IT, 2, 1),
    Pronoun(_p("us"), NOUS, 3, 2),
    Pronoun(_p("them"), LES_THEM, 5, 2),
)
IT = Pronoun(_p("it"), LE_IT, 2, 0)
# "it" and "them" for a thing said before, by its form.
BACK_TO = (
    Pronoun(_p("it"), LE_IT, 2, 0),
    Pronoun(_p("it"), LA_IT, 2, 1),
    Pronoun(_p("them"), LES_THEM, 5, 2),
    Pronoun(_p("them"), LES_THEM, 5, 3),
)
RECEIVERS = (
    Pronoun(_p("me"), ME, 0, 0),
    Pronoun(_p("you"), VOUS, 4, 0),
    Pronoun(_p("him"), LUI, 2, 0),
    Pronoun(_p("her"), LUI, 2, 1),
    Pronoun(_p("us"), NOUS, 3, 2),
    Pronoun(_p("them"), LEUR, 5, 2),
)
STRONG = (
    Pronoun(_p("me"), fr("moi", "PRON"), 0, 0),
    Pronoun(_p("you"), VOUS, 4, 0),
    Pronoun(_p("him"), LUI, 2, 0),
    Pronoun(_p("her"), ELLE, 2, 1),
    Pronoun(_p("us"), NOUS, 3, 2),
    Pronoun(_p("them"), fr("eux", "PRON"), 5, 2),
)
MOI = Pronoun(_p("I"), fr("moi", "PRON"), 0, 0)
# By person, for reflexive verbs.
REFLEXIVE = (ME, fr("te", "PRON", "t'"), SE, NOUS, VOUS, SE)
# Clitics stand in the order me/se/nous/vous, le/la/les, lui/leur, y, en.
RANK = {ME: 0, SE: 0, NOUS: 0, VOUS: 0, REFLEXIVE[1]: 0, LE_IT: 1, LA_IT: 1, LES_THEM: 1, LUI: 2, LEUR: 2, Y: 3, EN: 4}
