"""Every setting, from the environment. The README lists the ones meant for operators.

Nothing here can loosen the gate: who must be asked is decided by the published policy alone.
"""

import secrets
import sqlite3
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

from dashboard.cookies import cookie_names

env = environ.Env()


def whole_number(name: str, default: int, least: int = 0) -> int:
    """Read a setting that counts something."""
    text = env.str(name, default="") or str(default)
    if not text.isascii() or not text.isdigit() or int(text) < least:
        at_least = f" of at least {least}" if least else ""
        raise ImproperlyConfigured(
            f"{name} is {text!r}. Set a whole number{at_least}, or unset it."
        )
    return int(text)


def on_or_off(name: str, text: str) -> bool:
    """Read a switch; a misspelled word must not leave it off."""
    if text not in {"", "0", "1"}:
        raise ImproperlyConfigured(f"{name} is {text!r}. Set 1 or 0, or unset it.")
    return text == "1"


def true_or_false(name: str) -> bool:
    """Read a switch as Django projects have it; a word that is neither is a mistake."""
    text = env.str(name, default="").strip().lower()
    if text not in {*_TRUE, *_FALSE, ""}:
        raise ImproperlyConfigured(f"{name} is {text!r}. Set true or false, or unset it.")
    return text in _TRUE


_TRUE, _FALSE = {"1", "true", "on", "yes"}, {"0", "false", "off", "no"}


def networks(name: str, texts: list[str]) -> list[str]:
    """Read a list of networks; one with bits set beyond its mask is a mistake."""
    for text in texts:
        try:
            ip_network(text)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} names {text!r}, which is not a network. Set networks such as "
                "10.20.0.0/16, with commas between them, or unset it."
            ) from None
    return texts


_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}


def mailer(url: str) -> dict[str, Any]:
    """Read the address of a mail server, as Django's mail backends want it."""
    scheme, path = urlsplit(url).scheme, urlsplit(url).path
    try:
        config = environ.Env.email_url_config(url)
    except (ImproperlyConfigured, ValueError):
        scheme = ""
    if scheme not in {*_MAIL_PORTS, "consolemail"} and not (scheme == "filemail" and path):
        raise ImproperlyConfigured(  # what was set is not repeated: it may hold a password
            "EMAIL_URL names no mail server that this program knows. Set "
            "smtp+tls://USER:PASSWORD@HOST:587 (STARTTLS), smtp+ssl://USER:PASSWORD@HOST:465, "
            "smtp://HOST:25, filemail:///FOLDER or consolemail://, or unset it."
        )
    options: dict[str, Any] = {"file_path": unquote(path)} if scheme == "filemail" else {}
    if scheme in _MAIL_PORTS:
        options = {
            "host": config["EMAIL_HOST"] or "localhost",
            "port": config["EMAIL_PORT"] or _MAIL_PORTS[scheme],
            "username": config["EMAIL_HOST_USER"] or "",
            "password": config["EMAIL_HOST_PASSWORD"] or "",
            "use_tls": scheme == "smtp+tls",
            "use_ssl": scheme == "smtp+ssl",
            "timeout": 10,  # without one, a server that hangs would hold a thread for ever
        }
    return {"BACKEND": config["EMAIL_BACKEND"], "OPTIONS": options}


BASE_DIR = Path(__file__).resolve().parent.parent
IS_CHECKOUT = all((BASE_DIR / name).is_file() for name in ("manage.py", "pyproject.toml"))
# What an operator types before the name of a command, as messages and pages say it.
_python = Path(sys.executable)
_PYTHON = _python.relative_to(BASE_DIR) if _python.is_relative_to(BASE_DIR) else "python"
OPERATOR_COMMAND = (
    f"{_PYTHON} manage.py"
    if IS_CHECKOUT and Path(sys.argv[0]).stem != "approval-dashboard"
    else "approval-dashboard"
)
# A wheel has templates and static files in the package, and nothing is written beside them.
PAGES_DIR = BASE_DIR if IS_CHECKOUT else BASE_DIR / "dashboard" / "web"
DATA_DIR = (
    BASE_DIR / "var" if IS_CHECKOUT else user_data_path("approval-dashboard", appauthor=False)
)
DATA_DIR = Path(env.str("DASHBOARD_DATA_DIR", default=str(DATA_DIR))).absolute()
SECRET_KEY_FILE = DATA_DIR / "secret_key"

DEBUG = true_or_false("DEBUG")
SECRET_KEY = env.str("SECRET_KEY", default="")
SECRET_KEY_IS_CONFIGURED = "SECRET_KEY" in env.ENVIRON
if not SECRET_KEY_IS_CONFIGURED:
    # `start` writes the file. Without it a process signs for itself alone, so nothing that was
    # signed elsewhere is believed.
    try:
        SECRET_KEY = SECRET_KEY_FILE.read_text(encoding="ascii").strip()
    except OSError:
        SECRET_KEY = secrets.token_urlsafe(48)

# Where people reach the dashboard. `start` fills in the address it prints.
PUBLIC_URL = env.str("PUBLIC_URL", default="").rstrip("/")
PUBLIC_URL_IS_CONFIGURED = bool(PUBLIC_URL)
PUBLIC_URL = PUBLIC_URL or "http://127.0.0.1:8000"
_public = urlsplit(PUBLIC_URL)
_https = _public.scheme == "https"

# How many proxies stand in front and add to X-Forwarded-For; it is not believed otherwise.
PROXY_COUNT = whole_number("PROXY_COUNT", 0)

LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
ALLOWED_HOSTS_IS_CONFIGURED = "ALLOWED_HOSTS" in env.ENVIRON
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[*LOOPBACK_HOSTS, _public.hostname or ""])

# --- what it is made of -------------------------------------------------------------------------

INSTALLED_APPS = [
    "dashboard",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "ninja",
]
MIDDLEWARE = [
    "dashboard.web.middleware.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "dashboard.web.middleware.one_address",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.web.middleware.SignInFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dashboard.web.middleware.exact_origin",
    "dashboard.web.middleware.session_in_use",
]
ROOT_URLCONF = "dashboard.urls"
ASGI_APPLICATION = "dashboard.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PAGES_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.web.context.hold_state",
            ],
            "libraries": {"desk": "dashboard.web.templatetags.desk"},
        },
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- stores -------------------------------------------------------------------------------------

# SQLite lost data when a WAL was reset under two writers, until these releases
# (sqlite.org/wal.html#walresetbug). Older libraries keep the rollback journal.
SQLITE_HAS_SAFE_WAL = sqlite3.sqlite_version_info >= (3, 51, 3)
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        f"PRAGMA journal_mode={'WAL' if SQLITE_HAS_SAFE_WAL else 'PERSIST'};"
        "PRAGMA synchronous=FULL;"
        "PRAGMA recursive_triggers=ON;"  # so that INSERT OR REPLACE meets the delete guards
        "PRAGMA trusted_schema=OFF;"
    ),
}
POSTGRESQL_OPTIONS = {
    "pool": {"min_size": 1, "max_size": 20, "timeout": 5},
    # A link that died silently is noticed within half a minute.
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
    "options": (
        "-c lock_timeout=5s -c statement_timeout=10s"
        " -c idle_in_transaction_session_timeout=30s -c synchronous_commit=on"
    ),
}

_database_url = env.str("DATABASE_URL", default="")
_database_url = _database_url or f"sqlite:///{DATA_DIR / 'dashboard.sqlite3'}"
if urlsplit(_database_url).scheme not in {"sqlite", "postgres", "postgresql"}:
    raise ImproperlyConfigured(
        "DATABASE_URL names no database that this program knows. Set postgres://USER@HOST/NAME, "
        "or unset it for an SQLite file in the data folder."
    )
_database = env.db_url_config(_database_url)
_is_sqlite = _database["ENGINE"].endswith("sqlite3")
if _is_sqlite:
    _database["ENGINE"] = "dashboard.sqlite3"  # Django's, and the writers of a process take turns
_database["OPTIONS"] = {
    **(SQLITE_OPTIONS if _is_sqlite else POSTGRESQL_OPTIONS),
    **_database.get("OPTIONS", {}),
}
# Threads are few and kept, so an SQLite file stays open in each; PostgreSQL's pool lends.
_database["CONN_MAX_AGE"] = None if _is_sqlite else 0
_database["CONN_HEALTH_CHECKS"] = True
if _is_sqlite:
    # In memory, a second thread meets "database table is locked".
    _database["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
DATABASES = {"default": _database}

REDIS_URL = env.str("REDIS_URL", default="")
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {
                # Two dashboards may share a Redis.
                "prefix": f"approvals-{_database['NAME']}".replace("/", "-"),
                "hosts": [
                    {
                        "address": REDIS_URL,
                        "socket_timeout": 3,
                        "socket_connect_timeout": 3,
                        "health_check_interval": 15,
                    },
                ],
            },
        },
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 200},
    },
}

# --- people -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "dashboard.User"
AUTHENTICATION_BACKENDS = ["dashboard.accounts.sessions.People"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
LOGIN_URL = "web:sign_in"
LOGIN_REDIRECT_URL = "web:queue"
SIGN_IN_LINK_LIFE_S = 3600

# --- how much, how long -------------------------------------------------------------------------

# By each process. A submission counts as five requests; a body of 1 MiB has to fit.
REQUESTS_PER_MINUTE = whole_number("REQUESTS_PER_MINUTE", 3000, least=60)
KIB_PER_MINUTE = whole_number("KIB_PER_MINUTE", 12 * 1024, least=1024)
PENDING_PER_TOKEN = whole_number("PENDING_PER_TOKEN", 50, least=1)
# Of all that an agent ever sent; those that no request named are deleted after a day.
NOTEBOOK_MIB_PER_AGENT = whole_number("NOTEBOOK_MIB_PER_AGENT", 1024)
WAITS_PER_TOKEN = whole_number("WAITS_PER_TOKEN", 100, least=1)
WAITS_PER_PROCESS = whole_number("WAITS_PER_PROCESS", 5000, least=1)

# --- what is told to other machines -------------------------------------------------------------

# The mail server, in the form of Django 6.1; without one no mail is sent.
_email_url = env.str("EMAIL_URL", default="")
MAILERS = {"default": mailer(_email_url)} if _email_url else {}
DEFAULT_FROM_EMAIL = env.str(
    "DEFAULT_FROM_EMAIL", default=f"approvals@{_public.hostname or 'localhost'}"
)

# Besides the public internet: networks that webhooks may be sent to. Plain http is for loopback.
WEBHOOK_NETWORKS = networks("WEBHOOK_NETWORKS", env.list("WEBHOOK_NETWORKS", default=[]))

# --- how the audit log is watched ---------------------------------------------------------------

# Where `start` keeps heads of the log, besides the database: a file, or a host's address.
AUDIT_HEADS = env.str("AUDIT_HEADS", default="")
AUDIT_HEADS_EVERY_S = whole_number("AUDIT_HEADS_EVERY_S", 300)
READY_NEEDS_WHOLE_LOG = on_or_off(
    "READY_NEEDS_WHOLE_LOG", env.str("READY_NEEDS_WHOLE_LOG", default="")
)

# --- how policies are published -----------------------------------------------------------------

POLICY_TWO_PEOPLE = on_or_off("POLICY_TWO_PEOPLE", env.str("POLICY_TWO_PEOPLE", default=""))

# --- the browser's side -------------------------------------------------------------------------

SESSION_ENGINE = "dashboard.accounts.sessions"
# A session ends this long after the last press, key or page that was opened, and this long after
# signing in at the latest.
SESSION_IDLE_S = whole_number("SESSION_IDLE_S", 8 * 3600, least=600)
SESSION_LONGEST_S = whole_number("SESSION_LONGEST_S", 24 * 3600, least=600)
SESSION_COOKIE_AGE = SESSION_IDLE_S
SESSION_COOKIE_SAMESITE = "Lax"  # Strict would make every link from a message look signed out
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _https
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = cookie_names(SECRET_KEY, https=_https)
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
CSRF_FAILURE_VIEW = "dashboard.web.errors.csrf_failure"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if _https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
# The proxy that ends TLS must set this header itself; without an https PUBLIC_URL it is ignored.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _https else None
X_FRAME_OPTIONS = "DENY"
SILENCED_SYSTEM_CHECKS = [
    "security.W002",  # web.middleware sends X-Frame-Options with every page
    "security.W005",  # other subdomains are not ours to decide about
    "security.W008",  # the proxy that ends TLS redirects to it
    "security.W021",  # the same as W005
]
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576 + 65_536  # the API itself refuses bodies over 1 MiB

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [PAGES_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "dashboard.web.staticfiles.HashedStaticFiles"},
}
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

LANGUAGE_CODE = "en-gb"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "dashboard.logs.Line",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "filters": {"sparing": {"()": "dashboard.logs.Sparing"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["sparing"]}
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "approval_client": {"level": "INFO"},
        "dashboard": {"level": "INFO"},
        "django.request": {"level": "ERROR"},
    },
}
