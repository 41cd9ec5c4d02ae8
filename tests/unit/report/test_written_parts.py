"""Parts of the index, the folder of files and the JSON of a report, by hand."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.core.entries import Entries, Mode
from specledger.report.control import Control, Judgement, Match, Waiver
from specledger.report.formats import folder, index, json_document
from specledger.report.formats.output import Options
from specledger.report.model import Check, Observation, Replay, Report, SubRun
from specledger.report.outcome import Outcome
from specledger.report.receipt_diff import Change
from specledger.report.sections import Count, PageLink, Quoted, Row, Section, Words
from specledger.report.specs import Specs
from specledger.spec.scenario import Scenario
from tests.unit.report.rendering import made_up

# Names of bundles, and the files of their pages.
FILES = {
    "plain": (["a", "b"], ["a.html", "b.html"]),
    "other characters": (["a b/c", "-.x.-"], ["a-b-c.html", "x.html"]),
    "the name of the index": (["index", "index_"], ["index_.html", "index__.html"]),
    "names that become one": (["a b", "a-b", "a/b"], ["a-b.html", "a-b_.html", "a-b__.html"]),
}


@pytest.mark.parametrize(("names", "files"), FILES.values(), ids=FILES)
def test_every_bundle_has_a_page_of_its_own(names, files):
    subjects = [made_up(name) for name in names]
    assert index._named(subjects) == [*zip(names, files, subjects, strict=True)]


def changed(number, more=0):
    return [Change(f"p{at}", "1", "2") for at in range(number)], more


# Changes of specs, the verdicts before and now, and what is said.
SINCE: dict[str, tuple[Any, str, str, str]] = {
    "nothing": (changed(0), "PASS", "PASS", "the same specs"),
    "the verdict": (changed(0), "PASS", "FAIL", "PASS to FAIL: the same specs"),
    "one path": (changed(1), "PASS", "PASS", "p0"),
    "three": (changed(3), "FAIL", "PASS", "FAIL to PASS: p0, p1, p2"),
    "four": (changed(4), "PASS", "PASS", "p0, p1, p2 and 1 more"),
    "more than are listed": (changed(5, 7), "PASS", "PASS", "p0, p1, p2 and 9 more"),
}


@pytest.mark.parametrize(("found", "before", "now", "said"), SINCE.values(), ids=SINCE)
def test_what_changed_since_a_bundle(monkeypatch, found, before, now, said):
    monkeypatch.setattr(index, "changes", lambda last, subject: {"specs": "specs"})
    monkeypatch.setattr(index, "first_changes", {"specs": found}.__getitem__)
    assert index._since(made_up("a", verdict=before), made_up("a", verdict=now)) == said


def test_a_bundle_is_compared_with_the_last_one_of_its_kind_and_name(monkeypatch):
    monkeypatch.setattr(index, "_since", lambda last, subject: f"since {last.verdict}")
    monkeypatch.setattr(index, "reason_text", lambda report: f"because of {report.subjects[0].name}")
    subjects = [
        made_up("a"),
        made_up("b"),
        replace(made_up("a", verdict="FAIL"), kind="law"),
        made_up("a", verdict="FAIL"),
        made_up("a"),
    ]
    section = index._bundles(subjects)
    assert [row.cells[4] for row in section.rows] == [
        Quoted("", 200),
        Quoted("", 200),
        Quoted("", 200),
        Quoted("since PASS", 200),
        Quoted("since FAIL", 200),
    ]
    assert [row.mark for row in section.rows] == ["PASS", "PASS", "FAIL", "FAIL", "PASS"]
    assert section.rows[1].name == "b"
    assert section.rows[1].cells[:4] == (
        PageLink("b.html", "page of b"),
        Words("scenario"),
        Quoted("because of b", 160),
        Count(9),
    )
    assert section.heads == ("bundle", "page", "of a", "why", "receipts", "since the one before")


def test_rows_of_a_common_table_lead_to_the_page_of_their_bundle(monkeypatch):
    rows = [Row("x", "m", (Words("1"),), [("says", Words("a"))], ()), Row("y", "n", ())]
    section = Section("laws", "Laws", "", ("law", "cells"), rows)
    monkeypatch.setattr(index, "common_tables", lambda subjects: [(section, [1, 0])])
    (made,) = index._compared([made_up("a"), made_up("b")])
    assert made.heads == ("law", "page", "cells")
    assert [(row.name, row.cells, row.details, row.places) for row in made.rows] == [
        ("x", (PageLink("b.html", "page of b"), Words("1")), (), ()),
        ("y", (PageLink("a.html", "page of a"),), (), ()),
    ]


def test_evidence_without_runs_has_no_folder():
    with pytest.raises(Rejected) as caught:
        folder.write(Report((made_up("a"),)))
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.message) == ("E_REPORT_KIND", "evidence of the kind scenario has no runs")


def episode(scenario="s", **more):
    counts: Any = {"invariant_failures": {}, "token_failures": {}, "violations": {}, "probes": {}, "spent": {}}
    return {
        "scenario": scenario,
        "success": False,
        "passed": None,
        "replay": {"equal": 0, "nodes": 0},
        **counts,
        **more,
    }


def metrics(*episodes, entries: Any = (), counterexamples: Any = ()):
    return SimpleNamespace(episodes=[*episodes], entries=[*entries], counterexamples=[*counterexamples], failed=0)


def written(agents, most=3, replay=Replay.NONE, bodies=()):
    specs = SimpleNamespace(main=SimpleNamespace(name="suite"), digest="ab")
    evidence: Any = SimpleNamespace(
        specs=specs,
        kind="suite",
        manifest={"receipts": {"count": 2}, "result": {"verdict": "FAIL"}},
        bodies=lambda: iter(bodies),
    )
    files = folder._files(evidence, agents, most, replay)
    return {name: json.loads(data) if name.endswith(".json") else data for name, data in files}


def agent_of(*runs):
    made: Any = folder._Agent([*runs])
    return made


def test_the_files_of_agents():
    first = metrics(episode("b", success=True), counterexamples=[{"run": "r1", "episode": 3, "t": 12, "x": 1}])
    second = metrics(episode("a"), episode("b"))
    agents = {
        "zoe": agent_of(({"run": "r0"}, metrics())),
        "ann": agent_of(({"run": "r1"}, first), ({"run": "r2"}, second)),
    }
    bodies = [("run", {"n": 0}), ("check", {"n": 1}), ("figure", {"n": 2}), ("mutant", {"n": 3}), ("check", {"n": 4})]
    made = written(agents, 3, Replay.DONE, bodies)
    assert list(made) == ["summary.json", "report_ann.json", "counterexamples/r1.0003.0012.json", "report_zoe.json"]
    assert made["counterexamples/r1.0003.0012.json"] == {"run": "r1", "episode": 3, "t": 12, "x": 1}
    report = made["report_ann.json"]
    assert (report["agent"], report["runs"], len(report["episodes"])) == ("ann", [{"run": "r1"}, {"run": "r2"}], 3)
    assert {name: total["episodes"] for name, total in report["by_scenario"].items()} == {"a": 1, "b": 2}
    assert {name: total["successes"] for name, total in report["by_scenario"].items()} == {"a": 0, "b": 1}
    assert (report["total"]["episodes"], report["total"]["successes"]) == (3, 1)
    assert made["report_zoe.json"]["by_scenario"] == {}
    summary = made["summary.json"]
    agents_told = summary.pop("agents")
    assert list(agents_told) == ["ann", "zoe"]
    assert agents_told["ann"]["episodes"] == 3
    assert summary == {
        "name": "suite",
        "kind": "suite",
        "specs": "ab",
        "receipts": {"count": 2},
        "verdict": "FAIL",
        "says": report["says"],
        "figures": [{"n": 2}],
        "checks": [{"n": 1}, {"n": 4}],
        "mutants": [{"n": 3}],
        "replay": "replayed",
        "most_counterexamples": 3,
    }


def test_the_logs_of_an_agents_runs_are_one_chain():
    def log(events, mode=Mode.SIMULATED, head=None):
        chain = Entries(mode) if head is None else Entries(mode, head)
        return [chain.seal(event, at_ms=at, codes=("a b", "c"), verdict="allow") for at, event in enumerate(events)]

    single = log(["ONE", "TWO"])
    lines = b"".join(canonical_bytes(entry) + b"\n" for entry in single)
    made = written({"ann": agent_of(({}, metrics(entries=single)))})
    assert made["audit_ann.log.jsonl"] == lines
    live = next(mode for mode in Mode if mode is not Mode.SIMULATED)
    both = written({"ann": agent_of(({}, metrics(entries=single)), ({}, metrics(entries=log(["THREE"], live))))})
    chain = [json.loads(line) for line in both["audit_ann.log.jsonl"].splitlines()]
    assert [entry["event"] for entry in chain] == ["ONE", "TWO", "THREE"]
    assert chain[:2] == single
    assert chain[2]["prev_entry_hash"] == single[1]["entry_hash"]
    assert chain[2]["kernel_decision"] == log(["THREE"], live)[0]["kernel_decision"]


def test_the_head_of_a_run_and_how_many_counterexamples_are_kept(monkeypatch, tmp_path):
    asked = []

    class Read:
        """Metrics of which a run keeps what it is told to."""

        def __init__(self, run, scenario, probes, most):
            asked.append((run, scenario, probes, most))

        def read(self, place):
            return SimpleNamespace(
                entries=[{"entry_hash": "e0"}, {"entry_hash": "e1"}] if place.name == "r1" else [],
                failed=5,
                counterexamples=[{}, {}],
                episodes=[],
            )

    monkeypatch.setattr(folder, "RunMetrics", Read)
    monkeypatch.setattr(Specs, "of", lambda specs: SimpleNamespace(agent=lambda: "ann", probes=lambda: {"p": {}}))
    monkeypatch.setattr(folder, "_files", lambda evidence, agents, most, replay: [("most", most), ("agents", agents)])
    for name in ("r1", "r2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "manifest.json").write_bytes(canonical_bytes({"receipts": {"count": 1}}) + b"\n")

    def run(name, kept, seed):
        fields: Any = {"counterexamples": kept, "seed": seed}
        model = Scenario.model_construct(**fields)
        specs: Any = SimpleNamespace(main=SimpleNamespace(name="s", model=model), digest="d")
        return SubRun(name, f"runs/{name}", specs)

    reading: Any = SimpleNamespace(parts=lambda: [run("r1", 2, 7), run("r2", 4, 8)])
    evidence: Any = SimpleNamespace(place=tmp_path)
    report = Report((replace(made_up("a"), evidence=evidence, reading=reading),))
    files: Any = folder.write(report).files
    assert files["most"] == 4
    assert asked == [("r1", "s", ("p",), 2), ("r2", "s", ("p",), 4)]
    assert [head for head, _ in files["agents"]["ann"].runs] == [
        {
            "run": name,
            "scenario": "s",
            "seed": seed,
            "specs": "d",
            "receipts": {"count": 1},
            "audit": audit,
            "counterexamples": {"failed_steps": 5, "kept": 2},
        }
        for name, seed, audit in (("r1", 7, {"entries": 2, "head": "e1"}), ("r2", 8, {"entries": 0, "head": None}))
    ]
    asked.clear()
    assert folder.write(report, Options(whole=True)).files["most"] is None
    assert [most for *_, most in asked] == [None, None]


SEEN = Observation("broken", "x 3", None, 0, 4, 9, "ab" * 32, "log.json", True)
CHECK = Check("invariant/a", "Few.", "invariant/a@1", Outcome.FAILED, 3, 1, "why", False, True, (SEEN,), 2, True, True)
WAIVER = Waiver("ann", "later", "2030-01-01", "active")
AS_JSON = {
    "id": "invariant/a",
    "says": "Few.",
    "spec": "invariant/a@1",
    "outcome": "failed",
    "opportunities": 3,
    "failures": 1,
    "why": "why",
    "error": False,
    "more": 2,
    "severity": "warning",
    "observations": [
        {
            "what": "broken",
            "detail": "x 3",
            "place": {"run": None, "episode": 0, "t": 4},
            "receipt": {"seq": 9, "digest": "ab" * 32},
        }
    ],
}


def control(**changes):
    made = Control(
        "c1",
        "1.1",
        "Be safe.",
        "required",
        Outcome.FAILED,
        "why",
        (Match("m", 0, Outcome.FAILED, joint=True),),
        ("t1", "t2"),
        WAIVER,
    )
    return replace(made, ran=("passed", "failed"), **changes)


WAIVED = {
    "owner": "ann",
    "reason": "later",
    "until": "2030-01-01",
    "state": "active",
    "control": "c1",
    "waives": "failed",
}


def test_a_check_as_json():
    assert json_document._check(CHECK, None) == AS_JSON
    assert json_document._check(replace(CHECK, warning=False), None) == {**AS_JSON, "severity": "error"}
    assert json_document._check(CHECK, control()) == {**AS_JSON, "outcome": "WAIVED", "waiver": WAIVED}


# The waiver of a control: counted while it is active, told as it stands when it is not, none without one.
WAIVERS: dict[str, tuple[Any, str, Any]] = {
    "active": (WAIVER, "WAIVED", WAIVED),
    "expired": (
        replace(WAIVER, state="expired"),
        "failed",
        {"owner": "ann", "reason": "later", "until": "2030-01-01", "state": "expired"},
    ),
    "none": (None, "failed", None),
}


@pytest.mark.parametrize(("waiver", "outcome", "told"), WAIVERS.values(), ids=WAIVERS)
def test_a_control_as_json(waiver, outcome, told):
    assert json_document._control(control(waiver=waiver)) == {
        "id": "c1",
        "section": "1.1",
        "says": "Be safe.",
        "status": "required",
        "outcome": outcome,
        "why": "why",
        "evidence": [{"check": "m", "subject": 0, "outcome": "failed", "error": False}],
        "tests": [{"test": "t1", "outcome": "passed"}, {"test": "t2", "outcome": "failed"}],
        "waiver": told,
    }


class Claimed:
    """A reading whose agents have metrics of two probes, of which one tested claims."""

    figures = ({"figure": "f"},)

    def agents(self):
        return "agents"

    def results(self):
        return ()


def test_a_bundle_and_a_report_as_json(monkeypatch):
    probes = {"p": {"claims": {"held": 1, "tested": 2}}, "q": {}}
    monkeypatch.setattr(
        json_document, "totals", lambda agents: {"ann": {"probes": probes}} if agents == "agents" else {}
    )
    monkeypatch.setattr(json_document, "not_shown", lambda subjects: ("much",))
    reading: Any = Claimed()
    subject = replace(made_up("a", CHECK, doc="It is."), reading=reading, names={"world": ("w",)}, case="n=1")
    made = json_document.document(Report((subject,)))
    outcomes = made["outcomes"]
    assert outcomes["failed"] == 1
    assert sum(outcomes.values()) == 1
    assert {name: made[name] for name in ("profile", "not_shown")} == {"profile": None, "not_shown": ["much"]}
    assert made["subjects"] == [
        {
            "name": "a.n=1",
            "kind": "scenario",
            "doc": "It is.",
            "root": "scenario/a@0123456789abcdef",
            "verdict": "PASS",
            "replay": "replayed",
            "evidence": {name: subject.manifest[name] for name in ("run", "specs", "receipts", "engine")},
            "result": {"verdict": "PASS"},
            "claims": [{"agent": "ann", "probe": "p", "held": 1, "tested": 2}],
            "verification": [{"number": 1, "name": "whole", "status": "passed", "message": ""}],
            "outcomes": outcomes,
            "checks": [AS_JSON],
            "figures": [{"figure": "f"}],
            "specs": {"world": ["w"]},
        }
    ]


def test_a_judgement_as_json():
    controls = (control(), control(waiver=None))
    made = json_document._judgement(Judgement("p", "source", "doc", "digest", "2029-01-01", controls))
    assert [(each["id"], each["outcome"]) for each in made.pop("controls")] == [("c1", "WAIVED"), ("c1", "failed")]
    assert {name: count for name, count in made.pop("outcomes").items() if count} == {"WAIVED": 1, "failed": 1}
    assert made == {
        "name": "p",
        "source": "source",
        "doc": "doc",
        "digest": "digest",
        "date": "2029-01-01",
        "verdict": "FAIL",
    }
