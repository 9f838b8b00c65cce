from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0015_clock_of_the_log"),
    ]

    operations = [
        migrations.AddField(
            model_name="approvalrequest",
            name="traceparent",
            field=models.CharField(max_length=55, null=True),
        ),
    ]
