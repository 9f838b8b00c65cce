from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import Q


def take_the_time(_: Any, schema_editor: Any) -> None:
    """An index over millions of rows takes longer than a request may."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET LOCAL statement_timeout = 0")


class Migration(migrations.Migration):
    """Keep sums for the insight page. The sweep fills them, with all that was ever closed too."""

    dependencies = [
        ("dashboard", "0005_history_in_order"),
    ]

    operations = [
        migrations.RunPython(take_the_time, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="approvalrequest", name="approval_same_content"),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(fields=["digest", "agent"], name="approval_of_content"),
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
                    models.CheckConstraint(condition=Q(pk=1), name="insight_head_is_one_row")
                ],
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
    ]
