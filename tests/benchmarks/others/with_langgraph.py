"""Answers interrupts of a graph that LangGraph's server runs; as ``with_dbos``.

The server keeps its state in memory. The time is from the call that resumes the graph until the
graph goes on, in the server.
"""

import json
import sys
import time

from langgraph_sdk import get_sync_client

if __name__ == "__main__":
    client = get_sync_client(url=sys.argv[1])

    def answer():
        thread = client.threads.create()["thread_id"]
        client.runs.wait(thread, "ask", input={})
        began = time.time()
        return client.runs.wait(thread, "ask", command={"resume": "approved"})["at"] - began

    for line in sys.stdin:
        took = [answer() for _ in range(int(line))]
        print("TOOK", json.dumps(took), flush=True)  # noqa: T201 - to who runs it
