"""The verification of a suite is tried by its failures: each fault is sealed again, so that only one check can tell."""

import json
import shutil
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.core.verdict import Verdict
from specledger.expr import INT, Environment, EvaluationError
from specledger.expr import check as check_expression
from specledger.expr.errors import MissingFieldError
from specledger.pipeline.verifying import verify
from specledger.run.workers import Processes
from specledger.suites.checks import PlannedCheck, judge
from specledger.suites.figures import FigureError
from specledger.suites.measures import Reading
from specledger.verify import suite as suite_evidence
from specledger.verify.assurance_levels import Reader, level_statuses
from specledger.verify.checks import Status
from specledger.verify.judged import UNVALUED
from tests.toys.bundles import receipts_of
from tools.tampering.forger import HELP, Forger, canonical, tagged

RUN = "runs/long.climb.3"
NAMES = [
    "the manifest is canonical JSON of a known format",
    "every file is listed and unchanged",
    "receipts form one hash chain",
    "chain head, count and Merkle root match the manifest",
    "state transitions are continuous; decisions match commitments",
    "the result equals the recomputed one",
    "specs match their digest and compile",
    "source files resolve to the recorded specs",
    "every run is intact and made from the specs of its case",
    "figures, checks and mutants equal the recomputed ones",
    "detached files refer to this manifest",
    "replay of every run gives the same bytes",
]


def manifest_of(place):
    return json.loads((place / "manifest.json").read_bytes())


def opened(place):
    """A bundle in the hands of a forger, without what follows from the rest."""
    for name in HELP:
        (place / name).unlink(missing_ok=True)
    return Forger(place)


def list_files(place, **changes):
    """Write a manifest anew around what lies in the folder; a field that is None is left out."""
    forger = opened(place)
    forger.manifest = {name: value for name, value in {**forger.manifest, **changes}.items() if value is not None}
    forger.relist()


def seal(place, receipts, **changes):
    """Write a chain anew, so that every digest is right again."""
    forger = opened(place)
    forger.receipts = receipts
    forger.manifest |= changes
    forger.seal()
    return forger.manifest["receipts"]


def make(folder, replay):
    """One suite that was run, with a mutant."""
    from specledger.kinds import load
    from specledger.pipeline.executing import execute
    from tests.toys import CLIMB
    from tests.unit.suites.conftest import SUITE

    shutil.copytree(CLIMB, folder / "climb")
    text = SUITE.lstrip().replace("mutants:\n", f"{replay}mutants:\n").replace("[3, 4]", "[3]")
    (folder / "climb" / "heights.yaml").write_text(text, encoding="utf-8")
    return execute(load(folder / "climb" / "heights.yaml")[0], folder / "out").place


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One with replays, for nearly all tests of this file."""
    return make(tmp_path_factory.mktemp("suite"), "replay: bytes\n")


@pytest.fixture
def place(made, tmp_path):
    shutil.copytree(made, tmp_path / "out")
    return tmp_path / "out"


def failure(place, **options):
    found = verify(place, **options)
    failed = [check for check in found.checks if check.status is Status.FAILED]
    return (failed[0].number, failed[0].code, failed[0].message) if failed else None


@pytest.mark.medium
def test_the_checks_in_their_order(place):
    found = verify(place)
    assert [check.name for check in found.checks] == NAMES
    assert found.verdict is Verdict.PASS


def test_without_replay_nothing_is_concluded(place):
    found = verify(place, replay=False)
    assert [check.status for check in found.checks] == [Status.PASSED] * 11 + [Status.NOT_MADE]
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.medium
def test_workers_change_nothing(place):
    assert verify(place, executor=Processes(3)).checks == verify(place).checks


def change_bodies(type_, change):
    def fault(place):
        receipts = receipts_of(place)
        change(next(one["body"] for one in receipts if one["type"] == type_))
        seal(place, receipts)

    return fault


def leave_out(type_):
    def fault(place):
        receipts = receipts_of(place)
        del receipts[next(number for number, one in enumerate(receipts) if one["type"] == type_)]
        seal(place, receipts)

    return fault


def link_the_runs(place):
    (place / "runs").rename(place.parent / "elsewhere")
    (place / "runs").symlink_to(place.parent / "elsewhere")


def in_the_run(change):
    """A fault in a run, sealed there, listed by the suite, and told by its receipts."""

    def fault(place):
        receipts = receipts_of(place / RUN)
        change(receipts)
        chain = seal(place / RUN, receipts)
        own = receipts_of(place)
        next(one["body"] for one in own if one["type"] == "run")["receipts"] = chain
        seal(place, own)

    return fault


def make_up_a_figure(receipts):
    next(one["body"] for one in receipts if one["type"] == "step")["record"]["reached"] = 9


def succeed_early(place):
    """A run says that its first step succeeds, everything in it fits, and the suite speaks of it as it is."""
    forget_to_tell(place)
    receipts, now = receipts_of(place), manifest_of(place / RUN)
    body = next(one["body"] for one in receipts if one["type"] == "run")
    body |= {name: now[name] for name in ("receipts", "result")}
    seal(place, receipts)


def forget_to_tell(place):
    """The same, but the suite speaks of the run of before."""
    forger = opened(place / RUN)
    forger.first("step")["success"] = True
    forger.recount()
    forger.seal()
    seal(place, receipts_of(place))


def say_nonsense(receipts):
    next(one["body"] for one in receipts if one["type"] == "step")["record"] = {"reached": "high"}


def forget_the_commitment(receipts):
    del receipts[next(number for number, one in enumerate(receipts) if one["type"] == "commit")]


FAULTS = {
    "a figure": (change_bodies("figure", lambda body: body["groups"][0].update(of=9)), 11, "E_ASSESSMENT"),
    "what caught a mutant": (change_bodies("mutant", lambda body: body.update(control={})), 11, "E_ASSESSMENT"),
    "what replay found": (change_bodies("run", lambda body: body["replay"].update(noticed=False)), 11, "E_ASSESSMENT"),
    "the end left out": (leave_out("end"), 5, "E_ENDS"),
    "the beginning left out": (leave_out("start"), 5, "E_ENDS"),
    "what no replay finds": (change_bodies("run", lambda body: body.update(replay="well")), 11, "E_ASSESSMENT"),
    "a made-up figure of a run": (in_the_run(make_up_a_figure), 11, "E_ASSESSMENT"),
    "a run that only replay finds": (succeed_early, 20, "E_RUNS"),
    "a value of another type in a run": (in_the_run(say_nonsense), 10, "E_RUNS"),
    "a commitment of a run left out": (in_the_run(forget_the_commitment), 10, "E_RUNS"),
    "another kind": (lambda place: list_files(place, kind="scenario"), 1, "E_MANIFEST"),
    "no kind": (lambda place: list_files(place, kind=None), 2, "E_FILES"),
    "a file beside the runs": (lambda place: (place / "runs" / "notes").write_text("x"), 2, "E_FILES"),
    "a folder beside the runs": (lambda place: (place / "more").mkdir(), 2, "E_FILES"),
    "a link for the runs": (link_the_runs, 2, "E_FILES"),
    "a link to nothing": (lambda place: (place / "controls-").symlink_to("nowhere"), 2, "E_FILES"),
    "an empty folder among the runs": (lambda place: (place / "runs" / "more").mkdir(), 2, "E_FILES"),
    "a file in a run": (lambda place: (place / RUN / "notes").write_text("x"), 10, "E_RUNS"),
    "a manifest of a run": (lambda place: list_files(place / RUN, engine={}), 2, "E_FILES"),
}


@pytest.mark.parametrize(("fault", "number", "code"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_by_its_check(place, fault, number, code):
    fault(place)
    found = failure(place)
    assert found is not None
    assert found[:2] == (number, code), found


def test_files_that_are_missing_and_not_listed_are_named_each_as_what_it_is(place):
    (place / "receipts.jsonl").rename(place / "notes")
    assert failure(place) == (2, "E_FILES", "listed, and missing: receipts.jsonl; not listed: notes")
    shutil.rmtree(place / RUN)
    assert failure(place) == (
        2,
        "E_FILES",
        f"listed, and missing: receipts.jsonl, {RUN}/manifest.json; not listed: notes",
    )


@pytest.mark.medium
def test_what_only_replay_finds_refutes_replay_alone_however_runs_are_compared(tmp_path):
    place = make(tmp_path, "")
    succeed_early(place)
    assert failure(place, replay=False) is None
    found = verify(place)
    assert [rung.level.value for rung in level_statuses(found) if rung.status == "refuted"] == ["L4"]
    assert (found.checks[-1].code, found.checks[-1].name) == ("E_RUNS", NAMES[-1])
    assert (found.checks[-1].message or "").startswith(f"{RUN}: ")


@pytest.mark.medium
def test_a_run_that_claims_another_version_is_not_believed(tmp_path):
    """Its replay would not be made, so that nobody would notice what it makes up."""
    place = make(tmp_path, "")
    assert failure(place) is None
    list_files(place / RUN, engine={"name": "specledger", "version": "9"})
    list_files(place)
    found = failure(place)
    assert found is not None
    assert found[:2] == (10, "E_RUNS")
    assert failure(place, replay=False) is None, "without replay nothing is concluded"


@pytest.mark.parametrize("change", [make_up_a_figure, say_nonsense, forget_the_commitment])
def test_what_a_run_says_is_looked_at_without_replay_too(place, change):
    in_the_run(change)(place)
    found = failure(place, replay=False)
    assert found is not None
    assert found[1] == ("E_ASSESSMENT" if change is make_up_a_figure else "E_RUNS")


@pytest.mark.medium
def test_a_suite_loosened_after_the_run(place):
    """Other specs are other runs, or another verdict; here a check is loosened and everything sealed."""
    specs = json.loads((place / "specs.json").read_bytes())
    suite = specs["specs"].pop(specs["root"])
    suite["checks"][0]["require"] = "true"
    specs["root"] = f"suite/heights@{tagged('spec', canonical(suite))[:16]}"
    specs["specs"][specs["root"]] = suite
    (place / "specs.json").write_bytes(canonical(specs) + b"\n")
    digest = tagged("specs", canonical(specs))
    receipts = receipts_of(place)
    receipts[0]["body"]["specs"] = digest
    run = tagged("run", digest.encode())[:32]
    seal(place, receipts, specs=digest, run=run)
    assert failure(place)[1] == "E_SOURCES", "its files still say what it was"
    shutil.rmtree(place / "specs")
    seal(place, receipts, specs=digest, run=run)
    assert failure(place)[1] == "E_ASSESSMENT"


@pytest.mark.medium
def test_a_second_evaluator_judges_every_run_and_every_check(place):
    """Of the suite, of the mutant and of its control, three each; the mutant's arm alone has no lead over another."""
    pytest.importorskip("cel_expr_python", reason="the extra `judge`")
    found = verify(place, reader=Reader(judge=True))
    facts = found.facts["judge"]
    assert found.verdict is Verdict.PASS
    assert (facts["not_judged"], facts["no_expression"][suite_evidence.VALUELESS]) == ({}, 2)
    assert facts["judged"] == facts["of"] > 7


OTHERWISE: dict[str, tuple[dict[str, Any], str]] = {
    "another verdict": ({"verdict": "FAIL"}, "check climbs: recorded FAIL of"),
    "other opportunities": ({"opportunities": 1}, "check climbs: recorded PASS of 1, judged"),
}


@pytest.mark.medium
@pytest.mark.parametrize("case", OTHERWISE)
def test_a_second_evaluator_that_differs_on_a_check_is_told(place, monkeypatch, case):
    pytest.importorskip("cel_expr_python", reason="the extra `judge`")
    changes, said = OTHERWISE[case]
    monkeypatch.setattr(suite_evidence, "judge_check", lambda check, values: {**judge(check, values), **changes})
    check = verify(place, reader=Reader(judge=True)).checks[-1]
    assert (check.code, said in (check.message or "")) == ("E_JUDGE", True), check.message


def fails_with(error):
    def read(_values):
        raise error

    return read


WITHOUT: dict[str, tuple[dict[str, Any], EvaluationError, int]] = {
    "a figure that failed": ({"high": FigureError({"code": "E"})}, EvaluationError("", "", None), 0),
    "a figure of nothing": ({"high": {}}, MissingFieldError("value"), 0),
    "another field that is missing": ({"high": {}}, MissingFieldError("other"), 1),
    "an error of ours": ({"high": {}}, EvaluationError("E_EVAL_OVERFLOW", "", None), 1),
}


@pytest.mark.parametrize("case", WITHOUT)
def test_a_check_without_a_value_is_no_verdict_of_an_expression(monkeypatch, case):
    pytest.importorskip("cel_expr_python", reason="the extra `judge`")
    values, error, open_ = WITHOUT[case]
    reading = SimpleNamespace(names=("high",), checked=None, read=fails_with(error))
    check = SimpleNamespace(id="c", require=reading, opportunities=reading)
    monkeypatch.setattr(suite_evidence, "judge_check", lambda *_: {"error": None, "verdict": "INCONCLUSIVE"})
    monkeypatch.setattr(suite_evidence, "assess", lambda _plan, given, judging: [judging(check, given)])
    count = suite_evidence.judge_checks(SimpleNamespace(), values)  # type: ignore[arg-type]
    assert (count.all, dict(count.without)) == (open_, {} if open_ else {suite_evidence.VALUELESS: 1})


# what a check requires, its opportunities, how many it needs; its verdict, and what is judged, valueless, open
JUDGED: dict[str, tuple[str, str, int, str, tuple[int, int, int]]] = {
    "as many opportunities as it needs": ("two > 1", "two", 2, "PASS", (1, 0, 0)),
    "one too few": ("two > 1", "two", 3, "INCONCLUSIVE", (1, 0, 0)),
    "a breach": ("two > 2", "two", 2, "FAIL", (1, 0, 0)),
    "a breach with too few opportunities": ("two > 2", "two", 3, "FAIL", (1, 0, 0)),
    "a figure of the requirement failed": ("broken > 1", "two", 1, "ERROR", (0, 1, 0)),
    "one of the opportunities failed": ("two > 1", "broken", 1, "ERROR", (0, 1, 0)),
    "the requirement has no value": ("two / nil > 1", "two", 1, "ERROR", (0, 0, 1)),
    "the opportunities have none": ("two > 1", "two / nil", 1, "ERROR", (0, 0, 1)),
}


@pytest.mark.parametrize(("require", "opportunities", "least", "verdict", "counts"), JUDGED.values(), ids=JUDGED)
def test_a_second_evaluator_judges_a_check(monkeypatch, require, opportunities, least, verdict, counts):
    pytest.importorskip("cel_expr_python", reason="the extra `judge`")
    values = {"two": 2, "nil": 0, "broken": FigureError({"code": "E"})}
    findings = Diagnostics()
    readings = []
    for text in (require, opportunities):
        checked = check_expression(Text.inline(text), Environment(dict.fromkeys(values, INT)), findings)
        assert checked is not None, findings.sorted()
        readings.append(Reading.of(checked))
    check = PlannedCheck("c", readings[0], readings[1], least, {})
    receipts: list[Any] = []

    def assess(_plan, given, judging):
        receipts.append(judging(check, given))
        return receipts

    monkeypatch.setattr(suite_evidence, "assess", assess)
    count = suite_evidence.judge_checks(SimpleNamespace(), values)  # type: ignore[arg-type]
    assert ([receipt["verdict"] for receipt in receipts], count.against) == ([verdict], None)
    assert (count.judged, count.without.total(), count.open.total()) == counts
    assert {*count.without, *count.open} <= {suite_evidence.VALUELESS, UNVALUED}
