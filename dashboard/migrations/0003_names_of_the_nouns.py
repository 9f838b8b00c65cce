from __future__ import annotations

from django.conf import settings
from django.db import migrations, models
from django.db.models import PROTECT


def _person(**more: object) -> models.ForeignKey:
    return models.ForeignKey(on_delete=PROTECT, to=settings.AUTH_USER_MODEL, **more)


def _approval(**more: object) -> models.ForeignKey:
    return models.ForeignKey(on_delete=PROTECT, to="dashboard.approvalrequest", **more)


class Migration(migrations.Migration):
    """Name tables as the code and the pages do. Rows, constraints and indexes stay as they are."""

    dependencies = [
        ("dashboard", "0002_plans_that_do_not_grow"),
    ]

    operations = [
        migrations.RenameModel(old_name="Claim", new_name="Assignment"),
        migrations.RenameField(
            model_name="assignment", old_name="claimed_at", new_name="assigned_at"
        ),
        migrations.RenameModel(old_name="PutOff", new_name="Snooze"),
        migrations.RenameModel(old_name="Looking", new_name="Viewing"),
        # Names on the other side, which no database knows.
        migrations.AlterField(
            model_name="assignment",
            name="approval",
            field=models.OneToOneField(
                on_delete=PROTECT,
                primary_key=True,
                related_name="assignment",
                serialize=False,
                to="dashboard.approvalrequest",
            ),
        ),
        migrations.AlterField(
            model_name="assignment", name="person", field=_person(related_name="assignments")
        ),
        migrations.AlterField(
            model_name="snooze", name="approval", field=_approval(related_name="snoozes")
        ),
        migrations.AlterField(
            model_name="viewing", name="approval", field=_approval(related_name="viewings")
        ),
    ]
