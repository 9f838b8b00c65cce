"""``rm -rf`` in every spelling, and other ways to lose files."""

import pytest

from dashboard.inspection.code import inspect_shell
from dashboard.inspection.findings import Severity


def names(script):
    return {finding.name for finding in inspect_shell(script)}


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf /",
        "rm -fr /",
        "rm -r -f /",
        "rm -R /data",
        "rm -vfR /data",
        "rm / -rf",
        "rm --recursive --force /",
        "rm --rec /data",
        "rm -rf --no-preserve-root /",
        "rm -rf -- /data",
        "rm -rf $HOME",
        'rm -rf "${HOME:?}/"',
        "rm -rf $UNKNOWN/*",
        "rm -rf ./*",
        "rm -rf /data/{a,b}",
        "RM -rf /data",
        "/bin/rm -rf /data",
        "../../bin/rm -rf /data",
    ],
)
def test_rm_of_folders_is_found_however_its_flags_are_written(script):
    assert "recursive-delete" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        '"rm" -rf /data',
        "'rm' '-rf' /data",
        r"\rm -rf /data",
        r"r\m -rf /data",
        "r''m -rf /data",
        'r"m" -rf /data',
        r"$'\x72\155' -rf /data",
        '$"rm" -rf /data',
        "rm\\\n -rf /data",
        "r\\\nm -rf /data",
        "rm\t-rf\t/data",
        "2>/dev/null rm -rf /data",
        "rm >/dev/null -rf /data",
        "A=1 rm -rf /data",
        "! rm -rf /data",
        "time -p rm -rf /data",
        "$(echo rm) -rf /data",
        "/bin/r? -rf /data",
    ],
)
def test_rm_is_found_in_disguise(script):
    assert "recursive-delete" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "c=rm; $c -rf /data",
        "c='rm -rf /data'; $c",
        'f="-rf"; rm $f /data',
        "a=r; b=m; $a$b -rf /data",
        "rm${IFS}-rf${IFS}/data",
        "for c in rm; do $c -rf /data; done",
        "c=ls; c=rm; $c -rf /data",
        "alias x='rm -rf'; x /data",
        "f() { rm -rf $1; }; f /data",
        "function f { rm -rf $1; }; f /data",
    ],
)
def test_rm_is_found_under_a_name_that_the_script_gives_it(script):
    assert "recursive-delete" in names(script)


@pytest.mark.parametrize(
    "wrapper",
    [
        "command",
        "builtin command",
        "exec",
        "exec -a ls",
        "env",
        "env -i A=1",
        "sudo",
        "sudo -u root --",
        "doas",
        "nohup",
        "setsid -f",
        "timeout -k 1 5",
        "nice -n 10",
        "ionice -c 3",
        "stdbuf -oL",
        "watch -n 1",
        "busybox",
        "xargs -n 1",
        "ls | xargs -I{}",
        "flock /tmp/lock",
        "chroot /mnt",
        "parallel",
        "systemd-run --user",
        "docker exec web",
        "find . -exec",
        "sudo nice nohup timeout 5",
    ],
)
def test_rm_is_found_behind_a_command_that_starts_it(wrapper):
    assert "recursive-delete" in names(f"{wrapper} rm -rf /data")


@pytest.mark.parametrize(
    "script",
    [
        "echo $(rm -rf /data)",
        "echo `rm -rf /data`",
        'echo "$(echo "$(rm -rf /data)")"',
        "diff <(rm -rf /data) x",
        "cat <<EOF\n$(rm -rf /data)\nEOF",
        ': "${x:=$(rm -rf /data)}"',
        "[[ -n $(rm -rf /data) ]]",
        "a[$(rm -rf /data)]=1",
        "case $(rm -rf /data) in x) ;; esac",
        "(rm -rf /data)",
        "{ rm -rf /data; }",
        "true && rm -rf /data || true",
        "if true; then rm -rf /data; fi",
        "while rm -rf /data; do :; done",
        "case x in *) rm -rf /data;; esac",
        "trap 'rm -rf /data' EXIT",
        "coproc rm -rf /data",
    ],
)
def test_rm_is_found_wherever_a_command_can_stand(script):
    assert "recursive-delete" in names(script)


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("rm x", "file-delete"),
        ("unlink x", "file-delete"),
        ("shred -u x", "file-delete"),
        ("mv x /dev/null", "file-delete"),
        ("git clean -fd", "file-delete"),
        ("git checkout -- .", "file-delete"),
        ("find . -name x -delete", "recursive-delete"),
        ("rsync -a --delete empty/ data/", "recursive-delete"),
        ("truncate -s 0 x", "file-write"),
        ("dd if=/dev/zero of=/dev/sda", "disk-write"),
        ("cat x > /dev/nvme0n1", "disk-write"),
        ("wipefs -a /dev/sdb", "disk-write"),
        ("mkfs.ext4 /dev/sdb", "system-change"),
    ],
)
def test_other_ways_to_lose_data_are_high(script, name):
    found = [(finding.name, finding.severity) for finding in inspect_shell(script)]
    assert (name, Severity.HIGH) in found


@pytest.mark.parametrize(
    "script",
    [
        "echo 'rm -rf /'",
        "# rm -rf /",
        "grep -rn 'rm -rf' .",
        "man rm",
        "which rm",
        "command -v rm",
        "cat <<'EOF'\nrm -rf /\nEOF",
        "git log --grep='rm -rf'",
        "rm --help",
    ],
)
def test_to_speak_of_rm_deletes_nothing(script):
    assert not {"recursive-delete", "file-delete"} & names(script)


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ('usql sqlite:x.db -c "drop table users"', "sql-drop"),
        ('dolt sql -q "select * from t; drop table t"', "sql-drop"),
        ('cockroach sql --execute="drop database prod"', "sql-drop"),
        ('turso db shell mydb "with a as (select 1) delete from users"', "sql-without-where"),
        ('echo "delete from users" | usql db', "sql-without-where"),
        ("cockroach sql <<EOF\ndrop table x;\nEOF", "sql-drop"),
        ('wrangler d1 execute db --command="DELETE FROM users"', "sql-without-where"),
        ('aws rds-data execute-statement --sql "DROP TABLE x"', "sql-drop"),
        ('supabase db execute "drop table x"', "sql-drop"),
        ('usql x -c "drop table $(cat name) cascade"', "sql-drop"),
        ('pgcli -c "drop table x"', "sql-drop"),
        ('litecli x.db -e "drop table x"', "sql-drop"),
        ('snowsql -q "drop table x"', "sql-drop"),
        ('beeline -e "drop table x"', "sql-drop"),
        ('spark-sql -e "drop table x"', "sql-drop"),
        ('impala-shell -q "drop table x"', "sql-drop"),
    ],
)
def test_a_statement_is_read_whatever_client_it_is_for(script, name):
    found = [(finding.name, finding.severity) for finding in inspect_shell(script)]
    assert (name, Severity.HIGH) in found


@pytest.mark.parametrize(
    "script",
    [
        'usql x -c "select 1"',
        'mytool --title "Create table of contents"',
        'mytool "update your settings"',
        'git commit -m "drop table support"',
        'echo "drop table users"',
        'grep -rn "delete from" .',
    ],
)
def test_what_changes_no_table_is_no_statement(script):
    assert not {name for name in names(script) if name.startswith("sql-")}


@pytest.mark.parametrize(
    "script",
    [
        "lure removerepo -n x",
        "cli53 rrdelete example.com www A",
        "elastic-users userdel x",
        "rmvirtualenv work",
        "rdfind -deleteduplicates true .",
        "qm delsnapshot 100 x",
        "tye undeploy",
    ],
)
def test_a_verb_of_deleting_is_found_with_its_object_in_one_word(script):
    assert "medium" in [str(f.severity) for f in inspect_shell(script) if f.name == "unknown-call"]


@pytest.mark.parametrize(
    "script",
    ["tool list-removed", "tool removable", "tool undelete x", "tool delta x", "tool --no-delete"],
)
def test_a_word_that_only_sounds_like_deleting_is_none(script):
    assert [str(finding.severity) for finding in inspect_shell(script)] == ["low"]
