"""The second verifier's suites: what the engine's suites come to is accepted, and whatever else is said is refused."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.expr import EvaluationError
from specledger.load import load
from specledger.pipeline import execute
from specledger.suites import series, statistics
from tests.unit.tools.tampered import needing
from tools.conformance import lay_out
from tools.verifier import suite_measures
from tools.verifier.basis import Open, Refuted
from tools.verifier.made_again import scenario_again
from tools.verifier.main import verify
from tools.verifier.suite_check import Assessment, suite_again
from tools.verifier.suite_figures import (
    exact_limits,
    layout_limits,
    mean_of,
    rate_bound,
    share_of,
    slope_of,
    wilson_limits,
)
from tools.verifier.suite_plan import check_overlay, overlaid
from tools.verifier.values import Failed

SERIES: dict[str, Any] = dict(suite_measures.SERIES)
ROOT = Path(__file__).resolve().parents[3]
CLIMB = ROOT / "tests" / "unit" / "pipeline" / "climb"
RICH = """\
spec: suite/v1
name: heights
constants: {ENOUGH: 2, HALF: {qfixed: 0.5}, LIST: [1, 2]}
seed: 5
resamples: 99
replay: bytes
functions:
  leaps: {args: [s], is: "s.rejections.filter(r, r.gate == 'leap')"}
runs:
  short: {scenarios: [climb], seeds: [3, 4], set: {horizon: 2}}
  long: {scenarios: [climb], seeds: [3, 4], set: {agent.candidates: [{op: climb, for_each: {by: "[0, 1, 2]"}}]}}
  still: {scenarios: [climb], drift: [], set: {episodes: 1, seed: 0}}
measures:
  heights: "steps.map(s, s.record.reached)"
  top: "maximum(heights, 0)"
  tempted: "steps.map(s, size(leaps(s)) > 0)"
  places: "steps.map(s, s.t)"
  bad: "steps[99].t"
  worse: "bad + 1"
  odd: "trend(prefix_sums(flatten([heights, [1, 7]]))) + distinct(heights) + last(heights, 7) + first(tempted)"
figures:
  arrives: {rate: success, over: long}
  arrives_by_seed: {rate: success, by: seed}
  high: {mean: heights}
  highest: {greatest: top, over: [long]}
  lead: {difference: top, over: [long, short]}
  temptations: {rate: tempted}
  climbs: {slope: heights, along: places}
  climbs_by: {slope: top, by: arm}
  median: {quantile: heights, at: 0.5}
  most: {quantile: heights, by: run}
  broken: {mean: worse}
  drifted: {sum: "drifts.map(d, d.t)"}
  never: {mean: "drifts.map(d, d.t)", over: still}
  strange: {least: odd}
checks:
  - {id: climbs, require: highest.value > ENOUGH, opportunities: highest.of, witness: {height: highest.value, of: never.of}}
  - {id: further, require: "lead.value > 0 && HALF == 500000 && LIST[1] == 2", opportunities: lead.of}
  - {id: of-nothing, require: never.value > 3, opportunities: never.of}
  - {id: broken, require: broken.value > 3, opportunities: "1", witness: {x: broken.value}}
  - {id: replayed, require: "runs.all(r, r.exact && r.noticed)", opportunities: "sum(runs.map(r, r.compared))"}
mutants:
  - id: no-bound
    arms: [long]
    set: {governor.gates.tired: null, agent.candidates: [{op: climb, for_each: {by: "[0]"}}]}
  - {id: not-made-again, scenarios: [climb], under: {episodes: 1}, replay: none}
  - {id: without-drift, drift: []}
"""


def held(folder: Path, place: str = "") -> Any:
    """What a verifier reads of a bundle."""
    inner = folder / place
    return SimpleNamespace(
        specs=json.loads((inner / "specs.json").read_bytes()),
        manifest=json.loads((inner / "manifest.json").read_bytes()),
        lines=lambda: (inner / "receipts.jsonl").read_bytes().splitlines(),
        tape=None,
        unmade=[],
    )


def suite_at(folder: Path) -> Any:
    """The same of a suite, with its runs."""
    suite = held(folder)
    places = [path.parent.relative_to(folder).as_posix() for path in folder.glob("*/**/manifest.json")]
    suite.inside = {place: held(folder, place) for place in places}
    return suite


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evidence of a small suite that has every statistic, a check that cannot be evaluated, and mutants."""
    work = tmp_path_factory.mktemp("suite")
    shutil.copytree(CLIMB, work, dirs_exist_ok=True)
    (work / "heights.yaml").write_text(RICH, encoding="utf-8")
    with chdir(work):
        execute(load(work / "heights.yaml")[0], work / "out", workers=1)
    return work / "out"


def test_what_the_engine_says_of_a_suite_is_accepted(rich: Path) -> None:
    """The whole file: the runs are whole, each is made again, and everything is assessed again."""
    found = verify(rich, again=True)
    assert [(one["name"], one["message"]) for one in found["checks"] if one["status"] != "passed"] == []
    kinds = {json.loads(line)["type"] for line in (rich / "receipts.jsonl").read_bytes().splitlines()}
    assert kinds == {"start", "run", "figure", "check", "mutant", "end"}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a value that holds nothing itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from leaves(one, (*path, key))
    if not isinstance(value, dict | list):
        yield path


def test_any_other_value_in_the_receipts_of_a_suite_is_refused(rich: Path) -> None:
    """Each value of each receipt is exchanged; receipts are exchanged, dropped and added."""
    suite = suite_at(rich)
    assessment = Assessment(suite.specs, suite.inside.__getitem__)
    assessment.check_runs()
    recorded = [(one["type"], one["body"]) for one in map(json.loads, suite.lines())]
    assessment.compare(recorded)
    made = assessment.receipts()
    assessment.receipts = lambda: made  # type: ignore[method-assign]
    wrong = [recorded[:-1], [*recorded, recorded[-1]], [*recorded[:3], recorded[4], recorded[3], *recorded[5:]]]
    for place, (_, body) in enumerate(recorded):
        for path in leaves(body):
            changed = copy.deepcopy(recorded)
            inner = changed[place][1]
            for step in path[:-1]:
                inner = inner[step]
            old = inner[path[-1]]
            inner[path[-1]] = old + 1 if type(old) is int else 0 if old is None else None
            wrong.append(changed)
    assert len(wrong) > 300
    for one in wrong[:: max(1, len(wrong) // 150)]:
        with pytest.raises(Refuted) as refused:
            assessment.compare(one)
        assert refused.value.code == "E_ASSESSMENT"


@pytest.mark.parametrize(("folder", "case"), needing("suite", "suites", "replay"))
def test_tampered_suites_are_refused_for_the_right_reason(folder: Path, case: dict[str, Any], tmp_path: Path) -> None:
    """The code is the one that the engine gives."""
    with pytest.raises(Refuted) as refused:
        suite_again(suite_at(lay_out(folder, tmp_path).bundle), scenario_again)
    assert refused.value.code == case["expect"]["code"]


def test_a_run_that_cannot_be_made_again_leaves_the_suite_open(rich: Path) -> None:
    """Nothing is refuted by that, and what can be assessed is."""

    def unable(run: Any) -> None:
        raise Open("E_REPLAY", "too much")

    with pytest.raises(Open, match=r"([0-9]+) of \1 runs were not made again.*too much"):
        suite_again(suite_at(rich), unable)


WORLD = "world/w@0000000000000000"
SCENARIO = {
    "name": "s",
    "world": WORLD,
    "horizon": 9,
    "drift": ["drift/d@0000000000000000"],
    "gates": [{"id": "a"}, {"id": "b"}],
}
KNOWN: dict[str, Any] = {
    "scenario/s@0000000000000000": SCENARIO,
    WORLD: {"name": "w", "constants": {"B": {"qfixed": "40"}, "F": {"$double": "0.5"}}},
    "drift/d@0000000000000000": {"name": "d"},
}


def made(scenario: dict[str, Any], world: dict[str, Any] | None = None) -> dict[str, Any]:
    """The specs of a run: the scenario with changes, in which null takes a key away, and perhaps another world."""
    data = {key: value for key, value in {**SCENARIO, **scenario}.items() if value is not None}
    specs: dict[str, Any] = {
        "scenario/s@1111111111111111": data,
        "drift/d@0000000000000000": KNOWN["drift/d@0000000000000000"],
    }
    if not data.get("drift"):
        del specs["drift/d@0000000000000000"]
    key = WORLD if world is None else "world/w@2222222222222222"
    data["world"] = key
    specs[key] = KNOWN[WORLD] if world is None else {**KNOWN[WORLD], **world}
    return {"root": "scenario/s@1111111111111111", "specs": specs}


BUDGET: dict[str, Any] = {"constants": {"B": {"qfixed": "1.5"}, "F": {"$double": "0.5"}}}


@pytest.mark.parametrize(
    ("places", "changes", "specs", "code"),
    [
        ({"seed": 3}, {}, made({"seed": 3}), None),
        ({"seed": 0}, {}, made({}), None),
        ({"seed": 3}, {}, made({"seed": 4}), "E_RUNS"),
        ({"seed": 3}, {}, made({}), "E_RUNS"),
        ({}, {"episodes": 1}, made({}), None),
        ({}, {"episodes": 2}, made({}), "E_RUNS"),
        ({}, {"episodes": 2}, made({"episodes": 2}), None),
        ({}, {"retries_of": 7}, made({}), "open"),
        ({}, {"commit": "none"}, made({"commit": "none"}), None),
        ({}, {"horizon": None}, made({"horizon": None}), None),
        ({}, {"horizon": None}, made({}), "E_RUNS"),
        ({}, {}, made({"horizon": 8}), "E_RUNS"),
        ({}, {}, made({"more": 1}), "E_RUNS"),
        ({"drift": []}, {}, made({"drift": None}), None),
        ({"drift": []}, {}, made({}), "E_RUNS"),
        ({}, {"gates.b": None}, made({"gates": [{"id": "a"}]}), None),
        ({}, {"gates.0.when": "x"}, made({"gates": [{"id": "a", "when": "x"}, {"id": "b"}]}), None),
        ({}, {"gates.b": None}, made({}), "E_RUNS"),
        ({}, {"world.constants.B": {"qfixed": {"$double": "1.50"}}}, made({}, BUDGET), None),
        ({}, {"world.constants.B": {"qfixed": {"$double": "1.6"}}}, made({}, BUDGET), "E_RUNS"),
        ({}, {"world.constants.B": {"qfixed": {"$double": "1.5"}}}, made({}), "E_RUNS"),
        ({}, {"world.constants.B": {"qfixed": 40}}, made({}, {}), None),
        ({}, {}, made({}, BUDGET), "E_RUNS"),
        (
            {},
            {"world.constants": {"B": {"qfixed": 1}, "F": 2}, "world.constants.F": 3},
            made({}, {"constants": {"B": {"qfixed": "1"}, "F": 3}}),
            None,
        ),
        ({}, {"nowhere.at.all": 1}, made({}), "E_SPECS"),
        ({}, {"gates.c": 1}, made({}), "E_SPECS"),
        ({}, {'"horizon"': 4}, made({"horizon": 4}), None),
    ],
)
def test_a_run_is_held_to_the_changes_of_its_arm(
    places: dict[str, Any], changes: dict[str, Any], specs: dict[str, Any], code: str | None
) -> None:
    """The specs of a run are those of the scenario with the changes, and nothing else; an unknown default is left open."""

    def look() -> None:
        known = dict(KNOWN)
        check_overlay(known, overlaid(known, "scenario/s@0000000000000000", places, list(changes.items())), specs)

    if code is None:
        look()
        return
    with pytest.raises(Open if code == "open" else Refuted) as refused:
        look()
    assert code in ("open", str(refused.value).partition(":")[0])


def test_no_spec_lies_beside_those_of_a_run() -> None:
    """A spec that nothing leads to is refused."""
    specs = made({})
    specs["specs"]["drift/more@0000000000000000"] = {}
    with pytest.raises(Refuted):
        check_overlay(dict(KNOWN), "scenario/s@0000000000000000", {**specs, "root": "scenario/s@1111111111111111"})


@pytest.mark.parametrize(
    ("count", "of"), [(0, 1), (1, 1), (0, 59), (7, 12), (3, 288), (144, 288), (999, 1000), (0, 20000)]
)
def test_intervals_of_rates_are_the_engines(count: int, of: int) -> None:
    """Two ways of computing each give the same integers."""
    assert wilson_limits(count, of) == statistics.wilson(count, of)
    assert exact_limits(count, of) == statistics.clopper_pearson(count, of)
    assert rate_bound(count, of, 20) == statistics.upper_bound(count, of)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_intervals_over_layouts_are_the_engines(size: int) -> None:
    """The same clusters are drawn, and the same shares taken."""
    sums = [[3 + one, (-7) ** one] for one in range(size)]
    assert layout_limits(sums, mean_of, (99, 5)) == statistics.clustered(sums, statistics.mean, 99, 5)
    pairs = [[4, 6 + one, one * one - 9, 14 + one, -one] for one in range(size)]
    assert layout_limits(pairs, slope_of, (99, 5)) == statistics.clustered(pairs, statistics.slope, 99, 5)
    for at in (0, 1, 250_000, 500_000, 999_999, 1_000_000):
        assert share_of([5, -1, 9, 9][:size], at) == statistics.quantile([5, -1, 9, 9][:size], at)


@pytest.mark.parametrize("values", [[], [4], [1, 2, 6, -9, 0], [2**62, 2**62]])
def test_series_are_the_engines(values: list[int]) -> None:
    """Each function over series, and where it has no value."""
    for name, more in [("rolling", (2,)), ("rolling", (0,)), ("prefix_sums", ()), ("differences", ()), ("trend", ())]:
        assert outcome(SERIES[name], values, *more) == outcome(series.SERIES[name].call, values, *more)
    for name, more in [("last", (7,)), ("slice", (1, 3)), ("slice", (-2, 9))]:
        assert SERIES[name](values, *more) == series.SERIES[name].call(values, *more)
    assert SERIES["flatten"]([values, values]) == values * 2
    assert SERIES["distinct"]([*values[:2], 4]) == len({*values[:2], 4})
    holds = [value > 1 for value in values]
    assert SERIES["first"](holds) == series.first(holds)
    assert SERIES["count"](holds) == series.count(holds)


def outcome(call: Any, *given: Any) -> Any:
    """A value, or the code for which there is none."""
    try:
        return call(*given)
    except Failed as failed:
        return failed.code
    except EvaluationError as error:
        return error.code
