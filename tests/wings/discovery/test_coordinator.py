"""The coordinator: the events of a discovery follow from its specs and answers, whatever finishes first."""

from contextlib import closing

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.oracles.failures import LASTING
from specledger.oracles.model import answered, failed
from specledger.run.workers import Pool, Processes
from specledger.wings.discovery.coordinator import Coordinator, run_discovery
from specledger.wings.discovery.journal import Journal
from specledger.wings.discovery.result import DiscoveryTally
from specledger.wings.discovery.worker import KnownLaws, Worker, open_all, try_proposed
from tests.conformance.proposer.made import VERDICT
from tests.toys import SMALL
from tests.toys.claims import measured


def opened(*changes):
    """The small discovery after some changes: its workbench and its model."""
    return open_all(load(str(SMALL / "small.yaml"), set=list(changes))[0])


def result_of(facts):
    tally = DiscoveryTally()
    for fact in facts:
        tally.add(*fact[:2])
    return tally.result()


def named(facts, type_, *names):
    return [tuple(fact.body[name] for name in names) for fact in facts if fact.type == type_]


def test_the_facts_of_a_small_discovery(facts):
    assert [fact.type for fact in facts] == [
        *("start", "iteration", "law", "iteration", "law", "law", "iteration"),
        *("escalation", "iteration", "law", "law", "escalation", "stop", "ledger", "expected", "end"),
    ]
    names = [law.partition("/")[2].partition("@")[0] for (law,) in named(facts, "law", "law")]
    statuses = [verdict["status"] for (verdict,) in named(facts, "law", "verdict")]
    late = [match and match["matched_law_id"] for (match,) in named(facts, "law", "late")]
    found = sorted(zip(names, statuses, late, strict=True))
    assert found == [
        ("gap", "PASS", None),
        ("leaves", "FAIL", None),
        ("right", "PROVED", None),
        ("right-again", "PROVED", "right"),
        ("swap", "FAIL", None),
    ]
    assert result_of(facts) == {
        **{"verdict": "PASS", "iterations": 4, "failures": 1, "rejected": 1, "redundant": 0, "late": 1},
        **{"evaluations": 5, "escalations": 2, "stopped": "iterations", "expected": {"right-component": True}},
        **{"tokens": result_of(facts)["tokens"], "content": result_of(facts)["content"]},
        "laws": {"PROVED": 1, "PASS": 1, "FAIL": 2, "UNKNOWN": 0, "ERROR": 0},
    }
    assert result_of(facts)["content"] > 0 < result_of(facts)["tokens"]


def test_the_ledger_names_each_refuted_law_with_its_ring(facts):
    (refuted,) = named(facts, "ledger", "refuted")[0]
    assert [(line["law"].partition("@")[0], line["cells"] == len(line["start"])) for line in refuted] == [
        ("law/swap", True),
        ("law/leaves", True),
    ]
    verdicts = {body["law"]: body["verdict"] for type_, body, _ in facts if type_ == "law"}
    for line in refuted:
        counterexample = verdicts[line["law"]]["counterexample"]
        assert (line["start"], line["t"]) == (counterexample["start"], counterexample["t"])


def test_an_iteration_sees_what_was_committed_lag_iterations_before(facts):
    snapshots = [snapshot for (snapshot,) in named(facts, "iteration", "snapshot")]
    assert snapshots[0] == snapshots[1]  # the second is asked before the first is known
    assert len(set(snapshots)) == 3


LAGS = [(1, 0), (2, 1), (3, 1)]


@pytest.mark.parametrize(("lag", "late"), LAGS)
def test_a_law_that_was_asked_for_too_early_is_redundant_one_way_or_the_other(quick, lag, late):
    workbench, model = opened(f"lag={lag}")
    result = result_of(run_discovery(workbench, model.identity))
    assert (result["late"], result["redundant"]) == (late, 1 - late)
    assert result["laws"] == {"PROVED": 1, "PASS": 1, "FAIL": 2, "UNKNOWN": 0, "ERROR": 0}


class Shuffled(Pool):
    """A pool of one process whose tasks finish in a seeded order."""

    def __init__(self, work, seed):
        super().__init__(work, 1)
        self.stream = Stream.named(seed, "pool")

    def wait(self):
        self._waiting.rotate(self.stream.integer(0, len(self._waiting)))
        return super().wait()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [1, 3])
def test_tasks_that_finish_in_any_order_give_the_same_events(facts, small, seed, width):
    bundle, workbench, model = small
    pool = Shuffled(Worker(bundle, plan=workbench.plan), seed)
    with closing(Journal(None, bundle.document())) as journal:
        assert list(Coordinator(workbench, model.identity, pool, journal, width=width).events()) == facts


@pytest.mark.slow
def test_several_processes_give_the_same_events(facts, small):
    _, workbench, model = small
    assert list(run_discovery(workbench, model.identity, executor=Processes(2))) == facts


STOPS = {
    "accepted": ("stop={accepted: 1}", 1),
    "evaluations": ("stop={evaluations: 2}", 2),
    "dry": ("stop={dry: 1}", 2),
    "tokens": ("stop={tokens: 1}", 1),
    "iterations": ("iterations=3", 3),
}


@pytest.mark.parametrize(("reason", "change", "iterations"), [(name, *rest) for name, rest in STOPS.items()])
def test_a_discovery_stops(quick, reason, change, iterations):
    workbench, model = opened(change)
    facts = list(run_discovery(workbench, model.identity))
    assert named(facts, "stop", "reason", "iterations") == [(reason, iterations)]
    assert named(facts, "end", "iterations") == [(iterations,)]
    escalated = {law for (law,) in named(facts, "escalation", "law")}
    accepted = {
        law
        for law, verdict, late in named(facts, "law", "law", "verdict", "late")
        if verdict["status"] in ("PROVED", "PASS") and late is None
    }
    assert escalated == accepted  # whatever was accepted is tried harder before the end


def test_what_is_expected_and_not_found_is_a_failure(quick):
    workbench, model = open_all(load(str(SMALL / "small.yaml"), set=["expect=[momentum]"])[0])
    result = result_of(run_discovery(workbench, model.identity))
    assert (result["verdict"], result["expected"]) == ("FAIL", {"momentum": False})


def test_a_discovery_that_finds_nothing_is_no_pass(quick):
    workbench, model = open_all(load(str(SMALL / "small.yaml"), set=["expect=[]"])[0])
    result = result_of(run_discovery(workbench, model.identity, lambda request: answered("[]")))
    assert (result["verdict"], result["evaluations"], result["stopped"]) == ("INCONCLUSIVE", 0, "iterations")


def test_a_law_that_the_engine_fails_at_is_an_error_and_never_refuted(monkeypatch, small):
    _, workbench, model = small
    broken = {"verdict": None, "error": "right: proved, but violated"}
    monkeypatch.setattr("specledger.wings.discovery.worker.try_proposed", lambda plan, document, effort: broken)
    facts = list(run_discovery(workbench, model.identity))
    result = result_of(facts)
    assert (result["verdict"], result["laws"]["ERROR"], result["laws"]["FAIL"]) == ("ERROR", 4, 0)
    assert named(facts, "ledger", "refuted") == [([],)]


def test_an_engine_that_contradicts_itself_in_an_escalation_is_an_error(monkeypatch):
    workbench, model = opened("lag=1", "held_out.mutants=0")

    def tried(plan, document, effort):
        if effort is plan.model.escalation:
            return {"verdict": None, "error": "proved, but violated"}
        return {"verdict": VERDICT, "error": None}

    monkeypatch.setattr("specledger.wings.discovery.worker.try_proposed", tried)
    facts = list(run_discovery(workbench, model.identity))
    assert (result_of(facts)["verdict"], result_of(facts)["laws"]["ERROR"]) == ("ERROR", 4)
    assert named(facts, "end", "laws") == [(result_of(facts)["laws"],)]
    assert result_of(facts)["expected"] == {"right-component": False}


@pytest.mark.parametrize("failure", sorted(LASTING))
def test_after_a_failure_that_lasts_no_more_is_asked(quick, failure):
    """Two iterations are under way at once; what was accepted before is tried harder as at every end."""
    workbench, model = opened()
    asked = []

    def ask(request):
        asked.append(request.turn)
        return model.open(False).ask(request) if request.turn == 0 else failed(failure)

    facts = list(run_discovery(workbench, model.identity, ask))
    assert asked == [0, 1]
    assert named(facts, "stop", "reason", "iterations") == [(failure, 2)]
    assert len(named(facts, "escalation", "law")) == 1
    assert (result_of(facts)["stopped"], result_of(facts)["failures"]) == (failure, 1)


def test_without_the_filter_refuted_laws_are_tried_again_and_told_once(quick):
    """An answer given again and again: what was accepted would be known, what was refuted is tried again."""
    workbench, model = opened("lag=1", "proposer.add_to_redundancy_filter=false")
    swap = '[{"template": "symmetry_commutation", "transform": "swap_only", "claim": "c", "forbidden": "x"}]'
    facts = list(run_discovery(workbench, model.identity, lambda request: answered(swap)))
    assert result_of(facts)["evaluations"] == 4
    assert result_of(facts)["laws"]["FAIL"] == 1
    (refuted,) = named(facts, "ledger", "refuted")[0]
    assert [line["iteration"] for line in refuted] == [0]


def test_what_is_known_is_what_was_committed_whatever_was_asked_before(small, facts):
    _, workbench, _ = small
    laws = [workbench.laws.read(body["document"]) for type_, body, _ in facts if type_ == "law"]
    known = KnownLaws(workbench.plan.model.redundancy)
    for some in (laws[:3], laws, laws[:1], laws[1:], []):
        detector = known.detector(some)
        assert len(detector) == len(some)
        assert (detector.check(laws[1]) is not None) == (laws[1] in some)


BEYOND = {
    "an integer beyond JSON": ("9007199254740991 * count('>') + count('<') + 5", "evaluation_error"),
    "an integer beyond 64 bits": ("(count('>') * 4000000000) * (grid_length * 4000000000)", "evaluation_error"),
}


@pytest.mark.parametrize("name", BEYOND)
def test_a_verdict_that_no_receipt_holds_is_unknown(small, name):
    expr, reason = BEYOND[name]
    plan = small[1].plan
    tried = try_proposed(plan, measured(expr, forbidden="x"), plan.model.trial)
    assert (tried["error"], tried["verdict"]["status"], tried["verdict"]["reason"]) == (None, "UNKNOWN", reason)
    assert canonical_bytes(tried)


def test_a_verdict_that_is_too_long_is_unknown(small, facts, monkeypatch):
    plan, document = small[1].plan, next(body["document"] for type_, body, _ in facts if type_ == "law")
    monkeypatch.setattr("specledger.wings.laws.trial.MAX_VERDICT", 1000)
    assert try_proposed(plan, document, plan.model.trial)["verdict"]["reason"] == "resource_limit"


def test_a_long_ledger_has_several_receipts(facts, small, quick, monkeypatch):
    monkeypatch.setattr("specledger.wings.discovery.discovery_state.MOST_LINES", 1)
    _, workbench, model = small
    split = list(run_discovery(workbench, model.identity))
    parts = named(split, "ledger", "refuted")
    assert [line for (lines,) in parts for line in lines] == named(facts, "ledger", "refuted")[0][0]
    assert len(parts) == 2
