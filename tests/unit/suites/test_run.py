"""A suite from its specs to its verdict: runs, figures, checks, mutants, and the same bytes however it is run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specledger.core.statistics import paired_difference
from specledger.core.verdict import Verdict
from specledger.kinds import load
from specledger.kinds.suite import RUNNABLE
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.toys.bundles import files_of

ROOT = Path(__file__).parents[3]


def by(name, bodies):
    return {body[name]: body for body in bodies}


@pytest.mark.medium
def test_every_run_is_a_bundle_of_its_own(finished):
    done = finished()
    runs = ["long.climb.3", "long.climb.4", "short.climb.3", "short.climb.4"]
    held = {path.parent.relative_to(done.place).as_posix() for path in done.place.rglob("manifest.json")}
    mutants = {f"{folder}/no-bound/{run}" for folder in ("controls", "mutants") for run in runs[:2]}
    assert held == {".", *(f"runs/{run}" for run in runs), *mutants}
    for run in runs:
        assert verify(done.place / "runs" / run).verdict is Verdict.PASS
    assert verify(done.place).verdict is Verdict.PASS


def test_what_the_receipts_say(receipts):
    found = receipts()
    assert [run["place"] for run in found["run"]][:4] == [
        f"runs/{arm}.climb.{seed}" for arm in ("long", "short") for seed in (3, 4)
    ]
    figures = by("figure", found["figure"])
    assert figures["highest"]["groups"] == [{"name": "", "of": 4, "value": 3}]
    assert figures["lead"]["groups"] == [{"name": "", "of": 4, "sum": 4, "value": 1_000_000, "clusters": 1}]
    assert figures["high"]["groups"] == [{"name": "", "of": 20, "sum": 36, "value": 1_800_000, "clusters": 1}]
    assert [group["name"] for group in figures["arrives_by_seed"]["groups"]] == ["3", "4"]
    rate = figures["temptations"]["groups"][0]
    assert (rate["count"], rate["of"], rate["value"]) == (20, 20, 1_000_000)
    assert rate["held"] == [{"run": "long.climb.3", "episode": n} for n in (0, 1)] + [
        {"run": "long.climb.4", "episode": 0}
    ]
    assert rate["failed"] == []
    checks = by("check", found["check"])
    assert {check["verdict"] for check in checks.values()} == {"PASS"}
    assert checks["climbs"]["opportunities"] == 4
    assert checks["climbs"]["witness"] == {"height": 3}
    (mutant,) = found["mutant"]
    assert (mutant["verdict"], mutant["caught"]) == ("PASS", ["climbs"])
    assert mutant["control"]["climbs"] == "PASS"
    assert mutant["mutated"]["climbs"] == "FAIL"


@pytest.mark.medium
def test_an_effect_counts_its_pairs_and_says_how_sure_it_is(edit, receipts, finished):
    """Of ten steps each that have two values: the other rate is that of the same steps."""
    edit(
        "arrives: {rate: success, over: long}",
        'arrives: {effect: tempted, against: "heights.map(h, h < 2)", over: long}',
    )
    (group,) = by("figure", receipts()["figure"])["arrives"]["groups"]
    assert (group["of"], group["count"], group["against"]) == (12, 12, 4)
    assert (group["value"], group["clusters"]) == (666_667, 1)
    low, high = paired_difference(4, 8, 0, 0)
    assert group["newcombe"] == {"low": low, "high": high}
    assert verify(finished(out="again").place).verdict is Verdict.PASS


def test_an_effect_of_nothing_has_no_value(edit, receipts):
    edit("arrives: {rate: success, over: long}", "arrives: {effect: success, against: success, decided: 'false'}")
    (group,) = by("figure", receipts()["figure"])["arrives"]["groups"]
    assert group == {"name": "", "of": 0, "count": 0, "against": 0, "clusters": 0, "undecided": 8}


@pytest.mark.medium
def test_the_bytes_do_not_depend_on_the_workers(finished):
    alone, together = finished(workers=1, out="one"), finished(workers=3, out="three")
    assert files_of(alone.place) == files_of(together.place)


@pytest.mark.medium
def test_an_earlier_suite_is_replaced_and_nothing_else(finished, project):
    first = finished()
    (first.place / "runs" / "long.climb.3" / "notes.txt").write_text("mine")
    with pytest.raises(Exception, match="E_OUT_FOREIGN"):
        finished()
    (first.place / "runs" / "long.climb.3" / "notes.txt").unlink()
    assert finished().replaced


VERDICTS = {
    "what does not hold fails": ("highest.value > ENOUGH", "highest.value > 9", "FAIL"),
    "what could not have failed is inconclusive": ("opportunities: highest.of", "opportunities: 0", "INCONCLUSIVE"),
    "what failed has failed, whatever could be": (
        "highest.value > ENOUGH, opportunities: highest.of", "highest.value > 9, opportunities: 0", "FAIL"
    ),
    "an error is an error": ("highest.value > ENOUGH", "highest.value / (ENOUGH - 2) > 0", "ERROR"),
    "a figure of nothing has no value": (
        "highest: {greatest: top, over: [long]}", 'highest: {greatest: "slice(heights, 9, 9)", over: [long]}', "INCONCLUSIVE"
    ),
    "an error in a measure is one of its checks": (
        'heights: "steps.map(s, s.record.reached)"', 'heights: "steps.map(s, s.record.reached / (s.t - 1))"', "ERROR"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_of_a_check(edit, receipts, old, new, verdict):
    edit(old, new)
    assert by("check", receipts("mutants=[]")["check"])["climbs"]["verdict"] == verdict


def test_an_error_spoils_what_reads_it_and_nothing_else(edit, receipts):
    edit('top: "maximum(heights, 0)"', 'top: "maximum(heights, 0) / (episode - 1)"')
    own = "high.value / (ENOUGH - 2) > 0"
    edit("{id: climbs,", f"{{id: own, require: {own}, opportunities: high.of}}\n  - {{id: climbs,")
    found = receipts("mutants=[]")
    figures, checks = by("figure", found["figure"]), by("check", found["check"])
    assert figures["highest"]["error"] | {"expression": ""} == {
        "code": "E_EVAL_DIVISION_BY_ZERO", "expression": "", "offset": 0, "run": "long.climb.3", "episode": 1
    }  # fmt: skip
    assert figures["high"]["error"] is None
    assert {name: check["verdict"] for name, check in checks.items()} == dict.fromkeys(checks, "ERROR")
    assert checks["own"]["error"] == {"code": "E_EVAL_DIVISION_BY_ZERO", "expression": own, "offset": 0}
    assert checks["climbs"]["error"] == figures["highest"]["error"]


@pytest.mark.medium
@pytest.mark.parametrize(
    ("changes", "verdict", "status"),
    [
        ([], "PASS", 0),
        (["checks=[]", "mutants=[]"], "INCONCLUSIVE", 3),
        (["checks.climbs.require=false", "mutants=[]"], "FAIL", 1),
        (["mutants.no-bound.set={horizon: 3}"], "FAIL", 1),
        (["mutants=[]", "runs.long.set={agent.constants.FEAR: 1}"], "ERROR", 4),
    ],
)
def test_the_verdict_of_a_suite(finished, changes, verdict, status):
    done = finished(*changes)
    assert done.verdict == verdict
    assert verify(done.place).verdict is Verdict.PASS


def test_a_mutant_that_fails_with_its_control_is_not_caught(receipts):
    (mutant,) = receipts("checks.climbs.require=false", "mutants.no-bound.set={horizon: 3}")["mutant"]
    assert (mutant["verdict"], mutant["caught"]) == ("FAIL", [])


@pytest.mark.parametrize(("height", "broken"), [(3, "control"), (0, "mutated")])
def test_a_mutant_with_an_error_on_one_side_alone_is_an_error(receipts, height, broken):
    """The highest step is 3 without the change and 0 with it."""
    (mutant,) = receipts(f"checks.climbs.require=1 / (highest.value - {height}) < 9")["mutant"]
    other = {"control": "mutated", "mutated": "control"}[broken]
    assert (mutant[broken].pop("climbs"), mutant[other].pop("climbs")) == ("ERROR", "PASS")
    assert "ERROR" not in {*mutant["control"].values(), *mutant["mutated"].values()}
    assert (mutant["verdict"], mutant["caught"]) == ("ERROR", [])


def test_a_mutant_of_another_suite(project, receipts, edit):
    text = (project / "heights.yaml").read_text()
    (project / "others.yaml").write_text(text.replace("name: heights", "name: others"))
    edit("{id: no-bound, arms: [long]", "{id: no-bound, suite: others, scenarios: [climb], under: {episodes: 1}")
    found = receipts("runs={}", "figures={}", "checks=[]")
    (mutant,) = found["mutant"]
    assert (mutant["suite"], mutant["caught"]) == ("others", ["climbs", "further"])
    assert {run["result"]["episodes"] for run in found["run"]} == {1}


@pytest.mark.medium
def test_replays_are_made_and_an_altered_copy_is_noticed(edit, receipts):
    edit(
        "checks:\n",
        "checks:\n  - {id: exact, require: 'runs.all(r, r.exact && r.intact)', opportunities: 'sum(runs.map(r, r.compared))'}\n  - {id: noticed, require: 'runs.all(r, r.noticed)', opportunities: size(runs)}\n",
    )
    edit("mutants:\n", "replay: bytes\nmutants:\n  - {id: blind, replay: none}\n")
    found = receipts()
    run = found["run"][0]
    assert run["replay"] == {"intact": True, "exact": True, "noticed": True, "compared": run["receipts"]["count"]}
    mutants = by("mutant", found["mutant"])
    assert mutants["blind"]["caught"] == ["noticed"]
    assert mutants["blind"]["mutated"]["exact"] == "INCONCLUSIVE"


@pytest.mark.medium
def test_a_run_without_commitments_says_so_and_is_noticed(edit, receipts, project):
    edit("temptations: {rate: tempted}", "temptations: {rate: tempted}\n  bound: {rate: 'steps.map(s, s.bound)'}")
    edit("checks:\n", "checks:\n  - {id: bound, require: bound.count == bound.of, opportunities: bound.of}\n")
    edit("mutants:\n", "mutants:\n  - {id: no-commitment, set: {commit: none}}\n")
    mutants = by("mutant", receipts()["mutant"])
    assert mutants["no-commitment"]["caught"] == ["bound"]
    place = project / "out" / "mutants" / "no-commitment" / "long.climb.3"
    lines = [json.loads(line) for line in (place / "receipts.jsonl").read_bytes().splitlines()]
    assert lines[0]["body"]["commit"] == "none"
    assert "commit" not in {line["type"] for line in lines}
    assert verify(project / "out").verdict is Verdict.PASS


def test_the_digest_of_a_run_is_that_of_its_changed_scenario(receipts, finished, project):
    found = receipts()
    for run in found["run"]:
        specs = json.loads((project / "out" / run["place"] / "specs.json").read_bytes())
        scenario = specs["specs"][specs["root"]]
        assert scenario["seed"] == run["seed"]
        assert scenario["horizon"] == (2 if run["arm"] == "short" else 3)


@pytest.mark.medium
def test_an_interruption_leaves_nothing(project, interruptible):
    """A suite that would take minutes is interrupted when its workers are at work."""
    words = ["run", "heights.yaml", "--set=runs.long.set={episodes: 90000}", "--out=out/here", "--workers=2"]
    command = [sys.executable, "-m", "specledger", *words]
    quiet: dict[str, int] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=interruptible, start_new_session=True, **quiet) as process:  # type: ignore[call-overload]
        for _ in range(2400):
            if list(project.glob("out/.here.*.partial/new/runs/.long*")):
                break
            process.poll()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"E_INTERRUPTED" in said
    assert b"Traceback" not in said
    assert [path for path in project.glob("out/**/*") if path.is_file()] == []
    assert ended(process.pid)


def ended(group):
    """Whether all processes of a group end, the tracker of the workers' resources being the last."""
    for _ in range(2400):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("when", "checks", "verdict"), [("false", 0, "INCONCLUSIVE"), ("n > 1", 4, "PASS"), ("true", 6, "PASS")]
)
def test_an_invariant_that_does_not_apply_is_no_check(project, when, checks, verdict):
    (bundle,) = load("climb.yaml", set=[f"governor.invariants.bounded.when={when}"])
    done = execute(bundle, project / "out")
    assert (done.verdict, done.manifest["result"]["checks"]) == (verdict, checks)
    assert verify(done.place).verdict is Verdict.PASS


FAILING = "long: {scenarios: [climb], seeds: [3, 4], set: {agent.candidates: [{op: climb, for_each: {by: '[2]'}}]}"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("expect", "verdict", "told"),
    [
        ("", "FAIL", None),
        (", expect: {verdict: FAIL}", "PASS", ("PASS", "FAIL", True)),
        (", expect: {verdict: FAIL, ended: horizon}", "PASS", ("PASS", "FAIL", True)),
        (", expect: {verdict: FAIL, ended: until}", "FAIL", ("FAIL", "FAIL", False)),
        (", expect: {ended: horizon}", "FAIL", ("FAIL", "FAIL", False)),
        (", expect: {verdict: INCONCLUSIVE}", "FAIL", ("FAIL", "FAIL", False)),
        (", failing: {most: 2, because: it leaps}", "PASS", None),
        (", failing: {most: 1, because: it leaps}", "FAIL", None),
    ],
)
def test_a_suite_in_which_a_run_fails_unexpectedly_is_no_pass(edit, finished, expect, verdict, told):
    edit("long: {scenarios: [climb], seeds: [3, 4]}", f"{FAILING}{expect}}}")
    edit(
        "steps.map(s, s.record", "steps.filter(s, s.chosen >= 0).map(s, s.record"
    )  # of nothing done there is no record
    done = finished("checks=[{id: any, require: temptations.of > 0, opportunities: temptations.of}]", "mutants=[]")
    assert done.verdict == verdict
    results = [each["result"] for each in done.receipts if each["type"] == "run" and each["arm"] == "long"]
    shown = [tuple(result[name] for name in ("verdict", "status", "met")) for result in results if "met" in result]
    assert shown == ([told] * 2 if told else [])
    assert verify(done.place).verdict is Verdict.PASS
    command = [sys.executable, "-I", ROOT / "tools" / "verify.py", done.place]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert f"{results[0]['verdict']}  long" in RUNNABLE.show([done])


UNCHECKED = "long: {scenarios: [climb], seeds: [3, 4], set: {governor.invariants.bounded.when: 'false'}"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("arm", "changes", "verdict", "told"),
    [
        ("", [], "INCONCLUSIVE", "  inconclusive runs: 2, and the suite allows 0"),
        (", inconclusive: {most: 1, because: it is bound}", [], "INCONCLUSIVE", "  inconclusive runs of long: 2, and the suite allows 1"),
        (", inconclusive: {most: 2, because: nothing binds it}", [], "PASS", None),
        ("", ["inconclusive={most: 2, because: nothing binds them}"], "PASS", None),
        ("", ["inconclusive={most: 1, because: one may be}"], "INCONCLUSIVE", "  inconclusive runs: 2, and the suite allows 1"),
        (", inconclusive: {most: 0, because: it is bound}", ["inconclusive={most: 9, because: others}"], "INCONCLUSIVE", None),
        ("", ["inconclusive={most: 9, because: all}", "runs.short.set={governor.invariants.bounded.when: 'false'}"], "INCONCLUSIVE", "  every run is inconclusive"),
        (", expect: {verdict: INCONCLUSIVE}", [], "PASS", None),
    ],
    ids=["none allowed", "too many of an arm", "as many as the arm allows", "as the suite allows", "more than it allows",
         "the number of the arm goes first", "all of them", "expected"],
)  # fmt: skip
def test_runs_that_decide_nothing_leave_a_suite_undecided(edit, finished, arm, changes, verdict, told):
    edit("long: {scenarios: [climb], seeds: [3, 4]}", f"{UNCHECKED}{arm}}}")
    edit("lead: {difference: top, over: [long, short]}", "lead: {mean: top}")
    done = finished(*changes, "checks=[{id: any, require: high.of > 0, opportunities: high.of}]", "mutants=[]")
    assert done.verdict == verdict
    assert told is None or told in RUNNABLE.show([done]).splitlines()
    assert verify(done.place).verdict is Verdict.PASS
    command = [sys.executable, "-I", ROOT / "tools" / "verify.py", done.place]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_figure_is_over_what_is_decided(edit, receipts):
    """Heights of odd steps alone, and of no episode at all."""
    edit(
        "high: {mean: heights}",
        "high: {mean: heights, decided: 'steps.map(s, s.t % 2 == 1)'}\n  none: {rate: success, decided: 'false'}",
    )
    found = by("figure", receipts("mutants=[]")["figure"])
    (odd,), (none,) = found["high"]["groups"], found["none"]["groups"]
    assert odd["of"] > 0
    assert odd["of"] + odd["undecided"] == 20
    assert (none["of"], none["undecided"], "value" in none) == (0, 8, False)


@pytest.mark.parametrize(("least", "verdict"), [(4, "PASS"), (5, "INCONCLUSIVE")])
def test_a_check_may_need_more_than_one_opportunity(edit, receipts, least, verdict):
    edit("opportunities: highest.of,", f"opportunities: highest.of, least: {least},")
    check = by("check", receipts("mutants=[]")["check"])["climbs"]
    assert (check["verdict"], check["opportunities"], check["least"]) == (verdict, 4, least)


def test_a_run_that_passes_although_a_failure_is_expected_fails_the_suite(edit, finished):
    edit(
        "long: {scenarios: [climb], seeds: [3, 4]}",
        "long: {scenarios: [climb], seeds: [3, 4], expect: {verdict: FAIL}}",
    )
    assert finished("mutants=[]").verdict is Verdict.FAIL
