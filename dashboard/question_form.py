"""What is tried in the playground."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from contacts.lookup import HISTORY
from memories.context import build

BY_HAND = "hand"
SESSION = "session:"  # before the id of a stored session
_SAYS = re.compile(r"\s*(user|用户|assistant|助手)\s*[:：]\s?(.*)", re.I | re.S)
_ROLES = {"user": "user", "用户": "user", "assistant": "assistant", "助手": "assistant"}

Turn = tuple[str, str]


def turns(text: str) -> list[Turn]:
    """The turns of ``user: …`` and ``assistant: …`` lines; other lines go on with the turn
    above. Raises ValidationError where the first line says no role."""
    found: list[Turn] = []
    for line in text.strip().splitlines():
        if said := _SAYS.fullmatch(line):
            found.append((_ROLES[said[1].lower()], said[2]))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}")
        elif line.strip():
            raise ValidationError(_("Begin each turn with “user:” or “assistant:”."))
    return found[-HISTORY:]


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
    include = forms.MultipleChoiceField(
        choices=[
            ("cards", _("Cards")),
            ("linked", _("Memories of people")),
            ("search", _("Search")),
        ],
        initial=list(build.ALL),
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
        """``session_id`` and ``turns`` beside what was sent."""
        cleaned = super().clean() or {}
        before = cleaned.get("before", "")
        cleaned["session_id"] = before.removeprefix(SESSION) if before != BY_HAND else ""
        cleaned["turns"] = []
        if before == BY_HAND:
            try:
                cleaned["turns"] = turns(cleaned.get("history", ""))
            except ValidationError as error:
                self.add_error("history", error)
        return cleaned

    def asked(self) -> dict[str, Any]:
        """The arguments of ``inject.trace`` beside the end user."""
        data = self.cleaned_data
        return {
            "message": data["message"],
            "session_id": data["session_id"],
            "history": data["turns"],
            "limit": data["limit"],
            "token_budget": data["token_budget"],
            "include": data["include"],
        }
