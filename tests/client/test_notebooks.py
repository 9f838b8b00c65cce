"""A notebook goes before the question that names it, and is never lost in silence."""

import dataclasses

import pytest

from approval_client import ApprovalRequest, TokenRefused
from approval_client._calls import Failure, Reply
from approval_client._models import within_limit
from approval_client.testing import FakeDashboard
from approval_client.wire import MAX_NOTEBOOK_BYTES
from tests.notebooks import code, digest_of, notebook

BODY = notebook(code("x"))
DIGEST = digest_of(BODY)
SENT = Reply(status=201, protocol="1", body=f'{{"digest":"{DIGEST}"}}'.encode())
PUT, POST = f"PUT /api/v1/notebooks/{DIGEST}", "POST /api/v1/approvals"


@pytest.fixture
def fake():
    return FakeDashboard.approving()


@pytest.fixture
def question():
    return ApprovalRequest.code("x", notebook=BODY)


def test_a_notebook_is_sent_before_the_question_that_names_it(fake, question):
    fake.client().request_approval(question)

    assert fake.calls[:2] == [PUT, POST]
    assert fake.notebooks == {DIGEST: BODY}
    assert fake.approvals[0].evidence == {"notebook": DIGEST}


async def test_the_asynchronous_client_does_the_same(fake, question):
    response = await fake.async_client().request_approval(question)

    assert response.approved
    assert (fake.calls[:2], fake.notebooks) == ([PUT, POST], {DIGEST: BODY})


def test_over_a_real_socket_every_byte_arrives(fake, served):
    body = notebook(code("x" * 3_000_000))
    with served(fake) as url:
        client = type(fake.client())(url, fake.token)
        client.request_approval(ApprovalRequest.code("x", notebook=body))

    assert fake.notebooks == {digest_of(body): body}


def test_a_path_is_read_when_the_question_is_made(fake, tmp_path):
    path = tmp_path / "trim.ipynb"
    path.write_bytes(BODY)
    question = ApprovalRequest.code("x", notebook=path)
    path.write_bytes(b"changed")

    fake.client().request_approval(question)

    assert fake.notebooks == {DIGEST: BODY}


@pytest.mark.parametrize("path", ["missing.ipynb", ".", "nul\0.ipynb"])
def test_a_file_that_cannot_be_read_is_told_to_reviewers(fake, tmp_path, path):
    question = ApprovalRequest.code("x", notebook=str(tmp_path / path))

    fake.client().request_approval(question)

    assert fake.calls[0] == POST
    assert fake.approvals[0].evidence["notebook"].startswith("Not sent: the file could not be")


def test_a_notebook_that_is_too_large_is_told_to_reviewers(fake):
    question = ApprovalRequest.code("x", notebook=b" " * (MAX_NOTEBOOK_BYTES + 1))

    assert question.notebook is None
    assert question.evidence == {
        "notebook": "Not sent: the notebook has more than 10,485,760 bytes."
    }


def test_what_is_neither_bytes_nor_a_path_is_an_error():
    with pytest.raises(TypeError):
        ApprovalRequest.code("x", notebook=42)


def test_a_notebook_that_is_refused_leaves_the_question_as_it_is(fake, caplog):
    fake.client().request_approval(ApprovalRequest.code("x", notebook=b"no notebook"))

    assert fake.notebooks == {}
    assert fake.approvals[0].evidence == {"notebook": digest_of(b"no notebook")}
    assert "The notebook was refused (not_json)" in caplog.text


def test_a_server_that_takes_no_notebooks_is_asked_all_the_same(stage, question, say_for):
    say = say_for(question)
    stage = stage(say.problem(404, "not_found"), say.pending(), say.approved(), say.started())

    assert stage.ask(question).approved
    assert stage.paths[:2] == [PUT, POST]


@pytest.mark.parametrize(("reached", "at_least_s", "at_most_s"), [(True, 60, 70), (False, 15, 20)])
def test_a_line_that_loses_every_notebook_does_not_keep_the_question(
    stage, question, say_for, reached, at_least_s, at_most_s
):
    say = say_for(question)

    def lose(stage):
        lost = stage.calls[-1].method == "PUT"
        stage.replies.insert(0, lose)
        return Failure("WriteError") if lost else [say.approved(), say.started()][len(asked())]

    def asked():
        return [call for call in stage.calls[:-1] if call.method == "POST"]

    stage = stage(lose, lose, reached=reached)

    assert stage.ask(question).approved
    assert at_least_s <= stage.now < at_most_s


def test_a_lost_answer_is_asked_for_again(stage, question, say_for):
    say = say_for(question)
    stage = stage(Failure("ReadTimeout"), SENT, say.approved(), say.started())

    assert stage.ask(question).approved
    assert stage.paths[:3] == [PUT, PUT, POST]


@pytest.mark.parametrize("body", [b"", b"[]", b'{"digest":"other"}', b"[" * 100_000])
def test_an_answer_about_another_notebook_is_none(stage, question, say_for, body):
    say = say_for(question)
    stage = stage(Reply(status=200, protocol="1", body=body), SENT, say.approved(), say.started())

    assert stage.ask(question).approved
    assert stage.paths[:3] == [PUT, PUT, POST]


def test_a_token_that_is_refused_asks_nothing(stage, question, say_for):
    stage = stage(say_for(question).problem(401, "unauthorized"))

    with pytest.raises(TokenRefused):
        stage.ask(question)
    assert stage.paths == [PUT]


def test_a_copy_of_a_question_keeps_its_notebook(question):
    copy = within_limit(dataclasses.replace(question, objective="Why."))

    assert (copy.notebook, copy.evidence) == (BODY, {"notebook": DIGEST})


def test_it_is_not_in_the_text_of_the_question(question):
    assert "nbformat" not in repr(question)


def test_the_fake_refuses_what_the_dashboard_refuses(fake):
    client = fake.client()
    for body in (b" " * 20, b"[]", notebook(nbformat=3)):
        client.request_approval(ApprovalRequest.code("x", notebook=body))

    assert fake.notebooks == {}
