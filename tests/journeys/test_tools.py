"""A class that an admin gives a tool, and a rule that names it, hold for the next call."""

from approval_client import ApprovalRequest

SCHEMA = {"type": "object", "properties": {"part": {"type": "string"}}}
TOOL, FINAL = "count_parts", "scrap_parts"  # nothing else asks for them


def call(tool, schema=SCHEMA):
    evidence = {"tool_schema": schema, "tool_annotations": {"readOnlyHint": True}}
    return ApprovalRequest.tool_call(tool, {"part": "M4"}, time_limit_s=600, evidence=evidence)


async def classes(admin, **digits):
    """Class tools by the keyboard alone, once their page is open."""
    for tool, digit in digits.items():
        await admin.page.get_by_label(tool, exact=True).focus()
        await admin.page.keyboard.press(digit)
    await admin.button("Save the classes").focus()
    await admin.keys("Enter")


async def test_from_a_class_to_a_rule_that_approves(admin, ben, agent):
    asked = [agent.ask(call(tool)) for tool in (TOOL, FINAL)]
    await ben.opens(TOOL)
    await ben.sees("Nobody has classed this tool")
    await ben.presses(ben.button("Approve"))
    assert (await agent.answer_to(asked[0])).approved

    await admin.goes_to("Tools")
    await admin.sees(FINAL)
    await classes(admin, **{TOOL: "1", FINAL: "3"})
    await admin.sees("2 tools are classed.", where="body")

    await admin.goes_to("Policy")
    await admin.presses(admin.button("Change the policy"))
    await admin.presses(admin.link("Add a rule"))
    page = admin.page
    await admin.types("Parts", page.get_by_label("Name", exact=True))
    tools = page.get_by_label("Tools", exact=True)
    if not await tools.is_visible():
        await admin.presses(page.locator("details").filter(has=tools).locator("> summary"))
    await admin.types(f"{TOOL}\n{FINAL}", tools)
    await admin.presses(page.get_by_label("only reads"))
    await admin.presses(page.get_by_label("Approve without asking"))
    await admin.presses(admin.button("Save rule"))
    await admin.sees("Calls of the tool count_parts or scrap_parts classed as only reads")
    confirmation = page.get_by_label("to confirm")
    word = (await page.get_by_text("to confirm").inner_text()).split()[1]
    await admin.types(word, confirmation)
    await admin.presses(page.get_by_role("button", name="Publish as revision"))

    assert (await agent.answer_to(agent.ask(call(TOOL)))).approved
    await ben.goes_to("Queue")
    await ben.opens(FINAL)
    await ben.sees("This tool is classed as “irreversible”")
    changed = agent.ask(call(TOOL, SCHEMA | {"required": ["part"]}))
    await ben.goes_to("Queue")
    await ben.opens(TOOL)
    await ben.sees("The schema of this tool is not the one", where=".found-chips")
    assert not changed.done()
