"""The tables of what names do: read from TOML, refused when malformed, never changed."""

import hashlib
import json
import subprocess
import sys
import tomllib
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from dashboard.inspection import knowledge
from dashboard.inspection.findings import INSPECTOR_VERSION, Severity
from dashboard.inspection.knowledge import loading
from dashboard.inspection.knowledge.loading import Deed, Document, MalformedTable, load, table
from dashboard.inspection.python.calls import CHECKS
from dashboard.inspection.shell.judge import one_judge_each

FOLDER = Path(knowledge.__file__).parent
TABLES_OF_VERSION = ("14", "26494667119b85c8")


def document(text, file="ours.toml"):
    return Document(file, tomllib.loads(text))


def reads(read, *, grows=False):
    @dataclass(frozen=True)
    class Schema:
        value: object = table(read, grows=grows)

    return Schema


def loaded(read, text):
    return load(reads(read), document(text)).value


def test_functions_are_read_with_their_finding_and_their_check():
    found = loaded(
        loading.deeds,
        """
        [[value]]
        finding = "file-write"
        severity = "medium"
        check = "open"
        names = 'a.open b.open'
        [[value]]
        finding = "network"
        severity = "low"
        names = 'a.open'
        """,
    )

    write = Deed("file-write", Severity.MEDIUM, "open")
    assert found == {"a.open": (write, Deed("network", Severity.LOW)), "b.open": (write,)}


def test_a_file_says_effects_of_its_own():
    found = loaded(
        loading.commands,
        """
        [effects]
        loads = { finding = "control-system-write", severity = "high" }
        [[value]]
        names = 'aim'
        effects = ["loads", "writes-file"]
        """,
    )

    assert [effect.code for effect in found["aim"]] == ["loads", "writes-file"]


DEED = '[[value]]\nfinding = "network"\nseverity = "low"\nnames = "a"\n'
COMMAND = '[[value]]\nnames = "a"\neffects = ["writes-file"]\n'
SUBCOMMANDS = """
[[value]]
names = "a"
reads = "b"
otherwise = []
[[value.rows]]
names = "b"
effects = []
"""
SECRET = "[[value]]\nname = 'a'\nbegins = 'a'\n"


@pytest.mark.parametrize(
    ("read", "text", "what"),
    [
        (loading.words, "value = 1", "value: This has to be text."),
        (loading.words, "value = ' a b a '", "value: 'a' stands here twice."),
        (loading.pairs, "value = 'a'", "value: This has to be a table."),
        (loading.pairs, "[value]\na = 1", "value.a: This has to be text."),
        (loading.groups, "[value]\na = 'b b'", "value.a: 'b' stands here twice."),
        (loading.numbers, "[value]\na = true", "value.a: This has to be a number."),
        (loading.patterns, "[value]\na = '('", "value.a: This is not a regular expression: "),
        (loading.deeds, "value = {}", "value: This has to be an array."),
        (loading.deeds, "[[value]]\nnames = 'a'", "value[1]: 'finding', 'severity' is missing."),
        (loading.deeds, DEED + "sure = 1", "value[1]: 'sure' cannot stand here. Known are "),
        (
            loading.deeds,
            DEED.replace("network", "nettwork"),
            "value[1].finding: There is no finding 'nettwork'.",
        ),
        (
            loading.deeds,
            DEED.replace("low", "lowest"),
            "value[1].severity: 'lowest' is not a severity. Known are ",
        ),
        (loading.deeds, DEED + "check = 'opne'", "value[1].check: There is no check 'opne'."),
        (
            loading.deeds,
            DEED + DEED,
            "value[2]: Another entry says 'network' of 'a' already.",
        ),
        (loading.commands, COMMAND + COMMAND, "value[2]: Another entry has 'a' already."),
        (
            loading.commands,
            COMMAND.replace("writes-file", "writes-flie"),
            "value[1].effects[0]: There is no effect 'writes-flie'.",
        ),
        (
            loading.commands,
            '[effects]\nwrites-file = { finding = "network", severity = "low" }\n' + COMMAND,
            "effects.writes-file: There is an effect of this name already.",
        ),
        (
            loading.commands,
            '[effects]\nx = { finding = "x", severity = "low" }\n' + COMMAND,
            "effects.x.finding: There is no finding 'x'.",
        ),
        (
            loading.commands,
            '[effects]\nx = { finding = "network", severity = "low" }\n' + COMMAND,
            "effects.x: There is no sentence for 'x' in dashboard/inspection/sentences.py.",
        ),
        (
            loading.options,
            '[[value]]\nnames = "a"\noptions = [{ begins = "(", effect = "writes-file" }]',
            "value[1].options[1].begins: This is not a regular expression: ",
        ),
        (
            loading.subcommands,
            SUBCOMMANDS,
            "value[1].rows[1]: Another entry has 'b' already.",
        ),
        (loading.wrappers, "[value]\na = { jump = 1 }", "value.a: 'jump' cannot stand here."),
        (loading.rows, "[[value]]\nnames = 'a'\neffects = ['a']", "There is no effect 'a'."),
        (
            loading.mentions,
            "[[value]]\npattern = '*'\neffects = []",
            "value[1].pattern: This is not a regular expression: ",
        ),
        (loading.secrets, SECRET, "value[1]: It has to be both found and covered."),
        (loading.secrets, SECRET + "find = 'a'", "value[1]: A group has to say what is covered."),
        (
            loading.secrets,
            (SECRET + "find = '(a)'\n") * 2,
            "value: 'a' stands here twice.",
        ),
    ],
)
def test_what_is_malformed_is_refused_with_its_file_and_entry(read, text, what):
    with pytest.raises(MalformedTable) as refused:
        loaded(read, text)

    assert str(refused.value).startswith("ours.toml, ")
    assert what in str(refused.value)


def test_tables_that_are_unknown_or_missing_are_refused():
    schema = reads(loading.words)

    with pytest.raises(MalformedTable, match=r"^ours.toml, valeu: Unknown table\."):
        load(schema, document("valeu = 'a'"))
    with pytest.raises(MalformedTable, match=r"^ours.toml: The tables 'value' are missing\.$"):
        load(schema, document(""))


def test_what_is_no_toml_is_refused(tmp_path, monkeypatch):
    (tmp_path / "bad.toml").write_text("harmless = ")
    monkeypatch.setattr(loading, "_FOLDER", tmp_path)

    with pytest.raises(MalformedTable, match=r"^bad.toml: This is not TOML: "):
        loading.shipped("bad")


def test_another_document_adds_to_a_table_that_grows():
    schema = reads(loading.words, grows=True)

    assert load(schema, document("value = 'a'"), document("value = 'a b'")).value == {"a", "b"}


def test_another_document_adds_to_nothing_else():
    schema = reads(loading.words)

    with pytest.raises(MalformedTable, match=r"^house.toml, value: Only the first document may"):
        load(schema, document("value = 'a'"), document("value = 'b'", "house.toml"))


def test_a_house_may_add_what_is_looked_at_and_nothing_that_is_harmless():
    shipped = loading.shipped("python_modules")
    house = document("higher_order = 'our_map'", "house.toml")

    found = load(knowledge.PythonModules, shipped, house)

    assert found.higher_order == knowledge.PYTHON_MODULES.higher_order | {"our_map"}
    for name in ("harmless", "partly", "harmless_types", "harmless_parts"):
        with pytest.raises(MalformedTable, match="Only the first document may have this table"):
            load(knowledge.PythonModules, shipped, document(f"{name} = 'ours'"))


def test_a_house_may_add_commands_of_windows_and_secrets():
    command = document('[[commands]]\nnames = "ours"\neffects = ["deletes-files"]')
    secret = document("[[secrets]]\nname = 'ours'\nbegins = 'ours_'\nfind = 'ours_(\\w{20})'")

    commands = load(knowledge.Windows, loading.shipped("windows"), command).commands
    secrets = load(knowledge.Secrets, loading.shipped("secrets"), secret).secrets

    assert commands[:-1] == knowledge.WINDOWS.commands
    assert secrets[:-1] == knowledge.SECRETS.secrets
    assert (commands[-1].names, secrets[-1].name) == ({"ours"}, "ours")


def test_a_command_of_a_shell_is_judged_in_one_place():
    def copying(call):
        raise NotImplementedError

    places = [("shell/files.py, copying", copying, ["cp"])]

    assert one_judge_each(places) == {"cp": copying}
    with pytest.raises(MalformedTable) as refused:
        one_judge_each([*places, ("shell_commands.toml, commands", copying, ["ls", "cp"])])
    assert str(refused.value) == (
        "shell_commands.toml, commands: The command 'cp' stands in shell/files.py, copying "
        "already. Take it out of one of them."
    )


def test_a_command_of_a_table_that_python_judges_already_stops_the_import():
    program = (
        "import tomllib; whole = tomllib.loads;"
        'tomllib.loads = lambda text: whole(text.replace("\'kill pkill", "\'kill rm"));'
        "import dashboard.inspection.inspector"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert (
        "shell_commands.toml, commands: The command 'rm' stands in shell/files.py, rm already."
        in done.stderr
    )


IMMUTABLE = (frozenset, tuple, MappingProxyType, str, int)


@pytest.mark.parametrize(
    "name", [name for name in vars(knowledge) if name.isupper() and not name.startswith("_")]
)
def test_the_tables_never_change(name):
    value = getattr(knowledge, name)
    if is_dataclass(value):
        with pytest.raises(FrozenInstanceError):
            setattr(value, fields(value)[0].name, None)
        value = [getattr(value, one.name) for one in fields(value)]
        assert all(isinstance(inner, IMMUTABLE) for inner in value)
    else:
        assert isinstance(value, IMMUTABLE)


def test_every_check_that_the_tables_may_name_exists():
    assert CHECKS.keys() == loading.CHECKS


def test_each_file_is_read_once_in_a_process():
    program = (
        "import tomllib; whole = tomllib.loads; read = [];"
        "tomllib.loads = lambda text: read.append(text) or whole(text);"
        "import dashboard.inspection.inspector, dashboard.inspection.redaction;"
        "print(len(read), len(set(read)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    files = len(list(FOLDER.glob("*.toml")))
    assert done.stdout.split() == [str(files), str(files)]


def test_a_change_to_the_tables_raises_the_version_of_the_inspection():
    tables = [loading.shipped(file.stem).tables for file in sorted(FOLDER.glob("*.toml"))]
    digest = hashlib.sha256(json.dumps(tables).encode()).hexdigest()[:16]
    kept = TABLES_OF_VERSION

    assert (INSPECTOR_VERSION, digest) == kept, (
        "The tables of knowledge are not those that were recorded for this version. Raise "
        "INSPECTOR_VERSION in dashboard/inspection/findings.py, as reports name it, and write "
        f'here: TABLES_OF_VERSION = ("{int(kept[0]) + (digest != kept[1])}", "{digest}")'
    )


NOT_KNOWN = {
    *("annotationlib", "compression"),  # new in 3.14
    *("cgitb", "chunk", "genericpath", "imghdr", "mailcap", "modulefinder", "msilib", "nis"),
    *("ossaudiodev", "pipes", "pyclbr", "pyexpat", "sre_compile", "sre_constants", "sre_parse"),
    *("tabnanny", "this", "uu", "winsound", "xdrlib"),
}
"""Left unknown: they open files, call what they are given, change the process, print or warn."""


def test_every_public_module_of_the_standard_library_is_known_or_left_out_on_purpose():
    tables = knowledge.PYTHON_MODULES
    known = tables.harmless | tables.partly | tables.aliases.keys()
    known |= {name.partition(".")[0] for name in knowledge.STANDARD_LIBRARY.calls}
    public = {name for name in sys.stdlib_module_names if not name.startswith("_")}

    assert public - known - NOT_KNOWN == set()
