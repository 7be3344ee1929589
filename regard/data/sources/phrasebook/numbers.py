"""Numbers in words, in both languages."""

from __future__ import annotations

SMALL_EN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
TENS_EN = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
SMALL_FR = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept"
    " dix-huit dix-neuf"
).split()
TENS_FR = "zéro dix vingt trente quarante cinquante soixante".split()


def english_number(n: int) -> str:
    """A number from 0 to 999 in English words: "two hundred and twenty-one"."""
    if not 0 <= n < 1000:
        raise ValueError(f"number {n} is not between 0 and 999")
    if n < 20:
        return SMALL_EN[n]
    if n < 100:
        tens, rest = divmod(n, 10)
        return f"{TENS_EN[tens]}-{SMALL_EN[rest]}" if rest else TENS_EN[tens]
    hundreds, rest = divmod(n, 100)
    return f"{SMALL_EN[hundreds]} hundred" + (f" and {english_number(rest)}" if rest else "")


def french_number(n: int, feminine: bool = False) -> str:
    """A number from 0 to 999 in French words, in the traditional spelling: "vingt et une", "quatre-vingts"."""
    if not 0 <= n < 1000:
        raise ValueError(f"number {n} is not between 0 and 999")
    if n >= 100:
        return _hundreds(n, feminine)
    if n < 20:
        return "une" if feminine and n == 1 else SMALL_FR[n]
    if n >= 80:
        rest = n - 80
        return "quatre-vingts" if rest == 0 else f"quatre-vingt-{french_number(rest, feminine)}"
    # Seventy is sixty and ten: 60 to 79 share their tens.
    tens = min(n // 10, 6)
    rest = n - 10 * tens
    if rest == 0:
        return TENS_FR[tens]
    joint = " et " if rest in (1, 11) else "-"
    return f"{TENS_FR[tens]}{joint}{french_number(rest, feminine)}"


def _hundreds(n: int, feminine: bool) -> str:
    hundreds, rest = divmod(n, 100)
    start = "cent" if hundreds == 1 else f"{SMALL_FR[hundreds]} cent"
    if rest == 0:
        return start + ("s" if hundreds > 1 else "")
    return f"{start} {french_number(rest, feminine)}"


def ordinal(day: int) -> str:
    """A day of the month in English figures: 1st, 2nd, 3rd, 11th."""
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
