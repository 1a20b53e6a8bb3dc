"""What users asked in a chat to forget: the list, decisions, and erasing it without waiting."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts import fields
from accounts.api import UserView, Validated, operation
from accounts.errors import conflict, first_or_404
from accounts.paging import PageQuery, page, page_of
from contacts.models import Contact
from memories.context.types import Forgetting, forgetting
from memories.erasure import erase
from memories.erasure.erase import decide
from memories.erasure.receipts import By
from memories.models import Erasure, Message

MOST = 500  # decisions in one call
STATES = ["hidden", "erased", "cancelled", "not_found", "unclear"]


# Something that a user asked in a chat to forget.
ForgettingSerializer: Any = type(
    fields.of_dataclass(
        Forgetting,
        "Forgetting",
        state=serializers.ChoiceField(STATES),
        change_id=fields.undo_id("null when nothing is hidden"),
    )
)


class UndecidedMessage(serializers.ModelSerializer):
    """A message that may mean a forgotten person."""

    class Meta:
        model = Message
        fields = ["id", "role", "content", "session_id", "created_at"]


class UndecidedContact(serializers.ModelSerializer):
    """A contact that may be the same person under another name."""

    class Meta:
        model = Contact
        fields = ["id", "name", "aliases", "relationship"]


class ForgettingDetail(ForgettingSerializer):
    """The report of an erasure: what it left to be decided."""

    undecided_messages = UndecidedMessage(many=True)
    undecided_contacts = UndecidedContact(many=True)


def _id_list(item: serializers.Field, description: str) -> fields.BoundedList:
    return fields.BoundedList(child=item, default=list, max_length=MOST, help_text=description)


class DecideBody(fields.Strict):
    """Decisions on messages and contacts that are undecided."""

    redact = _id_list(fields.Whole(), "Messages that mean the person.")
    keep = _id_list(fields.Whole(), "Messages that do not.")
    forget = _id_list(fields.Identifier(), "Contacts that are the same.")
    keep_people = _id_list(fields.Identifier(), "Contacts that are not.")


class NoBody(fields.Strict):
    """Nothing, or an empty object."""


def _rows_as_json(rows: Sequence[Erasure]) -> list[dict[str, Any]]:
    requests = [asdict(forgetting(row)) for row in rows]
    return list(ForgettingSerializer(requests, many=True).data)


def _detail(erasure: Erasure) -> dict[str, Any]:
    messages = Message.objects.of(erasure.end_user_id).filter(pk__in=erasure.unsure_message_ids)
    contacts = Contact.objects.of(erasure.end_user_id).light()
    report = asdict(forgetting(erasure)) | {
        "undecided_messages": messages.order_by("seq"),
        "undecided_contacts": contacts.filter(pk__in=erasure.unsure_contact_ids).order_by("name"),
    }
    return dict(ForgettingDetail(report).data)


class Forgettings(UserView):
    @operation("forgetting_list", page_of(ForgettingSerializer), query=PageQuery)
    def get(self, query: Validated) -> Any:
        """What the user asked in a chat to forget, the latest first"""
        rows = Erasure.objects.of(self.end_user).defer("words", "names", "message_ids")
        return page(self.request, rows, "requested_at", query, _rows_as_json)


class OneForgetting(UserView):
    @operation("forgetting_retrieve", ForgettingDetail)
    def get(self, erasure_id: UUID) -> Any:
        """What an erasure left to be decided

        Messages that may mean the forgotten person, and contacts that may be them."""
        rows = Erasure.objects.of(self.end_user).filter(pk=erasure_id)
        return _detail(first_or_404(rows, "unknown_forgetting"))


class Decide(UserView):
    @operation("forgetting_decide", ForgettingDetail, body=DecideBody)
    def post(self, asked: Validated, erasure_id: UUID) -> Any:
        """Decide what an erasure left undecided

        What is redacted or forgotten is erased for good; what is kept is not asked about again. 404
        when something is not among what is undecided."""
        return _detail(decide(self.end_user, erasure_id, **asked, by=By(self.actor)))


class Erase(UserView):
    @operation("forgetting_erase", ForgettingSerializer, body=NoBody)
    def post(self, _asked: Validated, erasure_id: UUID) -> Any:
        """Erase now what the user asked to forget

        This can't be undone. 409 if the hiding was undone before; what is erased already stays
        so."""
        rows = Erasure.objects.of(self.end_user).filter(pk=erasure_id)
        first_or_404(rows, "unknown_forgetting")
        erase.carry_out(erasure_id, self.actor)
        erasure = rows.get()
        if erasure.state == Erasure.State.CANCELLED:
            raise conflict("The hiding was undone, so nothing is to be erased.")
        return _rows_as_json([erasure])[0]
