from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Keep how far a verification of the audit log came, so that pages can show it."""

    dependencies = [
        ("dashboard", "0003_names_of_the_nouns"),
    ]

    operations = [
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
                ("ended_at", models.DateTimeField(null=True)),
                ("problem", models.CharField(blank=True, max_length=300)),
            ],
            options={"ordering": ["id"]},
        ),
    ]
