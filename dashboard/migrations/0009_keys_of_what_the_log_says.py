from __future__ import annotations

from django.db import migrations, models
from django.db.models import Value


class Migration(migrations.Migration):
    """Give each request a key with which the log names its rows, so that it gives nothing away."""

    dependencies = [
        ("dashboard", "0008_approvals_that_are_taken_back"),
    ]

    operations = [
        migrations.AddField(
            model_name="approvalrequest",
            name="log_key",
            field=models.CharField(db_default=Value(""), max_length=64, null=True),
        ),
    ]
