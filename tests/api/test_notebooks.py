"""What agents may send as a notebook, and how everything else is refused."""

import gzip
import json
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.utils import timezone

from approval_client.wire import MAX_NOTEBOOK_BYTES
from dashboard.api.views import api as described
from dashboard.approvals.models import Notebook
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.audit.models import AuditEntry
from tests.notebooks import code, digest_of, display, markdown, notebook, stream

pytestmark = pytest.mark.django_db
BODY = notebook(code("print(1)"))


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    monkeypatch.setattr(notebook_rules, "CHECK_WITHIN_S", 20.0)


def put(api, body=BODY, *, digest=None, **headers):
    path = f"/api/v1/notebooks/{digest or digest_of(body)}"
    return api.http.put(
        path, body, content_type="application/octet-stream", headers=api.headers | headers
    )


def deep(levels):
    """Lists in lists, as figures and widgets have them."""
    inside = []
    for _ in range(levels):
        inside = [inside]
    return inside


def problem(response):
    assert response["Content-Type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


def test_a_notebook_is_kept_byte_for_byte(api):
    response = put(api)

    kept = Notebook.objects.get()
    assert response.status_code == 201
    assert (bytes(kept.body), kept.digest, kept.size) == (BODY, digest_of(BODY), len(BODY))
    assert response.json()["digest"] == digest_of(BODY)


def test_the_same_notebook_again_changes_nothing(api):
    first = put(api).json()

    again = put(api)

    assert (again.status_code, again.json()) == (200, first)
    assert Notebook.objects.count() == 1


def test_the_log_says_which_token_sent_what(api):
    put(api)

    entry = AuditEntry.objects.get(action="notebook.sent")
    assert (entry.actor, entry.digest) == ("agent:beamline", digest_of(BODY))
    assert json.loads(entry.details) == {"size": len(BODY)}


def test_each_agent_has_its_own_copy(api, stranger):
    put(api)

    assert put(stranger).status_code == 201
    assert Notebook.objects.count() == 2


def test_bytes_under_another_digest_are_refused(api):
    response = put(api, digest="0" * 64)

    assert problem(response) == (409, "digest_mismatch")
    assert response.json()["detail"].endswith("The notebook was not kept.")
    assert not Notebook.objects.exists()


@pytest.mark.parametrize("digest", ["0" * 63, "A" * 64, "g" * 64])
def test_what_is_no_digest_is_no_address(api, digest):
    assert problem(put(api, digest=digest)) == (422, "invalid")


def test_without_a_token_nothing_is_kept(api):
    api.headers = {}

    assert problem(put(api)) == (401, "unauthorized")


def test_a_notebook_may_have_ten_mebibytes_and_no_byte_more(api):
    padding = " " * (MAX_NOTEBOOK_BYTES - len(BODY))
    largest = BODY + padding.encode()

    assert put(api, largest).status_code == 201
    assert problem(put(api, largest + b" ")) == (413, "too_large")


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_nothing_is_ever_unpacked(api, encoding):
    bomb = gzip.compress(b"0" * 10_000_000)

    response = put(api, bomb, **{"Content-Encoding": encoding})

    assert problem(response) == (415, "unsupported_media_type")


def test_a_bomb_that_does_not_say_so_is_no_json(api):
    assert problem(put(api, gzip.compress(b"0" * 10_000_000)))[0] == 400


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"\xff", "not_utf8"),
        (b'{"cells":' + b"[" * 500_000 + b"]" * 500_000 + b"}", "too_deep"),
        (b'{"nbformat":4,"nbformat":4,"cells":[]}', "duplicate_key"),
    ],
)
def test_json_that_two_readers_could_read_differently_is_refused(api, body, code):
    assert problem(put(api, body)) == (400, code)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'"text"',
        b"{}",
        notebook(nbformat=3),
        notebook(nbformat="4"),
        notebook(cells=None),
        notebook(cells={}),
        notebook("cell"),
        notebook({"cell_type": ["code"], "source": ""}),
        notebook(code({"x": 1})),
        notebook(code([1, 2])),
        notebook(code("x", outputs={"0": {}})),
        notebook({"cell_type": "heading", "source": "x"}),
    ],
)
def test_what_is_no_notebook_is_refused(api, body):
    response = put(api, body)

    assert problem(response) == (422, "not_a_notebook")
    assert response.json()["detail"].endswith("The notebook was not kept.")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "The notebook is not valid JSON: Expecting value: line 1 column 1 (char 0)."),
        (BODY[:-1] + b"\xff", f"The notebook is not UTF-8 text: byte {len(BODY)} is not."),
        (
            notebook(code("x"), {"cell_type": "heading", "source": "x"}),
            (
                "This is not a notebook of nbformat 4: cell 2 is of a type that is not code, "
                "markdown or raw."
            ),
        ),
        (
            notebook(code({"x": 1})),
            "This is not a notebook of nbformat 4: cell 1 has a source that is not text.",
        ),
        (
            notebook(code("x"), code("y", outputs=None)),
            "This is not a notebook of nbformat 4: cell 2 has outputs that are not a list.",
        ),
    ],
)
def test_a_refusal_says_what_cannot_be_read_and_where(api, body, said):
    assert put(api, body).json()["detail"] == f"{said} The notebook was not kept."


@pytest.mark.parametrize(
    "body",
    [
        notebook({"cell_type": "code", "source": "x"}),
        notebook({"cell_type": "code"}),
        notebook(code("x", count=None)),
        notebook(code("x", display(application_json={"y": float("nan")}))),
        notebook(metadata={"widgets": {"x": float("inf")}}),
        notebook(code("x", stream("a\0b"))),
        notebook(code("x\0", stream("half a pair: \ud83d"))),
        notebook(markdown("\udc00"), metadata={"kernelspec": {"language": "\ud83d\0"}}),
        notebook(code("x", display(application_json=deep(400)))),
        notebook(metadata={"deep": deep(400)}),
        notebook(metadata={"number": 12345}).replace(b"12345", b"9" * 5000),
        b"\xef\xbb\xbf" + BODY,
    ],
)
def test_notebooks_as_people_have_them_are_kept_and_read(api, body):
    assert put(api, body).status_code == 201, put(api, body).json()
    kept = Notebook.objects.get()
    cells = notebook_rules.cells_of(kept, 0, 50)
    assert len(cells) == len(notebook_rules.outline_of(kept)["cells"])
    assert notebook_rules.sources_of(kept, range(len(cells))) is not None


def test_where_our_reader_fails_nobody_is_told_that_it_took_too_long(api, monkeypatch, caplog):
    monkeypatch.setattr(notebook_rules, "_READER", "dashboard.inspection.missing")

    response = put(api)

    assert problem(response) == (422, "not_a_notebook")
    assert "a fault of ours" in response.json()["detail"]
    assert "ModuleNotFoundError" in caplog.text


def test_a_hundred_thousand_cells_are_too_many(api):
    body = notebook(*[code("x")] * 100_000)

    assert problem(put(api, body)) == (422, "not_a_notebook")


def test_what_takes_too_long_to_read_is_refused(api, monkeypatch):
    monkeypatch.setattr(notebook_rules, "CHECK_WITHIN_S", 0.0001)

    assert problem(put(api, notebook(*[code("x")] * 4_000))) == (422, "not_a_notebook")


def test_a_notebook_waits_its_turn_and_is_then_to_be_sent_again(api, monkeypatch):
    monkeypatch.setattr(notebook_rules, "TURN_WITHIN_S", 0.01)
    with notebook_rules.turn():
        response = put(api)

    assert problem(response) == (503, "unavailable")
    assert response["Retry-After"] == "2"
    assert put(api).status_code == 201


def test_an_agent_cannot_fill_the_disk(api, stranger, settings):
    settings.NOTEBOOK_MIB_PER_AGENT = 1
    large = notebook(code("x" * 600_000))

    assert put(api, large).status_code == 201
    assert problem(put(api, notebook(code("y" * 600_000)))) == (409, "notebooks_full")
    assert put(stranger, large).status_code == 201


def test_many_small_ones_fill_it_too(api, settings):
    settings.NOTEBOOK_MIB_PER_AGENT = 1
    with patch("dashboard.approvals.services.notebook._SMALLEST", 1 << 19):
        statuses = [put(api, notebook(code(str(n)))).status_code for n in range(3)]

    assert statuses == [201, 201, 409]


def test_an_old_one_that_nothing_names_is_sent_anew(api):
    put(api)
    later = timezone.now() + timedelta(hours=13)

    with patch("dashboard.approvals.services.notebook.database_now", lambda: later):
        assert put(api).status_code == 201
    assert Notebook.objects.get().sent_at == later


def test_the_description_for_machines_tells_of_it():
    operation = described.get_openapi_schema()["paths"]["/api/v1/notebooks/{digest}"]["put"]

    assert "application/octet-stream" in operation["requestBody"]["content"]
    assert set(operation["responses"]) >= {200, 201, 409, 413}
