from typing import Any

from django.db import migrations, models


def take_the_last_entry(apps: Any, _: Any) -> None:
    """The log goes on from the moment of its last entry."""
    entries = apps.get_model("dashboard", "AuditEntry").objects.order_by("-seq")
    heads = apps.get_model("dashboard", "AuditHead").objects
    if last := entries.first():
        heads.filter(pk=1).update(latest_at=last.at)


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0014_classes_of_tools"),
    ]

    operations = [
        migrations.AddField(
            model_name="audithead",
            name="latest_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(take_the_last_entry, migrations.RunPython.noop, elidable=True),
    ]
