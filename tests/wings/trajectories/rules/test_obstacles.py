"""Which rules can notice nothing with the tools that there are, and what is said of it."""

from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.reach import obstacle

HEAD = "spec: policy/v1\nname: p\nsets: {known: [Ann]}\ntools: {both: [pay, refund]}\nrules:\n  a: "
TOOLS = {"pay": ["to", "amount", "memo"], "look": ["at"], "ask": None}
KNOWN = "from: [{set: known}]"

# a rule, the tools that there are, and what it lacks, why, where that stands, the hint, whether other tools would help
OBSTACLES: dict[str, tuple[Any, ...]] = {
    "a tool that is there": (
        f"{{when: {{tool: pay}}, each: args.to, {KNOWN}}}", TOOLS,
        None,
    ),
    "a tool that is misspelt": (
        f"{{when: {{tool: pya}}, each: args.to, {KNOWN}}}", TOOLS,
        ('opportunity', 'no tool is pya', 'rules.a.when.tool', 'did you mean pay?', True),
    ),
    "a tool like none": (
        f"{{when: {{tool: zzzz}}, each: args.to, {KNOWN}}}", TOOLS,
        ('opportunity', 'no tool is zzzz', 'rules.a.when.tool', 'tools are ask, look, pay', True),
    ),
    "five tools like none": (
        f"{{when: {{tool: [zz1, zz2, zz3, zz4, zz5]}}, each: args.to, {KNOWN}}}", TOOLS,
        ('opportunity', 'no tool is zz1 or zz2 or zz3 or zz4 or zz5', 'rules.a.when.tool.0', 'tools are ask, look, pay', True),
    ),
    "eight tools": (
        f"{{when: {{tool: zzzz}}, each: args.to, {KNOWN}}}", {f'tool{n}': None for n in range(8)},
        ('opportunity', 'no tool is zzzz', 'rules.a.when.tool', 'tools are tool0, tool1, tool2, tool3, tool4, tool5, tool6, tool7', True),
    ),
    "two tools like none": (
        f"{{when: {{tool: [zzzz, yyyy]}}, each: args.to, {KNOWN}}}", TOOLS,
        ('opportunity', 'no tool is zzzz or yyyy', 'rules.a.when.tool.0', 'tools are ask, look, pay', True),
    ),
    "six tools like none": (
        f"{{when: {{tool: [zz1, zz2, zz3, zz4, zz5, zz6]}}, each: args.to, {KNOWN}}}", TOOLS,
        ('opportunity', 'no tool is zz1 or zz2 or zz3 or zz4 or zz5 or 1 more', 'rules.a.when.tool.0', 'tools are ask, look, pay', True),
    ),
    "a set of which one is there": (
        f"{{when: {{tool: both}}, each: args.to, {KNOWN}}}", TOOLS,
        None,
    ),
    "a set of which none is there": (
        f"{{when: {{tool: both}}, each: args.to, {KNOWN}}}", {'look': None},
        None,
    ),
    "no tool at all": (
        f"{{when: {{tool: pay}}, each: args.to, {KNOWN}}}", {},
        ('opportunity', 'no tool is pay', 'rules.a.when.tool', 'no tool was called', True),
    ),
    "nine tools": (
        f"{{when: {{tool: zzzz}}, each: args.to, {KNOWN}}}", {f'tool{n}': None for n in range(9)},
        ('opportunity', 'no tool is zzzz', 'rules.a.when.tool', 'tools are tool0, tool1, tool2, tool3, tool4, tool5, tool6, tool7 and 1 more', True),
    ),
    "tools that nobody lists": (
        f"{{when: {{tool: zzzz}}, each: args.to, {KNOWN}}}", None,
        None,
    ),
    "an argument that is misspelt": (
        f"{{when: {{tool: pay}}, each: args.amuont, {KNOWN}}}", TOOLS,
        ('opportunity', '`args.amuont` is no argument of its tools', 'rules.a.each', 'did you mean `args.amount`?', True),
    ),
    "an argument like none": (
        f"{{when: {{tool: pay}}, each: args.zzz, {KNOWN}}}", TOOLS,
        ('opportunity', '`args.zzz` is no argument of its tools', 'rules.a.each', 'there is to, amount, memo', True),
    ),
    "an argument of a tool without any": (
        f"{{when: {{tool: pay}}, each: args.zzz, {KNOWN}}}", {'pay': []},
        ('opportunity', '`args.zzz` is no argument of its tools', 'rules.a.each', 'there is nothing', True),
    ),
    "an argument of a tool that may have any": (
        f"{{when: {{tool: ask}}, each: args.zzz, {KNOWN}}}", TOOLS,
        None,
    ),
    "an argument of one of two tools": (
        f"{{when: {{tool: [look, pay]}}, each: args.at, {KNOWN}}}", TOOLS,
        None,
    ),
    "every argument": (
        f"{{when: {{tool: pay}}, each: 'args.**', {KNOWN}}}", TOOLS,
        None,
    ),
    "a condition that is never true": (
        "{when: {tool: pay, if: n > 3 && n < 2}, read: {n: {path: args.amount, as: int}}, require: n > 1}", None,
        ('opportunity', 'its condition `n > 3 && n < 2` is never true', 'rules.a.when.if', 'its parts exclude each other', False),
    ),
    "a condition that may be true": (
        "{when: {tool: pay, if: n > 3 && n < 5}, read: {n: {path: args.amount, as: int}}, require: n > 1}", TOOLS,
        None,
    ),
    "a requirement that is always true": (
        "{when: {tool: pay}, require: 1 < 2}", None,
        ('breach', 'its `require` is always true', 'rules.a.require', '', False),
    ),
    "a requirement beside an earlier call": (
        "{when: {tool: pay}, after: {tool: ask}, require: 1 < 2}", TOOLS,
        None,
    ),
    "a requirement beside no earlier call": (
        "{when: {tool: pay}, not_after: {tool: zzzz}, require: 1 < 2}", TOOLS,
        None,
    ),
    "a requirement that is never true": (
        "{when: {tool: pay}, require: 2 < 1}", TOOLS,
        None,
    ),
    "a forbidden past without a tool": (
        "{when: {tool: pay}, not_after: {tool: lok}}", TOOLS,
        ('breach', 'no tool is lok', 'rules.a.not_after.tool', 'did you mean look?', True),
    ),
    "a forbidden past with a tool": (
        "{when: {tool: pay}, not_after: {tool: look}}", TOOLS,
        None,
    ),
    "a forbidden past of a set": (
        "{when: {tool: pay}, not_after: {tool: both}}", {'pay': None},
        None,
    ),
    "a forbidden past of a set that is not there": (
        "{when: {tool: look}, not_after: {tool: both}}", {'look': None},
        None,
    ),
    "a forbidden source without a tool": (
        "{when: {tool: pay}, each: args.to, not_from: [{text_of: lok}]}", TOOLS,
        ('breach', 'no tool is lok', 'rules.a.not_from.0.text_of', 'did you mean look?', True),
    ),
    "a forbidden source with a tool": (
        "{when: {tool: pay}, each: args.to, not_from: [{text_of: lok}, {result_of: look, field: a}]}", TOOLS,
        None,
    ),
    "a forbidden set": (
        "{when: {tool: pay}, each: args.to, not_from: [{set: known}, {text_of: lok}]}", TOOLS,
        None,
    ),
    "a required past without a tool": (
        "{when: {tool: pay}, after: {tool: lok}}", TOOLS,
        None,
    ),
    "a message": (
        "{when: {message: assistant}, require: 'false'}", TOOLS,
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OBSTACLES)
def test_what_keeps_a_rule_from_noticing_anything(case, tmp_path):
    rule, tools, expected = OBSTACLES[case]
    (tmp_path / "p.yaml").write_text(f"{HEAD}{rule}\n", encoding="utf-8")
    main, diagnostics = load(tmp_path / "p.yaml")[0].main, Diagnostics()
    (plan,) = compile_policy(main, diagnostics).rules
    diagnostics.raise_if_errors()
    model: Any = main.model
    found = obstacle(model, plan, tools)
    told = found and (found.lacks, found.reason, ".".join(map(str, found.steps)), found.hint, found.of_tools)
    assert told == expected
