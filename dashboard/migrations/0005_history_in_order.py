from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import PROTECT


def take_the_time(_: Any, schema_editor: Any) -> None:
    """An index over millions of rows takes longer than a request may."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET LOCAL statement_timeout = 0")


def drop_the_index_of_the_agent(_: Any, schema_editor: Any) -> None:
    """Drop it by itself: ``AlterField`` would have SQLite copy the whole table."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "dashboard_approvalrequest")
    for name, constraint in found.items():
        if constraint["index"] and constraint["columns"] == ["agent_id"]:
            schema_editor.execute(f"DROP INDEX {connection.ops.quote_name(name)}")


def make_the_index_of_the_agent(apps: Any, schema_editor: Any) -> None:
    """Put it back."""
    model = apps.get_model("dashboard", "ApprovalRequest")
    schema_editor.add_index(model, models.Index(fields=["agent"], name="approval_of_agent"))


class Migration(migrations.Migration):
    """Have each page of the history cost the same, however much is kept."""

    dependencies = [
        ("dashboard", "0004_verifications"),
    ]

    operations = [
        migrations.RunPython(take_the_time, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="approvalrequest", name="approval_newest"),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(fields=["-submitted_at", "-id"], name="approval_in_order"),
        ),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(
                fields=["agent", "-submitted_at", "-id"], name="approval_of_agent_in_order"
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(drop_the_index_of_the_agent, make_the_index_of_the_agent)
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="approvalrequest",
                    name="agent",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=PROTECT,
                        related_name="approvals",
                        to="dashboard.agent",
                    ),
                )
            ],
        ),
    ]
