"""Words that look like others, in every field of every kind; and honest text in many languages."""

import ast
import gettext
import json
import time
from importlib.util import find_spec
from pathlib import Path

import django
import pytest

from approval_client.wire import Kind
from dashboard.inspection.characters import inspect_characters
from dashboard.inspection.findings import Severity
from dashboard.inspection.inspector import inspect_content
from dashboard.inspection.looks import disguises, look_alikes, skeleton

CYRILLIC_COPE = "\u0441\u043e\u0440\u0435"
PAIRS = [
    ("cope", CYRILLIC_COPE),
    ("scope", "\u0455cope"),
    ("paypal", "\u0440\u0430ypal"),
    ("target", "t\u0430rget"),
    ("Kelvin", "\u039aelvin"),
    ("value", "\u03bdalue"),
    ("alpha", "\u0251lpha"),
    ("config", "con\ufb01g"),
    ("size", "\U0001d42cize"),
    ("host", "h\u0585st"),
    ("SCOPE", "\u13daCOPE"),
    ("path", "\u0440ath"),
    ("x1", "\u04451"),
    ("Into", "\u0406nto"),
]


def found(kind, content):
    return [
        f for f in inspect_content(kind, content).findings if f.name == "look-alike-characters"
    ]


@pytest.mark.parametrize(("word", "twin"), PAIRS)
def test_two_words_that_look_alike_have_one_skeleton(word, twin):
    assert skeleton(word) == skeleton(twin)


@pytest.mark.parametrize(("word", "twin"), PAIRS)
def test_two_words_of_one_look_are_found_once_and_not_as_plain_letters(word, twin):
    names = {finding.name for finding in inspect_characters(f"{word} = 1\nprint({twin})\n")}

    assert names & {"look-alike-characters", "folding-characters"}
    assert not list(look_alikes(f"{word} = 1\nprint({word})\n"))


def test_the_word_that_is_not_ascii_is_named():
    assert list(look_alikes(f"cope = 1\n{CYRILLIC_COPE} = 2")) == [(9, CYRILLIC_COPE)]


FIELDS = [
    (Kind.CODE, lambda one, two: {"code": f"{one} = {two}", "language": "python"}),
    (Kind.CODE, lambda one, two: {"code": f"echo {one} {two}", "language": "bash"}),
    (Kind.CODE, lambda one, two: {"code": f"select {one}, {two}", "language": "sql"}),
    (Kind.CODE, lambda one, two: {"code": f"{one} {two}", "language": "cobol"}),
    (Kind.CODE, lambda one, two: {"code": f"```python\n{one}\n```\n```sh\n{two}\n```"}),
    (Kind.TOOL_CALL, lambda one, two: {"tool": one, "arguments": {"x": two}}),
    (Kind.TOOL_CALL, lambda one, two: {"tool": "t", "arguments": {"x": one, "y": [two]}}),
    (Kind.TOOL_CALL, lambda one, two: {"tool": "t", "arguments": {one: 1, two: 2}}),
    (Kind.TOOL_CALL, lambda one, two: {"tool": "t", "arguments": {"x": {one: {"y": two}}}}),
    (Kind.PLAN, lambda one, two: {"steps": [{"title": one}, {"title": two}]}),
    (Kind.PLAN, lambda one, two: {"steps": [{"title": "a", one: 1, "details": two}]}),
    (
        Kind.MEMORY,
        lambda one, two: {"operation": "add", "user_id": "u", "content": one, "existing": two},
    ),
    (
        Kind.MEMORY,
        lambda one, two: {"operation": "add", "user_id": one, "content": two, "existing": None},
    ),
]


BY_OTHERS = json.loads(Path(__file__).with_name("look_alikes.json").read_text())
"""220 pairs and 180 honest texts of somebody who knew nothing of how they are found."""
NOT_FOUND = {
    "Hebrew paseq as l",  # a sign, which no word has
    "Latin tone five as 5",  # Unicode calls it like s
    "Telugu zero in address",  # a digit beside others, as in honest Arabic
    "en dash",  # typography, as is the next
    "tilde operator",
    "empty set as O slash",  # mathematics
    "horizontal bar for long vowel mark",  # typography
    "ohm sign for omega",  # units, which stand beside the letter
    "Greek mu for micro sign",
}
FOUND_AS = {
    "look-alike-characters",
    "folding-characters",
    "hidden-text",
    "invisible-characters",
    "text-direction",
}


@pytest.mark.parametrize("shift", [0, 5, 9])
def test_pairs_that_somebody_else_made_are_found_in_every_field(shift):
    missed = set()
    for number, (word, twin, how) in enumerate(BY_OTHERS["pairs"]):
        kind, content = FIELDS[(number + shift) % len(FIELDS)]
        findings = inspect_content(kind, content(word, twin)).findings
        if not FOUND_AS & {f.name for f in findings if f.severity == Severity.HIGH}:
            missed.add(how)

    assert missed - {"ohm sign for omega"} == NOT_FOUND - {"ohm sign for omega"}


def test_honest_texts_of_somebody_else_raise_no_alarm():
    alarms = [text for text in BY_OTHERS["honest"] if list(look_alikes(text))]

    assert alarms == []


def test_names_that_differ_in_what_joins_them_are_found():
    text = "rm -r prod-db prod\u2010db 2010\u22122015 2010-2015"

    assert list(look_alikes(text)) == [(14, "prod\u2010db")]


@pytest.mark.parametrize("text", ["x\u2212y = x-y", "a\u2044b and a/b", "5\u22123 or 5-3"])
def test_a_formula_is_no_name(text):
    assert list(look_alikes(text)) == []


def test_one_letter_is_a_name_in_code_and_a_word_in_a_sentence():
    es = "\u0441"

    assert list(look_alikes(f"c = 1\nprint({es})")) == [(12, es)]
    assert (
        list(look_alikes(f"\u0412\u044b\u0432\u043e\u0434 {es} \u0434\u0438\u0441\u043a\u0430 c"))
        == []
    )


ES = "\u0441"
DASHES = "-\u2010"


@pytest.mark.parametrize(
    "text",
    [
        "a\u2010b " * 25_000 + "a\u2010" * 25_000,
        "".join(f"a{DASHES[n % 2]}{DASHES[n // 2 % 2]}b{n // 4:x} " for n in range(25_000)),
        f"c {ES} " * 25_000,
        f"c {ES}\n" * 25_000,
    ],
    ids=["one name", "many names", "one line", "many lines"],
)
def test_however_many_there_are_each_is_read_once(text):
    began = time.process_time()
    list(look_alikes(text))

    assert time.process_time() - began < 10


@pytest.mark.parametrize(("kind", "content"), FIELDS)
def test_a_pair_is_found_in_every_field_of_every_kind(kind, content):
    assert found(kind, content("cope", CYRILLIC_COPE))
    assert not found(kind, content("cope", "hope"))


@pytest.mark.parametrize(
    "text",
    [
        "Density rho: \u03c1 = 1; p = 2",  # physics has both
        "\u03bd_0 = v_0",
        "\u0394t = dt",
        "une \u0153uvre, oeuvre",
        "x1 = xl = 0",  # within ASCII a font for code tells them
        "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0639\u0644\u0649 \u0639\u0644\u064a",
        "\u30ab\u30bf\u30ab\u30ca \u3068 \u6f22\u5b57",
        "# \u0430 \u043f\u043e\u0442\u043e\u043c \u0441 \u043d\u0438\u043c\na = c",
        "gi\u1edd h\u01a1n",
    ],
)
def test_what_is_honest_is_no_alarm(text):
    assert list(look_alikes(text)) == []


def test_an_agent_cannot_have_a_pair_pass_for_turkish():
    assert list(look_alikes("admin, adm\u0131n # \u015f")) == [(7, "adm\u0131n")]


HOSTILE = {
    "marks out of order": "a" + "\u0315\u0300\u031b\u0334" * 200_000,
    "many words of one look in one script": " ".join(
        "".join("\u064a\u0649"[number >> bit & 1] for bit in range(16)) for number in range(30_000)
    ),
    "many twins": " ".join(
        "".join("a\u0430"[number >> bit & 1] for bit in range(16)) for number in range(40_000)
    ),
    "one long word": "a\u0430" * 400_000,
    "quantities": "\u03bd_" * 300_000,
    "Turkish": "\u015f\u0131 " * 250_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_takes_no_longer_than_its_length_asks(name):
    started_at = time.process_time()

    list(look_alikes(HOSTILE[name]))

    assert time.process_time() - started_at < 8


def test_one_letter_that_is_assigned_passes_for_another():
    assert list(look_alikes("a = 1\n\u0430 = 2\nprint(a)")) == [(6, "\u0430")]


@pytest.mark.parametrize(
    "language", ["de", "el", "fr", "ja", "ko", "ru", "tr", "uk", "vi", "zh_Hans"]
)
def test_honest_text_of_a_language_beside_english_stays_quiet(language):
    """Each message of Django in English and translated, as one text: at most 0.5 % alarms."""
    texts = [
        f"{english}\n{translated}"
        for file in Path(django.__file__).parent.glob(f"**/locale/{language}/LC_MESSAGES/*.mo")
        for english, translated in messages(file)
    ]

    alarms = [text for text in texts if list(look_alikes(text))]

    assert len(texts) > 500
    assert len(alarms) <= 0.005 * len(texts), alarms


def messages(file):
    with file.open("rb") as stream:
        catalog = gettext.GNUTranslations(stream)._catalog
    return [(key if isinstance(key, str) else key[0], text) for key, text in catalog.items()]


PACKAGES = [
    "PIL",
    "_pytest",
    "allauth",
    "anyio",
    "autobahn",
    "channels",
    "click",
    "cryptography",
    "daphne",
    "django",
    "fido2",
    "urllib3",
    "hypothesis",
    "jinja2",
    "psycopg",
    "pydantic",
    "pygments",
    "redis",
    "requests",
    "rich",
    "schemathesis",
    "typer",
]


def test_docstrings_of_twenty_packages_raise_no_alarm():
    texts = [text for package in PACKAGES for text in docstrings(package)]

    alarms = [text for text in texts if list(look_alikes(text))]

    assert len(texts) > 80
    assert all("Angstrom" in text or "\u00c5" in text for text in alarms), alarms  # of a pair


def docstrings(package):
    """Yield those that are not of ASCII alone; others have nothing that looks like anything."""
    for file in Path(find_spec(package).origin).parent.rglob("*.py"):
        source = file.read_bytes()
        if source.isascii():
            continue
        try:
            nodes = ast.walk(ast.parse(source))
        except SyntaxError:  # a sample of what is wrong
            continue
        for node in nodes:
            if isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            ):
                text = ast.get_docstring(node) or ""
                if not text.isascii():
                    yield text


@pytest.mark.parametrize("word", ["a", "a_1", "\u0430", "\u0301"])
def test_one_word_of_a_million_letters_is_read_in_passing(word):
    """It took time squared: minutes of it, of which a page spent one for 76 kB."""
    text = (word * 1_000_000)[:1_000_000] + " \xe9"

    assert disguises(text) is not None
