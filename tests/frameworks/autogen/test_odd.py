"""AutoGen: what is shown is what the executor gets, whatever blocks of code a model writes."""

import asyncio
from dataclasses import dataclass

import pytest
from autogen_agentchat.agents import CodeExecutorAgent
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeResult

from approval_client.adapters.autogen import for_agent
from approval_client.adapters.autogen import gate as dashboard_gate
from tests.frameworks.autogen.kit import DENIED, UNGATED, asked

pytestmark = pytest.mark.filterwarnings(UNGATED)
NOT_ASKED = "Nobody was asked and nothing was run. Change what is named, and ask again."
BACKTICKS = "holds three backticks in a row"
LANGUAGE = "The language of code block 1 is "
ONE_AS_TWO = [("python", "a = 1\n```\n\n```sh\nls")]


class Recorder:
    """A code executor that keeps what it gets."""

    def __init__(self):
        self.got = []

    async def execute_code_blocks(self, code_blocks, **_):
        self.got.append(pairs(code_blocks))
        return CodeResult(exit_code=0, output="done")


def pairs(blocks):
    return [(block.language, block.code) for block in blocks]


def gated(client, executor):
    agent = CodeExecutorAgent("runner", executor)
    dashboard_gate(agent, client=client)
    return agent


async def execute(agent, blocks):
    """Have the agent run blocks; returns what the model reads."""
    found = [CodeBlock(code=code, language=language) for language, code in blocks]
    running = agent.execute_code_block(found, CancellationToken())
    return (await asyncio.wait_for(running, 20)).output


@dataclass(frozen=True)
class Case:
    name: str
    blocks: list  # each its language and its code
    shown: str = ""
    told: str = ""  # else


CASES = [
    Case("no language", [("", "ls")], "```\nls\n```"),
    Case("empty code", [("sh", "")], "```sh\n\n```"),
    Case("blank lines", [("sh", "\n\n")], "```sh\n\n\n\n```"),
    Case("CRLF", [("sh", "a\r\nb\r")], "```sh\na\r\nb\r\n```"),
    Case("tabs", [("sh", "\tls\t")], "```sh\n\tls\t\n```"),
    Case("capitals", [("PYTHON", "a = 1")], "```PYTHON\na = 1\n```"),
    Case("a plus and a hash", [("c++", "x"), ("C#", "x")], "```c++\nx\n```\n\n```C#\nx\n```"),
    Case("tildes", [("sh", "~~~\nls\n~~~")], "```sh\n~~~\nls\n~~~\n```"),
    Case("two backticks", [("sh", "``\n`ls`")], "```sh\n``\n`ls`\n```"),
    Case("one language", [("sh", "a"), ("sh", "b")], "```sh\na\n```\n\n```sh\nb\n```"),
    Case("two languages", [("sh", "a"), ("python", "b")], "```sh\na\n```\n\n```python\nb\n```"),
    Case("other letters", [("python", "é = '日本'")], "```python\né = '日本'\n```"),
    Case("bidi control", [("sh", "ls \u202e fr")], "```sh\nls \u202e fr\n```"),
    Case("a class", [("python {.hl}", "x")], told=f"{LANGUAGE}'python {{.hl}}'"),
    Case("two lines of language", [("sh\nls", "x")], told=f"{LANGUAGE}'sh\\nls'"),
    Case("a line end after it", [("sh\n", "x")], told=f"{LANGUAGE}'sh\\n'"),
    Case("a carriage return after it", [("sh\r", "x")], told=f"{LANGUAGE}'sh\\r'"),
    Case("a space before it", [(" sh", "x")], told=f"{LANGUAGE}' sh'"),
    Case("a letter that looks like another", [("ѕh", "x")], told=LANGUAGE),
    Case("a language that is null", [(None, "x")], told=f"{LANGUAGE}None"),
    Case("code that is null", [("sh", None)], told="Code block 1 holds no text"),
    Case("four backticks", [("sh", "````\nls\n````")], told=BACKTICKS),
    Case("backticks in a text", [("python", "print('```')")], told=BACKTICKS),
    Case("one block that reads as two", ONE_AS_TWO, told=BACKTICKS),
    Case("the second", [("sh", "a"), ("sh", "```")], told=f"Code block 2 {BACKTICKS}"),
    Case("NUL", [("sh", "a\0")], told="a NUL character"),
    Case("half a pair", [("sh", "\ud800")], told="surrogate"),
    Case("1 MiB", [("sh", "x" * 2**20)], told="the limit is 1,048,576"),
    Case("no block", [], told="There is no code block"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_what_is_shown_is_run_or_the_model_is_told(gate, case):
    gate.approve_next()
    executor = Recorder()

    told = await execute(gated(gate.client, executor), case.blocks)

    if case.told:
        assert (gate.asked(), executor.got) == ([], [])
        assert told.startswith(DENIED)
        assert case.told in told
        assert "Nobody was asked and nothing was run." in told
    else:
        assert gate.asked() == [{"code": case.shown}]
        assert (executor.got, told) == ([case.blocks], "done")


async def test_a_model_is_told_what_to_write_instead(gate):
    told = await execute(gated(gate.client, Recorder()), [("python", "print('```')")])

    assert told == (
        f"{DENIED}This cannot be sent for approval as it is: Code block 1 holds three backticks "
        "in a row. What stands around them could be read as other blocks. Write code without "
        f"them, such as '`' * 3. {NOT_ASKED}"
    )


async def test_two_blocks_that_became_one_with_the_same_text_do_not_run(gate):
    executor = Recorder()
    agent = gated(gate.client, executor)
    blocks = [CodeBlock(language="python", code="a = 1"), CodeBlock(language="sh", code="ls")]
    running = asyncio.create_task(agent.execute_code_block(blocks, CancellationToken()))
    await asked(gate)
    ((language, code),) = ONE_AS_TWO
    blocks[:] = [CodeBlock(language=language, code=code)]
    gate.approve_next()

    result = await running

    assert "not the code that was approved" in result.output
    assert executor.got == []


async def test_what_somebody_else_put_before_an_agent_still_runs_and_once(gate):
    executor, seen = Recorder(), []
    agent = CodeExecutorAgent("runner", executor)
    own = agent.execute_code_block

    async def watched(blocks, token):
        seen.append(pairs(blocks))
        return await own(blocks, token)

    agent.execute_code_block = watched
    for _ in range(2):
        dashboard_gate(agent, client=gate.client)
    gate.approve_next()

    await execute(agent, [("sh", "ls")])

    assert seen == executor.got == [[("sh", "ls")]]


def plain(gate):
    return gate.client.approval_func


def named(gate):
    return for_agent("runner", client=gate.client)


@pytest.mark.parametrize("way", [plain, named], ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    ("block", "told"),
    [
        (("python {.hl}", "x"), f"{LANGUAGE}'python {{.hl}}'"),
        (("sh", "a\n```\nb"), BACKTICKS),
        (("sh", "```\na\n```"), BACKTICKS),
        (("sh", "````\na\n````"), BACKTICKS),
        (("sh", "echo '```'"), BACKTICKS),
        (("sh", "a```"), BACKTICKS),
    ],
)
async def test_a_function_refuses_what_the_text_alone_shows(gate, way, block, told):
    executor = Recorder()
    agent = CodeExecutorAgent("runner", executor, approval_func=way(gate))

    read = await execute(agent, [block])

    assert (gate.asked(), executor.got) == ([], [])
    assert told in read
    assert NOT_ASKED in read


async def test_a_function_cannot_see_that_one_block_holds_what_reads_as_two(gate):
    gate.approve_next()
    executor = Recorder()
    agent = CodeExecutorAgent("runner", executor, approval_func=plain(gate))

    await execute(agent, ONE_AS_TWO)

    assert gate.asked() == [{"code": "```python\na = 1\n```\n\n```sh\nls\n```"}]
    assert executor.got == [ONE_AS_TWO]
