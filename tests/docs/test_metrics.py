"""Every figure has a line in the manual, and what is drawn or alarmed of exists."""

import json
import re

import pytest
import yaml

from dashboard.approvals.queries.figures import Tally
from dashboard.metrics import REGISTRY
from dashboard.web.metrics import _of_process, of_database
from tests.docs.reading import ROOT

NAME = re.compile(r"\bapprovals_[a-z_]+")
SUFFIX = re.compile(r"_(bucket|count|sum|total|created)$")
SOMETIMES = {
    "approvals_backup_timestamp_seconds",
    "approvals_database_pool",
    "approvals_log_verified_timestamp_seconds",
}


@pytest.fixture
def told(db):
    """The names of all figures, without what Prometheus adds to them."""
    of_process = NAME.findall(_of_process().decode())
    names = {family.name for family in [*of_database(Tally()), *REGISTRY.collect()]}
    names = {SUFFIX.sub("", name) for name in [*names, *of_process]}
    return {name for name in names if name.startswith("approvals_")} | SOMETIMES


def named_in(text):
    return {SUFFIX.sub("", name) for name in NAME.findall(text)}


def test_every_figure_has_a_line(told):
    manual = (ROOT / "docs/operating.md").read_text()
    rows = "\n".join(re.findall(r"^\| `approvals_.*$", manual, re.MULTILINE))

    assert named_in(rows) == told


def test_every_alert_is_of_a_figure(told):
    groups = yaml.safe_load((ROOT / "deploy/prometheus-alerts.yaml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]

    assert named_in(" ".join(rule["expr"] for rule in rules)) <= told
    assert {rule["labels"]["severity"] for rule in rules} == {"warning", "critical"}


def test_every_panel_is_of_a_figure(told):
    dashboard = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())
    targets = [target for panel in dashboard["panels"] for target in panel["targets"]]

    assert named_in(" ".join(target["expr"] for target in targets)) <= told
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
