"""Each wrong value of a setting is refused in one sentence that names it and says what to do."""

import runpy
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.management.preflight import OURS, misspelled, wrong_settings
from tests.management.running import ROOT

STRONG = "wJ8kQ2vN5xR7tY1uI4oP6aS9dF3gH0jK-zXcVbNm_QwErTyUi"
TOO_MANY = "9" * 30

REFUSED_WHEN_READ = [
    ("DEBUG", "maybe"),
    ("DEBUG", "2"),
    ("DATABASE_URL", "mysql://me@db.example/approvals"),
    ("DATABASE_URL", "approvals.sqlite3"),
    ("DATABASE_URL", "postgres://"),
    ("DATABASE_URL", "postgres://me@db.example"),
    ("DATABASE_URL", "postgres://me@db.example:port/approvals"),
    ("DATABASE_URL", "sqlite://:memory:"),
    ("DATABASE_URL", "sqlite:///file:a.sqlite3"),
    ("ALLOWED_HOSTS", "https://a.example"),
    ("ALLOWED_HOSTS", "a.example:8000"),
    ("ALLOWED_HOSTS", "a.example b.example"),
    ("ALLOWED_HOSTS", "a.example/approvals"),
    ("PROXY_COUNT", "one"),
    ("PROXY_COUNT", "-1"),
    ("PROXY_COUNT", "1000"),
    ("REQUESTS_PER_MINUTE", "0"),
    ("REQUESTS_PER_MINUTE", "1e3"),
    ("REQUESTS_PER_MINUTE", TOO_MANY),
    ("KIB_PER_MINUTE", "10"),
    ("KIB_PER_MINUTE", "1 GiB"),
    ("PENDING_PER_TOKEN", "0"),
    ("PENDING_PER_TOKEN", TOO_MANY),
    ("NOTEBOOK_MIB_PER_AGENT", "-5"),
    ("NOTEBOOK_MIB_PER_AGENT", TOO_MANY),
    ("WAITS_PER_TOKEN", "0"),
    ("WAITS_PER_PROCESS", "0"),
    ("WAITS_PER_PROCESS", "٣"),
    ("WEBHOOK_NETWORKS", "10.20.0.0/99"),
    ("WEBHOOK_NETWORKS", "10.20.0.1/16"),
    ("WEBHOOK_NETWORKS", "a.example"),
    ("METRICS_NETWORKS", "::ffff:10.0.0.0/104"),
    ("EMAIL_URL", "mail.example:25"),
    ("EMAIL_URL", "https://mail.example"),
    ("EMAIL_URL", "smtp://mail.example:port"),
    ("EMAIL_URL", "filemail://"),
    ("DEFAULT_FROM_EMAIL", "approvals"),
    ("DEFAULT_FROM_EMAIL", "a b@mail.example"),
    ("POLICY_TWO_PEOPLE", "yes"),
    ("READY_NEEDS_WHOLE_LOG", "2"),
    ("AUDIT_HEADS_EVERY_S", "0"),
    ("AUDIT_HEADS_EVERY_S", "5m"),
    ("SESSION_IDLE_S", "10"),
    ("SESSION_IDLE_S", TOO_MANY),
    ("SESSION_LONGEST_S", "1d"),
    ("DATABASE_URL", "$DB_URL"),
    ("DATABASE_URL", "postgres://[x"),
    ("DATABASE_URL", "postgres://db.example/approvals?pool=5"),
    ("DATABASE_URL", "postgres://db.example/approvals?autocommit=0"),
    ("DATABASE_URL", "postgres://db.example/approvals?ATOMIC_REQUESTS=1"),
    ("DATABASE_URL", "postgres://db.example/approvals?isolation_level=1"),
    ("DATABASE_URL", "postgres://db.example/approvals?dbname=other"),
    ("DATABASE_URL", "postgres://db.example/approvals?conninfo=1"),
    ("DATABASE_URL", "sqlite:////tmp/a.sqlite3?init_command=SELECT%201"),
    ("EMAIL_URL", "smtp://[x"),
    ("METRICS_TOKEN", "$METRICS"),
    ("OIDC_ISSUER", "https://[x"),
    ("PUBLIC_URL", "http://[::1"),
]
NO_SECRETS = [
    "AUDIT_HEADS",
    "POLICY_TWO_PEOPLE",
    "READY_NEEDS_WHOLE_LOG",
    "SECOND_FACTOR",
    "SECRET_KEY_FILE",
    "SESSION_IDLE_S",
    "WEBHOOK_NETWORKS",
]
SECRETS = (
    "SECRET_KEY",
    "DATABASE_URL",
    "REDIS_URL",
    "EMAIL_URL",
    "METRICS_TOKEN",
    "OIDC_CLIENT_SECRET",
)
REFUSED_AT_START = [
    ("SECRET_KEY", ""),
    ("SECRET_KEY", "secret"),
    ("SECRET_KEY", "$KEY"),
    ("SECRET_KEY", "a" * 60),
    ("ALLOWED_HOSTS", "*"),
    ("ALLOWED_HOSTS", "b.example"),
    ("PUBLIC_URL", "a.example"),
    ("PUBLIC_URL", "https://a.example "),
    ("PUBLIC_URL", "https://a.example/approvals"),
    ("PUBLIC_URL", "https://A.example"),
    ("PUBLIC_URL", "ftp://a.example"),
    ("REDIS_URL", "foo"),
    ("REDIS_URL", "redis://[x"),
    ("REDIS_URL", "redis://127.0.0.1:abc/7"),
    ("PUBLIC_URL", "https://bücher.example"),
    ("REDIS_URL", "http://a.example:6379"),
    ("AUDIT_HEADS", "heads"),
    ("AUDIT_HEADS", "/nowhere/at/all/heads"),
    ("AUDIT_HEADS", "http://heads.example/keep"),
]


@pytest.fixture
def read(monkeypatch):
    """Read the settings anew with one of them set; returns all of them by name."""

    def read(name, value, **more):
        for setting in OURS:
            monkeypatch.delenv(setting, raising=False)
        for variable, text in {name: value, **more}.items():
            monkeypatch.setenv(variable, text)
        return runpy.run_path(str(ROOT / "dashboard" / "settings.py"))

    return read


@pytest.mark.parametrize(("name", "value"), REFUSED_WHEN_READ)
def test_a_value_that_cannot_be_meant_is_refused_by_every_command(read, name, value):
    with pytest.raises(ImproperlyConfigured) as refusal:
        read(name, value)

    said = str(refusal.value)
    assert said.startswith(f"{name} ")
    assert " Set " in said
    assert "unset it" in said


@pytest.mark.parametrize("name", NO_SECRETS)
def test_no_variable_is_looked_up_in_a_value(read, name):
    with pytest.raises(ImproperlyConfigured, match=rf"^{name} is '\${{OTHER}}', and nothing puts"):
        read(name, "${OTHER}", OTHER="1")


def test_a_secret_that_begins_with_a_dollar_is_taken_as_it_is(read):
    values = read("SECRET_KEY", f"${STRONG}", METRICS_TOKEN=f"${STRONG}")

    assert (values["SECRET_KEY"], values["METRICS_TOKEN"]) == (f"${STRONG}", f"${STRONG}")


@pytest.mark.parametrize("name", ["PASSWORD_SIGN_IN", "SIGN_IN_LINKS"])
def test_an_empty_switch_is_unset(read, name):
    assert read(name, "")[name] is True


def test_a_made_key_that_is_damaged_is_refused(read, tmp_path):
    (tmp_path / "secret_key").write_bytes(b"caf\xc3\xa9")
    with pytest.raises(ImproperlyConfigured, match=r"secret_key is damaged.*`start` makes"):
        read("DASHBOARD_DATA_DIR", str(tmp_path))


@pytest.mark.parametrize(("name", "value"), REFUSED_AT_START)
def test_a_value_under_which_the_gate_would_not_be_one_is_refused(read, settings, name, value):
    values = read(name, value)
    for changed in (name, f"{name}_IS_CONFIGURED"):
        if changed in values:
            setattr(settings, changed, values[changed])

    [said] = wrong_settings("127.0.0.1")
    assert said.startswith((f"{name} ", f"{name}=", f"The file {value} of {name}"))


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_may_stand_in_a_file(read, tmp_path, name):
    value = {"DATABASE_URL": f"sqlite:///{tmp_path}/x", "EMAIL_URL": "smtp://mail.example:25"}
    file = tmp_path / "secret"
    file.write_text(value.get(name, STRONG) + "\n")
    values = read(f"{name}_FILE", str(file))

    if name in values:
        assert values[name] == STRONG
    assert values["DATABASES"]["default"]["NAME"].endswith("/x") is (name == "DATABASE_URL")
    assert bool(values["MAILERS"]) is (name == "EMAIL_URL")
    assert values["SECRET_KEY_IS_CONFIGURED"] is (name == "SECRET_KEY")


@pytest.mark.parametrize("name", SECRETS)
def test_a_file_of_a_secret_that_cannot_be_read_is_refused(read, tmp_path, name):
    with pytest.raises(ImproperlyConfigured, match=f"^{name}_FILE is .* Set the path of a file"):
        read(f"{name}_FILE", str(tmp_path / "nothing"))


@pytest.mark.parametrize("name", SECRETS)
def test_an_empty_file_is_no_secret_and_not_as_good_as_none(read, tmp_path, name):
    file = tmp_path / "secret"
    file.write_text(" \n")
    with pytest.raises(ImproperlyConfigured, match=f"^{name}_FILE is .* is empty. Set the path"):
        read(f"{name}_FILE", str(file))


def test_what_the_address_says_of_a_session_does_not_undo_our_own_limits(read):
    address = "postgres://db.example/approvals?sslmode=require&connect_timeout=9&options="
    values = read("DATABASE_URL", f"{address}-c%20search_path%3Da%20-c%20lock_timeout%3D0")
    options = values["DATABASES"]["default"]["OPTIONS"]

    own = values["POSTGRESQL_OPTIONS"]["options"]
    assert options["options"] == f"-c search_path=a -c lock_timeout=0 {own}"
    assert "-c synchronous_commit=on" in own
    assert (options["sslmode"], options["connect_timeout"]) == ("require", 9)
    assert options["pool"] == values["POSTGRESQL_OPTIONS"]["pool"]


def test_a_secret_is_not_given_twice(read, monkeypatch, tmp_path):
    file = tmp_path / "secret"
    file.write_text(STRONG)
    with pytest.raises(ImproperlyConfigured, match="are both set"):
        read("SECRET_KEY", STRONG, SECRET_KEY_FILE=str(file))


@pytest.mark.parametrize(("name", "value"), [("PUBLIC_URL", ""), ("DASHBOARD_DATA_DIR", "")])
def test_an_empty_value_is_as_good_as_none(read, name, value):
    assert read(name, value)["DATA_DIR"] == ROOT / "var"


@pytest.mark.parametrize("host", ["a.example", ".a.example", "10.1.2.3", "[::1]", "my_host"])
def test_names_of_hosts_are_taken(read, host):
    assert read("ALLOWED_HOSTS", host)["ALLOWED_HOSTS"] == [host]


@pytest.mark.parametrize("address", ["a@b.example", "Approvals <a@b.example>"])
def test_addresses_of_mail_are_taken(read, address):
    assert read("DEFAULT_FROM_EMAIL", address)["DEFAULT_FROM_EMAIL"] == address


@pytest.mark.parametrize(
    ("name", "value", "package"),
    [
        ("DATABASE_URL", "postgres://db.example/approvals", "psycopg"),
        ("REDIS_URL", "redis://a.example", "channels_redis"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_the_extra(
    read, monkeypatch, name, value, package
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImproperlyConfigured, match=rf"{package} is not installed.*\[scale\]"):
        read(name, value)


@pytest.mark.parametrize(
    "name", ["PUBLIC_ULR", "SECRETKEY", "WAITS_PER_PROCES", "ALOWED_HOSTS", "DASHBOARD_DATADIR"]
)
def test_a_name_that_is_nearly_one_of_ours_is_told(name):
    [said] = misspelled([name])
    assert said.startswith(f"{name} is not a setting and was not read. Did you mean ")


def test_a_name_that_begins_as_ours_and_is_none_is_told():
    [said] = misspelled(["DASHBOARD_PORT", "DASHBOARD_URL", "DASHBOARD_TOKEN"])
    assert said.startswith("DASHBOARD_PORT is not a setting and was not read. docs/settings.md")
