"""A whole end user over HTTP: export, erasure, and the user's own card."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

from accounts import fields
from accounts.api import UserEndpoint, UserView, Validated, operation
from accounts.cells import atomic
from accounts.models import EndUser
from contacts.serializers import Attributes
from memories import own_card, portability
from memories.api.serializers import Forgotten, with_change
from memories.corrections.edit_own_card import edit_own_card
from memories.erasure import erase
from memories.erasure.receipts import By
from understanding.attributes import ON_OWN_CARD


class Export(UserView):
    @operation("export_retrieve", OpenApiTypes.OBJECT)
    def get(self) -> Any:
        """Everything that is stored about a user

        `import_user` reads it back without loss."""
        return portability.export_user(self.end_user)


class ForgetForm(fields.Strict):
    """Exactly one of the three."""

    described = {
        "minProperties": 1,
        "maxProperties": 1,
        "not": {"required": ["everything"], "properties": {"everything": {"const": False}}},
    }
    everything = fields.Flag(required=False)
    contact = fields.Identifier(required=False)
    memory = fields.Identifier(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1 or attrs.get("everything") is False:
            raise serializers.ValidationError(
                'Send {"everything": true}, or {"contact": id}, or {"memory": id}.'
            )
        return attrs


class Forget(UserView):
    @operation("forget_create", Forgotten, body=ForgetForm)
    def post(self, asked: Validated) -> Any:
        """Erase a user, a person or a memory for good

        This can't be undone."""
        by = By(self.actor)
        if "contact" in asked:
            return asdict(erase.forget_contact(self.end_user, asked["contact"], by))
        if "memory" in asked:
            return asdict(erase.forget_memory(self.end_user, asked["memory"], by))
        return asdict(erase.forget_everything(self.end_user, by))


class User(UserEndpoint):
    @operation("users_destroy", Forgotten)
    def delete(self) -> Any:
        """Erase a user for good

        As `forget/` with `everything`. This can't be undone."""
        return asdict(erase.forget_everything(self.end_user, By(self.actor)))


class UserCardValue(serializers.Serializer):
    value = serializers.CharField()
    sources = serializers.ListField(child=serializers.UUIDField())
    since = serializers.DateTimeField(allow_null=True)


class UserCard(serializers.Serializer):
    card = serializers.CharField(allow_blank=True)
    attributes = serializers.DictField(child=serializers.ListField(child=UserCardValue()))


class ChangedUserCard(UserCard):
    change_id = fields.undo_id("null when nothing was to be changed")


class UserCardForm(fields.Reasoned):
    attributes = Attributes(
        help_text=f"Of {', '.join(ON_OWN_CARD)}: all values that hold, null for none."
    )

    def validate_attributes(self, values: dict[str, list[str]]) -> dict[str, list[str]]:
        if unknown := sorted(values.keys() - set(ON_OWN_CARD)):
            known = ", ".join(ON_OWN_CARD)
            raise serializers.ValidationError(f"The card has no {unknown[0]}; it has {known}.")
        return values


class Card(UserView):
    @operation("card_retrieve", UserCard)
    def get(self) -> Any:
        """The user's own card: wishes for answers, health, home and work

        It is derived from what memories state about the user. A `context/` begins with it."""
        return _card_of(self.end_user)

    @operation("card_update", ChangedUserCard, body=UserCardForm, partial=True)
    def patch(self, asked: Validated) -> Any:
        """Correct the user's own card

        Only the keys given change: a string or a list is all that is true, null is nothing. A value
        that is no longer true ends in the memories that state it; a new value becomes a memory."""
        with atomic():
            end_user = self.end_user_for_writing()
            change = edit_own_card(end_user, asked.get("attributes", {}), **self.by(asked))
            end_user.refresh_from_db(fields=["own_facts"])
        return with_change(_card_of(end_user), change)


def _card_of(end_user: EndUser) -> dict[str, Any]:
    attributes = own_card.current_attributes(end_user)
    return {"card": own_card.text_of(end_user), "attributes": attributes}
