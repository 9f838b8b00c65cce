"""Who writes to SQLite waits for its turn, first come, first served."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Event, Thread, current_thread
from time import monotonic, sleep

import pytest
from django.db import OperationalError, ProgrammingError, connection, transaction
from django.test import Client

from dashboard.accounts.models import Group
from dashboard.sqlite3 import base, turn
from dashboard.sqlite3.like import is_like
from dashboard.sqlite3.turn import Turn
from tests import make

pytestmark = pytest.mark.engine("sqlite")


def until(condition):
    end = monotonic() + 10
    while not condition():
        assert monotonic() < end
        sleep(0.001)


@contextmanager
def held(one):
    """Have another thread hold the turn."""
    taken, go_on = Event(), Event()

    def hold():
        assert one.take(5)
        taken.set()
        go_on.wait()
        one.give()

    thread = Thread(target=hold)
    thread.start()
    taken.wait()
    yield
    go_on.set()
    thread.join()


def test_who_waited_longest_is_next():
    one, served = Turn(), []

    def write(number):
        assert one.take(10)
        served.append(number)
        one.give()

    with ThreadPoolExecutor(8) as pool:
        with held(one):
            for number in range(8):
                pool.submit(write, number)
                until(lambda number=number: len(one._queue) == number + 1)

    assert served == list(range(8))


def test_who_comes_later_does_not_pass_by_who_waits():
    one, served = Turn(), []

    def write(name):
        assert one.take(10)
        served.append(name)
        one.give()

    assert one.take(0)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(write, "waits")
        until(lambda: one._queue)
        one.give()
        assert one.take(10)
        served.append("came later")
        one.give()

    assert served == ["waits", "came later"]


def test_a_turn_that_does_not_come_in_time_is_given_up():
    one = Turn()
    with held(one):
        assert one.take(0.01) is False
        assert not one._queue

    assert one.take(0) is True


@pytest.mark.parametrize("comes", ["before", "after"])
def test_the_turn_of_a_thread_that_ended_goes_on(comes, monkeypatch):
    monkeypatch.setattr(turn, "_LOOK_EVERY_S", 0.01)
    one, go_on = Turn(), Event()

    def end():
        one.take(0)
        go_on.wait()

    thread = Thread(target=end)
    thread.start()
    until(lambda: one._holder is thread)
    if comes == "after":
        go_on.set()
        thread.join()
        assert one.take(5)
        return
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(one.take, 5)
        until(lambda: one._queue)
        go_on.set()
        assert waits.result()


@pytest.mark.parametrize("is_given", [True, False])
def test_who_is_interrupted_leaves_the_turn_to_others(is_given, monkeypatch):
    one = Turn()

    def interrupt(mine, _):
        if is_given:
            one.give()
        raise KeyboardInterrupt

    monkeypatch.setattr(one, "_wait", interrupt)
    with held(Turn()):
        one._holder = current_thread()
        with pytest.raises(KeyboardInterrupt):
            one.take(5)

    assert not one._queue
    assert one._holder is (None if is_given else current_thread())


def holder():
    return base._TURNS[str(connection.settings_dict["NAME"])]._holder


@pytest.mark.django_db(transaction=True)
def test_a_transaction_has_the_turn_and_gives_it_back():
    with transaction.atomic():
        Group.objects.create(name="a")
        with transaction.atomic():
            assert holder() is current_thread()
        assert holder() is current_thread()

    assert holder() is None


@pytest.mark.django_db(transaction=True)
def test_to_read_takes_no_turn():
    with held(base._TURNS[str(connection.settings_dict["NAME"])]):
        assert Group.objects.count() == 0


def fail(*_):
    raise ZeroDivisionError


def lose_the_file(_):
    connection.connection.close()  # so that nothing can be committed


def interrupt_the_commit(monkeypatch):
    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(connection, "_commit", stop)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("work", [fail, lose_the_file, interrupt_the_commit])
def test_what_fails_gives_the_turn_back(work, monkeypatch):
    def write():
        Group.objects.create(name="a")
        work(monkeypatch)

    with pytest.raises((ZeroDivisionError, ProgrammingError, KeyboardInterrupt)):
        transaction.atomic(write)()

    assert holder() is None
    connection.close()
    monkeypatch.undo()
    with transaction.atomic():
        Group.objects.create(name="c")
    assert "c" in {group.name for group in Group.objects.all()}


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_closed_gives_the_turn_back():
    with transaction.atomic():
        Group.objects.create(name="a")
        connection.close()
        assert holder() is None

    assert Group.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_what_cannot_begin_gives_the_turn_back(monkeypatch):
    monkeypatch.setattr(connection, "cursor", fail)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        pass

    assert holder() is None


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_does_not_come_is_an_answer_that_the_agent_understands(agent, monkeypatch):
    secret = make.secret(agent)
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.01)
    body = {"kind": "code", "capability": "python_execution", "content": {"code": "1"}}
    with held(base._TURNS[str(connection.settings_dict["NAME"])]):
        said = Client(raise_request_exception=False).post(
            "/api/v1/approvals",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}", "Idempotency-Key": "k"},
        )

    assert (said.status_code, said.json()["code"]) == (503, "unavailable")
    assert said.json()["detail"].startswith("The database did not answer in time.")
    assert said.headers["Retry-After"] == "2"


@pytest.mark.django_db(transaction=True)
def test_the_message_says_who_had_the_turn(monkeypatch):
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.01)
    with (
        held(base._TURNS[str(connection.settings_dict["NAME"])]),
        pytest.raises(OperationalError, match="locked by other threads of this process"),
        transaction.atomic(),
    ):
        pass


@pytest.mark.django_db(transaction=True)
def test_all_who_write_at_once_are_served(token):
    def write(number):
        try:
            return make.pending(token, content={"code": str(number)}).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(write, range(24)))) == 24
    assert holder() is None


@pytest.fixture
def replaced(monkeypatch):
    """Have the open file be another one than its name stands for now."""

    def replace():
        name = str(connection.settings_dict["NAME"])
        monkeypatch.setitem(base._FILES, name, base._FILES[name]._replace(inode=1))

    return replace


@pytest.mark.django_db(transaction=True)
def test_nothing_is_written_to_a_file_that_was_replaced(replaced):
    replaced()

    with pytest.raises(OperationalError, match="was replaced or removed"):
        make.group("operators")


@pytest.mark.django_db(transaction=True)
def test_what_was_begun_before_the_file_was_replaced_is_not_committed(replaced, monkeypatch):
    @transaction.atomic
    def write():
        make.group("operators")
        replaced()

    with pytest.raises(OperationalError, match="was replaced or removed"):
        write()
    monkeypatch.undo()

    assert not Group.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_another_file_is_not_opened_in_place_of_the_first(replaced):
    connection.close()
    replaced()

    with pytest.raises(OperationalError, match="restart every program"):
        connection.ensure_connection()


@pytest.mark.django_db
@pytest.mark.parametrize("is_link", [False, True])
def test_a_new_file_is_for_this_account_alone(tmp_path, is_link):
    """Whichever command makes it, and in a folder that others may read."""
    file = tmp_path / "new.sqlite3"
    if is_link:
        file.symlink_to(tmp_path / "elsewhere.sqlite3")
    other = connection.copy()
    other.settings_dict = {**connection.settings_dict, "NAME": str(file)}
    with closing(other), other.cursor() as cursor:
        cursor.execute("CREATE TABLE a (b)")

    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("pattern", "text", "answer"),
    [
        ("%ärger%", "Viel ÄRGER hier", True),
        ("ärger", "Ärger!", False),
        (r"50\%", "50%", True),
        (r"50\%", "500", False),
        ("a_c", "A\nC", True),
        (r"a\_c", "abc", False),
        (r"%\\%", "a\\b", True),
        ("%", "", True),
        (".", "x", False),
        (None, "x", None),
        ("x", None, None),
    ],
)
def test_like_is_that_of_sql_for_letters_of_every_script(pattern, text, answer):
    assert is_like(pattern, text, "\\") is answer
