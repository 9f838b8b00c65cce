"""The names of tools as those read them who mind no spelling, as ``spelling_of`` says today."""

import re
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
    rests = [_spelled(name[match.end() :]) for match in re.finditer(r"__|[.:/]", name)]
    return next(filter(None, reversed(rests)), _spelled(name))


def _spelled(name: str) -> str:
    humps = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip(" \t\r\n\f\v\xa0\ufeff"))
    joints = str.maketrans(dict.fromkeys("-. ", "_"))
    return unicodedata.normalize("NFKC", humps).casefold().translate(joints).strip("_:/")[:400]


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
