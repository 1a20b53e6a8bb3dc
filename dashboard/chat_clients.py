"""How chat clients are told where the gateway is: what is copied into each, as its own settings
are called."""

from dataclasses import dataclass

KEY = "mio_…"


@dataclass(frozen=True, slots=True)
class ChatClient:
    """``key`` is which kind of key it takes: "signed" or "trusted" say who the user is in headers,
    "app" in the body, "bound" in no way. ``settings`` has places for {base} and {key}."""

    name: str
    key: str
    settings: str

    def filled(self, base: str, secret: str) -> str:
        """The settings for a site at ``base``, without a slash at its end."""
        return self.settings.replace("{base}", base).replace("{key}", secret)


CLIENTS = (
    ChatClient(
        "Open WebUI",
        "signed",
        """\
OPENAI_API_BASE_URL={base}/v1
OPENAI_API_KEY={key}
ENABLE_FORWARD_USER_INFO_HEADERS=True
FORWARD_USER_INFO_HEADER_JWT_SECRET=…""",
    ),
    ChatClient(
        "LibreChat",
        "trusted",
        """\
endpoints:
  custom:
    - name: Mio
      baseURL: {base}/v1
      apiKey: {key}
      models: { fetch: true }
      headers:
        X-LibreChat-User-Id: "{{LIBRECHAT_USER_ID}}"
        X-LibreChat-Conversation-Id: "{{LIBRECHAT_BODY_CONVERSATIONID}}\"""",
    ),
    ChatClient(
        "LobeChat",
        "app",
        """\
OPENAI_PROXY_URL={base}/v1
OPENAI_API_KEY={key}""",
    ),
    ChatClient(
        "Cherry Studio",
        "bound",
        """\
API Host: {base}
API Key: {key}""",
    ),
    ChatClient(
        "Chatbox",
        "bound",
        """\
API Host: {base}
API Key: {key}""",
    ),
    ChatClient(
        "NextChat",
        "bound",
        """\
BASE_URL={base}
OPENAI_API_KEY={key}""",
    ),
    ChatClient(
        "openai (Python)",
        "app",
        """\
from openai import OpenAI

client = OpenAI(
    base_url="{base}/v1",
    api_key="{key}",
    default_headers={"X-Mio-User": "ann"},
)""",
    ),
    ChatClient(
        "openai (JavaScript)",
        "app",
        """\
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "{base}/v1",
  apiKey: "{key}",
  defaultHeaders: { "X-Mio-User": "ann" },
});""",
    ),
)
