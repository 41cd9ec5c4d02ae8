"""The fold from receipts to a result: every verdict, every figure."""

import copy
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import canonical_bytes
from specledger.core.events import progress_violation
from specledger.core.verdict import Verdict
from specledger.evidence.result import Tally

FIGURES = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
CAUSE = {"code": "E_EVAL_DIVISION", "expression": "1 / 0", "offset": 0}
FATAL = {"invariant": "budget", "severity": "fatal", "witness": {}}
WARN = {"invariant": "bump", "severity": "warn", "witness": {}}
AT_WALL = {"gate": "wall", "reason": "wall", "witness": {}}
AT_BUDGET = {"gate": "budget", "reason": "budget", "witness": {}}
ADMITTED: dict[str, Any] = {"rejected": [], "error": None}
WALL = {"rejected": [AT_WALL], "error": None}
BOTH = {"rejected": [AT_WALL, AT_BUDGET], "error": None}
UNKNOWN = {"rejected": [], "error": CAUSE}
END = ("end", {"episodes": 1, "steps": 1})


def start(*invariants, gates=("schema", "wall")):
    return "start", {
        "invariants": [{"name": name, "scope": "step", "severity": "fatal"} for name in invariants],
        "gates": list(gates),
    }


def step(*violations, decisions=(ADMITTED,), chosen=0):
    stopped = [] if chosen is not None else [progress_violation(0, decisions)]
    return "step", {"decisions": list(decisions), "chosen": chosen, "violations": [*stopped, *violations]}


def close(*violations, success=False, idle=0):
    idle = {"budget": idle} if idle else {}
    return "episode_end", {"success": success, "violations": list(violations), "idle": idle}


STAND = step(decisions=[WALL, WALL], chosen=None)
ERROR = ("error", CAUSE)
RUN = [start("budget"), ("episode", {}), ("commit", {})]


def fold(receipts):
    tally = Tally()
    for type_, body in receipts:
        tally.add(type_, body)
    return tally


VERDICTS = {
    "checked and nothing found": ([*RUN, step(), close(), END], Verdict.PASS),
    "a warning only": ([*RUN, step(WARN), close(WARN), END], Verdict.PASS),
    "a rejection only": ([*RUN, step(decisions=[WALL, ADMITTED], chosen=1), close(), END], Verdict.PASS),
    "a goal that was missed": ([*RUN, step(), close(success=False), END], Verdict.PASS),
    "a fatal breach in a step": ([*RUN, step(FATAL), close(), END], Verdict.FAIL),
    "a fatal breach at the end of an episode": ([*RUN, step(), close(FATAL), END], Verdict.FAIL),
    "a fatal breach among warnings": ([*RUN, step(WARN, FATAL, WARN), close(), END], Verdict.FAIL),
    "a fatal breach before good steps": ([*RUN, step(FATAL), step(), step(), close(), END], Verdict.FAIL),
    "no admissible action": ([*RUN, STAND, close(), END], Verdict.FAIL),
    "no admissible action, no invariants": ([start(), STAND, close(), END], Verdict.FAIL),
    "a fatal breach, no invariants named": ([start(), step(FATAL), close(), END], Verdict.FAIL),
    "no end": ([*RUN, step(), close()], Verdict.ERROR),
    "no end after a fatal breach": ([*RUN, step(FATAL), close()], Verdict.ERROR),
    "an error receipt": ([*RUN, step(), ERROR, close(), END], Verdict.ERROR),
    "an error receipt and a fatal breach": ([*RUN, step(FATAL), ERROR, close(), END], Verdict.ERROR),
    "an error receipt and nothing else": ([start(), ERROR, END], Verdict.ERROR),
    "a proposal that was not judged": ([*RUN, step(decisions=[ADMITTED, UNKNOWN]), close(), END], Verdict.ERROR),
    "no proposal that was judged": ([*RUN, step(decisions=[UNKNOWN], chosen=None), close(), END], Verdict.ERROR),
    "nothing at all": ([], Verdict.ERROR),
    "only an end": ([END], Verdict.INCONCLUSIVE),
    "no invariants": ([start(), step(), close(success=True), END], Verdict.INCONCLUSIVE),
    "an invariant that never applied": ([start("budget"), step(), step(), close(idle=2), END], Verdict.INCONCLUSIVE),
    "an invariant that applied once": ([start("budget"), step(), step(), close(idle=1), END], Verdict.PASS),
    "no invariants, a warning": ([start(), step(WARN), close(), END], Verdict.INCONCLUSIVE),
    "no steps": ([*RUN, close(), END], Verdict.INCONCLUSIVE),
}


@pytest.mark.parametrize(("receipts", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_verdict(receipts, verdict):
    tally = fold(receipts)
    assert tally.verdict is verdict
    assert tally.result()["verdict"] == verdict.value


def test_figures():
    receipts = [
        start("budget", "bump"),
        ("episode", {}),
        ("drift", {}),
        ("commit", {}),
        step(WARN, decisions=[WALL, ADMITTED, BOTH], chosen=1),
        ("drift", {}),
        step(FATAL, WARN, decisions=[ADMITTED, UNKNOWN]),
        close(WARN, success=True),
        ("episode", {}),
        STAND,
        ERROR,
        close(FATAL),
        END,
    ]
    assert fold(receipts).result() == {
        "verdict": "ERROR",
        "episodes": 2,
        "successes": 1,
        "steps": 3,
        "proposals": 7,
        "drifts": 2,
        "checks": 6,
        "errors": 2,
        "rejections": {"schema": 0, "wall": 4, "budget": 1},
        "violations": {"budget": 2, "progress": 1},
        "warnings": {"bump": 3},
    }


def test_nothing_counted_is_zero():
    assert fold([step()]).result()["checks"] == 0, "before any start"
    result = Tally().result()
    assert [result[name] for name in FIGURES] == [0] * len(FIGURES)
    assert result["rejections"] == result["violations"] == result["warnings"] == {}


STEPS = st.builds(
    lambda violations, decisions, chosen: step(*violations, decisions=decisions, chosen=chosen),
    st.lists(st.sampled_from([FATAL, WARN]), max_size=2),
    st.lists(st.sampled_from([ADMITTED, WALL, BOTH, UNKNOWN]), max_size=3),
    st.sampled_from([0, 0, None]),
)
MIDDLES = st.lists(
    st.one_of(STEPS, st.just(ERROR), st.just(("drift", {})), st.builds(close, success=st.booleans())), max_size=8
)


@pytest.mark.slow
@given(middle=MIDDLES, order=st.randoms(use_true_random=False))
def test_the_order_between_start_and_end_says_nothing(middle, order):
    receipts, shuffled = [*RUN, *middle, END], [*RUN, *order.sample(middle, len(middle)), END]
    assert fold(receipts).result() == fold(shuffled).result()


@pytest.mark.slow
@given(middle=MIDDLES)
def test_a_pass_was_checked_and_found_nothing(middle):
    receipts = [*RUN, *middle, END]
    before = copy.deepcopy(receipts)
    tally = fold(receipts)
    result = tally.result()
    assert receipts == before
    assert canonical_bytes(result) == canonical_bytes(fold(receipts).result())
    bodies = [body for type_, body in middle if type_ == "step"]
    unsound = any(type_ == "error" for type_, _ in middle) or any(
        decision["error"] for body in bodies for decision in body["decisions"]
    )
    broken = any(body["chosen"] is None or FATAL in body["violations"] for body in bodies)
    expected = {(True, True): "ERROR", (True, False): "ERROR", (False, True): "FAIL"}
    assert result["verdict"] == expected.get((unsound, broken), "PASS" if bodies else "INCONCLUSIVE")


@pytest.mark.slow
@given(middle=MIDDLES)
def test_nothing_that_is_added_turns_an_error_or_a_failure_into_a_pass(middle):
    tally, verdicts = Tally(), []
    for type_, body in [*RUN, END, *middle]:
        tally.add(type_, body)
        verdicts.append(tally.verdict)
    rank = [Verdict.PASS, Verdict.FAIL, Verdict.ERROR]
    after = [rank.index(verdict) for verdict in verdicts[len(RUN) :] if verdict is not Verdict.INCONCLUSIVE]
    assert all(earlier <= later for earlier, later in itertools.pairwise(after))


def expecting(invariants, **wanted):
    type_, body = start(*invariants)
    return [(type_, body | {"expect": wanted}), ("episode", {}), ("commit", {})]


EXPECTED = {
    "as expected": ({"verdict": "PASS"}, [step()], Verdict.PASS),
    "another verdict": ({"verdict": "FAIL"}, [step()], Verdict.FAIL),
    "not decided, a verdict expected": ({"verdict": "FAIL"}, [], Verdict.INCONCLUSIVE),
    "not decided, an end expected": ({"ended": "horizon"}, [], Verdict.INCONCLUSIVE),
    "not decided, as expected": ({"verdict": "INCONCLUSIVE"}, [], Verdict.PASS),
    "not decided, as expected, another end": ({"verdict": "INCONCLUSIVE", "ended": "until"}, [], Verdict.FAIL),
    "an error, a failure expected": ({"verdict": "FAIL"}, [ERROR], Verdict.ERROR),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_what_is_not_decided_refutes_no_expectation(case):
    wanted, steps, verdict = EXPECTED[case]
    ending = ("episode_end", {**close()[1], "ended": "horizon"})
    tally = fold([*expecting(["budget"] if steps else [], **wanted), *(steps or [step()]), ending, END])
    assert tally.verdict is verdict
    assert tally.result()["met"] is (verdict is Verdict.PASS)
