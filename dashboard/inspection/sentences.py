"""What findings say, in our words: the one table of their sentences.

A finding is kept as facts: its name, the code of what it says, and what it is about, such as the
function that is called. The sentence is made from them wherever it is shown or told, so it can be
reworded here without touching anything that was recorded. Sentences without a full stop go on
with what they are about.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dashboard.inspection.findings import Finding, Report, Unseen, gravest

SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        # Characters, in any text.
        "reorders-text": (
            "Holds characters that change the direction of text, so that it reads otherwise "
            "than it runs."
        ),
        "tag-characters": "Holds text in tag characters, which a machine reads and nobody sees.",
        "crossed-out": (
            "Holds letters that are crossed out for whoever looks, and not for a machine."
        ),
        "control-characters": (
            "Holds control characters, which can erase or redraw what is shown elsewhere."
        ),
        "unseen-characters": "Holds characters that nobody sees.",
        "unusual-spaces": "Contains unusual space characters.",
        "private-characters": "Holds characters that have no meaning everybody agrees on.",
        "row-of-blanks": (
            "Holds 32 or more blanks side by side, which push what follows out of sight."
        ),
        "joining-characters": "Holds invisible characters that join letters.",
        "letters-of-another-script": (
            "Holds a word that looks like another one but has other letters."
        ),
        "folded-by-python": "Holds a word that Python reads as another one, of plain letters.",
        # Tools.
        "tool-schema-changed": (
            "The schema of this tool is not the one with which a call of it was last approved."
        ),
        # How far the inspection came.
        "too-large": "Larger than the 64 KiB that are inspected.",
        "too-large-searched": (
            "Larger than the 1 MiB that is inspected. Only lines that name something dangerous "
            "were read."
        ),
        "too-slow-searched": (
            "Reading all of it took too long. Only lines that name something dangerous were read."
        ),
        "long-text": ("Holds a text of more than 64 KiB, of which only the beginning is followed"),
        "too-slow": (
            "The inspection took too long and was stopped, so nobody knows what this does."
        ),
        "inspection-failed": "The inspection failed, so nobody knows what this does.",
        "unknown-shape": "This has a shape that no inspector knows.",
        "ambiguous-fences": (
            "Looks like fenced blocks of code, but can be read in more than one way."
        ),
        "too-many-blocks": "Holds more than 50 fenced blocks of code.",
        "more-findings": "More than 500 findings; the gravest are listed, and one of each name.",
        "more-findings-of-python": (
            "More than 200 findings; the gravest are listed, and one of each name."
        ),
        "no-language": (
            "Names no language, so nobody knows how it is read. Dangers were looked for."
        ),
        "language-not-inspected": (
            "Is in a language that is not inspected. Only known dangers were looked for."
        ),
        "windows-not-inspected": (
            "Holds commands of Windows. Only known dangers are looked for in them; the rest "
            "is not read."
        ),
        "not-inspected": "Holds code in a language that no inspector reads.",
        "argument-without-language": (
            "An argument seems to hold code, but nothing says in which language."
        ),
        # Tools, by their names.
        "tool-writes-control": "This tool writes to the control system, by its name.",
        "tool-reads-control": "This tool reads from the control system, by its name.",
        "tool-writes-files": "This tool writes files, by its name.",
        # Secrets, by the names in secrets.toml.
        "private-key": "Holds what looks like a private key.",
        "metadata-address": (
            "Names the address at which a cloud gives a machine its credentials."
        ),
        "aws-access-key": "Holds what looks like an access key of AWS.",
        "github-token": "Holds what looks like a token of GitHub.",
        "gitlab-token": "Holds what looks like a token of GitLab.",
        "slack-token": "Holds what looks like a token of Slack.",
        "google-key": "Holds what looks like a key of Google.",
        "model-provider-key": "Holds what looks like a key of a model's provider.",
        "stripe-key": "Holds what looks like a key of Stripe.",
        "hugging-face-token": "Holds what looks like a token of Hugging Face.",
        "jwt": "Holds what looks like a signed token (JWT).",
        "password-in-address": "Holds what looks like a password in an address.",
        "password": "Holds what looks like a password.",
        "dashboard-token": "Holds what looks like a token of this dashboard.",
        # What commands do: the names of effects, as the tables of knowledge use them.
        "unknown-command": "Runs a command whose effects are not known.",
        "runs-program": "Runs a program that is not shown here.",
        "runs-tests": "Runs the tests of a project, whose code is not shown here.",
        "runs-command": "Lets a program run other commands.",
        "writes-file": "Writes a file.",
        "deletes-files": "Deletes files for good.",
        "graphql-mutation": "Calls a mutation of a service, which may change anything there.",
        "unknown-destroys": "Calls something unknown whose words say that it deletes or resets.",
        "deletes-folders": "Deletes folders with everything in them.",
        "deletes-found-files": "Deletes every file that it finds, in all folders below.",
        "writes-disk": "Writes to a disk itself, past its files.",
        "changes-system": "Changes how this machine runs.",
        "stops-processes": "Stops processes.",
        "gains-rights": "Runs with the rights of somebody else.",
        "changes-rights": "Changes who may use files.",
        "opens-rights": "Gives rights that reach far beyond a file.",
        "stays-behind": "Starts something that goes on in the background.",
        "uses-network": "Talks to other machines.",
        "installs": "Installs code from elsewhere, which may run.",
        "pipes-to-shell": "Runs whatever another command prints, without anybody having read it.",
        "runs-text": "Runs text as code.",
        "hides-traces": "Hides what was done from the shell's history.",
        "loads-code": "Changes a variable that makes programs load or run other code.",
        "changes-path": "Changes which programs the names stand for.",
        "writes-control": "Writes to the control system.",
        "reads-control": "Reads from the control system.",
        "reads-secrets": "Touches files that usually hold credentials.",
        "shows-secrets": "Shows values that often are secrets, such as the environment's.",
        "settings-elsewhere": "Takes settings from elsewhere, which may name programs to run.",
        "drops-database": "Drops a database.",
        "keyword": "A shell keyword is used as a command name.",
        # What scripts do, or may do.
        "joined-while-running": (
            "Runs code that is put together while it runs, so it cannot be read here."
        ),
        "programs-start-each-other": "Programs start each other, too often to be followed.",
        "maybe-an-option": (
            "An argument is not known before it runs; it may be an option that deletes, "
            "writes or runs something."
        ),
        "statements-not-known": "Sends statements to a database that are not known here.",
        "builtin-with-code": "Gives a builtin a name with code in it, which some shells run.",
        "sed-script": (
            "Holds a script for sed that is not of the plain kind; sed can run commands and "
            "write files."
        ),
        "cuts-files": "Cuts files off.",
        "awk-program": "Runs an awk program that is not known here.",
        "code-too-deep": "Holds code within code, too deep to be read.",
        "computed-name": (
            "The name of a command is put together while it runs, so it is not known."
        ),
        "writes-system-folder": "Writes where programs or settings of the system are kept.",
        "writes-what-runs": (
            "Writes what a build server, an editor, a hook or an agent's host runs by itself."
        ),
        "writes-instructions": "Writes instructions that agents follow.",
        "connects-program": "Connects a program with another machine.",
        "rewrites-repository": "Overwrites or deletes what others see of a repository.",
        "privileged-container": "Starts a container that reaches far into its machine.",
        "without-protection": (
            "Asks to run without a protection that holds otherwise, such as a sandbox."
        ),
        "not-a-script": "Is not a script that can be read as a shell would read it.",
        "read-differently": "Holds something that shells and our inspection may read differently.",
        "nul-characters": "Holds NUL characters, which shells leave out or stop at.",
        "words-after-redirection": (
            "Words after a redirection may belong to the command or to the redirection."
        ),
        "command-in-value": (
            "Keeps text with a command in it in a variable or a condition; some uses run it."
        ),
        "second-name": (
            "Gives a variable a second name, so that it cannot be told what is set by it."
        ),
        "shadows-command": "Defines a function under the name of a command.",
        "fork-bomb": "A function starts itself over and over, until nothing runs.",
        # What statements of SQL do.
        "not-sql": "Is not SQL in any dialect that we read.",
        "dialects-differ": "Means one thing in one dialect of SQL and cannot be read in another.",
        "sql-template": "Is a template, which was read as if it were filled in.",
        "sql-too-nested": "This SQL is nested too deeply to be read.",
        "comment-that-runs": "Holds a comment that some databases run as a statement.",
        "client-command": "Holds a command for a database client, which no inspector reads.",
        "client-runs-program": "Has a database client run a program on this machine.",
        "drops-definition": "Drops an index, a view or another definition, and no rows.",
        "drops-tables": "Drops or empties tables, columns or more of a database.",
        "deletes-rows": "Deletes rows.",
        "changes-rows": "Changes rows.",
        "changes-every-row": "Deletes or changes every row of a table.",
        "writes-to-database": "Writes to a database.",
        "changes-database-rights": "Changes who may do what in a database.",
        "database-runs-program": "Has a database run a program on its machine.",
        "database-writes-file": "Has a database write a file on its machine.",
        "database-reads-file": "Has a database read a file on its machine.",
        "database-reaches-out": "Has a database talk to another one.",
        "changes-database-settings": "Changes how a database runs, or stops others' work.",
        "writes-schema": "Lets statements write to the schema itself.",
        "unknown-database-function": "Calls a function of the database that we do not know.",
        "code-in-database": "Runs or keeps code in a database, which no inspector reads.",
        "unknown-statement": "Holds a statement whose effects we do not know.",
        "changes-session": "Changes a setting of its session.",
        # What Python does; what it calls is said after it. First by the names of findings.
        "background-job": "Starts something that goes on in the background",
        "cannot-be-followed": "What happens here cannot be followed",
        "control-system-read": "Reads from the control system",
        "control-system-write": "Writes to the control system",
        "serves-control": "Serves values that others may write, in the control system",
        "credentials": "Reads or holds secrets",
        "deserialisation": "Reads stored objects, which may run code",
        "dynamic-code": "Runs code that is made or loaded while running",
        "file-delete": "Deletes files",
        "file-read": "Reads files",
        "file-write": "Writes or changes files",
        "network": "Uses the network",
        "privilege-change": "Changes rights",
        "process-execution": "Runs another program",
        "recursive-delete": "Deletes a folder with all that is in it",
        "sql-write": "Writes to a database",
        "system-change": "Changes the system",
        "unknown-call": "Calls something whose effects are not known",
        "unknown-library-destroys": "Calls something unknown that, by its name, deletes or resets",
        "service-destroys": "Asks a service to delete or end something, by its name",
        "unknown-import": "Imports a module whose effects are not known",
        "imports-all": "Imports all of a module",
        "reaches-namespace": "This reaches names in a way that cannot be followed",
        "runs-out-of-sight": "What this runs is not in sight",
        "attribute-while-running": "The name of the attribute is only known while running",
        "unusual-module": "The name of the module that this loads is not one of the usual",
        "module-while-running": "The name of the module is only known while running",
        "query-calls-anything": "The query may call anything",
        "reaches-every-object": "This attribute can reach every other object",
        "hands-on-module": "A module that can do harm is handed on, and cannot be followed",
        "runs-when-read": "Says what runs when an object is read from a store",
        "names-secret": "Names or holds a secret",
        "replaces-meaning": "This gives a new meaning to something of another module",
        "changes-object": "This changes what an object is or does",
        "changes-foreign": "Changes something that was made elsewhere",
        "not-python": "This is not valid Python.",
        "python-too-nested": "This Python is nested too deeply to be read.",
        "too-many-bad-lines": "Too many lines are not valid Python. The rest was not inspected.",
        "another-encoding": (
            "This asks to be read in another encoding, where it may say something else"
        ),
        "magic-within-text": "A magic line stands within a text",
        "magic-not-read": "This magic command does what cannot be read here",
        "runs-shell-command": "Runs a command of the shell",
        "changes-packages": "Installs or removes software",
        "writes-cell": "Writes a file from a cell",
        "command-writes-control": "This command writes to the control system.",
        "code-while-running": "This runs code that is only made while running.",
        "code-within-code": "This runs code within code, too deep to be read.",
        "too-much-code": "There is too much code inside of code to be read.",
        "command-while-running": "The command is only known while running.",
        "too-many-commands": "There are too many commands here to be read.",
        "part-of-command-while-running": "Part of the command is only known while running.",
        "sql-while-running": "The SQL is only known while running.",
        "too-much-sql": "There is too much SQL here to be read.",
        "part-of-sql-while-running": "Part of the SQL is only known while running.",
        "program-not-inspected": "The program that is started here was not inspected.",
        # What the tables of knowledge add.
        "deletes-empty-folders": "Deletes empty folders.",
        "changes-database-users": "Changes who may use a database.",
        "sets-up-devices": "Sets up or repairs a disk, a processor or another device.",
        "makes-file-system": "Makes a new file system: what was there before is gone.",
        "writes-database": "Writes to a database.",
        "uninstalls": "Uninstalls packages.",
        "deletes-services": "Deletes what runs on other machines.",
        "changes-services": "Changes what runs on other machines.",
        "deletes-containers": "Deletes or changes containers, images or volumes.",
        "changes-registry": "Changes the registry of Windows.",
        "evaluates": "Runs text as code.",
        "loads": "Loads or compiles code while it runs.",
        "renames": "Gives a command another name.",
        "encoded": "Runs code that is encoded, so that nobody can read it.",
        "encoded-unread": "Holds encoded code.",
        "formats": "Formats a drive.",
        "formats-drive": "Formats a drive: everything on it is gone.",
        "deletes-backups": "Deletes backups of this machine.",
    }
)
"""Sentences by code. Codes are kept with what was inspected: they never change."""

_LABELS = {
    Unseen.NOT_READ: "Not read",
    Unseen.NOT_FOLLOWED: "Not followed",
    Unseen.UNKNOWN: "Not known",
}


def sentence(finding: Finding) -> str:
    """Return what a finding says, as in ``Deletes files: os.remove.``; as plain text.

    What stands behind the colon is the agent's voice. Pages draw the two apart.
    """
    if finding.kept:
        return finding.kept
    if not finding.about:
        return plain_sentence(finding)
    return f"{plain_sentence(finding).rstrip('.')}: {finding.about}."


def plain_sentence(finding: Finding) -> str:
    """Return what a finding says, without what it is about: nothing of it is the agent's."""
    if finding.kept:
        return f"{finding.kept.partition(': ')[0].rstrip('.')}."
    # A newer version may have kept a code that is not known here.
    text = SENTENCES.get(finding.code) or SENTENCES.get(finding.name) or finding.name
    return f"{text.rstrip('.')}."


def why_unseen(report: Report, among: frozenset[Unseen]) -> str:
    """Say the worst of what was not seen, as in ``Not read: this is not valid Python``.

    Nothing of it is the agent's.
    """
    return unseen_sentence(*worst_unseen(report, among))


def worst_unseen(report: Report, among: frozenset[Unseen]) -> tuple[Unseen, Finding | None]:
    """Return the worst of what was not seen; with no finding, it is the language of the code."""
    worst = next(unseen for unseen in Unseen if unseen in among)
    ordered = gravest(report.findings, len(report.findings))
    return worst, next((finding for finding in ordered if finding.unseen is worst), None)


def unseen_sentence(unseen: Unseen, finding: Finding | None) -> str:
    """Say what ``worst_unseen`` returned, without a full stop."""
    words = plain_sentence(finding).rstrip(".") if finding else "the language of its code"
    return f"{_LABELS[unseen]}: {words[:1].lower()}{words[1:]}"
