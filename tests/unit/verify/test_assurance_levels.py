"""What a verification amounts to, from the checks that were made: levels, the verdict and the headline, by tables."""

from typing import Any

import pytest

from specledger.core.verdict import Verdict
from specledger.verify.assurance_levels import Reached, Reader, headline, level_of, level_statuses
from specledger.verify.check_names import CheckName
from specledger.verify.checks import Broken, Level, Status, Verification
from specledger.verify.signed import E_UNTRUSTED

PASSED, FAILED, LEFT = Status.PASSED, Status.FAILED, Status.NOT_MADE
L0, L1, L2, L3, L4, L5 = Level
THING: Any = object()


def made(*checks, signed=False, asked=None, code=None):
    """A verification of which a check of each of these levels ended so."""
    verification = Verification(signed=signed)
    if asked is not None:
        verification.ask(frozenset(asked))
    for level, status in checks:
        if status is PASSED:
            verification.passed(CheckName(f"a check of {level}"), None, level)
        elif status is FAILED:
            verification.failed(CheckName(f"a check of {level}"), Broken(code or "E_CHAIN", "it is wrong"), level)
        else:
            verification.not_made(CheckName(f"a check of {level}"), "it is not there", level, code)
    return verification


ASKED: dict[str, tuple[dict[str, Any], set[Level]]] = {
    "nothing": ({}, {L0, L4}),
    "L0": ({"levels": frozenset({L0})}, {L0}),
    "L1": ({"levels": frozenset({L1})}, {L0, L1}),
    "two levels": ({"levels": frozenset({L3, L5})}, {L0, L3, L5}),
    "a second evaluator": ({"judge": True}, {L0, L4, L5}),
    "authorities": ({"authorities": THING}, {L0, L2, L4}),
    "a head": ({"against": (THING,)}, {L0, L3, L4}),
    "a level and authorities": ({"levels": frozenset({L1}), "authorities": THING}, {L0, L1, L2}),
}


@pytest.mark.parametrize(("brought", "levels"), ASKED.values(), ids=ASKED)
def test_what_a_reader_brings_and_names_is_asked_for_and_replay_where_no_level_is_named(brought, levels):
    assert Reader(**brought).asked == levels


VERDICTS = {
    "nothing was checked": (made(), Verdict.INCONCLUSIVE),
    "all passed": (made((L0, PASSED), (L4, PASSED)), Verdict.PASS),
    "one failed": (made((L0, PASSED), (L4, FAILED)), Verdict.FAIL),
    "one failed that nobody asked for": (made((L0, PASSED), (L4, FAILED), asked=[L0]), Verdict.FAIL),
    "one was not made": (made((L0, PASSED), (L4, LEFT)), Verdict.INCONCLUSIVE),
    "one was not made that nobody asked for": (made((L0, PASSED), (L4, LEFT), asked=[L0]), Verdict.PASS),
    "what was asked for has no check": (made((L0, PASSED), asked=[L0, L3]), Verdict.INCONCLUSIVE),
    "only what was asked for": (made((L0, PASSED), (L3, PASSED), asked=[L0, L3]), Verdict.PASS),
    "nothing of what was asked for": (made((L0, PASSED), asked=[L3]), Verdict.INCONCLUSIVE),
}


@pytest.mark.parametrize(("verification", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_is_about_what_was_asked_for_unless_something_failed(verification, verdict):
    assert verification.verdict is verdict


REACHED = {
    "nothing": (made(), None),
    "intact": (made((L0, PASSED)), L0),
    "intact with one check left": (made((L0, PASSED), (L0, LEFT)), None),
    "signed": (made((L0, PASSED), (L1, PASSED), signed=True), L1),
    "without a time stamp": (made((L0, PASSED), (L1, PASSED), (L3, PASSED)), L3),
    "a gap": (made((L0, PASSED), (L3, PASSED), (L4, PASSED)), L0),
    "all": (made(*((level, PASSED) for level in Level)), L5),
    "a failure above": (made((L0, PASSED), (L1, PASSED), (L4, FAILED)), None),
}


@pytest.mark.parametrize(("verification", "level"), REACHED.values(), ids=REACHED)
def test_the_level_is_the_highest_without_a_gap_but_for_time(verification, level):
    assert level_of(verification) == level


HEADLINES = {
    "nothing": (made(), "nothing was checked"),
    "only what is above": (made((L4, PASSED)), "nothing was checked"),
    "unsigned": (made((L0, PASSED)), "intact, unsigned"),
    "signed by somebody": (made((L0, PASSED), signed=True), "intact, signed, but by no trusted key"),
    "too few": (
        made((L0, PASSED), (L1, LEFT), signed=True, code=E_UNTRUSTED),
        "intact, signed, but by too few trusted keys",
    ),
    "trusted": (made((L0, PASSED), (L1, PASSED), signed=True), "intact, signed by trusted keys"),
    "everything": (
        made(*((level, PASSED) for level in Level), signed=True),
        "intact, signed by trusted keys, stamped, no fork since the seen checkpoint, replay gives the same bytes, "
        "a second evaluator agrees",
    ),
    "replay left": (made((L0, PASSED), (L4, LEFT)), "intact, unsigned, not replayed"),
    "replay in part": (made((L0, PASSED), (L4, PASSED), (L4, LEFT)), "intact, unsigned, not replayed"),
    "replayed": (made((L0, PASSED), (L4, PASSED)), "intact, unsigned, replay gives the same bytes"),
    "refuted": (made((L0, FAILED)), "REFUTED [E_CHAIN]"),
    "refuted twice by one code": (made((L0, FAILED), (L4, FAILED)), "REFUTED [E_CHAIN]"),
}


@pytest.mark.parametrize(("verification", "words"), HEADLINES.values(), ids=HEADLINES)
def test_the_headline_says_what_was_checked_and_no_more(verification, words):
    assert headline(verification) == words


WHY = {
    "nobody asked": (made((L0, PASSED), signed=True), L1, Reached.NOT_CHECKED, "no trusted keys given (--trust)"),
    "unsigned": (made((L0, PASSED)), L1, Reached.NOT_CHECKED, "it is unsigned"),
    "after a failure": (made((L0, FAILED), signed=True), L1, Reached.NOT_CHECKED, "an earlier check failed"),
    "time after a failure": (made((L0, FAILED)), L2, Reached.NOT_CHECKED, "an earlier check failed"),
    "no time": (made((L0, PASSED)), L2, Reached.NOT_CHECKED, "the evidence holds no time stamp"),
    "no replay after a failure": (made((L0, FAILED)), L4, Reached.NOT_CHECKED, "replay does not apply to it"),
    "left": (made((L0, PASSED), (L4, LEFT)), L4, Reached.NOT_CHECKED, "it is not there"),
    "a failure before what was left": (made((L4, LEFT), (L4, FAILED)), L4, Reached.REFUTED, "it is wrong"),
    "passed": (made((L4, PASSED)), L4, Reached.REACHED, ""),
}


@pytest.mark.parametrize(("verification", "level", "reached", "why"), WHY.values(), ids=WHY)
def test_each_level_says_why_it_was_not_reached(verification, level, reached, why):
    status = next(one for one in level_statuses(verification) if one.level is level)
    assert (status.status, status.why) == (reached, why)
