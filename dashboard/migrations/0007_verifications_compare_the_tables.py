from __future__ import annotations

from django.db import migrations, models
from django.db.models import Value


class Migration(migrations.Migration):
    """Keep how far a verification has compared the tables with the log."""

    dependencies = [
        ("dashboard", "0006_sums_of_the_insight"),
    ]

    operations = [
        migrations.AddField(
            model_name="auditverification",
            name="place",
            field=models.CharField(blank=True, db_default=Value(""), default="", max_length=100),
        ),
        migrations.AddField(
            model_name="auditverification",
            name="compared",
            field=models.BigIntegerField(db_default=Value(0), default=0),
        ),
        migrations.AddField(
            model_name="auditverification",
            name="to_compare",
            field=models.BigIntegerField(db_default=Value(0), default=0),
        ),
    ]
