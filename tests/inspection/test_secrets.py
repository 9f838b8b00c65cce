"""Credentials that are written down in content."""

import pytest

from dashboard.inspection.findings import Severity
from dashboard.inspection.secrets import inspect_secrets

LETTERS = "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----", "a private key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
        ("AKIAABCDEFGHIJKLMNOP", "an access key of AWS"),
        (f"ghp_{LETTERS}abcd", "a token of GitHub"),
        (f"glpat-{LETTERS[:20]}", "a token of GitLab"),
        ("xoxb-1234567890-abc", "a token of Slack"),
        (f"AIza{LETTERS}abc", "a key of Google"),
        (f"sk-ant-{LETTERS}", "a key of a model's provider"),
        (f"sk_live_{LETTERS}", "a key of Stripe"),
        (f"hf_{LETTERS}", "a token of Hugging Face"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x", "a signed token (JWT)"),
        ("postgres://ada:correct@db.example/x", "a password in an address"),
        ("PASSWORD = 'correct-horse'", "a password"),
        ('"api_key": "correct-horse"', "a password"),
    ],
)
def test_what_looks_like_a_credential_is_found(text, what):
    (finding,) = inspect_secrets(f"first\nx = {text}\n")

    assert (finding.name, finding.severity, finding.line) == ("credentials", Severity.MEDIUM, 2)
    assert finding.sentence == f"Holds what looks like {what}."


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
