"""What speaks for and against two contacts being one person, in the reader's language."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from dashboard import words

# The words of contacts.likeness.signs, here so that the catalogue of translations finds them;
# a test holds the two together.
SIGNS = {
    "same_name": _("Both are called {first}."),
    "same_byname": _("Both are called {first}, as others may be."),
    "pinyin": _("{first} and {second} are one name in two scripts."),
    "part_of_name": _("{first} and {second} share a name."),
    "nickname": _("{first} and {second} are nicknames from one name."),
    "diminutive": _("{first} and {second} are forms of one given name."),
    "titled_name": _("{first} and {second} are one surname with a form of address."),
    "spelling": _("{first} and {second} are spellings of one name."),
    "homophone": _("{first} and {second} sound alike."),
    "transliteration": _("{first} sounds like {second} in another script."),
    "other_name": _("{first} and {second} are different names."),
    "other_byname": _("{first} and {second} have nothing in common."),
    "other_script": _("{first} and {second} are unrelated names in two scripts."),
    "other_title": _("{first} and {second} are addressed differently."),
    "relative_of": _("One of {first} and {second} is named as belonging to the other."),
    "unnamed": _("One of {first} and {second} is a role, not a name."),
    "both_unnamed": _("{first} and {second} are different roles."),
    "same_role_word": _("{first} and {second} are words for one role."),
    "bond_same": _("Both are what “{first}” and “{second}” say, which is the same."),
    "bond_near": _("“{first}” and “{second}” may be said of one person."),
    "bond_other": _("“{first}” and “{second}” are different relationships."),
    "bond_opposed": _("“{first}” and “{second}” exclude one another."),
    "bond_alone": _("One has only one {first} at a time."),
    "bond_former": _("Only one of “{first}” and “{second}” is in the past."),
    "stated_name": _("It was said that {name} is also called {stated}: “{fact}”"),
    "stated_alike": _("Both are said to bear the name {name}: “{fact}”"),
    "stated_other": _("One is said to be called {stated}, the other {name}: “{fact}”"),
    "stated_apart": _("It was said that they are two people: “{fact}”"),
    "named_beside": _("A note about one names the other as someone else: “{fact}”"),
    "together": _("Both are named together as two people."),
    "words": _("Notes about both mention {words}."),
    "near": _("What is known about both is much alike."),
    "far": _("Nothing known about one fits what is known about the other."),
    "attribute_same": _("Both have the same {keys}."),
    "attribute_other": _("Their {keys} differ."),
    "birthday_other": _("Their birthdays differ: {first} and {second}."),
    "age": _("Their ages don't fit: “{first}” and “{second}”."),
    "gender": _("One is female, the other male."),
    "outlived": _("One had died before the other's: “{first}”, “{second}”."),
    "settled": _("One is single, the other has a family: “{first}”, “{second}”."),
    "succession": _("One came after the other: “{first}”, “{second}”."),
    "rivals": _("{count} people fit one of them as well."),
    "little_known": _("Little is known about one of them."),
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """``weight`` in the units of the comparison; negative speaks against."""

    text: str
    weight: float


def in_words(rows: Iterable[Mapping[str, Any]]) -> list[Evidence]:
    """A suggestion's evidence, what counts most first."""
    found = []
    for row in rows:
        template = SIGNS.get(row.get("code", ""))
        params = dict(row.get("params", {}))
        if "keys" in params:
            params["keys"] = words.attributes(params["keys"])
        if "words" in params:
            params["words"] = words.listed(params["words"].split(", "))
        text = gettext(template).format(**params) if template else row["text"]
        found.append(Evidence(text, float(row["weight"])))
    return sorted(found, key=lambda one: -abs(one.weight))
