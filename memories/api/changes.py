"""The audit trail over HTTP, and undo."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.api import UserView, Validated, operation
from accounts.errors import conflict, first_or_404
from accounts.fields import RowSerializer, StoredReason, Strict
from accounts.models import Change, EndUser
from accounts.paging import PageQuery, listed, page, page_of
from accounts.rollback import LaterChanges
from memories.corrections.undo import undo_change


class ChangeSerializer(RowSerializer):
    """One correction: who did what, when and why."""

    subjects = serializers.ListField(child=serializers.UUIDField())
    why = StoredReason()

    class Meta:
        model = Change
        fields = ["id", "verb", "actor", "why", "subjects", "created_at", "undone_at", "undone_by"]


class ChangedRow(serializers.Serializer):
    model = serializers.CharField()
    id = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class ChangeDetail(ChangeSerializer):
    """A correction with what it changed in each row."""

    rows = ChangedRow(many=True)


class UndoBody(Strict):
    """What to undo besides the change itself."""

    with_later = serializers.BooleanField(default=False)


class Changes(UserView):
    @operation("changes_list", page_of(ChangeSerializer), query=PageQuery)
    def get(self, query: Validated) -> Any:
        """What was corrected, the latest first"""
        rows = Change.objects.of(self.end_user).defer("rows")
        return page(self.request, rows, "created_at", query, listed(ChangeSerializer))


class OneChange(UserView):
    @operation("changes_retrieve", ChangeDetail)
    def get(self, change_id: UUID) -> Any:
        """One correction"""
        return ChangeDetail(_change(self.end_user, change_id)).data


class Undo(UserView):
    @operation("changes_undo", ChangeSerializer, body=UndoBody)
    def post(self, asked: Validated, change_id: UUID) -> Any:
        """Undo a correction

        409 `later_changes` names in `changes` the later ones that touched the same rows, newest
        first: undo these first, or all in one transaction by `with_later`. 409 `cannot_undo` when
        it was undone already or conflicts with what was learnt since."""
        change = _change(self.end_user, change_id)
        try:
            undo_change(change, actor=self.actor, with_later=asked["with_later"])
        except LaterChanges as error:
            changes = ChangeSerializer(error.changes, many=True).data
            raise conflict(error, "later_changes", {"changes": changes}) from error
        change.refresh_from_db()
        return ChangeSerializer(change).data


def _change(end_user: EndUser, change_id: UUID) -> Change:
    return first_or_404(Change.objects.of(end_user).filter(pk=change_id), "unknown_change")
