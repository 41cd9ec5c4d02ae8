"""Specs that are checked without a world: what is wrong in every world, and names that are probably misspelt."""

import pytest

from specledger.compile.standalone import is_near
from specledger.pipeline.checking import check
from tests.toys import documents_of, write_specs

INVARIANT = "spec: invariant/v1\nname: mine\nconstants: {LIMIT: 3}\nrequire: "
GOVERNOR = "spec: governor/v1\nname: mine\nchoose: {maximise: proposal.score}\ngates:\n  - {id: a, reason: r, deny: "
DRIFT = "spec: drift/v1\nname: mine\nconstants: {EVERY: 3}\neffects: [{set: goal, to: goal}]\nat: "
AGENT = "spec: agent/v1\nname: mine\ncandidates: [{op: go}]\nlet: {worth: level + 1}\nscore: "
VOCABULARY = "spec: vocabulary/v1\nname: mine\nforms: "

MISTAKES = {
    "a misspelt constant": (INVARIANT + "level <= LIMT", "E_EXPR_UNKNOWN_NAME", "`LIMIT`"),
    "a misspelt constant of a drift": (DRIFT + "t % EVRY == 0", "E_EXPR_UNKNOWN_NAME", "`EVERY`"),
    "a misspelt let": (AGENT + "wroth", "E_EXPR_UNKNOWN_NAME", "`worth`"),
    "a short word for previous": (INVARIANT + "n >= prev.n && LIMIT > 0", "W_EXPR_MISSPELT", "`previous`"),
    "a misspelt engine name": (INVARIANT + "n >= previuos.n", "W_EXPR_MISSPELT", "`previous`"),
    "a misspelt key of an action": (GOVERNOR + "action.opp == 'x'}", "W_EXPR_MISSPELT", "`action.op`"),
    "a misspelt key of a proposal": (GOVERNOR + "proposal.scroe < 0}", "E_EXPR_UNKNOWN_FIELD", "`score`"),
    "a function of another language": (INVARIANT + "len(objects) < LIMIT", "E_EXPR_UNKNOWN_NAME", "`size(objects)`"),
    "a misspelt standard function": (INVARIANT + "szie(objects) < LIMIT", "W_EXPR_MISSPELT", "`size`"),
    "types that no world mends": (INVARIANT + "LIMIT + 'a' == 'b'", "E_EXPR_TYPE", "`string(n)`"),
    "no condition": (INVARIANT + "LIMIT + 1", "E_EXPR_TYPE", None),
    "a missing argument": (INVARIANT + "objects.exists(o)", "E_EXPR_ARGUMENTS", None),
    "a slot that means nothing": (VOCABULARY + "['IF <counterfactual> THEN <choise>']", "E_VOCABULARY", None),
}


@pytest.mark.parametrize(("text", "code", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_found_without_a_world(tmp_path, text, code, hint):
    path = tmp_path / "mine.yaml"
    path.write_text(text + "\n", encoding="utf-8")
    _, (found,) = check([str(path)])
    assert found.code == code
    assert hint is None or hint in (found.hint or "")
    assert str(found.span).split(":")[-2] == str(len(text.splitlines()))


WORLD = {
    "state": {"n": "int", "previos": "int"},
    "start": {"n": "0", "previos": "0"},
    "actions": {"go": {"effects": [{"set": "n", "to": "n + 1"}]}},
    "observe": {"n": "n"},
    "record": {"n": "next.n"},
}
GO = {"candidates": [{"op": "go"}], "score": "n"}


def project(tmp_path, require, *, used):
    """The invariant and the scenario of a project, which uses it or not."""
    invariant = {"scope": "step", "severity": "warn", "require": require}
    extra = {"invariants": ["mine"]} if used else {}
    specs = tmp_path / "specs"
    scenario = write_specs(specs, {**documents_of(WORLD, GO, **extra), "invariant/mine": invariant})
    return str(specs / "invariant" / "mine.yaml"), str(scenario)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    ("require", "used", "codes"),
    [
        ("previos >= 0", True, []),
        ("previos >= 0", False, ["W_EXPR_MISSPELT"]),
        ("previuos.n >= 0", True, ["E_EXPR_UNKNOWN_NAME"]),
        ("previuos.n >= 0", False, ["W_EXPR_MISSPELT"]),
    ],
)
def test_what_uses_a_lone_spec_knows_its_names(tmp_path, require, used, codes, alone):
    invariant, scenario = project(tmp_path, require, used=used)
    checked, found = check([invariant] if alone else [invariant, scenario])
    assert [finding.code for finding in found] == codes
    assert {str(finding.span).partition(":")[0] for finding in found} <= {invariant}
    assert ("mine" in {spec.name for spec in checked}) == ("E_EXPR_UNKNOWN_NAME" not in codes or not alone)


def test_what_is_wrong_with_the_specs_that_use_a_lone_one_is_not_told(tmp_path):
    invariant, scenario = project(tmp_path, "previuos.n >= 0", used=True)
    agent = next((tmp_path / "specs" / "agent").iterdir())
    agent.write_text(agent.read_text(encoding="utf-8").replace("score: n", "score: unheard"), encoding="utf-8")
    files = {found.span.file for found in check([scenario])[1] if found.span}
    assert str(agent) in files
    assert {found.span.file for found in check([invariant])[1] if found.span} == {invariant}


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["agent", "drift", "governor", "invariant", "probe", "vocabulary"])
def test_shipped_specs_have_no_findings(kind):
    from specledger.load.shipped import find_specs

    folder = find_specs()
    assert folder is not None
    files = sorted(map(str, (folder / kind).glob("*.yaml")))
    checked, found = check(files)
    assert (len(checked), found) == (len(files), ())


@pytest.mark.parametrize(
    ("word", "name", "near"),
    [
        ("LIMT", "LIMIT", True),
        ("opp", "op", True),
        ("wroth", "worth", True),
        ("tick", "pick", False),
        ("claim", "claims", False),
        ("level", "LEVEL", False),
        ("x", "y", False),
        ("battery", "worth", False),
        ("proposed", "proposal", False),
        ("previuso", "previous", True),
    ],
)
def test_near_names(word, name, near):
    assert is_near(word, name) is near


def test_a_reserved_word_that_is_a_name_is_one_error_and_one_that_is_none_is_another(tmp_path):
    """Of the expressions that read a refused field nothing more is said; `for` is no field."""
    world = {**WORLD, "state": {"in": "int"}, "start": {"in": "0"}, "observe": {"n": "in + 1"}, "record": {"n": "for"}}
    world["actions"] = {"go": {"effects": [{"set": "in", "to": "in + 1"}]}}
    scenario = write_specs(tmp_path / "specs", documents_of(world, GO))
    found = check([str(scenario.parent.parent / "world" / f"{name}.yaml") for name in ("world",)])[1]
    assert [(one.code, one.message) for one in found] == [
        ("E_NAME_TAKEN", "'in' is a reserved word of CEL"),
        ("E_EXPR_SYNTAX", "`for` is a reserved word of CEL"),
    ]
