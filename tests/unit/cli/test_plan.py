"""`spec plan`: what would run, and that it is what runs."""

import json
from datetime import date

import pytest

from specledger.cli.specs import _plan_text
from specledger.kinds.asking_cost import doubtful_prices

pytestmark = pytest.mark.usefixtures("project")

SUITE = """
spec: suite/v1
name: heights
runs:
  short: {scenarios: [climb], seeds: [3, 4], set: {horizon: 2}}
  long: {scenarios: [climb], seeds: [3], set: {episodes: 2}}
measures: {tempted: "steps.map(s, s.rejections.exists(r, r.gate == 'leap'))"}
figures: {arrives: {rate: success}, temptations: {rate: tempted}}
checks: [{id: some, require: arrives.value >= 0, opportunities: arrives.of}]
mutants: [{id: lazy, arms: [long], set: {governor.gates.tired: null}}]
"""


def test_a_scenario_as_it_then_runs(spec, project):
    done = spec("plan", "climb.yaml", "--set=seed=8", "--format=json")
    assert (done.status, done.err) == (0, "")
    (plan,) = done.json["plans"]
    assert not (project / "out").exists()
    (run,) = spec("run", "climb.yaml", "--seed=8", "--out=here", "--format=json").json["runs"]
    assert plan["digest"] == run["manifest"]["specs"]
    assert (plan["kind"], plan["name"], plan["case"], plan["seed"], plan["horizon"]) == ("scenario", "climb", "", 8, 3)
    assert plan["most_steps"] == plan["episodes"] * plan["horizon"] >= run["manifest"]["result"]["steps"]
    assert plan["gates"] == ["schema", "leap", "honest", "tired", "calm"]
    assert [one["invariant"] for one in plan["invariants"]] == ["bounded"]
    drifts = plan["drifts"]
    assert [(one["drift"], one["due"]) for one in drifts] == [("shift", len(drifts[0]["at"]))]
    receipts = map(json.loads, (project / "here" / "receipts.jsonl").read_text().splitlines())
    happened = {one["body"]["t"] for one in receipts if one["type"] == "drift"}
    assert happened
    assert happened <= set(drifts[0]["at"])


def test_the_runs_of_a_suite(spec, project):
    (project / "heights.yaml").write_text(SUITE.lstrip())
    (plan,) = spec("plan", "heights.yaml", "--format=json").json["plans"]
    assert [(one["run"], one["seed"], one["most_steps"]) for one in plan["runs"]] == [
        ("long.climb.3", 3, 6), ("short.climb.3", 3, 4), ("short.climb.4", 4, 4),
    ]  # fmt: skip
    assert len({one["digest"] for one in plan["runs"]}) == 3
    assert (plan["episodes"], plan["most_steps"], plan["trials"], plan["most_trial_steps"]) == (6, 14, 2, 12)
    assert plan["mutants"] == [{"mutant": "lazy", "suite": "heights", "runs": 1}]
    assert "26 steps at most" in spec("plan", "heights.yaml").out


@pytest.mark.medium
def test_a_law_and_a_discovery(spec):
    plans = spec("plan", "rule-184-ones", "--format=json").json["plans"]
    assert [(one["kind"], one["template"], one["expected"]) for one in plans] == [
        ("law", "invariant", {"status": "PROVED"})
    ]
    spec("new", "discovery", "first")
    (plan,) = spec("plan", "first.yaml", "--format=json").json["plans"]
    assert (plan["iterations"], plan["most_laws"], plan["templates"]) == (2, 10, ["invariant"])


def test_a_run_that_could_not_pass_says_so(spec, edit):
    edit("warden.yaml", "invariants: [bounded]", "invariants: []")
    assert "no invariant is checked, so the verdict cannot be PASS" in spec("plan", "climb.yaml").out


def test_many_runs_are_cut_short_for_people_only(spec, project):
    (project / "heights.yaml").write_text(SUITE.lstrip().replace("seeds: [3, 4]", f"seeds: {list(range(20))}"))
    assert "    and 9 more" in spec("plan", "heights.yaml").out
    assert len(spec("plan", "heights.yaml", "--format=json").json["plans"][0]["runs"]) == 21


PRICES = {
    "2026-11-01": [],
    "2026-08-31": [],
    "2026-08-30": ["a price of 2026-08-30 is more than 90 days old: look it up again"],
    "no date": ["a price has no date (`as_of`): nobody can tell whether it still holds"],
    "2026-01-31, 2026-11-01": ["a price of 2026-01-31 is more than 90 days old: look it up again"],
}


@pytest.mark.parametrize("dates", PRICES)
def test_a_price_that_is_old_or_has_no_date_is_flagged(dates):
    assert doubtful_prices({"model": {"prices_as_of": dates}}, date(2026, 11, 29)) == PRICES[dates]


@pytest.mark.parametrize("entry", [{}, {"model": "kinetic-script"}, {"model": {"calls": 3}}])
def test_where_no_price_is_stated_none_is_flagged(entry):
    assert doubtful_prices(entry, date(2026, 11, 29)) == []


@pytest.mark.medium
def test_a_model_without_a_kernel_is_asked_once_for_each_decision(spec):
    plans = [
        spec("plan", "toy-basic", "--set=agent=candid-model", f"--set=episodes={episodes}", "--format=json").json[
            "plans"
        ][0]
        for episodes in (1, 2)
    ]
    assert [plan["model"]["calls"] for plan in plans] == [plan["most_steps"] for plan in plans] == [20, 40]
    assert all(plan["model"]["calls_at_most"] == plan["model"]["calls"] for plan in plans)
    assert 1000 < plans[0]["model"]["prompt_tokens"] / 20 < 2000


@pytest.mark.parametrize(("size", "rows", "more"), [(1, 1, []), (12, 12, []), (13, 12, ["    and 1 more"])])
def test_the_first_rows_of_a_list_are_shown(size, rows, more):
    entry = {
        "kind": "suite",
        "name": "s",
        "case": "",
        "digest": "d",
        "runs": [{"run": f"r{number}"} for number in range(size)],
    }
    lines = _plan_text(entry).splitlines()
    assert lines[:3] == ["suite s", "  digest: d", f"  runs: {size}"]
    assert sum(line.strip().startswith("r") and line.strip() != "run" for line in lines[3:]) == rows
    assert [line for line in lines if " more" in line] == more


LIMITS = {
    "none": ("", []),
    "enough": ("limits: {tokens: 1000000, money: 1.0}", []),
    "tokens": ("limits: {tokens: 30000}", ["tokens are expected of a run, and its model may use 30000 (in 1 run)"]),
    "money": ("limits: {money: 0.001}", ["a run is expected to cost ", "and its model may cost 0.001 (in 1 run)"]),
}


@pytest.mark.medium
@pytest.mark.parametrize("name", LIMITS)
def test_a_plan_that_exceeds_the_limits_of_its_model_says_so(name, spec, project):
    limits, said = LIMITS[name]
    service = "openai: {model: m, max_output_tokens: 100, price: {input: 0.1, output: 0.4}, LIMITS}"
    service = service.replace("LIMITS", limits) if limits else service.replace(", LIMITS", "")
    (project / "mine.yaml").write_text(f"spec: model/v1\nname: mine\n{service}\n")
    done = spec("plan", "toy-basic", "--set=agent=candid-model", "--set=agent.outside.model=mine.yaml")
    assert done.status == 0, done
    lines = [line for line in done.out.splitlines() if line.startswith("  limits: ")]
    assert len(lines) == bool(said)
    assert all(text in lines[0] for text in said)
