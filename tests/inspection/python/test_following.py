import pytest

from tests.inspection.python.found import doubts, grave, names

FOLLOWED = [
    "import os as numpy\nnumpy.system('x')",
    "import os\na = os\nb = a\nb.system('x')",
    "import os\nrun = os.system\nrun('x')",
    "import os\ngetattr(os, 'sys' + 'tem')('x')",
    "import os\ngetattr(os, 'metsys'[::-1])('x')",
    "import os\ngetattr(os, ''.join(['sys', 'tem']))('x')",
    "import os\ngetattr(os, 'sys%s' % 'tem')('x')",
    "import os\npart = 'sys'\ngetattr(os, f'{part}tem')('x')",
    "import os\ngetattr(os, chr(115) + 'ystem')('x')",
    "import os\ngetattr(os, '\\x73ystem')('x')",
    "import os\ngetattr(os, bytes.fromhex('73797374656d').decode())('x')",
    "import os, base64\ngetattr(os, base64.b64decode('c3lzdGVt').decode())('x')",
    "import os\nfetch = getattr\nfetch(os, 'system')('x')",
    "import os\nvars(os)['system']('x')",
    "import os\nos.__dict__['sys' 'tem']('x')",
    "import sys\nsys.modules['os'].system('x')",
    "globals()['__builtins__']\nimport os\nglobals()['os'].system('x')",
    "import os\n(f := os.system)('x')",
    "import os, sys\n(os.system if sys.argv else print)('x')",
    "import os\n{'run': os.system}['run']('x')",
    "import os\n[f('x') for f in [os.system]]",
    "import os\nclass A:\n    run = staticmethod(os.system)\nA().run('x')",
    "class A:\n    import os\nA.os.system('x')",
    "import os\nclass A:\n    __class_getitem__ = os.system\nA['x']",
    "import os\n@os.system\nclass x: pass",
    "import os\nclass M(type): pass\nclass A(metaclass=lambda n, b, d: os.system(n)): pass",
    "import os\nclass D:\n    __get__ = lambda *a: os.system\nclass A: run = D()\nA().run('x')",
    "import os\nfrom functools import partial\npartial(os.system, 'x')()",
    "import os\nlist(map(os.system, ['x']))",
    "import os\nsorted(['x'], key=os.system)",
    "import os, builtins\nbuiltins.print = os.system",
    "import os\ntype('A', (), {'run': os.system})",
    "import os\nmatch os.system:\n    case run:\n        run('x')",
    "import os\ndef f():\n    return os.system\nf()('x')",
    "import os\nｏｓ.ｓｙｓｔｅｍ('x')",
    "import inspect\ninspect.sys.modules['os'].system('x')",
    "__import__('o' + 's').system('x')",
    "import pkgutil\npkgutil.resolve_name('os:system')('x')",
    "import os\ndef f(): a('x')\na = b\nb = c\nc = d\nd = e\ne = g\ng = h\nh = os.system\nf()",
]

LOST = [
    "import os\ngetattr(os, input())('x')",
    "import os\ngetattr(os, ''.join(map(chr, [115])))('x')",
    "import os\nprint(globals()[input()])",
    "import importlib\nimportlib.import_module(input())",
    "import importlib\nimportlib.import_module('.x', 'os')",
    "import os\n[os][0].remove('x')",
    "import os\ndef tools():\n    return os",
    "import os\nnext(iter((os,))).remove('x')",
    "import os, queue\nqueue.Queue().put(os)",
    "import os\ndef getattr(module, name):\n    return module\ngetattr(os, 'x').remove('y')",
    "import os\ndef isinstance(a, b):\n    return b\nisinstance(1, os).remove('x')",
    "import sys\nfor module in sys.modules.values(): pass",
    "().__class__.__base__.__subclasses__()",
    "def f(): pass\nf.__globals__",
    "def f(): pass\nf.__code__ = f.__code__",
    "x = []\nx.__class__ = dict",
    "import sys\nsys._getframe().f_back",
    "import gc\ngc.get_objects()",
    "print.__self__",
    "import inspect\ninspect.getmembers(inspect)",
    "import json\njson.loads = print",
    "import sys\nsys.modules['json'] = None",
    "import sys\nsys.path[0:0] = ['x']",
    "from unittest import mock\nmock.patch('builtins.print')",
    "from operator import attrgetter\nattrgetter(input())",
    "import typing\ntyping.get_type_hints(object)",
    "# coding: utf-7\nx = 1",
    "#!/usr/bin/python\n# -*- coding: rot13 -*-\nx = 1",
    "import matplotlib\nmatplotlib.use('module://x')",
]

CODE = [
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'exec')",
    "ｅval('1')",
    "import builtins\nbuiltins.eval('1')",
    "__builtins__.eval('1')",
    "__builtins__['eval']('1')",
    "getattr(__builtins__, 'ev' + 'al')('1')",
    "list(map(eval, ['1']))",
    "@eval\ndef f(): pass",
    "class A:\n    __add__ = staticmethod(exec)",
    "f'{eval(\"1\")}'",
    "import timeit\ntimeit.timeit('x()')",
    "import doctest\ndoctest.testmod()",
    "import ctypes\nctypes.CDLL('x.so').go()",
    "from importlib.metadata import EntryPoint\nEntryPoint('a', 'os:system', 'b').load()('x')",
    "import runpy\nrunpy.run_path('x')",
    "import types\ntypes.FunctionType(f, {})",
    "import six\nsix.exec_('1')",
    "import sympy\nsympy.simplify('__import__(\"os\")')",
    "import numpy as np\nnp.testing.measure('1')",
    "import pandas as pd\npd.eval('@x.y()')",
    "df.query(**{'expr': '@x.y()'})",
    "import sympy\nsympy.sympify(a='__import__(\"os\")')",
    "import sqlite3\nsqlite3.connect('x').load_extension('y')",
    "from IPython.display import Javascript\nJavascript('x')",
    "if False:\n    exec = print\nexec('1')",
]


@pytest.mark.parametrize("source", FOLLOWED)
def test_a_function_is_known_by_whatever_way_it_is_reached(source):
    assert "process-execution" in grave(source)


@pytest.mark.parametrize("source", LOST)
def test_what_cannot_be_followed_is_a_doubt(source):
    assert doubts(source)


@pytest.mark.parametrize("source", CODE)
def test_running_code_made_or_loaded_while_running_is_seen(source):
    assert "dynamic-code" in grave(source)


@pytest.mark.parametrize(
    "source",
    [
        "import unheard_of",
        "from . import sibling",
        "import torch",
        "import sys\nsys.path.append('x')",
    ],
)
def test_code_that_nobody_knows_is_not_passed_over(source):
    assert names(source) == {"unknown-import"}


@pytest.mark.parametrize("neighbour", [".", "..", ".sibling", "..package.sibling"])
def test_all_of_a_neighbour_is_imported_without_losing_sight_of_the_rest(neighbour):
    source = f"from {neighbour} import *\nimport os\nos.remove('x')"
    assert names(source) == {"unknown-import", "file-delete"}


def test_all_of_a_module_that_can_do_harm_is_not_imported_unseen():
    assert grave("from os import *") == {"unknown-import"}


def test_a_name_with_a_meaning_of_its_own_is_not_taken_for_a_builtin():
    assert names("def compile(a):\n    return a\n\nprint(compile('x'))") == set()


def test_a_local_class_with_a_method_called_put_does_no_harm():
    source = "class Box:\n    def put(self, x):\n        self.x = x\n\nBox().put(3)"
    assert names(source) == set()
