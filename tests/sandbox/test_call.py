import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dashboard import sandbox
from dashboard.sandbox import CallFailed, DeadlineExceeded, SandboxError

TARGETS = "tests.sandbox.targets"


@pytest.fixture
def pool():
    pool = sandbox._Pool(2, queue_wait_s=0.05)
    yield pool
    pool.close()


def run(pool, function, payload=b"", deadline_s=5.0):
    return pool.run(f"{TARGETS}.{function}", payload, deadline_s)


def test_a_function_runs_in_another_process(pool):
    assert run(pool, "upper", b"abc") == b"ABC"
    assert int(run(pool, "pid")) != os.getpid()


def test_a_megabyte_travels_both_ways(pool):
    assert run(pool, "upper", b"a" * (1 << 20)) == b"A" * (1 << 20)


def test_one_caller_at_a_time_needs_one_worker(pool):
    assert run(pool, "pid") == run(pool, "pid")
    assert len(pool.workers) == 1


@pytest.mark.parametrize("name", ["os.system", "dashboard.x", "dashboard..x.y", "dashboard.a.b\n"])
def test_only_functions_of_this_package_are_called(name):
    with pytest.raises(ValueError, match=r"does not name a function of this package\.$"):
        sandbox.call(name, b"", 1.0)


def test_call_reaches_a_function_of_this_package():
    assert sandbox.call("dashboard.web.drawing.tokens.classify", b'["python", "x"]', 5.0) == (
        b'[["", 2]]'
    )


def test_a_function_that_does_not_exist_is_a_failure():
    with pytest.raises(
        SandboxError, match=r"^dashboard\.sandbox\.nothing failed: AttributeError at "
    ):
        sandbox.call("dashboard.sandbox.nothing", b"", 5.0)


def test_what_runs_too_long_is_killed_at_its_deadline(pool):
    run(pool, "upper")
    started_at = time.monotonic()

    with pytest.raises(DeadlineExceeded, match=r"targets\.spin was killed after 0\.05 s\.$"):
        run(pool, "spin", deadline_s=0.05)

    assert 0.05 <= time.monotonic() - started_at < 5  # it would never end


def test_what_computes_too_long_is_killed_long_before_its_deadline(pool):
    with pytest.raises(DeadlineExceeded, match=r"after 60 s, or 0\.05 s of computing\.$"):
        pool.run(f"{TARGETS}.spin", b"", 60.0, computing_s=0.05)

    assert run(pool, "upper", b"a") == b"A"


def test_waiting_uses_up_no_computing(pool):
    payload = pool.run(f"{TARGETS}.doze", b"abc", 60.0, computing_s=0.02)

    assert payload == b"abc"


def test_what_was_computed_before_does_not_count(pool):
    for _ in range(5):
        pool.run(f"{TARGETS}.toil", b"", 60.0, computing_s=0.2)


def test_a_killed_worker_is_replaced(pool):
    before = run(pool, "pid")
    with pytest.raises(DeadlineExceeded):
        run(pool, "spin", deadline_s=0.01)

    assert run(pool, "pid") != before
    assert len(pool.workers) == 1


def test_a_failure_says_where_but_never_quotes_what_was_read(pool):
    with pytest.raises(CallFailed) as failure:
        run(pool, "fail", b"password")

    assert str(failure.value).startswith(f"{TARGETS}.fail failed: KeyError at targets.py:")
    assert "password" not in str(failure.value)


def test_a_failed_function_leaves_its_worker_alive(pool):
    before = run(pool, "pid")
    with pytest.raises(SandboxError):
        run(pool, "fail")
    assert run(pool, "pid") == before


def test_a_worker_that_dies_is_an_error_and_not_a_hang(pool):
    with pytest.raises(SandboxError, match=r"^The worker process died\.$"):
        run(pool, "die")
    assert run(pool, "upper", b"a") == b"A"


def test_a_worker_that_died_between_calls_is_not_noticed_by_the_next_one(pool):
    run(pool, "upper")
    (worker,) = pool.workers
    worker.process.kill()
    worker.process.wait()

    assert run(pool, "upper", b"a") == b"A"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no RLIMIT_AS")
def test_memory_is_limited(pool):
    with pytest.raises(SandboxError, match=r"hoard failed: MemoryError at ") as failure:
        run(pool, "hoard")
    assert not isinstance(failure.value, CallFailed)  # it is no fault of the function


def test_a_result_that_is_too_large_is_refused(pool):
    with pytest.raises(SandboxError, match=r"has 16777217 bytes; 16777216 are allowed\.$"):
        run(pool, "flood")


def test_what_a_function_prints_is_no_reply(pool):
    assert run(pool, "chatter", b"reply") == b"reply"


def test_no_secret_reaches_the_worker(pool, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "secret")
    names = set(run(pool, "environment").decode().split())
    assert names - {"LANG", "LC_ALL", "LC_CTYPE"} == {"PATH", "PYTHONPATH"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_ignores_what_a_terminal_or_a_supervisor_sends(pool, number):
    before = run(pool, "pid")
    os.kill(int(before), number)
    assert run(pool, "pid") == before


def test_nobody_waits_forever_for_a_free_worker(pool):
    with ThreadPoolExecutor(2) as threads:
        busy = [threads.submit(run, pool, "spin", deadline_s=0.4) for _ in range(2)]
        while len(pool.workers) < 2 or not pool._slots.empty():
            time.sleep(0.005)
        with pytest.raises(SandboxError, match=r"^No worker process became free in time\.$"):
            run(pool, "upper")
    assert [type(call.exception()) for call in busy] == [DeadlineExceeded] * 2


def test_many_threads_share_two_workers_and_each_gets_its_own_answer():
    pool = sandbox._Pool(2, queue_wait_s=10)
    payloads = [f"text {number}".encode() for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda payload: run(pool, "upper", payload), payloads))
    assert answers == [payload.upper() for payload in payloads]
    assert len(pool.workers) == 2
    pool.close()


def test_a_thread_that_ends_does_not_take_its_worker_along(pool):
    thread = threading.Thread(target=run, args=(pool, "upper"))
    thread.start()
    thread.join()
    assert run(pool, "upper", b"a") == b"A"
    assert len(pool.workers) == 1


def python(program, **options):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def is_running(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(pid):
    for _ in range(400):
        if not is_running(pid):
            return True
        time.sleep(0.01)
    return False


def test_a_program_that_used_workers_ends_without_a_warning():
    program = f"from dashboard.sandbox import _pool; print(_pool.run('{TARGETS}.pid', b'', 5))"
    with python(program) as child:
        output, errors = child.communicate()
    assert (child.returncode, errors) == (0, "")
    assert wait_until_gone(int(output[2:-2]))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_idle_worker_ends_when_its_parent_is_killed():
    program = f"""
import time
from dashboard.sandbox import _pool
print(_pool.run('{TARGETS}.pid', b'', 5).decode(), flush=True)
time.sleep(60)
"""
    with python(program) as child:
        worker = int(child.stdout.readline())
        child.kill()
    assert wait_until_gone(worker)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_busy_worker_ends_itself_when_its_parent_is_killed():
    program = f"""
from dashboard.sandbox import _pool
print(_pool.run('{TARGETS}.pid', b'', 5).decode(), flush=True)
_pool.run('{TARGETS}.spin', b'', 0.3)
print('the deadline came first')
"""
    with python(program) as child:
        worker = int(child.stdout.readline())
        child.kill()
    assert wait_until_gone(worker)


def test_a_forked_child_gets_workers_of_its_own():
    program = f"""
import os
from dashboard.sandbox import _pool
ours = _pool.run('{TARGETS}.pid', b'', 5)
child = os.fork()
if not child:
    os._exit(_pool.run('{TARGETS}.pid', b'', 5) == ours)
assert os.waitpid(child, 0)[1] == 0
assert _pool.run('{TARGETS}.pid', b'', 5) == ours
"""
    with python(program) as child:
        assert child.communicate() == ("", "")
    assert child.returncode == 0


def test_the_time_that_a_module_takes_to_load_is_not_the_functions(pool):
    assert pool.run("tests.sandbox.slow_to_load.answer", b"", 0.9) == b"at last"


def test_a_module_that_cannot_be_loaded_is_a_failure(pool):
    with pytest.raises(SandboxError, match="ModuleNotFoundError"):
        pool.run("tests.sandbox.there_is_none.answer", b"", 5.0)


def test_what_may_take_long_does_not_hold_up_what_is_short(monkeypatch):
    heavy = sandbox._Pool(1, niceness=3)
    monkeypatch.setattr(sandbox, "_heavy_pool", heavy)
    with ThreadPoolExecutor(1) as threads:
        busy = threads.submit(run, heavy, "spin", deadline_s=1.0)
        while not busy.done() and (not heavy.workers or not heavy._slots.empty()):
            time.sleep(0.005)
        inspect = "dashboard.inspection.inspector.inspect"
        request = b'{"kind":"code","content":{"code":"1","language":"python"}}'
        assert b"findings" in sandbox.call(inspect, request, 5.0)
        (worker,) = heavy.workers
        assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) == os.getpriority(0, 0) + 3
    assert busy.exception() is not None
    heavy.close()
