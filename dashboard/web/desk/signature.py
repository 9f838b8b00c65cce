"""An approval that a person's device has to sign: what is kept meanwhile, and sent again with it.

The answer that was pressed goes to the browser sealed, and comes back with what was signed. So
what is recorded is what was pressed, whatever became of the page since.
"""

from __future__ import annotations

import json
import secrets
import time
from typing import Any, NamedTuple

from django.core import signing
from django.http import QueryDict

from dashboard.accounts.services import passkeys
from dashboard.approvals.errors import Refused, SignatureMissing, SignatureRefused
from dashboard.clock import database_now
from dashboard.web.http import PersonRequest

WITHIN_S = 300
"""How long a device may take to sign what was pressed, in seconds."""

_SALT = "dashboard.web.desk.signature"
_TOO_LATE = f"Your device has {WITHIN_S // 60} minutes to sign, and they are over."
_ALTERED = "This form is not the one that your page was given."
_OWN = ("csrfmiddlewaretoken", "nonce", "signed")  # never taken from what was pressed


class ToSign(NamedTuple):
    """What a page asks a device for.

    Attributes:
        action: Where the form is sent that brings it back.
        pending: The answer that was pressed, sealed.
        options: What the browser has the device sign, JSON.
    """

    action: str
    pending: str
    options: str


def pressed_before(request: PersonRequest) -> None:
    """Put back the answer that was pressed, in the place of the form that brings its signature.

    An answer that was not signed yet gets a nonce of its own. Whatever a form says of either by
    itself is dropped.

    Raises:
        SignatureRefused: It is too old, of somebody else or for another page.
    """
    form = request.POST.copy()
    for name in _OWN:
        form.pop(name, None)
    form["nonce"] = secrets.token_hex(16)
    sealed = _opened(request.POST["pending"]) if "pending" in request.POST else None
    if sealed is not None:
        if (sealed["person"], sealed["path"]) != (request.user.pk, request.path):
            raise SignatureRefused(_ALTERED)
        form = QueryDict(sealed["form"], mutable=True)
        form["nonce"], form["signed"] = sealed["nonce"], request.POST.get("signed", "")
    request.POST = form  # type: ignore[assignment]  # mutable
    if sealed is not None and time.time() - sealed["at"] > WITHIN_S:  # what was written stays
        raise SignatureRefused(_TOO_LATE)


def to_sign(request: PersonRequest, refusal: Refused | None) -> ToSign | None:
    """Return what a page asks the device for, if that is why nothing was recorded."""
    if not isinstance(refusal, SignatureMissing):
        return None
    form = request.POST.copy()
    for name in _OWN:
        form.pop(name, None)
    form["judgement"] = str(refusal.judgement_id)
    answer = {
        "form": form.urlencode(),
        "nonce": refusal.nonce,
        "at": time.time(),
        "person": request.user.pk,
        "path": request.path,
    }
    pending = signing.dumps(answer, salt=_SALT, compress=True)
    keys = passkeys.counting(request.user, database_now())
    options = passkeys.request_options(keys, refusal.challenge)
    return ToSign(request.get_full_path(), pending, json.dumps(options))


def _opened(pending: str) -> dict[str, Any]:
    try:
        sealed: dict[str, Any] = signing.loads(pending, salt=_SALT)
    except signing.BadSignature as error:
        raise SignatureRefused(_ALTERED) from error
    return sealed
