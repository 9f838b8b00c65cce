"""What asking costs an agent: its own CPU for a question and its answer, and for the import."""

import subprocess
import sys
import time
from queue import SimpleQueue
from threading import Thread

import httpx2

from approval_client import ApprovalRequest, Client
from tests.benchmarks.figures import milliseconds

IMPORT = """
import time
began = time.process_time()
import approval_client
print(time.process_time() - began)
"""


def overhead(house, rounds):
    """The time of this thread's CPU alone: submit, wait, be answered, start. A thread decides."""
    waiting, took = SimpleQueue(), []
    reviewer = Thread(target=_decide, args=(house.url, waiting))
    reviewer.start()
    with Client(house.url, house.tokens[1]) as client:
        for number in range(rounds + 10):
            question = ApprovalRequest.code(f"print({number})", "python")
            began = time.thread_time()
            client.request_approval(question, heard=lambda answer: waiting.put(answer.id))
            took.append(time.thread_time() - began)
    waiting.put(None)
    reviewer.join()
    return {"CPU of a question and its answer": milliseconds(took[10:])}  # warm


def importing(rounds=10):
    """The CPU that the library's import takes in a new process."""
    command = [sys.executable, "-c", IMPORT]
    told = [subprocess.check_output(command, text=True) for _ in range(rounds)]
    return {"CPU of importing approval_client": milliseconds(map(float, told))}


def _decide(url, waiting):
    with httpx2.Client(base_url=url, trust_env=False) as reviewer:
        while approval_id := waiting.get():
            reviewer.post(f"/decide/{approval_id}")
