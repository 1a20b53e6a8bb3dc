import os
from pathlib import Path

from mio_site.postgres import server

MIO_HOME = Path(os.environ["MIO_HOME"])
MIO_EMBEDDED_POSTGRES = True
SECRET_KEY = "tests only"
DEBUG = True
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"database_away": {"()": "mio_site.logs.Outages"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["database_away"]}},
    "root": {"handlers": ["console"]},
    "loggers": {"django": {"handlers": []}},
}
MIO_TRACING = False
MIO_CELLS: list[str] = []
MIO_TRUSTED_PROXIES: list[str] = []
ASGI_GATES: list[str] = []
ASGI_WARM_UPS: list[str] = []
TASK_MODULES: list[str] = []
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "mio_site",
    "django_q",
    "tests.mio_site.small_site",
]
ROOT_URLCONF = "tests.mio_site.small_site.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", **server.connection(MIO_HOME)}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MIO_QUEUE_STUCK_S = float(os.environ.get("MIO_QUEUE_STUCK_S", "60"))
Q_CLUSTER = {"name": "small", "orm": "default", "workers": 1, "timeout": 60, "retry": 120}
