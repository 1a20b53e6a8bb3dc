"""What stands beside an English name that is also a word, when a person is meant and when
the word is."""

import re

MONTHS = frozenset("may april june august january march".split())
PLACES = frozenset(
    "paris jordan florence sydney austin georgia virginia carolina dakota savannah charlotte brooklyn madison chelsea "
    "lincoln jackson houston dallas phoenix victoria alexandria india china asia ireland israel troy london vienna "
    "verona geneva milan roma sienna siena lourdes bristol chester kent devon lancaster preston orlando denver "
    "memphis montana nevada arizona indiana louisiana columbia cleveland camden trenton kingston holland france "
    "england britain brittany lorraine chad cuba malta cyprus kenya zaire regina salem santiago diego francisco "
    "valencia cordoba adelaide darwin wellington hamilton nelson perth bali asia america africa europe cairo "
    "catalina shannon clare kerry tyrone galway skye iona ailsa isla avon rhone eden nile tijuana havana aspen "
    "reno laramie cheyenne cody tulsa macon augusta mobile athens sparta delphi corinth jericho bethany zion jerusalem".split()
)
# Words that are mostly names where they have a capital, at the start of a sentence too.
MOSTLY_NAMES = frozenset(
    "max miles dean carol dale gene glen jay lance norm parker rob rod wade warren chuck randy ruby penny robin "
    "frank grant mark jack rose grace lily daisy violet ivy hazel holly heather amber jade eve sally sue jordan "
    "sam duke earl cliff clay cole reed hunter heath dawn ginger peg rusty dusty stew ted tucker jasmine kit skip "
    "buddy doc lark wren olive iris pearl candy sandy autumn willow faith felicity angel brook brooks paige page "
    "sydney charlotte madison georgia virginia savannah florence austin brooklyn dakota carolina victoria troy "
    "jackson lincoln chelsea april june august ray pat ed al lee sage scout gale fern viola".split()
)
# What months do: April comes, May brings showers.
CALENDAR_VERBS = frozenset(
    "comes came coming starts started starting arrives arrived brings brought ends begins began turns turned falls fell "
    "goes went going passes passed flies flew looks looking seems".split()
)

# What people do, in the forms that follow a subject.
BASES = frozenset(
    "call text say tell ask want need think know feel love like hate give take bring buy cook bake make eat drink "
    "come go leave arrive stay live move work quit join start finish stop try keep get find lose win forget remember "
    "send email message phone ring reply answer invite visit meet see hear watch read write draw paint play sing dance "
    "run walk drive ride fly travel swim climb hike train teach learn study pass fail graduate marry divorce propose "
    "date break fix build clean wash help thank hug kiss laugh smile cry yell scream shout swear complain argue agree "
    "refuse promise offer lend borrow owe pay spend save sell book cancel order host plan organize run present pitch "
    "sleep wake snore sneeze cough fall trip hurt sprain twist catch adopt foster raise name pick drop show sit stand "
    "wear dress look seem sound turn become believe suggest recommend insist mention admit confess joke tease warn "
    "remind update share post comment check sign approve reject hire fire promote lead manage review wonder worry "
    "hope wish prefer expect let crash burn cut grow throw carry hold hand put set land score shoot bowl coach dye "
    "shave swing swap trade stole steal wait borrow beat babysit volunteer retire relocate interview drag feed bet".split()
)
_IRREGULAR = (
    "said told thought knew felt gave took brought bought made ate drank came went left lived got found lost won forgot "
    "sent rang met saw heard read wrote drew sang ran drove rode flew swam taught learnt broke built paid spent sold "
    "slept woke fell hurt caught sat stood wore became let grew threw carried held put set shot beat led swore bet fed "
    "quit cut cried lent burnt spelt leapt dreamt leant chose struck swung fled forgave overslept mistook misheard bent tried married studied stole wept knelt dug bit hid froze hung spoke spilled spilt".split()
)


def _forms(base: str) -> set[str]:
    stem = base[:-1] if base.endswith("e") else base
    third = f"{base[:-1]}ies" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}s"
    if base.endswith(("s", "sh", "ch", "x", "o", "z")):
        third = f"{base}es"
    past = f"{base[:-1]}ied" if third.endswith("ies") else f"{stem}ed"
    double = {f"{base}{base[-1]}ed", f"{base}{base[-1]}ing"}
    return {third, past, f"{stem}ing", *double}


VERBS = frozenset(form for base in BASES for form in _forms(base)) | frozenset(_IRREGULAR)
# With an auxiliary alone a thing may be meant too (May is cold); these are nearly only people.
ADVERBS = frozenset(
    "just never always finally still also already really actually even probably apparently currently recently once "
    "usually sometimes almost nearly definitely totally literally kindly".split()
)
AUXILIARIES = frozenset(
    "is was has had isnt wasnt hasnt hadnt does doesnt did didnt can cant could couldnt would wouldnt should shouldnt "
    "wont might must and or".split()
)
STATES = frozenset(
    "mad angry upset pregnant sick ill tired free busy late drunk asleep awake engaged married single divorced jealous "
    "worried nervous excited happy sad furious stressed exhausted hungover retired allergic vegan vegetarian stubborn "
    "hilarious grumpy proud sorry home here ready hungry bored annoyed moody fine okay ok right wrong afraid scared".split()
)
PERSONAL = frozenset("he she him her his hers himself herself hes shes".split())
# Right before the name of a person.
BEFORE = frozenset(
    "with and told tell ask asked call called text texted thank thanks invite invited met meet saw see visit "
    "visiting hi hey hello dear miss love hug kiss marry married dating date help helped remind let hear heard from "
    "for poor by see named about congratulate introduce @ believe email emailed message phone phoned owe owes "
    "drive pick picked dropped drop gave give lend lent cc ping pinged bcc feat beat than except but not also or "
    "bring bringing brought got have had made make paid pay sent send show showed taught teach tease teased trust "
    "untill unlike like until to says said".split()
)
# Before a month, a place: they speak for the calendar and the map.
MONTH_BEFORE = frozenset(
    "in on by until till since of last next this early late mid before after during through from to every each "
    "around past between and come first end".split()
)
PLACE_BEFORE = frozenset(
    "in to at near around through of visit visiting visited toward towards across outside inside "
    "into leave leaving left reach via throughout north south east west northern southern eastern western central "
    "downtown greater fly flying flew moved moving toward trip".split()
)
SENT_FROM = frozenset(
    "text message call email letter gift note postcard card word news hear heard voicemail dm present birthday "
    "texts calls messages hug".split()
)
DETERMINERS = frozenset(
    "a an the this that these those my your his her its our their some any no every each another more much which what "
    "whose such either neither one two free good great little lot many few".split()
)
# Right after the word when it isn't a name: "Will it", "May I", "Hope you".
WORD_AFTER = frozenset(
    "i you we they it he she this that these those the a an my your our their there be not never have any some "
    "everyone anyone someone people to of in on at for with as from by up down out off into over about if when "
    "because so than then now here lot me us them him her all who what how why where both either each every".split()
)
# After a place name or month when the place or month is meant.
PLACE_AFTER = frozenset(
    "in on for next this last by near during every with at again and or".split()
)
# Where someone is, between the name and the verb: Art next door lent me…
WHEREABOUTS = frozenset(
    "next door upstairs downstairs there here across the street hall over down".split()
)
PLACE_PREFIXES = frozenset("st saint san santa port fort lake mount mt cape los las new".split())
# Chinese that counts things or says how something is, before a Latin word.
CHINESE_COUNT = re.compile(r"(?:[个款种版件条台部张份]|很|太|超|最|不|有点|好|真|挺) ?$")
# Words that may follow or precede a name with a capital without being part of it.
CAPITAL_NEIGHBOURS = frozenset(
    "i im ive id ill monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
    "august september october november december christmas easter thanksgiving halloween diwali ramadan english french "
    "german spanish chinese japanese korean italian american british indian ok okay hi hey hello dear mom mum dad "
    "grandma grandpa please thanks thank lol omg facetimed ubered zoomed slacked whatsapped googled instagrammed venmoed "
    "mr mrs ms dr prof coach aunt auntie uncle and or with is was".split()
)
# Set phrases: the name in them is nobody's.
PHRASES = frozenset(
    "big ben|uncle sam|aunt jemima|jack frost|john doe|jane doe|joe bloggs|average joe|plain jane|"
    "jack of all|jack daniels|jack russell|jack in the box|jack o lantern|tom yum|tom and jerry|ben and jerry|"
    "ben jerrys|bloody mary|virgin mary|hail mary|typhoid mary|peeping tom|tom collins|sloppy joe|trader joe|trader joes|"
    "joe biden|jolly roger|roger that|roger rabbit|bob's your uncle|bobs your uncle|billy goat|billy no mates|silly billy|"
    "lazy susan|black eyed susan|calamity jane|dear john|long john|demijohn|john hancock|jim beam|jim crow|jimmy choo|"
    "jimmy johns|papa john|papa johns|johnny cash|johnny depp|frank sinatra|old harry|tom dick|dirty harry|debbie downer|"
    "negative nancy|nervous nellie|karen meme|smart alec|smart alex|nosy parker|nosey parker|chatty cathy|sally army|"
    "victoria's secret|victorias secret|queen victoria|lake victoria|victoria falls|victoria sponge|victoria station|"
    "mona lisa|santa maria|ave maria|black maria|santa claus|st nick|saint nick|charlie brown|charlie horse|checkpoint charlie|"
    "martha stewart|wendys|wendy house|dennys|arbys|applebees|amber alert|amber light|rose gold|rose garden|rose bush|"
    "ruby tuesday|olive oil|olive garden|olive tree|daisy chain|ginger ale|ginger beer|ginger tea|lily pad|holly tree|"
    "ivy league|poison ivy|iris scan|eve of|new years eve|christmas eve|hope so|hope not|joy ride|joy division|art gallery|"
    "art class|art school|art museum|art history|pop art|modern art|martial art|mark my words|on your mark|"
    "amazing grace|coup de grace|saving grace|say grace|good faith|leap of faith|will power|good will|where there's a will|"
    "may day|mayday|june bug|april fool|april fools|april showers|earl grey|norman conquest|guy fawkes|"
    "pat on|pat down|sue for|max out|to the max|mad max|air max|imax|hbo max|pro max|bill of|dollar bill|gas bill|water bill|"
    "alexa play|hey siri|ok google|hey alexa|hi siri|cortana|bixby|chat gpt|ken doll|ken dolls|barbie and ken|miss piggy|miss universe|miss world|"
    "harry potter|hermione granger|anna karenina|emma bovary|madame bovary|jane eyre|jane austen|oliver twist|tom sawyer|"
    "huck finn|peter pan|peter rabbit|alice in wonderland|alice springs|mary poppins|mary shelley|little lord|robin hood|"
    "christopher robin|king arthur|saint george|st george|st patrick|st patricks|st andrews|st james|st paul|san jose|"
    "san diego|santa monica|santa barbara|jordan peterson|air jordan|air jordans|jordan river|river jordan".split(
        "|"
    )
)
