"""The suite's database server is Mio's own, and its models need no key."""

import os
from contextlib import ExitStack

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
os.environ.update(MIO_LLM="offline", MIO_EMBEDDINGS="local", OPENAI_API_KEY="", OPENAI_BASE_URL="")

from django.conf import settings
from django.test.client import ClientHandler
from hypothesis import settings as hypothesis

from accounts import scope
from mio_site import database

# How long an example takes says nothing on a busy machine.
hypothesis.register_profile("mio", deadline=None)
hypothesis.load_profile("mio")
# Tests look at everybody's rows. What a request does begins with nothing declared, as in a server.
_TESTS = ExitStack()


def pytest_configure() -> None:
    # Hashing passwords as well as the product does would be a quarter of the suite's time.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    database.ensure_running()
    _TESTS.enter_context(scope.all_users())
    ClientHandler.__call__ = scope.undeclared()(ClientHandler.__call__)  # type: ignore[method-assign]
