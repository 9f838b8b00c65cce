import pytest

from tests.inspection.python.found import grave, names

PROCESSES = [
    "import os\nos.system('make')",
    "from os import popen as p\np('make')",
    "import posix\nposix.system('make')",
    "import subprocess as sp\nsp.run(['make'])",
    "from subprocess import *\nPopen(['make'])",
    "import os\nos.execv('/bin/sh', ['sh'])",
    "import os\nos.spawnlp(os.P_WAIT, 'sh', 'sh')",
    "import os\nos.posix_spawn('/bin/sh', ['sh'], {})",
    "import pty\npty.spawn('sh')",
    "import asyncio\nasyncio.run(asyncio.create_subprocess_shell('make'))",
    "import asyncio\nasyncio.base_events.subprocess.run(['make'])",
    "import shutil\nshutil.os.system('make')",
    "import threading, os\nthreading.Thread(target=os.system, args=('make',)).start()",
    "import atexit, os\natexit.register(os.system, 'make')",
    "import subprocess\nclass P(subprocess.Popen): pass\nP(['make'])",
    "import subprocess\nclass P(subprocess.Popen[str]): pass\nP(['make'])",
    "import pydoc\npydoc.pipepager('', 'make')",
    "import pexpect\npexpect.spawn('make')",
    "import paramiko\nparamiko.SSHClient().exec_command('make')",
    "get_ipython().system('make')",
]

DELETIONS = [
    "import os\nos.remove('x')",
    "from os import unlink as tidy\ntidy('x')",
    "from pathlib import Path\nPath('x').unlink()",
    "from pathlib import Path\n(Path.home() / 'x').unlink(missing_ok=True)",
    "from pathlib import Path\n[p.unlink() for p in Path('.').glob('*')]",
    "from pathlib import Path\nPath.unlink(Path('x'))",
    "def tidy(path):\n    path.unlink()",
    "import os\nos.truncate('x', 0)",
    "import os\nlist(map(os.rmdir, ['x']))",
]

RECURSIVE = [
    "import shutil\nshutil.rmtree('x')",
    "from shutil import rmtree as r\nr('x')",
    "from shutil import *\nrmtree('x')",
    "from distutils.dir_util import remove_tree\nremove_tree('x')",
    "import tempfile\ntempfile.TemporaryDirectory._rmtree('x')",
    "import os\nos.system('rm -rf x')",
    "import subprocess\nsubprocess.run('rm -rf x'.split())",
]

WRITES = [
    "open('x', 'w')",
    "open('x', mode='a')",
    "open(file='x', mode='r+')",
    "open('x', **{'mode': 'w'})",
    "open(*('x', 'w'))",
    "mode = 'w'\nopen('x', mode)",
    "def f(path):\n    path.open(**{'mode': 'w'})",
    "def f(mode):\n    open('x', mode)",
    "import io\nio.open('x', 'wb')",
    "import codecs\ncodecs.open('x', 'w')",
    "import gzip\ngzip.open('x', 'wt')",
    "import os\nos.open('x', os.O_WRONLY | os.O_CREAT)",
    "import os\nos.fdopen(3, 'w')",
    "import os\nos.rename('x', 'y')",
    "import os\nos.replace('x', 'y')",
    "from pathlib import Path\nPath('x').open('w')",
    "from pathlib import Path\nPath('x').write_text('y')",
    "from pathlib import Path\nPath('x').rename('y')",
    "import shutil\nshutil.copy('x', 'y')",
    "import zipfile\nzipfile.ZipFile('x', 'w')",
    "import zipfile\nclass Z(zipfile.ZipFile): pass\nZ('x', 'w')",
    "import tempfile\ntempfile.NamedTemporaryFile(dir='/etc', delete=False)",
    "import xml.etree.ElementTree as ET\nET.parse('x').write('y')",
    "import numpy as np\nnp.save('x', 1)",
    "import numpy as np\nnp.zeros(3).tofile('x')",
    "import pandas as pd\npd.DataFrame().to_csv('x')",
    "import matplotlib.pyplot as plt\nplt.savefig('x.png')",
    "import h5py\nh5py.File('x', 'a')",
    "import joblib\njoblib.dump(1, 'x')",
]


@pytest.mark.parametrize("source", PROCESSES)
def test_running_another_program_is_seen(source):
    assert "process-execution" in grave(source)


@pytest.mark.parametrize("source", DELETIONS)
def test_deleting_a_file_is_seen(source):
    assert "file-delete" in grave(source)


@pytest.mark.parametrize("source", RECURSIVE)
def test_deleting_a_folder_with_all_in_it_is_seen(source):
    assert "recursive-delete" in grave(source)


@pytest.mark.parametrize("source", WRITES)
def test_writing_a_file_is_seen(source):
    assert "file-write" in grave(source)


@pytest.mark.parametrize(
    "source", ["open('x')", "open('x', 'rb')", "from pathlib import Path\nPath('x').read_text()"]
)
def test_reading_a_file_is_noted_and_nothing_grave(source):
    assert names(source) == {"file-read"}
    assert grave(source) == set()


def test_writing_into_memory_writes_no_file():
    source = "import io, numpy as np\nbuffer = io.BytesIO()\nnp.save(buffer, np.zeros(3))"
    assert "file-write" not in names(source)


def test_a_list_is_no_folder_to_remove_something_from():
    assert names("items = [1, 2]\nitems.remove(1)") == set()


def test_killing_a_process_is_seen_whoever_found_it():
    assert "system-change" in grave("import psutil\nfor p in psutil.process_iter():\n    p.kill()")


def test_rights_for_everybody_are_a_change_of_rights():
    assert "privilege-change" in grave("import os\nos.chmod('x', 0o777)")


def test_a_process_that_leaves_its_parent_is_a_background_job():
    assert "background-job" in grave("import os\nos.fork()")
