"""The names of tools as those read them who mind no spelling, as ``spelling_of`` says today."""

import unicodedata

from django.db import migrations, models
from django.db.migrations.state import StateApps


def fill(apps: StateApps, _: object) -> None:
    """Write down how each tool's name is read."""
    tools = apps.get_model("dashboard", "Tool").objects
    for tool in tools.only("name").iterator():
        tool.spelling = _spelling(tool.name)
        tool.save(update_fields=["spelling"])


def _spelling(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold().strip()
    is_of_server = folded.startswith("mcp__") and folded.count("__") > 1
    return folded.split("__", 2)[2] if is_of_server else folded


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0021_account_notices"),
    ]

    operations = [
        migrations.AddField(
            model_name="tool",
            name="spelling",
            field=models.TextField(default=""),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="tool",
            index=models.Index(fields=["agent", "spelling"], name="tool_by_spelling"),
        ),
    ]
