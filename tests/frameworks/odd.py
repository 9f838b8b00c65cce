"""Odd arguments that models write, and what becomes of each in every framework.

A case is what the model wrote for the tool ``purge(pattern: str = "*")`` or one of ``TOOLS``, and
what people are asked, which is what is called; or, where it is not asked, words of the sentence
that the model reads.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import BaseModel, Json


class Colour(Enum):
    RED = "red"


class Place(BaseModel):
    host: str
    port: int = 1


class Tools:
    """The tools of the cases; ``called`` has what they got.

    Args:
        wrap: Makes a tool of the framework of a function.
    """

    def __init__(self, wrap):
        self.called = []
        self.all = list(map(wrap, self._functions()))

    def _functions(self):
        def purge(pattern: str = "*") -> str:
            """Delete files."""
            return self._got(pattern=pattern)

        def count(n: int) -> str:
            """Count."""
            return self._got(n=n)

        def weigh(x: float) -> str:
            """Weigh."""
            return self._got(x=x)

        def move(where: Place) -> str:
            """Move."""
            handed = where if isinstance(where, dict) else where.model_dump()
            return self._got(where=handed)

        def paint(colour: Colour) -> str:
            """Paint."""
            return self._got(colour=Colour(colour).value)

        def stop() -> str:
            """Stop."""
            return self._got()

        def load(data: Json) -> str:
            """Load."""
            return self._got(data=data)

        return purge, count, weigh, move, paint, stop, load

    def _got(self, **arguments):
        self.called.append(arguments)
        return "done"


@dataclass(frozen=True)
class Case:
    name: str
    written: Any  # the text of the arguments
    asked: Any = None  # what is shown, and called
    told: str = ""  # else
    tool: str = "purge"


UNREADABLE = "cut off, or written in another way than JSON"
CASES = [
    Case("nothing", "", {"pattern": "*"}),
    Case("an empty object", "{}", {"pattern": "*"}),
    Case("empty text", '{"pattern": ""}', {"pattern": ""}),
    Case("right", '{"pattern": "*.tmp"}', {"pattern": "*.tmp"}),
    Case(
        "JSON in a string", '"{\\"pattern\\": \\"*.tmp\\"}"', told="are a text, and a JSON object"
    ),
    Case("cut", '{"pattern": "*.tmp"', told=UNREADABLE),
    Case("a Windows path", '{"pattern": "C:\\tmp\\*.log"}', told=UNREADABLE),
    Case("single quotes", "{'pattern': '*.tmp'}", told=UNREADABLE),
    Case("a trailing comma", '{"pattern": "*.tmp",}', told=UNREADABLE),
    Case("two objects", '{"pattern": "a"} {"pattern": "b"}', told=UNREADABLE),
    Case("a fence", '```json\n{"pattern": "a"}\n```', told=UNREADABLE),
    Case("a list", '["*.tmp"]', told="are a list, and a JSON object"),
    Case("null", "null", told="are null, and a JSON object"),
    Case("a number", "5", told="are a number, and a JSON object"),
    Case("true", "true", told="are a boolean, and a JSON object"),
    Case("a name twice", '{"pattern": "a", "pattern": "b"}', told="they name one key twice"),
    Case("another case", '{"Pattern": "*.tmp"}', told="does not take 'Pattern'"),
    Case("a trailing space", '{"pattern ": "*.tmp"}', told="does not take 'pattern '"),
    Case("plural", '{"patterns": "*.tmp"}', told="does not take 'patterns'"),
    Case("an extra flag", '{"pattern": "a", "dry_run": true}', told="does not take 'dry_run'"),
    Case("a value that is null", '{"pattern": null}', told="arguments.pattern"),
    Case("half a pair", '{"pattern": "\\ud800"}', told="half of a surrogate pair"),
    Case("NUL", '{"pattern": "a\\u0000"}', told="NUL character"),
    Case("too deep", '{"pattern": ' + "[" * 40 + "]" * 40 + "}", told="deeper than 32 levels"),
    Case("a number as text", '{"n": "5"}', {"n": 5}, tool="count"),
    Case("64 bits", '{"n": 18446744073709551617}', {"n": 2**64 + 1}, tool="count"),
    Case("a fraction", '{"n": 1.9}', told="arguments.n", tool="count"),
    Case("NaN", '{"n": NaN}', told="NaN, Infinity and numbers beyond", tool="count"),
    Case("Infinity", '{"n": Infinity}', told="NaN, Infinity and numbers beyond", tool="count"),
    Case("1e400", '{"n": 1e400}', told="NaN, Infinity and numbers beyond", tool="count"),
    Case("a huge integer", '{"n": ' + "9" * 5000 + "}", told="too many digits", tool="count"),
    Case("no value", "{}", told="arguments.n", tool="count"),
    Case("a double", '{"x": 0.1}', {"x": 0.1}, tool="weigh"),
    Case(
        "digits that are lost", '{"x": 9007199254740993}', told="arguments.x would", tool="weigh"
    ),
    Case("NaN as text", '{"x": "nan"}', told="NaN, Infinity and numbers", tool="weigh"),
    Case("1e400 as text", '{"x": "1e400"}', told="NaN, Infinity and numbers", tool="weigh"),
    Case("too small", '{"x": 1e-400}', told="arguments.x would become 0.0", tool="weigh"),
    Case("too small as text", '{"x": "1e-400"}', told="arguments.x would become", tool="weigh"),
    Case("smaller still", f'{{"x": "1e-{"9" * 20}"}}', told="arguments.x would", tool="weigh"),
    Case("JSON inside", '{"data": "{\\"a\\": 1, \\"a\\": 2}"}', told="one key twice", tool="load"),
    Case("a model", '{"where": {"host": "a"}}', {"where": {"host": "a", "port": 1}}, tool="move"),
    Case("an extra name inside", '{"where": {"host": "a", "Port": 2}}', told="Port", tool="move"),
    Case("an enum", '{"colour": "red"}', {"colour": "red"}, tool="paint"),
    Case("no member", '{"colour": "pink"}', told="arguments.colour", tool="paint"),
    Case("arguments to a tool without", '{"x": 1}', told="It takes no arguments", tool="stop"),
    Case("nothing to a tool without", "", {}, tool="stop"),
]

LARGE = '{"pattern": "' + "x" * 1_200_000 + '"}'


def is_told_to_write_less(told):
    """Whether a model reads what is too large, how much may be sent, and that it may ask again."""
    return "the limit is 1,048,576" in told and "Ask for less" in told and "retry" not in told
