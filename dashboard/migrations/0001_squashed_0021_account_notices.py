import dashboard.wire
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor as Editor
from django.db.migrations.state import ProjectState


class Migration(migrations.Migration):
    """What the first 21 make together, for new databases; one that has some of them runs the rest."""

    replaces = [
        ("dashboard", "0001_initial"),
        ("dashboard", "0002_plans_that_do_not_grow"),
        ("dashboard", "0003_names_of_the_nouns"),
        ("dashboard", "0004_verifications"),
        ("dashboard", "0005_history_in_order"),
        ("dashboard", "0006_sums_of_the_insight"),
        ("dashboard", "0007_verifications_compare_the_tables"),
        ("dashboard", "0008_approvals_that_are_taken_back"),
        ("dashboard", "0009_keys_of_what_the_log_says"),
        ("dashboard", "0010_channels"),
        ("dashboard", "0011_channels_of_people"),
        ("dashboard", "0012_headlines"),
        ("dashboard", "0013_grounds_of_judgements"),
        ("dashboard", "0014_classes_of_tools"),
        ("dashboard", "0015_clock_of_the_log"),
        ("dashboard", "0016_traces"),
        ("dashboard", "0017_holds_after_a_restore"),
        ("dashboard", "0018_single_sign_on"),
        ("dashboard", "0019_passkeys"),
        ("dashboard", "0020_signatures"),
        ("dashboard", "0021_account_notices"),
    ]

    initial = True

    dependencies = []

    def apply(
        self,
        project_state: ProjectState,
        schema_editor: Editor,
        collect_sql: bool = False,  # noqa: FBT001, FBT002 - Django's
    ) -> ProjectState:
        """Create the tables from one state.

        Django would draw a state for each table, with every model that is related to it: that is
        most of what a first start takes.
        """
        if collect_sql:
            return super().apply(project_state, schema_editor, collect_sql)
        project_state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(self.app_label, project_state)
        for operation in self.operations:
            operation.database_forwards(
                self.app_label, schema_editor, project_state, project_state
            )
        return project_state

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("actor", models.CharField(max_length=200)),
                ("auth", models.CharField(blank=True, max_length=100)),
                ("action", models.CharField(max_length=60)),
                ("subject", models.CharField(blank=True, max_length=200)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("details", models.TextField(default="{}")),
                ("prev", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
            ],
            options={
                "ordering": ["seq"],
                "indexes": [models.Index(fields=["subject", "seq"], name="audit_by_subject")],
            },
        ),
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("hash", models.CharField(max_length=64)),
                ("latest_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pk", 1)), name="audit_head_is_one_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditVerification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("asked_by", models.CharField(max_length=200)),
                ("auth", models.CharField(blank=True, max_length=100)),
                ("asked_at", models.DateTimeField()),
                ("expect_seq", models.BigIntegerField(null=True)),
                ("expect_hash", models.CharField(blank=True, max_length=64)),
                ("until", models.BigIntegerField()),
                ("seq", models.BigIntegerField(default=0)),
                ("hash", models.CharField(max_length=64)),
                (
                    "place",
                    models.CharField(
                        blank=True, db_default=models.Value(""), default="", max_length=100
                    ),
                ),
                ("compared", models.BigIntegerField(db_default=models.Value(0), default=0)),
                ("to_compare", models.BigIntegerField(db_default=models.Value(0), default=0)),
                ("ended_at", models.DateTimeField(null=True)),
                ("problem", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="InsightDispute",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["-last_at"], name="insight_dispute_newest")],
            },
        ),
        migrations.CreateModel(
            name="InsightHead",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pk", 1)), name="insight_head_is_one_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="InsightSum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("part", models.CharField(max_length=10)),
                ("figures", models.TextField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("day", "part"), name="insight_sum_once_a_day")
                ],
            },
        ),
        migrations.CreateModel(
            name="LogReading",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.BigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pk", 1)), name="log_reading_is_one_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SignInAttempts",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200, unique=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="UnknownIdentity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=200)),
                ("subject", models.CharField(max_length=255)),
                ("username", models.CharField(max_length=255)),
                ("address", models.CharField(max_length=255)),
                ("reason", models.CharField(max_length=300)),
                ("first_at", models.DateTimeField(auto_now_add=True)),
                ("last_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-last_at"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "subject"), name="unknown_identity_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "username",
                    models.CharField(
                        max_length=100,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[A-Za-z0-9][A-Za-z0-9_.@+-]{0,99}\\Z",
                                "Use up to 100 letters, digits and . _ @ + - and begin with a letter or digit.",
                            )
                        ],
                    ),
                ),
                ("is_active", models.BooleanField(default=True)),
                ("is_reviewer", models.BooleanField(default=False)),
                ("is_admin", models.BooleanField(default=False)),
                ("is_auditor", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["username"],
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("username"),
                        name="user_name_unique_in_any_case",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Agent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        max_length=100,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[A-Za-z0-9][A-Za-z0-9_.@+-]{0,99}\\Z",
                                "Use up to 100 letters, digits and . _ @ + - and begin with a letter or digit.",
                            )
                        ],
                    ),
                ),
                ("is_active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="agents",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("name"),
                        name="agent_name_unique_in_any_case",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BrowserSession",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("method", models.CharField(max_length=100)),
                ("address", models.CharField(max_length=100)),
                ("browser", models.CharField(max_length=300)),
                ("began_at", models.DateTimeField()),
                ("used_at", models.DateTimeField()),
                ("is_remembered", models.BooleanField(default=False)),
                ("provider", models.CharField(blank=True, max_length=200)),
                ("subject", models.CharField(blank=True, max_length=255)),
                ("provider_session", models.CharField(blank=True, max_length=255)),
                ("refresh_token", models.BinaryField(null=True)),
                ("checked_at", models.DateTimeField(null=True)),
                ("check_due_at", models.DateTimeField(db_index=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="browser_sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-used_at"],
                "indexes": [
                    models.Index(fields=["person", "-used_at"], name="browser_session_of_person")
                ],
            },
        ),
        migrations.CreateModel(
            name="Channel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("salt", models.CharField(max_length=64)),
                ("fingerprint", models.CharField(max_length=16)),
                ("earlier_salt", models.CharField(blank=True, max_length=64)),
                ("earlier_fingerprint", models.CharField(blank=True, max_length=16)),
                ("earlier_until", models.DateTimeField(null=True)),
                ("rests_until", models.DateTimeField(null=True)),
                ("name", models.CharField(blank=True, max_length=100)),
                ("kind", models.CharField(max_length=20)),
                ("address", models.CharField(max_length=500)),
                ("groups", models.TextField(default="[]")),
                ("events", models.TextField()),
                ("least", models.CharField(blank=True, max_length=10)),
                ("is_active", models.BooleanField(default=True)),
                ("after", models.BigIntegerField()),
                ("failures", models.PositiveIntegerField(default=0)),
                ("quiet_until", models.DateTimeField(null=True)),
                (
                    "choice",
                    models.CharField(
                        blank=True,
                        choices=[("assigned", "Assigned"), ("high", "High"), ("all", "All")],
                        db_default="",
                        max_length=10,
                    ),
                ),
                ("confirmed_at", models.DateTimeField(null=True)),
                ("code_made_at", models.DateTimeField(null=True)),
                ("code_tries", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("changed_at", models.DateTimeField()),
                (
                    "changed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="channels",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("person", None)),
                        fields=("name",),
                        name="channel_name_unique_of_the_house",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("person__isnull", False)),
                        fields=("person", "kind", "address"),
                        name="channel_once_for_each_person",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Group",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        max_length=100,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[A-Za-z0-9][A-Za-z0-9_.@+-]{0,99}\\Z",
                                "Use up to 100 letters, digits and . _ @ + - and begin with a letter or digit.",
                            )
                        ],
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "members",
                    models.ManyToManyField(related_name="groups", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("name"),
                        name="group_name_unique_in_any_case",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("placed_at", models.DateTimeField()),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "must_confirm",
                    models.BooleanField(db_default=models.Value(value=False), default=False),
                ),
                ("lifted_at", models.DateTimeField(null=True)),
                ("active", models.BooleanField(default=True)),
                (
                    "lifted_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "placed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("active", True)),
                        fields=("active",),
                        name="hold_only_one_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Passkey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("credential_id", models.CharField(max_length=1400, unique=True)),
                ("public_key", models.TextField()),
                ("host", models.CharField(max_length=253)),
                ("sign_count", models.BigIntegerField()),
                ("aaguid", models.CharField(max_length=36)),
                ("is_synced", models.BooleanField()),
                ("transports", models.CharField(max_length=200)),
                ("added_by", models.CharField(max_length=100)),
                ("needs_confirmation", models.BooleanField()),
                ("added_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="passkeys",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["added_at", "id"],
            },
        ),
        migrations.CreateModel(
            name="PolicyDraft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("document", models.TextField()),
                ("based_on", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1)),
                ("updated_at", models.DateTimeField()),
                (
                    "author",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PolicyRevision",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("document", models.TextField()),
                ("note", models.CharField(blank=True, max_length=500)),
                ("loosened", models.TextField(default="[]")),
                ("published_at", models.DateTimeField()),
                (
                    "author",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="SignInLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sign_in_links",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AgentToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("prefix", models.CharField(max_length=16)),
                ("hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tokens",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="GroupMapping",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("claim", models.CharField(max_length=200)),
                ("role", models.CharField(blank=True, max_length=10)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "group",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mappings",
                        to="dashboard.group",
                    ),
                ),
            ],
            options={
                "ordering": ["claim", "role", "group__name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("group", None), ("role__in", ["reviewer", "admin", "auditor"])
                            ),
                            models.Q(("group__isnull", False), ("role", "")),
                            _connector="OR",
                        ),
                        name="group_mapping_gives_one_thing",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("group", None)),
                        fields=("claim", "role"),
                        name="group_mapping_of_role_unique",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("role", "")),
                        fields=("claim", "group"),
                        name="group_mapping_of_group_unique",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notebook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("size", models.PositiveIntegerField()),
                ("sent_at", models.DateTimeField()),
                ("outline", models.TextField()),
                ("body", models.BinaryField()),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="notebooks",
                        to="dashboard.agent",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["sent_at"], name="notebook_oldest")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent", "digest"), name="notebook_once_per_agent"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PasskeyConfirmation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("confirmed_at", models.DateTimeField()),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "passkey",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="confirmation",
                        to="dashboard.passkey",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PasskeyRemoval",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("removed_at", models.DateTimeField()),
                (
                    "passkey",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="removal",
                        to="dashboard.passkey",
                    ),
                ),
                (
                    "removed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PasskeyUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sign_count", models.BigIntegerField()),
                ("used_at", models.DateTimeField()),
                (
                    "passkey",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="use",
                        to="dashboard.passkey",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PolicyProposal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("document", models.TextField()),
                ("note", models.CharField(blank=True, max_length=500)),
                ("based_on", models.BigIntegerField()),
                ("proposed_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "closed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "published",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.policyrevision",
                    ),
                ),
            ],
            options={
                "ordering": ["-proposed_at"],
            },
        ),
        migrations.CreateModel(
            name="Tool",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("schema_digest", models.CharField(blank=True, max_length=64)),
                ("claims", models.TextField(default="{}")),
                ("first_asked_at", models.DateTimeField()),
                ("tool_class", models.CharField(blank=True, max_length=20)),
                ("classed_at", models.DateTimeField(null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tools",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "classed_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent", "name", "schema_digest"), name="tool_once_per_schema"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "tool_class__in",
                                [
                                    "",
                                    "reads",
                                    "reversible",
                                    "irreversible",
                                    "external",
                                    "money",
                                    "control_system",
                                ],
                            )
                        ),
                        name="tool_class_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("salt", models.CharField(max_length=64)),
                ("fingerprint", models.CharField(max_length=16)),
                ("earlier_salt", models.CharField(blank=True, max_length=64)),
                ("earlier_fingerprint", models.CharField(blank=True, max_length=16)),
                ("earlier_until", models.DateTimeField(null=True)),
                ("rests_until", models.DateTimeField(null=True)),
                ("url", models.CharField(max_length=500)),
                ("is_active", models.BooleanField(default=True)),
                ("after", models.BigIntegerField()),
                ("changed_at", models.DateTimeField()),
                (
                    "agent",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="webhook",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "changed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ApprovalRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("idempotency_key", models.CharField(max_length=200)),
                ("submission_hash", models.CharField(max_length=64)),
                (
                    "log_key",
                    models.CharField(db_default=models.Value(""), max_length=64, null=True),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("code", "code"),
                            ("tool_call", "tool call"),
                            ("plan", "plan"),
                            ("memory", "memory"),
                        ],
                        max_length=10,
                    ),
                ),
                ("capability", models.CharField(max_length=200)),
                ("content", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                ("objective", models.TextField(blank=True)),
                ("evidence", models.TextField(default="{}")),
                ("run_id", models.CharField(blank=True, max_length=200)),
                ("max_wait_s", models.PositiveIntegerField(null=True)),
                ("accepts_edits", models.BooleanField(default=False)),
                ("accepts_grants", models.BooleanField(default=False)),
                ("traceparent", models.CharField(max_length=55, null=True)),
                ("submitted_at", models.DateTimeField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("approved", "approved"),
                            ("rejected", "rejected"),
                            ("expired", "expired"),
                            ("cancelled", "cancelled"),
                        ],
                        default=dashboard.wire.Status["PENDING"],
                        max_length=10,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("judged_under", models.BigIntegerField(db_default=models.Value(0), null=True)),
                ("expires_at", models.DateTimeField()),
                ("extensions", models.PositiveSmallIntegerField(default=0)),
                ("extended_s", models.FloatField(default=0)),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="dashboard.agenttoken",
                    ),
                ),
                (
                    "tool",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests",
                        to="dashboard.tool",
                    ),
                ),
            ],
            options={
                "ordering": ["-submitted_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["expires_at"],
                        name="approval_pending",
                    ),
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["judged_under", "submitted_at"],
                        name="approval_judged_under",
                    ),
                    models.Index(
                        fields=["agent", "run_id", "-submitted_at"], name="approval_of_run"
                    ),
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["token"],
                        name="approval_pending_of_token",
                    ),
                    models.Index(fields=["digest", "agent"], name="approval_of_content"),
                    models.Index(
                        condition=models.Q(("tool__isnull", False)),
                        fields=["tool", "status", "-submitted_at"],
                        name="approval_of_tool",
                    ),
                    models.Index(fields=["-submitted_at", "-id"], name="approval_in_order"),
                    models.Index(
                        fields=["agent", "-submitted_at", "-id"], name="approval_of_agent_in_order"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent", "idempotency_key"), name="approval_key_once_per_agent"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["pending", "approved", "rejected", "expired", "cancelled"],
                            )
                        ),
                        name="approval_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["code", "tool_call", "plan", "memory"])),
                        name="approval_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("submitted_at"))),
                        name="approval_expires_after_submission",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="assignment",
                        serialize=False,
                        to="dashboard.approvalrequest",
                    ),
                ),
                ("assigned_at", models.DateTimeField()),
                ("is_handed", models.BooleanField(default=False)),
                ("note", models.CharField(blank=True, max_length=500)),
                (
                    "after",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Closing",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                ("decided_at", models.DateTimeField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="closings",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="closing",
                        to="dashboard.approvalrequest",
                    ),
                ),
            ],
            options={
                "ordering": ["seq"],
                "indexes": [
                    models.Index(fields=["agent", "seq"], name="closing_of_agent"),
                    models.Index(
                        fields=["agent", "decided_at", "seq"], name="closing_of_agent_since"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("made_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("delivered", "Delivered"),
                            ("given_up", "Given Up"),
                            ("dropped", "Dropped"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField()),
                ("tried_at", models.DateTimeField(null=True)),
                ("said", models.CharField(blank=True, max_length=300)),
                (
                    "taken_back",
                    models.BooleanField(db_default=models.Value(value=False), default=False),
                ),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deliveries",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deliveries",
                        to="dashboard.webhook",
                    ),
                ),
            ],
            options={
                "ordering": ["-made_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["webhook", "due_at"],
                        name="delivery_waiting",
                    ),
                    models.Index(fields=["webhook", "-made_at"], name="delivery_newest"),
                    models.Index(fields=["made_at"], name="delivery_oldest"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("webhook", "approval", "taken_back"),
                        name="delivery_once_for_each_change",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["waiting", "delivered", "given_up", "dropped"])
                        ),
                        name="delivery_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Edit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                ("report", models.TextField()),
                ("effect", models.CharField(max_length=10)),
                ("demands", models.TextField()),
                ("trace", models.TextField()),
                ("steps", models.TextField(default="[]")),
                ("edited_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="edits",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "edited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.policyrevision",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("effect__in", ["approve", "review"])),
                        name="edit_effect_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Inspection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("report", models.TextField()),
                ("repeated", models.PositiveIntegerField()),
                ("inspected_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="inspections",
                        to="dashboard.approvalrequest",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("made_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("delivered", "Delivered"),
                            ("given_up", "Given Up"),
                            ("dropped", "Dropped"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField()),
                ("tried_at", models.DateTimeField(null=True)),
                ("said", models.CharField(blank=True, max_length=300)),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("approval.submitted", "Asks"),
                            ("approval.half_time", "Half"),
                            ("approval.last_minute", "Last Minute"),
                            ("approval.expired_unseen", "Unseen"),
                            ("hold.placed", "Held"),
                            ("hold.lifted", "Lifted"),
                            ("approval.assigned", "Assigned"),
                            ("channel.test", "Test"),
                            ("channel.code", "Code"),
                            ("passkey.added", "Passkey Added"),
                            ("passkey.confirmed", "Passkey Confirmed"),
                            ("passkey.removed", "Passkey Removed"),
                            ("factor.added", "Factor Added"),
                            ("factor.removed", "Factor Removed"),
                            ("person.password_changed", "Password Changed"),
                            ("sign_in_link.made", "Link Made"),
                            ("kept_admin.signed_in", "Kept Admin Used"),
                        ],
                        max_length=30,
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("batch", models.UUIDField(null=True)),
                (
                    "approval",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="dashboard.channel",
                    ),
                ),
            ],
            options={
                "ordering": ["-made_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["channel", "due_at"],
                        name="message_waiting",
                    ),
                    models.Index(fields=["channel", "-made_at"], name="message_newest"),
                    models.Index(fields=["made_at"], name="message_oldest"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(
                            (
                                "event__in",
                                (
                                    "hold.placed",
                                    "hold.lifted",
                                    "approval.assigned",
                                    "passkey.added",
                                    "passkey.confirmed",
                                    "passkey.removed",
                                    "factor.added",
                                    "factor.removed",
                                    "person.password_changed",
                                    "sign_in_link.made",
                                    "kept_admin.signed_in",
                                ),
                            ),
                            _negated=True,
                        ),
                        fields=("channel", "approval", "event"),
                        name="message_once_of_a_request",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(
                            (
                                "event__in",
                                (
                                    "hold.placed",
                                    "hold.lifted",
                                    "approval.assigned",
                                    "passkey.added",
                                    "passkey.confirmed",
                                    "passkey.removed",
                                    "factor.added",
                                    "factor.removed",
                                    "person.password_changed",
                                    "sign_in_link.made",
                                    "kept_admin.signed_in",
                                ),
                            )
                        ),
                        fields=("channel", "seq"),
                        name="message_once_of_an_entry",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["waiting", "delivered", "given_up", "dropped"])
                        ),
                        name="message_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "event__in",
                                [
                                    "approval.submitted",
                                    "approval.half_time",
                                    "approval.last_minute",
                                    "approval.expired_unseen",
                                    "hold.placed",
                                    "hold.lifted",
                                    "approval.assigned",
                                    "channel.test",
                                    "channel.code",
                                    "passkey.added",
                                    "passkey.confirmed",
                                    "passkey.removed",
                                    "factor.added",
                                    "factor.removed",
                                    "person.password_changed",
                                    "sign_in_link.made",
                                    "kept_admin.signed_in",
                                ],
                            )
                        ),
                        name="message_event_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NotebookPin",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pin",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "notebook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pins",
                        to="dashboard.notebook",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Outcome",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("started", "started"), ("finished", "finished")], max_length=10
                    ),
                ),
                ("idempotency_key", models.CharField(max_length=200)),
                ("report_hash", models.CharField(max_length=64)),
                ("digest", models.CharField(max_length=64)),
                ("exit_code", models.IntegerField(null=True)),
                ("error", models.TextField(blank=True)),
                ("duration_s", models.FloatField(null=True)),
                ("output_head", models.TextField(blank=True)),
                ("reported_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="outcomes",
                        to="dashboard.approvalrequest",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("approval", "state"), name="outcome_state_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["started", "finished"])),
                        name="outcome_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Poll",
            fields=[
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="poll",
                        serialize=False,
                        to="dashboard.approvalrequest",
                    ),
                ),
                ("last_polled_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Recall",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("reviewer", "reviewer"),
                            ("policy", "policy"),
                            ("grant", "grant"),
                            ("deadline", "deadline"),
                            ("agent", "agent"),
                            ("admin", "admin"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField()),
                ("taken_back_at", models.DateTimeField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="recalls",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="recall",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["seq"],
                "indexes": [models.Index(fields=["agent", "seq"], name="recall_of_agent")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ["reviewer", "admin"])),
                        name="recall_by_a_person",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Reveal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("revealed_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("approval", "person"), name="reveal_once_per_person"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ServedPart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("view", models.CharField(max_length=64)),
                ("part", models.PositiveIntegerField()),
                ("served_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("approval", "person", "view", "part"),
                        name="served_once_per_person",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Snooze",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("until", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="snoozes",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("approval", "person"), name="put_off_once_a_person"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="View",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seen_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="views",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("approval", "person"), name="view_once_per_person"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Viewing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("last_seen_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="viewings",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("approval", "person"), name="looking_once_a_person"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("run_id", models.CharField(blank=True, max_length=200)),
                ("scope", models.CharField(max_length=10)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("code", "code"),
                            ("tool_call", "tool call"),
                            ("plan", "plan"),
                            ("memory", "memory"),
                        ],
                        max_length=10,
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("tool", models.CharField(blank=True, max_length=200)),
                ("arguments", models.TextField(default="{}")),
                ("findings", models.TextField(default="{}")),
                ("content", models.TextField(blank=True)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("most_uses", models.PositiveIntegerField(null=True)),
                ("uses", models.PositiveIntegerField(default=0)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_because", models.CharField(blank=True, max_length=200)),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "edit",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to="dashboard.edit",
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "made_from",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants_made",
                        to="dashboard.approvalrequest",
                    ),
                ),
            ],
            options={
                "ordering": ["-made_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at", None)),
                        fields=["agent", "expires_at"],
                        name="grant_of_agent_by_end",
                    ),
                    models.Index(
                        condition=models.Q(("ended_at", None)),
                        fields=["expires_at"],
                        name="grant_by_end",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("scope__in", ["content", "arguments", "tool"])),
                        name="grant_scope_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("made_at"))),
                        name="grant_ends_after_it_begins",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("most_uses", None),
                            ("uses__lte", models.F("most_uses")),
                            _connector="OR",
                        ),
                        name="grant_used_no_more_often_than_said",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("edit", None),
                            models.Q(
                                ("most_uses", 1),
                                ("scope", "content"),
                                models.Q(("run_id", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="grant_of_a_replacement_is_for_once_in_its_run",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Judgement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("effect", models.CharField(max_length=10)),
                ("demands", models.TextField()),
                ("trace", models.TextField()),
                ("judged_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgements",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "inspection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.inspection",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.policyrevision",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("effect__in", ["approve", "review", "reject"])),
                        name="judgement_effect_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RequestHeadline",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("severity", models.SmallIntegerField()),
                ("has_doubts", models.BooleanField()),
                ("finding", models.CharField(blank=True, max_length=40)),
                ("facts", models.TextField()),
                (
                    "approval",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="headline",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "edit",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="headline",
                        to="dashboard.edit",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("approval", None), ("edit__isnull", False)),
                            models.Q(("approval__isnull", False), ("edit", None)),
                            _connector="OR",
                        ),
                        name="headline_of_a_request_or_an_edit",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("approved", "approved"),
                            ("rejected", "rejected"),
                            ("expired", "expired"),
                            ("cancelled", "cancelled"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("reviewer", "reviewer"),
                            ("policy", "policy"),
                            ("grant", "grant"),
                            ("deadline", "deadline"),
                            ("agent", "agent"),
                            ("admin", "admin"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("decided_at", models.DateTimeField()),
                ("digest", models.CharField(max_length=64)),
                ("valid_until", models.DateTimeField(null=True)),
                ("steps", models.TextField(default="[]")),
                ("shown", models.TextField(default="{}")),
                ("counted", models.TextField(default="[]")),
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decision",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "repeats",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.decision",
                    ),
                ),
                (
                    "edit",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="dashboard.edit",
                    ),
                ),
                (
                    "grant",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answered",
                        to="dashboard.grant",
                    ),
                ),
                (
                    "judgement",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.judgement",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["-decided_at"], name="decision_newest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("grant__isnull", False),
                                ("source", "grant"),
                                ("status", "approved"),
                            ),
                            models.Q(
                                models.Q(("source", "grant"), _negated=True),
                                ("grant__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="decision_of_a_grant_names_it",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("edit", None),
                            models.Q(("source", "reviewer"), ("status", "approved")),
                            _connector="OR",
                        ),
                        name="decision_for_an_edit_is_a_reviewers_yes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["approved", "rejected", "expired", "cancelled"])
                        ),
                        name="decision_is_final",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "source__in",
                                ["reviewer", "policy", "grant", "deadline", "agent", "admin"],
                            )
                        ),
                        name="decision_source_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "approved"), ("valid_until__isnull", False)),
                            models.Q(
                                models.Q(("status", "approved"), _negated=True),
                                ("valid_until__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="decision_valid_only_when_approved",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("source", "reviewer"), _negated=True),
                            ("decided_by__isnull", False),
                            _connector="OR",
                        ),
                        name="decision_of_a_reviewer_names_them",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JudgementGrounds",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("facts", models.TextField()),
                (
                    "edit",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grounds",
                        to="dashboard.edit",
                    ),
                ),
                (
                    "judgement",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grounds",
                        to="dashboard.judgement",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("edit__isnull", False), ("judgement", None)),
                            models.Q(("edit", None), ("judgement__isnull", False)),
                            _connector="OR",
                        ),
                        name="grounds_of_a_judgement_or_an_edit",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Vote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("reason", models.TextField(blank=True)),
                ("end_seen", models.BooleanField()),
                ("shown", models.TextField(default="{}")),
                ("voted_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="votes",
                        to="dashboard.approvalrequest",
                    ),
                ),
                (
                    "edit",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="votes",
                        to="dashboard.edit",
                    ),
                ),
                (
                    "judgement",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="dashboard.judgement",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="votes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("edit", None)),
                        fields=("approval", "person", "judgement"),
                        name="vote_once_per_judgement",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("edit__isnull", False)),
                        fields=("edit", "person", "judgement"),
                        name="vote_once_per_judgement_of_an_edit",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Signature",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("nonce", models.CharField(max_length=64, unique=True)),
                ("authenticator_data", models.TextField()),
                ("client_data", models.TextField()),
                ("value", models.TextField()),
                (
                    "passkey",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="signatures",
                        to="dashboard.passkey",
                    ),
                ),
                (
                    "vote",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="signature",
                        to="dashboard.vote",
                    ),
                ),
            ],
        ),
    ]
