"""Takes a second to load, as a library of parsers may on a busy machine."""

import time

time.sleep(1)


def answer(payload):
    return b"at last"
