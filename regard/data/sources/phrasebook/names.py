"""Proper names: people, cities and countries.

A country is `english = french gender` (p for a plural). French gives it an article ("la France", "le Canada", "les
États-Unis") and prepositions of its own: one goes en France, au Canada, aux États-Unis, and comes de France, du Canada,
des États-Unis.
"""

from __future__ import annotations

MEN = """
Paul; Peter = Pierre; John = Jean; Thomas; Louis; Charles; Henry = Henri; Nicholas = Nicolas; Hugo; Luke = Luc;
Victor; Philip = Philippe; Andrew = André; Stephen = Étienne; James = Jacques; Anthony = Antoine; Martin; Oscar;
Mark = Marc; Arthur
"""
WOMEN = """
Mary = Marie; Julia = Julie; Sophie; Anne; Lucy = Lucie; Helen = Hélène; Alice; Emma; Claire; Louise; Charlotte;
Catherine; Isabel = Isabelle; Martha = Marthe; Nina; Irene = Irène; Agnes = Agnès; Rose; Sarah; Juliet = Juliette
"""
SURNAMES = "Martin Dupont Bernard Moreau Lefèvre Girard Hubert Olivier Arnaud Lambert"
CITIES = """
Paris; London = Londres; Rome; Berlin; Madrid; Lyon; Marseilles = Marseille; Brussels = Bruxelles; Geneva = Genève;
Vienna = Vienne; Athens = Athènes; Lisbon = Lisbonne; Moscow = Moscou; Venice = Venise; Oslo; Edinburgh = Édimbourg;
Montreal = Montréal; Dublin; New York; Amsterdam
"""
COUNTRIES = """
France = France f; England = Angleterre f; Spain = Espagne f; Italy = Italie f; Germany = Allemagne f;
Switzerland = Suisse f; Belgium = Belgique f; Greece = Grèce f; Russia = Russie f; China = Chine f; India = Inde f;
Scotland = Écosse f; Ireland = Irlande f; Norway = Norvège f; Sweden = Suède f; Hungary = Hongrie f; Egypt = Égypte f;
Canada = Canada m; Japan = Japon m; Portugal = Portugal m; Brazil = Brésil m; Mexico = Mexique m; Morocco = Maroc m;
Denmark = Danemark m; Chile = Chili m; Peru = Pérou m; the United States = États-Unis p; the Netherlands = Pays-Bas p
"""
