"""Sign in by single sign-on (OpenID Connect), and link it to an account that is here already.

allauth leads to the provider and exchanges what comes back; what the provider says about a person
is checked by ``accounts.provider`` and ``accounts.services.identity``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from http import HTTPStatus
from secrets import token_urlsafe
from typing import Any, NoReturn
from urllib.parse import urlencode

from allauth.account.internal.flows.login import clear_authentication_records
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard.accounts.errors import (
    AccountError,
    NotPermitted,
    NotRecognised,
    ProviderRefused,
    ProviderUnreachable,
    SignInCancelled,
    TooManyAttempts,
)
from dashboard.accounts.models import User
from dashboard.accounts.provider.metadata import metadata, provider_id
from dashboard.accounts.provider.statements import Statement, check_nonce, read_logout_token
from dashboard.accounts.provider.tokens import auth_method, read_answer, seal
from dashboard.accounts.provider.transport import ODDITIES, ProviderSession
from dashboard.accounts.services import browsers, identity, signing_in, throttle
from dashboard.web.access import AT_PROVIDER_KEY, actor, address
from dashboard.web.http import PersonRequest
from dashboard.web.office.present import PresentForm, confirm_present, needs_present
from dashboard.web.office.sign_in import FRESH_S, next_path, sign_in_page, slowed, status_of

log = logging.getLogger(__name__)

_PARAMS = {
    # Google gives a token to ask with later only where both are sent.
    "https://accounts.google.com": {"access_type": "offline", "prompt": "consent"}
}
PROMPT_AGAIN = {"prompt": "login", "max_age": "0"}
_BEGUN_FOR_S = 600
_LINKING_KEY = "linking"
_CANCELLED = "You did not sign in at the provider. Nothing was done here."
_EXPIRED = (
    "This sign-in was begun too long ago, in another browser, or was finished already. You are "
    "not signed in. Begin again."
)
_NOT_FRESH = (
    "You signed in there some time ago, and to link it has to be just now. Nothing was linked. "
    "Sign out there, and try again."
)
_UNNAMED: dict[type[AccountError], str] = {
    NotRecognised: "the provider knows them, and no account here is theirs",
}
_STAYS = "The provider has no page for signing out. Sign out on its own pages."
_FAILED = "The provider did not complete the sign-in. You are not signed in. Try again."


class Door(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Our provider, as allauth talks to it."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, provider_id())

    @property
    def openid_config(self) -> dict[str, Any]:
        """What the provider published; its issuer is checked, and it is kept for a while."""
        doors = metadata()
        return {
            "authorization_endpoint": doors.authorization_endpoint,
            "token_endpoint": doors.token_endpoint,
            "token_endpoint_auth_methods_supported": doors.token_auth_methods,
        }

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Return where the provider sends people back to: the one address that counts."""
        del request, app
        return f"{settings.PUBLIC_URL}{reverse('web:provider_callback')}"

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: Any, **answers: Any
    ) -> SocialLogin:
        """Check what the provider says, and return it for ``Providers.pre_social_login``."""
        del request, app, token
        statement = read_answer(answers["response"])
        account = SocialAccount(provider=provider_id(), uid=statement.subject, extra_data={})
        login = SocialLogin(account=account, provider=self.get_provider())
        login.statement = statement
        return login


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """The one provider, of the settings."""

    oauth2_adapter_class = Door

    def get_oauth2_adapter(self, request: HttpRequest) -> Door:
        """Return our own talk with it."""
        return Door(request)


class Providers(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """What allauth asks us about single sign-on. It knows no provider but that of the settings."""

    def get_provider(
        self, request: HttpRequest, provider: str, client_id: str | None = None
    ) -> Any:
        """Return the provider; whatever stands in allauth's own table is none."""
        del client_id
        if provider != provider_id():
            raise SocialApp.DoesNotExist
        app = SocialApp(
            provider=OpenIDConnectProvider.id,
            provider_id=provider_id(),
            name=settings.OIDC_NAME,
            client_id=settings.OIDC_CLIENT_ID,
            secret=settings.OIDC_CLIENT_SECRET,
            settings={
                "server_url": settings.OIDC_ISSUER,
                "oauth_pkce_enabled": True,
                "scope": settings.OIDC_SCOPES,
                "token_auth_method": auth_method(),
            },
        )
        return Provider(request, app=app)

    def get_requests_session(self) -> ProviderSession:
        """Return a session whose answers are bounded."""
        return ProviderSession()

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Nobody signs up by themselves: ``recognise`` makes people or refuses them."""
        del request, sociallogin
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find out who it is, before anybody is signed in or anything is linked.

        Raises:
            AccountError: They are not let in.
            ImmediateHttpResponse: They want to link an account: they are asked first.
        """
        statement: Statement = sociallogin.statement
        check_nonce(statement, (sociallogin.state.get("data") or {}).get("nonce", ""))
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            raise ImmediateHttpResponse(_ask_to_link(request, statement))
        person = identity.recognise(statement)
        clear_authentication_records(request)  # of a sign-in here that was not finished
        sociallogin.user = person
        sociallogin.account = SocialAccount.objects.get(
            provider=provider_id(), uid=statement.subject
        )
        request.session[AT_PROVIDER_KEY] = {
            "subject": statement.subject,
            "session": statement.session,
            "refresh_token": sealed_text(sociallogin),
        }

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Mapping[str, Any] | None = None,
    ) -> NoReturn:
        """Say why nobody is signed in.

        Raises:
            AccountError: Always; the view makes a page of it.
        """
        del request, provider
        if error == AuthError.CANCELLED:
            raise SignInCancelled(_CANCELLED)
        if exception is None and "state" not in (extra_context or {}):
            raise ProviderRefused(_EXPIRED)
        log.warning("Single sign-on failed at the provider: %s", exception or error)
        raise ProviderRefused(_FAILED) from exception


@login_not_required
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Lead to the provider, and back to the page that was asked for."""
    try:
        _need_provider()
        throttle.begin(throttle.provider(address(request)))  # each makes a session
        if not request.user.is_authenticated:
            request.session.set_expiry(_BEGUN_FOR_S)
        return _lead(request, AuthProcess.LOGIN, next_path(request))
    except AccountError as error:
        return _not_in(request, error)


@require_GET
def begin_link(request: PersonRequest) -> HttpResponse:
    """Lead to the provider, to link what it says to the person who is signed in."""
    try:
        return _lead(request, AuthProcess.CONNECT, reverse("web:account"), **PROMPT_AGAIN)
    except AccountError as error:
        messages.error(request, str(error))
        return redirect("web:account")


@login_not_required
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Let in whoever the provider sends back."""
    key = throttle.provider(address(request))
    try:
        _need_provider()
        throttle.begin(key)
    except AccountError as error:
        return _not_in(request, error)
    try:
        response: HttpResponse = OAuth2CallbackView.adapter_view(Door)(request)
    except SignInCancelled as error:
        return _not_in(request, error)
    except AccountError as error:
        return _refused(request, error)
    except ODDITIES as error:
        log.exception("What the provider of single sign-on sent cannot be read.")
        return _refused(request, ProviderRefused(_FAILED).with_traceback(error.__traceback__))
    throttle.succeeded(key)
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def link(request: PersonRequest) -> HttpResponse:
    """Ask whether to link, and do it. The provider's account was shown by signing in there."""
    linking = request.session.get(_LINKING_KEY)
    if not linking or time.time() - linking["at_s"] > FRESH_S:
        return redirect("web:account")
    form = PresentForm(request.POST if request.method == "POST" else None)
    if not needs_present(request):
        del form.fields["present"]
    if not form.is_valid():
        return _link_page(request, form, linking)
    try:
        confirm_present(request, form)
        identity.link(request.user, Statement(linking["subject"]), by=actor(request))
    except (NotPermitted, TooManyAttempts, NotRecognised) as error:
        form.add_error(None, str(error))
        return slowed(_link_page(request, form, linking), error)
    logout(request)  # all their sessions have ended: from now on the provider is asked about them
    messages.success(request, f"Linked. From now on you sign in with {settings.OIDC_NAME}.")
    # Not to the provider itself: a form may lead to our own pages alone (form-action).
    return redirect(f"{reverse('web:sign_in')}?{urlencode({'next': reverse('web:account')})}")


def _link_page(request: PersonRequest, form: PresentForm, linking: dict[str, Any]) -> HttpResponse:
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    context = {"linking": linking, "form": form}
    return render(request, "office/link_provider.html", context, status=status)


@login_not_required
@require_GET
def leave(request: HttpRequest) -> HttpResponse:
    """Lead to where the provider signs people out, and back to the sign-in page."""
    try:
        _need_provider()
        door = metadata().end_session_endpoint
        if not door:
            raise ProviderRefused(_STAYS)
    except AccountError as error:
        return slowed(sign_in_page(request, problem=str(error), status=status_of(error)), error)
    back = settings.PUBLIC_URL + reverse("web:sign_in")
    query = urlencode({"client_id": settings.OIDC_CLIENT_ID, "post_logout_redirect_uri": back})
    return redirect(f"{door}{'&' if '?' in door else '?'}{query}")


@login_not_required
@csrf_exempt
@require_POST
def signed_out_there(request: HttpRequest) -> HttpResponse:
    """Hear from the provider that sessions are over (Back-Channel Logout 1.0)."""
    key = throttle.logout(address(request))
    try:
        _need_provider()
        throttle.check(key)
        logout = read_logout_token(request.POST.get("logout_token", ""))
    except TooManyAttempts as error:
        return slowed(HttpResponse(str(error), status=HTTPStatus.TOO_MANY_REQUESTS), error)
    except ProviderUnreachable as error:
        return HttpResponse(str(error), status=HTTPStatus.SERVICE_UNAVAILABLE)
    except AccountError as error:
        throttle.begin(key)
        return HttpResponse(str(error), status=HTTPStatus.BAD_REQUEST)
    browsers.end_at_provider(logout)
    return HttpResponse(status=HTTPStatus.OK)


def _need_provider() -> None:
    if not settings.OIDC_ISSUER:
        raise ProviderRefused("Single sign-on is not set up here. You are not signed in.")


def _lead(request: HttpRequest, process: str, next_url: str, **params: str) -> HttpResponse:
    _need_provider()
    nonce = token_urlsafe(24)
    provider = get_adapter(request).get_provider(request, provider_id())
    response: HttpResponse = provider.redirect(
        request,
        process,
        next_url=next_url,
        data={"nonce": nonce},
        auth_params={"nonce": nonce, **_PARAMS.get(settings.OIDC_ISSUER, {}), **params},
    )
    return response


def _ask_to_link(request: HttpRequest, statement: Statement) -> HttpResponse:
    if not isinstance(request.user, User):
        return redirect("web:sign_in")
    signed_in_s = statement.authenticated_s
    if signed_in_s is not None and time.time() - signed_in_s > FRESH_S:
        messages.error(request, _NOT_FRESH)
        return redirect("web:account")
    request.session[_LINKING_KEY] = {
        "subject": statement.subject,
        "name": statement.username or statement.address or statement.subject,
        "at_s": time.time(),
    }
    return redirect("web:provider_link")


def sealed_text(sociallogin: SocialLogin) -> str:
    """Return the token to ask the provider with later, as it may lie in a session."""
    sealed = seal(str(sociallogin.token.token_secret or "") if sociallogin.token else "")
    return sealed.decode() if sealed else ""


def _refused(request: HttpRequest, error: AccountError) -> HttpResponse:
    is_ours = isinstance(error, ProviderRefused | ProviderUnreachable)  # names nobody
    because = str(error) if is_ours else _UNNAMED.get(type(error), "the account is deactivated")
    signing_in.refused_by_provider(address=address(request), because=because[:300])
    return _not_in(request, error)


def _not_in(request: HttpRequest, error: AccountError) -> HttpResponse:
    if request.user.is_authenticated:
        messages.error(request, str(error).replace(" You are not signed in.", ""))
        return redirect("web:account")
    return slowed(sign_in_page(request, problem=str(error), status=status_of(error)), error)
