"""bin/mio link_backfill [--user U]"""

from typing import Any

from accounts.management.command import MioCommand
from contacts.models import Contact
from memories.pipeline import backfill


class Command(MioCommand):
    help = "Links memories to contacts that they name but were never linked to."
    user_required = False

    def handle(self, *, user: str | None, app: str, json: bool, **_options: Any) -> None:
        users = self.chosen_users(app, user)
        contacts = Contact.objects.filter(end_user__in=users).standing().order_by("pk")
        contact_ids = list(contacts.values_list("pk", flat=True))
        made = 0
        with self.bar(len(contact_ids), "contact", "searched") as bar:
            for contact_id in contact_ids:
                made += backfill.link_contact(contact_id)
                bar.update()
        self.report(json, contacts=len(contact_ids), links=made)
