"""An index by which a tool is found however the words of its name are joined."""

from django.db import migrations, models
from django.db.models import F, Value
from django.db.models.functions import Replace


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0023_addresses_that_go_on"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="tool", name="tool_by_spelling"),
        migrations.AddIndex(
            model_name="tool",
            index=models.Index(
                F("agent"),
                Replace(F("spelling"), Value("_"), Value(""), output_field=models.TextField()),
                name="tool_by_bare_spelling",
            ),
        ),
    ]
