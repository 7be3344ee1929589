"""Adjectives by the nouns they fit. An entry is `english[/comparative] = masculine[/feminine[/masculine plural]]`.

Regular forms are left out. A masculine that changes before a vowel is written with a tilde: beau~bel. Each table says
on which side of the French noun its adjectives stand, and the kinds of noun they fit; `said` is for adjectives that
only follow a verb (the man is alone, but not an alone man).
"""

from __future__ import annotations

# (position, kinds, entries)
TABLES: tuple[tuple[str, str, str], ...] = (
    (
        "before",
        "person animal",
        "young/younger = jeune; old/older = vieux~vieil/vieille; beautiful = beau~bel/belle/beaux",
    ),
    (
        "before",
        "person",
        "tall/taller = grand; good/better = bon",
    ),
    (
        "before",
        "brother sister cousin nephew niece animal boy girl child",
        "little = petit",
    ),
    (
        "before",
        "animal",
        "fat/fatter = gros/grosse",
    ),
    (
        "before",
        "building room outdoors vehicle furniture opening object plant",
        "big/bigger = grand; small/smaller = petit",
    ),
    (
        "before",
        "building room outdoors clothes furniture object music text plant heavens",
        "beautiful = beau~bel/belle/beaux; pretty/prettier = joli",
    ),
    (
        "before",
        "building vehicle clothes furniture opening object text",
        "new/newer = nouveau~nouvel/nouvelle/nouveaux; old/older = vieux~vieil/vieille",
    ),
    (
        "before",
        "text event judged tool",
        "good/better = bon; bad/worse = mauvais",
    ),
    (
        "before",
        "text event music",
        "long/longer = long/longue",
    ),
    (
        "before",
        "food dish drink groceries",
        "good/better = bon",
    ),
    (
        "after",
        "person family",
        """
        rich/richer = riche; poor/poorer = pauvre; happy/happier = heureux; sad/sadder = triste; ill = malade;
        strong/stronger = fort; weak/weaker = faible; intelligent = intelligent; funny/funnier = drôle;
        polite = poli; honest = honnête; brave/braver = courageux; lazy/lazier = paresseux; shy/shyer = timide;
        jealous = jaloux/jalouse; proud/prouder = fier; curious = curieux; serious = sérieux; patient = patient;
        calm/calmer = calme; wise/wiser = sage; elegant = élégant; generous = généreux; cruel = cruel;
        nervous = nerveux; modest = modeste; tired = fatigué; blind = aveugle; ambitious = ambitieux;
        talkative = bavard; discreet = discret/discrète; cheerful = joyeux; clumsy/clumsier = maladroit;
        loyal = loyal; stubborn = têtu; strict/stricter = sévère
        """,
    ),
    (
        "said",
        "person family",
        """
        ready = prêt; worried = inquiet/inquiète; alone = seul; surprised = surpris; furious = furieux;
        pleased = content; absent = absent; busy/busier = occupé
        """,
    ),
    (
        "after",
        "person job family",
        "famous = célèbre",
    ),
    (
        "after",
        "animal",
        """
        dangerous = dangereux; wild/wilder = sauvage; strong/stronger = fort; intelligent = intelligent;
        ill = malade; quick/quicker = rapide; calm/calmer = calme; injured = blessé
        """,
    ),
    (
        "after",
        "job text clothes driven music restaurant hotel camera computer watch flag doll",
        """
        French = français; English = anglais; German = allemand; Italian = italien; Spanish = espagnol;
        American = américain; Japanese = japonais
        """,
    ),
    (
        "after",
        "clothes vehicle furniture opening parrot flower rose tulip toy ball doll pen pencil bag suitcase flag box"
        " umbrella cup vase",
        """
        red/redder = rouge; blue/bluer = bleu; green/greener = vert; white/whiter = blanc/blanche;
        black/blacker = noir; yellow/yellower = jaune; grey/greyer = gris
        """,
    ),
    (
        "after",
        "sky cloud",
        "blue/bluer = bleu; grey/greyer = gris; black/blacker = noir; dark/darker = sombre",
    ),
    (
        "after",
        "bird pet lamb goat cow rat mouse",
        "white/whiter = blanc/blanche; black/blacker = noir; grey/greyer = gris",
    ),
    (
        "after",
        "text event idea person",
        "interesting = intéressant; boring = ennuyeux",
    ),
    (
        "after",
        "solved asked lesson exam game book article poem rule choice decision recipe",
        "difficult = difficile; easy/easier = facile; simple/simpler = simple; complicated = compliqué",
    ),
    (
        "after",
        "idea event text person",
        "important = important; strange/stranger = étrange",
    ),
    (
        "after",
        "clothes furniture object owned food groceries drink hotel restaurant flat dictionary",
        "expensive = cher",
    ),
    (
        "after",
        "building vehicle furniture computer camera kitchen bathroom",
        "modern = moderne",
    ),
    (
        "after",
        "home hotel train car plane bus bed chair armchair sofa shoe boot",
        "comfortable = confortable",
    ),
    (
        "after",
        "room clothes vehicle furniture opening object town street beach",
        "clean/cleaner = propre; dirty/dirtier = sale",
    ),
    (
        "after",
        "room filled building transit street drawer cupboard",
        "empty/emptier = vide",
    ),
    (
        "after",
        "table suitcase bag box stone hammer axe door furniture parcel",
        "heavy/heavier = lourd; light/lighter = léger",
    ),
    (
        "after",
        "place",
        "quiet/quieter = calme",
    ),
    (
        "after",
        "room restaurant school street town market factory station harbour party",
        "noisy/noisier = bruyant",
    ),
    (
        "after",
        "room forest wood cave street church castle palace cottage",
        "dark/darker = sombre",
    ),
    (
        "after",
        "edible dish",
        "delicious = délicieux; fresh/fresher = frais/fraîche",
    ),
    (
        "after",
        "drink soup water room",
        "hot/hotter = chaud; cold/colder = froid",
    ),
    (
        "after",
        "fruit honey lemonade chocolate",
        "sweet/sweeter = sucré",
    ),
    (
        "after",
        "clothes hand",
        "wet/wetter = mouillé; dry/drier = sec/sèche; elegant = élégant",
    ),
    (
        "after",
        "tool text idea",
        "useful = utile; useless = inutile",
    ),
    (
        "after",
        "river lake ocean cave valley",
        "deep/deeper = profond",
    ),
    (
        "after",
        "street bridge corridor path river bed",
        "narrow/narrower = étroit; wide/wider = large",
    ),
    (
        "after",
        "fragile mended",
        "broken = cassé; fragile = fragile",
    ),
    (
        "after",
        "table carpet box mirror clock",
        "round/rounder = rond; square = carré",
    ),
    (
        "said",
        "opening shop bank museum restaurant library bakery school market zoo",
        "open = ouvert; closed = fermé",
    ),
    (
        "after",
        "river animal journey war street mountain race tool",
        "dangerous = dangereux",
    ),
    (
        "after",
        "building artist text actor actress singer writer painter music",
        "famous = célèbre",
    ),
    (
        "after",
        "text event joke comedy film",
        "funny/funnier = drôle; sad/sadder = triste",
    ),
    (
        "after",
        "vehicle",
        "quick/quicker = rapide; slow/slower = lent",
    ),
)

# Adjectives that may stand second before an English noun: "a small red car", "an old French song".
SECOND = frozenset(
    "red blue green white black yellow grey round square"
    " French English German Italian Spanish American Japanese".split()
)
# What stands beside a noun only: "les médailles sont nouvelles" is not said of new things.
NEAR_ONLY = frozenset({"new", "little"})
# What has no degrees is neither compared nor made "very".
ABSOLUTE = frozenset(
    "French English German Italian Spanish American Japanese round square ready alone open closed absent wet empty"
    " broken blind injured new little red blue green white black yellow grey ill delicious furious".split()
)

# What contradicts itself in one sentence: "the clean room is dirty". Each word excludes all others of its line.
OPPOSITES = """
red blue green white black yellow grey
French English German Italian Spanish American Japanese
young old new modern
big small little
rich poor
happy sad cheerful worried furious pleased funny
strong weak ill injured
black blue grey dark
calm nervous noisy quiet dangerous furious wild
shy talkative discreet
proud modest
lazy busy tired
good bad
easy difficult complicated simple
interesting boring
useful useless broken
clean dirty
heavy light
hot cold fresh
wet dry
round square
narrow wide
open closed
quick slow
clumsy elegant
generous cruel jealous
wise clumsy
tall little
beautiful pretty
sweet salty
expensive poor
important simple
fragile heavy strong
"""


def _clashes() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in OPPOSITES.strip().splitlines():
        for word in line.split():
            found.setdefault(word, {word}).update(line.split())
    return {word: frozenset(others) for word, others in found.items()}


CLASHES = _clashes()
