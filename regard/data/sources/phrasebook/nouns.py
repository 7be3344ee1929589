"""Nouns by kind. An entry is `english[/plural] = french[/plural] gender [marks]`; regular plurals are left out.

The kind says what a noun can do and suffer: people eat food, doors are opened, buildings are visited. Marks add further
kinds. On places, `à`, `dans` or `sur` is the preposition of rest ("à la gare", "dans le jardin"), and `>à` says that
one goes there with à. `mass` has no plural and takes the partitive (du pain); `one` is singular only (the sun), `sole`
is one to each owner (my father), `spouse` to a single one. Of places, people, animals and events, those marked `mine`,
`kin`, `job`, `pet` or `owned` can be somebody's.

English nouns with one form for both numbers (sheep, fish as animals) are left out: "the sheep" would have two
translations.
"""

from __future__ import annotations

TABLES = {
    "person": """
        man/men = homme m; woman/women = femme f; boy = garçon m; girl = fille f; child/children = enfant m kin;
        teacher = professeur m job; doctor = médecin m job; nurse = infirmière f job; lawyer = avocat m job;
        farmer = agriculteur m job; baker = boulanger m job; butcher = boucher m job; cook = cuisinier m job;
        waiter = serveur m job; waitress = serveuse f job; actor = acteur m job; actress = actrice f job;
        singer = chanteur m job; dancer = danseuse f job; student = étudiant m job; pupil = élève m kin;
        neighbour = voisin m kin; friend = ami m kin; guest = invité m kin; king = roi m; queen = reine f;
        prince = prince m; princess = princesse f; soldier = soldat m job; policeman/policemen = policier m job;
        thief/thieves = voleur m; judge = juge m job; journalist = journaliste m job; writer = écrivain m job;
        artist = artiste m job; painter = peintre m job; musician = musicien m job; engineer = ingénieur m job;
        driver = chauffeur m job; pilot = pilote m job; tourist = touriste m; traveller = voyageur m;
        hero/heroes = héros m; witch = sorcière f; gardener = jardinier m job; hunter = chasseur m;
        fisherman/fishermen = pêcheur m job; postman/postmen = facteur m job; hairdresser = coiffeur m job;
        dentist = dentiste m job; scientist = chercheur m job; secretary = secrétaire f job;
        customer = client m kin; boss = patron m kin; colleague = collègue m kin; mayor = maire m;
        president = président m; giant = géant m; magician = magicien m; captain = capitaine m;
        sailor = marin m job; passenger = passager m; enemy = ennemi m kin; servant = domestique m kin;
        expert = expert m; lady = dame f; librarian = bibliothécaire f job
    """,
    "family": """
        father = père m sole; mother = mère f sole; brother = frère m; sister = sœur f; son = fils m;
        daughter = fille f; uncle = oncle m; aunt = tante f; cousin = cousin m;
        grandfather = grand-père/grands-pères m; grandmother = grand-mère/grands-mères f;
        husband = mari m sole spouse; wife/wives = femme f sole spouse; nephew = neveu m; niece = nièce f
    """,
    "animal": """
        dog = chien m pet; cat = chat m pet; horse = cheval m pet; cow = vache f; pig = cochon m; goat = chèvre f;
        hen = poule f bird; duck = canard m bird; rabbit = lapin m pet; mouse/mice = souris f; bird = oiseau m bird;
        wolf/wolves = loup m; bear = ours m; lion = lion m; tiger = tigre m; elephant = éléphant m;
        monkey = singe m; fox = renard m; frog = grenouille f; snake = serpent m; turtle = tortue f pet;
        owl = hibou/hiboux m bird; eagle = aigle m bird; donkey = âne m; squirrel = écureuil m; spider = araignée f;
        hedgehog = hérisson m; goose/geese = oie f bird; camel = chameau m; swan = cygne m bird; lamb = agneau m;
        parrot = perroquet m bird pet; crocodile = crocodile m; rat = rat m
    """,
    "food": """
        apple = pomme f fruit; pear = poire f fruit; orange = orange f fruit; peach = pêche f fruit;
        strawberry = fraise f fruit; cherry = cerise f fruit; banana = banane f fruit; lemon = citron m fruit;
        tomato/tomatoes = tomate f; potato/potatoes = pomme de terre/pommes de terre f; carrot = carotte f;
        onion = oignon m; egg = œuf m; cake = gâteau m dish; biscuit = biscuit m dish; sandwich = sandwich m dish;
        pancake = crêpe f dish; bean = haricot m; mushroom = champignon m; pumpkin = citrouille f;
        pie = tarte f dish; omelette = omelette f dish; apricot = abricot m fruit; pineapple = ananas m fruit;
        walnut = noix f; croissant = croissant m
    """,
    "groceries": """
        bread = pain m mass; cheese = fromage m mass; butter = beurre m mass; meat = viande f mass;
        fish = poisson m mass; rice = riz m mass; soup = soupe f mass dish; jam = confiture f mass;
        honey = miel m mass; chocolate = chocolat m mass; sugar = sucre m mass; ham = jambon m mass;
        cream = crème f mass; flour = farine f mass; ice cream = glace f mass
    """,
    "drink": """
        water = eau f mass; milk = lait m mass; wine = vin m mass; coffee = café m mass; tea = thé m mass;
        beer = bière f mass; lemonade = limonade f mass; orange juice = jus de orange m mass
    """,
    "building": """
        house = maison f dans>dans home mine paintable; school = école f à mine; church = église f dans;
        hospital = hôpital m à; castle = château m dans home; hotel = hôtel m à; restaurant = restaurant m à;
        museum = musée m à; theatre = théâtre m à; library = bibliothèque f à; bookshop = librairie f dans;
        bakery = boulangerie f à; station = gare f à; airport = aéroport m à; factory = usine f à;
        office = bureau m à mine; shop = magasin m dans mine; bank = banque f à; cinema = cinéma m à;
        farm = ferme f à mine; prison = prison f dans; university = université f à; swimming pool = piscine f à;
        tower = tour f dans; palace = palais m dans home; cottage = chaumière f dans home mine;
        flat = appartement m dans>dans home mine; pharmacy = pharmacie f à; inn = auberge f à; stable = écurie f dans
    """,
    "room": """
        kitchen = cuisine f dans; bedroom = chambre f dans; bathroom = salle de bains/salles de bains f dans;
        living room = salon m dans; cellar = cave f dans; attic = grenier m dans; corridor = couloir m dans;
        garage = garage m dans; dining room = salle à manger/salles à manger f dans;
        classroom = salle de classe/salles de classe f dans
    """,
    "outdoors": """
        town = ville f dans crossed mine; village = village m dans>à crossed mine; park = parc m dans>à crossed;
        garden = jardin m dans mine; beach = plage f sur>à; bridge = pont m sur crossed;
        street = rue f dans crossed; square = place f sur crossed; river = rivière f crossed; lake = lac m;
        mountain = montagne f sur>à; forest = forêt f dans crossed; island = île f sur;
        field = champ m dans crossed; valley = vallée f dans crossed; desert = désert m dans crossed;
        hill = colline f sur; harbour = port m dans>à; market = marché m à; path = chemin m sur;
        wood = bois m dans crossed; courtyard = cour f dans crossed; avenue = avenue f dans crossed;
        meadow = prairie f dans crossed; ocean = océan m crossed; cave = grotte f dans; zoo = zoo m à
    """,
    "vehicle": """
        car = voiture f driven owned; train = train m transit; bus = bus m transit driven; plane = avion m transit;
        boat = bateau m transit owned paintable; bicycle = vélo m owned; lorry = camion m driven owned;
        motorbike = moto f driven owned; taxi = taxi m driven transit; tractor = tracteur m driven owned;
        ship = navire m transit; tram = tramway m transit; cart = charrette f owned
    """,
    "clothes": """
        shirt = chemise f; dress = robe f; skirt = jupe f; coat = manteau m; hat = chapeau m; shoe = chaussure f;
        sock = chaussette f; jacket = veste f; glove = gant m; scarf/scarves = écharpe f; tie = cravate f;
        belt = ceinture f; ring = bague f; boot = botte f; jumper = pull m; raincoat = imperméable m;
        crown = couronne f; cap = casquette f; necklace = collier m; uniform = uniforme m; apron = tablier m
    """,
    "furniture": """
        table = table f paintable on; chair = chaise f paintable fragile; bed = lit m on; armchair = fauteuil m on;
        cupboard = armoire f opened paintable in; lamp = lampe f fragile mended; mirror = miroir m fragile;
        carpet = tapis m on; shelf/shelves = étagère f on paintable; desk = bureau m on; sofa = canapé m on;
        clock = horloge f mended; bench = banc m on paintable; curtain = rideau m; picture = tableau m;
        stool = tabouret m on
    """,
    "opening": """
        door = porte f opened paintable mended part; window = fenêtre f opened fragile mended part;
        gate = portail m opened paintable; drawer = tiroir m opened in; wall = mur m paintable part;
        roof = toit m mended part; fence = clôture f paintable mended
    """,
    "object": """
        key = clé f; knife/knives = couteau m tool; fork = fourchette f; spoon = cuillère f;
        plate = assiette f fragile; glass = verre m fragile filled; cup = tasse f fragile filled;
        bottle = bouteille f fragile filled opened; bag = sac m filled opened in; box = boîte f filled opened in;
        suitcase = valise f filled opened in; basket = panier m filled in; phone = téléphone m tool mended fragile;
        computer = ordinateur m tool mended; camera = appareil photo/appareils photo m tool mended;
        watch = montre f mended; pen = stylo m tool; pencil = crayon m tool; brush = brosse f tool;
        hammer = marteau m tool; axe = hache f tool; candle = bougie f; ball = ballon m thrown; doll = poupée f;
        toy = jouet m mended fragile; gift = cadeau m offered; jewel = bijou/bijoux m; coin = pièce f;
        ticket = billet m; map = carte f; umbrella = parapluie m opened; saw = scie f tool; stone = pierre f thrown;
        wallet = portefeuille m; rope = corde f tool; ladder = échelle f tool; bucket = seau m filled;
        toothbrush = brosse à dents/brosses à dents f; vase = vase m fragile filled; blanket = couverture f;
        pillow = oreiller m; flag = drapeau m; statue = statue f fragile; shovel = pelle f tool;
        kite = cerf-volant/cerfs-volants m; needle = aiguille f tool; parcel = colis m offered opened;
        medal = médaille f; photograph = photo f
    """,
    "text": """
        book = livre m titled; letter = lettre f posted; newspaper = journal m; novel = roman m titled;
        poem = poème m titled learnt; article = article m titled; message = message m posted; magazine = revue f;
        dictionary = dictionnaire m; story = histoire f told titled; report = rapport m;
        diary = journal intime/journaux intimes m; invitation = invitation f offered posted;
        postcard = carte postale/cartes postales f posted; fairy tale = conte de fées/contes de fées m told;
        comedy = comédie f titled; legend = légende f told; recipe = recette f learnt
    """,
    "music": """
        song = chanson f learnt; symphony = symphonie f; tune = air m learnt; opera = opéra m
    """,
    "idea": """
        idea = idée f explained judged; problem = problème m explained solved;
        question = question f explained asked judged; answer = réponse f judged; secret = secret m told;
        dream = rêve m told; project = projet m explained judged; mistake = erreur f explained;
        rule = règle f explained learnt; lesson = leçon f explained learnt; decision = décision f explained judged;
        truth = vérité f one told; theory = théorie f explained; riddle = énigme f solved asked;
        joke = blague f told judged; mystery = mystère m solved; exercise = exercice m explained solved;
        choice = choix m explained judged
    """,
    "event": """
        party = fête f mine; wedding = mariage m mine; meeting = réunion f; concert = concert m shown;
        film = film m shown; match = match m shown won; exam = examen m mine; journey = voyage m mine;
        dinner = dîner m meal mine; lunch = déjeuner m meal mine; ceremony = cérémonie f; war = guerre f;
        race = course f shown won; game = jeu m won; exhibition = exposition f; visit = visite f;
        birthday = anniversaire m mine; programme = émission f shown;
        play = pièce de théâtre/pièces de théâtre f shown
    """,
    "plant": """
        tree = arbre m; flower = fleur f picked; rose = rose f picked; tulip = tulipe f picked; oak = chêne m;
        apple tree = pommier m; leaf/leaves = feuille f; bush = buisson m; plant = plante f
    """,
    "body": """
        eye = œil/yeux m; hand = main f washed; foot/feet = pied m washed; arm = bras m; leg = jambe f;
        nose = nez m; tooth/teeth = dent f; ear = oreille f; face = visage m; finger = doigt m; mouth = bouche f;
        head = tête f; back = dos m
    """,
    "heavens": """
        sun = soleil m one; moon = lune f one; star = étoile f; cloud = nuage m; sky = ciel m one;
        planet = planète f
    """,
    "feeling": """
        love = amour m mass; war = guerre f mass; peace = paix f mass; freedom = liberté f mass;
        hatred = haine f mass; silence = silence m mass; music = musique f mass; nature = nature f mass;
        work = travail m mass; winter = hiver m mass; sport = sport m mass; justice = justice f mass;
        noise = bruit m mass; snow = neige f mass; rain = pluie f mass; loneliness = solitude f mass;
        painting = peinture f mass; dancing = danse f mass
    """,
    "subject": """
        French = français m mass tongue; English = anglais m mass tongue; German = allemand m mass tongue;
        Spanish = espagnol m mass tongue; Italian = italien m mass tongue; Russian = russe m mass tongue;
        history = histoire f mass; geography = géographie f mass; philosophy = philosophie f mass;
        chemistry = chimie f mass; biology = biologie f mass; Latin = latin m mass; Chinese = chinois m mass tongue
    """,
    "instrument": """
        piano = piano m; guitar = guitare f; violin = violon m; flute = flûte f; trumpet = trompette f;
        harp = harpe f; cello = violoncelle m; accordion = accordéon m
    """,
    "ballgame": """
        football = football m mass; tennis = tennis m mass; rugby = rugby m mass; basketball = basket m mass;
        handball = handball m mass; golf = golf m mass; hockey = hockey m mass
    """,
}

# Kinds that verbs and adjectives ask for, as unions of kinds and marks.
GROUPS = {
    "human": "person family",
    "being": "person family animal",
    "place": "building room outdoors",
    "goods": "clothes furniture object text vehicle",
    "small": "clothes object text",
    "thing": "building room outdoors vehicle clothes furniture opening object text",
    "visible": "person family animal building outdoors vehicle clothes furniture object plant",
    "edible": "food groceries",
    "bought": "food groceries drink clothes furniture object text owned",
    "admired": "person building outdoors furniture clothes plant heavens",
    "liked": "food groceries drink animal text music feeling event plant",
    "studied": "subject",
}
