"""Credentials that are written down in content."""

import pytest

from dashboard.inspection.code import inspect_code
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import SECRETS
from dashboard.inspection.redaction import candidates, secrets_in_python, secrets_in_text
from dashboard.inspection.secrets import inspect_secrets

LETTERS = "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----", "private-key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "private-key"),
        ("AKIAABCDEFGHIJKLMNOP", "aws-access-key"),
        (f"ghp_{LETTERS}abcd", "github-token"),
        (f"glpat-{LETTERS[:20]}", "gitlab-token"),
        ("xoxb-1234567890-abc", "slack-token"),
        (f"AIza{LETTERS}abc", "google-key"),
        (f"sk-ant-{LETTERS}", "model-provider-key"),
        (f"sk_live_{LETTERS}", "stripe-key"),
        (f"hf_{LETTERS}", "hugging-face-token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x", "jwt"),
        ("postgres://ada:correct@db.example/x", "password-in-address"),
        ("PASSWORD = 'correct-horse'", "password"),
        ('"api_key": "correct-horse"', "password"),
    ],
)
def test_what_looks_like_a_credential_is_found(text, what):
    (finding,) = inspect_secrets(f"first\nx = {text}\n")

    assert (finding.name, finding.severity, finding.line) == ("credentials", Severity.MEDIUM, 2)
    assert finding.code == what


@pytest.mark.parametrize(
    "text",
    [
        "password = os.environ['PASSWORD']",
        "password = '${PASSWORD}'",
        "password = ''",
        f"task-{LETTERS}",
        f"disk_{LETTERS}",
        "https://example.org:8000/a@b",
        "the secret: to be kind",
        "sk-short",
    ],
)
def test_what_only_looks_a_little_like_one_is_left_alone(text):
    assert inspect_secrets(text) == []


LITERALS = {
    "aws-access-key": ("AKIA", "ABCDEFGHIJKLMNOP"),
    "github-token": ("ghp_", f"{LETTERS}abcd-more_of_it"),
    "gitlab-token": ("glpat-", LETTERS),
    "slack-token": ("xoxb-", "1234567890-abc_d"),
    "google-key": ("AIza", f"{LETTERS}abcd"),
    "model-provider-key": ("sk-ant-", LETTERS),
    "stripe-key": ("sk_live_", LETTERS),
    "hugging-face-token": ("hf_", LETTERS),
    "jwt": ("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x"),
    "password": ("", "correct-horse"),
    "dashboard-token": ("dash_", LETTERS),
}
"""What stays visible of a secret, and what is covered."""

# The lines of a key may as well be paths of programs, and people have to see an address.
NEVER_COVERED = {"private-key", "password-in-address", "metadata-address"}


def test_every_secret_of_the_table_has_an_example_here():
    assert {secret.name for secret in SECRETS.secrets} == LITERALS.keys() | NEVER_COVERED


@pytest.mark.parametrize("what", LITERALS)
def test_every_secret_is_found_and_covered(what):
    shown, secret = LITERALS[what]
    name = "password" if what == "password" else "value"
    source = f"{name} = '{shown}{secret}'\n"
    start = source.index(secret)
    run = (start, start + len(secret))

    found = {finding.name for finding in inspect_code(source, "python")}

    assert "credentials" in found
    assert run in secrets_in_text(source) or what == "password"
    assert any(begin <= run[0] and run[1] <= last for begin, last in candidates(source))
    assert any(begin <= run[0] and run[1] <= last for begin, last in secrets_in_python(source))


@pytest.mark.parametrize("what", sorted(LITERALS.keys() - {"dashboard-token"}))
def test_every_secret_is_found_under_its_own_name(what):
    shown, secret = LITERALS[what]
    end = "@db.example/x" if "address" in what else ""
    name = "password" if what == "password" else "value"

    codes = {f.code for f in inspect_secrets(f"{name} = '{shown}{secret}{end}'")}

    assert what in codes


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest/meta-data/",
        "169.254.169.254",
        "http://169.254.170.2/v2/credentials",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://100.100.100.200/latest",
        "http://[fd00:ec2::254]/latest",
        "http://[::ffff:a9fe:a9fe]/",
        "http://2852039166/",
        "http://0xA9FEA9FE/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://0251.0376.0251.0376/",
        "http://METADATA.google.internal/",
        "http://app.169.254.169.254.nip.io/",
    ],
)
def test_the_address_at_which_a_cloud_gives_out_credentials_is_found(address):
    assert [f.code for f in inspect_secrets(f"see {address}")] == ["metadata-address"]


@pytest.mark.parametrize(
    "text", ["169.254.169.2540", "169.254.1.1", "100.100.100.20", "28520391660", "12852039166"]
)
def test_another_address_is_not_that_one(text):
    assert inspect_secrets(text) == []


def test_a_token_of_this_dashboard_is_found_in_python():
    (finding,) = inspect_code(f"value = 'dash_{LETTERS}'", "python")

    assert (finding.name, finding.severity) == ("credentials", Severity.MEDIUM)


def test_a_secret_beside_code_that_is_too_deep_to_be_inspected_is_found():
    source = "password = 'hunter2hunter2hunter2'\nx = " + "1+" * 1500 + "1"

    assert [source[slice(*run)] for run in secrets_in_python(source)] == ["hunter2hunter2hunter2"]
