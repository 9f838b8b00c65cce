from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import migrations, models
from django.db.models import PROTECT, Q, Value


def take_the_time(_: Any, schema_editor: Any) -> None:
    """An index over millions of rows takes longer than a request may."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET LOCAL statement_timeout = 0")


class Migration(migrations.Migration):
    """Have what is asked again and again cost the same, however much is kept."""

    dependencies = [
        ("dashboard", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(take_the_time, migrations.RunPython.noop),
        migrations.AddField(
            model_name="approvalrequest",
            name="judged_under",
            field=models.BigIntegerField(db_default=Value(0), null=True),
        ),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(
                condition=Q(status="pending"),
                fields=["judged_under", "submitted_at"],
                name="approval_judged_under",
            ),
        ),
        migrations.RemoveIndex(model_name="grant", name="grant_in_force_of_agent"),
        migrations.AddIndex(
            model_name="grant",
            index=models.Index(
                condition=Q(ended_at=None),
                fields=["agent", "expires_at"],
                name="grant_of_agent_by_end",
            ),
        ),
        migrations.AddIndex(
            model_name="grant",
            index=models.Index(
                condition=Q(ended_at=None), fields=["expires_at"], name="grant_by_end"
            ),
        ),
        migrations.AlterField(
            model_name="grant",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                on_delete=PROTECT,
                related_name="grants",
                to="dashboard.agent",
            ),
        ),
        migrations.AlterField(
            model_name="vote",
            name="edit",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=PROTECT,
                related_name="votes",
                to="dashboard.edit",
            ),
        ),
        migrations.AlterField(
            model_name="vote",
            name="person",
            field=models.ForeignKey(
                db_index=False,
                on_delete=PROTECT,
                related_name="votes",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(fields=["-decided_at"], name="decision_newest"),
        ),
    ]
