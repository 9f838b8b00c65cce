"""What one command of a shell does, by the program that it names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from dashboard.inspection import effects
from dashboard.inspection.knowledge import SHELL_COMMANDS, SHELL_OPTIONS, VERBS
from dashboard.inspection.knowledge.loading import MalformedTable
from dashboard.inspection.notes import doubt, names
from dashboard.inspection.shell import code, files, services, wrappers
from dashboard.inspection.shell.call import MAYBE_AN_OPTION, Judge, ShellCall, names_input
from dashboard.inspection.shell.paths import touching, writing
from dashboard.inspection.shell.statements import read_statements
from dashboard.inspection.shell.words import UNKNOWN, Word

_STANDARD_FOLDERS = names(
    "/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin"
)
_VERSIONED = re.compile(
    r"(python|ipython|pypy|perl|ruby|php|lua|node|pip|gcc|g\+\+|clang|tclsh|wish|guile|bash|zsh)"
    r"-?[\d.]+(?:t|-dbg)?|(mkfs|newfs)\.\w+"
)
_BEGINS = re.compile(r"(?:^|[;|&({`])\s*(?:\w+=\S*\s+)*([^\s;|&(){}<>`]+)")
_MARKS = re.compile(r"[\"'\\]")
_SPECIAL = re.compile(r"[\n\r\v\f;&|<>`$(){}]")
"""No word that holds one of these is taken for a plain one: a program may read more into it."""

_SPECIAL_IN_QUOTES = re.compile(r"[\n\r\v\f`$]")
_PLAIN = re.compile(r"[\w.,:/@%+~-]*")
_ASKS_ABOUT_ITSELF = {"--help", "--version"}
_SUBCOMMAND = re.compile(r"[a-z][\w-]*")
_MOST_SUBCOMMANDS = 2
_HELPS_AFTER_ONE = names("git systemctl")
_HELPS_BY_LETTER = names("docker podman nerdctl kubectl oc helm")
_ATTACHED = re.compile(r"^-f(?=.)|^--[\w-]+=")
_CERTIFICATES = names("x509 crl")
_GOES = names("cd pushd")
_LONGEST_FOLDER = 300
"""Characters. Of a script that goes deeper it is not remembered where it is."""

_READS_FILES = names("""
    cat tac nl head tail less more most bat view vi vim nvim nano emacs ed grep egrep fgrep rgrep
    zgrep rg ag ack sed awk gawk mawk cut sort uniq paste join comm diff cmp sdiff colordiff wdiff
    vimdiff base64 base32 basenc xxd od hexdump hd strings cp mv ln install tar zip gzip bzip2 xz
    zstd 7z cpio split csplit fold fmt rev tr column pr dd tee scp rsync sftp curl wget nc ncat
    socat openssl gpg gpg2 age ssh ssh-add john hashcat unshadow iconv source . jq yq python perl
    ruby node php mapfile readarray zcat bzcat xzcat look shuf
""")
"""Commands whose words are files in the folder that the script is in."""

_READS_COMMANDS = names("gdb lldb")
_TELLING = 8
"""So many of a program's first words may be subcommands and options that tell what it does."""

_OF_GNU = names(
    "dd shred truncate tee cp mv chmod chown kill ln install touch mkdir sed tar timeout"
)
_STARTS = re.compile(r"\s*[:!|]*\s*(?:\S*/)?([A-Za-z0-9_.-]+)(?:\s|$)")
_NAMES_SHELL = re.compile(
    r"(?:^|[^\w.-])(?:/usr)?/bin/(?:ba|da|z|k|c|tc|a|fi)?sh(?![\w.-])"
    r"|\b(?:system|popen|exec|execute|shell_exec|callCommand)\((?=[\"'/])|\\write18|\bProxyCommand\b"
)
"""How a program that nobody knows is told which other one to start."""

_NAMES = re.compile(r"-{0,2}[A-Za-z][\w:-]*(?:=.*)?")
_FILE_OF_ACCOUNTS = re.compile(r"(?:file://)?/etc/passwd")
"""A file, though a program has its name."""

_LOOSENS = re.compile(
    r"--dangerously-[\w-]+(?:=.*)?|--yolo|(?:--[\w-]+=)?(?:bypassPermissions|danger-full-access|yolo)"
)
"""How an agent's program is told to ask nobody, or to leave its sandbox."""

_SEPARATORS = re.compile(r"[-_:.\d]+")
_DELETES = re.compile(
    r"(?:delete|remove|destroy|uninstall|purge)(?!rs?$|able$)[a-z]*[a-ce-z]"
    r"|(?!un)[a-z]{2,}(?:delete|destroy)"
    r"|(?:del|rm)(?:user|group|snapshot|repo|host|entry|key|record|virtualenv|backup|volume)s?"
    r"|(?:user|group|key|host|record|part)del"
)
"""A verb of deleting with its object in one word: ``removerepo``, ``rrdelete``, ``userdel``."""
_LISTS = {name: re.compile("|".join(lines)) for name, lines in SHELL_OPTIONS.looks.items()}
_COMPUTED_NAME = doubt(
    "cannot-be-followed",
    "computed-name",
)


def is_known(program: str) -> bool:
    """Whether a judge knows a program, which may be named with its folder."""
    return _known_name(program.rpartition("/")[2]) in JUDGES


def may_tell(line: str) -> bool:
    """Whether the line begins a known command that is not simply harmless."""
    for match in _BEGINS.finditer(line):
        word = _MARKS.sub("", match[1])
        name = _known_name(word.rpartition("/")[2])
        if JUDGES.get(name, _harmless) is not _harmless or not _PLAIN.fullmatch(word):
            return True
    return False


def judge(call: ShellCall) -> None:
    """Write down what the command in ``call.args`` does; its first word names the program."""
    head, *args = call.args
    _by_files(call)
    if (head.pattern and head.text != "[") or not head.known or head.guessed:
        call.add(_COMPUTED_NAME)
    if head.fetched:
        call.add(effects.PIPES_TO_SHELL)
    if not head.quoted and head.text in SHELL_COMMANDS.keywords and head.text != "[[":
        call.add(effects.KEYWORD)
        call = replace(call, name="", args=tuple(args), depth=call.depth + 1)
        if args:
            judge(call)
        return
    folder, slash, name = head.text.rpartition("/")
    if slash and folder not in _STANDARD_FOLDERS:
        call.add(effects.RUNS_PROGRAM)
    elif call.shell.is_function(name):
        return  # its body is judged where it stands
    if head.pattern:
        name = next(
            (starter for starter in sorted(SHELL_COMMANDS.starters) if fnmatchcase(starter, name)),
            name,
        )
    if args or not _FILE_OF_ACCOUNTS.fullmatch(head.text):
        _by_name(replace(call, name=_known_name(name), args=tuple(args)), is_file=bool(slash))


def _by_files(call: ShellCall) -> None:
    """Write down which files a command names that hold secrets."""
    head, *args = call.args
    if not _reads_certificate(call):
        reads = _known_name(head.text.rpartition("/")[2]) in _READS_FILES
        call.add(*touching(args, call.shell.folder if reads else ""))


def _reads_certificate(call: ShellCall) -> bool:
    """Whether openssl only shows a certificate, whose file has the name of a key's."""
    head, *args = call.args
    return (
        head.text == "openssl"
        and any(word.text in _CERTIFICATES for word in args[:1])
        and _only_looks(replace(call, name="openssl", args=tuple(args)))
    )


def _by_name(call: ShellCall, *, is_file: bool) -> None:
    name = call.name
    if not is_file and (_asks_about_itself(call) or _only_looks(call)):
        return
    if name in JUDGES:
        JUDGES[name](call)
    elif not is_file and UNKNOWN not in name:
        if any(_LOOSENS.fullmatch(word.text) for word in call.args):
            call.add(effects.WITHOUT_PROTECTION)
        call.add(effects.UNKNOWN_DESTROYS if _says_it_destroys(call) else effects.UNKNOWN_COMMAND)
        if any(_NAMES_SHELL.search(word.text) for word in call.args):
            call.add(effects.RUNS_PROGRAM)
        _look_into_words(call)
        read_statements(call)
        call.runs_named(call.args)


def _look_into_words(call: ShellCall) -> None:
    """Read a word of an unknown program as a command where it begins as one that starts much."""
    for word in call.args:
        match = _STARTS.match(word.text)
        is_long = word.quoted and " " in word.text.strip() and word.known and not word.guessed
        if match and is_long and match[1] in SHELL_COMMANDS.starters:
            call.add(effects.RUNS_PROGRAM)
            call.reads(replace(word, text=word.text.lstrip(" :!|")))


def _says_it_destroys(call: ShellCall) -> bool:
    """Whether a program that nobody knows has a word, in its name or after it, for deleting."""
    texts = [word.text for word in call.args[:_TELLING] if _NAMES.fullmatch(word.text)]
    for text in (call.name, *texts):
        verbs = VERBS.destroying_options if text.startswith("-") else VERBS.destroying
        words = _words_of(text)
        if "no" not in words and (words & verbs or any(map(_DELETES.fullmatch, words))):
            return True
    return False


def _words_of(name: str) -> set[str]:
    return set(_SEPARATORS.split(name.partition("=")[0].lower()))


def _asks_about_itself(call: ShellCall) -> bool:
    """Whether a program is only asked how it is used.

    It is where nothing else is asked. A program with subcommands prints the help of the one before
    it; after one that is not known, or that starts a program, the word may be for somebody else.
    """
    texts = [word.text if word.known and not word.guessed else "" for word in call.args]
    if len(texts) == 1:
        return texts[0] in _ASKS_ABOUT_ITSELF
    if len(texts) == 2 and call.name in _HELPS_AFTER_ONE:  # noqa: PLR2004 - the one and the question
        return texts[1] == "--help" and _SUBCOMMAND.fullmatch(texts[0]) is not None
    table = SHELL_OPTIONS.subcommands.get(call.name)
    *words, question = texts or [""]
    if table is None or not 1 <= len(words) <= _MOST_SUBCOMMANDS:
        return False
    if question != "--help" and not (question == "-h" and call.name in _HELPS_BY_LETTER):
        return False
    starts = effects.RUNS_PROGRAM in table.effects.get(words[0], table.otherwise)
    if words[0] not in table.effects or (
        starts and (words[1:] or call.name not in _HELPS_BY_LETTER)
    ):
        return False
    return all(_SUBCOMMAND.fullmatch(word) for word in words)


def _only_looks(call: ShellCall) -> bool:
    """Whether a command that may change something is called in a way that does not."""
    looks = _LISTS.get(call.name)
    quoted = _SPECIAL_IN_QUOTES if call.name in _HELPS_BY_LETTER else _SPECIAL
    if looks is None or any(
        not word.known
        or word.guessed
        or word.pattern
        or word.process
        or (quoted if word.quoted else _SPECIAL).search(word.text)
        for word in call.args
    ):
        return False
    words = (re.sub(r"\s", "_", word.text) for word in call.args)  # one stays one
    return looks.fullmatch(" ".join(words)) is not None


def _harmless(call: ShellCall) -> None:
    if call.name in _GOES:
        _go(call)


def _go(call: ShellCall) -> None:
    """Remember where the script goes: what its commands name is seen from there."""
    folders = [word for word in call.operands() if word.text != "-"]
    if len(folders) == 1 and folders[0].known and not folders[0].guessed:
        joined = posixpath.normpath(posixpath.join(call.shell.folder, folders[0].text))
        call.shell.folder = joined if len(joined) <= _LONGEST_FOLDER else ""
    else:
        call.shell.folder = ""


def _whatever_its_arguments(call: ShellCall) -> None:
    call.add(*SHELL_COMMANDS.commands[call.name])
    if call.name in SHELL_COMMANDS.fetching and call.asks_to_delete():
        call.add(effects.UNKNOWN_DESTROYS)
    for word in call.args if call.name in SHELL_COMMANDS.scripted else ():
        file = replace(word, text=_ATTACHED.sub("", word.text))
        if file.process or names_input(file):
            call.runs_output(file)
    if call.name in _READS_COMMANDS:
        call.runs_output(None)
    if call.name in SHELL_COMMANDS.starting:
        call.runs_named(call.args)
        _look_into_words(call)


def _by_options(call: ShellCall) -> None:
    for word in call.args:
        if word.opaque:
            call.add(MAYBE_AN_OPTION)
        for option in SHELL_OPTIONS.options[call.name]:
            if re.match(option.pattern, word.text):
                call.add(option.effect)
    if call.name == "date" and not call.has_flag("j") and any(map(_sets_clock, _after(call))):
        call.add(effects.CHANGES_SYSTEM)
    most = SHELL_OPTIONS.most_operands.get(call.name)
    for word in call.operands(values="fswlcg")[most:] if most else ():
        call.add(*writing(word, call.shell.folder))


def _after(call: ShellCall) -> list[Word]:
    return call.operands(values="dfr", names=frozenset(["--date", "--file", "--reference"]))


def _sets_clock(word: Word) -> bool:
    """Whether an operand of ``date`` is a moment, as digits: ``1130`` or ``113003282026.00``."""
    return bool(re.fullmatch(r"[0-9]{2,12}(?:\.[0-9]{2})?", word.text))


def _known_name(name: str) -> str:
    """Return the name under which the tables have a program."""
    versioned = _VERSIONED.fullmatch(name)
    if versioned:
        return versioned[1] or versioned[2]
    if name in SHELL_COMMANDS.harmless:
        return name
    # Some systems take RM for rm, and rm.exe too; others have GNU's with a letter before it.
    name = name.lower().removesuffix(".exe")
    return name[1:] if name[:1] == "g" and name[1:] in _OF_GNU else name


Place = tuple[str, Judge, Collection[str]]


def _places() -> Iterator[Place]:
    """Yield where the judges of commands are named, and which commands stand there."""
    for module in (files, wrappers, services, code):
        for judged_by, commands in module.HANDLERS.items():
            name = module.__name__.rpartition(".")[2]
            yield f"shell/{name}.py, {judged_by.__name__}", judged_by, commands
    yield "shell_commands.toml, commands", _whatever_its_arguments, SHELL_COMMANDS.commands.keys()
    yield "shell_commands.toml, harmless", _harmless, SHELL_COMMANDS.harmless
    yield "shell_options.toml, options", _by_options, SHELL_OPTIONS.options.keys()


def one_judge_each(places: Iterable[Place]) -> Mapping[str, Judge]:
    """Return the judge of each command.

    Raises:
        MalformedTable: A command stands in two places, so that one of them would never be asked.
    """
    judge_by_name: dict[str, Judge] = {}
    where: dict[str, str] = {}
    for place, judged_by, commands in places:
        for name in commands:
            if name in judge_by_name:
                raise MalformedTable(
                    f"{place}: The command {name!r} stands in {where[name]} already. "
                    "Take it out of one of them."
                )
            judge_by_name[name], where[name] = judged_by, place
    return judge_by_name


JUDGES = one_judge_each(_places())
