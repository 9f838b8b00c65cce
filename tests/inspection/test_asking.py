"""Programs and tools that ask services, and what is asked to run without a protection."""

import json
import time

import pytest

from approval_client.wire import Kind
from dashboard.inspection.arguments import about_call
from dashboard.inspection.code import inspect_code
from dashboard.inspection.inspector import inspect_content


def grave(script, language="bash"):
    """The findings of a script above network and low severity."""
    found = inspect_code(script, language)
    return {f"{f.severity}:{f.name}" for f in found if f.severity in {"high", "medium"}} - {
        "medium:network"
    }


def names_of(tool, arguments):
    report = inspect_content(Kind.TOOL_CALL, {"tool": tool, "arguments": arguments})
    return {f"{finding.severity}:{finding.name}" for finding in report.findings}


@pytest.mark.parametrize(
    "command",
    [
        "aws s3 rb s3://b --force",
        "aws --cli-connect-timeout 0 ec2 terminate-instances --instance-ids i-1",
        "aws --color off s3 rm s3://b --recursive",
        "aws logs delete-log-group --log-group-name x",
        "aws kms schedule-key-deletion --key-id x",
        "aws s3 sync . s3://b --delete",
        "aws s3 rm s3://b --recursive help",
        "rclone --transfers 4 purge remote:b",
        "rclone sync a remote:b",
        "gsutil -h x:y rm -r gs://b",
        "gsutil rsync -d a gs://b",
        "gsutil rm gs://b/a help",
        "gcloud --verbosity auth compute instances delete vm -q",
        "gcloud run services delete x",
        "gcloud projects delete p",
        "gcloud beta run services delete x",
        "gcloud logging logs delete L",
        "oci logging log delete --log-id x",
        "az group delete -n x --yes",
        "gh -R a/b repo delete --yes",
        "gh run delete 1",
        "heroku apps:destroy x",
        "aliyun ecs DeleteInstance --InstanceId x",
        "vault kv metadata delete secret/a",
        "pulumi down -y",
        "s3cmd --access_key k del s3://b/x",
    ],
)
def test_a_program_of_a_cloud_that_deletes_is_grave(command):
    assert grave(command) == {"high:system-change"}


@pytest.mark.parametrize(
    "command",
    [
        "aws s3 ls s3://delete-me",
        "aws s3 rm help",
        "aws lambda invoke --function-name remove-user out.json",
        "gcloud functions deploy delete-user --runtime python311",
        "gcloud run deploy clear-cache --source .",
        "gcloud compute ssh destroy-vm",
        "az vm show -g rg -n delete-vm",
        "az functionapp create --name purge-worker -g rg",
        "gh pr list --search delete",
        "gh auth logout",
        "argocd app sync down-detector",
        "wrangler d1 execute clear-db --command 'select 1'",
        "rclone purge --help",
        "aws s3 rm --dryrun s3://b",
        "firebase deploy --only functions:deleteUser",
        "sls invoke -f deleteUser",
        "wrangler tail remove-worker",
        "gcloud container clusters get-credentials purge-me",
        "aliyun ecs DescribeInstances",
        "grep -rn -e --yolo src",
        "/etc/passwd",
    ],
)
def test_a_name_is_no_verb(command):
    assert grave(command) - {"medium:process-execution"} == set()


@pytest.mark.parametrize("command", ['aws s3 "$VERB" s3://b', "aws $OPTIONS s3 ls"])
def test_a_verb_that_is_computed_is_a_doubt(command):
    assert grave(command) == {"medium:cannot-be-followed"}


@pytest.mark.parametrize(
    "command",
    [
        "curl -X DELETE https://x.example/1",
        "curl --request=DELETE https://x.example/1",
        "http -v DELETE https://x.example/1",
        "xh delete https://x.example/1",
        "curl -H 'X-HTTP-Method-Override: DELETE' https://x.example/1",
        "gh api --method DELETE repos/a/b",
    ],
)
def test_a_request_that_deletes_is_told(command):
    assert grave(command) == {"medium:unknown-call"}


def test_letters_before_the_method_hide_nothing():
    assert "medium:unknown-call" in grave("curl -sXDELETE https://x.example/1")


@pytest.mark.parametrize(
    "command",
    [
        "claude --dangerously-skip-permissions -p x",
        "claude --permission-mode bypassPermissions -p x",
        "codex exec --sandbox danger-full-access x",
        "gemini --approval-mode=yolo -p x",
    ],
)
def test_an_agent_that_asks_nobody_is_grave(command):
    assert grave(command) == {"high:privilege-change"}


@pytest.mark.parametrize(
    ("command", "finding"),
    [
        ("cd .github && echo x > workflows/ci.yml", "high:file-write"),
        ("cd .git/hooks && echo x > pre-commit", "high:system-change"),
        ("cp ci.yml .github/workflows/", "high:file-write"),
        ("/srv/etc/rm -rf /home/u", "high:recursive-delete"),
        ("/etc/sh -c 'rm -rf /'", "high:recursive-delete"),
    ],
)
def test_a_place_is_seen_from_the_folder(command, finding):
    assert finding in grave(command)


@pytest.mark.parametrize(
    ("tool", "arguments", "finding"),
    [
        ("edit_file", {"mode": "delete", "path": "/x"}, "high:file-delete"),
        (
            "apply_patch",
            {"patch": "diff --git a/x b/x\ndeleted file mode 100644\n"},
            "high:file-delete",
        ),
        (
            "apply_patch",
            {"patch": "diff --git a/x b/y\nrename to .git/hooks/pre-commit\n"},
            "high:system-change",
        ),
        ("Bash", {"command": "ls", "dangerouslyDisableSandbox": "1"}, "high:privilege-change"),
        (
            "shell",
            {"command": "ls", "sandbox_permissions": "require_escalated"},
            "high:privilege-change",
        ),
        ("run", {"code": "print(1)", "sandbox": False}, "high:privilege-change"),
        ("docker_run", {"volumes": {"/": {"bind": "/h"}}}, "high:privilege-change"),
        ("docker_run", {"mounts": [{"Source": "/./", "Target": "/h"}]}, "high:privilege-change"),
        ("docker_run", {"mounts": ["type=bind,source=/,target=/h"]}, "high:privilege-change"),
        ("docker_run", {"network": "host"}, "high:privilege-change"),
        ("docker_run", {"cap_add": ["SYS_ADMIN"]}, "high:privilege-change"),
        ("x", {"url": "/x", "headers": ["X-HTTP-Method-Override: DELETE"]}, "medium:unknown-call"),
        ("http", {"method": "POST", "url": "https://x/batchDelete"}, "medium:unknown-call"),
        ("http", {"method": "POST", "url": "https://x/users/1:delete"}, "medium:unknown-call"),
        ("aggregate", {"stages": [{"$out": "x"}]}, "medium:sql-write"),
        ("aggregate", {"pipeline": r'[{"\u0024out": "x"}]'}, "medium:sql-write"),
        ("Write", {"content": '{"scripts": {"p": "rm -rf /"}}'}, "high:recursive-delete"),
        ("Write", {"content": '{"hooks": [{"a": "rm -rf /"}]}'}, "high:recursive-delete"),
        ("browser_evaluate", {"function": "() => document.title"}, "medium:not-inspected"),
    ],
)
def test_what_a_tool_is_asked_is_found(tool, arguments, finding):
    assert finding in names_of(tool, arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("voice", {"voice_command": "Don't turn off the lights"}),
        ("salesforce_query", {"query": "select 1", "sandbox": False}),
        ("write_doc", {"note": "# privileged: true must never be set\nprivileged: false"}),
        ("container_list", {"volumes": "/"}),
        ("commit", {"path": "/opt/repo", "message": "x"}),
        ("api", {"method": "post", "path": "/v1/remove-background"}),
        ("api", {"method": "put", "path": "src/utils/remove.ts"}),
        ("mongodb_find", {"filter": {"text": "$where: x"}}),
        ("calculator", {"expression": "f(x) => x+1"}),
        ("create_coupon", {"code": "SAVE10", "sandbox": False}),
        ("send", {"body": '{"a": [' + '"Hello", ' * 300 + '"Shutdown server"]}'}),
    ],
)
def test_what_reads_like_something_grave_is_left_alone(tool, arguments):
    assert names_of(tool, arguments) == set()


def test_a_patch_is_told_on_the_lines_that_say_what_it_does():
    patch = (
        "*** Begin Patch\n*** Delete File: a.py\n*** Update File: .envrc\n@@\n+x\n*** End Patch"
    )
    report = inspect_content(
        Kind.TOOL_CALL, {"tool": "apply_patch", "arguments": {"input": patch}}
    )

    assert [(f.name, f.block, f.line) for f in report.findings] == [
        ("file-delete", 1, 2),
        ("file-write", 1, 3),
    ]


@pytest.mark.parametrize(
    "path", ["/r/.claude/worktrees/w/src/a.py", ".claude/plans/a.md", "src/AGENTS.py"]
)
def test_a_file_beside_settings_is_a_file(path):
    assert names_of("Edit", {"file_path": path, "new_string": "b"}) == {"low:file-write"}


def test_a_command_beside_a_path_is_read_where_no_editor_takes_it():
    assert "low:unknown-call" in names_of("x", {"command": "create", "path": "notes"})


@pytest.mark.parametrize(
    "script",
    [
        "import shutil\nshutil.copytree(src='/opt/app', dst='backup')",
        "import shutil\nshutil.make_archive('b', 'zip', '/etc')",
        "import shutil\nshutil.copyfileobj(open('/etc/hosts', 'rb'), open('x', 'wb'))",
        "from PIL import Image\nImage.open('/usr/share/x.png').save('y.png')",
        "from pathlib import Path\nPath('l').symlink_to('/etc/nginx')",
        "def a():\n  p = '/etc/hosts'\n  return open(p).read()\ndef b(p):\n  open(p, 'w')",
        "open('.claude/worktrees/w/a.py', 'w')",
        "open('../lib/out.js', 'w')",
    ],
)
def test_python_that_reads_a_place_does_not_write_it(script):
    assert grave(script, "python") == {"medium:file-write"}


@pytest.mark.parametrize(
    "script",
    [
        "import requests\nrequests.request(method='DELETE', url='https://x.example')",
        "import boto3\nboto3.resource('s3').Bucket('x').objects.all().delete()",
        "import urllib.request as r\nr.urlopen(r.Request('https://x.example', method='DELETE'))",
        "from pymongo import MongoClient\nMongoClient().drop_database('x')",
    ],
)
def test_python_that_asks_a_service_to_delete_is_told(script):
    assert grave(script, "python") == {"medium:unknown-call"}


@pytest.mark.parametrize(
    "text",
    [
        "--- a\n" * 60_000,
        "*** Move to:" * 30_000,
        "(" * 400_000,
        "x=>" * 130_000,
        f"*** Add File:{' ' * 200_000}{'a' * 200_000}",
        "function" + " " * 400_000,
        "function " * 44_000,
    ],
)
def test_hostile_texts_are_read_in_linear_time(text):
    began = time.process_time()
    about_call("apply_patch", {"patch": f"--- a\n{text}", "function": text, "volumes": text})

    assert time.process_time() - began < 2


def test_many_names_of_files_are_read_in_linear_time():
    script = "\n".join(f"a{n} = b{n}\nopen(a{n}, 'w')" for n in range(2_000))
    began = time.process_time()
    inspect_code(script, "python")

    assert time.process_time() - began < 3


def test_python_that_writes_instructions_says_so():
    found = inspect_code("open('AGENTS.md', 'w').write('x')", "python")

    assert [(f.name, f.code) for f in found] == [("file-write", "writes-instructions")]


@pytest.mark.parametrize(
    "content",
    [
        '{"n": %s, "scripts": {"p": "rm -rf /"}}' % ("9" * 5_000),
        json.dumps({"scripts": {**{f"a{n}": "ls" for n in range(300)}, "z": "rm -rf /"}}),
    ],
)
def test_nothing_beside_a_script_keeps_it_from_being_read(content):
    arguments = {"file_path": "package.json", "content": content}

    assert "high:recursive-delete" in names_of("Write", arguments)


def test_json_that_is_nested_deep_ends_no_inspection():
    text = '{"scripts": ' * 900 + '"rm -rf /"' + "}" * 900

    assert "low:file-write" in names_of("Write", {"file_path": "package.json", "content": text})


@pytest.mark.parametrize("pair", ["-x delete ", "-x sync ", "-x list ", "-x y "])
def test_options_without_end_are_read_in_linear_time_and_are_a_doubt(pair):
    began = time.process_time()
    found = grave(f"aws {pair * 20_000}")

    assert time.process_time() - began < 4
    assert "medium:cannot-be-followed" in found


def test_a_path_in_quotes_is_read_in_a_patch():
    patch = '--- a/x\n+++ "b/.envrc"\n@@ @@\n+x'

    assert "high:file-write" in names_of("apply_patch", {"patch": patch})
