"""The shipped discovery, answered from its recording, gives the pinned laws, rings and receipts.

After a change of the prompt, the ranking, the memory or the script the recording no longer fits. Make both anew:

    rm specs/model/kinetic-script.jsonl
    spec discover kinetic --record --workers 1 --journal /tmp/new.sqlite --out /tmp/new
    pytest -n0 tests/golden/test_discovery.py --snapshot-update
"""

from itertools import product

import pytest

from specledger.core.canonical import parse_canonical
from specledger.evidence.layout import TAPE
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.golden import pin_evidence
from specledger.pipeline.verifying import verify
from specledger.wings.discovery.plan import compile_discovery
from specledger.wings.laws.judge import judge
from tests.pins import assert_pinned


@pytest.fixture(scope="module")
def shipped():
    return load_runs(["specs/discovery/kinetic.yaml"])[0]


@pytest.fixture(scope="module")
def finished(shipped, tmp_path_factory):
    return execute(shipped, tmp_path_factory.mktemp("discovery") / "kinetic")


def told(finished, type_):
    return [one for one in finished.receipts if one["type"] == type_]


def test_it_is_the_pinned_one(finished, snapshot):
    assert_pinned(pin_evidence(finished), snapshot, "fixtures/discovery")


def test_it_finds_what_is_conserved_and_the_symmetry(finished):
    found = {one["law"]: one for one in told(finished, "expected")}
    assert set(found) == {"total-particles", "right-component", "left-component", "momentum", "mirror-swap"}
    assert {(one["status"], one["found"] is not None) for one in found.values()} == {("PROVED", True)}
    assert len(told(finished, "iteration")) >= 20


def test_the_record_is_as_bad_as_models_are(finished):
    answers = told(finished, "iteration")
    assert {one["answer"]["failure"] for one in answers} > {
        "blocked",
        "truncated",
        "rate_limited",
        "empty",
        "too_large",
    }
    reasons = {each["reason"].partition(":")[0] for one in answers for each in one["rejections"]}
    assert reasons >= {"E_ANSWER_FIELD", "E_ANSWER_JSON", "E_LAW_CANDIDATE", "E_CLAIM_DIVISION"}
    assert sum(len(one["redundant"]) for one in answers) >= 99
    reached = {one["verdict"]["reason"] for one in told(finished, "law")}
    assert reached >= {"missing_observable", "ambiguous_claim", "resource_limit"}


def test_false_laws_are_refuted_by_rings_that_no_shorter_one_replaces(shipped, finished):
    plan = compile_discovery(shipped)
    documents = {one["law"]: one["document"] for one in told(finished, "law")}
    (ledger,) = told(finished, "ledger")
    assert len(ledger["refuted"]) >= 12
    for line in ledger["refuted"]:
        law = plan.law(documents[line["law"]], plan.model.trial).law
        shortest = law.universe.shortest
        rings = [ring for size in range(shortest, line["cells"]) for ring in product(law.starts, repeat=size)]
        assert not rings or (judge(law, rings).violated < 0).all(), line


def test_its_evidence_is_intact_and_holds_the_answers(finished):
    verification = verify(finished.place, replay=False)
    assert verification.intact
    tape = (finished.place / TAPE).read_bytes().splitlines()
    assert len(tape) == 1 + len(told(finished, "iteration"))
    assert parse_canonical(tape[0]) == {"format": "specledger/model-tape/v1"}
