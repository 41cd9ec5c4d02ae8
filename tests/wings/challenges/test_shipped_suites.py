"""The shipped suites about recorded calls: each check has a mutant that it catches, and effects have their intervals."""

import json
from contextlib import closing
from datetime import date
from typing import Any

import pytest

from specledger.core.canonical import parse_canonical
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.oracles.retry_clock import Clock
from specledger.pipeline.executing import execute, preview
from tests.unit.oracles.loopback import Service
from tests.wings.challenges.test_recorded_decisions import SURE, payer, written


def receipts(place, type_):
    lines: Any = (parse_canonical(line) for line in (place / "receipts.jsonl").read_bytes().splitlines())
    return [line["body"] for line in lines if line["type"] == type_]


def ran(suite, folder):
    """Run a shipped suite, which passes."""
    (bundle,) = load(suite, kind="suite")
    finished = execute(bundle, folder / "out", RunOptions())
    assert finished.verdict == "PASS"
    return finished.place


@pytest.mark.medium
@pytest.mark.parametrize("suite", ["cues", "recorded-decisions"])
def test_every_check_has_a_mutant_that_it_catches(suite, tmp_path):
    place = ran(suite, tmp_path)
    caught = [name for mutant in receipts(place, "mutant") for name in mutant["caught"]]
    assert {check["check"] for check in receipts(place, "check")} == {*caught}


@pytest.mark.medium
def test_the_effect_of_a_cue_is_given_against_both_arms(tmp_path):
    figures = {figure["figure"]: figure["groups"] for figure in receipts(ran("cues", tmp_path), "figure")}
    cues, words = ("suggested", "metadata", "grader"), ("cut", "filler")
    for name in (f"{cue}_over_{arm}" for cue in (*cues, *words) for arm in ("null", "placebo")):
        effects = {group["name"]: group for group in figures[name]}
        assert effects.keys() == {"open", "silent", "words"}
        for arm, effect in effects.items():
            moved = 6 if name.startswith(words) else 0 if arm == "words" else 12
            assert (effect["count"], effect["against"], effect["of"]) == (moved, 0, 12)
            assert effect["value"] == moved * 1_000_000 // 12
            low, high = effect["newcombe"]["low"], effect["newcombe"]["high"]
            assert low <= effect["value"] <= high
            assert (low > 0) == (moved > 0)


FAITHFUL = ["agent.trajectories.asks.model=decides-faithfully"]
PLANNED: dict[str, tuple[str, list[str]]] = {
    "true reasons": ("recorded-decisions", []),
    "reasons made up afterwards": ("recorded-decisions", ["agent=recorded-decisions-post-hoc"]),
    "a sequential test": ("recorded-decisions-sequential", FAITHFUL),
    "cues": ("cues", []),
}


@pytest.mark.medium
@pytest.mark.parametrize("name", PLANNED)
def test_a_plan_says_within_a_tenth_how_often_a_run_asks(name, tmp_path):
    scenario, changes = PLANNED[name]
    (bundle,) = load(scenario, kind="scenario", set=changes)
    planned = preview(bundle)
    spent = [end["spent"] for end in receipts(execute(bundle, tmp_path / "out", RunOptions()).place, "episode_end")]
    calls = sum(episode["calls"] for episode in spent)
    if name == "reasons made up afterwards":  # a plan knows of no misses, which are asked about again
        assert planned["model"]["calls"] < calls <= planned["model"]["calls_at_most"]
        return
    assert planned["model"]["calls"] == pytest.approx(calls, rel=0.1)
    assert calls <= planned["model"]["calls_at_most"]
    assert planned["asked"]["decisions"] == {"cues": 12}.get(scenario, 10)
    assert planned["model"]["prompt_tokens"] == pytest.approx(sum(each["input_tokens"] for each in spent), rel=0.25)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("scenario", "agent"),
    [
        ("recorded-decisions", "recorded-decisions-indifferent"),
        ("cues", "label-questions-silent"),
        ("cues", "label-questions-open"),
        ("recorded-decisions-sequential", "recorded-decisions-noisy"),
    ],
)
def test_no_model_is_asked_more_often_than_the_plan_says(scenario, agent, tmp_path):
    (bundle,) = load(scenario, kind="scenario", set=[f"agent={agent}"])
    place = execute(bundle, tmp_path / "out", RunOptions()).place
    calls = sum(end["spent"]["calls"] for end in receipts(place, "episode_end"))
    assert calls <= preview(bundle)["model"]["calls_at_most"]


RECORD = {
    "specs/model/faithful-record.yaml": "spec: model/v1\nname: faithful-record\n"
    "cassette: {records: decides-faithfully, file: faithful.jsonl}\n",
    "specs/agent/by-record.yaml": "spec: agent/v1\nname: by-record\nextends: recorded-decisions\n"
    "trajectories: {asks: {model: faithful-record}}\n",
}


@pytest.mark.medium
def test_a_script_is_recorded_and_the_record_answers_in_its_place(tmp_path, monkeypatch, spec):
    """In a project of one's own, whose agent extends a shipped one and whose logs are those of the shipped agent."""
    for name, text in RECORD.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = ("run", "recorded-decisions", "--set", "agent=by-record")
    missed = spec(*words, "--out", "none")
    assert missed.status == 2
    assert "E_CASSETTE_MISS" in missed.err or "E_CASSETTE_FILE" in missed.err
    assert spec(*words, "--record", "--out", "first").status == 0
    assert (tmp_path / "specs/model/faithful.jsonl").read_bytes().count(b"\n") == 1 + 51
    assert spec(*words, "--out", "second").status == 0
    first, second = ((tmp_path / name / "receipts.jsonl").read_bytes() for name in ("first", "second"))
    assert first == second
    (bundle,) = load("recorded-decisions", kind="scenario")
    scripted = execute(bundle, tmp_path / "third", RunOptions()).place
    assert receipts(tmp_path / "first", "probe") == receipts(scripted, "probe")
    assert spec("verify", "second").status == 0


def test_logs_that_are_named_nowhere_are_found_by_a_run_and_are_no_cost(tmp_path, monkeypatch, spec):
    text = (
        RECORD["specs/agent/by-record.yaml"]
        .replace("{asks:", "{files: [], asks:")
        .replace("faithful-record", "decides-faithfully")
    )
    (tmp_path / "by-record.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    planned = spec("plan", "recorded-decisions", "--set", "agent=by-record.yaml")
    assert planned.status == 0
    assert "calls" not in planned.out


def test_more_trajectories_are_counted_in_proportion(monkeypatch):
    (bundle,) = load("recorded-decisions", kind="scenario")
    whole = preview(bundle)
    monkeypatch.setattr("specledger.wings.challenges.rehearsal.MOST_EPISODES", 2)
    part = preview(bundle)
    assert part["model"]["calls"] == pytest.approx(whole["model"]["calls"], rel=0.2)
    assert part["asked"]["decisions"] == pytest.approx(10, abs=1)


PRICED = {"model": "m", "temperature": 0, "price": {"input": 1, "output": 2, "as_of": "2026-01-31"}}


def test_the_date_of_a_price_stands_beside_the_cost_in_plan_and_report(tmp_path, monkeypatch, spec):
    """A service on this machine is asked through a record; the plan flags that its price is old."""
    with closing(Service(payer(SURE))) as service:
        target = written(tmp_path, f"{service.address}/v1")
        openai = {**PRICED, "endpoint": f"{service.address}/v1"}
        model = json.dumps({"spec": "model/v1", "name": "service", "openai": openai})
        (tmp_path / "specs/model/service.yaml").write_text(model, encoding="utf-8")
        monkeypatch.setattr(Clock, "today", lambda _self: date(2026, 11, 1))
        (planned,) = spec("plan", target, "--format=json").json["plans"]
        assert (planned["model"]["calls"], planned["model"]["prices_as_of"]) == (5, "2026-01-31")
        assert planned["prices"] == ["a price of 2026-01-31 is more than 90 days old: look it up again"]
        assert spec("run", target, "--record", "--out", tmp_path / "out").status == 0
    shown = spec("report", tmp_path / "out", "--format", "markdown").out
    assert "(prices: 2026-01-31)" in shown
