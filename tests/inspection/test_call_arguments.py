"""Code among the arguments of a tool."""

import time

import pytest

from approval_client.wire import Kind
from dashboard.inspection.arguments import about_call
from dashboard.inspection.findings import Severity
from dashboard.inspection.inspector import inspect_content


def report_on(tool, arguments):
    return inspect_content(Kind.TOOL_CALL, {"tool": tool, "arguments": arguments})


@pytest.mark.parametrize(
    "tool",
    ["write_channel", "mcp__epics__channel-write", "controls.writeChannel", "caput", "a/set_pv"],
)
def test_a_tool_that_writes_to_a_control_system_is_known_by_its_name(tool):
    (finding,) = report_on(tool, {"value": 1}).findings

    assert (finding.name, finding.severity) == ("control-system-write", Severity.HIGH)


@pytest.mark.parametrize("tool", ["read_channel", "caget", "mcp__epics__readPvs"])
def test_a_tool_that_reads_from_one_is_known_too(tool):
    assert report_on(tool, {}).names == {"control-system-read"}


TWO_LANGUAGES = '""":"\nrm -rf /srv/data\n":"""\n'
"""One string to Python, and a command in quotes of a shell."""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_code", {"interpreter": "python", "language": "bash"}),
        ("run_code", {"lang": "python", "language": "bash"}),
        ("run_code", {"Language": "python", "language": "bash"}),
        ("run_code", {"language": "python", "runtime": "bash"}),
        ("run_code", {"language": "python", "programming_language": "bash"}),
        ("run_code", {"language": "python", "cell_type": "bash"}),
        ("run_code", {"language": "python", "options": {"language": "bash"}}),
        ("run_code", {"language": "python", "runtime": {"language": "bash"}}),
        ("run_code", {"language": "python", "config": '{"language": "bash"}'}),
        ("run_code", {"language": "python", "file_path": "main.sh"}),
        (
            "run_code",
            {"language": "python", "files": [{"path": "main.sh", "code": TWO_LANGUAGES}]},
        ),
        ("python_exec", {"language": ["bash"]}),
        ("python_exec", {"language": "bash5"}),
        ("python_exec", {"language": "/bin/bash"}),
        ("python_exec", {"kernel_name": "bash"}),
        ("python_exec", {"shell": "/bin/bash"}),
        ("jupyter_execute", {"kernel": "bash"}),
    ],
)
def test_code_is_read_in_each_language_that_its_call_says(tool, arguments):
    report = report_on(tool, {"code": TWO_LANGUAGES, **arguments})

    assert "recursive-delete" in report.names
    assert set(report.languages) == {"python", "bash"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"language": "python", "language_id": 46},
        {"language": "python", "kernel": "ir"},
        {"language": "python", "runtime": "nodejs18.x"},
        {"language": "python", "interpreter": "brainfuck"},
        {"language": "python", "lang": "bash", "kernel": "powershell"},
    ],
)
def test_code_in_a_language_that_nobody_can_say_is_in_doubt(arguments):
    report = report_on("run_code", {"code": "print(1)", **arguments})

    assert "not-inspected" in report.names
    assert set(report.languages) != {"python"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_code", {"language": "Python3.11", "runtime": "python"}),
        ("run_code", {"language": "python", "runtime": 60, "timeout": 3}),
        ("run_code", {"language": "python", "type": "script", "path": "a.py"}),
        ("run_code", {"language": "python", "kernel": None, "lang": "auto"}),
        ("run_code", {"language": "python", "description": "as bash does", "name": "a.b"}),
        ("jupyter_execute", {"cell_type": "code", "kernel_name": "python3"}),
        ("python_exec", {"cells": [{"language": "python", "code": "x = [1]"}]}),
    ],
)
def test_one_language_that_is_said_twice_is_one(tool, arguments):
    report = report_on(tool, {"code": "print(1 + 1)\nx = [1]\n", **arguments})

    assert (report.names, set(report.languages)) == (set(), {"python"})


def test_the_name_of_another_language_beside_a_command_is_no_doubt():
    report = report_on("run", {"command": "ls", "runtime": "node"})

    assert (report.names, report.languages) == (set(), ("bash",))


def test_options_within_options_without_end_are_not_followed():
    options = {"language": "bash"}
    for _ in range(200):
        options = {"options": options}

    assert report_on("python_exec", {"code": "print(1)", "options": options}).names == set()


@pytest.mark.parametrize("key", ["command", "cmd", "bash", "Command", "shellCommand"])
def test_a_command_is_read_as_a_shell_reads_it(key):
    report = report_on("anything", {key: "rm -rf /srv"})

    assert "recursive-delete" in report.names
    assert report.languages == ("bash",)


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("git", {"args": ["push", "--force"]}, "network"),
        ("mcp__git__git", {"args": "push --force"}, "network"),
        ("git", {"command": "push --force"}, "network"),
        ("git", {"command": "push", "flags": ["--force"]}, "network"),
        ("git", {"subcommand": "reset", "args": ["--hard"]}, "file-delete"),
        ("git", {"command": "git push --force"}, "network"),
        ("kubectl", {"args": ["delete", "ns", "prod"]}, "system-change"),
        ("run", {"program": "sh", "args": "-c 'rm -rf /'"}, "recursive-delete"),
        ("run", {"program": "bash", "args": "-c", "params": "rm -rf /"}, "recursive-delete"),
        ("run", {"program": "git", "args": "push --force"}, "network"),
        ("neo4j", {"query": "MATCH (n) DETACH DELETE n"}, "sql-delete"),
        ("x", {"cypher": "MATCH (n) // '\nDELETE n // '"}, "sql-delete"),
        ("x", {"deep": [{"cypher": "CREATE (n:User)"}]}, "sql-write"),
        ("x", {"cypher": "DROP INDEX users"}, "sql-drop"),
        ("x", {"cypher": ["MATCH (n) DETACH DELETE n"]}, "sql-delete"),
        ("x", {"cypher": r"MATCH (n) DETACH \u0044ELETE n"}, "sql-delete"),
        ("x", {"cypher": "MATCH (n) /* ' */ DELETE n"}, "sql-delete"),
        ("x", {"cypher": "MATCH (n) /* DELETE n"}, "sql-delete"),
        ("x", {"cypher": "CALL apoc.periodic.submit('a', 'b')"}, "unknown-call"),
        ("x", {"query": "mutation { deleteUser(id: 1) }"}, "unknown-call"),
        ("x", {"graphql": "query A { a } mutation B($b: Int) { addUser(b: $b) }"}, "unknown-call"),
        ("x", {"query": f"mutation A({'$a: Int! ' * 99}) {{ deleteUser }}"}, "unknown-call"),
        ("x", {"query": "mutation A($a: In = {b: 1}) # }\n{ deleteUser }"}, "unknown-call"),
        ("x", {"query": 'mutation($a: String = "#") { deleteUser }'}, "unknown-call"),
        ("x", {"query": 'query A { a(x: "#}") } mutation B { deleteAll }'}, "unknown-call"),
        ("x", {"query": "# hello\rmutation { deleteAll }"}, "unknown-call"),
        ("x", {"query": '\ufeff"""a "b" {"""\nmutation { deleteAll }'}, "unknown-call"),
        ("x", {"query": 'mutation M @a(x: "}") { deleteAll }'}, "unknown-call"),
        ("x", {"query": 'query { a(x: "open) } mutation { deleteAll }'}, "unknown-call"),
        ("x", {"cypher": "MATCH (n) // x\rDETACH DELETE n"}, "sql-delete"),
        ("mongo", {"operation": "dropDatabase"}, "sql-drop"),
        ("mcp__mongodb__run", {"operation": "deleteMany"}, "sql-delete"),
        ("redis", {"command": "FLUSHALL"}, "sql-drop"),
        ("http_request", {"method": "DELETE", "url": "https://api/users"}, "unknown-call"),
        ("http", {"request": {"method": "delete", "endpoint": "/users"}}, "unknown-call"),
        ("fetch", {"url": "/users", "options": {"method": "DELETE"}}, "unknown-call"),
        ("x", {"javascript": "require('child_process').exec('rm -rf /')"}, "not-inspected"),
        ("x", {"js": "f(1)"}, "not-inspected"),
        ("x", {"rubyCode": "system 'id'; exit"}, "not-inspected"),
        ("fetch", {"url": "http://169.254.169.254/latest/meta-data/"}, "credentials"),
        ("fetch", {"url": "https://docs.example.org/'||reboot||'"}, "system-change"),
        ("fetch", {"url": "https://docs.example.org/';rm -rf /;'"}, "recursive-delete"),
        ("fetch", {"url": 'https://docs.example.org/"`reboot`"'}, "system-change"),
    ],
)
def test_what_a_service_or_a_program_is_asked_is_found(tool, arguments, name):
    assert name in report_on(tool, arguments).names


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("neo4j", {"query": "MATCH (n:Set) WHERE n.delete = 'delete' RETURN n.set"}),
        ("x", {"cypher": "MATCH (a)-[:CREATE]->(b) RETURN {set: a, drop: b}"}),
        ("x", {"query": "query { user(id: 1) { name } }"}),
        ("search", {"query": "mutation of BRCA1"}),
        ("x", {"query": 'query { search(term: "mutation { delete") { id } }'}),
        ("x", {"query": "What mutation does {x} delete?"}),
        ("x", {"document": "The BRCA1 mutation {see table} was removed."}),
        ("x", {"cypher": "MATCH (n {url: 'http://x/delete'}) RETURN n"}),
        ("mongo", {"operation": "find"}),
        ("cart", {"operation": "removeItem"}),
        ("http_request", {"method": "GET", "url": "https://api/users"}),
        ("search", {"method": "delete"}),
        ("x", {"js": "app.js", "php": "8.3", "perl": "yes"}),
        ("fetch", {"url": "https://docs.example.org/O'Reilly?a=b&c='d'"}),
    ],
)
def test_what_asks_for_nothing_grave_is_left_alone(tool, arguments):
    assert report_on(tool, arguments).findings == ()


@pytest.mark.parametrize("text", ["'\\" * 200_000, "'a`\"" * 100_000, "`" * 399_999])
def test_quotes_of_a_statement_are_read_in_linear_time(text):
    began = time.process_time()
    about_call("x", {"cypher": text})

    assert time.process_time() - began < 2


@pytest.mark.parametrize("text", ["mutation a " * 60_000, "{" * 400_000, '"""' * 200_000])
def test_a_document_is_read_in_linear_time(text):
    began = time.process_time()
    about_call("x", {"query": f"mutation {text}"})

    assert time.process_time() - began < 2


def test_the_words_of_a_long_line_are_split_in_linear_time():
    began = time.process_time()
    about_call("git", {"args": "a" * 400_000})

    assert time.process_time() - began < 2


def test_a_tool_whose_call_names_a_program_is_not_taken_for_one():
    assert report_on("convert", {"program": "A", "args": ["1", "2"]}).names == {"unknown-call"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("git", {"args": "log -n 3"}),
        ("git", {"args": ["status", "--short"]}),
        ("git", {"command": "log main", "flags": "-n 3"}),
        ("kubectl", {"args": ["get", "pods"]}),
        ("kill", {"pid": 1}),
    ],
)
def test_a_tool_that_is_named_after_a_program_and_only_reads_is_left_alone(tool, arguments):
    findings = report_on(tool, arguments).findings

    assert [f for f in findings if f.severity.rank > Severity.LOW.rank] == []


def test_a_list_of_words_is_read_as_one_command():
    report = report_on("anything", {"argv": ["echo", "rm -rf /"]})

    assert "recursive-delete" not in report.names


def test_a_list_of_commands_is_read_one_by_one():
    report = report_on("terminal", {"commands": ["ls", "rm -rf /srv"]})

    assert "recursive-delete" in report.names


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run", {"language": "python", "source": "import os\nos.remove('x')"}),
        ("python_repl", {"input": "import os\nos.remove('x')"}),
        ("run", {"python_code": "import os\nos.remove('x')"}),
        ("run", {"deep": [{"lang": "py", "code": "import os\nos.remove('x')"}]}),
    ],
)
def test_the_tool_or_an_argument_tells_the_language(tool, arguments):
    report = report_on(tool, arguments)

    assert "file-delete" in report.names
    assert "python" in report.languages


def test_code_of_which_nothing_tells_the_language_is_a_doubt_of_medium_severity():
    report = report_on("evaluate", {"code": "f(1); g(2)"})

    assert [(f.name, f.severity, f.is_doubt) for f in report.findings] == [
        ("not-inspected", Severity.MEDIUM, True)
    ]


def test_an_argument_that_is_too_large_is_a_doubt():
    report = report_on("save", {"text": "word " * 220_000})

    assert report.names == {"too-large"}
    assert report.has_doubts


def test_the_names_of_arguments_are_looked_at_too():
    assert report_on("send", {"\u0430mount": 1}).names == {"look-alike-characters"}


def test_findings_in_an_argument_name_its_number_and_its_lines():
    report = report_on("bash", {"after": 1, "command": "ls\n\nrm -rf /srv", "cwd": "/srv"})

    assert {(f.name, f.block, f.line, f.end_line) for f in report.findings} == {
        ("recursive-delete", 1, 3, 3)
    }


def test_the_same_in_two_arguments_is_found_twice():
    report = report_on("bash", {"commands": ["rm -rf /a", "ls", "rm -rf /b"]})

    assert [(f.name, f.block) for f in report.findings] == [
        ("recursive-delete", 1),
        ("recursive-delete", 3),
    ]


def test_what_is_about_all_of_an_argument_is_put_on_all_of_its_lines():
    (finding,) = report_on("evaluate", {"a": "x", "code": "f(1);\ng(2)"}).findings

    assert (finding.block, finding.line, finding.end_line) == (2, 1, 2)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("write_channel", {}), ("send", {"\u0430mount": 1}), ("send_\u202eit", {})],
)
def test_what_is_in_the_name_of_a_tool_or_an_argument_is_about_the_whole(tool, arguments):
    (finding,) = report_on(tool, arguments).findings

    assert (finding.block, finding.line, finding.end_line) == (0, 0, 0)


@pytest.mark.parametrize("value", [None, 1, 2.5, True, [], {}, [[["x"]]], ""])
def test_arguments_that_hold_no_code_have_no_findings(value):
    assert report_on("anything", {"value": value}).findings == ()


def test_the_name_of_a_database_is_no_statement():
    arguments = {"database": "analytics-prod", "query": "SELECT 1"}

    assert report_on("run_sql_query", arguments).findings == ()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("elasticsearch_query", {"query": "title:foo AND (bar OR baz)"}),
        ("search_query", {"query": "status:open"}),
        ("run_query", {"q": "+level:error -host:db1 message:timeout*"}),
    ],
)
def test_a_question_to_a_search_engine_is_no_statement(tool, arguments):
    assert report_on(tool, arguments).findings == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("run_query", {"query": "DROP TABLE runs"}, "sql-drop"),
        ("run_query", {"q": "DELETE FROM runs"}, "sql-without-where"),
        ("run_query", {"text": "/* x */ update runs set a = 1"}, "sql-without-where"),
        ("run_query", {"q": "KILL 5"}, "system-change"),
        ("run_query", {"q": "LOAD DATA INFILE 'a' INTO TABLE t"}, "sql-write"),
        ("query", {"query": "SHUTDOWN"}, "system-change"),
    ],
)
def test_a_statement_for_a_tool_that_queries_is_still_read(tool, arguments, name):
    assert name in report_on(tool, arguments).names


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffDELETE FROM t",
        "use db\ndelete from t",
        "GO\nDELETE FROM t",
        "<<a>> BEGIN DELETE FROM t; END",
        "a:BEGIN DELETE FROM t; END",
        "xp_cmdshell 'rm x'",
        "{call wipe_all()}",
        "BULK INSERT t FROM 'x'",
        "DETACH x",
        "SYSTEM DROP REPLICA r",
        "MATCH (n) DETACH DELETE n",
        "RM @stage",
        ".drop table X",
        "\\! rm x",
        "title:foo AND DROP TABLE runs",
    ],
)
def test_what_some_database_may_run_is_never_taken_for_a_search(text):
    findings = report_on("run_query", {"statement_text": text}).findings
    assert any(finding.severity.rank >= Severity.MEDIUM.rank for finding in findings)


HIDDEN_FROM_A_SHELL = '"""echo" "hi" # """; import os; os.remove("/srv/x")'


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("python", {"command": HIDDEN_FROM_A_SHELL}),
        ("run_python", {"cmd": HIDDEN_FROM_A_SHELL}),
        ("python_repl", {"args": HIDDEN_FROM_A_SHELL}),
        ("jupyter", {"command": HIDDEN_FROM_A_SHELL}),
        ("execute", {"language": "python", "command": HIDDEN_FROM_A_SHELL}),
        ("python", {"args": ["-c", "import os; os.remove('/srv/x')"]}),
    ],
)
def test_a_command_for_a_tool_of_python_is_read_as_python_too(tool, arguments):
    report = report_on(tool, arguments)

    assert "file-delete" in report.names
    assert set(report.languages) == {"bash", "python"}


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("mysql", {"cmd": "SET GLOBAL general_log = 1"}, "system-change"),
        ("mysql", {"command": "UPDATE users SET admin = 1"}, "sql-without-where"),
        ("sqlite", {"command": "VACUUM INTO '/etc/x'"}, "file-write"),
        ("bash", {"query": "exec rm -rf /srv"}, "recursive-delete"),
    ],
)
def test_a_command_for_a_database_is_read_as_sql_and_as_a_shell_reads_it(tool, arguments, name):
    assert name in report_on(tool, arguments).names


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("python", {"command": "ls -la"}),
        ("python", {"command": "import math\nx = [i for i in range(3)]\nprint(math.pi, x)"}),
        ("mysql", {"command": "SELECT * FROM users WHERE id = 3"}),
        ("sqlite", {"command": "SELECT count(*) FROM runs"}),
        ("db_exec", {"query": "SELECT 1"}),
    ],
)
def test_what_is_plain_in_one_language_is_not_in_doubt_for_the_other(tool, arguments):
    assert not report_on(tool, arguments).findings


def test_python_that_is_too_new_is_not_taken_for_a_command():
    text = "t\"{__import__('os').system('id')}\""

    assert report_on("python", {"command": text}).has_doubts


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("run_process", {"file": "rm", "args": ["-rf", "/srv"]}, "recursive-delete"),
        ("run_process", {"name": "rm", "argv": ["-rf", "/srv"]}, "recursive-delete"),
        ("run_process", {"path": "/bin/rm", "arguments": ["-rf", "/srv"]}, "recursive-delete"),
        ("spawn", {"executable": "rm", "flags": "-rf", "target": "/srv"}, "recursive-delete"),
        ("bash", {"env": {"LD_PRELOAD": "/srv/x.so"}, "command": "ls"}, "process-execution"),
        ("run", {"env": ["LD_PRELOAD=/tmp/x.so"], "command": "ls"}, "process-execution"),
        ("run", {"environment": "PATH=/tmp/evil", "command": "ls"}, "process-execution"),
        ("delete_file", {"path": "/srv/x"}, "file-delete"),
        ("fs__removeFiles", {"paths": ["a", "b"]}, "file-delete"),
        ("delete_directory", {"path": "/srv"}, "recursive-delete"),
        ("delete_file", {"path": "/srv", "recursive": True}, "recursive-delete"),
        ("write_file", {"path": "/etc/cron.d/x", "content": "x"}, "system-change"),
        ("Write", {"file_path": "notes.md", "content": "x"}, "file-write"),
        ("read_file", {"path": "/home/ada/.ssh/id_rsa"}, "credentials"),
        ("view", {"file": "file:///home/ada/.aws/credentials"}, "credentials"),
        ("bash", {"cwd": "/etc", "command": "cat shadow"}, "credentials"),
    ],
)
def test_the_names_of_tools_and_arguments_tell_what_is_done(tool, arguments, name):
    assert name in report_on(tool, arguments).names


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": ".env.example"}),
        ("list_directory", {"path": "/home/ada/.ssh"}),
        ("bash", {"cwd": "/srv/app", "command": "cat README.md", "env": {"DEBUG": "1"}}),
        ("copy_entry", {"source": "a", "target": "b"}),
        ("search", {"name": "rm", "query": "title:rm"}),
        ("delete_event", {"id": 3}),
        ("put", {"target": "SR:C01:HV"}),
    ],
)
def test_names_that_mean_no_harm_are_left_alone(tool, arguments):
    assert not report_on(tool, arguments).findings


HIDDEN_FROM_PYTHON = "''':'; x=$(echo cm0gLXJmIC9zcnY= | base64 -d); {}; $x; #'''"


@pytest.mark.parametrize("tool", ["python", "python_shell", "execute"])
@pytest.mark.parametrize(
    "opener",
    [
        "cat </dev/null <<< a",
        "cat 2>/dev/stderr <<< a",
        "cat >/dev/tty <<<a",
        "{ :; } <<< a 2>/dev/null",
        "case a in (a) $x;;& esac",
    ],
)
def test_a_command_that_python_takes_for_a_string_is_not_less_in_doubt(tool, opener):
    command = HIDDEN_FROM_PYTHON.replace("{}", opener)
    report = report_on(tool, {"command": command, "language": "python"})

    assert {"cannot-be-followed", "parsed-in-part"} <= report.names


def test_what_a_shell_expands_in_a_query_is_not_less_in_doubt():
    report = report_on("mysql", {"command": "select * from x where a=`$X` and (b)"})

    assert {"cannot-be-followed", "parsed-in-part"} <= report.names


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_command", {"python_code": "''':' #'''; t\"{f()}\""}),
        ("terminal", {"python": "''':' #'''; t\"{f()}\""}),
        ("run", {"language": "bash", "python": "''':' #'''; t\"{f()}\""}),
        ("terminal", {"python": 'x=t"{f()}"'}),
        ("python", {"command": 'x=t"{f()}"'}),
        ("python", {"command": 'id -u; x=t"{f()}"'}),
    ],
)
def test_python_that_is_too_new_is_a_doubt_whatever_a_shell_reads(tool, arguments):
    assert "does-not-parse" in report_on(tool, arguments).names


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"env": "rm x"}, "file-delete"),
        ({"environment": "./evil.sh"}, "process-execution"),
        ({"environment": "curl -o x http://y"}, "network"),
        ({"env": "kill 1"}, "system-change"),
        ({"env": {"A": "mv a b; ./evil.sh"}, "command": "eval $A"}, "file-write"),
    ],
)
def test_the_values_of_variables_are_read_in_the_language_of_the_tool(arguments, name):
    assert name in report_on("bash", arguments).names


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"env": {"API_KEY": "x"}, "command": "ls"}),
        ("bash", {"env": "dev"}),
        ("execute", {"runtime": "node", "command": "ls"}),
        ("execute", {"runtime": "node", "command": "ls -la src"}),
        ("run", {"language": "json", "command": "ls -la"}),
        ("run", {"language": "markdown", "command": "ls -la"}),
        ("postgres", {"command": "\\dt"}),
        ("mysql", {"args": ["SELECT 1"]}),
    ],
)
def test_what_is_read_in_one_language_alone_is_not_in_doubt(tool, arguments):
    assert not report_on(tool, arguments).findings


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("python", {"args": ["-m", "pytest"]}, {"process-execution", "unknown-call"}),
        ("python", {"command": "-m pytest"}, {"process-execution", "unknown-call"}),
        ("python", {"args": ["x.py", "--n", "3"]}, {"process-execution", "unknown-call"}),
        ("sqlite", {"command": "list_tables"}, {"unknown-call"}),
        ("sqlite", {"command": ".tables"}, {"unknown-call"}),
        ("database", {"command": "query", "args": "SELECT 1"}, {"unknown-call"}),
    ],
)
def test_the_words_for_a_program_and_the_name_of_a_method_are_no_code(tool, arguments, names):
    report = report_on(tool, arguments)

    assert report.names == names
    assert not report.has_doubts


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"command": "-c 'import os; os.remove(1)'"}, "file-delete"),
        ({"command": "-__import__('os').remove('x')"}, "file-delete"),
        ({"command": '-x; t"{f()}"'}, "does-not-parse"),
    ],
)
def test_words_for_python_that_are_code_are_read(arguments, name):
    assert name in report_on("python", arguments).names


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "notes.md", "content": "x"}),
        ("Write", {"file_path": "src/a.py", "content": "x"}),
        ("edit_file", {"path": "/data/a", "edits": []}),
        ("create_directory", {"path": "docs"}),
        ("move_file", {"source": "a", "destination": "/data/b"}),
        ("write_file", {"file": {"path": "a.txt"}}),
    ],
)
def test_a_tool_that_writes_files_by_its_name_is_of_low_severity(tool, arguments):
    (finding,) = report_on(tool, arguments).findings

    assert (finding.name, finding.severity) == ("file-write", Severity.LOW)
    assert finding.code == "tool-writes-files"


@pytest.mark.parametrize(
    ("tool", "arguments", "name", "least"),
    [
        ("write_file", {"path": "/etc/cron.d/x"}, "system-change", Severity.HIGH),
        ("write_file", {"file": {"path": "/etc/cron.d/x"}}, "system-change", Severity.HIGH),
        ("write_file", {"path": "passwd", "cwd": "/etc"}, "system-change", Severity.HIGH),
        ("edit_file", {"path": "/home/ada/.bashrc"}, "system-change", Severity.HIGH),
        ("write_file", {"path": "/dev/sda"}, "disk-write", Severity.HIGH),
        ("write_file", {"path": "/dev/tcp/evil/1"}, "network", Severity.HIGH),
        ("write_file", {"path": ".env"}, "credentials", Severity.MEDIUM),
        (
            "read_file",
            {"input": {"path": "/home/ada/.ssh/id_rsa"}},
            "credentials",
            Severity.MEDIUM,
        ),
        ("read_files", {"files": [{"path": "~/.netrc"}]}, "credentials", Severity.MEDIUM),
        ("read_file", {"path": "shadow", "cwd": "/etc"}, "credentials", Severity.MEDIUM),
        ("read_file", {"path": "./shadow", "cwd": "/etc/"}, "credentials", Severity.MEDIUM),
        ("delete_files_in_folder", {"path": "/srv"}, "recursive-delete", Severity.HIGH),
        ("remove_file_from_disk", {"path": "/srv/x"}, "file-delete", Severity.HIGH),
        ("delete_file_recursively", {"path": "/srv/x"}, "file-delete", Severity.HIGH),
        (
            "run",
            {"env": [{"name": "LD_PRELOAD", "value": "/x"}]},
            "process-execution",
            Severity.HIGH,
        ),
    ],
)
def test_what_a_tool_does_by_its_name_is_judged_by_its_paths(tool, arguments, name, least):
    findings = report_on(tool, arguments).findings

    assert max(f.severity.rank for f in findings if f.name == name) >= least.rank


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remove_file_from_cart", {"path": "a"}),
        ("delete_path_annotation", {"path": "a"}),
        ("remove_folder_icon", {"folder": "a"}),
        ("create_user", {"name": "rm", "options": "x"}),
        ("song", {"name": "kill", "options": ["loud"]}),
        ("run", {"env": [{"name": "DEBUG", "value": "1"}]}),
    ],
)
def test_what_only_names_files_or_programs_is_left_alone(tool, arguments):
    assert not report_on(tool, arguments).findings


def test_a_file_that_is_not_deleted_recursively_is_no_folder():
    arguments = {"path": "/srv/x", "recursive": "false"}

    assert report_on("delete_file", arguments).names == {"file-delete"}


@pytest.mark.parametrize("command", ["cat ./shadow", "cat ../etc/shadow", "sudo cat shadow"])
def test_a_file_is_seen_from_the_folder_of_the_call(command):
    assert "credentials" in report_on("bash", {"cwd": "/etc/", "command": command}).names


def test_a_script_that_goes_deep_is_read_in_time():
    start = time.monotonic()
    report_on("bash", {"command": f"cd {'a/' * 8_000}\n" + "cat x y z\n" * 100})
    report_on("bash", {"command": "cd a\n" * 1_000 + "cat x\n" * 1_000})

    assert time.monotonic() - start < 5


def test_a_tool_that_writes_files_is_known_by_its_name_alone():
    assert report_on("move_file", {"x": "a"}).names == {"file-write"}


def test_a_file_that_is_moved_to_a_place_of_the_system_changes_it():
    arguments = {"from": "/data/a", "to": "/etc/cron.d/x"}

    assert "system-change" in report_on("move_file", arguments).names
