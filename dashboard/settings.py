"""Every setting, from the environment. The README lists the ones meant for operators.

Nothing here can loosen the gate: who must be asked is decided by the published policy alone.
"""

import os
import re
import secrets
import sqlite3
import sys
from contextlib import suppress
from email.utils import parseaddr
from importlib.util import find_spec
from ipaddress import IPv4Address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email
from platformdirs import user_data_path

from dashboard.cookies import cookie_names


def text(name: str) -> str:
    """Read a setting as it is; empty if it is not set. No variable is looked up in its value."""
    value = os.environ.get(name, "")
    if value.startswith("$"):
        raise ImproperlyConfigured(
            f"{name} is {value[:40]!r}, and nothing puts the value of a variable there. Set the "
            "value itself, or unset it."
        )
    return value


def listed(name: str) -> list[str]:
    """Read a setting that has several words, with commas between them."""
    return [word for part in text(name).split(",") if (word := part.strip())]


def without_password(url: str) -> str:
    """Read what may be printed of an address."""
    masked = re.sub(r"password=[^&]*", "password=…", url)
    return f"…@{masked.rpartition('@')[2]}" if "@" in masked else masked


def host_of(name: str, url: str) -> str:
    """Read the host of an address; empty if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} is {without_password(url)[:200]!r}, which is no address. Set one such as "
            "https://approvals.example.org, or unset it."
        ) from None


def whole_number(name: str, default: int, *, least: int = 0, most: int = 10**9) -> int:
    """Read a setting that counts something."""
    digits = text(name) or str(default)
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(most))
    if not is_number or not least <= int(digits) <= most:
        raise ImproperlyConfigured(
            f"{name} is {digits[:40]!r}. Set a whole number from {least} to {most}, or unset it."
        )
    return int(digits)


def secret(name: str) -> str:
    """Read a setting that may hold a secret: from the variable, or the file that another names."""
    value, path = os.environ.get(name, ""), text(f"{name}_FILE")
    if not path:
        return value
    if value:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Set one, and unset it.")
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"{name}_FILE is {path!r}, which cannot be read ({error}). Set the path of a file "
            "that this account may read, or unset it."
        ) from None
    if not value:  # a secret that is still to be written must not become what is there without
        raise ImproperlyConfigured(
            f"{name}_FILE is {path!r}, which is empty. Set the path of a file with the value of "
            f"{name} in it, or unset it."
        )
    return value


def on_or_off(name: str, default: str) -> bool:
    """Read a switch; a misspelled word must not leave it off."""
    word = text(name) or default
    if word not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} is {word!r}. Set 1 or 0, or unset it.")
    return word == "1"


def one_of(name: str, default: str, *more: str) -> str:
    """Read a setting that has a few words."""
    word = text(name).strip().lower() or default
    if word not in {default, *more}:
        words = " or ".join([default, *more])
        raise ImproperlyConfigured(f"{name} is {word[:40]!r}. Set {words}, or unset it.")
    return word


def true_or_false(name: str) -> bool:
    """Read a switch as Django projects have it; a word that is neither is a mistake."""
    word = text(name).strip().lower()
    if word not in {*_TRUE, *_FALSE, ""}:
        raise ImproperlyConfigured(f"{name} is {word!r}. Set true or false, or unset it.")
    return word in _TRUE


_TRUE, _FALSE = {"1", "true", "on", "yes"}, {"0", "false", "off", "no"}


def networks(name: str) -> list[str]:
    """Read a list of networks; one with bits set beyond its mask is a mistake."""
    words = listed(name)
    for word in words:
        try:
            network = ip_network(word).network_address
            is_network = isinstance(network, IPv4Address) or not network.ipv4_mapped
        except ValueError:
            is_network = False
        if not is_network:  # ::ffff:10.0.0.0/104 has no clients: theirs are told as IPv4
            raise ImproperlyConfigured(
                f"{name} names {word!r}, which is not a network. Set networks such as "
                "10.20.0.0/16, with commas between them, or unset it."
            )
    return words


def host_names(name: str) -> list[str]:
    """Read a list of host names; an address with a scheme or a port would match nothing."""
    words = listed(name)
    for word in words:
        if word != "*" and not _HOST.fullmatch(word):
            raise ImproperlyConfigured(
                f"{name} names {word!r}, which is not a host name. Set names such as "
                "approvals.example.org, without scheme and port and with commas between them, or "
                "unset it."
            )
    return words


def issuer(name: str) -> str:
    """Read the address of an OpenID Connect provider, without a slash at the end."""
    address = text(name).rstrip("/")
    host, parts = host_of(name, address), urlsplit(address)
    is_safe = parts.scheme == "https" or (
        parts.scheme == "http" and host in {"127.0.0.1", "localhost", "::1"}
    )
    is_plain = not (parts.query or parts.fragment or parts.username or "/.well-known/" in address)
    if address and not (is_safe and is_plain and host):
        raise ImproperlyConfigured(
            f"{name} is {without_password(address)[:200]!r}. Set the https address that the "
            "provider calls its issuer, such as https://id.example.org/realms/main, or unset it."
        )
    return address


_HOST = re.compile(r"\.?[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]", re.ASCII)


def sender(name: str) -> str:
    """Read the address that mail is sent from; empty if none is set."""
    address = text(name)
    try:
        if address:
            validate_email(parseaddr(address)[1])
    except ValidationError:
        raise ImproperlyConfigured(
            f"{name} is {address!r}, which is no address of mail. Set one such as "
            "approvals@example.org, or unset it."
        ) from None
    return address


def scheme_of(url: str) -> str:
    """Read the scheme of an address; empty if it is none."""
    with suppress(ValueError):
        return urlsplit(url).scheme
    return ""


def database(url: str) -> dict[str, Any]:
    """Read where the database is, as Django wants it."""
    is_sqlite = scheme_of(url) == "sqlite"
    config: dict[str, Any] = {}
    if is_sqlite or scheme_of(url) in {"postgres", "postgresql"}:
        with suppress(ImproperlyConfigured, ValueError):
            config = environ.Env.db_url_config(url)
    name = config.get("NAME", "")
    if name in {"", ":memory:"} or (is_sqlite and name.startswith("file:")):
        raise ImproperlyConfigured(  # what was set is not repeated: it may hold a password
            "DATABASE_URL names no database that this program knows. Set "
            "postgres://USER:PASSWORD@HOST/NAME, or unset it for an SQLite file in the data "
            "folder."
        )
    if not is_sqlite:
        _need("psycopg", "DATABASE_URL names PostgreSQL")
    for option in parse_qs(urlsplit(url).query):
        if not (option == "timeout" if is_sqlite else _is_of_libpq(option)):
            raise ImproperlyConfigured(
                f"DATABASE_URL has {option[:40]!r} after its question mark, which cannot be set "
                f"there. Set {'timeout' if is_sqlite else 'parameters of libpq'} there at most, "
                "or unset it for an SQLite file in the data folder."
            )
    timeout_s = config.get("OPTIONS", {}).get("timeout", 1) if is_sqlite else 1
    if not (isinstance(timeout_s, int | float) and timeout_s > 0):
        raise ImproperlyConfigured(
            "DATABASE_URL has a timeout that is no number of seconds over 0. Set one such as "
            "timeout=20, or unset it."
        )
    return {**config, "is_sqlite": is_sqlite}


def _is_of_libpq(option: str) -> bool:
    """Whether it says how to connect, and nothing of how Django and psycopg use a connection."""
    import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

    try:
        psycopg.conninfo.make_conninfo("", **{option: "1"})
    except (psycopg.ProgrammingError, TypeError):
        return False
    return option != "dbname"  # the path says it


def _need(package: str, because: str) -> None:
    if find_spec(package) is None:
        raise ImproperlyConfigured(
            f"{because}, and the package {package} is not installed. Install the extra [scale], "
            "such as with: pip install -c constraints.txt -e ./client -e '.[scale]'"
        )


_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}


def mailer(url: str) -> dict[str, Any]:
    """Read the address of a mail server, as Django's mail backends want it."""
    scheme, path = scheme_of(url), ""
    try:
        path, config = urlsplit(url).path, environ.Env.email_url_config(url)
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
DATA_DIR = BASE_DIR / "var"
if named := text("DASHBOARD_DATA_DIR"):
    DATA_DIR = Path(named).absolute()
elif not IS_CHECKOUT:  # asked for only here: an account of a container may have no home
    DATA_DIR = user_data_path("approval-dashboard", appauthor=False)
MADE_KEY_FILE = DATA_DIR / "secret_key"

DEBUG = true_or_false("DEBUG")
SECRET_KEY = secret("SECRET_KEY")
SECRET_KEY_IS_CONFIGURED = bool({"SECRET_KEY", "SECRET_KEY_FILE"} & os.environ.keys())
if not SECRET_KEY_IS_CONFIGURED:
    # `start` writes the file. Without it a process signs for itself alone, so nothing that was
    # signed elsewhere is believed.
    try:
        SECRET_KEY = MADE_KEY_FILE.read_text(encoding="ascii").strip()
    except OSError:
        SECRET_KEY = secrets.token_urlsafe(48)
    except UnicodeDecodeError:
        raise ImproperlyConfigured(
            f"The file {MADE_KEY_FILE} is damaged: `start` wrote no such secret key. Put the file "
            "back from a backup. If there is none, delete it, and `start` makes another key: "
            "everybody signs in anew, and the secrets of webhooks change."
        ) from None

# Where people reach the dashboard. `start` fills in the address it prints.
PUBLIC_URL = text("PUBLIC_URL").rstrip("/")
PUBLIC_URL_IS_CONFIGURED = bool(PUBLIC_URL)
PUBLIC_URL = PUBLIC_URL or "http://127.0.0.1:8000"
_public_host = host_of("PUBLIC_URL", PUBLIC_URL)
_public = urlsplit(PUBLIC_URL)
_https = _public.scheme == "https"

# How many proxies stand in front and add to X-Forwarded-For; it is not believed otherwise.
PROXY_COUNT = whole_number("PROXY_COUNT", 0, most=20)

LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
ALLOWED_HOSTS_IS_CONFIGURED = "ALLOWED_HOSTS" in os.environ
ALLOWED_HOSTS = [*LOOPBACK_HOSTS, _public_host]
if ALLOWED_HOSTS_IS_CONFIGURED:
    ALLOWED_HOSTS = host_names("ALLOWED_HOSTS")

# --- what it is made of -------------------------------------------------------------------------

INSTALLED_APPS = [
    "dashboard",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
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
    "allauth.account.middleware.AccountMiddleware",
    "dashboard.web.middleware.SignInFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dashboard.web.middleware.exact_origin",
    "dashboard.web.middleware.ReadOnly",
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
        # In a new database the planner expects far too many rows, and spends seconds on compiling
        # what is read in milliseconds.
        " -c jit=off"
    ),
}

# Not a setting of Django's, whose error pages would show the password.
database_url = secret("DATABASE_URL")
database_url = database_url or f"sqlite:///{DATA_DIR / 'dashboard.sqlite3'}"
_database = database(database_url)
_is_sqlite = _database.pop("is_sqlite")
if _is_sqlite:
    _database["ENGINE"] = "dashboard.sqlite3"  # Django's, and the writers of a process take turns
_options = _database.get("OPTIONS", {})
if "options" in _options:  # the last of two counts: nobody loosens ours
    _options["options"] = f"{_options['options']} {POSTGRESQL_OPTIONS['options']}"
_database["OPTIONS"] = {**(SQLITE_OPTIONS if _is_sqlite else POSTGRESQL_OPTIONS), **_options}
# Threads are few and kept, so an SQLite file stays open in each; PostgreSQL's pool lends.
_database["CONN_MAX_AGE"] = None if _is_sqlite else 0
_database["CONN_HEALTH_CHECKS"] = True
if _is_sqlite:
    # In memory, a second thread meets "database table is locked".
    _database["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
DATABASES = {"default": _database}

REDIS_URL = secret("REDIS_URL")
if REDIS_URL:
    _need("channels_redis", "REDIS_URL is set")
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

# Single sign-on by OpenID Connect. Its people are told apart by issuer and subject alone.
OIDC_ISSUER = issuer("OIDC_ISSUER")
OIDC_CLIENT_ID = text("OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = secret("OIDC_CLIENT_SECRET")
if bool(OIDC_ISSUER) != bool(OIDC_CLIENT_ID):
    raise ImproperlyConfigured(
        "OIDC_ISSUER and OIDC_CLIENT_ID belong together. Set both, or unset both."
    )
OIDC_NAME = text("OIDC_NAME") or urlsplit(OIDC_ISSUER).hostname or ""
OIDC_SCOPES = listed("OIDC_SCOPES") or ["openid", "profile", "email"]
OIDC_GROUPS_CLAIM = text("OIDC_GROUPS_CLAIM") or "groups"
OIDC_CHECK_S = whole_number("OIDC_CHECK_S", 900, least=60, most=3600)
PASSWORD_SIGN_IN = on_or_off("PASSWORD_SIGN_IN", "1")
if not PASSWORD_SIGN_IN and not OIDC_ISSUER:
    raise ImproperlyConfigured(
        "PASSWORD_SIGN_IN is 0 and OIDC_ISSUER is not set, so nobody could sign in. Set both, or "
        "unset PASSWORD_SIGN_IN."
    )
# Of whom a code of an app is demanded, beside the password.
SIGN_IN_LINKS = on_or_off("SIGN_IN_LINKS", "1")
SECOND_FACTOR = one_of("SECOND_FACTOR", "advised", "admins", "everyone")
# Who may use a password all the same, for the day the provider is down.
KEPT_ADMIN = text("KEPT_ADMIN")

# allauth leads through signing in. Its limits would be in each process's memory: ours stand in
# front of every route of it, in the database. It sends nothing and signs nobody up.
ACCOUNT_ADAPTER = "dashboard.web.office.adapter.Accounts"
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_RATE_LIMITS = False
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_USER_MODEL_EMAIL_FIELD = None
MFA_ADAPTER = "dashboard.accounts.mfa.SealedFactors"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
SOCIALACCOUNT_ADAPTER = "dashboard.web.office.provider.Providers"
SOCIALACCOUNT_STORE_TOKENS = False

# --- how much, how long -------------------------------------------------------------------------

# By each process. A submission counts as five requests; a body of 1 MiB has to fit.
REQUESTS_PER_MINUTE = whole_number("REQUESTS_PER_MINUTE", 3000, least=60)
KIB_PER_MINUTE = whole_number("KIB_PER_MINUTE", 12 * 1024, least=1024)
PENDING_PER_TOKEN = whole_number("PENDING_PER_TOKEN", 50, least=1, most=100_000)
# Of all that an agent ever sent; those that no request named are deleted after a day.
NOTEBOOK_MIB_PER_AGENT = whole_number("NOTEBOOK_MIB_PER_AGENT", 1024, most=10**6)
WAITS_PER_TOKEN = whole_number("WAITS_PER_TOKEN", 100, least=1, most=100_000)
WAITS_PER_PROCESS = whole_number("WAITS_PER_PROCESS", 5000, least=1, most=100_000)

# --- what is told to other machines -------------------------------------------------------------

# The mail server, in the form of Django 6.1; without one no mail is sent.
_email_url = secret("EMAIL_URL")
MAILERS = {"default": mailer(_email_url)} if _email_url else {}
# Without one, a host name without a dot will do: it is for whoever runs the mail server.
DEFAULT_FROM_EMAIL = sender("DEFAULT_FROM_EMAIL") or f"approvals@{_public_host or 'localhost'}"

# Besides the public internet: networks that webhooks may be sent to. Plain http is for loopback.
WEBHOOK_NETWORKS = networks("WEBHOOK_NETWORKS")

# --- who watches it, and what it writes ---------------------------------------------------------

# /metrics answers whoever has the token or comes from a network; without either it is not there.
METRICS_TOKEN = secret("METRICS_TOKEN")
_SHORTEST_TOKEN = 20
if METRICS_TOKEN and len(METRICS_TOKEN) < _SHORTEST_TOKEN:
    raise ImproperlyConfigured(
        f"METRICS_TOKEN is shorter than {_SHORTEST_TOKEN} characters, so it could be guessed. Set "
        "a longer one, or unset it."
    )
METRICS_NETWORKS = networks("METRICS_NETWORKS")
LOG_FORMAT = one_of("LOG_FORMAT", "text", "json")
LOG_LEVEL = one_of("LOG_LEVEL", "info", "warning", "error")

# --- how the audit log is watched ---------------------------------------------------------------

# Where `start` keeps heads of the log, besides the database: a file, or a host's address.
AUDIT_HEADS = text("AUDIT_HEADS")
AUDIT_HEADS_EVERY_S = whole_number("AUDIT_HEADS_EVERY_S", 300, least=1, most=86_400)
READY_NEEDS_WHOLE_LOG = on_or_off("READY_NEEDS_WHOLE_LOG", "0")

# --- how policies are published -----------------------------------------------------------------

POLICY_TWO_PEOPLE = on_or_off("POLICY_TWO_PEOPLE", "0")

# --- the browser's side -------------------------------------------------------------------------

SESSION_ENGINE = "dashboard.accounts.sessions"
_MONTH_S = 30 * 86_400
# A session ends this long after the last press, key or page that was opened, and this long after
# signing in at the latest.
SESSION_IDLE_S = whole_number("SESSION_IDLE_S", 8 * 3600, least=600, most=_MONTH_S)
SESSION_LONGEST_S = whole_number("SESSION_LONGEST_S", 24 * 3600, least=600, most=_MONTH_S)
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
    "mail.W001",  # without EMAIL_URL no mail is sent, and the pages of channels say so
    "security.W002",  # web.middleware sends X-Frame-Options with every page
    "security.W005",  # other subdomains are not ours to decide about
    "security.W008",  # the proxy that ends TLS redirects to it
    "security.W021",  # the same as W005
]
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576 + 65_536  # the API itself refuses bodies over 1 MiB
# Our longest form is a plan of 2,000 steps, the most that are drawn: an answer and a note to each.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000

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
        "text": {
            "()": "dashboard.logs.Line",
            "format": "{asctime} {levelname} {name}: {message}{of_request}",
            "style": "{",
        },
        "json": {"()": "dashboard.logs.JsonLine"},
    },
    "filters": {"sparing": {"()": "dashboard.logs.Sparing"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["sparing"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "approval_client": {"level": LOG_LEVEL.upper()},
        "dashboard": {"level": LOG_LEVEL.upper()},
        "django.request": {"level": "ERROR"},
        # Its traceback of a Redis that went away: live.layer says the same in a line.
        "channels_redis": {"level": "CRITICAL"},
    },
}
