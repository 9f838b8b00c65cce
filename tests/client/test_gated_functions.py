"""Any function of Python can be gated: what is shown of its call is what it is called with."""

import asyncio
import csv
import functools
import inspect
import io
import itertools
import os

import pytest

from approval_client import AlreadyUsed, DigestMismatch, Rejected, requires_approval
from approval_client.testing import FakeDashboard, approve


@pytest.fixture
def fake():
    with FakeDashboard.approving().installed() as fake:
        yield fake


class Shell:
    def __init__(self):
        self.ran = []

    @requires_approval
    def run(self, command, wait_s=5):
        """Run it."""
        self.ran.append((command, wait_s))
        return command

    @requires_approval
    async def run_later(self, command):
        self.ran.append(command)
        return command

    @requires_approval(accepts_edits=True)
    def run_edited(self, command):
        self.ran.append(command)
        return command

    @requires_approval
    @classmethod
    def all_of(klass, command):  # noqa: N804 - by any name
        return klass.__name__, command

    @classmethod
    @requires_approval
    def every(cls, command):
        return cls.__name__, command

    @requires_approval
    @staticmethod
    def of(command):
        return command

    @staticmethod
    @requires_approval
    def only(command):
        return command

    @staticmethod
    @requires_approval
    def drop(cls, command):  # noqa: PLW0211 - by a name that looks like a method's
        return cls, command

    def plain(self, command):
        self.ran.append(command)
        return command

    async def plain_later(self, command):
        return command


def asked(fake, number=0):
    content = fake.approvals[number].content
    return content["tool"].removeprefix(f"{__name__}."), content["arguments"]


def test_a_method_is_asked_without_its_object(fake):
    shell = Shell()

    assert shell.run("ls") == "ls"
    assert shell.ran == [("ls", 5)]
    assert asked(fake) == ("Shell.run", {"command": "ls", "wait_s": 5})


async def test_an_async_method_is(fake):
    shell = Shell()

    assert await shell.run_later(command="ls") == "ls"
    assert asked(fake) == ("Shell.run_later", {"command": "ls"})


def test_called_by_the_class_it_is_the_same(fake):
    shell = Shell()

    assert Shell.run(shell, "ls", wait_s=1) == "ls"
    assert asked(fake) == ("Shell.run", {"command": "ls", "wait_s": 1})


@pytest.mark.parametrize("name", ["all_of", "every"])
def test_a_class_method_is_asked_without_its_class(fake, name):
    assert getattr(Shell, name)("ls") == ("Shell", "ls")
    assert getattr(Shell(), name)("ls") == ("Shell", "ls")
    assert [asked(fake, number) for number in (0, 1)] == [(f"Shell.{name}", {"command": "ls"})] * 2


@pytest.mark.parametrize("name", ["of", "only"])
def test_a_static_method_is_asked_with_all_that_it_gets(fake, name):
    assert getattr(Shell(), name)("ls") == "ls"
    assert asked(fake) == (f"Shell.{name}", {"command": "ls"})


@pytest.mark.parametrize("value", ["Payments", None, {"a": 1}, Shell, Shell()])
def test_an_argument_that_only_looks_like_a_methods_is_not_hidden(fake, value):
    with pytest.raises(TypeError, match=r"'cls' of .*drop would not be shown"):
        Shell.drop(value, "ls")
    with pytest.raises(TypeError, match=r"'self' of .*run would not be shown"):
        Shell.run("Payments", "ls")
    assert fake.calls == []


def test_a_method_of_a_class_below_is_asked_without_its_object(fake):
    class Remote(Shell):
        def run(self, command):
            return super().run(command)

    assert Remote().run("ls") == "ls"
    assert Remote.every("ls") == ("Remote", "ls")
    assert asked(fake) == ("Shell.run", {"command": "ls", "wait_s": 5})


def test_a_bound_method_is(fake):
    shell = Shell()

    assert requires_approval(shell.plain)("ls") == "ls"
    assert (shell.ran, asked(fake)) == (["ls"], ("Shell.plain", {"command": "ls"}))


async def test_an_async_bound_method_is(fake):
    assert await requires_approval(Shell().plain_later)("ls") == "ls"
    assert asked(fake) == ("Shell.plain_later", {"command": "ls"})


def copy(source, target, mode="safe", **more):
    return source, target, mode, more


async def copy_later(source, target):
    return source, target


def test_a_partial_is_asked_with_all_that_it_passes(fake):
    part = functools.partial(functools.partial(copy, "/etc", mode="force"), owner="root")
    gated = requires_approval(part)

    assert gated("/srv") == ("/etc", "/srv", "force", {"owner": "root"})
    assert asked(fake) == (
        "copy",
        {"source": "/etc", "target": "/srv", "mode": "force", "more": {"owner": "root"}},
    )
    assert str(inspect.signature(gated)) == str(inspect.signature(part))
    assert gated.__name__ == "copy"


async def test_an_async_partial_is(fake):
    assert await requires_approval(functools.partial(copy_later, "/etc"))("/srv") == (
        "/etc",
        "/srv",
    )
    assert asked(fake) == ("copy_later", {"source": "/etc", "target": "/srv"})


def test_a_partial_of_a_bound_method_is(fake):
    shell = Shell()

    assert requires_approval(functools.partial(shell.plain, "ls"))() == "ls"
    assert asked(fake) == ("Shell.plain", {"command": "ls"})


def test_a_builtin_that_says_what_it_takes_is(fake, tmp_path):
    path = tmp_path / "a"
    path.touch()

    requires_approval(os.remove)(str(path))

    assert not path.exists()
    assert fake.approvals[0].content == {
        "tool": "posix.remove",
        "arguments": {"path": str(path), "dir_fd": None},
    }


def test_a_builtin_that_does_not_is_refused():
    with pytest.raises(TypeError, match=r"builtins\.vars: it does not say which arguments"):
        requires_approval(vars)


def test_a_generator_of_a_class_is_refused():
    def pages(self):
        yield self

    for thing in (classmethod(pages), functools.partial(pages, 1)):
        with pytest.raises(TypeError, match="runs piece by piece"):
            requires_approval(thing)


def passing_on(function):
    """Decorate as most do: with a function that takes anything, and looks like what it wraps."""

    @functools.wraps(function)
    def pass_on(*args, **kwargs):
        return function(*args, **kwargs)

    return pass_on


def test_a_generator_below_another_decorator_is_refused():
    @passing_on
    def pages():
        yield 1

    with pytest.raises(TypeError, match="runs piece by piece"):
        requires_approval(pages)


def test_a_coroutine_below_a_plain_decorator_is_refused():
    @passing_on
    async def fetch():
        return 1

    with pytest.raises(TypeError, match="returns a coroutine, which runs later"):
        requires_approval(fetch)


async def _later(got):
    got.append("ran")


def _piece_by_piece(got):
    got.append("ran")
    yield 1


class _Awaitable:
    """Awaited like a coroutine, and none."""

    def __init__(self, got):
        self.got = got

    def __await__(self):
        yield from _piece_by_piece(self.got)


def _mapped(got):
    return map(got.append, ["ran"])


def _called_for(got):
    return iter(lambda: got.append("ran"), 1)


def _chained(got):
    return itertools.chain(_mapped(got))


@pytest.mark.parametrize(
    "begin", [_later, _piece_by_piece, _Awaitable, _mapped, _called_for, _chained]
)
def test_what_would_run_after_the_approval_does_not_run_at_all(fake, begin):
    got = []

    @requires_approval
    def act():
        return begin(got)

    with pytest.raises(TypeError, match="not handed on"):
        act()

    assert got == []
    assert fake.approvals[0].finished["error"].startswith("TypeError")


def test_a_future_is_under_way_and_is_handed_out(fake):
    @requires_approval(client=fake.async_client())
    async def act():
        return asyncio.ensure_future(asyncio.sleep(0, "done"))

    async def run():
        return await (await act())

    assert asyncio.run(run()) == "done"


@pytest.mark.parametrize("make", [io.StringIO, lambda: csv.reader(["a,b"]), lambda: iter([1])])
def test_an_iterator_over_what_is_there_is_handed_out(fake, make):
    made = make()

    assert requires_approval(lambda: made, tool="read")() is made


def test_an_async_function_hands_out_nothing_that_runs_later(fake):
    got = []

    @requires_approval(client=fake.async_client())
    async def act():
        return _piece_by_piece(got)

    with pytest.raises(TypeError, match="not handed on"):
        asyncio.run(act())

    assert got == []


def test_a_default_is_passed_as_it_was_shown(fake):
    got = []

    def in_earnest(function):
        @functools.wraps(function)
        def pass_on(*args, **kwargs):
            kwargs.setdefault("dry_run", False)
            return function(*args, **kwargs)

        return pass_on

    @requires_approval(tool="delete")
    @in_earnest
    def delete(path, *, dry_run=True):
        got.append((path, dry_run))

    delete("/data")

    assert got == [("/data", True)]
    assert fake.approvals[0].content["arguments"] == {"path": "/data", "dry_run": True}


def test_what_was_passed_by_name_or_place_still_is(fake):
    got = []

    def noting(function):
        @functools.wraps(function)
        def pass_on(*args, **kwargs):
            got.append((args, kwargs))
            return function(*args, **kwargs)

        return pass_on

    @requires_approval
    @noting
    def act(first, second=2, /, third=3, *, fourth=4):
        return first, second, third, fourth

    act(1, third=0)

    assert got == [((1, 2), {"third": 0, "fourth": 4})]


def test_a_default_that_was_changed_since_is_not_passed(fake):
    got = []

    def act(mode="safe"):
        got.append(mode)

    gated = requires_approval(act)
    act.__defaults__ = ("danger",)
    gated()

    assert got == ["safe"]


def edited_to(arguments):
    """A dashboard whose reviewer changes the arguments of the next call."""
    fake = FakeDashboard.manual()
    tool = f"{__name__}.Shell.run_edited"
    fake.decide_next(approve(content={"tool": tool, "arguments": arguments}))
    return fake.installed()


def test_a_method_that_is_edited_is_called_on_its_object():
    shell = Shell()

    with edited_to({"command": "ls -l"}):
        assert shell.run_edited("ls") == "ls -l"
    assert shell.ran == ["ls -l"]


def test_an_edit_cannot_name_the_object():
    shell = Shell()

    with (
        edited_to({"self": 1, "command": ""}),
        pytest.raises(DigestMismatch, match="names that the function takes"),
    ):
        shell.run_edited("ls")
    assert shell.ran == []


def test_an_argument_of_a_method_that_changed_meanwhile_runs_nothing():
    command = ["ls"]
    fake = FakeDashboard.approving()
    shell = Shell()
    gated = requires_approval(shell.plain, on_pending=lambda _: command.append("rm"))

    with fake.installed(), pytest.raises(DigestMismatch, match="changed while it waited"):
        gated(command)
    assert shell.ran == []


def test_a_method_that_was_rejected_is_not_called():
    shell = Shell()

    with FakeDashboard.rejecting("No.").installed(), pytest.raises(Rejected):
        shell.run("ls")
    assert shell.ran == []


def test_a_function_in_no_class_shows_what_it_calls_self(fake):
    def act(self, a):
        return a

    requires_approval(act)("x", 1)

    assert fake.approvals[0].content["arguments"] == {"self": "x", "a": 1}


# --- what is said beside a question ------------------------------------------------------------


def test_run_and_evidence_are_asked(fake):
    gated = requires_approval(run_id="nightly", evidence={"ticket": 7})(copy)

    gated("a", "b")

    body = fake.approvals[0].body
    assert (body["run_id"], body["evidence"]["ticket"]) == ("nightly", 7)


def test_evidence_and_key_can_be_made_of_the_arguments(fake):
    gated = requires_approval(
        evidence=lambda source, _: {"size": len(source)},
        idempotency_key=lambda source, _: f"copy-{source}",
    )(copy)

    gated("abc", "b")

    assert fake.approvals[0].body["evidence"]["size"] == 3
    with pytest.raises(AlreadyUsed):
        gated("abc", "b")
    assert len(fake.approvals) == 1


@pytest.mark.parametrize("key", ["", 7])
def test_a_key_that_names_nothing_asks_nobody(fake, key):
    with pytest.raises(TypeError, match="Nothing was asked"):
        requires_approval(idempotency_key=lambda *_: key)(copy)("a", "b")
    assert fake.approvals == []
