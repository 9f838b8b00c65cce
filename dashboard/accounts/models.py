"""Tables of people, agents and what they prove themselves with."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.contrib.auth.password_validation import validate_password
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower

# Names stand beside content on every page, so they cannot hold anything that could imitate it.
plain_name = RegexValidator(
    r"\A[A-Za-z0-9][A-Za-z0-9_.@+-]{0,99}\Z",
    "Use up to 100 letters, digits and . _ @ + - and begin with a letter or digit.",
)


ROLES = ("reviewer", "admin", "auditor")


class UserManager(BaseUserManager["User"]):
    """Makes people, for Django's own commands; pages use the services."""

    def create_superuser(self, username: str, password: str | None = None) -> User:
        """Make somebody who administers and reviews: what ``createsuperuser`` calls.

        Raises:
            NameTaken: There is somebody of that name.
            ValidationError: The name or the password may not be used.
        """
        from dashboard.accounts.services import people  # noqa: PLC0415 - services import this

        if password is not None:
            validate_password(password, User(username=username))
        return people.create_first_person(username=username, password=password)


class User(AbstractBaseUser):
    """A person. Roles are three flags; nobody has a right that no flag gives."""

    username = models.CharField(max_length=100, unique=True, validators=[plain_name])
    is_active = models.BooleanField(default=True)
    is_reviewer = models.BooleanField(default=False)
    is_admin = models.BooleanField(default=False)
    is_auditor = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()

    class Meta:
        ordering = ["username"]
        constraints = [
            # "Alice" beside "alice" would be one person to every reader.
            models.UniqueConstraint(Lower("username"), name="user_name_unique_in_any_case"),
        ]

    def __str__(self) -> str:
        return self.username

    @property
    def roles(self) -> list[str]:
        """The names of the roles that a person has."""
        return [role for role in ROLES if getattr(self, f"is_{role}")]


class Group(models.Model):
    """Reviewers whose votes a policy may ask for, by name. To be in one gives no other right."""

    name = models.CharField(max_length=100, unique=True, validators=[plain_name])
    members = models.ManyToManyField(User, related_name="groups")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(Lower("name"), name="group_name_unique_in_any_case"),
        ]

    def __str__(self) -> str:
        return self.name


class Agent(models.Model):
    """A program that asks. Its owner may not approve what it asks, unless the policy says so."""

    name = models.CharField(max_length=100, unique=True, validators=[plain_name])
    owner = models.ForeignKey(User, models.PROTECT, null=True, related_name="agents")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(Lower("name"), name="agent_name_unique_in_any_case"),
        ]

    def __str__(self) -> str:
        return self.name


class AgentToken(models.Model):
    """What an agent proves itself with. The secret is shown once; we keep its hash."""

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="tokens")
    prefix = models.CharField(max_length=16)  # tells tokens apart on a page
    hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.agent}"


class Passkey(models.Model):
    """A key of a person's device. It signs them in as a second factor, and signs approvals.

    Rows never change. Texts are base64url.
    """

    person = models.ForeignKey(User, models.PROTECT, related_name="passkeys")
    name = models.CharField(max_length=100)  # in the person's words
    credential_id = models.CharField(max_length=1400, unique=True)
    public_key = models.TextField()  # in COSE
    host = models.CharField(max_length=253)  # the only one that it is for
    sign_count = models.BigIntegerField()  # when it was added; 0 where the device does not count
    aaguid = models.CharField(max_length=36)  # the model of the device, as it says itself
    is_synced = models.BooleanField()  # may be copied to other devices of the person
    transports = models.CharField(max_length=200)  # how the device is reached, as a JSON list
    added_by = models.CharField(max_length=100)  # how the person had signed in
    needs_confirmation = models.BooleanField()  # it never counts before another admin's word
    added_at = models.DateTimeField()

    class Meta:
        ordering = ["added_at", "id"]

    def __str__(self) -> str:
        return self.name


class PasskeyConfirmation(models.Model):
    """An admin's word that a passkey is the person's own, so it counts at once."""

    passkey = models.OneToOneField(Passkey, models.PROTECT, related_name="confirmation")
    confirmed_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField()


class PasskeyRemoval(models.Model):
    """The end of a passkey. Nobody removed it: the operator did."""

    passkey = models.OneToOneField(Passkey, models.PROTECT, related_name="removal")
    removed_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    removed_at = models.DateTimeField()


class PasskeyUse(models.Model):
    """How often a passkey signed, and when last. A count that goes back betrays a copy."""

    passkey = models.OneToOneField(Passkey, models.PROTECT, related_name="use")
    sign_count = models.BigIntegerField()
    used_at = models.DateTimeField()


class SignInLink(models.Model):
    """A link that signs one person in, once, within the hour. We keep its hash."""

    person = models.ForeignKey(User, models.PROTECT, related_name="sign_in_links")
    hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class SignInAttempts(models.Model):
    """How often signing in failed lately, for one account or one address."""

    key = models.CharField(max_length=200, unique=True)  # "account:alice" or "address:::1"
    failures = models.PositiveIntegerField(default=0)
    since = models.DateTimeField()


class GroupMapping(models.Model):
    """What being in a group at the provider of single sign-on gives here: a role, or a group."""

    claim = models.CharField(max_length=200)  # the group's name or id, as tokens have it
    role = models.CharField(max_length=10, blank=True)  # or nothing, where ``group`` is set
    group = models.ForeignKey(Group, models.CASCADE, null=True, related_name="mappings")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["claim", "role", "group__name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=["reviewer", "admin", "auditor"], group=None)
                | models.Q(role="", group__isnull=False),
                name="group_mapping_gives_one_thing",
            ),
            models.UniqueConstraint(
                fields=["claim", "role"],
                condition=models.Q(group=None),
                name="group_mapping_of_role_unique",
            ),
            models.UniqueConstraint(
                fields=["claim", "group"],
                condition=models.Q(role=""),
                name="group_mapping_of_group_unique",
            ),
        ]


class UnknownIdentity(models.Model):
    """Somebody whom the provider knows and who was not let in. An admin may say who it is."""

    provider = models.CharField(max_length=200)
    subject = models.CharField(max_length=255)
    username = models.CharField(max_length=255)
    address = models.CharField(max_length=255)
    reason = models.CharField(max_length=300)
    first_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "subject"], name="unknown_identity_unique"
            ),
        ]


class BrowserSession(models.Model):
    """One browser in which somebody is signed in: what Django's session cannot be asked for."""

    person = models.ForeignKey(User, models.PROTECT, related_name="browser_sessions")
    session_key = models.CharField(max_length=40, unique=True)
    method = models.CharField(max_length=100)  # how they signed in, such as "password+totp"
    address = models.CharField(max_length=100)
    browser = models.CharField(max_length=300)  # as it calls itself
    began_at = models.DateTimeField()
    used_at = models.DateTimeField()
    is_remembered = models.BooleanField(default=False)
    # Of single sign-on: who it is there, and when the provider last said that it still is.
    provider = models.CharField(max_length=200, blank=True)
    subject = models.CharField(max_length=255, blank=True)
    provider_session = models.CharField(max_length=255, blank=True)
    refresh_token = models.BinaryField(null=True)  # encrypted with a key made of SECRET_KEY
    checked_at = models.DateTimeField(null=True)
    check_due_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["-used_at"]
        indexes = [models.Index(fields=["person", "-used_at"], name="browser_session_of_person")]
