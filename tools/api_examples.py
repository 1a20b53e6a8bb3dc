"""python -m tools api_examples: records the examples of the API's description from real calls."""

import json
import re
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.scope import all_users
from contacts.models import Contact, Suggestion
from mio_site.openapi import EXAMPLES
from tools.served import Client, served

MOST = 2  # entries shown of a list
SITE = "https://mio.example.org"
BEFORE = [{"id": "m0", "role": "user", "content": "I live in Oslo.",
           "created_at": "2025-03-02T09:30:00+01:00"}]  # fmt: skip
SAID = [
    {"id": "m1", "role": "user", "content": "My sister Anna is a nurse. She lives in Berlin.",
     "created_at": "2026-03-02T09:30:00+01:00", "session_id": "s1", "metadata": {"channel": "web"}},
    {"id": "m2", "role": "user", "content": "我朋友小红在腾讯当工程师，她住在深圳。",
     "created_at": "2026-03-02T09:31:00+01:00", "session_id": "s1"},
    {"id": "m3", "role": "user", "content": "My colleague Tom likes chess.",
     "created_at": "2026-03-03T18:00:00+01:00", "session_id": "s2"},
    {"id": "m4", "role": "user", "content": "I moved to Bergen.",
     "created_at": "2026-03-03T18:01:00+01:00", "session_id": "s2"},
]  # fmt: skip
BOOK = {"content": "First Name,Last Name,Nickname,Phone 1 - Value\nAnna,Berg,,+49 30 123456\n"
        "Greta,Lund,Gigi,\n", "dry_run": True}  # fmt: skip
NEW = {"name": "Per", "relationship": "neighbour", "attributes": {"location": "Bergen"}}
# operation, method, address and body; {name} stands for what an earlier answer gave. A star keeps
# an answer's id under the name behind it.
STORY: list[tuple[str, str, str, Any]] = [
    ("messages_create", "POST", "messages/", {"messages": BEFORE}),
    ("process_create", "POST", "process/", {"wait": True}),
    ("messages_create", "POST", "messages/", {"messages": SAID}),
    ("process_create", "POST", "process/", {"wait": True}),
    ("process_create>job", "POST", "process/", {}),
    ("jobs_retrieve", "GET", "jobs/{job}/", None),
    ("v1_app_partial_update", "PATCH", "/app/", {"time_zone": "Europe/Berlin"}),
    ("v1_app_retrieve", "GET", "/app/", None),
    ("users_update", "PATCH", "", {"time_zone": "Europe/Berlin"}),
    ("users_list", "GET", "/users/", None),
    ("webhooks_create>hook", "POST", "/webhooks/",
     {"url": "https://chat.example.org/mio", "types": ["contact.merged", "date.upcoming"]}),
    ("webhooks_list", "GET", "/webhooks/", None),
    ("webhooks_retrieve", "GET", "/webhooks/{hook}/", None),
    ("webhooks_update", "PATCH", "/webhooks/{hook}/", {"types": ["contact.merged"]}),
    ("webhooks_rotate", "POST", "/webhooks/{hook}/rotate/", None),
    ("webhooks_test>sent", "POST", "/webhooks/{hook}/test/", None),
    ("webhooks_deliveries_list", "GET", "/webhooks/{hook}/deliveries/", None),
    ("webhooks_deliveries_resend", "POST", "/webhooks/{hook}/deliveries/{sent}/resend/", None),
    ("webhooks_destroy", "DELETE", "/webhooks/{hook}/", None),
    ("users_retrieve", "GET", "", None),
    ("messages_list>message", "GET", "messages/?limit=2", None),
    ("messages_retrieve", "GET", "messages/{message}/", None),
    ("sessions_list", "GET", "sessions/", None),
    ("contacts_list>anna", "GET", "contacts/?q=Anna", None),
    ("contacts_list>hong", "GET", "contacts/?q=%E5%B0%8F%E7%BA%A2", None),
    ("contacts_list>tom", "GET", "contacts/?q=Tom", None),
    ("address_book_create", "POST", "address-book/", BOOK),
    ("contacts_create>per", "POST", "contacts/", NEW),
    ("contacts_bulk_create>oda", "POST", "contacts/bulk/",
     {"contacts": [{"name": "Oda"}, {"name": "Annika", "aliases": ["Anni"]}]}),
    ("contacts_retrieve", "GET", "contacts/{anna}/", None),
    ("contacts_update", "PATCH", "contacts/{per}/", {"attributes": {"job_title": "carpenter"}}),
    ("contacts_resolve", "POST", "contacts/{per}/resolve/",
     {"key": "location", "value": "Bergen"}),
    ("contacts_not_the_same", "POST", "contacts/{per}/not-the-same/", {"other": "{tom}"}),
    ("contacts_archive", "POST", "contacts/{per}/archive/", {"archived": True}),
    ("card_update", "PATCH", "card/", {"attributes": {"answer_wish": ["no tables"]}}),
    ("card_retrieve", "GET", "card/", None),
    ("context_create", "POST", "context/", {"message": "小红最近怎么样了"}),
    ("search_create", "POST", "search/", {"query": "Who works in a hospital?"}),
    ("memories_create>memory", "POST", "memories/",
     {"content": "Anna plays the cello.", "contacts": ["{anna}"], "metadata": {"from": "form"}}),
    ("memories_create>other", "POST", "memories/", {"content": "Tom collects stamps and coins.",
     "contacts": ["{tom}"]}),
    ("memories_list", "GET", "memories/?limit=2", None),
    ("memories_retrieve", "GET", "memories/{memory}/", None),
    ("memories_update", "PATCH", "memories/{memory}/", {"importance": 0.9}),
    ("memories_history", "GET", "memories/{memory}/history/", None),
    ("memories_links_list", "GET", "memories/{memory}/links/", None),
    ("memories_links_create", "POST", "memories/{memory}/links/", {"contact": "{per}"}),
    ("memories_links_destroy", "DELETE", "memories/{memory}/links/{per}/", None),
    ("memories_edges_create>edge", "POST", "memories/{memory}/edges/",
     {"target": "{other}", "kind": "complements"}),
    ("memories_edges_list", "GET", "memories/{memory}/edges/", None),
    ("memories_edges_destroy", "DELETE", "memories/{memory}/edges/{edge}/", None),
    ("memories_move", "POST", "memories/{memory}/move/", {"from": "{anna}", "to": "{per}"}),
    ("contacts_split", "POST", "contacts/{anna}/split/",
     {"memories": ["{annas}"], "name": "Anna", "relationship": "teacher"}),
    ("relations_create>relation", "POST", "relations/",
     {"subject": "{hong}", "kind": "boss", "object": "{tom}"}),
    ("relations_list", "GET", "relations/", None),
    ("relations_destroy", "DELETE", "relations/{relation}/", None),
    ("contacts_merge", "POST", "contacts/{oda}/merge/", {"into": "{per}"}),
    ("changes_list>change", "GET", "changes/?limit=2", None),
    ("changes_retrieve", "GET", "changes/{change}/", None),
    ("changes_undo", "POST", "changes/{change}/undo/", {}),
    ("suggestions_list>suggestion", "GET", "suggestions/", None),
    ("suggestions_decide", "POST", "suggestions/{suggestion}/decide/", {"decision": "different"}),
    ("dates_create>date", "POST", "dates/",
     {"contact": "{anna}", "kind": "birthday", "month": 5, "day": 17, "year": 1990}),
    ("dates_list", "GET", "dates/", None),
    ("dates_retrieve", "GET", "dates/{date}/", None),
    ("dates_update", "PATCH", "dates/{date}/", {"month": 5, "day": 18}),
    ("dates_destroy", "DELETE", "dates/{date}/", None),
    ("changed_facts_list", "GET", "changed-facts/", None),
    ("page_create", "POST", "page/", {"name": "Chatty", "color": "#1f6b5a", "language": "en"}),
    ("page_destroy", "DELETE", "page/", None),
    ("calendar_create", "POST", "calendar/", {}),
    ("calendar_retrieve", "GET", "calendar/", None),
    ("calendar_destroy", "DELETE", "calendar/", None),
    ("export_retrieve", "GET", "export/", None),
    ("memories_destroy", "DELETE", "memories/{other}/", None),
    ("messages_destroy_one", "DELETE", "messages/{message}/", None),
    ("messages_destroy", "DELETE", "messages/?session_id=s2", None),
    ("contacts_destroy", "DELETE", "contacts/{tom}/", None),
    ("forgetting_list>wish", "GET", "forgetting/", None),
    ("forgetting_retrieve", "GET", "forgetting/{wish}/", None),
    ("forgetting_decide", "POST", "forgetting/{wish}/decide/", {"redact": [], "keep": []}),
    ("forgetting_erase", "POST", "forgetting/{wish}/erase/", {}),
    ("forget_create", "POST", "forget/", {"contact": "{hong}"}),
    ("users_destroy", "DELETE", "", None),
]  # fmt: skip


class Command(BaseCommand):
    help = f"Record the examples of the OpenAPI description into {EXAMPLES.name}."

    @all_users()
    def handle(self, **_options: Any) -> None:
        with served() as site:
            found = _told(site.client())
        text = json.dumps(found, ensure_ascii=False, indent=1)
        text = re.sub(r"http://127\.0\.0\.1:\d+", SITE, text)
        text = re.sub(r"(?<=whsec_)[\w+/=]+", "…", text)
        text = re.sub(r"(?<=calendar\.ics\?key=)[\w-]+", "…", text)  # a secret
        text = re.sub(r"(?<=/me/)[\w:-]+", "…", text)
        EXAMPLES.write_text(f"{text}\n", encoding="utf-8")
        self.stdout.write(f"{len(found)} operations")


def _told(client: Client) -> dict[str, Any]:
    """The story's requests and answers, by operation; the latest of each. Raises CommandError."""
    ids: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for step, method, address, body in STORY:
        operation, _, name = step.partition(">")
        if operation == "suggestions_list":
            _suggest(ids["anna"])
        if body is not None:
            body = _filled(body, ids)
        at = re.sub(r"{(\w+)}", lambda part: str(ids[part[1]]), address)
        answer = client.call(method, at[1:] if at.startswith("/") else f"users/ann/{at}", body)
        if answer.status >= 400:
            raise CommandError(f"{method} {at}: {answer.status} {answer.body}")
        if name:
            ids[name] = _id(answer.body)
        if name == "anna":
            ids["annas"] = answer.body["results"][0]["memory_ids"][0]
        example = {"status": answer.status, "response": _short(answer.body)}
        found[operation] = example if body is None else {"request": body, **example}
    return dict(sorted(found.items()))


def _suggest(anna: str) -> None:
    pair = sorted((Contact.objects.get(pk=anna), Contact.objects.get(name="Annika")), key=_pk)
    evidence = {"code": "nickname", "params": {"first": "Anna", "second": "Annika"}, "weight": 1.2}
    Suggestion.objects.create(
        end_user=pair[0].end_user, first=pair[0], second=pair[1],
        verdict=Suggestion.Verdict.LIKELY, confidence=0.72, evidence=[evidence],
    )  # fmt: skip


def _pk(contact: Contact) -> Any:
    return contact.pk


def _id(body: dict[str, Any]) -> Any:
    """The id that an answer gives: of a list that of its first row."""
    first = next(iter(body.get("results") or body.get("contacts") or ()), None)
    return (first if isinstance(first, dict) else body).get("id") or body.get("job")


def _filled(value: Any, ids: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(one, ids) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, ids) for one in value]
    return ids[value[1:-1]] if isinstance(value, str) and value.startswith("{") else value


def _short(value: Any) -> Any:
    """An answer with the first entries of its lists."""
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    return [_short(one) for one in value[:MOST]] if isinstance(value, list) else value
