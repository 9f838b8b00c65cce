"""An agent that asks for things, so that a newcomer has something to answer.

``start --demo`` runs it beside the server as ``python -m dashboard.management.demo``, with
``DASHBOARD_URL`` and ``DASHBOARD_TOKEN``. It only pretends to run what is approved: nothing that
it does touches the machine. Like any agent it knows the client and nothing of the server.
"""
