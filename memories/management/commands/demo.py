"""bin/mio demo"""

from typing import Any

from django.core.management.base import BaseCommand

from accounts import placement
from accounts.models import EndUser
from accounts.scope import all_users
from contacts.models import Contact
from memories import demo
from memories.context import build
from memories.context.request import ContextRequest
from memories.providers.factory import embedder, language_provider


class Command(BaseCommand):
    help = (
        "Run the real pipeline over the demo conversation and print the contacts, a card, and "
        f"the system prompt for {demo.QUESTION}."
    )

    @all_users()
    def handle(self, *args: Any, **options: Any) -> None:
        end_user = demo.load()
        with placement.entered(end_user.app, demo.USER):
            self._print_report(end_user)

    def _print_report(self, end_user: EndUser) -> None:
        provider, vectors = language_provider(), embedder()
        self.stdout.write(
            f"Models: {provider.name} ({provider.model}), embeddings {vectors.model}\n"
        )
        self._heading("Contacts")
        contacts = Contact.objects.of(end_user).standing().order_by("-mention_count", "name")
        for contact in contacts:
            about = ", ".join(filter(None, [contact.relationship, *contact.aliases]))
            self.stdout.write(f"  {contact.name:<12} {about}  ({len(contact.memory_ids)} memories)")
        self._heading("The card of 小红")
        self.stdout.write(contacts.get(name="小红").card_today)
        self._heading(f"The system prompt for “{demo.QUESTION}”")
        injection = build.build(
            end_user, ContextRequest(demo.QUESTION, session_id=demo.LAST_SESSION)
        )
        self.stdout.write(injection.system_prompt)
        mentioned = ", ".join(
            f"{c.name} (by {c.matched_by} “{c.matched_text}”, {c.confidence:.2f})"
            for c in injection.contacts
        )
        self.stdout.write(f"\nMentioned: {mentioned or 'nobody'}; {injection.timing_ms:.1f} ms")

    def _heading(self, text: str) -> None:
        self.stdout.write(self.style.MIGRATE_HEADING(f"\n{text}\n"))
