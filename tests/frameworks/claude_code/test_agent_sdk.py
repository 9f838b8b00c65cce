"""The Claude Agent SDK with Claude Code itself, a made-up model, and our ``can_use_tool``."""

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, PermissionResultDeny
from claude_agent_sdk.types import ToolPermissionContext

from approval_client.adapters.claude_code import can_use_tool
from approval_client.testing import FakeDashboard
from tests.frameworks.claude_code.kit import CLAUDE, claude_code  # noqa: F401 - a fixture
from tests.frameworks.messages_api import Model, served


@pytest.fixture
def session(tmp_path):
    """Have the model make these calls; gives what it was told, and the files that were made."""

    async def session(answers, *turns):
        work = tmp_path / "work"
        work.mkdir()
        model = Model(*turns)
        with served(model) as url:
            environment = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}
            environment |= {"HOME": str(tmp_path), "DISABLE_AUTOUPDATER": "1"}
            environment |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
            options = ClaudeAgentOptions(
                can_use_tool=answers,
                cli_path=CLAUDE,
                cwd=work,
                env=environment,
                setting_sources=[],
            )
            async with ClaudeSDKClient(options) as client:
                await client.query("Do it.")
                async for _ in client.receive_response():
                    pass
        return model.results, sorted(path.name for path in work.iterdir())

    return session


def touch(name):
    return [("Bash", {"command": f"touch {name}", "description": "Makes a file."})]


async def test_an_approved_call_is_made_with_what_was_shown(session):
    fake = FakeDashboard.approving()

    _, made = await session(can_use_tool(client=fake.async_client()), touch("made"))

    assert [one.content for one in fake.approvals] == [{"code": "touch made", "language": "bash"}]
    assert made == ["made"]


async def test_a_rejection_is_read_by_the_model_and_nothing_is_made(session):
    fake = FakeDashboard.rejecting("Not on a Sunday.")

    (told,), made = await session(can_use_tool(client=fake.async_client()), touch("made"))

    assert "Not on a Sunday." in told
    assert (made, fake.approvals[0].started) == ([], 0)


async def test_where_the_dashboard_is_away_nothing_is_made(session):
    fake = FakeDashboard.unreachable()

    (told,), made = await session(can_use_tool(client=fake.async_client()), touch("made"))

    assert "Nothing was approved" in told
    assert made == []


async def test_two_calls_are_of_one_run(session):
    fake = FakeDashboard.approving()

    await session(can_use_tool(client=fake.async_client()), touch("a"), touch("b"))

    assert len({one.body["run_id"] for one in fake.approvals}) == 1
    assert len(fake.approvals) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"number": 2**53 + 1}, "number"),
        ({"text": "\0"}, "NUL"),
        ({"value": float("nan")}, "nan is not JSON"),
        ({"value": float("inf")}, "inf is not JSON"),
    ],
)
async def test_what_cannot_be_shown_as_it_runs_is_denied_and_nobody_is_asked(arguments, told):
    fake = FakeDashboard.approving()
    answers = can_use_tool(client=fake.async_client())

    answer = await answers("mcp__house__set", arguments, ToolPermissionContext())

    assert isinstance(answer, PermissionResultDeny)
    assert told in answer.message
    assert fake.approvals == []


async def test_an_input_that_changed_while_it_waited_is_denied():
    fake, arguments = FakeDashboard.approving(), {"x": 1}
    client = fake.async_client()

    answers = can_use_tool(client=client, on_decided=lambda _: arguments.update(x=2))
    answer = await answers("mcp__house__set", arguments, ToolPermissionContext())

    assert isinstance(answer, PermissionResultDeny)
    assert "changed while it waited" in answer.message


def test_a_client_that_blocks_is_refused():
    with pytest.raises(TypeError, match="AsyncClient"):
        can_use_tool(client=FakeDashboard.approving().client())
