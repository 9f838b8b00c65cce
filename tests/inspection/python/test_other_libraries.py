"""What measuring on other people's code showed: libraries that were misread, and false alarms."""

import pytest

from tests.inspection.python.found import grave, names


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.array([1, 'a'], dtype=object)",
        "import pandas as pd\npd.api.types.is_object_dtype(object)",
        "import pandas as pd\npd.Series([1]).map(type)",
        "def f(kind): return kind()\nf(object)",
    ],
)
def test_a_type_that_is_given_to_a_function_is_no_alarm(source):
    assert names(source) == set()


def test_setting_an_attribute_by_the_type_s_own_function_is_still_seen():
    source = "import os\ndef f(kind): kind.__setattr__(os, 'system', print)\nf(object)"

    assert "cannot-be-followed" in names(source)


@pytest.mark.parametrize(
    "source",
    [
        "import networkx as nx\nnx.write_adjlist(nx.path_graph(3), 'x')",
        "import networkx as nx\nnx.write_pajek(nx.path_graph(3), 'x')",
        "from sklearn.datasets import dump_svmlight_file\ndump_svmlight_file([], [], 'x')",
        "import pandas as pd\npd.io.stata.StataWriter117('x', pd.DataFrame()).write_file()",
        "import urllib.request\nurllib.request.urlretrieve('https://x.example', '/bin/ls')",
        "import scipy.io\nscipy.io.mmwrite('x.mtx', [[1]])",
        "import scipy.io\nscipy.io.hb_write('x.hb', [[1]])",
        "import scipy.io\nscipy.io.netcdf_file('x.nc', 'w')",
    ],
)
def test_what_a_library_calls_writing_writes_a_file(source):
    assert "file-write" in grave(source)


def test_what_is_written_into_memory_by_such_a_function_writes_no_file():
    source = "import io, networkx as nx\nnx.write_gpickle(nx.path_graph(3), io.BytesIO())"

    assert "file-write" not in names(source)


@pytest.mark.parametrize(
    "source",
    [
        "from transformers import AutoModel\nAutoModel.from_pretrained('org/model')",
        "from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained(name)",
        "import urllib.request\nurllib.request.urlretrieve('https://x.example', 'x')",
    ],
)
def test_what_is_fetched_uses_the_network(source):
    assert "network" in grave(source)


def test_a_model_in_a_folder_is_not_fetched():
    source = "from transformers import AutoModel\nAutoModel.from_pretrained('./model')"

    assert "network" not in names(source)


def test_a_model_that_may_bring_code_runs_code():
    source = "import x\nx.AutoModel.from_pretrained('./model', trust_remote_code=True)"

    assert "dynamic-code" in grave(source)


@pytest.mark.parametrize("function", ["popen2", "popen3", "popen4"])
def test_each_popen_starts_a_program(function):
    assert "process-execution" in grave(f"import os\nos.{function}('uname -a')")


@pytest.mark.parametrize("call", ["decode(x)", "Unpickler().restore(x)"])
def test_jsonpickle_makes_objects_of_what_it_reads(call):
    assert "deserialisation" in grave(f"import jsonpickle\njsonpickle.unpickler.{call}")


@pytest.mark.parametrize(
    "source",
    [
        "import tango\nprint(tango.TimeVal().totime())",
        "import tango\nprint(tango.TimeVal.now().todatetime())",
        "import tango\ntango.Except.throw_exception('a', 'b', 'c')",
    ],
)
def test_tango_s_times_and_exceptions_write_to_no_device(source):
    assert "control-system-write" not in names(source)


@pytest.mark.parametrize(
    "source",
    [
        "import epics\nprint(max(epics.caget('WF')), min(epics.caget('A'), epics.caget('B')))",
        "import epics\nprint(sorted(epics.caget('WF')))",
        "import epics\nv = epics.caget('WF')\nprint(list(filter(None, v)), list(map(float, v)))",
        "import epics\nfrom functools import reduce as r\nr(lambda a, b: a, epics.caget('WF'))",
        "import epics\nepics.caget('NAME', as_string=True).replace(':', '_')",
        "import tango\nprint(tango.DeviceProxy('a/b/c').status().replace('x', ' '))",
        "import tango\nprint(tango.DeviceProxy('a/b/c').attribute_history('x', 5))",
    ],
)
def test_what_is_made_of_a_value_that_was_read_writes_nothing(source):
    assert "control-system-write" not in names(source)


@pytest.mark.parametrize(
    "source",
    [
        "from caproto.sync.client import read_write_read as rwr\nrwr('A', 1)",
        "import tango\ntango.DeviceProxy('a/b/c').close_valve()",
        "import tango\ntango.DeviceProxy('a/b/c').disconnect_beam()",
        "import tango\ntango.DeviceProxy('a/b/c').alarm_reset()",
        "import tango\ntango.DeviceProxy('a/b/c').poll_command('x', 1)",
        "import tango\ntango.DeviceProxy('a/b/c').StatusReset()",
        "import tango\ntango.DeviceProxy('a/b/c').ReadAndClear()",
        "import epics\nsorted([1], key=lambda v: epics.caput('A', v))",
        "import epics\nlist(map(epics.caput, ['A'], [1]))",
    ],
)
def test_a_command_whose_name_begins_like_a_question_is_a_write(source):
    assert "control-system-write" in names(source)


@pytest.mark.parametrize(
    "source",
    [
        'import epics\ndef h(o): getattr(o, "__setattr__")(epics.PV("A"), "value", 1)\nh(object)',
        'import epics\nd = [object]\ngetattr(d[0], "__setattr__")(epics.PV("A"), "value", 1)',
        'import epics\nn = "__set" + "attr__"\ngetattr(int, n)(epics.PV("A"), "value", 1)',
    ],
)
def test_what_sets_an_attribute_is_not_read_off_an_object_unseen(source):
    assert {"cannot-be-followed", "control-system-write"} & names(source)


def test_a_text_of_which_only_the_beginning_is_followed_is_a_doubt():
    source = f"print(open('{'x' * 66_000}/etc/shadow'.lstrip('x')).read())"

    assert "cannot-be-followed" in names(source)


def test_a_function_that_returns_a_text_writes_no_file():
    assert names("from sklearn.tree import export_text\nexport_text(t)") <= {"unknown-call"}


@pytest.mark.parametrize(
    "source",
    [
        "import pkgutil\npkgutil.get_data('neighbour', 'table.csv')",
        "import pkgutil\nlist(pkgutil.walk_packages(['.']))",
        "from importlib.resources import files\nfiles('neighbour')",
        "import xml.sax\nxml.sax.make_parser(['neighbour'])",
    ],
)
def test_a_package_that_is_imported_by_its_name_is_as_unknown_as_one_of_an_import(source):
    assert "unknown-import" in names(source)


@pytest.mark.parametrize(
    "source",
    [
        "import pkgutil\npkgutil.get_data('numpy', 'x')",
        "import xml.sax\nxml.sax.make_parser()",
        "import inspect\ninspect.signature(len, eval_str=False)",
        "import json\njson.dump({}, out)",
        "import numpy as np\nimport json\njson.dump({}, out)",
        "import sys\nsys.stdout.write('a')\nsys.stderr.flush()",
    ],
)
def test_what_names_no_package_or_file_is_no_alarm(source):
    assert grave(source) == set()
    assert "unknown-import" not in names(source)
