import pytest

from tests.inspection.python.found import grave, names

NETWORK = [
    "import requests\nrequests.post('https://x.example', data='y')",
    "import requests\nrequests.Session().get('https://x.example')",
    "import requests as r\ngetattr(r, 'po' + 'st')('https://x.example')",
    "from requests import request as ask\nask('GET', 'https://x.example')",
    "import urllib.request\nurllib.request.urlopen('https://x.example')",
    "from urllib.request import build_opener\nbuild_opener().open('https://x.example')",
    "from urllib.robotparser import RobotFileParser\nRobotFileParser('https://x').read()",
    "import http.client\nhttp.client.HTTPSConnection('x.example')",
    "import http.client\nclass C(http.client.HTTPConnection): pass\nC('x.example')",
    "import socket\nsocket.socket().connect(('x', 1))",
    "import socket as s\ns.create_connection(('x', 1))",
    "import socket\nsocket.gethostbyname('secret.x.example')",
    "import smtplib\nsmtplib.SMTP('x').sendmail('a', 'b', 'c')",
    "import asyncio\nasyncio.run(asyncio.open_connection('x', 1))",
    "import httpx\nhttpx.get('https://x.example')",
    "import pandas as pd\npd.read_csv('https://x.example/y.csv')",
    "import pandas as pd\nsecret = 1\npd.read_csv(f'https://x.example/{secret}')",
    "import pandas as pd\npd.read_csv('vsc.y/elpmaxe.x//:sptth'[::-1])",
    "import boto3\nboto3.client('s3').upload_file('a', 'b', 'c')",
]

SECRETS = [
    "import os\nos.environ['AWS_SECRET_ACCESS_KEY']",
    "import os\nos.getenv('API_TOKEN')",
    "from os import environ as e\ne.get('DB_PASSWORD')",
    "import os\nos.environb[b'API_TOKEN']",
    "import os\nprint(dict(os.environ))",
    "import os\nfor name in os.environ.items(): print(name)",
    "open('/home/me/.ssh/id_rsa')",
    "open('/etc/' + 'shadow')",
    "import os\nopen(f'{\"/etc\"}/shadow')",
    "open('/proc/self/environ')",
    "key = 'AKIAABCDEFGHIJKLMNOP'",
    "import keyring\nkeyring.get_password('a', 'b')",
]

STORED = [
    "import pickle\npickle.load(open('x', 'rb'))",
    "import pickle\nclass U(pickle.Unpickler): pass\nU(open('x', 'rb')).load()",
    "from pickle import loads as read\nread(b'')",
    "import marshal\nmarshal.loads(b'')",
    "import shelve\nshelve.open('x')",
    "import yaml\nyaml.load('x', Loader=yaml.Loader)",
    "import yaml\nyaml.load('x')",
    "import torch\ntorch.load('x')",
    "import joblib\njoblib.load('x')",
    "import dill\ndill.load(open('x', 'rb'))",
    "import pandas as pd\npd.read_pickle('x')",
    "import numpy as np\nnp.load('x', allow_pickle=True)",
    "import numpy as np\noptions = {'allow_pickle': True}\nnp.load('x', **options)",
]


@pytest.mark.parametrize("source", NETWORK)
def test_using_the_network_is_seen(source):
    assert "network" in grave(source)


@pytest.mark.parametrize("source", SECRETS)
def test_reading_or_holding_a_secret_is_seen(source):
    assert "credentials" in grave(source)


@pytest.mark.parametrize("source", STORED)
def test_reading_stored_objects_that_may_run_code_is_seen(source):
    assert "deserialisation" in grave(source)


@pytest.mark.parametrize(
    "source",
    [
        "import yaml\nyaml.safe_load('x')",
        "import yaml\nyaml.load('x', Loader=yaml.SafeLoader)",
        "import numpy as np\nnp.load('x.npy')",
        "import torch\ntorch.load('x', weights_only=True)",
        "import json\njson.loads('{}')",
    ],
)
def test_stored_data_that_runs_no_code_is_nothing_grave(source):
    assert grave(source) == set()


@pytest.mark.parametrize("given", ["input()", "*where", "**{'filepath_or_buffer': where}"])
def test_a_file_whose_name_is_not_known_may_be_on_the_network(given):
    assert "network" in names(f"import pandas as pd\npd.read_csv({given})")


def test_a_file_whose_name_is_known_is_not_on_the_network():
    assert names("import pandas as pd\npd.read_csv('x.csv')") == {"file-read"}


def test_an_ordinary_variable_of_the_environment_is_no_secret():
    assert names("import os\nos.environ.get('HOME')") == set()


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.environ['LD_PRELOAD'] = 'x.so'",
        "import os\nos.environ.update(PYTHONPATH='x')",
        "import os\nos.environ.update({'LD_PRELOAD': 'x.so'})",
        "import os\nos.environ.update(*[{'LD_PRELOAD': 'x.so'}])",
        "import os\nos.putenv('PATH', 'x')",
    ],
)
def test_variables_that_say_which_code_programs_load_change_the_system(source):
    assert "system-change" in grave(source)
