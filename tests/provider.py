"""An OpenID Connect provider on loopback that says what a test has it say, wrong things too."""

import base64
import hashlib
import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "approvals"
SECRET = "a secret of the client"
KEY, ANOTHER_KEY = (rsa.generate_private_key(65537, 2048) for _ in range(2))
KEY_ID = "key-1"


@dataclass
class Provider:
    """What it says about the one person who signs in there.

    ``wrong`` replaces claims of ID tokens; a claim that is None is left out. ``key`` signs them.
    """

    issuer: str = ""
    person: dict = field(default_factory=lambda: {"sub": "alice-1", "preferred_username": "alice"})
    wrong: dict = field(default_factory=dict)
    key: object = KEY
    algorithm: str = "RS256"
    key_id: str = KEY_ID
    published_key_id: str = KEY_ID
    refreshes_without_id_token: bool = False
    has_another_key: bool = False
    token_answer: bytes = b""
    proofs: list = field(default_factory=list)
    is_down: bool = False
    waits_s: float = 0
    forgets_sessions: bool = False
    gives_refresh_tokens: bool = True
    metadata: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    codes: dict = field(default_factory=dict)
    refresh_tokens: set = field(default_factory=set)

    def id_token(self, nonce=None, **more):
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            **self.person,
            **more,
            **self.wrong,
        }
        return self.signed({name: value for name, value in claims.items() if value is not None})

    def logout_token(self, **more):
        event = "http://schemas.openid.net/event/backchannel-logout"
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": int(time.time()),
            "exp": int(time.time()) + 120,
            "jti": token_urlsafe(8),
            "events": {event: {}},
            "sub": self.person["sub"],
            **more,
        }
        return self.signed({name: value for name, value in claims.items() if value is not None})

    def signed(self, claims):
        return jwt.encode(
            claims, self.key, self.algorithm, headers={"kid": self.key_id} if self.key_id else None
        )

    def answer(self, path, query, form):  # noqa: PLR0911 - one for each door
        """Return the status, the headers and the body of an answer."""
        match path:
            case "/.well-known/openid-configuration":
                doors = {
                    "issuer": self.issuer,
                    "authorization_endpoint": f"{self.issuer}/authorize",
                    "token_endpoint": f"{self.issuer}/token",
                    "jwks_uri": f"{self.issuer}/keys",
                    "userinfo_endpoint": f"{self.issuer}/userinfo",
                }
                return 200, {}, doors | self.metadata
            case "/keys":
                public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
                public |= {"kid": self.published_key_id, "use": "sig", "alg": "RS256"}
                more = [public | {"kid": "key-9"}] if self.has_another_key else []
                return 200, {}, {"keys": [public, *more]}
            case "/authorize":
                code = token_urlsafe(8)
                self.codes[code] = query
                back = urlencode({"code": code, "state": query["state"]})
                return 302, {"Location": f"{query['redirect_uri']}?{back}"}, {}
            case "/userinfo":
                return 200, {}, self.person
            case "/token" if form.get("grant_type") == "refresh_token":
                if self.forgets_sessions or form["refresh_token"] not in self.refresh_tokens:
                    return 400, {}, {"error": "invalid_grant"}
                self.refresh_tokens.remove(form["refresh_token"])
                tokens = self.tokens(nonce=None)
                if self.refreshes_without_id_token:
                    del tokens["id_token"]
                return 200, {}, tokens
            case "/token":
                begun = self.codes.pop(form.get("code"), None)
                if begun is None or not proves(begun, form):
                    return 400, {}, {"error": "invalid_grant"}
                return 200, {}, self.tokens(nonce=begun.get("nonce"))
        return 404, {}, {}

    def tokens(self, nonce):
        tokens = {"access_token": token_urlsafe(8), "token_type": "Bearer", "expires_in": 60}
        if self.gives_refresh_tokens:
            tokens["refresh_token"] = token_urlsafe(8)
            self.refresh_tokens.add(tokens["refresh_token"])
        return tokens | {"id_token": self.id_token(nonce)}


def proves(begun, form):
    """Whether the code is asked for by who began it (RFC 7636)."""
    digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return (
        begun.get("code_challenge") == challenge and begun["redirect_uri"] == form["redirect_uri"]
    )


@contextmanager
def provider():
    """Run a provider for as long as the context is open."""
    told = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._answer({})

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            self._answer(flat(body))

        def _answer(self, form):
            parts = urlsplit(self.path)
            told.asked.append(parts.path)
            time.sleep(told.waits_s)
            status, headers, body = told.answer(parts.path, flat(parts.query), form)
            content = json.dumps(body).encode()
            if parts.path == "/token":
                told.proofs.append("basic" if "Authorization" in self.headers else "post")
                content = told.token_answer or content
            self.send_response(503 if told.is_down else status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def flat(text):
    return {name: values[-1] for name, values in parse_qs(text).items()}
