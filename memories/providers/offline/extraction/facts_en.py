"""What an English clause states about its subject: attribute keys and values in its own words."""

import re

from contacts.lexicon import alternation, rows, words
from memories.providers.offline.extraction.facts_zh import Value
from memories.providers.offline.extraction.polarity import FORMER, Standing, english
from memories.providers.offline.lexicons import demonyms, english_places

_STOP = r"(?=$|[,.;!?:]|\s(?:and|but|so|because|since|who|which|that|now|these days|right now|for|until|from|to|at|in|on|with|as|this|next|last|every|after|before|when|while|though|then|again|lol|by|near|under|there|starting)\b)"
_WORDS = r"[A-Za-zÀ-ÿ0-9&'’/+.-]+"
_PROPER = r"(?:[A-ZÀ-Þ][\w&'’À-ÿ.-]*(?:\s(?:of|the|and|de|for)\s(?=[A-Z])|\s(?=[A-Z]))?)+"
_JOB = rf"(?:(?:\w+[- ]){{0,3}}?(?:{alternation(words('occupations', 'en'))}))"
_FIELD = rf"(?:{alternation(words('occupations', 'fields_en'))})"
_ILLNESS = rf"(?:{alternation(words('ailments', 'en'))}|type [12] diabetes|\w+ cancer|lactose intolera\w+|a bad (?:back|knee|hip|shoulder))"
_CALENDAR = alternation(
    row["name"].title() for table in ("months", "weekdays") for row in rows(table)
)
_ANIMAL = rf"(?:{alternation(words('animals', 'en'))})"


def _rule(key: str, pattern: str, flags: int = re.I) -> tuple[str, re.Pattern[str]]:
    return key, re.compile(pattern, flags)


_RULES: list[tuple[str, re.Pattern[str]]] = [
    _rule("birthday", r"\bbirthday(?:'s| is| falls)?(?: on| in)?\s(?P<v>(?:the )?(?:[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?|\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+|\w+ ?\d*)(?:,? \d{4})?)"),
    _rule("birthday", r"\bborn (?:on|in)\s(?P<v>(?:[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|[A-Z][a-z]+ \d{4}|\d{4}))"),
    _rule("age", r"\b(?:is|'s|was|turns?|turned|turning|am|are|'m)\s(?:now |only |just |about to turn |nearly |almost )?(?P<v>\d{1,3})(?=$|[,.!]|\s(?:years? old|today|tomorrow|this|next|in|on|now|and|yrs?|last)\b)"),
    _rule("age", r"\b(?P<v>\d{1,3})[- ](?:years?|yrs?)[- ]old\b"),
    _rule("age", r"\b(?P<v>\d{1,2} months? old)\b"),
    _rule("company", rf"\b(?:works?|working|worked|job|role|position|engineer|manager|(?!(?:beer|cheer|career)\s)\w+eer|(?!(?:dinner|partner|corner|manner)\s)\w+ner|teacher|(?!(?:list|twist|wrist|fist)\s)\w+ist|intern(?:ing|s)?|\w+yst)\s(?:now |full[- ]time |part[- ]time )?(?:at|for|with)\s(?P<v>(?:(?:a|an|the)\s)?(?:{_PROPER}|{_WORDS}(?:\s{_WORDS}){{0,3}}?)){_STOP}", 0),
    _rule("company", rf"\b(?:joined|joining|joins|hired by|got into|offer from|started at|starting at|starts at|working for|works for|switched to|transferred to|runs|founded|owns)\s(?P<v>(?!a\b|the\b){_PROPER}){_STOP}", 0),
    _rule("company", rf"\b(?:got|landed|found|has|took|started)\sa\s(?:new\s)?(?:job|position|role|gig|internship)\s(?:at|with|in)\s(?P<v>(?:(?:a|an|the)\s)?(?:{_PROPER}|{_WORDS}(?:\s{_WORDS}){{0,3}}?(?:\sin\s{_PROPER})?))(?=$|[,.;!])", 0),
    _rule("former_company", rf"\b(?:[Ee]x[- ]|formerly (?:at|of|with) |used to work (?:at|for) |left (?:her|his|their|my)? ?(?:job|post) at |came from |previously (?:at|with) |quit |quits |resigned from |laid off (?:from|by) |fired from )(?P<v>{_PROPER})", 0),
    _rule("job_title", rf"\b(?:is|'s|was|am|are|'m|works? as|working as|became|becoming|hired as|job as|started as|promoted to|training to be|studying to be)\s(?:now\s|still\s|also\s|actually\s)?(?:an?|the|our|my|their|her|his)?\s?(?:new\s|retired\s(?=x))?(?P<v>{_JOB})(?=$|[,.;!?]|\s(?:at|for|in|with|on|who|and|by|there|here|now|from)\b)"),
    _rule("job_title", rf"(?:^|,\s)(?:still\s|now\s)?(?:an?\s)?(?P<v>{_JOB})(?=$|\s(?:at|for|in)\b)"),
    _rule("job_title", r"\bworks? in (?P<v>" + _FIELD + r")\b"),
    _rule("job_title", r"^(?:yes,?\s|yeah,?\s)?(?P<v>" + _FIELD + r")$"),
    _rule("job_title", r"\b(?:teaches|does|doing|sells|runs|fixes|repairs)\s(?P<v>(?:\w+\s){0,2}?\w+)(?=$|[,.]|\sat\b|\sin\b)"),
    _rule("former_location", rf"\b(?:moved|moving|relocated|relocating)\s(?:\w+\s)?from\s(?P<v>(?:the\s)?{_PROPER}){_STOP}", 0),
    _rule("location", rf"\b(?:lives?|living|lived|based|settled|stays|staying|resides?|moved|moving|moves|relocated|relocating|transferred|back)\s(?:back\s|over\s|out\s|up\s|down\s|alone\s|with\s\w+\s|here\s)?(?:from\s(?:the\s)?{_PROPER}\s)?(?:in|to|near|at)\s(?P<v>(?:the\s)?{_PROPER}(?:,\s{_PROPER})?)", 0),
    _rule("location", r"(?:\b(?:is|are|was|'s|now|still|back|over|out|be|been|job|office|hospital|apartment|flat|house|here)\sin|^in)\s(?P<v>{PLACE}(?:,\s[A-Z]\w+)?)(?! and (?:back|then))", 0),
    _rule("hometown", rf"\b(?:is|'s|am|'m|are|comes?|originally|hails?)\s(?:originally\s)?from\s(?P<v>{_PROPER}(?:(?:,| in)\s{_PROPER})?)", 0),
    _rule("hometown", rf"\b(?:grew up|was born|raised|born and raised)\sin\s(?P<v>{_PROPER}(?:,\s{_PROPER})?)", 0),
    _rule("nationality", r"\b(?:is|'s|am|'m)\s(?:half[- ])?(?P<v>{DEMONYM})\b", 0),
    _rule("school", rf"\b(?:at|attends?|goes to|went to|got into|accepted (?:to|into|at)|graduated from|studying at|studies at|freshman at|sophomore at|junior at|senior at|enrolled (?:at|in)|transfer(?:red|ring) to)\s(?P<v>(?:the\s)?(?:University of {_PROPER}|{_PROPER}(?:University|College|School|Institute|Academy|High)|UC \w+|MIT|UCLA|NYU|USC|Stanford|Harvard|Yale|Princeton|Oxford|Cambridge|Berkeley|Columbia|Cornell|Georgetown|{_PROPER} State|grad school|med school|law school|community college))", 0),
    _rule("major", rf"\b(?:stud(?:y|ies|ied|ying)|major(?:s|ing|ed) in|degree in|phd in|master's in|doing a \w+ in|minor in)\s(?P<v>{_WORDS}(?:\s{_WORDS}){{0,3}}?){_STOP}"),
    _rule("education", r"\b(?P<v>freshman|sophomore|(?:high school|college) (?:junior|senior)|PhD(?: student| candidate)?|grad student|postdoc|kindergart\w+|(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth) grade)\b"),
    _rule("allergy", rf"\ballergic to\s(?P<v>{_WORDS}(?:\s{_WORDS}){{0,3}}?)(?=$|[,.;!]|\s(?:and (?:i|she|he|can't|has|is|\w+s)\b|so|but|which|too|as|since|or (?:she|he))\b)"),
    _rule("allergy", r"\b(?:has an?|have an?)\s(?:severe |bad |mild |serious )?(?P<v>\w+(?: \w+)?) allergy\b"),
    _rule("health", rf"\b(?:has|have|had|got|diagnosed with|suffers? from|struggl\w+ with|recovering from|is|'s|'m|am|with|down with|caught)\s(?:\w+\s){{0,2}}?(?P<v>{_ILLNESS})\b"),
    _rule("health", r"\b(?:broke|sprained|twisted|tore|fractured|injured|hurt|dislocated)\s(?:her|his|my|the|a|\w+'s)\s(?P<v>(?:left |right )?\w+)\b"),
    _rule("health", r"\b(?P<v>(?:her|his|my) (?:knees?|back|hip|shoulder|eyes?|heart|stomach|hearing|eyesight|ankle|wrist|blood pressure|cholesterol|blood sugar) (?:is|are|'s|has been|have been)? ?(?:bad|acting up|killing (?:her|him|me)|high|low|weak|failing|hurts?))"),
    _rule("health", r"\b(?P<v>(?:\w+ )?surgery|chemo(?:therapy)?|lactose intolerant|left-handed|colou?r-?blind|motion sick\w*)\b"),
    _rule("medication", r"\b(?:takes?|taking|on|prescribed)\s(?P<v>\w+(?:statin|pril|sartan|formin|cillin|zole|xetine|insulin)|insulin|statins?|antibiotics|antidepressants|ibuprofen)\b"),
    _rule("diet", r"\b(?P<v>vegetarian|vegan|pescatarian|gluten[- ]free|dairy[- ]free|kosher|halal|keto|paleo)\b"),
    _rule("dislikes", rf"\b(?:hates?|hated|can'?t stand|cannot stand|dislikes?|doesn'?t (?:really )?(?:like|eat|drink|enjoy|do)|don'?t (?:really )?(?:like|eat|drink|enjoy)|not (?:a fan of|into|fond of)|despises?|detests?|loathes?|avoids?|afraid of|scared of|terrified of|never (?:eats?|drinks?))\s(?P<v>(?!because\b|since\b|so\b|too\b|and\b|but\b|any ?more\b){_WORDS}(?:\s{_WORDS}){{0,5}}?)(?=$|[,.;!]|\s(?:and|but|so|because|since|which)\b)"),
    _rule("likes", rf"\b(?<!n't )(?<!n’t )(?<!not )(?<!really )(?:(?:really |absolutely |truly )?(?:loves?|likes?|adores?|enjoys?|prefers?)|(?:is|'s|am|'m|are) (?:really |super |totally |big )?(?:into|obsessed with|crazy about|fond of|a (?:huge |big )?fan of|addicted to)|swears by|favou?rite \w+ is)\s(?P<v>(?!it\b|that\b|this\b|him\b|her\b|you\b|them\b|me\b|to be honest){_WORDS}(?:\s{_WORDS}){{0,5}}?)(?=$|[,.;!]|\s(?:and|but|so|because|since|which|when|now|these days|too)\b)"),
    _rule("interests", r"\b(?:plays?|playing|practices|practising|learning|took up|takes up|taken up|picked up|started|into|goes|go|loves|does|taking|teaches|coaches)\s(?:the\s)?(?P<v>piano|guitar|violin|cello|drums|bass|flute|saxophone|chess|tennis|soccer|football|basketball|volleyball|badminton|golf|hockey|rugby|cricket|squash|pickleball|softball|baseball|poker|D&D|video games|pottery|yoga|pilates|salsa|ballet|tango|karate|judo|boxing|fencing|archery|hiking|climbing|rock climbing|bouldering|running|jogging|swimming|surfing|skiing|snowboarding|sailing|kayaking|fishing|camping|cycling|biking|knitting|crochet|sewing|baking|cooking|gardening|painting|drawing|photography|birdwatching|birding|woodworking|brewing|dancing|singing|skating|rowing|ceramics|calligraphy|astronomy|beekeeping|ice skating|martial arts|crossfit|marathons?|triathlons?)\b"),
    _rule("interests", r"\b(?P<v>runs) (?:too|marathons|every|\d)"),
    _rule("pet", rf"\b(?:has|have|got|adopted|rescued|bought|owns?|gave me)\s(?P<v>(?:an?|two|three|four|five|six|\d|a pair of|her|his|their)\s(?:\w+\s){{0,3}}?{_ANIMAL}(?:\s(?:named|called)\s[A-Z]\w+)?)\b"),
    _rule("marital_status", r"\b(?P<v>engaged|married|divorced|single|separated|widowed|broke up|broken up|getting divorced|dating)\b(?!\s(?:out|people|mom|mother|parent|handed|malt))"),
    _rule("family", r"\b(?:has|have|got|had|expecting|gave birth to|raising|is having)\s(?P<v>(?:an?|two|three|four|\d|twin|baby|their|newborn)\s?(?:\w+\s){0,2}?(?:kids?|children|sons?|daughters?|twins?|boys?|girls?|bab(?:y|ies)|toddlers?|brothers?|sisters?|siblings?|grandkids|grandchildren))\b"),
    _rule("language", r"\b(?:speaks?|fluent in|learning|studying|native)\s(?P<v>(?:Mandarin|Chinese|Cantonese|English|French|Spanish|German|Japanese|Korean|Italian|Portuguese|Russian|Arabic|Hindi|Dutch|Swedish|Greek|Turkish|Vietnamese|Thai|Polish|Hebrew|Swahili|Bengali|Urdu|Punjabi|Tamil|sign language)(?:(?:,| and)\s[A-Z]\w+)*)"),
    _rule("vehicle", r"\b(?:drives?|bought|got|leased|owns?|has)\s(?P<v>an?\s(?:(?:used|new|old|red|blue|black|white|second-hand|electric|\d{4})\s){0,2}(?:Honda|Toyota|Ford|Tesla|BMW|Audi|Mercedes|Subaru|Mazda|Nissan|Hyundai|Kia|Jeep|Volvo|Volkswagen|VW|Chevy|Chevrolet|Porsche|Lexus|Prius|Civic|Corolla|Camry|truck|van|pickup|motorcycle|motorbike|scooter|Vespa|minivan|SUV|car|bike)\b(?:\s[A-Z]\w+)?)", 0),
    _rule("possession", r"\b(?:bought|owns|purchased)\s(?P<v>(?:an?|the|their|her|his)\s(?:(?:\w+)\s){0,3}?(?:house|condo|apartment|flat|cabin|farm|boat|studio|cottage|place|restaurant|bakery|shop|store|café|cafe|bookstore|brewery))\b"),
    _rule("personality", r"\b(?:is|'s|am|'m|super|so|very|really|pretty)\s(?:so |very |really |super |pretty |quite |incredibly |just )?(?P<v>(?!kind of)(?:shy|outgoing|introverted|extroverted|an introvert|an extrovert|chill|detail-oriented|stubborn|generous|funny|kind|blunt|anxious|ambitious|competitive|organi[sz]ed|messy|punctual|impatient|patient|quiet|talkative|nosy|sarcastic|thoughtful|strict|easygoing|laid-back|a night owl|an early bird|a morning person|a workaholic|a perfectionist|a picky eater|a homebody|forgetful))\b"),
    _rule("habit", rf"\b(?P<v>(?:only|always|never(?!\s(?:been|had|seen|met|\w+ed)\b)|usually)\s{_WORDS}(?:\s{_WORDS}){{1,7}}?)(?=$|[,.;!])"),
    _rule("habit", rf"\b(?P<v>(?:{_WORDS}\s){{1,6}}?every (?:day|morning|night|evening|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?)\b"),
    _rule("plan", rf"\b(?:plans? to|planning to|planning on|hoping to|hopes to|intends? to|decided to)\s(?P<v>(?!be\b$|do it\b){_WORDS}(?:\s{_WORDS}){{0,11}}?)(?=$|[,.;!]|\s(?:but|because|so|although|since|if)\b)"),
]  # fmt: skip
_NOT_VALUE = re.compile(
    r"^(?:it|that|this|them|him|her|you|me|what|so|too|a|the|an|there|here|everything|something|anything|nothing|work|home|all)$",
    re.I,
)
_WEAKER = {
    "location": {"school", "hometown", "company"},
    "company": {"school", "former_company", "location"},
    "job_title": {"interests", "family", "education"},
    "likes": {"interests", "dislikes"},
    "habit": {"interests", "dislikes", "likes"},
    "plan": {"habit", "likes"},
    "personality": {"marital_status"},
    "family": {"pet"},
    "major": {"language"},
    "health": {"allergy"},
    "nationality": {"language"},
}


def facts(text: str) -> list[Value]:
    """The attribute values that ``text`` (one English clause) states."""
    found: list[Value] = []
    for key, pattern in _filled():
        for match in pattern.finditer(text):
            value = re.sub(r"^(?:the|a|an)\s(?=[a-z])", "", match.group("v").strip(" ,.'’"))
            value = re.sub(r"\s(?:any ?more|any longer)$", "", value)
            if not value or _NOT_VALUE.match(value):
                continue
            stands = english(key, text, match)
            if stands is Standing.NOT or (stands is Standing.PAST and key not in FORMER):
                continue
            span = match.span("v")
            if key in {"location", "hometown"} and re.match(
                rf"(?:{_CALENDAR}|Christmas|I\b)",
                value,
            ):
                continue
            kept = FORMER[key] if stands is Standing.PAST else key
            shut = _WEAKER.get(key, set()) | {key, kept}
            if any(v.key in shut and v.start < span[1] and span[0] < v.end for v in found):
                continue
            found.append(Value(kept, value, *span))
    return found


_compiled: list[tuple[str, re.Pattern[str]]] = []


def _filled() -> list[tuple[str, re.Pattern[str]]]:
    """The rules with places and nationalities filled in, made once."""
    if not _compiled:
        places = alternation(english_places())
        people = alternation(demonyms())
        for key, pattern in _RULES:
            source = pattern.pattern.replace("{PLACE}", f"(?:{places})\\b").replace(
                "{DEMONYM}", f"(?:{people})"
            )
            _compiled.append((key, re.compile(source, pattern.flags)))
    return _compiled
