"""The suite's database server is Mio's own, and its models need no key."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
os.environ.update(MIO_LLM="offline", MIO_EMBEDDINGS="local", OPENAI_API_KEY="", OPENAI_BASE_URL="")

from mio_site import database


def pytest_configure() -> None:
    database.ensure_running()
