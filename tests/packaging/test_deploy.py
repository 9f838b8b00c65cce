"""What stands in ``deploy/`` sets our settings, calls our commands and is locked down alike."""

import configparser
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from dashboard.management.preflight import OURS

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UID = "10001"
UNITS = sorted((DEPLOY / "systemd").iterdir())


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


@pytest.fixture(scope="module")
def manifests():
    text = (DEPLOY / "kubernetes/approvals.yaml").read_text()
    return list(yaml.safe_load_all(text))


def ours_in(compose):
    return {
        name: service
        for name, service in compose["services"].items()
        if service.get("image") == "approval-dashboard"
    }


def commands():
    return {file.stem for file in (ROOT / "dashboard/management/commands").glob("[a-z]*.py")}


def test_compose_starts_two_servers_and_a_worker_on_what_they_need(compose):
    assert set(compose["services"]) == {"proxy", "web-1", "web-2", "worker", "database", "redis"}
    assert set(ours_in(compose)) == {"web-1", "web-2", "worker"}
    assert ours_in(compose)["worker"]["command"] == ["run_worker"]


def test_our_services_are_locked_down_and_wait_for_their_database(compose):
    for service in ours_in(compose).values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["depends_on"]["database"] == {"condition": "service_healthy"}
        assert service["volumes"] == ["data:/data"]  # which one restore is for


def test_every_variable_is_a_setting(compose, manifests):
    [config] = [one for one in manifests if one["kind"] == "ConfigMap"]
    for service in ours_in(compose).values():
        assert set(service["environment"]) <= OURS
    assert set(config["data"]) <= OURS


def test_secrets_are_files_that_the_script_makes(compose, tmp_path):
    script = tmp_path / "make-secrets"
    script.write_bytes((DEPLOY / "make-secrets").read_bytes())
    made = subprocess.run(["sh", script], check=True, capture_output=True, text=True)
    again = subprocess.run(["sh", script], check=False, capture_output=True, text=True)
    folder = tmp_path / "secrets"

    assert made.stdout.startswith("Made in ")
    assert (again.returncode, "Nothing was done" in again.stderr) == (1, True)
    named = {Path(secret["file"]).name for secret in compose["secrets"].values()}
    assert {file.name for file in folder.iterdir()} == named
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    password = (folder / "database_password").read_text()
    assert (folder / "database_url").read_text().split(":")[2].startswith(f"{password}@")
    assert all(len(file.read_text()) >= 48 for file in folder.iterdir())


def test_the_script_can_be_run():
    assert os.access(DEPLOY / "make-secrets", os.X_OK)


def test_the_image_is_not_root_and_keeps_its_data_in_one_place(compose):
    text = (ROOT / "Containerfile").read_text()

    assert f"USER {UID}:{UID}" in text
    assert "DASHBOARD_DATA_DIR=/data" in text
    assert "HEALTHCHECK" in text
    assert re.search(
        r'^CMD \["start", "--unattended", "--host", "0\.0\.0\.0"\]$', text, re.MULTILINE
    )


def test_the_manifests_are_locked_down_and_watched(manifests):
    workloads = [one for one in manifests if one["kind"] == "Deployment"]
    assert len(workloads) == 2
    for workload in workloads:
        pod = workload["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsUser"] == int(UID)
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        assert mounts == {volume["name"] for volume in pod["volumes"]}
    probes = workloads[0]["spec"]["template"]["spec"]["containers"][0]
    assert probes["livenessProbe"]["httpGet"]["path"] == "/healthz"
    # What keeps one server from approving keeps all: without pages nobody would learn why.
    assert probes["readinessProbe"]["httpGet"]["path"] == "/healthz"
    assert "health_uri /healthz" in (DEPLOY / "Caddyfile").read_text()


def test_no_secret_goes_into_the_image_or_to_who_builds_it():
    ignored = (ROOT / ".dockerignore").read_text().split()

    assert {"deploy/secrets", "var", ".git"} <= set(ignored)


def test_servers_as_services_print_nothing_that_signs_in():
    assert "start --unattended --fd 3" in (DEPLOY / "systemd/approvals@.service").read_text()


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_a_unit_calls_a_command_of_ours(file):
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(file.read_text())
    called = re.findall(r"approval-dashboard (\w+)", unit.get("Service", "ExecStart", fallback=""))

    assert set(called) <= commands()
    if file.suffix == ".service":
        assert called
        locked = ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome")
        assert [unit["Service"][name] for name in locked] == ["yes"] * len(locked)
        assert unit["Service"]["ProtectSystem"] == "strict"
        assert unit["Unit"]["After"].startswith("network-online.target postgresql.service")
