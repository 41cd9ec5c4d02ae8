"""Asking again: what failed on the way to a model, and what rests on it, is made anew; nothing else is asked twice."""

import dataclasses

import pytest

from specledger.core.diagnostics import Rejected
from specledger.discovery.retry import UNASKED, forget_failures
from specledger.discovery.store import Store
from specledger.discovery.worker import Worker
from specledger.oracles.failures import FAILURES

KEPT = {"blocked", "empty", "withheld", "truncated", "malformed", "too_large", "exhausted"}


class Line:
    """The scripted model behind a line that is down for some questions; remembers who was asked."""

    def __init__(self, model, down):
        self.identity, self.outside, self.last_usage = model.identity, model.outside, model.last_usage
        self.model, self.down, self.asked = model, down, []

    def count_tokens(self, text):
        return self.model.count_tokens(text)

    def ask(self, request):
        self.asked.append(request.turn)
        answer = self.model.ask(request)
        reason = self.down.get(request.turn)
        return answer if reason is None else dataclasses.replace(answer, text=None, failure=reason)


@pytest.fixture
def store(small, tmp_path):
    one = Store(str(tmp_path / "store"), small[0].digest, 60.0)
    yield one
    one.close()


@pytest.fixture
def work(small, store):
    """Carry the discovery to its end over such a line; the questions that were asked."""
    _, workbench, model = small

    def to_the_end(**down):
        line = Line(model.open(False), {int(turn.removeprefix("turn_")): reason for turn, reason in down.items()})
        Worker(store, workbench, model.identity, lambda: line, "me", 60.0).work()
        return line.asked

    return to_the_end


def test_every_failure_is_of_the_model_or_of_the_way_to_it():
    assert set(FAILURES) == KEPT | UNASKED
    assert not KEPT & UNASKED


@pytest.mark.parametrize("reason", sorted(UNASKED))
def test_what_failed_on_the_way_is_asked_again_and_all_is_as_if_it_had_not(
    reason, work, small, store, told, facts, quick
):
    work(turn_0=reason)
    assert told(store) != facts
    assert forget_failures(small[1].plan, store) == 1
    assert 0 in work()
    assert told(store) == facts
    assert forget_failures(small[1].plan, store) == 0


def test_what_does_not_rest_on_it_is_not_asked_again(work, small, store, told, facts, quick):
    work(turn_1="refused")  # with a lag of 2 iteration 2 does not look at what came of it
    forget_failures(small[1].plan, store)
    assert 2 not in work()
    assert told(store) == facts


def test_a_line_that_is_still_down_costs_no_other_answer(work, small, store, told, quick):
    work(turn_0="refused")
    before = told(store)
    for _ in range(2):
        forget_failures(small[1].plan, store)
        assert work(turn_0="refused") == [0]
        assert told(store) == before


def test_a_failure_of_the_model_is_its_answer(work, small, store, told, quick):
    work(turn_0="withheld")
    before = told(store)
    assert forget_failures(small[1].plan, store) == 0
    assert work() == []
    assert told(store) == before


def test_nothing_is_taken_back_while_somebody_works(work, small, store, quick):
    work(turn_0="refused")
    assert store.claim(99, "propose", "somebody") is not None
    with pytest.raises(Rejected) as caught:
        forget_failures(small[1].plan, store)
    assert [each.code for each in caught.value.diagnostics] == ["E_STORE_BUSY"]
    assert store.answer(0) is not None
