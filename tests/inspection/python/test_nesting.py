import pytest

from tests.inspection.python.found import doubts, grave, names, the

RECURSIVE = [
    "import os\nos.system('rm -rf /data')",
    "import os\nos.system(b'rm -rf /data')",
    "import os\nos.system('%s -rf /data' % 'rm')",
    "import os\nos.system(' '.join(['rm', '-rf', '/data']))",
    "import subprocess\nsubprocess.run(['rm', '-rf', '/data'])",
    "import subprocess\nsubprocess.run('rm -rf /data', shell=True)",
    "import subprocess\nsubprocess.run(['sh', '-c', 'rm -rf /data'])",
    "import subprocess, shlex\nsubprocess.run(shlex.split('rm -rf /data'))",
    "import subprocess\nsubprocess.run('rm -rf /data'.split())",
    "import subprocess\nsubprocess.run('rm,-rf,/data'.split(','))",
    "import os\nos.execvp('rm', ['rm', '-rf', '/data'])",
    "import asyncio\nasyncio.create_subprocess_exec('rm', '-rf', '/data')",
    "import os\nos.system('python3 -c \"import shutil; shutil.rmtree(1)\"')",
    "exec('import shutil; shutil.rmtree(1)')",
    "exec('exec(\"import shutil; shutil.rmtree(1)\")')",
    "exec(compile('import shutil; shutil.rmtree(1)', '', 'exec'))",
    "import base64\nexec(base64.b64decode('aW1wb3J0IHNodXRpbDsgc2h1dGlsLnJtdHJlZSgxKQ=='))",
    "import codecs\nexec(codecs.decode('vzcbeg fuhgvy; fuhgvy.ezgerr(1)', 'rot13'))",
    "import timeit\ntimeit.timeit('shutil.rmtree(1)', setup='import shutil')",
    "!rm -rf /data",
    "x = !rm -rf /data",
    "%%bash\ncd /\nrm -rf *",
    "%sx rm -rf /data",
    "get_ipython().system('rm -rf /data')",
    "get_ipython().run_line_magic('sx', 'rm -rf /data')",
]


@pytest.mark.parametrize("source", RECURSIVE)
def test_code_and_commands_in_texts_are_read_too(source):
    assert "recursive-delete" in grave(source)


@pytest.mark.parametrize(
    "source",
    [
        "import sqlite3\nsqlite3.connect('x').execute('DROP TABLE y')",
        "import sqlite3\nc = sqlite3.connect('x').cursor()\nc.execute('DROP ' + 'TABLE y')",
        "import sqlite3\nsqlite3.connect('x').executescript('SELECT 1; DROP TABLE y')",
        "from sqlalchemy import text\nimport sqlalchemy\nconn.execute(text('DROP TABLE y'))",
        "import psycopg\nwith psycopg.connect('x') as c:\n    c.execute('''\n  DROP TABLE y''')",
        "import pandas as pd\npd.read_sql('DROP TABLE y', 'sqlite:///x')",
    ],
)
def test_sql_in_texts_is_read_too(source):
    assert "sql-drop" in grave(source)


def test_a_command_that_is_only_made_while_running_is_a_doubt():
    assert doubts("import os\nos.system(input())")


def test_code_that_is_only_made_while_running_is_a_doubt():
    assert doubts("exec(input())")


def test_code_nested_too_deeply_is_a_doubt():
    source = "1"
    for _ in range(6):
        source = f"exec({source!r})"
    assert doubts(source)


def test_too_many_texts_with_code_are_a_doubt():
    assert "too-much-code" in doubts("exec('1')\n" * 40)


def test_what_is_found_in_a_text_stands_at_the_line_that_runs_it():
    found = the("recursive-delete", "import os\n\nos.system(\n    'rm -rf /data'\n)")
    assert (found.line, found.end_line) == (3, 5)


def test_magics_that_do_no_harm_are_no_findings():
    assert names("%matplotlib inline\n%time sum(range(10))\nsum?\n") == set()


def test_a_cell_that_is_timed_is_read_as_python():
    assert "file-delete" in grave("%%time\nimport os\nos.remove('x')")


def test_a_cell_that_writes_a_file_is_seen():
    assert "file-write" in grave("%%writefile x.py\nprint(1)")


def test_software_that_is_installed_changes_the_system():
    assert "system-change" in grave("%pip install something")


@pytest.mark.parametrize("magic", ["%pip list", "%pip show numpy", "%conda list"])
def test_software_that_is_only_listed_is_quiet(magic):
    assert names(magic) == set()


@pytest.mark.parametrize(
    "magic", ["%pip list; rm -rf /data", "%pip install x && rm -rf /data", "%pip list `rm -r x`"]
)
def test_what_a_shell_reads_behind_a_magic_is_read(magic):
    assert "recursive-delete" in grave(magic)


@pytest.mark.parametrize("magic", ["%pip list --log x", "%pip list --python ./other"])
def test_software_that_is_listed_with_more_than_that_is_found(magic):
    assert "system-change" in grave(magic)


def test_a_program_that_only_looks_is_no_doubt():
    assert names("!docker ps") == {"process-execution"}


def test_a_magic_that_is_not_known_is_a_doubt():
    assert doubts("%unheard of")


def test_lines_are_right_after_a_magic():
    source = "%matplotlib inline\n!ls \\\n  -l\nimport os\nos.remove('x')"
    assert the("file-delete", source).line == 5
