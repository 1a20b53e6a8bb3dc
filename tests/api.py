"""The API as tests call it: a client of an app, and every endpoint with a request it takes."""

import json
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.test import Client

from accounts.models import ApiKey, App
from tests.factories import make_app

Reply = tuple[int, Any]


class ApiClient:
    """Calls the API with a key of an app."""

    def __init__(self, app: App | None = None) -> None:
        self.app = app or make_app()
        _, self.secret = ApiKey.issue(self.app)
        self.http = Client(enforce_csrf_checks=True)

    def call(
        self,
        method: str,
        address: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        content_type: str = "application/json",
        **headers: Any,
    ) -> Reply:
        """Status and decoded body. ``address`` is below /api/v1/, or whole."""
        path = address if address.startswith("/") else f"/api/v1/{address}"
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        headers.setdefault("HTTP_AUTHORIZATION", f"Bearer {self.secret}")
        kind = content_type if data else ""
        self.reply = self.http.generic(method, path, data, content_type=kind, **headers)
        text = self.reply.content.decode()
        is_json = self.reply.headers.get("Content-Type", "").startswith("application/json")
        return self.reply.status_code, json.loads(text) if is_json and text else text

    def get(self, address: str, **options: Any) -> Reply:
        return self.call("GET", address, **options)

    def post(self, address: str, body: Any = None, **options: Any) -> Reply:
        return self.call("POST", address, body, **options)

    def delete(self, address: str, **options: Any) -> Reply:
        return self.call("DELETE", address, **options)

    def patch(self, address: str, body: Any = None, **options: Any) -> Reply:
        return self.call("PATCH", address, body, **options)


def user_address(external_id: str, rest: str = "") -> str:
    return f"users/{quote(external_id, safe='')}/{rest}"


# name of the URL pattern -> method -> a body that the endpoint takes
ENDPOINTS: dict[str, dict[str, Any]] = {
    "api-messages": {
        "GET": None,
        "POST": {"messages": [{"role": "user", "content": "hello"}]},
        "DELETE": None,
    },
    "api-message": {"GET": None, "DELETE": None},
    "api-sessions": {"GET": None},
    "api-job": {"GET": None},
    "api-process": {"POST": {"wait": True}},
    "api-context": {"POST": {"message": "How is Zoe?"}},
    "api-search": {"POST": {"query": "Zoe"}},
    "api-contacts": {"GET": None, "POST": {"name": "Bob"}},
    "api-address-book": {"GET": None, "POST": {"content": "First Name,Last Name\nBob,Lee\n"}},
    "api-contacts-bulk": {"POST": {"contacts": [{"name": "Bob"}]}},
    "api-contact": {"GET": None, "PATCH": {"relationship": "friend"}, "DELETE": None},
    "api-contact-merge": {"POST": {"into": str(uuid4())}},
    "api-contact-split": {"POST": {"memories": [str(uuid4())], "name": "Bob"}},
    "api-contact-archive": {"POST": {"archived": True}},
    "api-contact-not-the-same": {"POST": {"other": str(uuid4())}},
    "api-contact-resolve": {"POST": {"key": "location", "value": "Rome"}},
    "api-memories": {"GET": None, "POST": {"content": "Bob sings."}},
    "api-memory": {"GET": None, "PATCH": {"importance": 0.4}, "DELETE": None},
    "api-memory-links": {"GET": None, "POST": {"contact": str(uuid4())}},
    "api-memory-link": {"DELETE": None},
    "api-memory-edges": {"GET": None, "POST": {"target": str(uuid4()), "kind": "causes"}},
    "api-memory-edge": {"DELETE": None},
    "api-memory-move": {"POST": {"from": str(uuid4()), "to": str(uuid4())}},
    "api-memory-history": {"GET": None},
    "api-changed-facts": {"GET": None},
    "api-relations": {
        "GET": None,
        "POST": {"subject": str(uuid4()), "kind": "boss", "object": str(uuid4())},
    },
    "api-relation": {"DELETE": None},
    "api-dates": {"GET": None, "POST": {"kind": "birthday", "month": 5, "day": 3}},
    "api-card": {"GET": None, "PATCH": {"attributes": {"diet": "vegan"}}},
    "api-calendar": {"GET": None, "POST": None, "DELETE": None},
    "api-date": {"GET": None, "PATCH": {"day": 4}, "DELETE": None},
    "api-suggestions": {"GET": None},
    "api-suggestion-decide": {"POST": {"decision": "merge"}},
    "api-forgettings": {"GET": None},
    "api-forgetting": {"GET": None},
    "api-forgetting-decide": {"POST": {"redact": [1]}},
    "api-forgetting-erase": {"POST": {}},
    "api-changes": {"GET": None},
    "api-change": {"GET": None},
    "api-change-undo": {"POST": {}},
    "api-page": {"POST": {"minutes": 5}, "DELETE": None},
    "api-export": {"GET": None},
    "api-forget": {"POST": {"everything": True}},
    "api-user": {"GET": None, "PATCH": {"time_zone": "Asia/Shanghai"}, "DELETE": None},
}


def assert_error(reply: Reply, status: int, code: str | None = None) -> dict[str, Any]:
    """The error of a reply that is one, in the agreed form."""
    given, body = reply
    assert given == status, reply
    assert set(body) == {"error"}
    error = body["error"]
    assert set(error) <= {"code", "message", "fields", "changes", "reason"}
    assert error["message"]
    if code:
        assert error["code"] == code
    return error
