"""What becomes of a law by what the prover, the cases and a search say, and the limits of what a trial shows."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.expr import EvaluationError
from specledger.expr.errors import E_EVAL_LIMIT
from specledger.wings.laws import decision
from specledger.wings.laws.decision import decide
from specledger.wings.laws.harness import MAX_WORK, Contradiction
from specledger.wings.laws.power import Power
from specledger.wings.laws.proofs.question import Proved, ProvedUpTo, Refuted, Undecided
from specledger.wings.laws.spec.law import Trial
from specledger.wings.laws.verdict import status_text
from specledger.wings.laws.witness import Witness

TRIAL = Trial(usable=50, hits=20, families=2, coverage=300_000)
STRONG = Power(100, 100, 500, 90, 5, 90, 90, 5, 40, ("uniform",))
IDLE = Power(100, 100, 0, 0, 0, 90, 90, 5)
UNMET = Power(100, 0, 0, 0, 0, 0, 0, 0)
PROVED, UNDECIDED = Proved({"c": 1}, "all rings"), Undecided("too wide", "all rings")
SHORT = ProvedUpTo(4, {"e": 1}, "rings up to 4", "too wide")
REFUTED = Refuted((1, 0), 3, "by search", "all rings")


def law(unknown=None):
    universe = SimpleNamespace(text=lambda start: "".join(map(str, start)))
    return SimpleNamespace(name="l", unknown=unknown, universe=universe, trial=TRIAL)


@pytest.fixture
def decided(monkeypatch):
    """Decide a law of which the parts say this."""

    def run(answer, power=STRONG, violation=None, searched=None, witness=None, *, work=7, content=True, unknown=None):
        def fail(*given):
            raise power

        tried = fail if isinstance(power, Exception) else lambda *given: (violation, power, "judged")
        monkeypatch.setattr(decision, "answer_of", lambda law: answer)
        monkeypatch.setattr(decision, "work_of", lambda law, cases: work)
        monkeypatch.setattr(decision, "try_cases", tried)
        monkeypatch.setattr(decision, "search", lambda *given: searched)
        monkeypatch.setattr(decision, "find_witness", lambda *given: witness)
        monkeypatch.setattr(decision, "present", lambda law, start: ("ring", start))
        monkeypatch.setattr(decision, "content_of", lambda law: {"share": 1})
        given: Any = law(unknown)
        return decide(given, (), content=content)

    return run


ROWS: dict[str, tuple[dict[str, Any], str, str, str | None]] = {
    "proved": ({"answer": PROVED}, "PROVED", "proof", None),
    "proved, and nothing said": ({"answer": PROVED, "power": IDLE}, "UNKNOWN", "proof", "vacuous_pass"),
    "proved of starts that are not found": (
        {"answer": PROVED, "power": UNMET},
        "UNKNOWN",
        "proof",
        "unmet_preconditions",
    ),
    "proved, with a witness": ({"answer": PROVED, "power": IDLE, "witness": Witness((1,), 2)}, "PROVED", "proof", None),
    "refuted": ({"answer": REFUTED}, "FAIL", "refutation", None),
    "a case violates it": ({"answer": UNDECIDED, "violation": ((0, 1), 2)}, "FAIL", "sample", None),
    "a search finds a violation": ({"answer": UNDECIDED, "searched": ((0, 1), 2)}, "FAIL", "sample", None),
    "a witness violates it": (
        {"answer": UNDECIDED, "power": IDLE, "witness": Witness((1,), 2, True)},
        "FAIL",
        "sample",
        None,
    ),
    "a longer ring than was proved": ({"answer": SHORT, "violation": ((0,) * 5, 2)}, "FAIL", "sample", None),
    "it held": ({"answer": UNDECIDED}, "PASS", "sample", None),
    "it held, and short rings are proved": ({"answer": SHORT}, "PASS", "sample", None),
    "never tested": ({"answer": UNDECIDED, "power": IDLE}, "UNKNOWN", "sample", "vacuous_pass"),
    "never tested, with a witness": (
        {"answer": UNDECIDED, "power": IDLE, "witness": Witness((1,), 2)},
        "UNKNOWN",
        "sample",
        "inconclusive_low_power",
    ),
    "no start": ({"answer": UNDECIDED, "power": UNMET}, "UNKNOWN", "sample", "unmet_preconditions"),
    "as much work as there may be": ({"answer": UNDECIDED, "work": MAX_WORK}, "PASS", "sample", None),
    "more work": ({"answer": UNDECIDED, "work": MAX_WORK + 1}, "UNKNOWN", "none", "resource_limit"),
    "what is missing": (
        {"answer": PROVED, "unknown": SimpleNamespace(reason="missing_observable", detail="x")},
        "UNKNOWN",
        "none",
        "missing_observable",
    ),
    "an integer that is too large": (
        {"answer": UNDECIDED, "power": EvaluationError(E_EVAL_LIMIT, "too large")},
        "UNKNOWN",
        "sample",
        "evaluation_error",
    ),
}


@pytest.mark.parametrize(("said", "status", "method", "reason"), ROWS.values(), ids=ROWS)
def test_the_verdict_on_a_law(said, status, method, reason, decided):
    verdict = decided(**said)
    assert (verdict.status.value, verdict.method, verdict.reason) == (status, method, reason)
    assert (verdict.counterexample is not None) is (status == "FAIL")
    assert (verdict.content is not None) is (status in ("PROVED", "PASS"))


def test_what_a_verdict_rests_on(decided):
    proved, short = decided(PROVED), decided(SHORT)
    assert (proved.certificate, proved.proved_for, proved.up_to, proved.work) == ({"c": 1}, "all rings", None, 7)
    assert (short.certificate, short.proved_for, short.up_to) == ({"e": 1}, "rings up to 4", 4)
    assert (short.detail, short.power) == ("too wide", STRONG)
    assert decided(UNDECIDED, content=False).content is None
    assert decided(PROVED, content=False).content is None
    refuted = decided(REFUTED)
    assert (refuted.counterexample, refuted.detail, refuted.power) == (("ring", (1, 0)), "by search", None)
    assert decided(UNDECIDED, IDLE, witness=Witness((1, 0), 2, True)).counterexample == ("ring", (1, 0))


@pytest.mark.parametrize(
    ("power", "words"),
    [
        (IDLE, "the antecedent holds in none of the cases, but from '10' at step 2; too wide"),
        (UNMET, "none of the cases meets the preconditions, but '10' does; too wide"),
    ],
)
def test_a_witness_beside_the_cases_is_said(power, words, decided):
    assert decided(UNDECIDED, power, witness=Witness((1, 0), 2)).detail == words


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (PROVED, {"violation": ((0, 1), 2)}),
        (SHORT, {"violation": ((0, 1, 0, 1), 2)}),
        (PROVED, {"power": IDLE, "witness": Witness((0, 1), 2, True)}),
    ],
)
def test_a_proof_and_a_violation_contradict_each_other(answer, said, decided):
    with pytest.raises(Contradiction, match="l: proved, but violated at 2 from '01"):
        decided(answer, **said)


def power(**changes):
    given = {"cases": 50, "usable": 50, "hits": 20, "hit_cases": 20, "families": 2, "interacting": 0, "wrapping": 0}
    return Power(**{**given, "bins": 0, **changes})


WEAK = {
    "as much as is needed": ({}, 380_000, None),
    "one case too few": ({"usable": 49}, 375_632, "unmet_preconditions"),
    "one step too few": ({"hits": 19}, 380_000, "inconclusive_low_power"),
    "no step": ({"hits": 0}, 380_000, "vacuous_pass"),
    "one family too few": ({"families": 1}, 380_000, "inconclusive_low_power"),
    "as little coverage as may be": ({"hit_cases": 0}, 300_000, None),
    "less coverage": ({"hit_cases": 0, "cases": 51}, 294_117, "inconclusive_low_power"),
    "all there is": ({"hit_cases": 50, "interacting": 50, "wrapping": 50, "bins": 5}, 1_000_000, None),
    "nothing": ({"cases": 0, "usable": 0, "hit_cases": 0}, 0, "unmet_preconditions"),
}


@pytest.mark.parametrize(("changes", "coverage", "weakness"), WEAK.values(), ids=WEAK)
def test_what_a_trial_must_show(changes, coverage, weakness):
    shown = power(**changes)
    assert (shown.coverage, shown.weakness(TRIAL)) == (coverage, weakness)
    assert shown.to_json()["coverage"] == coverage


@pytest.mark.parametrize(("drawn", "share"), [(0, None), (1, 1_000_000), (3, 1_000_000), (4, 750_000), (7, 428_572)])
def test_the_rule_of_three(drawn, share):
    bound = power(drawn=drawn, drawn_by=("a", "b")).bound
    assert bound == (None if share is None else {"share": share, "drawn": drawn, "families": ["a", "b"]})


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        ({"status": "PASS", "reason": None}, "PASS"),
        ({"status": "PASS"}, "PASS"),
        ({"status": "UNKNOWN", "reason": "vacuous_pass"}, "UNKNOWN (vacuous_pass)"),
    ],
)
def test_a_status_with_its_reason(verdict, text):
    assert status_text(verdict) == text
