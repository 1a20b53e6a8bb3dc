"""Finds the end user of a request, and the conversation that it continues."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import jwt
from starlette.datastructures import Headers

from accounts.api import check_external_id
from accounts.encryption import Undecryptable, decrypt
from accounts.errors import ApiError
from accounts.models import ApiKey
from gateway.models import Upstream

OWN = "x-mio-user"
OPEN_WEBUI_TOKEN = "x-openwebui-user-jwt"  # noqa: S105 a header
OPEN_WEBUI = "open-webui"  # who issues these
# Headers that anybody could send, so only the client of a trusted key is believed.
PLAIN = (
    "x-openwebui-user-id", "x-librechat-user-id", "x-litellm-end-user-id",
    "x-litellm-customer-id", "x-user-id",
)  # fmt: skip
SESSIONS = (
    "x-mio-session", "x-openwebui-chat-id", "x-librechat-conversation-id",
    "x-litellm-session-id", "x-chat-id", "x-conversation-id",
)  # fmt: skip
_SINGLE = ("authorization", "x-mio-key", OWN, OPEN_WEBUI_TOKEN, *PLAIN, *SESSIONS)
MAX_SESSION = 200
# What clients send if they have no value.
_NOTHING = ("", "none", "null", "undefined")
_UNNAMED = "new"  # what LibreChat calls a chat that has no id yet
LEEWAY = 30  # seconds by which clocks may differ


def given(headers: Mapping[str, str], name: str) -> str:
    """Returns the value of a header, percent-decoded; "" if the client had no value to fill in."""
    value = unquote(headers.get(name, "")).strip()
    return "" if value.lower() in _NOTHING or value.startswith("{{") else value


def check_single(headers: Headers) -> None:
    """Raises ApiError if a header that names the caller comes twice: servers might believe either."""
    for name in _SINGLE:
        if len(headers.getlist(name)) > 1:
            raise ApiError(400, "repeated_header", f"Send the header {name} once.")


def user_of(
    key: ApiKey, upstream: Upstream, headers: Mapping[str, str], body: Mapping[str, Any]
) -> str:
    """Returns the app's id of the end user. Raises ApiError if nobody is named, or another user
    than the one that the key is bound to."""
    in_body = body.get("user")
    external_id = named_user(key, upstream, headers, in_body if isinstance(in_body, str) else "")
    if not external_id:
        raise ApiError(
            400,
            "no_user",
            "Nobody says whose memory this is: send X-Mio-User or the field `user`, or use a key "
            "that is bound to one end user. Headers of chat clients count with trusted keys only.",
        )
    check_external_id(external_id)
    return external_id


def named_user(
    key: ApiKey, upstream: Upstream, headers: Mapping[str, str], in_body: str = ""
) -> str:
    """Returns the end user that headers, body or key name, else "". Raises ApiError for another
    user than the one that the key is bound to."""
    plain = (given(headers, name) for name in PLAIN if key.trusted)
    user = (
        given(headers, OWN)
        or _user_of_token(upstream, headers)
        or next(filter(None, plain), "")
        or in_body
    )
    if key.external_id and user not in ("", key.external_id):
        raise ApiError(
            403,
            "key_of_one_user",
            "This key opens the memory of one user only: name no other, or use a key of the app.",
        )
    return user or key.external_id


def session_of(headers: Mapping[str, str]) -> str:
    """Returns the client's own id of the conversation, or ""."""
    ids = (given(headers, name) for name in SESSIONS)
    return next((session[:MAX_SESSION] for session in ids if session not in ("", _UNNAMED)), "")


def _user_of_token(upstream: Upstream, headers: Mapping[str, str]) -> str:
    """Returns the user of a token by Open WebUI, "" without one. Raises ApiError if it is invalid."""
    token = headers.get(OPEN_WEBUI_TOKEN, "")
    if not token or not upstream.open_webui_secret:
        return ""
    try:
        claims = jwt.decode(
            token,
            decrypt(upstream.open_webui_secret),
            algorithms=["HS256"],
            issuer=OPEN_WEBUI,
            leeway=LEEWAY,
            options={"require": ["exp", "sub"]},
        )
    except (jwt.InvalidTokenError, Undecryptable) as error:
        raise ApiError(
            401,
            "invalid_token",
            "The token in X-OpenWebUI-User-Jwt is not valid: its secret must be the app's, and "
            "clocks must agree.",
        ) from error
    return str(claims["sub"])
