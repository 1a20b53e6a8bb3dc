"""What a conversation puts right about known people: a better name, a name that was wrong, two who
turn out to be one."""

from collections.abc import Mapping

from accounts.models import EndUser
from accounts.reasons import Reason
from contacts import edit, merge, suggestions
from contacts.models import Contact
from memories.corrections import merge_contacts
from memories.corrections.denials import Denials
from memories.types import ExtractedPerson, Extraction, SamePerson
from understanding import names

ACTOR = "extractor"


def correct_contacts(
    end_user: EndUser, extraction: Extraction, contacts: Mapping[str, Contact], denied: Denials
) -> None:
    """Each as a change of its own, which can be undone. ``contacts`` are those of the extraction's
    refs. The caller holds the end user's lock."""
    for person in extraction.people:
        if person.ref in contacts and (person.better_name or person.wrong_aliases):
            _name(end_user, person, contacts[person.ref], denied)
    for same in extraction.same:
        if same.one in contacts and same.other in contacts:
            _unite(end_user, same, contacts[same.one], contacts[same.other])


def _name(end_user: EndUser, person: ExtractedPerson, contact: Contact, denied: Denials) -> None:
    """The better name, with the old one as an alias, and without the aliases that were wrong."""
    wrong = {names.name_key(alias) for alias in person.wrong_aliases}
    [better] = denied.aliases(contact.pk, [person.better_name]) or [""]
    name = better or contact.name
    aliases = [contact.name, *contact.aliases] if better else contact.aliases
    gone = wrong - {names.name_key(name)}
    kept = [alias for alias in aliases if names.name_key(alias) not in gone]
    if name == contact.name and kept == contact.aliases:
        return
    why = Reason("called_better", name=name) if better else Reason("not_called_so")
    try:
        edit.edit_contact(
            end_user,
            contact.pk,
            {"name": name, "aliases": kept},
            actor=ACTOR,
            why=why.stored,
        )
    except edit.NameTaken:
        return  # somebody else's: whose it is then is for a person to say


def _unite(end_user: EndUser, same: SamePerson, one: Contact, other: Contact) -> None:
    """Merges the two where the user said so in words; else they are suggested."""
    pair = (one.pk, other.pk)
    if not same.quote:
        suggestions.suggest_one(end_user, pair)
        return
    survivor, loser = suggestions.survivor_first(end_user, pair)
    why = Reason("said_same", quote=same.quote).stored
    try:
        merge_contacts.merge(end_user, loser, survivor, actor=ACTOR, why=why)
    except merge.InvalidMerge:
        return  # one already, or parted by a person
