"""English words around names: own lists."""

# The last word of an organisation's name, and of a place's.
ORGANISATION_ENDS = (
    "University|College|Institute|School|Academy|Kindergarten|Hospital|Clinic|Medical Center|Medical Centre|"
    "Health Center|Inc\\.?|Corp\\.?|Corporation|Ltd\\.?|LLC|GmbH|PLC|Company|Bank|Museum|Gallery|Library|Foundation|"
    "Association|Society|Church|Labs?|Laboratories|Laboratory|Group|Holdings|Partners|Consulting|Airlines|Airways|"
    "Press|Studios?|Records|Orchestra|Symphony|Ballet|Theatre|Theater|Club|FC|United|Motors|Pharmaceuticals|"
    "Technologies|Systems|Software|Solutions|Capital|Insurance|Bakery|Cafe|Café|Coffee|Brewery|Bookstore|Books|Bistro|Diner"
)
PLACE_ENDS = (
    "Street|Avenue|Road|Boulevard|Lane|Park|National Park|Gardens?|Lake|Mountains?|Hills?|Islands?|Beach|Bay|Valley|River|"
    "Falls|Canyon|Forest|Airport|Station|Square|Bridge|Harbou?r|Castle|Palace|Temple|Cathedral|Zoo|Stadium|Arena|Tower|"
    "County|Village|Springs|Mall|Plaza|Hotel|Cemetery|Trail|Peninsula|Desert|Ocean|Sea"
)
# NAME of NAME: University of Leeds, Bank of Ireland; and Lake Como, Mount Fuji.
ORGANISATION_OF = "University|College|Institute|School|Academy|Bank|Museum|Ministry|Department|Church|Royal Society"
PLACE_BEFORE = "Lake|Mount|Mt\\.?|Cape|Port|Fort|Isle of|Gulf of|Bay of|Strait of|Republic of"
# Words that such a name may begin with only at the start of a sentence, or that say of which
# sort it is: The Hospital, Her School, High School, Coffee Company.
NOT_OWN = frozenset(
    "the a an this that these those my our your his her its their one some any every each no another other both all "
    "i we you he she it they user mr mrs ms dr prof sir lady aunt uncle grandma grandpa mum mom dad "
    "in at on to from by for with near of and or but so then when while after before since as if because although "
    "high middle primary elementary secondary grammar nursery night summer sunday law medical business graduate grad driving "
    "dance art music cooking language public private state local national international general central city community "
    "animal veterinary dental eye children's women's men's new old big small first last next main same "
    "north south east west northern southern eastern western royal book tennis football golf yacht chess fitness investment "
    "software insurance coffee bank school university college company hospital yes also later now today yesterday tomorrow "
    "last monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas easter thanksgiving halloween".split()
)
# A capital letter that names neither a thing nor a place.
NEVER_NAMES = frozenset(
    "i the user monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas easter thanksgiving halloween english chinese mandarin cantonese "
    "french german spanish italian japanese korean russian portuguese arabic hindi dutch polish greek latin thai vietnamese "
    "american british indian canadian australian european asian african mexican brazilian irish scottish turkish buddhist "
    "christian catholic muslim jewish hindu god ok tv phd mba dj ceo cto cfo hr pr qa ai it ui ux api pc usb adhd add diy "
    "covid spring summer autumn fall winter mum mom dad grandma grandpa mother father aunt uncle".split()
)
# Such words do tell one museum or library from others, where those of languages don't.
NATIONS = frozenset(
    "american british canadian australian european asian african irish scottish mexican".split()
)
# After these, a capital letter begins the name of somebody's employer or school.
EMPLOYER_CUES = (
    r"(?:teaches|taught|teaching|studies|studied|studying) at|"
    r"(?:works?|worked|working|interns?|interned|interning|jobs?|position|role|internship|offer|employed|engineer|manager|developer|designer|analyst|nurse|lawyer|consultant|accountant|"
    r"director|intern|scientist|researcher|editor|recruiter) (?:at|for|from|by)|hired by|laid off (?:from|by)|"
    r"graduated from|(?:ceo|cto|cfo|head|founder|co-founder) of|enrolled (?:at|in)|interview(?:ed|ing|s)? (?:at|with)|joined|"
    r"joining|left"
)
# After these, a place: read of names that are people's or words too (Austin, Reading).
PLACE_CUES = (
    r"(?:in|lives? in|lived in|living in|moved to|moving to|moves to|move to|relocat\w+ to|born in|raised in|grew up in|based in|"
    r"went to|going to|flew to|flying to|fly to|flies to|trip to|trips to|travel(?:s|l?ed|l?ing)? to|back to|back from|"
    r"visit(?:s|ed|ing)?|vacation in|holiday in|from|near|around|outside|across|arrived in|drove to|honeymoon in|studied in|"
    r"studies in|works? in|worked in|house in|flat in|apartment in|home in|weekend in|office in|hometown of|city of|from \w+ to)"
)
WORK_NOUNS = (
    r"(?:book|novel|novella|memoir|film|movie|documentary|song|album|single|series|show|tv show|sitcom|drama|anime|manga|"
    r"comic|graphic novel|musical|play|opera|ballet|podcast|game|video game|board game|poem|short story|painting|trilogy)s?"
)
# Before a title without quotation marks or a noun.
WORK_VERBS = (
    r"(?:re-?read(?:s|ing)?|finished reading|is reading|are reading|was reading|been reading|loves reading|re-?watch(?:es|ed|ing)?|"
    r"binge-?watch(?:es|ed|ing)?|finished watching|is watching|are watching|was watching|been watching|episodes? of|"
    r"season (?:\d+|one|two|three|finale) of|soundtrack of|chapters? of|copy of|performance of|production of|author of)"
)
PEOPLE_CUES = (
    r"(?:singer|actor|actress|author|writer|novelist|poet|director|composer|painter|artist|player|coach|president|professor|"
    r"footballer|comedian|rapper|pianist|violinist|philosopher|scientist|architect|"
    r"(?:books?|novels?|albums?|songs?|poems?|paintings?|films?|movies?|written|directed|composed|painted) by)"
)
