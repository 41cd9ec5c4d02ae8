"""Changes of suites, of `--set` and by `extends` are the same: items by id, added items, other specs; and their findings."""

import re

import pytest

from specledger.compile.suite import compile_suite
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.load.bundle import values_in
from specledger.pipeline.executing import execute
from specledger.run.workers import Processes
from specledger.suites.overlay import Change, overlay
from tests.toys import CLIMB, findings_of

CHANGES = {
    "an item is changed": "{tired: {deny: 'n > 7'}}",
    "an item is taken away": "{tired: null}",
    "an item is added": "{late: {deny: 't > 9', reason: late}}",
    "all at once": "{calm: null, leap: {reason: wide}, late: {deny: 't > 9', reason: late}}",
    "an item comes to the end": "{add: [{id: late, deny: 't > 9', reason: late}]}",
}


def governor(bundle):
    return next(spec.data for spec in bundle.specs.values() if spec.kind == "governor")


@pytest.mark.parametrize("gates", CHANGES.values(), ids=CHANGES)
def test_a_suite_a_command_and_a_document_change_a_list_alike(gates, project, edit):
    edit("set: {horizon: 2}", f"set: {{governor.gates: {gates}}}")
    plan = compile_suite(load("heights.yaml")[0])
    of_suite = next(governor(case.bundle) for case in plan.trial.cases if case.arm == "short")
    of_command = governor(load("climb.yaml", set=[f"governor.gates={gates}"])[0])
    (project / "other.yaml").write_text(f"spec: governor/v1\nname: other\nextends: warden\ngates: {gates}\n")
    of_document = load("other.yaml")[0].main.data
    assert of_suite == of_command == {**of_document, "name": "warden"}


def test_one_item_is_named_by_the_path(project, edit):
    late = "{deny: 't > 9', reason: late}"
    edit("set: {horizon: 2}", f"set: {{governor.gates.late: {late}, governor.gates.tired: {{reason: weary}}}}")
    plan = compile_suite(load("heights.yaml")[0])
    of_suite = next(governor(case.bundle) for case in plan.trial.cases if case.arm == "short")
    sets = [f"governor.gates.late={late}", "governor.gates.tired={reason: weary}"]
    assert of_suite == governor(load("climb.yaml", set=sets)[0])
    assert [gate["id"] for gate in of_suite["gates"]] == ["leap", "honest", "tired", "calm", "late"]


def test_an_item_that_is_not_there_cannot_be_taken_away_by_a_command(spec, project):
    done = spec("check", "climb.yaml", "--set", "governor.gates={tird: null}")
    assert "E_SET_PATH" in done.err
    assert "did you mean `tired`?" in done.err


def test_another_spec_takes_a_place_in_an_arm_and_in_a_mutant_and_the_evidence_holds_it(project, edit):
    text = (project / "climber.yaml").read_text(encoding="utf-8")
    (project / "idler.yaml").write_text(text.replace("climber", "idler").replace("[0, 1, 2]", "[0]"), encoding="utf-8")
    edit("set: {horizon: 2}", "set: {agent: idler}")
    edit("set: {governor.gates.tired: null, agent.candidates", "set: {agent: {use: idler}, agent.candidates")
    bundle = load("heights.yaml")[0]
    assert "idler" in {spec.name for spec in bundle.specs.values()}
    plan = compile_suite(bundle)
    agents = {case.arm: case.bundle.specs[case.bundle.main.refs["agent",]].name for case in plan.trial.cases}
    assert agents == {"short": "idler", "long": "climber"}
    (mutant,) = plan.mutants
    assert {case.bundle.specs[case.bundle.main.refs["agent",]].name for case in mutant.mutated.cases} == {"idler"}


@pytest.mark.medium
def test_evidence_of_a_suite_that_exchanges_a_spec_is_verified(project, edit, spec):
    (project / "idler.yaml").write_text(
        (project / "climber.yaml").read_text(encoding="utf-8").replace("climber", "idler"), encoding="utf-8"
    )
    edit("set: {horizon: 2}", "set: {agent: idler, horizon: 2}")
    place = execute(load("heights.yaml")[0], project / "out", RunOptions(Processes(1))).place
    done = spec("verify", place)
    assert done.status == 0, done.out


SEVERAL = """spec: suite/v1
name: hunt
runs: {plain: {scenarios: [pursuit]}}
figures: {moves: {sum: "size(steps)"}}
checks: [{id: some, require: moves.value > 3, opportunities: moves.value}]
mutants:
  - id: other-hunter
    set: {agents.hunter.agent: AGENT}
"""


def test_one_of_several_agents_is_exchanged(tmp_path):
    (tmp_path / "hunt.yaml").write_text(SEVERAL.replace("AGENT", "fugitive"), encoding="utf-8")
    (bundle,) = load(tmp_path / "hunt.yaml")
    assert bundle.main.data["mutants"][0]["set"]["agents.hunter.agent"].startswith("agent/fugitive@")


def test_an_agent_that_there_is_not_is_shown_where_it_is_named(tmp_path, spec):
    (tmp_path / "hunt.yaml").write_text(SEVERAL.replace("AGENT", "fugitiv"), encoding="utf-8")
    done = spec("check", tmp_path / "hunt.yaml")
    assert re.search(r"hunt\.yaml:8:32: error\[E_REF_MISSING\]: there is no agent `fugitiv`", done.err)
    assert "did you mean `fugitive`?" in done.err


CARETS = {
    "a step of the path": ("governor.gats.tired: null", "governor.", "gats", "E_SUITE_SET"),
    "an item": ("governor.gates: {tird: null}", "governor.gates: {", "tird", "E_SUITE_SET"),
    "a value": ("horizon: soon", "horizon: ", "soon", "E_SUITE_SET"),
    "a name in an expression": (
        "governor.gates.tired.deny: n >= STAMIN",
        "governor.gates.tired.deny: n >= ",
        "STAMIN",
        None,
    ),
    "a name in an item": ("governor.gates: {tired: {deny: n > m}}", "governor.gates: {tired: {deny: n > ", "m", None),
}


@pytest.mark.parametrize(("change", "before", "at", "code"), CARETS.values(), ids=CARETS)
def test_a_finding_names_file_suite_mutant_and_path_with_the_caret_at_its_cause(
    change, before, at, code, project, edit, spec
):
    edit(
        "{id: no-bound, arms: [long], set: {",
        f"{{id: wrong, arms: [long], set: {{{change}}}}}\n  - {{id: no-bound, arms: [long], set: {{",
    )
    line = next(
        n for n, text in enumerate((project / "heights.yaml").read_text().splitlines(), 1) if "id: wrong" in text
    )
    column = len("  - {id: wrong, arms: [long], set: {") + len(before) + 1
    told = spec("check", "heights.yaml").err
    assert f"heights.yaml:{line}:{column}: error[{code or 'E_EXPR_UNKNOWN_NAME'}]" in told, told
    assert "mutant `wrong` of `heights`" in told
    assert f"`{change.partition(':')[0]}`" in told
    assert f"{at}" in told


def test_of_several_changes_the_last_one_is_told_that_makes_a_spec_invalid():
    (bundle,) = load(str(CLIMB / "climb.yaml"))
    first = Change(("seed",), 4, None, whose="the first: ")
    wrong = Change(("horizon",), "soon", None, whose="the second: ")
    told = findings_of(overlay, bundle, bundle.main.key, {}, [first, wrong])
    assert told[0].message.startswith("the second: climb would be invalid")


def test_what_the_changes_of_a_suite_make_is_counted(project, edit, monkeypatch):
    """Of one run after another only what they keep counts, and what comes out alike is made once."""
    edit("set: {horizon: 2}", "set: {governor.gates.tired: null, governor.gates.leap: {reason: wide}}")
    (bundle,) = load("heights.yaml")
    cases = compile_suite(bundle).cases
    short = [case.bundle for _, case in cases if case.arm == "short"][:2]
    assert len({id(bundle.specs[bundle.main.refs["governor",]]) for bundle in short}) == 1
    made = {id(spec): spec for _, case in cases for spec in case.bundle.specs.values()}
    count = sum(values_in(spec.data) for key, spec in made.items() if spec not in bundle.specs.values())
    monkeypatch.setattr("specledger.suites.overlay.MAX_VALUES", 2 * count)
    assert compile_suite(load("heights.yaml")[0]).cases
    monkeypatch.setattr("specledger.suites.overlay.MAX_VALUES", count // 2)
    found = findings_of(compile_suite, load("heights.yaml")[0])
    assert {finding.code for finding in found} == {"E_REF_LIMIT"}


def test_a_changed_spec_says_where_its_values_are_written(project, edit):
    edit("set: {horizon: 2}", "set: {governor.gates.leap.reason: wide, governor.gates.tired.reason: weary}")
    plan = compile_suite(load("heights.yaml")[0])
    bundle = next(case.bundle for case in plan.trial.cases if case.arm == "short")
    governor = bundle.specs[bundle.main.refs["governor",]]
    files = {path: node.span.file for path, node in governor.origins.items()}
    places = {gate["id"]: ("gates", index, "reason") for index, gate in enumerate(governor.data["gates"])}
    assert {name: files[place] for name, place in places.items()} == {
        "leap": "heights.yaml",
        "honest": "warden.yaml",
        "tired": "heights.yaml",
        "calm": "warden.yaml",
    }
    assert files.keys() >= {("name",), ("gates", 0, "deny")}
    assert not files.keys() & {(), ("gates",), ("gates", 0)}
    assert len(governor.origins) == len(files)
    assert ("gates", 9) not in governor.origins


HINTS = {
    "agents in an arm": (
        "scenarios: [pursuit]}",
        "scenarios: [pursuit], agents: {hunter: greedy}}",
        "E_SPEC_UNKNOWN_KEY at agents: `agent: NAME` is one agent, and an arm of its own compares another; "
        "where agents act together, `set: {agents.NAME.agent: ...}` exchanges one of them",
    ),
    "agents of a suite": (
        "runs:",
        "agents: [greedy, cautious]\nruns:",
        "E_SPEC_UNKNOWN_KEY at agents: an arm says it: `runs: {NAME: {scenarios: [...], agent: ...}}`, one for each "
        "agent compared",
    ),
    "one agent for several": (
        "scenarios: [pursuit]}",
        "scenarios: [pursuit], agent: fugitive}",
        "E_SUITE_SET at fugitive: of several agents name the one that is changed: `set: {agents.hunter.agent: ...}`",
    ),
    "one governor for several, of a mutant": (
        "set: {agents.hunter.agent: AGENT}",
        "governor: any-action",
        "E_SUITE_SET at any-action: of several agents name the one that is changed: "
        "`set: {agents.hunter.governor: ...}`",
    ),
    "a text where an agent and its governor stand": (
        "agents.hunter.agent: AGENT",
        "agents.hunter: fugitive",
        "E_SUITE_SET at fugitive: of several agents name the one that is changed: `set: {agents.hunter.agent: ...}`",
    ),
    "one of several agents where there is one": (
        "scenarios: [pursuit]}",
        "scenarios: [hazard], set: {agents.hunter.agent: fugitive}}",
        "E_SUITE_SET at agents: did you mean `agent`?",
    ),
    "several agents where there is one": (
        "scenarios: [pursuit]}",
        "scenarios: [hazard], set: {agents: {hunter: greedy}}}",
        "E_SUITE_SET at greedy: this scenario is for one agent: `set: {agent: ...}`",
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_where_an_agent_cannot_stand_a_hint_says_where_it_can(tmp_path, old, new, expected):
    text = SEVERAL.replace(old, new).replace("AGENT", "fugitive")
    (tmp_path / "hunt.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Rejected) as rejected:
        compile_suite(load(tmp_path / "hunt.yaml")[0])
    found = next(one for one in rejected.value.diagnostics if one.code in expected)
    assert found.span is not None
    line = text.splitlines()[found.span.start.line - 1]
    assert f"{found.code} at {line[found.span.start.column - 1 : found.span.end.column - 1]}: {found.hint}" == expected
    assert "instance of" not in found.message
