"""Every setting comes from the environment; `.env` beside manage.py is read if present."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from memories.providers.thresholds import LOCAL_DIMENSIONS, LOCAL_MODEL
from mio_site.cell_settings import pooled, read_cells
from mio_site.postgres import server
from mio_site.postgres.server import kept_secret

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")


def one_of(name: str, *choices: str) -> str:
    """Returns a setting that has one of these values, by default the first."""
    if (value := env.str(name, default=choices[0])) not in choices:
        listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise ImproperlyConfigured(f"{name} is {value!r}; use {listed}.")
    return value


# Django itself
DEBUG = env.bool("DEBUG", default=False)
MIO_HOME = Path(env.str("MIO_HOME", default="") or ".mio")
if not MIO_HOME.is_absolute():
    MIO_HOME = BASE_DIR / MIO_HOME

# Unless it is set, it is generated once into MIO_HOME.
SECRET_KEY = env.str("SECRET_KEY", default="") or kept_secret(MIO_HOME / "secret_key", 50)
# Earlier keys: what they signed and encrypted is still read.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=LOOPBACK)
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
# Addresses and networks of the proxies whose X-Forwarded-For and -Proto are believed.
MIO_TRUSTED_PROXIES = env.list("MIO_TRUSTED_PROXIES", default=[])

# Where traces are sent to (OpenTelemetry, OTLP over HTTP); nowhere unless it is set.
MIO_TRACING = bool(env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default=""))

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "axes",
    "corsheaders",
    "csp",
    "pgtrigger",
    "mio_site.apps.MioSiteConfig",
    "django_q",  # below mio_site, whose qcluster stands in for its own
    "accounts",
    "contacts",
    "memories",
    "webhooks",
    "imports",
    "mcp_server",
    "gateway",
    "dashboard",
    # The command bench. The container image has no tools.
    *(["tools"] if (BASE_DIR / "tools").is_dir() else []),
]

MIDDLEWARE = [
    *(["mio_site.telemetry.middleware"] if MIO_TRACING else []),
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "mio_site.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

# For the API and the probes, which mio_site.api_gate answers: functions and classes, no coroutines.
API_MIDDLEWARE = [
    *(["mio_site.telemetry.middleware"] if MIO_TRACING else []),
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]

MIO_VERSION = "0.1.0"  # as in pyproject.toml
ROOT_URLCONF = "mio_site.urls"
ASGI_APPLICATION = "mio_site.asgi.application"
# ASGI applications in front of Django, the outermost first: each hands on what is not its own.
ASGI_GATES = [
    "mio_site.request_id.gate",
    "mio_site.api_gate.Gate",
    "gateway.front.Gateway",
    "mcp_server.gate.Gate",
]
# What a web process does in the background when it starts.
ASGI_WARM_UPS = ["memories.context.warm_up.warm_up"]
# Loaded once, before the processes that run tasks are forked and share their memory.
TASK_MODULES = ["memories.tasks"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.context_processors.chrome",
            ]
        },
    }
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
TIME_ZONE = env.str("TIME_ZONE", default="UTC")
LOCALE_PATHS = [BASE_DIR / "locale"]
STATIC_URL = "static/"
# Files are served from where they are, so none are collected.
SERVESTATIC_USE_FINDERS = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Signing in
LOGIN_URL = "dashboard:login"
LOGIN_REDIRECT_URL = "dashboard:home"
CSRF_FAILURE_VIEW = "dashboard.views.account.too_old"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# This many wrong passwords lock a name for the address they came from, and several times as many
# for all addresses.
AXES_FAILURE_LIMIT = 6
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "dashboard.views.account.SignInLimit"
AXES_RESET_ON_SUCCESS = True
# What is tried while a name is locked doesn't keep it locked.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "dashboard.views.account.locked"
AXES_VERBOSE = False
SESSION_COOKIE_AGE = 12 * 3600
# Nothing inline and nothing from elsewhere: what a page runs or shows is a file of ours.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
SECURE_HSTS_SECONDS = 0 if DEBUG else env.int("SECURE_HSTS_SECONDS", default=0)

# Under another name than this machine's own, cookies travel over HTTPS only.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG and not set(ALLOWED_HOSTS) <= set(LOOPBACK)
# Larger bodies are refused with 413 before they are read into memory.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

# Database
MIO_EMBEDDED_POSTGRES = not env.str("DATABASE_URL", default="")
_connection: dict[str, Any] = (
    server.connection(MIO_HOME) if MIO_EMBEDDED_POSTGRES else env.db("DATABASE_URL")
)
# Further databases that hold end users, as NAME=postgres://…, with commas between them. See docs/scaling.md.
_cells = read_cells(env.str("MIO_CELLS", default=""))
MIO_CELLS = list(_cells)
_pooled = env.bool("MIO_DATABASE_POOL", default=False)
DATABASES = {
    name: {
        **reached,
        "ENGINE": "mio_site.postgres",
        "CONN_HEALTH_CHECKS": True,
        # A cursor on the server would outlive its transaction, and a pooler gives the connection away.
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "OPTIONS": (pooled if _pooled else dict)(reached.get("OPTIONS", {})),
    }
    for name, reached in {"default": _connection, **_cells}.items()
}
# Apps whose tables every cell has, for the rows of its end users; others are in the first database.
CELL_APPS = ["accounts", "contacts", "memories", "webhooks", "imports"]
DATABASE_ROUTERS = ["accounts.cells.Router"] if MIO_CELLS else []

# Queue: the broker holds ids only, the truth is in our tables
Q_CLUSTER = {
    "name": "mio",
    "orm": "default",
    "broker_class": "accounts.fair_queue.FairQueue",
    "queue_limit": 1,  # what is fetched ahead can't give way to another app
    "workers": env.int("MIO_WORKERS", default=2),
    "timeout": 900,
    "retry": 960,
    "max_attempts": 5,
    "ack_failures": True,
    "poll": 0.5,
    "save_limit": 500,
    "catch_up": False,
    "label": "Queue",
}
# Seconds without a sign of life after which a process of the worker is killed, and for which the queue
# may stand still with tasks due before all are started anew.
MIO_QUEUE_STUCK_S = env.float("MIO_QUEUE_STUCK_S", default=60)

# API
# Requests a minute that a key may send unless its own limit says otherwise; 0 for any number.
MIO_RATE_LIMIT = env.int("MIO_RATE_LIMIT", default=0)
# Origins of pages that may call the API from a browser; * for all.
MIO_CORS_ORIGINS = env.list("MIO_CORS_ORIGINS", default=[])
CORS_ALLOW_ALL_ORIGINS = MIO_CORS_ORIGINS == ["*"]
CORS_ALLOWED_ORIGINS = [] if CORS_ALLOW_ALL_ORIGINS else MIO_CORS_ORIGINS
CORS_URLS_REGEX = r"^/api/"
CORS_EXPOSE_HEADERS = [
    "X-Request-ID", "Retry-After", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
]  # fmt: skip
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.authentication.HasApp"],
    "DEFAULT_PARSER_CLASSES": ["accounts.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "mio_site.described_fields.DescribedFields",
    "EXCEPTION_HANDLER": "accounts.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "UNICODE_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Mio",
    "DESCRIPTION": "A memory for the people in a user's life.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "DEFAULT_GENERATOR_CLASS": "mio_site.openapi.OneSchema",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "mio_site.openapi.complete",
    ],
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "ENUM_NAME_OVERRIDES": {
        "MemoryTypeEnum": "memories.api.serializers.TYPES",
        "MemoryStatusEnum": "memories.models.Memory.Status",
        "MemoryKindEnum": "memories.models.Memory.Kind",
        "SuggestionStateEnum": "contacts.models.Suggestion.State",
        "ForgettingStateEnum": "memories.api.erasures.STATES",
        "StatedEdgeEnum": "memories.api.memories.KINDS",
        "WebhookTypeEnum": "webhooks.event_types.TYPES",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# Models
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
MIO_LLM = env.str("MIO_LLM", default="openai" if OPENAI_API_KEY or OPENAI_BASE_URL else "offline")
MIO_LLM_MODEL = env.str("MIO_LLM_MODEL", default="gpt-4o-mini")
MIO_LLM_REVIEW_MODEL = env.str("MIO_LLM_REVIEW_MODEL", default=MIO_LLM_MODEL)
# Who decides whom a message refers to if that is uncertain, unless a request says otherwise: auto (a
# model, if there is one and it answers in time), model (however slow it is) or fast (no model).
MIO_RESOLVE = one_of("MIO_RESOLVE", "auto", "fast", "model")
MIO_RESOLVE_MODEL = env.str("MIO_RESOLVE_MODEL", default=MIO_LLM_MODEL)
MIO_EMBEDDINGS = one_of("MIO_EMBEDDINGS", "local", "openai")
MIO_EMBEDDING_MODEL = env.str("MIO_EMBEDDING_MODEL", default="") or (
    LOCAL_MODEL if MIO_EMBEDDINGS == "local" else "text-embedding-3-small"
)
MIO_EMBEDDING_DIMENSIONS = env.int("MIO_EMBEDDING_DIMENSIONS", default=LOCAL_DIMENSIONS)
# Milliseconds after which a context is returned without its search; 0: it waits. Servers take longer
# than this machine.
MIO_CONTEXT_DEADLINE_MS = env.int(
    "MIO_CONTEXT_DEADLINE_MS", default=500 if MIO_EMBEDDINGS == "local" else 2000
)
if MIO_EMBEDDINGS == "local" and MIO_EMBEDDING_MODEL != LOCAL_MODEL:
    raise ImproperlyConfigured(
        f"MIO_EMBEDDING_MODEL is {MIO_EMBEDDING_MODEL!r}, but MIO_EMBEDDINGS=local has only "
        f"{LOCAL_MODEL}. Unset it, or set MIO_EMBEDDINGS=openai and name a server that has the "
        "model by OPENAI_BASE_URL or OPENAI_API_KEY."
    )
if MIO_EMBEDDINGS == "local" and MIO_EMBEDDING_DIMENSIONS != LOCAL_DIMENSIONS:
    raise ImproperlyConfigured(
        f"MIO_EMBEDDING_DIMENSIONS is {MIO_EMBEDDING_DIMENSIONS}, but {LOCAL_MODEL} has "
        f"{LOCAL_DIMENSIONS}. Unset it."
    )

# US dollars for a million tokens (read, written), to show what models cost: list prices of
# OpenAI, 2025. What runs on this machine costs nothing.
MIO_TOKEN_PRICES = {
    "learned-1": [0.0, 0.0],
    LOCAL_MODEL: [0.0, 0.0],
    "gpt-4o-mini": [0.15, 0.6],
    "text-embedding-3-small": [0.02, 0.0],
    **env.json("MIO_TOKEN_PRICES", default={}),
}

# Pipeline
MIO_EXTRACT_EVERY = env.int("MIO_EXTRACT_EVERY", default=10)
MIO_CONSOLIDATE_EVERY = env.int("MIO_CONSOLIDATE_EVERY", default=50)
# For this many messages after the last reference a card stays, while the talk is about the person.
MIO_KEEP_CARDS = env.int("MIO_KEEP_CARDS", default=3)
# How long what a user asked in a chat to forget can still be brought back; 0: not at all.
MIO_FORGET_GRACE_DAYS = env.int("MIO_FORGET_GRACE_DAYS", default=7)
MIO_OPERATOR_PASSWORD = env.str("MIO_OPERATOR_PASSWORD", default="")

# For development alone: events may be sent to this machine itself, which a stranger's address
# must never reach.
MIO_WEBHOOKS_TO_LOOPBACK = env.bool("MIO_WEBHOOKS_TO_LOOPBACK", default=False)

# Milliseconds for which a chat through the gateway waits for its search; cards are always added.
MIO_GATEWAY_BUDGET_MS = env.int("MIO_GATEWAY_BUDGET_MS", default=300)

# Functions of memories that the package contacts calls without importing it.
MIO_CARD_NOTES = "memories.models.links.card_notes"
MIO_CARD_PLANS = "memories.models.links.card_plans"
MIO_MEMORY_COUNT = "memories.models.links.memory_count"
MIO_VALUES_DROPPED = "memories.corrections.edit_memories.end_values"
MIO_CONTACT_CHANGED = "memories.tasks.contact_changed"
MIO_CONTACTS_CREATED = "memories.tasks.contacts_created"
# Undo hooks of imports, by verb; run before the rows are restored.
MIO_UNDO_HOOKS = {
    "import_chat": "imports.intake.take_back",
    "import_people": "imports.people_intake.take_back",
}

# Logs carry ids, never chat text
MIO_LOG_FORMAT = one_of("MIO_LOG_FORMAT", "text", "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"text": {"()": "mio_site.logs.Line"}, "json": {"()": "mio_site.logs.Json"}},
    "filters": {
        "outages": {"()": "mio_site.logs.Outages"},
        "request_id": {"()": "mio_site.request_id.RequestId"},
        "trace_id": {"()": "accounts.tracing.TraceId"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": MIO_LOG_FORMAT,
            "filters": ["outages", "request_id", "trace_id"],
        }
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
    # A refused request is the client's concern and not logged; a failed one is logged.
    "loggers": {
        "django": {"handlers": []},
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
    },
}
