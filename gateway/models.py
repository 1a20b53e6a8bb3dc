"""The upstream of an app, which answers its chats."""

from django.db import models

from accounts.models import App, NumberedRow

MAX_URL = 500


class Upstream(NumberedRow):
    """The server of the OpenAI protocol that answers the chats of an app: ``url`` ends where its
    ``/chat/completions`` begins. ``key`` and ``open_webui_secret`` are encrypted
    (``accounts.encryption``). Without a key, the caller's own is passed through."""

    encrypted = ("key", "open_webui_secret")

    class Placement(models.TextChoices):
        TAIL = "tail"  # before the user's words, in the same message
        SYSTEM = "system"  # at the end of the system prompt

    app = models.OneToOneField(App, models.CASCADE, related_name="upstream")
    url = models.CharField(max_length=MAX_URL)
    key = models.TextField(blank=True, default="", editable=False)
    open_webui_secret = models.TextField(blank=True, default="", editable=False)
    placement = models.CharField(max_length=6, choices=Placement, default=Placement.TAIL)
    created_at = models.DateTimeField(auto_now_add=True)
