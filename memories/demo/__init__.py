"""The demo conversation: invented, bilingual, with what makes people hard to remember."""

import json
from datetime import datetime
from pathlib import Path

from accounts import placement
from accounts.models import App, EndUser
from memories.corrections import auto_merge
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive

APP, USER = "demo", "demo"
WHO = {"app__name": APP, "external_id": USER}
QUESTION = "她最近怎么样了"
CONVERSATION = Path(__file__).with_name("conversation.jsonl")
LAST_SESSION = "d5"


def conversation() -> list[Incoming]:
    """Returns the demo's messages in order."""
    lines = CONVERSATION.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Incoming(**{**r, "created_at": datetime.fromisoformat(r["created_at"])}) for r in rows]


def store(app: App) -> EndUser:
    """Stores the messages and returns the demo end user; doing it again adds nothing."""
    return receive(app, USER, conversation()).end_user


def load() -> EndUser:
    """Runs the whole pipeline and returns the demo end user; doing it again adds nothing."""
    app, _ = App.objects.get_or_create(name=APP)
    with placement.entered(app, USER):
        end_user = store(app)
        run.process(end_user.pk)
        auto_merge.suggest_merges(end_user)
        end_user.refresh_from_db()
    return end_user
