"""When the next call to a service may be made, how long it is tried, and what calls have cost."""

import logging
import os
import stat
import warnings

import pytest

from specledger.oracles.model import NO_TOKENS, ModelRequest, TokenUsage, answered, failed
from specledger.oracles.retry_clock import Clock
from specledger.oracles.service import Key
from specledger.oracles.service_client import CallGate, ServiceClient, Spent, cost_of, quiet, service_identity
from specledger.spec.model import OpenAIConfig, Price
from tests.unit.oracles.loopback import KEY, FakeClock

REQUEST = ModelRequest(0, "", "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / f"specledger-calls-{os.getuid()}"


def test_without_limits_nothing_is_written(folder):
    clock = FakeClock()
    with CallGate("name", None, None, clock).turn():
        pass
    assert not folder.exists()
    assert clock.waits == []


def test_files_of_a_gate_are_private_and_have_its_name_cut(folder):
    gate = CallGate("n" * 33, 60, 2, FakeClock())
    with gate.turn():
        pass
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {
        "n" * 32 + ".0": 0o600,
        "n" * 32 + ".next": 0o600,
    }


BOOKED = {
    "nothing": ("", 0.0, 102.0),
    "earlier": ("99.999999", 0.0, 102.0),
    "now": ("100.000000", 0.0, 102.0),
    "later": ("101.5", 1.5, 103.5),
    "an integer": ("103", 3.0, 105.0),
    "an hour later": ("3700", 3600.0, 3702.0),
    "more than an hour later": ("3701", 3600.0, 3702.0),
    "no number": ("soon", 0.0, 102.0),
    "a negative number": ("-5", 0.0, 102.0),
    "two points": ("1.0.1", 0.0, 102.0),
    "other bytes": ("\xff", 0.0, 102.0),
}


@pytest.mark.parametrize(("content", "wait", "following"), BOOKED.values(), ids=BOOKED)
def test_a_call_waits_for_the_time_that_is_booked(content, wait, following, folder):
    folder.mkdir()
    (folder / "name.next").write_bytes(content.encode("latin-1"))
    clock = FakeClock()
    clock.time = 100.0
    with CallGate("name", 30, None, clock).turn():
        pass
    assert clock.waits == ([wait] if wait else [])
    assert (folder / "name.next").read_text() == f"{following:.6f}"


def test_a_call_waits_until_one_of_the_slots_is_free(folder):
    class Releasing(FakeClock):
        def wait(self, seconds):
            super().wait(seconds)
            if len(self.waits) == 2:
                busy[1].__exit__(None, None, None)

    clock = Releasing()
    busy = [CallGate("name", None, 2, clock).turn() for _ in range(2)]
    for turn in busy:
        turn.__enter__()
    assert clock.waits == []
    with CallGate("name", None, 2, clock).turn():
        assert clock.waits == [0.05, 0.05]
    busy[0].__exit__(None, None, None)


class Answering(ServiceClient):
    """Gives answers in order, each after some time, the last one again and again."""

    def __init__(self, *answers, after=0.0, **settings):
        self.clock, self.answers, self.left, self.after = FakeClock(), list(answers), [], after
        super().__init__("made-up", OpenAIConfig(**{"model": "m", **settings}), Key(KEY), self.clock)

    def _send(self, request):
        self.left.append(self._left_ms())
        self.clock.time += self.after
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def _reason(self, error):
        return "malformed", str(error)


BUSY, GOOD = failed("unavailable"), answered("x", TokenUsage(5, 2, 3))
TRIES = {
    "a wait that ends with the time": ({"deadline_ms": 3000}, [1.0]),
    "a wait that ends a millisecond before": ({"deadline_ms": 3001}, [1.0, 2.0]),
    "no time for a wait": ({"deadline_ms": 1000}, []),
    "waits have a bound": ({"deadline_ms": 121_001, "retries": 10}, [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]),
    "as often as is said": ({"deadline_ms": 60_000, "retries": 2}, [1.0, 2.0]),
}


@pytest.mark.parametrize(("settings", "waits"), TRIES.values(), ids=TRIES)
def test_how_long_a_busy_service_is_asked_again(settings, waits):
    client = Answering(BUSY, **settings)
    assert client.ask(REQUEST).failure == "unavailable"
    assert client.clock.waits == waits
    assert len(client.left) == len(waits) + 1


def test_each_try_has_the_time_that_is_left():
    client = Answering(BUSY, BUSY, GOOD, after=0.25, deadline_ms=3600)
    assert client.ask(REQUEST) == GOOD
    assert client.left == [3600, 2350, 100]
    client = Answering(BUSY, GOOD, after=0.5, deadline_ms=1500)
    assert client.ask(REQUEST) == BUSY
    client._clock.wait(5)
    assert client._left_ms() == 1  # zero would mean no deadline


@pytest.mark.parametrize(("passed", "late"), [(0.999, False), (1.0, False), (1.001, True)])
def test_when_an_answer_is_late(passed, late):
    client = Answering(GOOD, deadline_ms=1000)
    client._begin()
    client.clock.wait(passed)
    assert client._late() is late


def test_what_is_raised_is_an_answer_without_the_key():
    class Raising(Answering):
        def _send(self, request):
            raise ValueError(f"the key {KEY}")

    answer = Raising(GOOD).ask(REQUEST)
    assert (answer.failure, answer.detail) == ("malformed", "the key [key]")


def test_the_last_usage_is_that_of_the_last_call():
    client = Answering(GOOD, limits={"tokens": 10})
    assert client.last_usage == NO_TOKENS
    client.ask(REQUEST)
    assert client.last_usage == TokenUsage(5, 2, 3)
    assert client.ask(REQUEST).failure == "over_limit"
    assert client.last_usage == NO_TOKENS
    assert len(client.left) == 1


PRICE = Price.model_validate({"input": 1, "output": 3})
LIMITS = {
    "none": ({}, ""),
    "tokens below": ({"limits": {"tokens": 11}}, ""),
    "tokens at": ({"limits": {"tokens": 10}}, "limits.tokens: 10 of 10"),
    "tokens above": ({"limits": {"tokens": 9}}, "limits.tokens: 10 of 9"),
    "money below": ({"limits": {"money": 0.000021}, "price": PRICE}, ""),
    "money at": ({"limits": {"money": 0.00002}, "price": PRICE}, "limits.money: 20 of 20 millionths"),
    "money above": ({"limits": {"money": 0.000019}, "price": PRICE}, "limits.money: 20 of 19 millionths"),
}


@pytest.mark.parametrize(("settings", "reached"), LIMITS.values(), ids=LIMITS)
def test_a_limit_is_reached_at_its_figure(settings, reached):
    spent = Spent(OpenAIConfig.model_validate({"model": "m", **settings}))
    assert (spent.money, spent.over()) == (0, "")
    spent.add(TokenUsage(5, 2, 3))
    assert spent.over() == reached
    assert spent.money == (20 if "price" in settings else 0)  # 5 * 1 + (2 + 3) * 3


@pytest.mark.parametrize(
    ("prompt", "output", "cost"),
    [(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 0, 2), (0, 1, 2), (0, 2, 3), (1, 1, 2), (2, 2, 4)],
)
def test_a_price_is_rounded_up(prompt, output, cost):
    assert cost_of(Price.model_validate({"input": 0.5, "output": 1.5}), prompt, output) == cost


def test_a_seed_is_part_of_who_answers_only_where_there_is_one():
    without = service_identity("o", OpenAIConfig(model="m"))
    assert "seed" not in without
    assert service_identity("o", OpenAIConfig(model="m", seed=0)) == {**without, "seed": 0}
    assert without["oracle"] == "o"


def test_packages_of_services_are_quiet_only_while_they_work():
    logger = logging.getLogger("openai")
    before = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as caught, quiet():
            warnings.warn("hush", stacklevel=1)
            assert not logger.isEnabledFor(logging.CRITICAL)
        assert caught == []
        assert logger.level == logging.DEBUG
    finally:
        logger.setLevel(before)


def test_the_clock_has_one_time_in_two_forms():
    clock = Clock()
    first, day, then = clock.microseconds(), clock.today(), clock.microseconds()
    assert first <= then
    assert first // 86_400_000_000 <= (day.toordinal() - 719_163) <= then // 86_400_000_000
    assert clock.now() <= clock.now()
