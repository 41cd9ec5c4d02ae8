"""When a mutant of a suite is caught."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.suites.assessment import _judge_mutant

MUTANT: Any = SimpleNamespace(id="m", mutated=SimpleNamespace(suite="s"))
VERDICTS = ("PASS", "FAIL", "INCONCLUSIVE", "ERROR")


@pytest.mark.parametrize(("control", "mutated"), [*product(VERDICTS, VERDICTS)])
def test_a_check_that_fails_with_it_and_passes_without_it_catches_it(control, mutated):
    body = _judge_mutant(MUTANT, {"c": control}, {"c": mutated})
    caught = (control, mutated) == ("PASS", "FAIL")
    assert body["caught"] == ["c"] * caught
    assert body["verdict"] == ("PASS" if caught else "ERROR" if "ERROR" in (control, mutated) else "FAIL")


def test_an_error_beside_does_not_hide_what_was_caught():
    body = _judge_mutant(MUTANT, {"b": "PASS", "a": "PASS", "c": "PASS"}, {"b": "FAIL", "a": "FAIL", "c": "ERROR"})
    assert (body["caught"], body["verdict"], body["mutant"], body["suite"]) == (["a", "b"], "PASS", "m", "s")
