"""Verbs by frame. An entry is `english [parts] [+particle] = french [preposition] | subjects | objects | marks`.

The parts of an irregular English verb are given, those of a regular one follow. Subjects and objects are kinds of
nouns. Marks:

- `state` verbs have no progressive and put their English past into the imparfait (she knew: elle connaissait);
- `plain` verbs have no progressive either, but a passé composé;
- `general` verbs speak of whole kinds (he likes cats: il aime les chats);
- `passive` verbs are also used in the passive;
- `placed` verbs take no further adverbial of place ("smile at the hotel" would be smiling to it);
- `to`, of verbs of giving: they keep their preposition before a pronoun (explain the rule to him);
- `dative`, of verbs with à: it becomes a clitic with the person (talk to him: lui parler).
"""

from __future__ import annotations

INTRANSITIVE = """
sleep slept = dormir | being
laugh = rire | human | placed
cry = pleurer | human
smile = sourire | human | placed
work = travailler | human
sing sang sung = chanter | human bird
dance = danser | human
run ran run = courir | being
walk = marcher | human
swim swam swum = nager | being
travel = voyager | human | placed
cook = cuisiner | human
dream = rêver | human
arrive = arriver | human transit | placed
leave left = partir | human transit | placed
stay = rester | human
fall fell fallen = tomber | being leaf
come came come = venir | human | placed
come came come +back = revenir | human | placed
go went gone +out = sortir | human | placed
go went gone +home = rentrer | human | placed
shout = crier | human | placed
sneeze = éternuer | human
cough = tousser | human
lie = mentir | human
hesitate = hésiter | human
jump = sauter | being
disappear = disparaître | human animal
fly flew flown = voler | bird plane
wake woke woken +up = se réveiller | being
get got got +up = se lever | human
go went gone +to bed = se coucher | human
rest = se reposer | being
hurry = se dépêcher | human
get got got +dressed = se habiller | human
have had had +fun = se amuser | human
get got got +bored = se ennuyer | human
stop = se arrêter | human vehicle
complain = se plaindre | human
get got got +married = se marier | human
get got got +lost = se perdre | human | placed
shine shone = briller | sun moon star jewel | placed
grow grew grown = pousser | plant
begin began begun = commencer | event
end = finir | event
work = fonctionner | clock lamp phone computer camera watch toy
win won = gagner | human
succeed = réussir | human
fail = échouer | human
pray = prier | human
wait = attendre | human
bark = aboyer | dog
"""

TRANSITIVE = """
eat ate eaten = manger | being | edible | passive
drink drank drunk = boire | human | drink
prepare = préparer | human | dish meal | passive
buy bought = acheter | human | bought | passive
sell sold = vendre | human | bought | passive
see saw seen = voir | being | visible | plain
watch = regarder | human | shown animal
look +at = regarder | human | human clothes object plant heavens
listen +to = écouter | human | human music rain silence
hear heard = entendre | human | human animal music | plain
read read read = lire | human | text
write wrote written = écrire | human | text | passive
find found = trouver | human | small pet | plain passive
look +for = chercher | human | small human pet
lose lost = perdre | human | small | plain placed
take took taken = prendre | human | small transit
carry = porter | human | object
wear wore worn = porter | human | clothes
wash = laver | human | clothes driven fruit carrot tomato potato mushroom plate glass cup fork spoon
clean = nettoyer | human | room furniture building | passive
open = ouvrir | human | opened | passive
close = fermer | human | opened | passive
break broke broken = casser | human | fragile | passive plain
repair = réparer | human | mended vehicle | passive
paint = peindre | human | paintable | passive
draw drew drawn = dessiner | human | animal plant building cloud sun moon sky star
build built = construire | human | building bridge boat | passive
visit = visiter | human | museum castle church palace town village island zoo farm tower factory school | placed
cross = traverser | being | crossed | placed
like = aimer | human | liked | state general placed
love = adorer | human | liked | state general placed
hate = détester | human | liked | state general placed
prefer = préférer | human | liked | state general placed
know knew known = connaître | human | human town village museum song poem story legend | state
understand understood = comprendre | human | idea human article letter | plain placed
explain = expliquer | human | explained
forget forgot forgotten = oublier | human | small idea | plain placed
learn = apprendre | human | learnt
study = étudier | human | subject | general placed
choose chose chosen = choisir | human | small dish furniture vehicle | passive
accept = accepter | human | offered decision project answer | plain placed
refuse = refuser | human | offered dish drink | plain placed
help = aider | human | human
meet met = rencontrer | human | human | plain
invite = inviter | human | human | passive
call = appeler | human | human pet
thank = remercier | human | human | placed
follow = suivre | being | being driven | placed
kiss = embrasser | human | human
greet = saluer | human | human
protect = protéger | human | human animal plant house village | passive
recognise = reconnaître | human | human song | plain
miss = rater | human | transit | plain placed
bite bit bitten = mordre | dog wolf snake rat crocodile goose | human animal | passive plain
chase = poursuivre | animal | animal
catch caught = attraper | human | ball animal thief | plain passive
hide hid hidden = cacher | human | small gift jewel | passive
throw threw thrown = jeter | human | thrown
touch = toucher | human | object plant furniture
push = pousser | human | vehicle door table armchair desk
count = compter | human | coin star animal
finish = finir | human | text lesson exercise | plain
burn = brûler | human | letter newspaper postcard photograph | passive
kill = tuer | wolf hunter soldier tiger bear | animal | passive plain
keep kept = garder | human | small
use = utiliser | human | tool | passive
drive drove driven = conduire | human | driven
steal stole stolen = voler | human | jewel object vehicle clothes | passive
borrow = emprunter | human | small owned
win won = gagner | human | won | plain
solve = résoudre | human | solved | passive
discover = découvrir | human | island secret truth cave forest planet star mistake | passive plain
describe = décrire | human | human place animal picture sky cloud
admire = admirer | human | admired | state placed
plant = planter | human | tree flower rose tulip oak bush | passive
pick = cueillir | human | picked fruit | passive
water = arroser | human | plant garden | passive
feed fed = nourrir | human | animal | passive
punish = punir | human | person | passive
fill = remplir | human | filled
empty = vider | human | filled drawer cupboard
receive = recevoir | human | text gift parcel medal | plain
translate = traduire | human | text | passive
correct = corriger | human | text mistake exercise | passive
sign = signer | human | letter book report article postcard | passive
publish = publier | human | book novel article report magazine poem photograph | passive
photograph = photographier | human | visible | passive
tidy = ranger | human | room office desk shelf
rent = louer | human | home vehicle
leave left = quitter | human | place | plain placed
taste = goûter | human | edible drink
order = commander | human | dish drink
avoid = éviter | human | human problem question war | plain placed
organise = organiser | human | event | passive placed
repeat = répéter | human | question answer joke riddle
cut cut cut = couper | human | bread cheese meat cake rope apple pear
surprise = surprendre | human | human thief
annoy = agacer | human | human
defend = défendre | human | freedom peace justice nature love work | plain general placed
fear = craindre | human | war silence loneliness winter noise hatred wolf snake tiger snow | state general placed
appreciate = apprécier | human | silence music nature sport painting dancing snow opera | state general placed
teach taught = enseigner | human | subject | general
own = posséder | human | home vehicle jewel animal | state placed
deserve = mériter | human | medal gift | state placed
"""

# With a person who receives: "give the book to the boy", "give it to him".
GIVING = """
give gave given = donner | human | small food
show showed shown = montrer | human | small picture building
send sent = envoyer | human | text gift parcel
lend lent = prêter | human | small owned
sell sold = vendre | human | owned furniture jewel
offer = offrir | human | gift ring flower rose jewel watch doll necklace cake
write wrote written = écrire | human | letter message poem postcard
bring brought = apporter | human | small food dish
explain = expliquer | human | explained | to
read read read = lire | human | letter story poem article
tell told = raconter | human | told
describe = décrire | human | building outdoors person | to
promise = promettre | human | gift toy bicycle ring
return = rendre | human | small owned | to
announce = annoncer | human | decision wedding | to
hand = tendre | human | key cup glass pen pencil book plate fork spoon knife map ticket
"""

# With a preposition of its own.
OBLIQUE = """
think thought +about = penser à | human | human idea journey feeling
talk +about = parler de | human | human idea text event animal feeling subject
talk +to = parler à | human | human animal | dative
belong +to = appartenir à | goods home | human | state dative
take took taken +part in = participer à | human | event
dream +about = rêver de | human | human animal event home
work +for = travailler pour | human | human
work +with = travailler avec | human | human
play +with = jouer avec | human pet | pet ball doll toy child kite
answer = répondre à | human | question letter message human | plain dative
obey = obéir à | human dog | human | plain dative
look +like = ressembler à | human | human | state dative
take took taken +care of = se occuper de | human | human animal garden
remember = se souvenir de | human | human event text song | state
attend = assister à | human | event
smile +at = sourire à | human | human | dative
live +with = vivre avec | human | human animal
fight fought +against = lutter contre | human | hatred enemy noise loneliness
laugh +at = se moquer de | human | human mistake
dance +with = danser avec | human | human
travel +with = voyager avec | human | human
trust = faire confiance à | human | human | state dative
be was been +afraid of = avoir peur de | being | animal witch thief | state
need = avoir besoin de | human | object clothes human driven | state
be was been +interested in = se intéresser à | human | subject idea | state
enter = entrer dans | being | building room forest cave garden
come came come +out of = sortir de | being | building room forest cave
hide hid hidden +behind = se cacher derrière | being | furniture opening tree bush
"""

# With another verb: the words that join them in English and in French.
CONTROL = """
want = vouloir | human | to : | state
hope = espérer | human | to : | state
like = aimer | human | to : | state
love = adorer | human | to : | state
hate = détester | human | to : | state
try = essayer | human | to : de
decide = décider | human | to : de | plain
begin began begun = commencer | human | to : à
forget forgot forgotten = oublier | human | to : de | plain
refuse = refuser | human | to : de | plain
have had had = devoir | human | to : | plain must
learn = apprendre | human | to : à
promise = promettre | human | to : de | plain
prefer = préférer | human | to : | state
agree = accepter | human | to : de | plain
intend = compter | human | to : | state
manage = réussir | human | to : à | plain
need = avoir besoin | human | to : de | state
be was been +afraid = avoir peur | human | to : de | state
know knew known +how = savoir | human | to : | state
choose chose chosen = choisir | human | to : de | plain
stop = arrêter | human | ing : de | plain
continue = continuer | human | to : à
"""

# With a clause in the indicative; in the affirmative only, since a negated opinion asks for the subjunctive.
CLAUSAL = """
think thought = penser | human | state
believe = croire | human | state
know knew known = savoir | human | state
say said = dire | human | plain
hope = espérer | human | state
notice = remarquer | human | plain
explain = expliquer | human | plain
see saw seen = voir | human | plain
forget forgot forgotten = oublier | human | plain
repeat = répéter | human | plain
announce = annoncer | human | plain
understand understood = comprendre | human | plain
discover = découvrir | human | plain
"""

# States that French has rather than is: "he is hungry", "il a faim".
HAVING = "hungry = faim; thirsty = soif; cold = froid; hot = chaud; sleepy = sommeil; right = raison; wrong = tort"
