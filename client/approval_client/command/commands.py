"""The commands: what each takes, and what it ends with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from approval_client import ApprovalRequest, Asked, Pending
from approval_client._defaults import default_client
from approval_client.adapters.mcp import DEFAULT_PROMPT_S, DEFAULT_WAIT_S
from approval_client.command import asking, doctor, gated, hook, mcp_server, telling
from approval_client.command.codes import USAGE, Code
from approval_client.command.ending import end, end_after, time_out, usage
from approval_client.command.main import NEEDS_MCP
from approval_client.wire import Kind


@contextmanager
def _help_opens_nothing() -> Iterator[None]:
    """End with a usage error after a help: an id or a file of somebody else may be ``--help``."""
    try:
        yield
    except typer.Exit:
        raise typer.Exit(USAGE) from None


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _help_opens_nothing():
            return super().parse_args(ctx, args)


class _Approvals(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args == ["--help"]:
            return super().parse_args(ctx, args)
        with _help_opens_nothing():
            return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Approvals,
    help="Ask people before something runs, and wait for their answer.",
    epilog="DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Id = Annotated[str, typer.Argument(metavar="ID", help="The request.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Objective = Annotated[str, typer.Option(help="What this is for, in a sentence.")]
RunId = Annotated[str, typer.Option(help="Groups the questions of one run.")]
NoGrants = Annotated[
    bool,
    typer.Option("--no-grants", help=("Have a person decide: no remembered approval may answer.")),
]
TimeLimit = Annotated[
    int | None,
    typer.Option(metavar="SECONDS", min=5, max=2_592_000, help="How long reviewers have."),
]
MaxWait = Annotated[
    int | None,
    typer.Option(metavar="SECONDS", min=5, max=2_592_000, help="How long to wait at most."),
]


@app.command(cls=_Command)
def ask(  # noqa: PLR0913 - a command's options are its parameters
    source: Annotated[
        str, typer.Argument(metavar="FILE", help=("The content; - reads standard input."))
    ] = "-",
    *,
    text: Annotated[str | None, typer.Option("--text", "-c", help="The content itself.")] = None,
    kind: Annotated[Kind, typer.Option(help="What the content is.")] = Kind.CODE,
    language: Annotated[str | None, typer.Option(help="The language of the code.")] = None,
    tool: Annotated[
        str | None, typer.Option(help=("The tool to call; the content is its arguments."))
    ] = None,
    capability: Annotated[str, typer.Option(help="What is gated.")] = "",
    objective: Objective = "",
    evidence: Annotated[
        str | None,
        typer.Option(metavar="FILE", help=("What the agent says about it: a JSON object.")),
    ] = None,
    run_id: RunId = "",
    time_limit: TimeLimit = None,
    max_wait: MaxWait = None,
    key: Annotated[
        str | None, typer.Option(help=("Names the question, so that a retry does not ask twice."))
    ] = None,
    no_grants: NoGrants = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help=("Print the id and do not wait."))
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask, wait, and use the approval. Exit code 0 means: run it now, once."""
    with usage():
        content = asking.content(kind, asking.read(source, text), language=language, tool=tool)
        options = _options(objective, run_id, time_limit, max_wait, no_grants=no_grants)
        options |= {"capability": capability, "evidence": asking.evidence(evidence)}
    with end_after(as_json=as_json):
        request = ApprovalRequest(kind=kind, content=content, **options)
        if no_wait:
            pending = default_client().submit(request, idempotency_key=key)
            end(telling.of_pending(pending), as_json=as_json, always=True)
        with telling.waiting() as listener:
            response = default_client().request_approval(
                request, idempotency_key=key, heard=listener
            )
        end(telling.of_response(response), as_json=as_json)


@app.command(cls=_Command)
def wait(
    approval_id: Id,
    *,
    digest: Annotated[
        str | None, typer.Option(help=("Refuse an answer about other content."))
    ] = None,
    max_wait: Annotated[
        int | None, typer.Option(metavar="SECONDS", min=1, help="How long to wait at most.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Wait for an earlier question, and use the approval. Exit code 0 means: run it now, once.

    Interrupting this leaves the question open; `approvals cancel` cancels it.
    """
    with end_after(as_json=as_json):
        request = Asked(digest=digest or default_client().get(approval_id).digest)
        with time_out(max_wait), telling.waiting() as listener:
            decision = default_client().decided(
                Pending(request=request, id=approval_id), withdraw=False, heard=listener
            )
        response = default_client().start(decision)  # no time limit ends what uses an approval
        end(telling.of_response(response), as_json=as_json)


@app.command(cls=_Command)
def show(approval_id: Id, *, as_json: AsJson = False) -> None:
    """Show where a request stands. This uses no approval, so it never exits with 0."""
    with end_after(as_json=as_json):
        end(telling.of_answer(default_client().get(approval_id)), as_json=as_json, always=True)


@app.command(cls=_Command)
def cancel(
    approval_id: Id,
    *,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    as_json: AsJson = False,
) -> None:
    """Cancel a pending request."""
    with end_after(as_json=as_json):
        answer = default_client().cancel(approval_id, reason)
        end(telling.of_answer(answer), as_json=as_json, always=True)


@app.command(cls=_Command, context_settings={"allow_interspersed_args": False})
def run(  # noqa: PLR0913 - a command's options are its parameters
    command: Annotated[list[str], typer.Argument(metavar="CMD", help="The command to run.")],
    *,
    objective: Objective = "",
    run_id: RunId = "",
    time_limit: TimeLimit = None,
    max_wait: MaxWait = None,
    no_grants: NoGrants = False,
    show_files: Annotated[
        bool, typer.Option("--show-files", help="Send the text of the files that it names.")
    ] = False,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read standard input, show it, and hand it on.")
    ] = False,
    capture: Annotated[
        bool, typer.Option("--capture", help="Report the beginning of the output.")
    ] = False,
) -> None:
    """Ask to run a command, with its folder, input and named files. Run it if approved."""
    with end_after():
        options = _options(objective, run_id, time_limit, max_wait, no_grants=no_grants)
        with usage():
            program = gated.find(command, has_input=stdin)
        request = program.request(shown=show_files, **options)
        client = default_client()
        with telling.waiting() as listener:
            response = client.request_approval(request, heard=listener)
        if response.approved is not True:
            end(telling.of_response(response))
        telling.say(telling.of_response(response).sentence)
        raise typer.Exit(program.run(client, response, capture=capture))


@app.command("hook", cls=_Command)
def answer_claude_code() -> None:
    """Answer Claude Code, which asks before it calls a tool. `approvals hook -h` says more."""
    hook.main([])  # never from the command line: ``main`` goes there before this is imported


@app.command("doctor", cls=_Command)
def look_at_the_setup() -> None:
    """Check the address, the token, the protocol, the clock and the policy."""
    doctor.main([])  # never from the command line, like the hook


@app.command("mcp", cls=_Command)
def serve_mcp(
    *,
    run_id: RunId = "",
    wait: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, max=86_400, help="How long a call waits.")
    ] = DEFAULT_WAIT_S,
    timeout: Annotated[
        int,
        typer.Option(
            metavar="SECONDS", min=5, max=86_400, help=("Deny a permission after this time.")
        ),
    ] = DEFAULT_PROMPT_S,
) -> None:
    """Serve the Model Context Protocol on standard input and output. This never exits with 0."""
    try:
        mcp_server.serve(run_id=run_id, wait_s=wait, prompt_s=timeout)
    except mcp_server.NoSdk:
        telling.say(NEEDS_MCP)
        raise typer.Exit(Code.NOT_CONFIGURED) from None
    raise typer.Exit(Code.INTERRUPTED)


def _options(
    objective: str,
    run_id: str,
    time_limit_s: int | None,
    max_wait_s: int | None,
    *,
    no_grants: bool,
) -> dict[str, Any]:
    return {
        "objective": objective,
        "run_id": run_id,
        "time_limit_s": time_limit_s,
        "max_wait_s": max_wait_s,
        "accepts_grants": not no_grants,
    }
