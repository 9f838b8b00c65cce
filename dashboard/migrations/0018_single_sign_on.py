import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0017_holds_after_a_restore"),
    ]

    operations = [
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
    ]
