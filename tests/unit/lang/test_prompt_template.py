"""Placeholders of prompts: what is filled in, and what is found before anything is asked."""

from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.lang.prompt_template import MOST_JSON, JsonText, check_about, check_sections, fill_sections
from specledger.spec.prompt import Section

FACTS: dict[str, Any] = {
    "name": "vault",
    "step": 3,
    "here": {"x": 1, "y": 2},
    "actions": ["open", "wait"],
    "cells": [{"id": "a", "n": 1}, {"id": "b", "n": None}],
    "nothing": None,
    "blank": "",
    "empty": [],
    "zero": 0,
    "no": False,
}

FILLED = {
    "a text": ("in {{name}}", "in vault"),
    "a number": ("step {{step}}", "step 3"),
    "a record, as JSON": ("{{here}}", '{"x":1,"y":2}'),
    "a member": ("{{here.y}}", "2"),
    "an element": ("{{actions.1}}", "wait"),
    "an element beyond the last": ("{{actions.2|none}}", "none"),
    "a member of an element": ("{{cells.0.id}}", "a"),
    "a member of a text": ("{{name.x|none}}", "none"),
    "what is missing, with other words": ("{{nothing|not known}}", "not known"),
    "what is missing, without": ("[{{nothing}}]", "[]"),
    "an empty text": ("{{blank|no text}}", "no text"),
    "an empty list": ("{{empty|none}}", "none"),
    "an empty list that is JSON": ("{{listed|none}}", "[]"),
    "0 and false are facts": ("{{zero|none}} {{no|none}}", "0 false"),
    "a line break is escaped": ("{{lines}}", "a\\nb"),
    "a fact is not read for placeholders": ("{{placed}}", "{{name}}"),
}


def said(*sections, facts=None):
    more = {"listed": JsonText("[]"), "lines": "a\nb", "placed": "{{name}}"}
    return fill_sections([Section(**section) for section in sections], {**FACTS, **more, **(facts or {})})


@pytest.mark.parametrize(("text", "expected"), FILLED.values(), ids=FILLED)
def test_what_fills_a_place(text, expected):
    assert said({"text": text}) == f"{expected}\n\n"


SECTIONS = {
    "a text and its elements": (
        [{"text": "Actions:\n", "each": "actions", "item": "- {{item}}\n"}],
        "Actions:\n- open\n- wait\n\n",
    ),
    "elements alone": ([{"each": "actions", "item": "{{item}} in {{name}}"}], "open in vault\nwait in vault\n\n"),
    "elements that are records": (
        [{"each": "cells", "item": "{{id}}: {{n|unknown}} of {{name}}"}],
        "a: 1 of vault\nb: unknown of vault\n\n",
    ),
    "no elements and nothing to say": ([{"text": "Actions:", "each": "empty", "item": "{{item}}"}], ""),
    "no elements": (
        [{"text": "Actions:", "each": "empty", "item": "{{item}}", "none": "none in {{name}}\n"}],
        "Actions:\nnone in vault\n\n",
    ),
    "a list that is missing has no elements": (
        [{"each": "nothing", "item": "{{item}}", "none": "nothing"}],
        "nothing\n\n",
    ),
    "what is no list has no elements": ([{"each": "name", "item": "{{item}}"}], ""),
    "several sections": ([{"text": "a"}, {"text": "b"}], "a\n\nb\n\n"),
}


@pytest.mark.parametrize(("sections", "expected"), SECTIONS.values(), ids=SECTIONS)
def test_a_section(sections, expected):
    assert said(*sections) == expected


def test_a_fact_is_cut_only_beyond_what_a_prompt_may_hold():
    whole = "a" * (MOST_JSON - 2)
    assert said({"text": "{{long}}"}, facts={"long": [whole[:-2]]}) == f'["{whole[:-2]}"]\n\n'
    cut = said({"text": "{{long}}"}, facts={"long": [whole]})
    assert cut == f'["{whole}...\n\n'


KNOWN = {**FACTS, "remembered": None}
SYSTEM = "facts: actions, blank, cells, empty, here, name, no, nothing, remembered, step, zero"

MISTAKES = {
    "none": ([{"text": "{{name}} {{here.x}} {{actions.0}} {{empty.5}} {{nothing}}"}], []),
    "no such fact": (
        [{"text": "of {{zzz}}"}],
        [("zzz", "there is no such fact or list: `zzz`", SYSTEM)],
    ),
    "a misspelt fact": ([{"text": "of {{nam}}"}], [("nam", "there is no such fact or list: `nam`", "did you mean `name`?")]),
    "no such member": ([{"text": "{{here.z}}"}], [("here.z", "there is no such fact or list: `here.z`", "facts: x, y")]),
    "a misspelt member": (
        [{"text": "{{cells.0.idd}}"}],
        [("cells.0.idd", "there is no such fact or list: `cells.0.idd`", "did you mean `id`?")],
    ),
    "an index that is none": (
        [{"text": "{{empty.first}}"}],
        [("empty.first", "there is no such fact or list: `empty.first`", SYSTEM)],
    ),
    "braces that are no place": (
        [{"text": "a {{Name}} b"}],
        [
            (
                "{{Name",
                "`{{Name` is not a placeholder",
                "a placeholder is written `{{fact}}` or `{{fact|words}}`, in lower-case letters, digits and _",
            )
        ],
    ),
    "what is said where there is nothing": (
        [{"each": "empty", "item": "{{item}}", "none": "{{zzz}}"}],
        [("zzz", "there is no such fact or list: `zzz`", SYSTEM)],
    ),
    "no such list": (
        [{"each": "action", "item": "{{item}}"}],
        [("action", "there is no such fact or list: `action`", "did you mean `actions`?")],
    ),
    "a list that is none": (
        [{"each": "name", "item": "{{item}}"}],
        [("name", "there is no such fact or list: `name`", "did you mean `name`?")],
    ),
    "a line of elements": (
        [{"each": "cells", "item": "{{id}} {{name}} {{zzz}}"}],
        [("zzz", "there is no such fact or list: `zzz`", SYSTEM.replace("here, ", "here, id, ").replace("name, ", "n, name, "))],
    ),
    "a line of texts": (
        [{"each": "actions", "item": "{{item}} {{id}}"}],
        [("id", "there is no such fact or list: `id`", SYSTEM.replace("here, ", "here, item, "))],
    ),
    "a line of what is remembered has facts of its own": ([{"each": "remembered", "item": "{{zzz}}"}], []),
    "braces in a line of what is remembered": (
        [{"each": "remembered", "item": "{{Zzz}}"}],
        [
            (
                "{{Zzz",
                "`{{Zzz` is not a placeholder",
                "a placeholder is written `{{fact}}` or `{{fact|words}}`, in lower-case letters, digits and _",
            )
        ],
    ),
    "every section": (
        [{"text": "{{a_b}}"}, {"each": "zz", "item": "{{item}}"}, {"text": "{{c_d}}"}],
        [
            ("a_b", "there is no such fact or list: `a_b`", SYSTEM),
            ("zz", "there is no such fact or list: `zz`", SYSTEM),
            ("c_d", "there is no such fact or list: `c_d`", SYSTEM),
        ],
    ),
}  # fmt: skip


def prompt(folder, sections, about="decisions"):
    """A prompt whose system instruction has these sections."""
    lines = [f"    - {{{', '.join(f'{key}: {value!r}' for key, value in section.items())}}}" for section in sections]
    text = "\n".join(["spec: prompt/v1", "name: mine", f"about: {about}", "system:", *lines, "static: [{text: x}]", ""])
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    (bundle,) = load(str(file))
    return bundle.main, text.splitlines()


@pytest.mark.parametrize(("sections", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_a_place_that_nothing_fills_is_found_where_it_stands(tmp_path, sections, expected):
    spec, lines = prompt(tmp_path, sections)
    diagnostics = Diagnostics()
    check_sections(spec.model.system, KNOWN, spec, "system", diagnostics)
    said = []
    for finding in diagnostics.sorted():
        assert finding.span is not None
        start, end = finding.span.start, finding.span.end
        said.append(
            (lines[start.line - 1][start.column - 1 : end.column - 1].strip("'"), finding.message, finding.hint)
        )
    assert said == expected
    assert all(one.code == "E_PROMPT_PLACE" for one in diagnostics.sorted())


@pytest.mark.parametrize(("about", "wrong"), [("decisions", []), ("laws", ["mine is about decisions, not about laws"])])
def test_a_prompt_is_used_for_what_it_is_about(tmp_path, about, wrong):
    spec, _ = prompt(tmp_path, [{"text": "a"}])
    diagnostics = Diagnostics()
    check_about(spec, about, diagnostics)
    assert [one.message for one in diagnostics.sorted()] == wrong
