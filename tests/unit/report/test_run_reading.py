"""What a run's receipts become in its report: checks, their reasons, errors, costs, drifts, episodes and facts."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.events import PROGRESS
from specledger.kinds import load
from specledger.report.agent_metrics import METERED
from specledger.report.model import Receipt
from specledger.report.outcome import Outcome
from specledger.report.run import RunReading, _sets
from specledger.report.sections import Bar, Code, Count, EpisodeLink, Joined, Prose, Quoted, ReceiptLink, Words
from tests.toys import number_scenario

RESULT: Any = {
    "verdict": "PASS",
    "episodes": 2,
    "successes": 0,
    "steps": 3,
    "drifts": 0,
    "proposals": 9,
    "checks": 4,
    "errors": 0,
}
START: Any = {
    "seed": 7,
    "gates": ["schema", "evaluation", "high"],
    "drifts": [],
    "invariants": [{"name": "few", "scope": "step", "severity": "fatal"}],
}
EFFECTS = {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n * 7"}], "outcome": {"was": "x"}}}


@pytest.fixture(scope="module")
def specs(tmp_path_factory):
    invariants: Any = {
        "governor": {"invariants": ["few"], "gates": [{"id": "high", "reason": "r", "deny": "next.x > 90"}]},
        "invariant/few": {"require": "x < 50", "doc": "Few are left."},
    }
    folder = tmp_path_factory.mktemp("run")
    return load(str(number_scenario(folder, world={"actions": EFFECTS}, **invariants)))[0]


@pytest.fixture
def reading(specs):
    """A reading of a run with another result; receipts are taken from bodies by type, in order."""

    def read(*receipts, start: Any = None, result: Any = None):
        evidence: Any = SimpleNamespace(specs=specs, manifest={"result": {**RESULT, **(result or {})}}, place=None)
        made = RunReading(evidence)
        for seq, (type_, body) in enumerate([("start", {**START, **(start or {})}), *receipts]):
            made.add(Receipt(seq, b"{}", type_, body))
        return made

    return read


def step(t=0, **parts):
    body = {"episode": 0, "t": t, "decisions": [], "cost": None, "success": False, "violations": []}
    return "step", {**body, "potentials": {}, "record": None, **parts}


def decision(*gates, error=None):
    return {"rejected": [{"gate": gate} for gate in gates], "error": error}


def breach(name="few", witness: Any = None):
    return {"invariant": name, "witness": {"x": 60} if witness is None else witness}


def error(code="E_EVAL_DIV", expression: Any = "x / 0"):
    return {"code": code, "expression": expression}


def ended(episode=0, **parts):
    body = {"episode": episode, "steps": 3, "ended": "horizon", "first_success": None, "idle": {}, "violations": []}
    return "episode_end", {**body, **parts}


def check(made, id_):
    (found,) = [each for each in made.checks() if each.id == id_]
    return found


# What became of an invariant: the outcome, how often it could fail, how often it did, and why it was not judged.
INVARIANTS: dict[str, tuple[list[Any], dict[str, Any], tuple[Any, ...]]] = {
    "it held": ([step(0), step(1)], {}, (Outcome.PASSED, 2, 0, "")),
    "steps of a turn that is not over": ([step(0, success=None), step(1)], {}, (Outcome.PASSED, 1, 0, "")),
    "it was broken": ([step(violations=[breach()]), step(1)], {}, (Outcome.FAILED, 2, 1, "")),
    "its condition held once": ([step(0), step(1), ended(idle={"few": 1})], {}, (Outcome.PASSED, 1, 0, "")),
    "its condition never held": (
        [step(0), step(1), ended(idle={"few": 2})],
        {},
        (Outcome.NOT_APPLICABLE, 0, 0, "never had an opportunity (0 of 2 steps): its condition never held"),
    ),
    "more idle than there were steps": (
        [step(0), ended(idle={"few": 2})],
        {},
        (Outcome.NOT_APPLICABLE, 0, 0, "never had an opportunity (0 of 1 step): its condition never held"),
    ),
    "there was no step": ([], {}, (Outcome.UNTESTED, 0, 0, "there was no step to check")),
    "it was left open": (
        [step(unjudged=[{"invariant": "few", "reason": "no sum"}]), step(1)],
        {},
        (Outcome.CANNOT_TELL, 1, 0, "no sum (1)"),
    ),
    "it was left open and broken": (
        [step(unjudged=[{"invariant": "few", "reason": "no sum"}]), step(1, violations=[breach()])],
        {},
        (Outcome.FAILED, 1, 1, ""),
    ),
    "of an episode: it held": (
        [step(0), step(1), ended()],
        {"scope": "episode"},
        (Outcome.PASSED, 1, 0, ""),
    ),
    "of an episode: it was broken at its end": (
        [step(0), ended(violations=[breach()])],
        {"scope": "episode"},
        (Outcome.FAILED, 1, 1, ""),
    ),
    "of an episode: there was none": (
        [step(0)],
        {"scope": "episode"},
        (Outcome.UNTESTED, 0, 0, "there was no episode to check"),
    ),
}


@pytest.mark.parametrize(("receipts", "started", "found"), INVARIANTS.values(), ids=INVARIANTS)
def test_what_became_of_an_invariant(reading, receipts, started, found):
    start = {"invariants": [{**START["invariants"][0], **started}]}
    made = check(reading(*receipts, start=start), "invariant/few")
    assert (made.outcome, made.opportunities, made.failures, made.why) == found
    assert (made.says, made.warning, made.error) == ("Few are left.", False, False)
    assert made.spec is not None
    assert made.spec.startswith("invariant/few@")


@pytest.mark.parametrize(("severity", "warns"), [("fatal", False), ("warn", True)])
def test_an_invariant_of_no_spec_is_called_by_its_name(reading, severity, warns):
    start = {"invariants": [{"name": "other", "scope": "step", "severity": severity}]}
    made = check(reading(step(), start=start), "invariant/other")
    assert (made.says, made.spec, made.warning) == ("other", None, warns)


def test_the_first_witness_of_an_invariant_and_of_progress_is_kept(reading):
    made = reading(
        step(0, violations=[breach(PROGRESS, {"proposals": 0})]),
        step(1, violations=[breach(), breach(witness={"x": 70})]),
        step(2, violations=[breach(PROGRESS, {"proposals": 3})], agent="hare"),
    )
    assert made.witness("invariant/few") == "x 60"
    assert made.witness(PROGRESS) == "proposals 0"
    assert made.witness("invariant/other") == ""
    progress = check(made, PROGRESS)
    assert [seen.what for seen in progress.observations] == ["nothing was admitted", "nothing of hare was admitted"]
    assert (progress.outcome, progress.opportunities, progress.failures, progress.why) == (Outcome.FAILED, 3, 2, "")
    assert progress.says == "every step has a proposal that no gate rejects"
    assert [seen.detail for seen in check(made, "invariant/few").observations] == ['{"x":60}', '{"x":70}']


@pytest.mark.parametrize(
    ("receipts", "outcome", "why"), [([step()], Outcome.PASSED, ""), ([], Outcome.UNTESTED, "there was no step")]
)
def test_what_the_engine_requires_of_every_run(reading, receipts, outcome, why):
    made = reading(*receipts)
    assert [each.id for each in made.checks()] == ["invariant/few", PROGRESS, "evaluation"]
    for id_ in (PROGRESS, "evaluation"):
        found = check(made, id_)
        assert (found.outcome, found.why, found.spec, found.failures, found.error) == (outcome, why, None, 0, False)


def test_a_recording_demands_no_progress(reading):
    made = reading(step(), start={"recording": "ab"})
    assert [each.id for each in made.checks()] == ["invariant/few", "evaluation"]
    (section,) = [each for each in made.sections() if each.id == "invariants"]
    assert [row.name for row in section.rows] == ["few"]


AT_ADD = "world/world actions.add.effects.0.to, which sets x: int"
# Errors, and why the run could not be evaluated.
ERRORS: dict[str, tuple[list[Any], str]] = {
    "in a decision": ([step(decisions=[decision(error=error())])], "1 error, the first E_EVAL_DIV x / 0"),
    "of the episode": ([("error", {"episode": 0, **error()})], "1 error, the first E_EVAL_DIV x / 0"),
    "several": (
        [step(decisions=[decision(error=error("E_A", "a")), decision(error=error("E_B", "b"))])],
        "2 errors, the first E_A a",
    ),
    "of an expression of a spec": (
        [("error", {"episode": 0, **error(expression="x + n * 7")})],
        f"1 error, the first E_EVAL_DIV x + n * 7 ({AT_ADD})",
    ),
    "of one that changes no field": (
        [("error", {"episode": 0, **error(expression="next.x > 90")})],
        "1 error, the first E_EVAL_DIV next.x > 90 (governor/governor gates.0.deny)",
    ),
    "without an expression": ([("error", {"episode": 0, **error(expression="")})], "1 error, the first E_EVAL_DIV"),
}


@pytest.mark.parametrize(("receipts", "why"), ERRORS.values(), ids=ERRORS)
def test_why_something_could_not_be_evaluated(reading, receipts, why):
    found = check(reading(*receipts), "evaluation")
    assert (found.outcome, found.error, found.failures, found.why) == (Outcome.CANNOT_TELL, True, 0, why)


def test_errors_of_one_code_and_expression_are_one_row_with_its_first_receipts(reading):
    of = {"agent": "hare", "decisions": [decision(error=error())]}
    several = [step(t, **of) for t in range(4)]
    made = reading(*several, ("error", {"episode": 0, **error("E_B", "b")}))
    (section,) = [each for each in made.sections() if each.id == "evaluation"]
    assert section.heads == ("code", "expression", "written at", "times")
    assert [(row.name, row.mark, row.cells) for row in section.rows] == [
        ("E_EVAL_DIV", "error", (Code("x / 0"), Quoted(""), Count(4))),
        ("E_B", "error", (Code("b"), Quoted(""), Count(1))),
    ]
    assert section.rows[0].places == [ReceiptLink(1), ReceiptLink(2), ReceiptLink(3)]
    assert [row.of for row in section.rows] == [4, 1]
    whats = [seen.what for seen in check(made, "evaluation").observations]
    assert whats == ["E_EVAL_DIV of hare"] * 4 + ["E_B"]


def test_only_the_first_expressions_with_errors_are_kept(reading):
    errors = [("error", {"episode": 0, **error(expression=f"x{number % 26}")}) for number in range(52)]
    made = reading(*errors)
    (section,) = [each for each in made.sections() if each.id == "evaluation"]
    assert [row.cells[0] for row in section.rows] == [Code(f"x{number}") for number in range(25)]
    assert {row.of for row in section.rows} == {2}
    assert check(made, "evaluation").why == "52 errors, the first E_EVAL_DIV x0"


# What an effect sets, at the path of its right side.
SETS: dict[str, tuple[dict[str, Any], list[str | int], str]] = {
    "an effect": (
        {"state": {"x": "int"}, "effects": [{"set": "x", "to": "1"}]},
        ["effects", 0, "to"],
        ", which sets x: int",
    ),
    "an element": (
        {"state": {"x": {"list": "int"}}, "effects": [{"append": "x", "to": "1"}]},
        ["effects", 0, "to"],
        ', which sets x: {"list":"int"}',
    ),
    "a put": (
        {"state": {"x": "int"}, "effects": [{"put": "x", "to": "1"}]},
        ["effects", 0, "to"],
        ", which sets x: int",
    ),
    "each": (
        {"state": {"x": "int"}, "effects": [{"each": "x", "to": "1"}]},
        ["effects", 0, "to"],
        ", which sets x: int",
    ),
    "no field of the state": ({"state": {"x": "int"}, "effects": [{"set": "y", "to": "1"}]}, ["effects", 0, "to"], ""),
    "no effect": ({"state": {"x": "int"}, "gates": [{"deny": "1"}]}, ["gates", 0, "deny"], ""),
    "no world": ({"effects": [{"set": "x", "to": "1"}]}, ["effects", 0, "to"], ""),
    "a list": ({"state": {"x": "int"}, "score": ["1"]}, ["score", 0], ""),
}


@pytest.mark.parametrize(("data", "path", "words"), SETS.values(), ids=SETS)
def test_what_an_expression_sets(data, path, words):
    spec: Any = SimpleNamespace(data=data)
    assert _sets(spec, path) == words


def section_of(made, id_):
    (found,) = [each for each in made.sections() if each.id == id_]
    return found


def test_costs_are_summed_by_item_the_greatest_first(reading):
    made = reading(step(cost={"total": 5, "b": 2, "a": 2, "c": 1}), step(1, cost={"total": 3, "c": 3}))
    assert [(row.name, row.cells) for row in section_of(made, "budget").rows] == [
        ("total", (Words("8"), Bar(8, 8))),
        ("c", (Words("4"), Bar(4, 8))),
        ("a", (Words("2"), Bar(2, 8))),
        ("b", (Words("2"), Bar(2, 8))),
    ]


@pytest.mark.parametrize("cost", [None, {}, {"total": 0, "a": 0}])
def test_without_costs_there_is_no_budget(reading, cost):
    assert section_of(reading(step(cost=cost)), "budget").rows == []


def test_drifts_are_counted_with_the_steps_at_which_they_are_due(reading):
    start = {"drifts": [{"drift": "flood", "schedule": [1, 2]}, {"drift": "fire", "schedule": [9]}]}
    drifts = [("drift", {"episode": 0, "t": t, "drift": "flood"}) for t in range(4)]
    rows = section_of(reading(*drifts, start=start), "drifts").rows
    assert [(row.name, row.cells, row.details, row.places, row.of) for row in rows] == [
        (
            "flood",
            (Count(4),),
            [("due at steps", Code([1, 2]))],
            [ReceiptLink(1), ReceiptLink(2), ReceiptLink(3)],
            4,
        ),
        ("fire", (Count(0),), [("due at steps", Code([9]))], [], 0),
    ]


def test_episodes_say_how_they_ended_and_what_was_broken_in_each(reading):
    made = reading(
        step(violations=[breach(), breach(PROGRESS)]),
        ended(violations=[breach()], first_success=0),
        ended(1, steps=4, ended="goal"),
    )
    assert [(row.name, row.mark, row.cells, row.places) for row in section_of(made, "episodes").rows] == [
        (
            "episode 0",
            "",
            (Count(3), Quoted("horizon"), Words("in step 0"), Count(3)),
            (EpisodeLink(0, 0), ReceiptLink(2)),
        ),
        (
            "episode 1",
            "",
            (Count(4), Quoted("goal"), Words("never"), Count(0)),
            (EpisodeLink(0, 1), ReceiptLink(3)),
        ),
    ]


def test_rules_that_were_broken_count_for_the_episode(reading):
    rules = {"episode": 0, "t": 0, "unjudged": [], "broken": []}
    one = {"rule": "p.r", "call": "", "reason": "it is late", "value": "1"}
    counted = {"p.r": {"held": 0, "broken": 2, "unjudged": 0}}
    made = reading(("rules", {**rules, "broken": [one, one]}), ended(), result={"rules": counted})
    assert section_of(made, "episodes").rows[0].cells[3] == Count(2)


def test_rejections_are_counted_by_the_gates_of_the_run(reading):
    made = reading(step(decisions=[decision("high"), decision("high", "schema")]), step(1))
    gates = section_of(made, "gates")
    assert made._rejections() == {"schema": 1, "evaluation": 0, "high": 2}
    assert [row.name for row in gates.rows if row.places] == ["schema", "high"]


def test_an_invariant_without_an_opportunity_says_so_beside_its_requirement(reading):
    idle = reading(step(0), step(1), ended(idle={"few": 2}))
    row = next(row for row in section_of(idle, "invariants").rows if row.name == "few")
    assert row.cells[0] == Joined((Prose("Few are left.", 300), Words("Never had an opportunity (0 of 2 steps).")))
    judged = reading(step(0), step(1), ended(idle={"few": 1}))
    row = next(row for row in section_of(judged, "invariants").rows if row.name == "few")
    assert isinstance(row.cells[0], Prose)


def test_the_section_of_invariants_has_a_witness_only_where_one_was_broken(reading):
    held = section_of(reading(step(), step(1)), "invariants")
    assert held.heads == ("invariant", "requirement", "scope", "severity", "checked", "broken")
    assert [(row.name, row.mark, row.cells[1:]) for row in held.rows] == [
        ("few", "held", (Words("step"), Words("fatal"), Count(2), Count(0))),
        (PROGRESS, "held", (Words("step"), Words("fatal"), Count(2), Count(0))),
    ]
    broken = section_of(reading(step(violations=[breach()]), step(1)), "invariants")
    assert broken.heads == (*held.heads, "first witness")
    assert [(row.name, row.cells[3:], row.places, row.of) for row in broken.rows] == [
        ("few", (Count(2), Count(1), Quoted("x 60")), [EpisodeLink(0, 0, 0), ReceiptLink(1)], 1),
        (PROGRESS, (Count(2), Count(0), Quoted("")), [], 0),
    ]


def test_an_invariant_of_episodes_leads_to_receipts_alone(reading):
    start = {"invariants": [{**START["invariants"][0], "scope": "episode"}]}
    made = reading(step(), ended(violations=[breach()]), start=start)
    assert section_of(made, "invariants").rows[0].places == [ReceiptLink(2)]


def test_facts_of_a_run(reading):
    left = {"decisions": [{**decision(), "unjudged": [{"gate": "high", "reason": "no sum"}]}]}
    result = {"faults": {"no_answer": 2, "agent_died": 1}, "unknown": {"no result": 3}}
    assert [*reading(step(**left), result=result).facts()] == [
        ("seed", Words("7")),
        ("episodes", Count(2)),
        ("successes", Count(0)),
        ("steps", Count(3)),
        ("drifts", Count(0)),
        ("proposals", Count(9)),
        ("judgements", Count(4)),
        ("errors", Count(0)),
        ("agent faults: agent_died", Count(1)),
        ("agent faults: no_answer (nothing came back)", Count(2)),
        ("not known: no result", Count(3)),
        ("gate not judged: high: no sum", Count(1)),
    ]


# Of a recording: what is counted of it, where nothing succeeded and nothing drifted, and where something did.
RECORDED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "calls alone": ({}, ["calls", "judgements", "errors"]),
    "successes": ({"successes": 1}, ["calls", "successes", "judgements", "errors"]),
    "drifts": ({"drifts": 2}, ["calls", "drifts", "judgements", "errors"]),
}


@pytest.mark.parametrize(("result", "names"), RECORDED.values(), ids=RECORDED)
def test_facts_of_a_recording(reading, result, names):
    made = reading(result=result)
    made._recorded = True
    facts = dict(made.facts())
    assert (list(facts), facts["calls"]) == (names, Words("3 in 2 trajectories"))


def test_trajectories_are_called_by_their_logs_as_far_as_there_are_any(reading):
    made = reading()
    made._recorded, made.trajectories = True, ("one.json",)
    made.add(Receipt(1, b"{}", *ended(0, violations=[breach()])))
    made.add(Receipt(2, b"{}", *ended(1)))
    section = section_of(made, "episodes")
    assert (section.title, section.heads) == ("Trajectories", ("trajectory", "calls", "broken"))
    assert [(row.name, row.cells, row.places) for row in section.rows] == [
        ("one.json", (Count(3), Count(1)), (ReceiptLink(1),)),
        ("trajectory 1", (Count(3), Count(0)), (ReceiptLink(2),)),
    ]


@pytest.mark.parametrize(("claims", "challenged"), [({}, False), ({"p": {"tested": 1}}, True)])
def test_a_run_that_tested_claims_was_challenged(reading, claims, challenged):
    made = reading(result={"claims": claims})
    assert made.challenged is challenged
    assert made.agents() == {}
    (result,) = made.results()
    assert result["claims"] == claims


def test_a_run_with_an_agent_outside_has_metrics_of_its_steps_and_episodes(reading, monkeypatch):
    monkeypatch.setattr("specledger.report.specs.Specs.metered", lambda specs: True)
    taken = []
    monkeypatch.setattr(
        "specledger.report.agent_metrics.RunMetrics.add", lambda metrics, type_, body: taken.append(type_)
    )
    made = reading(("drift", {"episode": 0, "t": 0, "drift": "flood"}), step(), ended())
    assert taken == [type_ for type_ in ("start", "drift", "step", "episode_end") if type_ in METERED]
    assert list(made.agents()) == ["agent"]
