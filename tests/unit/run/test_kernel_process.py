"""What a kernel's process says, logs and asks, and what becomes of it where it is watched: both in this process."""

from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes, canonical_ints
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.events import Event
from specledger.oracles.answer import DIED, TIMED_OUT, Answer, Asked, Exchange
from specledger.oracles.recording import TapeError
from specledger.run import live_run
from specledger.run.watchdog import Ending

_LiveRun: Any = live_run._LiveRun
_Asking: Any = live_run._Asking


class Pulse:
    """What a kernel tells its watchdog."""

    def __init__(self):
        self.said = []

    def send(self, payload):
        self.said.append(payload)

    def enter(self, tick, proposal, trace, *, more_ms=0, note=b""):
        self.said.append(("enter", tick, proposal, trace, more_ms, note))

    def leave(self, payload=b""):
        self.said.append(("leave", payload))


class Log:
    def __init__(self, head):
        self.head, self.written, self.synced = head, [], 0

    def append(self, entry):
        self.written.append(entry["entry_hash"])
        self.head = entry["entry_hash"]

    def sync(self):
        self.synced += 1


def audit(number):
    return Event("audit", {"entry_hash": f"h{number}", "prev_entry_hash": f"h{number - 1}"})


END = Event("episode_end", {"episode": 0, "steps": 3})


def kernel(events, *, log=None, read=0, exchanges=0, outside=None, **more):
    """A live run of these events, whose log is `log`; of `exchanges` answers `read` were used."""

    @contextmanager
    def opened():
        yield log

    oracle = SimpleNamespace(live=None, read=read, tape=SimpleNamespace(exchanges=[None] * exchanges, add=None))
    plan = SimpleNamespace(outside=outside, watchdog=SimpleNamespace(deadline_ms=5, ms_per_tick=None), **more)
    return _LiveRun(iter(events), oracle, plan, opened, lambda _ending: None, None)


# the head of the log, how many of how many answers were used, and what is written
LOGS = {
    "an empty log": ("h0", 0, 0, ["h1", "h2", "h3"]),
    "a log with some entries": ("h2", 0, 9, ["h3"]),
    "a log with the entry before the first": ("h0", 0, 9, ["h1", "h2", "h3"]),
    "a log with all entries": ("h3", 0, 9, []),
    "entries of which the log has none, while answers are left": ("other", 8, 9, []),
    "entries of which the log has none, at the last answer": ("other", 9, 9, ["h1", "h2", "h3"]),
}


@pytest.mark.parametrize(("head", "read", "exchanges", "written"), LOGS.values(), ids=LOGS)
def test_entries_are_logged_once_from_where_the_log_ends(head, read, exchanges, written):
    log, pulse = Log(head), Pulse()
    events = [Event("step", {"entry_hash": "none"}), audit(1), audit(2), audit(3), END]
    kernel(events, log=log, read=read, exchanges=exchanges)._work(pulse)
    assert (log.written, log.synced) == (written, 1)
    assert pulse.said == [b"S" + canonical_bytes(END.body)]


def test_a_run_without_a_log_tells_the_end_of_each_episode():
    pulse = Pulse()
    second = Event("episode_end", {"episode": 1, "steps": 2})
    kernel([audit(1), END, second])._work(pulse)
    assert pulse.said == [b"S" + canonical_bytes(event.body) for event in (END, second)]


def test_a_rejection_is_told_by_its_first_finding():
    def events():
        yield END
        raise Rejected([Diagnostic("E_AGENT_START", "the first", hint="no"), Diagnostic("E_KERNEL_DIED", "the second")])

    pulse = Pulse()
    kernel(events())._work(pulse)
    assert pulse.said[1:] == [b"R" + canonical_bytes({"code": "E_AGENT_START", "message": "the first"})]
    refused = live_run._refusal(pulse.said[1][1:])
    assert [(finding.code, finding.message) for finding in refused.diagnostics] == [("E_AGENT_START", "the first")]


class Session:
    """A session of an agent outside."""

    def __init__(self, started):
        self.started, self.heard, self.closed = started, [], []

    def exchange(self, message):
        self.heard.append(message)
        self.started = True
        return Answer(b"yes", "", "", 3, "5" * 64)

    def close(self, *, bye=False):
        self.closed.append(bye)


AT = SimpleNamespace(tick=7, proposal_hash="p", trace_hash="q", episode=2, t=1)


@pytest.fixture
def asking(monkeypatch):
    """Asks sessions that are opened when they are needed, listed in `opened`."""
    opened: list[Session] = []

    def open_session(outside, errors):
        opened.append(Session(started=False))
        return opened[-1]

    monkeypatch.setattr(live_run, "_transport", open_session)
    made = _Asking(Pulse(), SimpleNamespace(source=SimpleNamespace(start_ms=900)), None)
    made.opened = opened
    return made


def test_a_session_is_opened_once_and_has_more_time_for_its_first_answer_alone(asking):
    asked = Asked(4, "decide", "0" * 64)
    answer, again = (asking.ask(AT, asked, message) for message in (b"one", b"two"))
    assert answer == again
    (session,) = asking.opened
    assert session.heard == [b"one", b"two"]
    note, told = canonical_ints([4, "decide", "0" * 64]), canonical_ints(Exchange(2, 1, asked, answer).document(0))
    entered = [said[1:] for said in asking._pulse.said if said[0] == "enter"]
    assert entered == [(7, "p", "q", 900, note), (7, "p", "q", 0, note)]
    assert [said[1] for said in asking._pulse.said if said[0] == "leave"] == [b"A" + told] * 2


def test_sessions_end_one_by_one_or_all_with_a_goodbye(asking):
    for number in (1, 2, 3):
        asking.ask(AT, Asked(number, "hello", "0" * 64), b"hello")
    asking.end(2)
    asking.end(9)
    asking.close()
    assert [session.closed for session in asking.opened] == [[True], [False], [True]]
    asking.ask(AT, Asked(2, "hello", "0" * 64), b"again")
    assert len(asking.opened) == 4


def test_work_of_an_agent_inside_is_timed_and_its_result_returned(asking):
    assert asking.watch(AT, lambda: "made") == "made"
    note = canonical_bytes([0, "watch", "0" * 64])
    assert asking._pulse.said == [("enter", 7, "p", "q", 0, note), ("leave", b"D")]


def watched(monkeypatch, *kernels, episodes=2, ms_per_tick=None):
    """What comes of kernels that say and end thus, one after the other: episodes, answers, endings that are recorded."""
    said = iter(kernels)
    recorded: list[Ending] = []
    answers: list[Exchange] = []
    deadlines: list[int] = []

    class Watchdog:
        note = canonical_bytes([3, "decide", "0" * 64])

        def __init__(self, deadline_ms):
            deadlines.append(deadline_ms)
            self.ending: Any = None

        def watch(self, work):
            messages, ending = next(said)
            yield from messages
            self.ending = ending

    monkeypatch.setattr(live_run, "Watchdog", Watchdog)
    live = kernel([], episodes=episodes, horizon=10)
    live._limits.ms_per_tick, live._record = ms_per_tick, recorded.append
    live._oracle.tape.add = answers.append
    return SimpleNamespace(live=live, recorded=recorded, answers=answers, deadlines=deadlines)


FINISHED = Ending("finished")
GIVEN = Exchange(0, 1, Asked(3, "decide", "0" * 64), Answer())
SAID = b"A" + canonical_ints(GIVEN.document(0))


def test_answers_are_kept_and_ends_of_episodes_told(monkeypatch):
    run = watched(monkeypatch, ([SAID, b"Sone", b"D", b"Stwo"], FINISHED))
    assert list(run.live.episodes()) == [b"one", b"two"]
    assert (run.answers, run.recorded, run.deadlines) == ([GIVEN], [], [5])


@pytest.mark.parametrize("ms_per_tick", [None, 3])
@pytest.mark.parametrize(("kind", "failure", "reason"), [("hang", TIMED_OUT, "timeout"), ("died", DIED, "signal:9")])
def test_an_agent_that_hangs_or_dies_has_answered_so_and_the_next_kernel_goes_on(
    monkeypatch, kind, failure, reason, ms_per_tick
):
    ending = Ending(kind, reason, 3, 14)
    run = watched(
        monkeypatch, ([SAID, b"Sone", b"D"], ending), ([SAID, b"Stwo"], FINISHED), ms_per_tick=ms_per_tick
    )  # fmt: skip
    assert list(run.live.episodes()) == [b"one", b"two"]
    late = Exchange(1, 4, Asked(3, "decide", "0" * 64), Answer(None, failure, reason))
    assert run.answers == [GIVEN, late, GIVEN]
    assert run.recorded == ([] if ms_per_tick is None else [ending])
    assert run.deadlines == [5, 5]


@pytest.mark.parametrize("said", [[], [SAID], [SAID, b"D", b"Sone"]])
def test_a_kernel_that_dies_while_it_asks_nobody_ends_the_run(monkeypatch, said):
    done = sum(message[:1] in (b"A", b"D") for message in said)
    run = watched(monkeypatch, (said, Ending("died", "exit:3", done)))
    with pytest.raises(Rejected) as rejected:
        list(run.live.episodes())
    (finding,) = rejected.value.diagnostics
    number = sum(message[:1] == b"S" for message in said)
    assert (finding.code, finding.message) == ("E_KERNEL_DIED", f"in episode {number}: exit:3")


def test_no_kernel_is_started_after_the_last_episode(monkeypatch):
    run = watched(monkeypatch, ([b"Sone"], Ending("died", "signal:9", 1)), episodes=1)
    assert list(run.live.episodes()) == [b"one"]
    assert run.deadlines == [5]


def test_what_the_kernel_refuses_or_the_tape_cannot_hold_ends_the_run(monkeypatch):
    refusal = b"R" + canonical_bytes({"code": "E_AGENT_START", "message": "the first"})
    run = watched(monkeypatch, ([refusal, b"Sone"], FINISHED))
    with pytest.raises(Rejected, match="E_AGENT_START"):
        list(run.live.episodes())

    def refuse(_exchange):
        raise TapeError("E_TAPE_SIZE", "too many bytes")

    run = watched(monkeypatch, ([SAID], FINISHED))
    run.live._oracle.tape.add = refuse
    with pytest.raises(Rejected) as rejected:
        list(run.live.episodes())
    assert [(one.code, one.message) for one in rejected.value.diagnostics] == [("E_TAPE_SIZE", "too many bytes")]
