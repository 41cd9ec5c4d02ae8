"""A decision that was answered is never asked again."""

import pytest

from specledger.core.entries import Mode
from specledger.oracles.answer import DIED, TIMED_OUT, Answer, halts, received
from specledger.oracles.recording import Halted, Oracle, Place, Tape, TapeError, read_tape

ANSWERS = [received(0, 0, b"[]"), Answer(0, 2, None, TIMED_OUT, "timeout"), received(1, 0, b"\xff")]


@pytest.fixture
def tape():
    return Tape(Mode.LIVE, "a" * 64, list(ANSWERS))


def place(episode, t):
    return Place(episode, t, 10 * episode + t)


def never():
    pytest.fail("somebody was asked")


class Somebody:
    def __init__(self):
        self.asked = []

    def ask(self, place, question):
        self.asked.append((place, question))
        return received(place.episode, place.t, b"7")

    def watch(self, place, work):
        return work()


def test_a_file_gives_the_tape_back(tape, tmp_path):
    file = tmp_path / "tape.jsonl"
    file.write_bytes(b"".join(tape.lines()))
    assert read_tape(file) == tape


def test_recorded_answers_come_in_order_and_nobody_is_asked(tape):
    oracle = Oracle(tape)
    assert oracle.ask(place(0, 0), never) == ANSWERS[0]
    with pytest.raises(Halted) as halted:
        oracle.watch(place(0, 2), never)
    assert (halted.value.kind, halted.value.answer) == ("hang", ANSWERS[1])
    assert oracle.ask(place(1, 0), never) == ANSWERS[2]
    oracle.finish()
    assert oracle.read == 3


def test_a_missing_answer_and_one_too_many_are_found(tape):
    oracle = Oracle(tape)
    with pytest.raises(TapeError, match=r"E_TAPE_MISSING: .*episode 0, step 1"):
        oracle.ask(place(0, 1), never)
    with pytest.raises(
        TapeError, match="E_TAPE_EXTRA: 3 answers were not asked for, the first one for episode 0, step 0"
    ):
        oracle.finish()


def test_what_is_not_on_the_tape_is_asked_live(tape):
    oracle, somebody = Oracle(tape), Somebody()
    oracle.live = somebody
    assert oracle.ask(place(0, 0), never) == ANSWERS[0]
    assert oracle.ask(place(0, 1), lambda: {"b": 1, "a": 2}).received == b"7"
    assert somebody.asked == [(place(0, 1), b'{"a":2,"b":1}')]
    assert oracle.watch(place(0, 1), lambda: "made") == "made"


def test_an_agent_inside_decides_where_the_tape_says_nothing():
    assert Oracle(Tape()).watch(place(0, 0), lambda: "made") == "made"


def test_only_an_ended_process_halts():
    assert [halts(Answer(0, 0, None, failure)) for failure in ("", "closed", TIMED_OUT, DIED)] == [
        False,
        False,
        True,
        True,
    ]
    assert Halted(Answer(0, 0, None, DIED)).kind == "died"


def test_a_tape_has_an_end(tape, tmp_path, monkeypatch):
    file = tmp_path / "tape.jsonl"
    file.write_bytes(b"".join(tape.lines()))
    monkeypatch.setattr("specledger.oracles.recording.MOST_TAPE", 300)
    with pytest.raises(TapeError, match="E_TAPE_SIZE"):
        read_tape(file)


BROKEN = {
    "nothing": b"",
    "no head": b'{"a":1}\n',
    "another format": b'{"format":"tape","head":"","mode":"live"}\n',
    "another mode": b'{"format":"specledger/tape/v1","head":"","mode":"dead"}\n',
    "a list for a mode": b'{"format":"specledger/tape/v1","head":"","mode":[]}\n',
    "a number for a head": b'{"format":"specledger/tape/v1","head":1,"mode":"live"}\n',
    "white space": b'{"format": "specledger/tape/v1","head":"","mode":"live"}\n',
    "a torn head": b'{"format":"specledger/tape/v1","head":"","mode":"live"}',
    "no answer": b'{"format":"specledger/tape/v1","head":"","mode":"live"}\n{}\n',
    "an empty line": b'{"format":"specledger/tape/v1","head":"","mode":"live"}\n\n',
    "null": b'{"format":"specledger/tape/v1","head":"","mode":"live"}\nnull\n',
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_tape_is_refused(data, tmp_path):
    file = tmp_path / "tape.jsonl"
    file.write_bytes(data)
    with pytest.raises(TapeError, match="E_TAPE_FORM"):
        read_tape(file)
