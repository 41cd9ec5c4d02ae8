"""Memory: which list a verdict leads to, what is forgotten, and that a snapshot stays as it is."""

from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostics
from specledger.wings.discovery.memory import MOST_ERRORS, DiscoveryMemory, DiscoveryMemorySnapshot
from specledger.wings.laws.universe import check_universe
from tests.toys.trials import try_law

RIGHT = "count('>') + count('X')"
LISTS = ("accepted_laws", "falsified_laws", "unknown_laws", "counterexamples")
RING = {"start": ".>.<", "t": 1, "excerpt": {"from": 0, "states": [".>.<", "..X."]}, "observables": {"t": {}, "t_plus_1": {}}, "minimised": 3}  # fmt: skip

VERDICTS: dict[str, Any] = {
    "PROVED": {"status": "PROVED", "method": "proof"},
    "PASS": {"status": "PASS", "method": "sample", "power": {"coverage": 901_000}, "violation_bound": 200},
    "FAIL": {"status": "FAIL", "method": "refutation", "counterexample": RING},
    "UNKNOWN": {"status": "UNKNOWN", "reason": "vacuous_pass", "detail": "it never held"},
    "ERROR": {"status": "ERROR", "detail": "proved, but violated"},
    "no verdict": None,
}

LEADS = {
    "PROVED": {"accepted_laws": 1},
    "PASS": {"accepted_laws": 1},
    "FAIL": {"falsified_laws": 1, "counterexamples": 1},
    "UNKNOWN": {"unknown_laws": 1},
    "ERROR": {},
    "no verdict": {},
}


def told(snapshot):
    return {name: len(getattr(snapshot, name)) for name in LISTS if getattr(snapshot, name)}


@pytest.fixture(scope="module")
def many(conserved):
    """Thirty-five laws that differ."""
    return [conserved(f"{number} * count('X')", law_id=f"law-{number}") for number in range(1, 36)]


@pytest.mark.parametrize("status", VERDICTS)
def test_a_verdict_leads_to_its_list_and_to_no_other(conserved, status):
    memory = DiscoveryMemory()
    memory.record_evaluation(conserved(RIGHT), VERDICTS[status])
    assert told(memory.snapshot()) == LEADS[status]
    assert len(memory.errors) == (1 if not LEADS[status] else 0)


def test_what_is_kept_of_a_law_is_what_its_verdict_rests_on(conserved):
    memory = DiscoveryMemory()
    for status in ("PASS", "FAIL", "UNKNOWN"):
        memory.record_evaluation(conserved(RIGHT, law_id=f"law-{status}"), VERDICTS[status])
    found = memory.snapshot().document()
    (accepted,), (falsified,), (unknown,), (ring,) = (found[name] for name in LISTS)
    assert (accepted["power"]["coverage"], accepted["violation_bound"]) == (901_000, 200)
    assert falsified["counterexample"]["start"] == ".>.<"
    assert (unknown["reason"], unknown["detail"]) == ("vacuous_pass", "it never held")
    assert (ring["law_id"], ring["start"], ring["t"]) == ("law-FAIL", ".>.<", 1)
    assert [accepted["evaluation"], falsified["evaluation"], unknown["evaluation"]] == [1, 2, 3]
    assert accepted["claim"] == "N(t) == N(0)"
    assert accepted["observables"] == [{"name": "N", "expr": RIGHT}]


@pytest.mark.medium
def test_verdicts_of_the_harness_are_taken_as_they_are(conserved):
    memory = DiscoveryMemory()
    laws = [conserved(expr, cases=60, mutations=0) for expr in (RIGHT, "count('X')", "entropy('X')")]
    for law in laws:
        memory.record_evaluation(law, try_law(law.plan))
    found = memory.snapshot()
    assert [len(getattr(found, name)) for name in LISTS] == [1, 1, 1, 1]
    assert found.accepted_laws[0]["power"]["coverage"] > 0
    assert found.accepted_laws[0]["content"]["share"] > 0
    assert found.unknown_laws[0]["reason"] == "missing_observable"


def test_a_status_that_there_is_not_is_refused(conserved):
    with pytest.raises(ValueError, match="REFUTED"):
        DiscoveryMemory().record_evaluation(conserved(RIGHT), {"status": "REFUTED"})


@pytest.mark.parametrize(("status", "name", "most"), [("PASS", "accepted_laws", 30), ("FAIL", "falsified_laws", 20), ("FAIL", "counterexamples", 20), ("UNKNOWN", "unknown_laws", 20)])  # fmt: skip
def test_the_oldest_go_first_beyond_the_seeds_limits(many, status, name, most):
    memory = DiscoveryMemory()
    for law in many:
        memory.record_evaluation(law, VERDICTS[status])
    ids = [each["law_id"] for each in getattr(memory.snapshot(), name)]
    assert ids == [f"law-{number}" for number in range(36 - most, 36)]


def test_errors_are_bounded_too(many):
    memory = DiscoveryMemory()
    for law in many:
        memory.record_evaluation(law, None)
    assert len(memory.errors) == MOST_ERRORS < len(many)


def test_a_law_that_is_tried_again_leaves_its_old_place(conserved):
    memory = DiscoveryMemory()
    law, other = conserved(RIGHT), conserved("count('X')")
    for each, status in ((law, "PASS"), (other, "PASS"), (law, "PROVED")):
        memory.record_evaluation(each, VERDICTS[status])
    assert [each["status"] for each in memory.snapshot().accepted_laws] == ["PASS", "PROVED"]
    memory.record_evaluation(law, VERDICTS["FAIL"])
    assert told(memory.snapshot()) == {"accepted_laws": 1, "falsified_laws": 1, "counterexamples": 1}
    memory.record_evaluation(law, None)
    assert told(memory.snapshot()) == {"accepted_laws": 1}


def test_nobody_changes_a_snapshot(conserved):
    memory = DiscoveryMemory()
    document = {**VERDICTS["FAIL"], "counterexample": {**RING, "observables": {"t": {"N": 1}, "t_plus_1": {"N": 0}}}}
    law = conserved(RIGHT)
    memory.record_evaluation(law, document)
    before: Any = memory.snapshot()
    digest, form = before.digest, canonical_bytes(before.document())
    entry = before.falsified_laws[0]
    with pytest.raises(AttributeError):
        before.accepted_laws = ()
    with pytest.raises(AttributeError):
        before.falsified_laws.append({})
    for inside in (entry, entry["counterexample"], entry["counterexample"]["observables"]["t"], before.capabilities):
        with pytest.raises(TypeError):
            inside["N"] = 2
    with pytest.raises(TypeError):
        entry["counterexample"]["excerpt"]["states"][0] = "...."
    document["counterexample"]["observables"]["t"]["N"] = 9
    law.document["observables"][0]["expr"] = "count('<')"
    before.document()["falsified_laws"].clear()
    memory.record_evaluation(conserved("count('X')"), VERDICTS["PASS"])
    assert (before.digest, canonical_bytes(before.document())) == (digest, form)
    assert memory.snapshot().digest != digest
    law.document["observables"][0]["expr"] = RIGHT


def test_a_snapshot_is_canonical_json_and_says_what_there_is(kinetic, conserved):
    universe: Any = check_universe(kinetic.main, kinetic, Diagnostics())
    memory = DiscoveryMemory(universe=universe)
    memory.record_evaluation(conserved(RIGHT), VERDICTS["PASS"])
    snapshot = memory.snapshot()
    assert parse_canonical(canonical_bytes(snapshot.document())) == snapshot.document()
    assert snapshot.document()["capabilities"] == universe.capabilities()
    assert memory.snapshot() == snapshot
    assert DiscoveryMemorySnapshot().document() == {name: [] for name in LISTS} | {"capabilities": {}}
