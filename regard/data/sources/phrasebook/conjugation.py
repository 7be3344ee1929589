"""French conjugation: the four simple tenses, the participle and the infinitive of every verb of the lexicon.

A regular verb follows from its infinitive. An irregular one gives its present, its participle and the stem of its
future; the imperfect follows from "nous" and the conditional from the future. Compound tenses are made by the grammar.
"""

from __future__ import annotations

from typing import NamedTuple

from regard.data.sources.phrasebook.french import Forms, participle_forms

Persons = tuple[str, str, str, str, str, str]  # je, tu, il, nous, vous, ils


class Conjugation(NamedTuple):
    """The forms of one verb that are written in one word."""

    infinitive: str
    present: Persons
    imperfect: Persons
    future: Persons
    conditional: Persons
    participle: Forms


IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
REGULAR = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
PARTICIPLE = {"er": "é", "ir": "i", "re": "u"}

# Verbs that make their compound tenses with être; reflexive verbs do so as well.
WITH_ETRE = frozenset(
    "aller arriver devenir entrer monter mourir naître partir rentrer rester retourner revenir sortir tomber venir"
    " descendre repartir".split()
)

# infinitive: present (je, tu, il, nous, vous, ils) | participle | stem of the future
IRREGULAR = """
être: suis es est sommes êtes sont | été | ser
avoir: ai as a avons avez ont | eu | aur
aller: vais vas va allons allez vont | allé | ir
faire: fais fais fait faisons faites font | fait | fer
venir: viens viens vient venons venez viennent | venu | viendr
tenir: tiens tiens tient tenons tenez tiennent | tenu | tiendr
partir: pars pars part partons partez partent | parti | partir
sortir: sors sors sort sortons sortez sortent | sorti | sortir
dormir: dors dors dort dormons dormez dorment | dormi | dormir
mentir: mens mens ment mentons mentez mentent | menti | mentir
servir: sers sers sert servons servez servent | servi | servir
courir: cours cours court courons courez courent | couru | courr
mourir: meurs meurs meurt mourons mourez meurent | mort | mourr
ouvrir: ouvre ouvres ouvre ouvrons ouvrez ouvrent | ouvert | ouvrir
offrir: offre offres offre offrons offrez offrent | offert | offrir
cueillir: cueille cueilles cueille cueillons cueillez cueillent | cueilli | cueiller
voir: vois vois voit voyons voyez voient | vu | verr
savoir: sais sais sait savons savez savent | su | saur
pouvoir: peux peux peut pouvons pouvez peuvent | pu | pourr
vouloir: veux veux veut voulons voulez veulent | voulu | voudr
devoir: dois dois doit devons devez doivent | dû | devr
recevoir: reçois reçois reçoit recevons recevez reçoivent | reçu | recevr
boire: bois bois boit buvons buvez boivent | bu | boir
croire: crois crois croit croyons croyez croient | cru | croir
lire: lis lis lit lisons lisez lisent | lu | lir
écrire: écris écris écrit écrivons écrivez écrivent | écrit | écrir
dire: dis dis dit disons dites disent | dit | dir
rire: ris ris rit rions riez rient | ri | rir
conduire: conduis conduis conduit conduisons conduisez conduisent | conduit | conduir
prendre: prends prends prend prenons prenez prennent | pris | prendr
mettre: mets mets met mettons mettez mettent | mis | mettr
connaître: connais connais connaît connaissons connaissez connaissent | connu | connaîtr
naître: nais nais naît naissons naissez naissent | né | naîtr
suivre: suis suis suit suivons suivez suivent | suivi | suivr
vivre: vis vis vit vivons vivez vivent | vécu | vivr
peindre: peins peins peint peignons peignez peignent | peint | peindr
résoudre: résous résous résout résolvons résolvez résolvent | résolu | résoudr
envoyer: envoie envoies envoie envoyons envoyez envoient | envoyé | enverr
"""

# Verbs that go like another one with a different beginning.
LIKE = {
    "apprendre": "prendre",
    "comprendre": "prendre",
    "surprendre": "prendre",
    "revenir": "venir",
    "devenir": "venir",
    "souvenir": "venir",
    "appartenir": "tenir",
    "repartir": "partir",
    "découvrir": "ouvrir",
    "sourire": "rire",
    "décrire": "écrire",
    "promettre": "mettre",
    "permettre": "mettre",
    "reconnaître": "connaître",
    "disparaître": "connaître",
    "poursuivre": "suivre",
    "plaindre": "peindre",
    "craindre": "peindre",
    "construire": "conduire",
    "traduire": "conduire",
}


def _persons(stem: str, endings: tuple[str, ...]) -> Persons:
    first, second, third, fourth, fifth, sixth = (stem + ending for ending in endings)
    return first, second, third, fourth, fifth, sixth


def _soften(stem: str, ending: str) -> str:
    """Keep the sound of c and g before a and o: commençons, mangeons, mangeait."""
    if ending[:1] in ("a", "o"):
        if stem.endswith("c"):
            return stem[:-1] + "ç" + ending
        if stem.endswith("g"):
            return stem + "e" + ending
    return stem + ending


# Verbs in -eler and -eter that double the consonant; the others take è (acheter: achète).
DOUBLED = frozenset({"appeler", "jeter", "rappeler", "épeler"})


def _strong(stem: str, infinitive: str) -> str:
    """The stem before a silent e: achèt-, préfèr-, appell-, nettoi-."""
    if infinitive in DOUBLED:
        return stem + stem[-1]
    if stem.endswith("y"):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-2] in "eé" and stem[-1] not in "aeiouéè":
        return stem[:-2] + "è" + stem[-1]
    return stem


def _first_group(infinitive: str) -> Conjugation:
    stem = infinitive[:-2]
    strong = _strong(stem, infinitive)
    weak = ("ons", "ez")
    present = tuple((_soften(stem, e) if e in weak else strong + e) for e in REGULAR["er"])
    imperfect = tuple(_soften(stem, e) for e in IMPERFECT)
    # préférer keeps its é in the future; acheter, appeler and nettoyer change.
    future = (stem if strong[-2:-1] == "è" and "é" in stem[-2:] else strong) + "er"
    return _conjugation(infinitive, _persons("", present), _persons("", imperfect), future, stem + "é")


def _conjugation(infinitive: str, present: Persons, imperfect: Persons, future: str, participle: str) -> Conjugation:
    return Conjugation(
        infinitive,
        present,
        imperfect,
        _persons(future, FUTURE),
        _persons(future, IMPERFECT),
        participle_forms(participle),
    )


def _irregular(infinitive: str) -> Conjugation | None:
    model = LIKE.get(infinitive, infinitive)
    if model not in _ROWS:
        return None
    # The beginnings differ and the ends agree: "ap" + prendre, "pl" for "p" in plaindre.
    shared = 0
    while shared < min(len(model), len(infinitive)) and model[-1 - shared] == infinitive[-1 - shared]:
        shared += 1
    old, new = model[: len(model) - shared], infinitive[: len(infinitive) - shared]
    present_row, participle, future = (part.strip() for part in _ROWS[model].split("|"))
    present = _persons("", tuple(new + form[len(old) :] for form in present_row.split()))
    stem = "ét" if infinitive == "être" else present[3][:-3]
    imperfect = _persons(stem, IMPERFECT)
    return _conjugation(infinitive, present, imperfect, new + future[len(old) :], new + participle[len(old) :])


_ROWS = dict(row.split(": ") for row in IRREGULAR.strip().splitlines())


def conjugate(infinitive: str) -> Conjugation:
    """All simple forms of a verb, given without its reflexive pronoun."""
    irregular = _irregular(infinitive)
    if irregular is not None:
        return irregular
    if infinitive.endswith("er"):
        return _first_group(infinitive)
    stem, group = infinitive[:-2], infinitive[-2:]
    present = _persons(stem, REGULAR[group])
    future = infinitive[:-1] if group == "re" else infinitive
    return _conjugation(infinitive, present, _persons(present[3][:-3], IMPERFECT), future, stem + PARTICIPLE[group])
