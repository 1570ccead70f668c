"""Sixty notes of an invented freight company, fifteen in each of four languages: what `benchmarks.workspace_questions` asks about."""

import msgspec


class Text(msgspec.Struct, frozen=True):
    """A note of the sample workspace, by the key that questions name it with."""

    key: str
    locale: str
    title: str
    body: str


# Each note: its key and its title, and the lines below it.
_TEXTS = {
    "en": """
travel-costs | Claiming travel costs
Keep every receipt and hand in your claim within thirty days of coming home. Train tickets are booked second class; a hotel may cost
up to 140 euros a night, breakfast included. Taxis are paid only when there is no bus or tram. Payroll refunds what was approved
with the next salary.
first-week | A newcomer's first week
On Monday the newcomer gets a badge, a laptop and a tour of the quay. Somebody from the team is their buddy for the first month.
Safety training comes before anybody walks on the terminal alone. At the end of the week there is a short talk about how it went.
alarm-keys | Keys and the alarm at the warehouse
Whoever leaves last closes the roller doors, sets the alarm and hangs the key in the safe by the gate. The code changes on the first
of every month. If the siren goes off by mistake, call the guards at once and tell them the word of the week.
hafrun-delay | Hafrún held up by customs
The Hafrún has been lying at berth seven since Thursday because the manifest names two containers that were never loaded. The broker
has sent a corrected list; inspectors come on Monday morning. Until then nothing may be discharged, and demurrage is ours to pay.
damaged-goods | When cargo arrives damaged
Photograph the seal, the container number and the damage before anything is moved. Write a reservation on the waybill and have the
driver sign it. The insurer must hear of it within three days, otherwise the claim is lost. Keep the broken pallets until the
surveyor has seen them.
payment-terms | Payment terms and reminders
Customers pay within thirty days of the invoice. A first friendly reminder goes out after a week, the second one charges interest.
After sixty days new bookings are stopped until the debt is settled. Large accounts may have other terms, which only the finance
director grants.
crane-service | Crane two: service and contacts
Crane two is serviced every March by Halvorsen Lifting; their technician on call answers day and night. The spreader's sensors fail
when there is salt on them, so rinse it with fresh water after a storm. Spare ropes are kept in hall C.
fire-drill | Fire drill in May
The drill is announced to nobody but the wardens. When the horn sounds, leave everything, take the nearest stairs and gather at the
flagpole. Wardens count their floor and report who is missing. Last year we needed nine minutes; the aim is five.
two-factor | Passwords and the second step
Use a passphrase of four words and never the same one twice. Signing in from outside the office asks for a code from your phone. Who
loses the phone calls the help desk, shows a passport and gets new recovery codes. Nobody from IT will ever ask for your password.
quarter-review | Agenda of the quarterly review
We begin with volumes and margins by lane, then complaints, then people who left or joined. Each manager brings three slides at
most. Decisions from last time are read out first. The budget for the second half is voted on at the end.
parking | Parking at the terminal
Places one to twelve are for visitors and for staff who cannot walk far. Everybody else parks behind hall B. Electric cars may
charge for four hours, then must make room. Lorries never wait on the access road; they queue in the holding yard.
holiday-plan | Planning the summer holidays
Enter your wishes before the end of February. No more than two dispatchers may be away at the same time, and families with children
at school choose first in July and August. Days from last year expire in April unless your manager agrees to carry them over.
forklift-check | Daily forklift inspection
Before the shift the driver looks at forks, chains, tyres, brakes and the horn and signs the card. A truck that leaks oil is taken
out of service and gets a red tag. Batteries are topped up with distilled water on Fridays only.
night-shift | Swapping a night shift
Shifts can be exchanged among colleagues with the same licence. Both tell the planner at least two days ahead. Between two shifts
there must be eleven hours of rest. The allowance for nights and Sundays goes to the person who really worked.
cold-room | Temperature in the cold room
Fish is stored at minus twenty-two, fruit at plus four. The logger writes a value every ten minutes; if it is out of range twice in
a row, the phone of the person on duty rings. Doors stay open for three minutes at most while loading.
""",
    "es": """
vacaciones | Cómo pedir las vacaciones
Las vacaciones se piden en el calendario del equipo con un mes de antelación. En agosto siempre tiene que quedar una persona en la
oficina de aduanas. Los días que no se disfrutan antes de marzo se pierden. Si dos compañeros quieren las mismas fechas, decide la
jefa de turno.
gastos-viaje | Gastos de viaje y dietas
Guarda los recibos y entrega la hoja de gastos antes del día cinco. La dieta completa es de cincuenta y tres euros; la media, de
veintiséis. El kilómetro en coche propio se paga a diecinueve céntimos. Los billetes de avión los compra siempre la secretaría.
grua-averia | Avería de la grúa del muelle tres
La grúa se paró el martes con un contenedor en el aire. El técnico cambió el freno y revisó los cables; falta una pieza que llega de
Hamburgo. Mientras tanto se descarga con la grúa móvil, que solo levanta veinte toneladas.
riesgos | Prevención de riesgos en el almacén
El casco, el chaleco y las botas son obligatorios desde la puerta. Nadie camina por el carril de las carretillas. Todo accidente,
aunque sea leve, se comunica el mismo día. El botiquín está junto a la báscula y se revisa cada trimestre.
facturas | Pago a proveedores
Las facturas llegan a la dirección de contabilidad y se pagan los días diez y veinticinco. Sin número de pedido se devuelven. Los
importes de más de tres mil euros necesitan dos firmas. Un cambio de cuenta bancaria se confirma siempre por teléfono.
reclamaciones | Reclamaciones de clientes
Respondemos a toda queja en dos días laborables, aunque todavía no haya solución. Se anota el número de envío, lo que falta o está
roto y qué espera el cliente. Las indemnizaciones de más de quinientos euros las aprueba dirección.
carretillas | Curso para conducir carretillas
El curso dura dos días y termina con un examen práctico. El carné vale cinco años. Quien lleva más de un año sin conducir repite la
parte práctica. Las carretillas eléctricas se cargan por la noche, nunca junto a la pintura.
auditoria | Visita de los auditores en octubre
Los auditores vienen la segunda semana y quieren ver el archivo de despachos, los contratos y las copias de seguridad. Cada
departamento nombra a alguien que les acompaña. Las salas de reuniones de la primera planta quedan reservadas.
teletrabajo | Normas de teletrabajo
Se puede trabajar desde casa dos días por semana, de acuerdo con el equipo. Los miércoles estamos todos en la oficina. La empresa
paga una silla y una pantalla. Las llamadas se atienden de nueve a cinco también desde casa.
frigorifico | Alarma de la cámara frigorífica
La cámara debe estar a dieciocho bajo cero. Si sube por encima de quince, suena el teléfono de guardia. El helado se salva primero y
después el pescado. El generador arranca solo, pero el gasóleo da para seis horas.
recepcion | Recepción de mercancía
El conductor se presenta en la garita con el albarán y espera su turno en el aparcamiento. Se cuentan los bultos delante de él, se
revisan los precintos y se firma con reserva si algo no cuadra. Después de las seis no se recibe nada.
contrasenas | Contraseñas y móviles perdidos
Una contraseña nueva tiene al menos catorce letras y no se apunta en un papel. Si pierdes el móvil, avisa a informática enseguida
para que lo borren a distancia. Los correos que piden datos del banco se reenvían a seguridad sin abrir el enlace.
cena | Cena de Navidad
Este año cenamos el viernes diecinueve en la sidrería del puerto. Hay menú vegetariano y sin gluten si se pide antes del día diez.
Un autobús sale de la oficina a las ocho y vuelve a la una. Cada uno trae un regalo de diez euros como máximo.
tarifas | Nuevas tarifas de almacenaje
Desde enero el palé cuesta cuarenta céntimos al día y los primeros cinco días son gratis. Las mercancías peligrosas pagan el doble.
Los clientes con contrato anual mantienen el precio antiguo hasta junio. Los descuentos los autoriza ventas.
reunion-lunes | Acta de la reunión del lunes
Se acuerda contratar a dos personas para el turno de noche. Marta prepara el plan de la mudanza al edificio nuevo. El presupuesto de
publicidad se reduce a la mitad. La próxima reunión es el lunes a las diez, sin ordenadores sobre la mesa.
""",
    "nl": """
thuiswerken | Afspraken over thuiswerken
Je mag twee dagen in de week thuis werken, als je team het goed vindt. Op dinsdag is iedereen op kantoor. Voor een bureaustoel en
een scherm krijg je eenmalig vierhonderd euro. Wie thuis werkt is tussen negen en vijf bereikbaar per telefoon.
ziekmelden | Ziek melden en weer beter
Bel voor half negen je leidinggevende; een bericht via de app is niet genoeg. Na een week belt de bedrijfsarts. Wie weer beter is,
meldt dat op de dag zelf. Tijdens je ziekte hoef je geen mail te lezen en geen diensten over te nemen.
declaraties | Declaraties en bonnetjes
Lever je bonnetjes in voor de vijfde van de maand. Met de trein reis je tweede klas; een hotel mag honderddertig euro kosten. Voor
de eigen auto betalen we drieëntwintig cent per kilometer. Een lunch met klanten declareer je met de namen van de gasten.
heftruck | Heftrucks dagelijks nakijken
De chauffeur kijkt voor zijn dienst naar vorken, banden, remmen en claxon en tekent het kaartje. Een truck die olie lekt krijgt een
rood label en gaat naar de werkplaats. Accu's laden we 's nachts, met de deur open.
douane | Container vastgehouden door de douane
De container met koffie uit Santos staat sinds maandag op de scanplaats. De aangifte noemde een verkeerd gewicht. Onze declarant
heeft een correctie gestuurd; de inspecteur komt donderdag kijken. Het staangeld rekenen we door aan de afzender.
klachten | Klachten van klanten
Elke klacht krijgt binnen twee werkdagen antwoord, ook als de oplossing nog niet bekend is. Noteer het zendingsnummer en wat er
kapot of kwijt is. Vergoedingen boven vijfhonderd euro gaan eerst langs de directie.
bhv | Bedrijfshulpverlening en ontruiming
Hoor je de sirene, laat dan alles liggen en verzamel bij de vlaggenmast. Gebruik nooit de lift. De bhv'ers dragen gele hesjes en
tellen hun verdieping. De verbanddoos hangt naast de kantine; wie er iets uit pakt, schrijft het op.
back-up | Back-ups van de servers
Elke nacht gaat er een kopie naar Groningen en elke zondag een volledige. Een keer per maand zetten we een map terug om te zien of
het lukt. Bestanden die je per ongeluk hebt gewist, halen we tot negentig dagen terug; vraag het aan de helpdesk.
sluis | Wachttijden bij de sluis
Bij oostenwind kan de sluis bij IJmuiden maar één kolk gebruiken en wachten schepen tot vijf uur. De planner belt de verkeerspost om
zes uur 's ochtends. Lichters met dieselolie gaan voor. Bemanningen mogen tijdens het wachten van boord.
huisstijl | Nieuwe huisstijl
Vanaf september is het logo donkerblauw en schrijven we brieven in een schreefloos lettertype. Oude enveloppen mogen op. De
sjablonen voor offertes en presentaties staan in de map van communicatie. Vrachtwagens worden overgespoten als ze toch naar de
garage gaan.
sollicitaties | Sollicitaties en gesprekken
We antwoorden binnen een week. Het eerste gesprek voert de teamleider, het tweede iemand van een ander team. We vragen niet naar
kinderen of gezondheid. Brieven van wie niet is aangenomen, worden na vier weken vernietigd.
verhuizing | Verhuizing naar de Waalhaven
Op de laatste vrijdag van oktober pakken we in; maandag beginnen we in het nieuwe gebouw. Iedereen krijgt vier dozen en een sticker
met een kamernummer. Planten verhuizen we zelf. De oude sleutels lever je in bij de receptie.
koeling | Storing aan de koelcel
De koelcel voor bloemen liep zaterdag op tot twaalf graden, omdat de compressor was uitgevallen. De monteur heeft een relais
vervangen. Voor volgende keer: zet de rozen in cel twee en bel de wachtdienst, ook midden in de nacht.
inkoop | Inkopen en offertes
Boven duizend euro vraag je drie offertes. Boven tienduizend euro tekent ook de directeur. Bestel alleen met een inkoopnummer,
anders betaalt de boekhouding de rekening niet. Kantoorartikelen gaan via de webwinkel van de vaste leverancier.
kantine | Kantine en koffieautomaat
De kantine is open van half twaalf tot twee. Op woensdag is er soep, op vrijdag vis. De koffieautomaat wordt elke ochtend
schoongemaakt; staat er een storing op het scherm, bel dan het nummer op de zijkant. Eigen bekers spaar je zelf om.
""",
    "is": """
orlof | Sumarorlof og óskir um frídaga
Óskum um sumarorlof þarf að skila fyrir lok febrúar. Aldrei mega fleiri en tveir afgreiðslumenn vera í fríi í einu. Ónotaðir
frídagar falla niður í maí nema yfirmaður samþykki annað. Þeir sem eiga börn í skóla velja fyrst í júlí.
veikindi | Veikindi og tilkynningar
Hringdu í verkstjóra fyrir klukkan átta ef þú ert veikur. Tölvupóstur dugar ekki. Eftir þrjá daga þarf vottorð frá lækni. Foreldrar
mega vera heima hjá veiku barni í tólf daga á ári.
tollur | Gámur stöðvaður í tolli
Gámurinn með varahlutum frá Rotterdam hefur legið á hafnarbakkanum síðan á miðvikudag. Farmbréfið sýnir ranga þyngd. Miðlarinn sendi
leiðrétta skýrslu og tollvörður skoðar gáminn á mánudag. Þangað til greiðum við geymslugjald.
kaeligeymsla | Hiti í kæligeymslu
Fiskur er geymdur við tuttugu og tveggja stiga frost en ávextir við fjórar gráður. Mælirinn skráir hita á tíu mínútna fresti. Ef
hitinn fer tvisvar yfir mörk hringir vaktsíminn. Hurðin má standa opin í þrjár mínútur.
ferdakostnadur | Ferðakostnaður og dagpeningar
Geymið allar kvittanir og skilið uppgjöri innan þrjátíu daga. Dagpeningar eru greiddir fyrir hverja nótt erlendis. Flugmiða pantar
skrifstofan. Leigubíll er aðeins greiddur þegar enginn strætó gengur.
oryggi | Öryggi á hafnarsvæðinu
Hjálmur, vesti og öryggisskór eru skylda frá hliðinu. Enginn gengur undir krana þegar hann lyftir. Slys skal tilkynna samdægurs,
líka þau minni. Sjúkrakassinn er við vigtina og slökkvitæki í hverjum skála.
reikningar | Greiðsla reikninga
Reikningar eru greiddir tíunda og tuttugasta og fimmta hvers mánaðar. Án pöntunarnúmers eru þeir endursendir. Hærri fjárhæðir en
fimm hundruð þúsund krónur þurfa tvær undirskriftir. Nýtt bankanúmer er alltaf staðfest í síma.
vaktir | Vaktaskipti á nóttunni
Starfsmenn með sömu réttindi mega skipta á vöktum. Báðir láta vaktstjóra vita með tveggja daga fyrirvara. Milli vakta þarf ellefu
tíma hvíld. Álag fyrir nætur og helgar fær sá sem vinnur vaktina.
arshatid | Árshátíð í mars
Árshátíðin verður á Hótel Selfossi fyrsta laugardag í mars. Rúta fer frá skrifstofunni klukkan þrjú. Makar eru velkomnir. Látið vita
um ofnæmi fyrir tuttugasta febrúar. Skemmtinefnd leitar enn að veislustjóra.
lykilord | Lykilorð og týndir símar
Notaðu setningu með fjórum orðum sem lykilorð og aldrei þá sömu tvisvar. Innskráning utan skrifstofu biður um kóða úr síma. Ef
síminn týnist skaltu hringja í þjónustuborð og fá nýja kóða. Tölvudeildin spyr aldrei um lykilorð.
nylidar | Fyrsta vika nýliða
Á mánudegi fær nýliðinn aðgangskort, tölvu og leiðsögn um svæðið. Fóstri úr hópnum fylgir honum fyrsta mánuðinn. Öryggisnámskeið
kemur á undan öllu öðru. Í lok vikunnar er stutt spjall um hvernig gekk.
endurvinnsla | Flokkun og endurvinnsla
Pappi fer í græna gáminn, plast í þann gula og matarleifar í brúna tunnu. Bretti eru ekki rusl; þau eru send aftur til birgja.
Rafhlöðum er skilað í kassann við móttöku. Olía og málning fara alltaf á Sorpu.
krani | Bilun í krana tvö
Krani tvö stöðvaðist á þriðjudag með gám á lofti. Bremsan var ónýt og vírinn slitinn. Viðgerðarmaður frá Noregi kemur á fimmtudag
með varahluti. Á meðan er losað með minni krananum sem lyftir tuttugu tonnum.
bilastaedi | Bílastæði og hleðsla rafbíla
Stæði eitt til tíu eru fyrir gesti. Starfsmenn leggja bak við skála B. Rafbílar mega hlaða í fjóra tíma og verða þá að víkja.
Vörubílar bíða aldrei á aðkomuveginum heldur á biðsvæðinu.
fundargerd | Fundargerð framkvæmdastjórnar
Samþykkt var að ráða tvo menn á næturvaktina. Fjárhagsáætlun næsta árs var rædd og auglýsingar skornar niður um helming. Guðrún
undirbýr flutning í nýja húsið. Næsti fundur er mánudaginn tólfta.
""",
}


def _read(locale: str, block: str) -> list[Text]:
    found: list[tuple[str, str, list[str]]] = []
    for line in block.strip().splitlines():
        key, bar, title = line.partition(" | ")
        if bar:
            found.append((key, title, []))
        else:
            found[-1][2].append(line)
    return [Text(key, locale, title, " ".join(lines)) for key, title, lines in found]


TEXTS = tuple(text for locale, block in _TEXTS.items() for text in _read(locale, block))
