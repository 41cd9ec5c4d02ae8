"""What generated code charges: memory for values that have a name, and work for what it makes."""

import pytest

from specledger.core.spans import Text
from specledger.core.weight import footprint
from specledger.expr import EvaluationError
from specledger.expr.generate import source
from specledger.expr.generate.source import Memory, Meter
from specledger.expr.limits import CHARACTERS_OF_WORK


def memory(monkeypatch, most):
    monkeypatch.setattr(source, "MAX_MEMORY", most)
    held = Memory()
    held.texts = [Text.inline("first"), Text.inline("second")]
    return held


VALUES = {
    "hold": (["a", {"b": 1}], footprint(["a", {"b": 1}], 1_000_000)),
    "hold_list": ([1, 2, 3], 64 + 3 * 40),
    "hold_matrix": ([[1, 2], [3]], 64 + 2 * 72 + 3 * 40),
}


@pytest.mark.parametrize("way", VALUES)
def test_a_named_value_takes_its_own_memory_in_place_of_what_it_took_before(monkeypatch, way):
    value, size = VALUES[way]
    held = memory(monkeypatch, 2 * size)
    for number in (0, 1, 1, 0):
        assert getattr(held, way)(number, value) is value
    held.begin()
    getattr(held, way)(1, value)


@pytest.mark.parametrize("way", VALUES)
def test_what_takes_too_much_is_said_of_its_expression(monkeypatch, way):
    value, size = VALUES[way]
    held = memory(monkeypatch, 2 * size - 1)
    getattr(held, way)(0, value)
    with pytest.raises(EvaluationError) as error:
        getattr(held, way)(1, value)
    assert (error.value.code, error.value.offset, error.value.text) == ("E_EVAL_LIMIT", 0, held.texts[1])


@pytest.mark.parametrize("way", ["hold_list", "hold_matrix"])
def test_nothing_takes_no_memory(monkeypatch, way):
    assert getattr(memory(monkeypatch, 0), way)(0, None) is None


def test_work_is_spent_until_there_is_none(monkeypatch):
    monkeypatch.setattr(source, "MAX_WORK", 6)
    meter = Meter()
    values = [1, 2]
    assert meter.spend(values, 2) is values
    assert meter.spend_text("a" * (2 * CHARACTERS_OF_WORK + 1)) is not None
    assert meter.left == 0
    assert meter.spend_text(10**9) == 10**9
    with pytest.raises(EvaluationError):
        meter.spend([1], 1)
    meter.begin()
    assert meter.left == 6
