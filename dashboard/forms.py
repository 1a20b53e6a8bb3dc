"""The forms of the dashboard: a person, the text of a memory, and a question for the playground;
and texts of single fields, cleaned."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.reasons import CodedError
from contacts import store
from contacts.edit import NameTaken
from contacts.lookup import HISTORY, MOST_STAY
from contacts.models import Contact
from dashboard import words
from memories.context.request import ALL
from understanding.text import clean

MAX_SEARCH = 200
MAX_VALUE = 500  # of an attribute
MAX_LABEL = 60  # of a key or a webhook


def typed(request: HttpRequest, name: str = "q") -> str:
    """Returns the text typed into a search field, without NUL characters, cut at MAX_SEARCH."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get(name, "").replace("\0", "").strip()[:MAX_SEARCH]


def typed_label(request: HttpRequest) -> str:
    """Returns the ``label`` that a form sent, on one line, at most MAX_LABEL long."""
    return clean(request.POST.get("label", ""), MAX_LABEL)[:MAX_LABEL]


def with_value(
    values: Sequence[str], old: str, new: str, *, single: bool, most: int | None = None
) -> list[str]:
    """Returns the values with ``new`` for ``old`` (compared up to ``most`` characters). Without
    ``old``, ``new`` is added; without ``new``, ``old`` goes; ``single``: only ``new`` stays."""
    if single and new:
        return [new]
    same = [" ".join(one.split())[:most] == old for one in values]
    after = [new if is_old else one for one, is_old in zip(values, same, strict=True)]
    return list(dict.fromkeys(filter(None, after if old else [*values, new])))


class VerbForm(forms.Form):
    """A form whose verb may refuse the values."""

    holder: UUID | None = None  # the contact that has the name already

    @contextmanager
    def refusals(self, field: str | None = None) -> Iterator[None]:
        """Turns a verb's refusal into an error at ``field``, or at ``name`` if that is taken."""
        try:
            yield
        except NameTaken as error:
            self.holder = error.holder
            self.add_error("name", _("Someone of this name is already known."))
        except CodedError as error:
            self.add_error(field, words.reason(error.reason))


class PersonForm(VerbForm):
    """The form to add a person, or to edit a person's name and basic facts."""

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
        """Returns the fields that were changed in the form and differ from the contact, by name."""
        cleaned, sent = self.cleaned_data, self.data
        return {
            field: cleaned[field]
            for field in self.shown
            if cleaned[field] != getattr(contact, field)
            and sent.get(f"initial-{field}") != sent.get(field)
        }


class SplitForm(VerbForm):
    """The form for a new person whom some memories are about instead."""

    name = PersonForm.base_fields["name"]
    relationship = PersonForm.base_fields["relationship"]
    why = PersonForm.base_fields["why"]
    clean_name = PersonForm.clean_name


class ContentForm(VerbForm):
    """The form to reword a memory."""

    content = forms.CharField(
        label=_("What it says"), max_length=10_000, widget=forms.Textarea({"rows": 4})
    )
    why = PersonForm.base_fields["why"]

    def clean_content(self) -> str:
        return " ".join(self.cleaned_data["content"].split())


BY_HAND = "hand"
SESSION = "session:"  # before the id of a stored session
_TURN_START = re.compile(r"\s*(user|用户|assistant|助手)\s*[:：]\s?(.*)", re.I | re.S)
_ROLES = {"user": "user", "用户": "user", "assistant": "assistant", "助手": "assistant"}

Turn = tuple[str, str]


def turns(text: str) -> list[Turn]:
    """Returns the last HISTORY turns of ``user: …`` and ``assistant: …`` lines; other lines
    continue the turn above. Raises ValidationError if the first line names no role."""
    parsed: list[Turn] = []
    for line in text.strip().splitlines():
        if start := _TURN_START.fullmatch(line):
            parsed.append((_ROLES[start[1].lower()], start[2]))
        elif parsed:
            parsed[-1] = (parsed[-1][0], f"{parsed[-1][1]}\n{line}")
        elif line.strip():
            raise ValidationError(_("Begin each turn with “user:” or “assistant:”."))
    return parsed[-HISTORY:]


class QuestionForm(forms.Form):
    """The playground's form: a message, the turns before it, and what the context may contain."""

    message = forms.CharField(
        max_length=20_000, error_messages={"required": _("Write a message first.")}
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
        """The current value of ``before``."""
        return str(self["before"].value() or SESSION)

    @property
    def parts(self) -> Sequence[str]:
        """The parts of ``include`` that are ticked."""
        return self["include"].value() or ()

    def clean(self) -> dict[str, Any]:
        """Returns the arguments of a ``ContextRequest``."""
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
