"""What the tests of the sandbox run in its workers."""

import os
import sys
import time


def upper(payload):
    return payload.upper()


def pid(payload):
    return str(os.getpid()).encode()


def environment(payload):
    return "\n".join(sorted(os.environ)).encode()


def spin(payload):
    while True:
        pass


def doze(payload):
    time.sleep(0.05)
    return payload


def toil(payload):
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    return payload


def fail(payload):
    raise KeyError(payload.decode())


def die(payload):
    os._exit(3)


def hoard(payload):
    return bytes(2 << 30)


def flood(payload):
    return bytes((16 << 20) + 1)


def chatter(payload):
    sys.stdout.write("not a reply\n")
    sys.stdout.flush()
    os.write(1, b"nor this")
    return payload


def recurse(payload):
    sys.setrecursionlimit(10**6)
    return recurse(payload)
