"""Django's SQLite, whose writers in one process take turns. ``base`` is what Django loads."""
