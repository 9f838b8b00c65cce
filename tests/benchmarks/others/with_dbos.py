"""Answers workflows of DBOS that wait: reads how many from each line, writes what each took.

Run by ``tests.benchmarks.beside`` in an environment that has DBOS. Sender and workflow are in one
process: no HTTP, no session, no page, no log.
"""

import json
import sys
import time

from dbos import DBOS

WAITS_S = 0.1


@DBOS.workflow()
def ask():
    DBOS.recv("answer", timeout_seconds=60)
    return time.perf_counter()


def answer():
    handle = DBOS.start_workflow(ask)
    time.sleep(WAITS_S)
    began = time.perf_counter()
    DBOS.send(handle.workflow_id, "approved", "answer")
    return handle.get_result() - began


if __name__ == "__main__":
    config = {"name": "benchmark", "system_database_url": sys.argv[1], "log_level": "ERROR"}
    DBOS(config=config | {"run_admin_server": False})
    DBOS.launch()
    for line in sys.stdin:
        took = [answer() for _ in range(int(line))]
        print("TOOK", json.dumps(took), flush=True)  # noqa: T201 - to who runs it
    DBOS.destroy()
