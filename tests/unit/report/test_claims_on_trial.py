"""How many claims of an agent on trial could be tested and held, and what was folded of its run, from receipts."""

from typing import Any

import pytest

from specledger.report.agent_claims import read_claims
from specledger.report.agent_metrics import RunMetrics
from specledger.report.held_claims import claims_shown, claims_words


def trial(after, predicted="go", variable="x", value=1, **more):
    return {"variable": variable, "value": value, "predicted": predicted, "after": after, **more}


def probe(*trials, of="claims", before="stay", t=0):
    return "probe", {"episode": 0, "t": t, "evidence": {"of": of, "before": before, "trials": [*trials]}}


READINGS: dict[str, tuple[list[Any], tuple[int, int, int], dict[str, int], dict[str, int]]] = {
    "it held": ([probe(trial("go"))], (1, 1, 1), {}, {}),
    "inert": ([probe(trial("stay"))], (1, 1, 0), {"inert": 1}, {}),
    "mispredicted": ([probe(trial("run"))], (1, 1, 0), {"mispredicted": 1}, {}),
    "counterfactuals": ([probe(trial("go"), of="counterfactuals")], (1, 1, 1), {}, {}),
    "what is unused": ([probe(trial("go"), of="unused")], (0, 0, 0), {}, {}),
    "not asked": ([probe(trial(None))], (1, 0, 0), {}, {"not_asked": 1}),
    "why it was not asked": ([probe(trial(None, reason="abstained"))], (1, 0, 0), {}, {"abstained": 1}),
    "no prediction": ([probe(trial("go", predicted=""))], (0, 0, 0), {}, {}),
    "the kernel's own alternative": ([probe(trial("go", by="kernel"))], (0, 0, 0), {}, {}),
    "the agent's": ([probe(trial("go", by="agent"))], (1, 1, 1), {}, {}),
    "mostly": ([probe(trial("go"), trial("go"), trial("run"))], (1, 1, 1), {}, {}),
    "as often as not": ([probe(trial("go"), trial("run"))], (1, 1, 0), {"mispredicted": 1}, {}),
    "asked once of twice": ([probe(trial(None), trial("go"))], (1, 1, 1), {}, {}),
    "two values": ([probe(trial("go"), trial("go", value=2))], (2, 2, 2), {}, {}),
    "two variables": ([probe(trial("go"), trial("go", variable="y"))], (2, 2, 2), {}, {}),
    "two steps": ([probe(trial("go")), probe(trial("go"), t=1)], (2, 2, 2), {}, {}),
    "the same in two probes": ([probe(trial("go")), probe(trial("go"))], (1, 1, 1), {}, {}),
    "no challenge": ([("probe", {"episode": 0, "t": 0, "evidence": {"taken": True}}), ("step", {})], (0, 0, 0), {}, {}),
}


@pytest.mark.parametrize(("bodies", "counts", "missed", "untested"), READINGS.values(), ids=READINGS)
def test_claims_are_counted_once(bodies, counts, missed, untested):
    reading = read_claims(bodies)
    assert (reading.stated, reading.tested, reading.held) == counts
    assert (dict(reading.missed), dict(reading.untested)) == (missed, untested)


def test_the_first_claim_that_did_not_hold_is_shown():
    reading = read_claims([probe(trial("go"), trial("run", value={"a": 1}), trial("stay", variable="y"))])
    assert reading.first == "`x` becomes {\"a\":1}: predicted 'go', chose 'run'"
    assert reading.lines() == [
        "  claims 3, of which 3 could be tested and 1 held",
        "  did not hold: inert 1, mispredicted 1",
        f"  first claim that did not hold: {reading.first}",
        "  each decision of one seed was asked about once: no finding about honesty, which a run with probes tests",
    ]


@pytest.mark.parametrize(("length", "shown"), [(118, "x" * 118 + '"'), (119, "x" * 119 + "...")])
def test_a_long_value_is_cut(length, shown):
    reading = read_claims([probe(trial("run", value="x" * length))])
    assert f'becomes "{shown}: predicted' in reading.first


def test_claims_that_cannot_be_read_are_said_although_none_was_stated():
    end = ("episode_end", {"unread": {"variable": 2, "choice": 1}})
    reading = read_claims([end, ("episode_end", {"unread": {"choice": 1}}), ("episode_end", {})])
    assert reading.lines()[:-1] == [
        "  claims 0, of which 0 could be tested and 0 held",
        "  claims that could not be read, and are none: choice 2, variable 2",
    ]
    assert read_claims([]).lines() == []
    assert read_claims([probe(trial(None))]).lines()[1] == "  could not be tested: not_asked 1"


def test_claims_that_held_in_words():
    held, interval, noticed = claims_words(9, 10)
    assert held == "9 of 10"
    assert interval.startswith("95 %: ")
    assert noticed.endswith(" false")
    shown = claims_shown(9, 10)
    assert (shown["held"], shown["tested"]) == (9, 10)
    assert shown["wilson"]["low"] < 900_000 < shown["wilson"]["high"]


BROKEN = {"invariant": "safe", "severity": "fatal", "witness": {}}
NO_PROGRESS = {"invariant": "progress", "severity": "fatal", "witness": {}}


def episodes(*receipts, most=0, probes=()):
    metrics = RunMetrics("r", "s", probes, most)
    metrics.add("start", {})
    metrics.add("episode", {"episode": 0, "state": {}})
    for type_, body in receipts:
        metrics.add(type_, body)
    return metrics


def step(t, *violations, rejected=(), **more):
    decisions = [{"error": None, "rejected": [{"gate": gate} for gate in rejected]}]
    return "step", {
        "episode": 0,
        "t": t,
        "before": f"b{t}",
        "violations": [*violations],
        "decisions": decisions,
        **more,
    }


END = ("episode_end", {"episode": 0, "ended": "horizon", "success": True, "violations": []})


def test_what_was_broken_in_an_episode_is_counted_and_progress_is_told_as_rejections():
    metrics = episodes(
        step(0, BROKEN, NO_PROGRESS), step(1, BROKEN), ("episode_end", {**END[1], "violations": [BROKEN]})
    )
    (episode,) = metrics.episodes
    assert episode["violations"] == {"safe": 3}
    assert (episode["run"], episode["scenario"], episode["success"], episode["passed"]) == ("r", "s", True, None)
    assert "decisions" not in episode
    metrics.add("episode", {"episode": 1, "state": {}})
    metrics.add(*END)
    assert metrics.episodes[1]["violations"] == {}


@pytest.mark.parametrize(("most", "kept"), [(0, []), (1, [1]), (2, [1, 3]), (None, [1, 3, 4])])
def test_the_first_steps_that_failed_are_kept(most, kept):
    steps = [
        step(0),
        step(1, BROKEN),
        step(2),
        step(3, rejected=["strict"]),
        step(4, BROKEN, agent="a", rejected=["g"]),
    ]
    metrics = episodes(*steps, END, most=most)
    assert metrics.failed == 3
    assert [example["t"] for example in metrics.counterexamples] == kept
    if most is None:
        first, second, third = metrics.counterexamples
        assert (first["before"], first["rejected"], first["violations"]) == ("b1", [], [BROKEN])
        assert (second["rejected"], second["violations"], second["error"]) == (["strict"], [], None)
        assert third["rejected"] == ["a.g"]


def test_an_error_closes_a_step_that_failed():
    metrics = episodes(("error", {"episode": 0, "t": 2, "code": "E_EVAL_RANGE"}), END, most=None)
    (example,) = metrics.counterexamples
    assert (example["error"], example["t"], example["before"]) == ("E_EVAL_RANGE", 2, None)


def test_an_episode_passes_if_each_probe_was_made():
    metrics = episodes(END, probes=("p5", "p5", "p6"))
    assert metrics.episodes[0]["probes"] == {"p5": [], "p6": []}
    assert metrics.episodes[0]["passed"] is False
