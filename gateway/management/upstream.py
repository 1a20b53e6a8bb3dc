"""What the commands share that set where the chats of an app go."""

from typing import Any

from django.core.management.base import CommandError

from accounts.models import App
from gateway import upstreams
from gateway.models import Upstream

URL_HELP = (
    "the server of the OpenAI protocol that answers the app's chats, such as "
    "https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
)


def set_upstream(app: App, url: str, **more: Any) -> Upstream:
    """Configures the upstream of an app. Raises CommandError."""
    try:
        return upstreams.configure(app, url, **more)
    except upstreams.NotAnUpstream as error:
        raise CommandError(
            "Give an address that begins with http:// or https://, without a user, a query or "
            "a blank, and ends where /chat/completions begins."
        ) from error
    except upstreams.NotASecret as error:
        raise CommandError("A key is one word of ASCII characters.") from error
