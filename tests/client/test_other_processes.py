"""What one process asked, and another one looks at, waits for and uses."""

import pytest

from approval_client import ApprovalRequest, Asked, DigestMismatch, Pending
from approval_client.testing import FakeDashboard, approve
from approval_client.wire import Status

OTHER = ApprovalRequest.code("print('something else')")


@pytest.fixture
def fake():
    return FakeDashboard.approving("Fine.")


@pytest.fixture
def asked(fake, question):
    """The id of a request that another client submitted."""
    return fake.client().submit(question).id


def test_get_finds_what_another_process_asked(fake, asked, question):
    answer = fake.client().get(asked)

    assert (answer.id, answer.digest) == (asked, question.digest)


@pytest.mark.parametrize("known", [lambda q: q, lambda q: Asked(digest=q.digest)])
def test_get_makes_sure_that_it_is_the_one_that_is_meant(fake, asked, question, known):
    assert fake.client().get(asked, request=known(question)).id == asked


def test_get_refuses_one_about_something_else(fake, asked):
    with pytest.raises(DigestMismatch, match="Nothing was approved"):
        fake.client().get(asked, request=OTHER)


async def test_the_asynchronous_get_refuses_it_too(fake, asked):
    with pytest.raises(DigestMismatch):
        await fake.async_client().get(asked, request=OTHER)


def test_get_refuses_an_approval_of_something_else(question):
    fake = FakeDashboard.scripted(approve(content={"code": "edited()"}))
    pending = fake.client().submit(question)
    fake.approvals[0].tick(fake._now(), heard=True)

    with pytest.raises(DigestMismatch):
        fake.client().get(pending.id, request=question)


def test_get_uses_nothing_up(fake, asked, question):
    fake.approvals[0].tick(fake._now(), heard=True)
    fake.client().get(asked, request=question)

    assert fake.approvals[0].started == 0


def test_another_process_waits_for_it_with_the_same_request(fake, asked, question):
    response = fake.client().wait(Pending(request=question, id=asked))

    assert (response.approved, response.content) == (True, question.content)


def test_another_process_waits_for_it_with_its_digest(fake, asked, question):
    response = fake.client().wait(Pending(request=Asked(digest=question.digest), id=asked))

    assert (response.approved, response.content) == (True, None)
    assert fake.approvals[0].started == 1


def test_an_answer_about_another_digest_opens_nothing(fake, asked):
    with pytest.raises(DigestMismatch):
        fake.client().wait(Pending(request=Asked(digest=OTHER.digest), id=asked))

    assert fake.approvals[0].started == 0


def test_who_knows_the_digest_alone_accepts_no_edit(question):
    fake = FakeDashboard.scripted(approve(content={"code": "edited()"}))
    pending = fake.client().submit(question)

    with pytest.raises(DigestMismatch, match="changed the content"):
        fake.client().wait(Pending(request=Asked(digest=question.digest), id=pending.id))


@pytest.mark.parametrize("text", ["", "abc", "g" * 64, "A" * 64, "a" * 64 + "\n"])
def test_what_is_no_digest_is_refused(text):
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        Asked(digest=text)


def test_who_waits_hears_where_it_stands(question):
    heard = []
    fake = FakeDashboard.silent()

    fake.client().request_approval(question, heard=heard.append)

    assert {answer.status for answer in heard} == {Status.PENDING}
    assert heard[0].review_url.endswith(heard[0].id)


async def test_who_awaits_hears_it_too(question):
    heard = []
    client = FakeDashboard.silent().async_client()

    await client.wait(await client.submit(question), heard=heard.append)

    assert heard[0].status is Status.PENDING
