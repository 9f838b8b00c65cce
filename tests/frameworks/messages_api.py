"""A model for Claude Code: a Messages API on the loopback address that says what a test prepared.

It answers a conversation with one tool call after the other, each once the one before has its
result, and then with "done". What Claude Code asks on the side, without tools, is told "ok".
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input_tokens": 1, "output_tokens": 1}


class Model:
    """What the model will do, and what it was told.

    Attributes:
        turns: One list of calls a turn, each ``(tool, input)``.
        results: The result of every call as its text, in order.
        failed: Whether each of them was an error.
    """

    def __init__(self, *turns):
        self.turns = turns
        self.results = []
        self.failed = []

    def answer(self, asked):
        """Return the content blocks that a request is answered with."""
        if not asked.get("tools"):
            return [{"type": "text", "text": "ok"}]
        told = [block for block in _blocks(asked["messages"]) if block["type"] == "tool_result"]
        told.sort(key=lambda block: block["tool_use_id"])  # they come as they end
        self.results = [_text(block.get("content", "")) for block in told]
        self.failed = [block.get("is_error", False) for block in told]
        begun = 0
        for number, turn in enumerate(self.turns):
            if len(told) <= begun:
                return [_call(f"toolu_{number}_{n}", *call) for n, call in enumerate(turn)]
            begun += len(turn)
        return [{"type": "text", "text": "done"}]


def _blocks(messages):
    found = [message["content"] for message in messages]
    return [block for content in found if isinstance(content, list) for block in content]


def _text(content):
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def _call(name, tool, arguments):
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def _events(blocks):
    stop = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-fake"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE}
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        yield from _told(index, block)
    delta = {"stop_reason": stop, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _told(index, block):
    if block["type"] == "text":
        start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


@contextmanager
def served(model):
    """Serve a model; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            if not self.path.startswith("/v1/messages?") and self.path != "/v1/messages":
                self.send("application/json", b'{"input_tokens": 1}')
                return
            lines = [
                f"event: {e['type']}\ndata: {json.dumps(e)}\n\n"
                for e in _events(model.answer(asked))
            ]
            self.send("text/event-stream", "".join(lines).encode())

        def do_GET(self):
            self.send("application/json", b"{}")

        do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

        def send(self, kind, body):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
