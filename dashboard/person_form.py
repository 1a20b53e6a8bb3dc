"""What an operator may say about a person."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from contacts import store
from contacts.models import Contact


class PersonForm(forms.Form):
    """A new person, or who somebody is."""

    name = forms.CharField(label=_("Name"), max_length=200)
    relationship = forms.CharField(
        label=_("Relationship"),
        max_length=200,
        required=False,
        help_text=_("What they are to the end user, in the end user's words: sister, 同事."),
    )
    gender = forms.ChoiceField(
        label=_("Gender"),
        required=False,
        choices=[("", _("Unknown")), ("female", _("Female")), ("male", _("Male"))],
    )
    personality = forms.CharField(
        label=_("Personality"), max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )
    why = forms.CharField(
        label=_("Reason"),
        max_length=500,
        required=False,
        help_text=_("Stands with the change, for whoever reads it later."),
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
        """What differs from what is known of the contact."""
        fields = ("name", "relationship", "gender", "personality")
        given = {field: self.cleaned_data[field] for field in fields}
        return {field: new for field, new in given.items() if new != getattr(contact, field)}

    @classmethod
    def of(cls, contact: Contact) -> "PersonForm":
        """The form as it stands for a contact."""
        fields = ("name", "relationship", "gender", "personality")
        return cls(initial={field: getattr(contact, field) for field in fields})


class SplitForm(forms.Form):
    """The person that some memories are about instead."""

    name = PersonForm.base_fields["name"]
    relationship = PersonForm.base_fields["relationship"]
    why = PersonForm.base_fields["why"]
    clean_name = PersonForm.clean_name
