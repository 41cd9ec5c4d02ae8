"""What a kernel's process reports to its watchdog, and the timer that ends it when nobody watches any more."""

import os
import signal

import pytest

from specledger.run import watchdog
from specledger.run.watchdog import _HEAD, _MARK, _ORPHANED_MS, Pulse


@pytest.fixture
def pulse(monkeypatch):
    """A pulse, the timers that it sets, and what arrives in its pipe."""
    timers: list[tuple[int, float]] = []
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: timers.append((which, seconds)))
    reading, writing = os.pipe()

    def arrived():
        data, frames = os.read(reading, 1 << 20), []
        while data:
            kind, size = _HEAD.unpack(data[: _HEAD.size])
            frames.append((kind, data[_HEAD.size : _HEAD.size + size]))
            data = data[_HEAD.size + size :]
        return frames

    yield Pulse(writing, 2000), timers, arrived
    os.close(reading)
    os.close(writing)


def test_an_evaluation_is_timed_from_its_beginning_to_its_end(pulse):
    reports, timers, arrived = pulse
    reports.enter(7, "a" * 64, "b" * 64, more_ms=500, note=b"note")
    reports.leave(b"left")
    assert timers == [(signal.ITIMER_REAL, (2000 + _ORPHANED_MS + 500) / 1000), (signal.ITIMER_REAL, 0)]
    (entered, mark), (left, message) = arrived()
    assert _MARK.unpack(mark[: _MARK.size]) == (7, 500, b"a" * 64, b"b" * 64)
    assert (mark[_MARK.size :], message) == (b"note", b"left")
    assert entered != left


def test_messages_and_the_end_set_no_timer(pulse):
    reports, timers, arrived = pulse
    reports.send(b"message")
    reports.end(None)
    reports.end("Error" * 40)
    assert timers == []
    message, finished, failed = arrived()
    assert (message[1], finished[1], failed[1]) == (b"message", b"", ("Error" * 20).encode())
    assert len({message[0], finished[0], failed[0]}) == 3


@pytest.mark.parametrize(("more", "admitted"), [(0, True), (1, False)])
def test_a_message_is_bounded(pulse, monkeypatch, more, admitted):
    monkeypatch.setattr(watchdog, "MAX_MESSAGE", 8)
    reports, _, arrived = pulse
    try:
        reports.send(b"m" * (8 + more))
    except ValueError:
        assert not admitted
    else:
        assert admitted
        assert arrived()[0][1] == b"m" * 8
