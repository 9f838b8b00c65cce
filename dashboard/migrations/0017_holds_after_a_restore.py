from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0016_traces"),
    ]

    operations = [
        migrations.AddField(
            model_name="hold",
            name="must_confirm",
            field=models.BooleanField(db_default=models.Value(value=False), default=False),
        ),
    ]
