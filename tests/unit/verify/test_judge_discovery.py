"""A second evaluator on the verdicts of a discovery: of laws, of escalations, and under the rules that are held out."""

import copy

import pytest

from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.discovery.coordinator import run_discovery
from specledger.discovery.worker import open_all
from specledger.kinds import MODELS, load
from specledger.verify.assurance_levels import Reader, level_statuses
from specledger.verify.bundle import verify_bundle
from specledger.verify.discovery import DISCOVERY
from specledger.verify.judge_law import ENDED, UNDECIDED, judge_discovery
from tests import toys
from tests.unit.verify.conftest import write_evidence

pytest.importorskip("cel_expr_python", reason="the extra `judge`")
pytestmark = pytest.mark.slow

SMALL = toys.SMALL / "small.yaml"


@pytest.fixture(scope="module")
def made():
    """A discovery: its specs, its plan and its facts."""
    bundle = load(str(SMALL))[0]
    workbench, planned = open_all(bundle)
    return bundle, workbench.plan, list(run_discovery(workbench, planned.identity, planned.open(False).ask))


@pytest.fixture
def told(made):
    """Its receipts that hold verdicts, for a forger."""
    return [(each.type, copy.deepcopy(dict(each.body))) for each in made[2] if each.type in ("law", "escalation")]


def verified(made, place, forge=lambda fact: fact, *, replay=True):
    """The verification of its evidence, and what is known of the level."""
    write_evidence(place, made[0], map(forge, made[2]), DISCOVERY)
    verification = verify_bundle(place, DISCOVERY, MODELS, Reader(judge=True, replay=replay))
    (rung,) = [rung for rung in level_statuses(verification) if rung.level == "L5"]
    return verification, rung


def verdicts_of(told):
    return [body["verdict"] for _, body in told] + [held for _, body in told for held in body.get("held_out") or ()]


def test_every_verdict_is_judged(made, told):
    count = judge_discovery(made[1], told, None)
    said = [verdict["status"] for verdict in verdicts_of(told) if verdict is not None]
    wanted = sum(status in ("PROVED", "PASS", "FAIL") for status in said)
    assert (count.judged, count.all, count.open, count.against) == (wanted, wanted, {}, None)
    assert count.seen["counterexamples"] == said.count("FAIL") > 0
    assert set(count.without) <= {UNDECIDED, ENDED}
    assert any(held["mutant"] is not None for _, body in told for held in body.get("held_out") or ())


def failing(told):
    """The first receipt with a law that fails, and that verdict."""
    return next((each, each[1]["verdict"]) for each in told if (each[1]["verdict"] or {}).get("status") == "FAIL")


def failing_under_a_mutant(told):
    found = ((each, held) for each in told for held in each[1].get("held_out") or ())
    return next((each, held) for each, held in found if held["mutant"] is not None and held["status"] == "FAIL")


@pytest.mark.parametrize(("choose", "place"), [(failing, "law law/"), (failing_under_a_mutant, "under mutant")])
def test_a_law_that_fails_is_not_proved(made, told, choose, place):
    receipt, verdict = choose(told)
    verdict.update(status="PROVED", counterexample=None)
    count = judge_discovery(made[1], [receipt], None)
    assert place in (count.against or "")
    assert "recorded that it is proved" in (count.against or "")


def test_cases_that_replay_would_make_are_open_without_it(made, told):
    """A law that fails is said to have passed: without the cases nothing is said of it, neither for nor against."""
    receipt, verdict = failing(told)
    verdict.update(status="PASS", counterexample=None)
    count = judge_discovery(made[1], [receipt], "replay was not requested")
    assert (count.judged, count.against, count.open.total()) == (0, None, 1)
    assert "replay was not requested" in next(iter(count.open))


def test_trials_that_ended_in_errors_are_no_verdicts(made, told):
    for _, body in told:
        body["verdict"] = None
        body["held_out"] = [{**held, "status": "ERROR"} for held in body.get("held_out") or ()]
    count = judge_discovery(made[1], told, None)
    assert (count.all, set(count.without)) == (0, {ENDED})


def test_a_verdict_in_a_universe_that_there_is_not_is_refused(made, tmp_path):
    """Without a counterexample no earlier check looks at it."""

    def forge(fact):
        body = copy.deepcopy(dict(fact.body))
        for held in body.get("held_out") or ():
            held.update(universe="universe/none@0", mutant=None, status="PASS", counterexample=None)
        return Event(fact.type, body)

    verification, rung = verified(made, tmp_path / "out", forge, replay=False)
    assert (verification.verdict, rung.code) == (Verdict.FAIL, "E_VERDICT")


def test_the_level_is_reached(made, tmp_path):
    verification, rung = verified(made, tmp_path / "out")
    assert (verification.verdict, rung.status) == (Verdict.PASS, "reached"), rung.why
    assert "looked at: " in rung.why
