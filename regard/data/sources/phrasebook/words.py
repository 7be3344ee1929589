"""Words and tokens: what the grammar writes, and how neighbours change one another when a sentence is finished.

A `Word` is a spelling with its tag. Some words change before a vowel sound ("le" becomes "l'", "beau" becomes "bel",
"a" becomes "an") and some merge with the next word ("de" and "le" become "du"). Rules write the full words and never
look at their neighbours; `settle` applies both changes once, at the end.

A `Token` is a word with a link key. A key is a set of bits: words of the two sides that share a bit translate each
other, and a word with key 0 has no counterpart. When two words merge, their keys do too.
"""

from __future__ import annotations

from collections.abc import Iterable

VOWELS = frozenset("aeiouyàâäéèêëîïôöùûüœæ")

# An h that is heard, and words that begin with a vowel letter but not with a vowel sound: no elision before them.
_HEARD = (
    "hache haine haricot hasard hérisson héros hibou homard huit huitième haut haute hollandais hollandaise Hongrie"
    " hongrois hongroise hutte onze onzième yaourt oui harpe hockey hamster handball"
).split()
ASPIRATED = frozenset(form for word in _HEARD for form in (word, word + "s", word + "x"))

# English words whose first letter and first sound disagree.
SILENT_H = ("hour", "honest", "honour", "heir")
SOUNDED = ("uni", "use", "usu", "eur", "one", "once")


class Word:
    """A spelling with its tag; `elided` stands before a vowel sound, `merged` replaces it and the word it names."""

    __slots__ = ("text", "tag", "vowel", "elided", "merged", "changes")

    def __init__(self, text: str, tag: str, vowel: bool, elided: Word | None = None) -> None:
        self.text = text
        self.tag = tag
        self.vowel = vowel
        self.elided = elided
        self.merged: dict[Word, Word] | None = None
        self.changes = elided is not None

    def merge(self, following: Word, result: Word) -> None:
        """Say that this word and `following` are written as one."""
        self.merged = (self.merged or {}) | {following: result}
        self.changes = True

    def __repr__(self) -> str:
        return f"{self.text}/{self.tag}"


Token = tuple[Word, int]
Tokens = list[Token]


def french_vowel(text: str) -> bool:
    """Whether a French word begins with a vowel sound, so that the word before it is elided."""
    if text in ASPIRATED or text.split("-", maxsplit=1)[0] in ASPIRATED:
        return False
    first = text[0].lower()
    return first in VOWELS or first == "h"


def english_vowel(text: str) -> bool:
    """Whether an English word takes "an"."""
    low = text.lower()
    return low.startswith(SILENT_H) or (low[0] in "aeiou" and not low.startswith(SOUNDED))


_FRENCH: dict[tuple[str, str, str | None], Word] = {}
_ENGLISH: dict[tuple[str, str, str | None], Word] = {}


def fr(text: str, tag: str, elided: str | None = None) -> Word:
    """The French word of this spelling and tag; the same object every time."""
    found = _FRENCH.get((text, tag, elided))
    if found is None:
        short = None if elided is None else fr(elided, tag)
        found = _FRENCH[text, tag, elided] = Word(text, tag, french_vowel(text), short)
    return found


def en(text: str, tag: str, elided: str | None = None) -> Word:
    """The English word of this spelling and tag; the same object every time."""
    found = _ENGLISH.get((text, tag, elided))
    if found is None:
        short = None if elided is None else en(elided, tag)
        found = _ENGLISH[text, tag, elided] = Word(text, tag, english_vowel(text), short)
    return found


def several(text: str, tag: str) -> tuple[Word, ...]:
    """The English words of a phrase, all of one tag."""
    return tuple(en(part, tag) for part in text.split())


def plusieurs(text: str, tag: str) -> tuple[Word, ...]:
    """The French words of a phrase, all of one tag, except that "de" and "à" inside it are prepositions."""
    return tuple({"de": DE, "à": A}.get(part) or fr(part, tag) for part in text.split())


LE = fr("le", "DET", "l'")
LA = fr("la", "DET", "l'")
LES = fr("les", "DET")
DE = fr("de", "ADP", "d'")
A = fr("à", "ADP")
DE.merge(LE, fr("du", "ADP"))
DE.merge(LES, fr("des", "ADP"))
A.merge(LE, fr("au", "ADP"))
A.merge(LES, fr("aux", "ADP"))
# The partitive article "du pain, de la soupe, de l'eau" is written with the same letters, but is a determiner.
DE_PARTITIVE = fr("de", "DET", "d'")
DE_PARTITIVE.merge(LE, fr("du", "DET"))
NE = fr("ne", "ADV", "n'")
QUE = fr("que", "SCONJ", "qu'")
SI = fr("si", "SCONJ")
IL = fr("il", "PRON")
ILS = fr("ils", "PRON")
for _pronoun in (IL, ILS):
    SI.merge(_pronoun, _pronoun)  # marks the pair; `settle` writes "s'il"
S_IL = fr("s'", "SCONJ")


def settle(tokens: Iterable[Token]) -> Tokens:
    """Apply elision and contraction to a sentence: (de)(le)(homme) → (de)(l')(homme), (de)(le)(chat) → (du)(chat)."""
    done: Tokens = []
    after: Token | None = None
    # From right to left, so that "le" has already become "l'" when "de" asks whether to merge with it.
    for token in reversed(list(tokens)):
        after = _beside(token, after, done) if token[0].changes and after is not None else token
        done.append(after)
    done.reverse()
    return done


def _beside(token: Token, after: Token, done: Tokens) -> Token:
    """The token as it is written before `after`, which is taken back where the two merge."""
    word, key = token
    if word.merged is not None and after[0] in word.merged:
        if word is SI:
            return S_IL, key
        done.pop()
        return word.merged[after[0]], key | after[1]
    return (word.elided, key) if word.elided is not None and after[0].vowel else token
