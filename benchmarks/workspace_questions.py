"""Two hundred questions made by hand, fifty in each language, and the notes of `benchmarks.workspace_texts` that answer each."""

import msgspec

from benchmarks.man_pages import Question
from benchmarks.workspace_texts import TEXTS

# The first note that is named answers a question, the others have to do with it.
_BEST, _NEAR = 3, 1


class Asked(msgspec.Struct, frozen=True):
    """What a person who reads a language asks, and the keys of the notes that answer it, the best first."""

    text: str
    locale: str
    answers: tuple[str, ...]


_QUESTIONS = {
    "en": """
receipts thirty days | travel-costs
what may a hotel cost | travel-costs
when will a taxi be refunded | travel-costs
claiming train tickets | travel-costs
new colleague starting monday | first-week
who is my buddy | first-week
safety training before walking on the terminal | first-week
alarm code changes | alarm-keys
siren by mistake call guards | alarm-keys
key in the safe | alarm-keys
Hafrun manifest | hafrun-delay
why is our ship still waiting at the berth | hafrun-delay
customs inspectors monday | hafrun-delay
demurrage | hafrun-delay
reporting damage to the insurance | damaged-goods
photograph the seal | damaged-goods
insurer three days | damaged-goods
reservation on the waybill | damaged-goods
payment reminder | payment-terms
customer does not pay his invoices | payment-terms
when do customers have to pay | payment-terms
stop bookings debt | payment-terms
crane technician on call | crane-service
salt on the sensors | crane-service
spare ropes hall | crane-service parking
servicing the crane | crane-service
evacuation of the building | fire-drill
wardens count missing people | fire-drill
stairs horn flagpole | fire-drill
I lost my telephone | two-factor
passphrase of four words | two-factor
sign in from outside | two-factor
how many slides may managers bring | quarter-review
margins by lane | quarter-review
vote on the budget | quarter-review
visitors parking | parking
electric car charging | parking
trucks waiting on the road | parking forklift-check
summer holiday wishes | holiday-plan
how many dispatchers away | holiday-plan
unused vacation days | holiday-plan
leaking forklifts | forklift-check
distilled water batteries | forklift-check
red tag truck | forklift-check
exchanging nights with another | night-shift
hours of rest between shifts | night-shift
night allowance sunday | night-shift
how cold must frozen fish be | cold-room
logger out of range | cold-room
doors open while loading | cold-room alarm-keys
""",
    "es": """
pedir vacaciones | vacaciones
quiero irme de vacaciones en verano | vacaciones
días que se pierden en marzo | vacaciones
cuánto pagan por comer de viaje | gastos-viaje
kilómetro coche propio | gastos-viaje
hoja de gastos recibos | gastos-viaje
quién reserva los vuelos | gastos-viaje
se ha roto la grúa | grua-averia
pieza de Hamburgo | grua-averia
freno y cables de la grúa | grua-averia
grúa móvil toneladas | grua-averia
ropa obligatoria en el almacén | riesgos
dónde está el botiquín | riesgos
accidentes sin importancia | riesgos
pago a proveedores | facturas
factura devuelta por falta de pedido | facturas
dos firmas importe | facturas
cambio de cuenta bancaria | facturas
cliente enfadado por envío roto | reclamaciones
indemnización quinientos euros | reclamaciones
responder reclamaciones en dos días | reclamaciones
curso de carretillas | carretillas riesgos
renovar el permiso de carretillero | carretillas
examen práctico | carretillas
cargar carretillas eléctricas | carretillas
cuándo viene la auditoría | auditoria
archivo de despachos y contratos | auditoria
salas de reuniones reservadas | auditoria
días de trabajo en casa | teletrabajo
silla y pantalla | teletrabajo
miércoles en la oficina | teletrabajo
cámara frigorífica temperatura | frigorifico
generador gasóleo | frigorifico
qué se salva si falla el frío | frigorifico
teléfono de guardia | frigorifico
albarán garita | recepcion
contar bultos precintos | recepcion
a qué hora se recibe mercancía | recepcion
firmar con reserva | recepcion
contraseña nueva letras | contrasenas
me han robado el teléfono | contrasenas
correos que piden datos del banco | contrasenas
fiesta de fin de año | cena
menú vegetariano sin gluten | cena
autobús a la sidrería | cena
tarifa de almacenaje palé | tarifas
mercancías peligrosas doble | tarifas recepcion
precios de guardar palés | tarifas
acta de la reunión | reunion-lunes auditoria
contratar turno de noche | reunion-lunes
""",
    "nl": """
vanuit huis werken | thuiswerken
stoel en beeldscherm voor thuis | thuiswerken
dinsdag op kantoor | thuiswerken
ik ben vandaag ziek wie moet ik bellen | ziekmelden
bedrijfsarts na een week | ziekmelden
beter melden | ziekmelden
reiskosten terugkrijgen | declaraties
kilometer eigen auto | declaraties
lunch met klanten | declaraties
trein tweede klas hotel | declaraties
controle van heftrucks | heftruck
lekkende truck | heftruck
accu's laden | heftruck
vorken banden remmen | heftruck
containers vastgehouden door douaniers | douane
verkeerd gewicht aangifte | douane
koffie uit Santos | douane kantine
staangeld afzender | douane
boze klanten beantwoorden | klachten
vergoeding directie | klachten
zendingsnummer kapot | klachten
brand in het gebouw | bhv
vlaggenmast sirene | bhv
verbanddoos kantine | bhv kantine
gele hesjes | bhv
back-up servers | back-up
bestanden gewist per ongeluk | back-up
kopie naar Groningen | back-up
sluis wachten | sluis
oostenwind IJmuiden | sluis
hoe lang wacht een schip | sluis
kleur van het nieuwe logo | huisstijl
sjablonen offertes presentaties | huisstijl inkoop
oude enveloppen | huisstijl
vrachtwagens overspuiten | huisstijl
sollicitatiegesprek | sollicitaties
brieven vernietigen | sollicitaties
tweede gesprek ander team | sollicitaties
wanneer verhuizen we | verhuizing
dozen sticker kamernummer | verhuizing
oude sleutels receptie | verhuizing
bloemen te warm geworden | koeling
compressor uitgevallen | koeling
rozen cel twee wachtdienst | koeling
drie offertes | inkoop
inkoopnummer boekhouding | inkoop
kantoorartikelen leverancier | inkoop
koffieautomaat storing | kantine
soep op woensdag | kantine
kantine open | kantine
""",
    "is": """
hvenær á að óska eftir sumarfríi | orlof
ónotaðir frídagar | orlof
börn í skóla júlí | orlof
afgreiðslumenn í fríi | orlof
ég er veik í dag | veikindi
vottorð frá lækni | veikindi
barnið mitt er veikt | veikindi
veikur hringja verkstjóra | veikindi
gámar fastir í tollinum | tollur
varahlutir frá Rotterdam | tollur krani
röng þyngd farmbréf | tollur
geymslugjald | tollur
hvað á kæligeymslan að vera köld | kaeligeymsla
frysta fisk | kaeligeymsla
vaktsíminn hringir | kaeligeymsla
hurðin opin | kaeligeymsla
endurgreiðsla ferðakostnaðar | ferdakostnadur
dagpeningar erlendis | ferdakostnadur
leigubíll strætó | ferdakostnadur
flugmiða pantar | ferdakostnadur
hjálmar og skór á svæðinu | oryggi
hvar er sjúkrakassinn | oryggi
tilkynna slys | oryggi veikindi
undir krana | oryggi
hvenær er reikningur greiddur | reikningar
tvær undirskriftir | reikningar
pöntunarnúmer endursendir | reikningar
nýtt bankanúmer | reikningar
vaktaskipti við félaga | vaktir
hvíld milli vakta | vaktir
álag fyrir helgar | vaktir
veisla í mars | arshatid
ofnæmi makar | arshatid
veislustjóri skemmtinefnd | arshatid
Hótel Selfoss | arshatid
ég týndi símanum | lykilord
lykilorð fjórum orðum | lykilord
innskráning utan skrifstofu | lykilord
nýr starfsmaður byrjar | nylidar
aðgangskort og tölva | nylidar
öryggisnámskeið | nylidar oryggi
flokkun plast pappi | endurvinnsla
rafhlöður í kassann | endurvinnsla
matarleifar brún tunna | endurvinnsla
kraninn bilaði | krani
bremsan ónýt | krani
viðgerðarmaður frá Noregi | krani
hleðslustöð fyrir rafbíl | bilastaedi
stæði fyrir gesti | bilastaedi
fundargerð fjárhagsáætlun | fundargerd
""",
}


def _read(locale: str, block: str) -> list[Asked]:
    rows = [line.split(" | ") for line in block.strip().splitlines()]
    return [Asked(text, locale, tuple(answers.split())) for text, answers in rows]


ROWS = tuple(row for locale, block in _QUESTIONS.items() for row in _read(locale, block))
_AT = {(text.locale, text.key): number for number, text in enumerate(TEXTS)}


def questions(most: int = len(ROWS)) -> list[Question]:
    """So many of the questions, as many of each language."""
    return [Question(row.text, _grades(row), row.locale) for row in ROWS[:: len(ROWS) // most]]


def _grades(row: Asked) -> dict[int, int]:
    best, *near = (_AT[row.locale, key] for key in row.answers)
    return {best: _BEST} | dict.fromkeys(near, _NEAR)
