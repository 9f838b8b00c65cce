from __future__ import annotations

from django.conf import settings
from django.db import migrations, models
from django.db.models import PROTECT, Q, Value

_SOURCES = ["reviewer", "policy", "grant", "deadline", "agent", "admin"]


class Migration(migrations.Migration):
    """Keep which approvals were taken back before they were started, and tell hosts of it."""

    dependencies = [
        ("dashboard", "0007_verifications_compare_the_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Recall",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=PROTECT, related_name="recall", to="dashboard.approvalrequest"
                    ),
                ),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=PROTECT,
                        related_name="recalls",
                        to="dashboard.agent",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[(word, word) for word in _SOURCES],
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField()),
                ("taken_back_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["seq"],
                "indexes": [models.Index(fields=["agent", "seq"], name="recall_of_agent")],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(source__in=["reviewer", "admin"]), name="recall_by_a_person"
                    )
                ],
            },
        ),
        migrations.RemoveConstraint(model_name="delivery", name="delivery_once_for_each_request"),
        migrations.AddField(
            model_name="delivery",
            name="taken_back",
            field=models.BooleanField(db_default=Value(value=False), default=False),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                fields=["webhook", "approval", "taken_back"], name="delivery_once_for_each_change"
            ),
        ),
    ]
