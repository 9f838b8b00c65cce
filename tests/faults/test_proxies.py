"""A real nginx in front: each way to set it up works, or one page and one line say what to set."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager
from typing import NamedTuple

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.certificates import self_signed
from tests.serving import serve

pytestmark = pytest.mark.engine("sqlite")  # not about databases

NAME = "approvals.test"  # what people would type
HOST = "proxy_set_header Host $http_host;"
FORWARDED = (
    "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; "
    "proxy_set_header X-Forwarded-Proto $scheme; "
    "proxy_set_header X-Forwarded-Host $http_host;"
)
CONFIG = """
daemon off; error_log stderr; pid {folder}/pid; user root;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{port} {tls};
    location {path} {{
      proxy_pass {upstream};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection;
      {headers}
    }}
  }}
}}
"""


class Way(NamedTuple):
    """How nginx is set up, and what has to come of it.

    Attributes:
        headers: What it sends on.
        public: Whether PUBLIC_URL is the address that people use; else it is not set.
        expected: "works", or what the page has to name as what came.
        press: Whether only a press tells: the page itself cannot.
    """

    headers: str
    expected: str
    public: bool = True
    press: bool = False
    upstream: str = "127.0.0.1"
    path: str = "/"
    tls: bool = False


WAYS = {
    "Host is passed": Way(HOST, "works"),
    "Host and X-Forwarded-* are passed": Way(HOST + FORWARDED, "works"),
    "Host is not passed": Way("", "Host"),
    "only X-Forwarded-* is passed": Way(FORWARDED, "Host"),
    "Host is passed and PUBLIC_URL is not set": Way(HOST, "Host", public=False),
    "neither": Way("", "Origin", public=False, press=True),
    "neither, by another name": Way("", "Host", public=False, upstream="localhost"),
    "below a path that is cut off": Way(
        HOST + "proxy_set_header X-Forwarded-Prefix /gate;", "X-Forwarded-Prefix", path="/gate/"
    ),
    "TLS": Way(HOST + FORWARDED, "works", tls=True),
    "TLS that nobody is told of": Way(HOST, "works", tls=True),
    "TLS, Host is not passed": Way(FORWARDED, "Host", tls=True),
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate that somebody signed themselves, and its key."""
    return self_signed(NAME, tmp_path_factory.mktemp("tls") / "proxy.pem")


@pytest.fixture(scope="module")
def nginx():
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            "Not run: nginx is not installed."
        )
    return program


class Front:
    """What people reach: nginx, by the name that they would type."""

    def __init__(self, way, port, certificate):
        self.way = way
        self.authority = f"{NAME}:{port}"
        self.url = f"http{'s' * way.tls}://{self.authority}"
        self.port, self.trust = port, ssl.create_default_context(cafile=certificate)
        self.client = httpx2.Client(
            base_url=f"http{'s' * way.tls}://127.0.0.1:{port}",
            headers={"Host": self.authority},
            verify=self.trust,
            trust_env=False,
        )

    def get(self, path, **more):
        return self._send("GET", path, **more)

    def post(self, path, **more):
        return self._send("POST", path, **more)

    def _send(self, verb, path, headers=(), **more):
        path = self.way.path.rstrip("/") + path
        request = self.client.build_request(verb, path, headers=dict(headers), **more)
        request.extensions["sni_hostname"] = NAME
        return self.client.send(request)

    def socket(self):
        """Whether a page of this address may hear news; what a refusal says otherwise."""
        talk = socket.create_connection(("127.0.0.1", self.port))
        url = self.url.replace("http", "ws", 1) + self.way.path + "ws/queue/"
        more = {"ssl": self.trust, "server_hostname": NAME} if self.way.tls else {}
        try:
            with connect(url, sock=talk, origin=self.url, **more):
                return "opened"
        except InvalidStatus as refused:
            return refused.response.status_code


@contextmanager
def fronted(nginx, way, folder, certificate):
    """Start a dashboard, and nginx in front of it."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    front = Front(way, port, certificate)
    with serve(environment={"PUBLIC_URL": front.url if way.public else ""}) as house:
        upstream = house.url.replace("127.0.0.1", way.upstream) + ("/" if way.path != "/" else "")
        tls = f"ssl; ssl_certificate {certificate}; ssl_certificate_key {certificate}"
        config = folder / "nginx.conf"
        config.write_text(
            CONFIG.format(
                folder=folder,
                port=port,
                tls=tls if way.tls else "",
                path=way.path,
                upstream=upstream,
                headers=way.headers,
            )
        )
        process = subprocess.Popen([nginx, "-c", config, "-p", folder])
        try:
            _until_it_listens(port, process)
            yield front, house
        finally:
            process.terminate()
            process.wait(10)
            front.client.close()


def _until_it_listens(port, process):
    gives_up_at = time.monotonic() + 10
    while time.monotonic() < gives_up_at and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("nginx did not start.")


def lines(house):
    return [line for line in house.logs().splitlines() if "PUBLIC_URL" in line]


@pytest.mark.parametrize("name", WAYS)
def test_a_proxy(name, nginx, tmp_path, certificate):
    way = WAYS[name]
    with fronted(nginx, way, tmp_path, certificate) as (front, house):
        page = front.get("/sign-in", headers={"Sec-Fetch-Site": "none"})
        if way.expected == "works":
            assert page.status_code == 200, page.text
            token = re.search('name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]
            form = {"csrfmiddlewaretoken": token, "username": "alice", "password": "wrong"}
            pressed = front.post("/sign-in", data=form, headers={"Origin": front.url})
            assert "The name or password is wrong" in pressed.text
            assert front.socket() == "opened"
            assert lines(house) == []
            return
        if way.press:
            assert page.status_code == 200
            headers = {"Origin": front.url, "Sec-Fetch-Site": "same-origin"}
            page = front.post("/sign-in", headers=headers)
        assert page.status_code == 421
        assert f"<dt>{way.expected}</dt>" in page.text
        assert "PUBLIC_URL=" in page.text
        [line] = lines(house)
        assert " WARNING " in line
        assert way.expected in line
        assert front.socket() == (403 if way.public is False else "opened")
