"""The forms of the dashboard: a person, and a question tried in the playground."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accounts.reasons import CodedError
from contacts import store
from contacts.edit import NameTaken
from contacts.lookup import HISTORY, MOST_STAY
from contacts.models import Contact
from dashboard import words
from memories.context.request import ALL


def with_value(
    values: Sequence[str], old: str, new: str, *, single: bool, most: int | None = None
) -> list[str]:
    """The values with ``new`` in place of ``old`` (compared up to ``most`` characters): without an
    old one it is added, without a new one the old one goes. ``single``: the new one is the only one."""
    if single and new:
        return [new]
    same = [" ".join(one.split())[:most] == old for one in values]
    after = [new if is_old else one for one, is_old in zip(values, same, strict=True)]
    return list(dict.fromkeys(filter(None, after if old else [*values, new])))


class VerbForm(forms.Form):
    """A form whose verb may refuse what it says."""

    holder: UUID | None = None  # the other contact of the name

    @contextmanager
    def refusals(self, field: str | None = None) -> Iterator[None]:
        """Makes what a verb refuses an error of the form, at ``field`` or the name that is taken."""
        try:
            yield
        except NameTaken as error:
            self.holder = error.holder
            self.add_error("name", _("Someone of this name is already known."))
        except CodedError as error:
            self.add_error(field, words.reason(error.reason))


class PersonForm(VerbForm):
    """A new person, or who somebody is."""

    shown = ("name", "relationship", "gender", "personality")
    name = forms.CharField(label=_("Name"), max_length=200)
    relationship = forms.CharField(
        label=_("Relationship (optional)"),
        max_length=200,
        required=False,
        help_text=_("What they are to the end user, in the end user's words: sister, colleague."),
    )
    gender = forms.ChoiceField(
        label=_("Gender"),
        required=False,
        choices=[("", _("Unknown")), ("female", _("Female")), ("male", _("Male"))],
    )
    personality = forms.CharField(
        label=_("Personality (optional)"),
        max_length=2000,
        required=False,
        widget=forms.Textarea({"rows": 3}),
    )
    why = forms.CharField(
        label=_("Reason (optional)"),
        max_length=500,
        required=False,
        help_text=_("Kept with the change for whoever reads it later."),
    )
    namesake = forms.BooleanField(
        label=_("This is another person of the same name"), required=False
    )

    def clean_name(self) -> str:
        try:
            return store.clean_name(self.cleaned_data["name"])
        except store.InvalidContact as error:
            raise ValidationError(
                _("A name needs at least one letter or digit."), code="name"
            ) from error

    def changed_values(self, contact: Contact) -> dict[str, Any]:
        """What was changed in the form and differs from what is known of the contact."""
        given, sent = self.cleaned_data, self.data
        return {
            field: given[field]
            for field in self.shown
            if given[field] != getattr(contact, field)
            and sent.get(f"initial-{field}") != sent.get(field)
        }


class SplitForm(VerbForm):
    """The person that some memories are about instead."""

    name = PersonForm.base_fields["name"]
    relationship = PersonForm.base_fields["relationship"]
    why = PersonForm.base_fields["why"]
    clean_name = PersonForm.clean_name


class ContentForm(VerbForm):
    """What a memory says."""

    content = forms.CharField(
        label=_("What it says"), max_length=10_000, widget=forms.Textarea({"rows": 4})
    )
    why = PersonForm.base_fields["why"]

    def clean_content(self) -> str:
        return " ".join(self.cleaned_data["content"].split())


BY_HAND = "hand"
SESSION = "session:"  # before the id of a stored session
_SAYS = re.compile(r"\s*(user|用户|assistant|助手)\s*[:：]\s?(.*)", re.I | re.S)
_ROLES = {"user": "user", "用户": "user", "assistant": "assistant", "助手": "assistant"}

Turn = tuple[str, str]


def turns(text: str) -> list[Turn]:
    """The turns of ``user: …`` and ``assistant: …`` lines; other lines go on with the turn
    above. Raises ValidationError where the first line says no role."""
    read: list[Turn] = []
    for line in text.strip().splitlines():
        if begins := _SAYS.fullmatch(line):
            read.append((_ROLES[begins[1].lower()], begins[2]))
        elif read:
            read[-1] = (read[-1][0], f"{read[-1][1]}\n{line}")
        elif line.strip():
            raise ValidationError(_("Begin each turn with “user:” or “assistant:”."))
    return read[-HISTORY:]


class QuestionForm(forms.Form):
    """A message of the end user, what was said before it, and how much is wanted."""

    message = forms.CharField(
        max_length=20_000,
        error_messages={"required": _("Write a message first.")},
    )
    before = forms.CharField(max_length=220, required=False)
    history = forms.CharField(max_length=50_000, required=False)
    limit = forms.IntegerField(min_value=1, max_value=100, initial=10)
    token_budget = forms.IntegerField(min_value=1, max_value=100_000, initial=1500)
    keep_cards = forms.IntegerField(
        min_value=0, max_value=MOST_STAY, initial=lambda: settings.MIO_KEEP_CARDS, required=False
    )
    include = forms.MultipleChoiceField(
        choices=[
            ("user", _("The user's card")),
            ("cards", _("Cards")),
            ("linked", _("Memories of people")),
            ("search", _("Search")),
            ("dates", _("Important dates")),
        ],
        initial=list(ALL),
        required=False,
    )

    @property
    def chosen(self) -> str:
        """The value of ``before`` as it stands in the form."""
        return str(self["before"].value() or SESSION)

    @property
    def parts(self) -> Sequence[str]:
        """The parts that stand checked in the form."""
        return self["include"].value() or ()

    def clean(self) -> dict[str, Any]:
        """The arguments of ``build.trace`` beside the end user."""
        cleaned = super().clean() or {}
        before, history = cleaned.pop("before", ""), cleaned.pop("history", "")
        cleaned |= {"session_id": "", "history": []}
        if before != BY_HAND:
            cleaned["session_id"] = before.removeprefix(SESSION)
        else:
            try:
                cleaned["history"] = turns(history)
            except ValidationError as error:
                self.add_error("history", error)
        return cleaned
