"""Contacts over HTTP: read, erased, merged, split, archived, related, distinguished. Here and not
in ``contacts.api``, since these change memories too."""

from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers, status
from rest_framework.response import Response

from accounts import fields
from accounts.api import UserView, Validated, operation
from accounts.errors import first_or_404, unknown
from accounts.models import Change
from accounts.paging import PageQuery, listed, page, page_of
from accounts.reasons import Reason
from contacts import edit, relations, store
from contacts.api import OneContact
from contacts.edit import archive_contact
from contacts.merge import not_the_same, put_off
from contacts.models import Contact, Relation, Suggestion
from contacts.serializers import ChangedContact, ContactDetail, Name, Named, detail
from contacts.suggestions import survivor_first
from memories.api.serializers import Forgotten, TakenAway, stated, with_change
from memories.corrections import merge_contacts
from memories.erasure import erase
from memories.erasure.receipts import By
from memories.history.mention_rhythm import rhythms

MAX_SPLIT = 5000


class MergeForm(fields.Reasoned):
    """``into``: the contact that stays."""

    into = fields.Identifier()


class NotTheSameForm(fields.Reasoned):
    other = fields.Identifier()


class ArchiveForm(fields.Reasoned):
    archived = fields.Flag()


class SplitForm(fields.Reasoned):
    """The memories that are about another person, and the name of that person."""

    memories = fields.BoundedList(child=fields.Identifier(), min_length=1, max_length=MAX_SPLIT)
    name = Name()
    relationship = fields.Text(max_length=200, allow_blank=True, required=False)


class ResolveForm(fields.Reasoned):
    """The right one of several values of an attribute, or that ``all`` of them are right."""

    key = fields.Text(max_length=50)
    value = fields.Text(max_length=500, required=False)
    all = serializers.BooleanField(default=False)

    described = {
        "oneOf": [
            {"required": ["value"], "properties": {"all": {"const": False}}},
            {
                "required": ["all"],
                "properties": {"all": {"const": True}},
                "not": {"required": ["value"]},
            },
        ]
    }

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if ("value" in asked) == asked["all"]:
            raise serializers.ValidationError("Give the right `value`, or say that `all` are.")
        return asked


class PersonView(UserView):
    """An endpoint about contacts."""

    def survivor(self, pk: UUID) -> Contact:
        """Returns the contact of this id, for a merged one the survivor. Raises a 404."""
        contact = store.survivor(self.end_user, pk)
        if contact is None:
            raise unknown("unknown_contact")
        return contact

    def other(self, field: str, pk: UUID) -> UUID:
        """Returns the id of another contact, given in the body. Raises ValidationError."""
        if not Contact.objects.of(self.end_user).filter(pk=pk).exists():
            raise serializers.ValidationError({field: ["This user has no such contact."]})
        return pk

    def changed(self, contact_id: UUID, change: Change | None, code: int = 200) -> Response:
        contact = Contact.objects.of(self.end_user).get(pk=contact_id)
        return Response({**detail(contact), "change_id": change and change.id}, status=code)


Cadence = inline_serializer(
    "Cadence",
    {
        "usual_days": serializers.IntegerField(),
        "silent_days": serializers.IntegerField(),
        "quiet": serializers.BooleanField(),
    },
    allow_null=True,
)


class PersonDetail(ContactDetail):
    cadence = Cadence


class Person(PersonView, OneContact):
    @operation("contacts_retrieve", PersonDetail)
    def get(self, contact_id: UUID) -> Any:
        """One person; the id of a merged one answers with the survivor

        `cadence` says how often they used to be mentioned and for how long they have not been; null
        before there is a rhythm. It is never injected."""
        contact = self.survivor(contact_id)
        rhythm = rhythms(self.end_user, [contact.pk]).get(contact.pk)
        cadence = rhythm and {**asdict(rhythm), "quiet": rhythm.quiet}
        return {**detail(contact), "cadence": cadence}

    @operation("contacts_destroy", Forgotten)
    def delete(self, contact_id: UUID) -> Any:
        """Erase a person for good

        As `forget/` with `contact`: the memories and messages about them are erased too, and their
        names everywhere. This can't be undone; to keep the memories, `merge` or `split`."""
        contact = self.survivor(contact_id)
        return asdict(erase.forget_contact(self.end_user, contact.pk, By(self.actor)))


class Merge(PersonView):
    @operation("contacts_merge", ChangedContact, body=MergeForm)
    def post(self, asked: Validated, contact_id: UUID) -> Any:
        """Say that two contacts are one person

        All that is known about this contact becomes the other's. The answer is that other contact,
        also for this contact's id from then on. Values that contradict each other stay side by
        side; see resolve. 409 when one of them was merged already."""
        self.survivor(contact_id)
        survivor = self.other("into", asked["into"])
        change = merge_contacts.merge(self.end_user, contact_id, survivor, **self.by(asked))
        return self.changed(survivor, change)


class Split(PersonView):
    @operation("contacts_split", {201: ChangedContact}, body=SplitForm)
    def post(self, asked: Validated, contact_id: UUID) -> Any:
        """Say that some memories are about another person

        The answer is the new contact, which may be a namesake. What rests on these memories moves
        with them, and no machine links them to this contact again."""
        contact, memories = self.survivor(contact_id), asked.pop("memories")
        new, change = merge_contacts.split(
            self.end_user, contact.id, memories, actor=self.actor, **asked
        )
        return self.changed(new.id, change, status.HTTP_201_CREATED)


class NotTheSame(PersonView):
    @operation("contacts_not_the_same", ChangedContact, body=NotTheSameForm)
    def post(self, asked: Validated, contact_id: UUID) -> Any:
        """Say that two contacts are two people

        They are never suggested for a merge again."""
        self.survivor(contact_id)
        other = self.other("other", asked["other"])
        change = not_the_same(self.end_user, contact_id, other, **self.by(asked))
        return self.changed(contact_id, change)


class Archive(PersonView):
    @operation("contacts_archive", ChangedContact, body=ArchiveForm)
    def post(self, asked: Validated, contact_id: UUID) -> Any:
        """Archive a person, or bring them back

        An archived person is recognised by name as before, but is in no list, suggestion or prompt.
        `change_id` is null if nothing changed."""
        contact = self.survivor(contact_id)
        change = archive_contact(self.end_user, contact.id, actor=self.actor, **asked)
        return self.changed(contact.id, change)


class Resolve(PersonView):
    @operation("contacts_resolve", ChangedContact, body=ResolveForm)
    def post(self, asked: Validated, contact_id: UUID) -> Any:
        """Say which of an attribute's values is right

        It becomes the only one of an attribute that has one value at a time, else the first. With
        `all`, several values of it are no longer a contradiction for this person."""
        contact = self.survivor(contact_id)
        change = merge_contacts.resolve_attribute(
            self.end_user, contact.id, asked["key"], asked.get("value"), **self.by(asked)
        )
        return self.changed(contact.id, change)


class RelationQuery(PageQuery):
    contact = serializers.UUIDField(required=False)


class NewRelation(fields.Reasoned):
    """``subject`` is the ``kind`` of ``object``."""

    subject = fields.Identifier()
    kind = fields.Text(max_length=relations.MAX_KIND)
    object = fields.Identifier()


class RelationSerializer(fields.RowSerializer):
    """``subject`` is the ``kind`` of ``object``."""

    subject = Named()
    object = Named()
    sources = serializers.ListField(child=serializers.UUIDField())

    class Meta:
        model = Relation
        fields = ["id", "subject", "kind", "object", "sources", "created_at"]


class ChangedRelation(RelationSerializer):
    change_id = fields.undo_id("null when it was stated before")


class Relations(PersonView):
    @operation("relations_list", page_of(RelationSerializer), query=RelationQuery)
    def get(self, query: Validated) -> Any:
        """How the people in a user's life are related to each other

        The latest first. What somebody is to the user is the contact's `relationship`."""
        rows = Relation.objects.of(self.end_user)
        if "contact" in query:
            rows = rows.among([self.survivor(query["contact"]).pk])
        return page(
            self.request, rows.with_people(), "created_at", query, listed(RelationSerializer)
        )

    @operation("relations_create", {200: ChangedRelation, 201: ChangedRelation}, body=NewRelation)
    def post(self, asked: Validated) -> Any:
        """Say how two people are related

        Both cards state it from then on, and no correction of a memory removes it. 200 when that
        was stated before."""
        subject, related = (
            self.survivor(self.other(field, asked[field])).pk for field in ("subject", "object")
        )
        change = edit.add_relation(self.end_user, subject, asked["kind"], related, **self.by(asked))
        kind = relations.cleaned(asked["kind"])
        rows = Relation.objects.of(self.end_user).with_people()
        row = rows.get(subject=subject, object=related, kind=kind)
        return stated(RelationSerializer(row).data, change)


class OneRelation(UserView):
    @operation("relations_destroy", TakenAway, query=fields.WhyQuery)
    def delete(self, asked: Validated, relation_id: int) -> Any:
        """Say that two people are not related in this way

        A correction: it can be undone."""
        first_or_404(Relation.objects.of(self.end_user).filter(pk=relation_id), "unknown_relation")
        change = edit.remove_relation(self.end_user, relation_id, **self.by(asked))
        return TakenAway({"change_id": change.id}).data


class SuggestionQuery(PageQuery):
    state = serializers.ChoiceField(
        [*Suggestion.State.values, "all"], default=Suggestion.State.OPEN.value
    )
    contact = serializers.UUIDField(required=False)


class DecisionForm(fields.Reasoned):
    """``merge``: one person; ``different``: two, never asked again; ``later``: put off."""

    decision = serializers.ChoiceField(["merge", "different", "later"])
    into = fields.Identifier(required=False)


class EvidenceSerializer(serializers.Serializer):
    code = serializers.CharField()
    text = serializers.CharField()
    weight = serializers.FloatField()

    def to_representation(self, row: dict[str, Any]) -> dict[str, Any]:
        code = row.get("code", "")
        text = str(Reason(code, **row["params"])) if code else row["text"]
        return {"code": code, "text": text, "weight": row["weight"]}


class SuggestionSerializer(fields.RowSerializer):
    """Two contacts that may be one person."""

    contacts = serializers.SerializerMethodField()
    evidence = EvidenceSerializer(many=True, source="known_evidence")

    judgement = serializers.CharField()

    class Meta:
        model = Suggestion
        fields: ClassVar = [
            "id", "contacts", "verdict", "confidence", "evidence", "state", "decided_by",
            "decided_at", "judgement", "judged_reason", "judged_by", "created_at",
        ]  # fmt: skip

    @extend_schema_field(Named(many=True))
    def get_contacts(self, row: Suggestion) -> list[dict[str, Any]]:
        return list(Named([row.first, row.second], many=True).data)


class DecidedSuggestion(SuggestionSerializer):
    change_id = fields.undo_id("null when it was put off")


class Suggestions(PersonView):
    @operation("suggestions_list", page_of(SuggestionSerializer), query=SuggestionQuery)
    def get(self, query: Validated) -> Any:
        """Pairs of contacts that may be one person, the most probable first"""
        rows = Suggestion.objects.of(self.end_user).listed().with_people()
        if query["state"] != "all":
            rows = rows.filter(state=query["state"])
        if "contact" in query:
            pk = self.survivor(query["contact"]).pk
            rows = rows.filter(Q(first=pk) | Q(second=pk))
        return page(self.request, rows, "confidence", query, listed(SuggestionSerializer))


class DecideSuggestion(PersonView):
    @operation("suggestions_decide", DecidedSuggestion, body=DecisionForm)
    def post(self, asked: Validated, suggestion_id: int) -> Any:
        """Say whether two contacts are one person

        409 when one of them was merged already, or when what is to be put off was decided. A
        decision can be undone."""
        rows = Suggestion.objects.of(self.end_user).with_people().filter(pk=suggestion_id)
        row = first_or_404(rows, "unknown_suggestion")
        pair = row.first_id, row.second_id
        into = asked.get("into")
        if into and (asked["decision"] != "merge" or into not in pair):
            raise serializers.ValidationError({"into": ["Of a merge: one of the two contacts."]})
        change = None
        if asked["decision"] == "merge":
            survivor, loser = survivor_first(self.end_user, pair)
            if into == loser:
                survivor, loser = loser, survivor
            change = merge_contacts.merge(self.end_user, loser, survivor, **self.by(asked))
        elif asked["decision"] == "different":
            change = not_the_same(self.end_user, *pair, **self.by(asked))
        else:
            put_off(self.end_user, *pair, actor=self.actor)
        return with_change(SuggestionSerializer(rows.get()).data, change)
