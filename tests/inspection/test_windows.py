"""Commands of Windows: dangers that are known, wherever they stand, and the standing doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.inspection.findings import Severity
from dashboard.inspection.windows import inspect_windows


def names(text):
    return {finding.name for finding in inspect_windows(text)}


@pytest.mark.parametrize("text", ["dir", "Get-ChildItem", "anything at all"])
def test_nothing_of_windows_is_vouched_for(text):
    found = [(f.name, f.severity, f.is_doubt) for f in inspect_windows(text)]
    assert found == [("not-inspected", Severity.HIGH, True)]


def test_nothing_at_all_is_no_finding():
    assert inspect_windows(" \n ") == []


@pytest.mark.parametrize(
    "text",
    [
        "del /f /s /q C:\\data",
        "DEL /S C:\\data",
        "erase /s x",
        "rd /s /q C:\\data",
        "@rd /s /q C:\\data",
        "rd/s/q C:\\data",
        "(rd /s /q C:\\data)",
        "d^e^l /s /q C:\\data",
        'r"d" /s x',
        "cmd.exe /c rd /s /q x",
        "C:\\Windows\\System32\\cmd.exe /c rd /s x",
        "for /d %i in (*) do rd /s %i",
        "Remove-Item -Recurse -Force x",
        "Re`move-It`em -Rec x",
        "ri -r x",
        "rEmOvE-iTeM -rEcUrSe x",
        "Remove-Item `\n  -Recurse x",
        "gci | ri -Force",
        "[IO.Directory]::Delete('x', $true)",
        "robocopy a b /mir",
        "vssadmin delete shadows /all",
        "format C: /q",
    ],
)
def test_to_delete_folders_is_found_however_it_is_written(text):
    assert "recursive-delete" in names(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("del x", "file-delete"),
        ("[IO.File]::Delete('x')", "file-delete"),
        ("Clear-Disk -Number 1", "disk-write"),
        ("diskpart /s x", "disk-write"),
        ("reg delete HKLM\\x", "system-change"),
        ("shutdown /s", "system-change"),
        ("format D: /q", "system-change"),
        ("sc stop x", "system-change"),
        ("iex (iwr http://x)", "pipe-to-shell"),
        ("(New-Object Net.WebClient).DownloadString('x') | iex", "pipe-to-shell"),
        ("iex $x", "dynamic-code"),
        ("powershell -e SQBFAFgA", "dynamic-code"),
        ("Add-Type x", "dynamic-code"),
        ("Set-Alias x y", "dynamic-code"),
        ("rundll32 x", "process-execution"),
        ("Start-Process x", "process-execution"),
        ("[Diagnostics.Process]::Start('x')", "process-execution"),
        ("iwr http://x", "network"),
        ("certutil -urlcache -f http://x y", "network"),
        ("net user x y /add", "privilege-change"),
        ("icacls x /grant y", "privilege-change"),
        ("runas /user:x y", "privilege-change"),
        ("schtasks /create /tn x", "background-job"),
        ("at 10:00 x", "background-job"),
        ("dir > x", "file-write"),
        ("'a' | Out-File x", "file-write"),
        ("cmdkey /list", "credentials"),
        ("caput X 1", "control-system-write"),
    ],
)
def test_what_else_is_dangerous_is_found(text, name):
    assert name in names(text)


@pytest.mark.parametrize(
    "text",
    [
        "& ('Remove' + '-Item') x",
        "$c = 'ri'; & $c x",
        ". $c x",
        "%COMSPEC:~0,1%md /c x",
        "set x=de& %x%l y",
        "!x:~0,3! y",
    ],
)
def test_a_name_that_is_put_together_is_a_doubt(text):
    assert ("cannot-be-followed", True) in {(f.name, f.is_doubt) for f in inspect_windows(text)}


@pytest.mark.parametrize(
    "text",
    [
        "dir 2>nul >nul",
        "Get-ChildItem -Recurse -Filter *.py",
        "Get-Service | Where-Object { $_.Status -eq 'Running' }",
        "findstr /s /n TODO *.py",
        "pip list",
        "echo look at this",
        "if exist x (echo yes) else (echo no)",
        "git status",
        "$n = 3; Write-Host $n",
    ],
)
def test_to_look_around_is_no_danger(text):
    assert names(text) == {"not-inspected"}


def test_a_danger_is_on_its_line():
    found = {(f.name, f.line) for f in inspect_windows("dir\r\ndel x\r\n")}
    assert ("file-delete", 2) in found


def test_findings_say_which_block_they_are_in():
    assert {finding.block for finding in inspect_windows("del x", block=4)} == {4}


@given(st.text() | st.text(alphabet="&%!^`\"'(){}|>;$ .\r\nadel/s"))
def test_no_text_breaks_the_inspection(text):
    last = text.count("\n") + 1
    assert all(1 <= f.line <= f.end_line <= last for f in inspect_windows(text))
