"""Mistakes of a first day in suites, profiles and projects: each with its code, its place and its hint, and no circle."""

from pathlib import Path

import pytest

from specledger.pipeline.authoring import write_new
from specledger.pipeline.checking import check
from specledger.pipeline.project import write_project

SUITE = """spec: suite/v1
name: s
runs:
  base: {scenarios: [first], seeds: [1, 2]}
measures: {full: size(steps) > 3}
figures: {reached: {rate: success, by: arm}, few: {rate: full}}
checks:
  - {id: arrives, require: few.count > 0, opportunities: few.of, witness: {n: few.count}}
mutants:
  - {id: high, set: {governor.constants.LIMIT: 99}}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A first project, in which a suite is checked."""
    write_project(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    Path("specs/suite").mkdir()
    return Path("specs/suite/s.yaml")


def findings(file):
    return check([str(file)])[1]


# what the suite says, what a beginner writes instead, the code, the line, and a part of the message or hint
IN_A_SUITE = {
    "a tab": ("  base", "\tbase", "E_YAML_TAB", 4, "use spaces"),
    "agents of an arm": ("seeds:", "agents: [filler], seeds:", "E_SPEC_UNKNOWN_KEY", 4, "`agent: NAME`"),
    "a list of agents": ("seeds:", "agent: [filler], seeds:", "E_SPEC_TYPE", 4, "write `filler`"),
    "a list of agents in a change": (
        "seeds: [1, 2]",
        "set: {agent: [filler]}",
        "E_SUITE_SET",
        4,
        "`spec explain scenario.agent`",
    ),
    "agents in a change": ("seeds: [1, 2]", "set: {agents: a}", "E_SUITE_SET", 4, "`set: {agent: ...}`"),
    "one scenario": ("scenarios: [first]", "scenario: first", "E_SPEC_UNKNOWN_KEY", 4, "`scenarios`"),
    "one seed": ("seeds: [1, 2]", "seed: 1", "E_SPEC_UNKNOWN_KEY", 4, "`seeds`"),
    "arms as a list": ("\n  base: {scenarios: [first], seeds: [1, 2]}", " [first]", "E_SPEC_TYPE", 3, "`{key: value}`"),
    "a share as a decimal": ("few.count > 0", "few.value > 0.9", "E_EXPR_NO_PROMOTION", 8, "write 900000 for 0.9"),
    "a share of a quarter": ("few.count > 0", "few.value > .25", "E_EXPR_NO_PROMOTION", 8, "write 250000 for .25"),
    "a percentage": ("few.count > 0", "few.value > 90%", "E_EXPR_SYNTAX", 8, "900000"),
    "a parameter in an expression": ("few.count > 0", "few.count > ${n}", "E_YAML_EXPRESSION", 8, "quote"),
    "a figure that is its measure": ("{rate: full}", "full", "E_SPEC_TYPE", 6, "write for instance `{"),
    "another word for a measure": ("measures:", "episode:", "E_SPEC_UNKNOWN_KEY", 5, "measures"),
    "a conditional without quotes": ("few.count > 0", "few.count > 0 ? true : false", "E_YAML_EXPRESSION", 8, "quote"),
    "a line indented by one": ("figures:", " figures:", "E_YAML_SYNTAX", 6, "indentation"),
    "a misspelt kind": ("suite/v1", "suit/v1", "E_SPEC_KIND", 1, "`suite/v1`"),
    "a mutant as its name": ("{id: high, set: {governor.constants.LIMIT: 99}}", "high", "E_SPEC_TYPE", 10, "{id: ...}"),
    "a mutant of no key": (
        "governor.constants",
        "governor.constant",
        "E_SUITE_SET",
        10,
        "mutant `high` of `s`, `governor.constant.LIMIT`",
    ),
    "a mutant of no constant": ("LIMIT: 99", "LIMT: 99", "E_SUITE_SET", 10, "did you mean `LIMIT`?"),
    "a mutant of no gate": (
        "{governor.constants.LIMIT: 99}",
        "{governor.gates.overflw: null}",
        "E_SUITE_SET",
        10,
        "did you mean `overflow`?",
    ),
    "a mutant whose expression is wrong": (
        "{governor.constants.LIMIT: 99}",
        "{governor.gates.overflow.deny: next.levl > 3}",
        "E_EXPR_UNKNOWN_FIELD",
        10,
        "state has no field `levl`",
    ),
    "a mutant with an agent that is none": (
        "{governor.constants.LIMIT: 99}",
        "{agent: fillr}",
        "E_REF_MISSING",
        10,
        "`filler`",
    ),
}


@pytest.mark.medium
@pytest.mark.parametrize(("right", "wrong", "code", "line", "said"), IN_A_SUITE.values(), ids=IN_A_SUITE)
def test_a_mistake_in_a_suite_has_a_code_a_place_and_a_hint(project, right, wrong, code, line, said):
    assert right in SUITE
    project.write_text(SUITE.replace(right, wrong, 1), encoding="utf-8")
    first = findings(project)[0]
    assert (first.code, str(first.span).startswith(f"specs/suite/s.yaml:{line}:")) == (code, True), first
    assert said in f"{first.message} {first.hint}"


@pytest.mark.medium
def test_the_suite_itself_has_no_mistake(project):
    project.write_text(SUITE, encoding="utf-8")
    assert findings(project) == ()


@pytest.mark.medium
def test_a_mistake_of_an_arm_is_said_once_and_not_of_each_mutant(project):
    project.write_text(SUITE.replace("seeds: [1, 2]", "set: {agents: a}"), encoding="utf-8")
    assert len(findings(project)) == 1


@pytest.mark.medium
def test_where_a_mutant_is_wrong_follows_what_it_changes(project):
    project.write_text(SUITE.replace("LIMIT: 99", "LIMIT: high"), encoding="utf-8")
    (finding,) = findings(project)
    assert str(finding.span).startswith("specs/governor/careful.yaml:7:")
    says, at = finding.related[0]
    assert (says, at.start.line) == ("set by mutant `high` of `s`: `governor.constants.LIMIT`", 10)


IN_A_PROJECT = {
    "a decimal in the start": ("world/tank", "level: 2,", "level: 2.5,", "E_EXPR_NO_PROMOTION", 7, "`qfixed`"),
    "a tagged decimal": (
        "world/tank",
        "level: 2,",
        "level: {qfixed: 2.5},",
        "E_SPEC_TYPE",
        7,
        "write the number alone",
    ),
    "a decimal in a gate": ("governor/careful", "level > LIMIT", "level > 9.5", "E_EXPR_NO_PROMOTION", 7, "`double("),
    "a bracket that is another": ("world/tank", "[1, 2, 4]}", "[1, 2, 4}", "E_YAML_SYNTAX", 10, "by `]`"),
    "a quote that stays open": ("world/tank", ': 0"}', ": 0}", "E_YAML_SYNTAX", 17, "close the bracket or quote"),
    "a condition without quotes": (
        "world/tank",
        '"level > 0 ? level - 1 : 0"',
        "level > 0 ? 1 : 0",
        "E_YAML_EXPRESSION",
        13,
        "quote",
    ),
    "an item indented too far": (
        "scenario/first",
        "invariants: [no-overflow]",
        "invariants:\n- no-overflow\n  - other\nmetadata: {}",
        "E_REF_MISSING",
        9,
        "indented more",
    ),
    "a key given twice": ("scenario/first", "seed: 1", "seed: 1\nseed: 2", "E_YAML_DUPLICATE_KEY", 10, "delete one"),
    "a seed of several words": ("scenario/first", "seed: 1", "seed: yes", "E_YAML_AMBIGUOUS", 9, "write true"),
    "a misspelt agent": ("scenario/first", "agent: filler", "agent: fillr", "E_REF_MISSING", 6, "`filler`"),
    "a world as an agent": ("scenario/first", "agent: filler", "agent: tank", "E_REF_MISSING", 6, "the kind world"),
    "no world": ("scenario/first", "world: tank\n", "", "E_SPEC_MISSING_KEY", 2, "`world: ...`"),
    "a decimal seed": ("scenario/first", "seed: 1", "seed: 1.5", "E_SPEC_TYPE", 9, ""),
    "a comma for the point": ("scenario/first", "seed: 1", "seed: 1,5", "E_SPEC_TYPE", 9, ""),
    "an undeclared parameter": ("scenario/first", "seed: 1", "seed: ${s}", "E_PARAM_UNKNOWN", 9, "under `params`"),
    "the plural of a scope": ("invariant/no-overflow", "scope: step", "scope: steps", "E_SPEC_VALUE", 5, "`step`"),
    "a choice as a word": (
        "governor/careful",
        "{maximise: proposal.score}",
        "max",
        "E_SPEC_TYPE",
        8,
        "{maximise: ...}",
    ),
    "another word for next": ("governor/careful", "deny: next", "deny: nxt", "E_EXPR_UNKNOWN_NAME", 7, "`next`"),
}


@pytest.mark.medium
@pytest.mark.parametrize(("file", "right", "wrong", "code", "line", "said"), IN_A_PROJECT.values(), ids=IN_A_PROJECT)
def test_a_mistake_in_a_project_has_a_code_a_place_and_a_hint(project, file, right, wrong, code, line, said):
    path = Path("specs", f"{file}.yaml")
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    first = findings("specs/scenario/first.yaml")[0]
    assert (first.code, first.span.start.line, Path(first.span.file).name) == (code, line, path.name), first
    assert said in f"{first.message} {first.hint}"


def follow(path, *edits):
    """The hints that a file leads to, edit by edit, until nothing is wrong."""
    hints = []
    for right, wrong in edits:
        text = path.read_text(encoding="utf-8")
        assert right in text
        path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
        hints.append(" ".join(f"{one.hint}" for one in findings(path)[:1]))
    return hints


@pytest.mark.medium
def test_hints_about_agents_of_a_suite_end(project):
    project.write_text(SUITE, encoding="utf-8")
    steps = ("seeds:", "agents: [filler], seeds:"), ("agents:", "agent:"), ("[filler]", "filler")
    asked, alone, done = follow(project, *steps)
    assert ("`agent: NAME`" in asked, "`filler`" in alone, done) == (True, True, "")


@pytest.mark.medium
def test_hints_about_decimals_of_a_suite_end_at_the_same_share(project):
    project.write_text(SUITE, encoding="utf-8")
    asked, done = follow(project, ("few.count > 0", "few.value > 0.9"), ("0.9", "900000"))
    assert ("write 900000 for 0.9" in asked, done) == (True, "")


def test_hints_about_parameters_of_a_profile_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_new("profile")
    quote, whole, declare, default, done = follow(
        path,
        ("invariant/no-hazard-entered", "invariant/${n}"),
        ("invariant/${n}", '"invariant/${n}"'),
        ("invariant/${n}", "${n}"),
        ("source:", "params: {n: string}\nsource:"),
        ("n: string", "n: {type: string, default: invariant/no-hazard-entered}"),
    )
    assert ("quote" in quote, "whole value" in whole, "`params`" in declare) == (True, True, True)
    assert ("give it a default: `n: {type: string, default: ...}`" in default, done) == (True, "")
