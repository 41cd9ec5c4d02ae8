"""A check of which the evidence holds nothing says so, in both verifiers, and counts for no level by itself."""

import pytest

from specledger.core.verdict import Verdict
from specledger.evidence.runlog import FORMAT
from specledger.pipeline.verifying import verify
from specledger.report.profile_answers import _OUTCOMES
from specledger.verify.assurance_levels import Reached, Reader, level_statuses
from specledger.verify.check_names import EXPECTED, SIGNATURES
from specledger.verify.checks import Level, Nothing, Status, Verification
from specledger.verify.runlog import verify_runlog
from tools import verify as tool
from tools.conformance import PLACE
from tools.tampering.forger import canonical

HELD = {
    "climb": (["commitment", "token"], ["probes"]),
    "kernel": (["commitment", "token", "probe"], []),
    "reading": (["commitment", "token"], ["probes"]),
}


@pytest.mark.parametrize(("there", "absent"), HELD.values(), ids=HELD)
def test_the_check_of_receipts_says_what_it_was_about(there, absent, request):
    name = request.node.callspec.id
    found = verify(PLACE / "bases" / name, reader=Reader(replay=False))
    told = tool.verify(PLACE / "bases" / name, tool.Bundle(PLACE / "bases" / name))
    messages = [check.message or "" for check in found.checks if check.number == 5]
    messages += [check.message or "" for check in told if check.number == 5]
    assert len(messages) == 2
    for message in messages:
        counted, _, lacking = message.partition("; nothing to check: ")
        assert all(noun[:6] in counted for noun in there)
        assert [noun for noun in lacking.split(", ") if noun] == absent


ABOUT = {
    ("climb", 8): "nothing to check", ("failing", 8): "passed", ("climb", 22): "nothing to check",
    ("reading", 22): "passed", ("outside", 22): "passed", ("proved", 12): "nothing to check", ("refuted", 12): "passed",
}  # fmt: skip


@pytest.mark.parametrize(("case", "status"), ABOUT.items(), ids=str)
def test_the_second_verifier_passes_nothing_that_is_not_there(case, status):
    base, number = case
    found = tool.verify(PLACE / "bases" / base, tool.Bundle(PLACE / "bases" / base))
    assert {check.status for check in found if check.number == number} == {status}
    assert tool.verdict_of(found)[1] == 0


def test_a_run_log_of_no_attempt_has_no_results_to_check(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(canonical({"body": {"format": FORMAT}, "prev": "0" * 64, "seq": 0, "type": "log"}) + b"\n")
    found = verify_runlog(log)
    assert [check.status for check in found.checks] == [Status.PASSED, Status.NOTHING]
    assert found.verdict is Verdict.PASS


def _no_step():
    raise Nothing("there is none")


def test_a_check_of_nothing_reaches_no_level():
    found = Verification(asked=frozenset({Level.INTACT, Level.SIGNED}))
    found.passed(EXPECTED)
    found.attempt(SIGNATURES, _no_step, Level.SIGNED)
    assert [check.status for check in found.checks] == ["passed", "nothing to check"]
    assert found.intact
    assert found.verdict is Verdict.INCONCLUSIVE
    assert level_statuses(found)[1].status is Reached.NOT_CHECKED


def test_who_demands_a_check_of_nothing_is_not_told_that_it_passed():
    assert _OUTCOMES[Status.NOTHING] == "untested"
