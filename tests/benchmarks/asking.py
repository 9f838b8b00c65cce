"""What asking costs an agent: its own CPU for a question and its answer, and for the import."""

import subprocess
import sys
import time
from queue import SimpleQueue
from threading import Thread

from approval_client import ApprovalRequest, Client
from tests.benchmarks.figures import milliseconds

WARM = 5
IMPORT = """
import time
began = time.process_time()
import approval_client
print(time.process_time() - began)
"""


def overhead(house, rounds):
    """The time of this thread's CPU alone: submit, wait, be answered, start. A person decides."""
    waiting, took = SimpleQueue(), []
    reviewer = Thread(target=_decide, args=(house, waiting))
    reviewer.start()
    with Client(house.url, house.tokens[1]) as client:
        for number in range(rounds + WARM):
            question = ApprovalRequest.code(f"print({number})", "python")
            began = time.thread_time()
            client.request_approval(question, heard=lambda answer: waiting.put(answer.id))
            took.append(time.thread_time() - began)
    waiting.put(None)
    reviewer.join()
    return {"CPU of a question and its answer": milliseconds(took[WARM:])}


def importing(rounds=10):
    """The CPU that the library's import takes in a new process."""
    command = [sys.executable, "-c", IMPORT]
    told = [subprocess.check_output(command, text=True) for _ in range(rounds)]
    return {"CPU of importing approval_client": milliseconds(map(float, told))}


def _decide(house, waiting):
    with house.browser() as browser:
        while approval_id := waiting.get():
            answer = house.decide(browser, {"id": approval_id})
            assert answer.is_redirect, answer.text
