"""The suite's database server is Mio's own, and its models need no key."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
os.environ.update(MIO_LLM="offline", MIO_EMBEDDINGS="local", OPENAI_API_KEY="", OPENAI_BASE_URL="")

from django.conf import settings
from hypothesis import settings as hypothesis

from mio_site import database

# How long an example takes says nothing on a busy machine.
hypothesis.register_profile("mio", deadline=None)
hypothesis.load_profile("mio")


def pytest_configure() -> None:
    # Hashing passwords as well as the product does would be a quarter of the suite's time.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    database.ensure_running()
