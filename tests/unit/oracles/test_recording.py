"""A message that was answered is never sent again, and an answer belongs to its own message."""

import sys

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.core.entries import Mode
from specledger.oracles.answer import AT_WORK, DIED, TIMED_OUT, Answer, Asked, Exchange, halts, received
from specledger.oracles.program_files import program_files
from specledger.oracles.recording import Halted, Oracle, Place, Tape, TapeError
from specledger.oracles.tape_file import MOST_LINE, read_head, read_tape
from specledger.spec.agent import Outside


def message(number, type_="decide"):
    return {"type": type_, "id": number}


def asked(session, body):
    return Asked(session, body["type"], sha256_hex(canonical_bytes(body)))


EXCHANGES = [
    Exchange(0, 0, asked(0, message(0)), received(b"[]")),
    Exchange(0, 2, AT_WORK, Answer(None, TIMED_OUT, "timeout")),
    Exchange(1, 0, asked(1, message(1, "ask")), received(b"\xff")),
]


@pytest.fixture
def tape():
    return Tape(Mode.LIVE, "a" * 64, list(EXCHANGES))


def place(episode, t):
    return Place(episode, t, 10 * episode + t)


def never():
    pytest.fail("somebody was asked")


class Somebody:
    def __init__(self):
        self.asked = []
        self.ended = []

    def ask(self, place, asked, message):
        self.asked.append((place, asked.session, message))
        return received(b"7")

    def end(self, session):
        self.ended.append(session)

    def watch(self, place, work):
        return work()


def test_a_file_gives_the_tape_back(tape, tmp_path):
    file = tmp_path / "tape.jsonl"
    file.write_bytes(b"".join(tape.lines()))
    assert read_tape(file) == tape


PROGRAM = {"walker.py": "b" * 64}


def test_a_tape_keeps_the_files_of_the_agent(tmp_path):
    file, tape = tmp_path / "tape.jsonl", Tape(programs=PROGRAM)
    file.write_bytes(b"".join(tape.lines()))
    assert read_tape(file).programs == read_head(file).programs == PROGRAM
    file.write_bytes(file.read_bytes().replace(b"b" * 64, b"b" * 63))
    with pytest.raises(TapeError, match="E_TAPE_FORM"):
        read_tape(file)


NAMED = {
    "a word that is a file": (["python3", "walker.py"], ["walker.py"]),
    "words that are options or no file": (["python3", "-u", "no.py", "walker.py"], ["walker.py"]),
    "a first word with a slash": (["./walker.py"], ["./walker.py"]),
    "a first word that PATH is searched for": (["walker.py", "notes"], ["notes"]),
    "a folder, and what is too long for a path": (["python3", "package", "x" * 3000], []),
}


@pytest.mark.parametrize(("command", "names"), NAMED.values(), ids=NAMED)
def test_the_files_that_a_command_names_are_recorded_by_their_digests(command, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "package").mkdir()
    for name in ("walker.py", "notes", "package/__init__.py"):
        (tmp_path / name).write_text(name)
    digests = program_files(Outside(command=command))
    assert digests == {name: sha256_hex((tmp_path / name).read_bytes()) for name in names}
    assert [*program_files(Outside(python="walker:answer"))] == ["walker.py"]
    assert [*program_files(Outside(python="package:answer"))] == ["package/__init__.py"]
    assert program_files(Outside(python="json:loads")) == {}


def test_recorded_answers_come_in_order_and_nobody_is_asked(tape):
    oracle = Oracle(tape)
    assert oracle.ask(place(0, 0), 0, message(0)) == EXCHANGES[0].answer
    with pytest.raises(Halted) as halted:
        oracle.watch(place(0, 2), never)
    assert (halted.value.kind, halted.value.answer) == ("hang", EXCHANGES[1].answer)
    assert oracle.ask(place(1, 0), 1, message(1, "ask")) == EXCHANGES[2].answer
    oracle.end(1)
    oracle.finish()
    assert oracle.read == 3


OTHERS = {
    "another decision": (place(0, 1), 0, message(0)),
    "another episode": (place(1, 0), 0, message(0)),
    "another session": (place(0, 0), 1, message(0)),
    "another type": (place(0, 0), 0, message(0, "ask")),
    "another question": (place(0, 0), 0, message(1)),
}


@pytest.mark.parametrize("given", OTHERS.values(), ids=OTHERS)
def test_an_answer_belongs_to_its_message(tape, given):
    with pytest.raises(TapeError, match="E_TAPE_QUESTION: exchange 0 is not the"):
        Oracle(tape).ask(*given)


def test_a_missing_answer_and_one_too_many_are_found(tape):
    with pytest.raises(TapeError, match=r"E_TAPE_MISSING: .*`decide` of episode 0, step 1"):
        Oracle(Tape()).ask(place(0, 1), 0, message(0))
    with pytest.raises(
        TapeError, match="E_TAPE_EXTRA: 3 answers were not asked for, the first one for episode 0, step 0"
    ):
        Oracle(tape).finish()


def test_what_is_not_on_the_tape_is_asked_live(tape):
    oracle, somebody = Oracle(tape), Somebody()
    oracle.live = somebody
    for exchange, body in ((EXCHANGES[0], message(0)), (EXCHANGES[2], message(1, "ask"))):
        if exchange.episode:
            with pytest.raises(Halted):
                oracle.watch(place(0, 2), never)
        assert oracle.ask(place(exchange.episode, exchange.t), exchange.asked.session, body) == exchange.answer
    assert oracle.ask(place(1, 1), 1, {"type": "ask", "b": 1, "a": 2}).received == b"7"
    assert somebody.asked == [(place(1, 1), 1, b'{"a":2,"b":1,"type":"ask"}')]
    oracle.end(1)
    assert somebody.ended == [1]
    assert oracle.watch(place(1, 1), lambda: "made") == "made"


def test_an_agent_inside_decides_where_the_tape_says_nothing():
    assert Oracle(Tape()).watch(place(0, 0), lambda: "made") == "made"


@pytest.mark.parametrize("forged", [Exchange(0, 2, AT_WORK, Answer()), Exchange(0, 2, asked(0, message(0)), Answer())])
def test_what_ends_no_process_is_no_ending(forged):
    oracle = Oracle(Tape(exchanges=[forged]))
    assert oracle.watch(place(0, 2), lambda: "made") == "made"
    with pytest.raises(TapeError, match="E_TAPE_EXTRA"):
        oracle.finish()


def test_only_an_ended_process_halts():
    assert [halts(Answer(None, failure)) for failure in ("", "closed", TIMED_OUT, DIED)] == [False, False, True, True]
    assert Halted(Answer(None, DIED)).kind == "died"


def test_a_tape_has_an_end(tape, tmp_path, monkeypatch):
    file = tmp_path / "tape.jsonl"
    file.write_bytes(b"".join(tape.lines()))
    monkeypatch.setattr("specledger.oracles.recording.MOST_TAPE", 300)
    with pytest.raises(TapeError, match="E_TAPE_SIZE"):
        read_tape(file)


@pytest.mark.parametrize(("most", "fits"), [(262, True), (261, False)])
def test_an_answer_counts_128_bytes_beside_its_own(most, fits, monkeypatch):
    monkeypatch.setattr("specledger.oracles.recording.MOST_TAPE", most)
    tape = Tape()
    tape.add(Exchange(0, 0, asked(0, message(0)), received(b"123456")))
    none = Exchange(0, 1, asked(0, message(0)), Answer(None, TIMED_OUT, "timeout"))
    if fits:
        tape.add(none)
        assert len(tape.exchanges) == 2
    else:
        with pytest.raises(TapeError, match="E_TAPE_SIZE: there are more than 261 bytes of answers"):
            tape.add(none)


@pytest.mark.parametrize("kept", range(len(EXCHANGES) + 1))
def test_what_is_not_kept_of_a_tape_is_read_again(tape, tmp_path, monkeypatch, kept):
    file, first = tmp_path / "tape.jsonl", [[one.answer.received, *one.asked] for one in EXCHANGES[:kept]]
    file.write_bytes(b"".join(tape.lines()))
    room = sum(500 + sum(map(sys.getsizeof, held)) for held in first)
    monkeypatch.setattr("specledger.oracles.tape_file.MOST_KEPT", room)
    exchanges = read_tape(file).exchanges
    assert isinstance(exchanges, list) == (kept == len(EXCHANGES))
    assert (len(exchanges), [*exchanges]) == (len(EXCHANGES), [*EXCHANGES])
    assert [exchanges[number] for number in range(len(EXCHANGES))] == [*EXCHANGES]
    if kept < len(EXCHANGES):
        file.write_bytes(file.read_bytes().replace(b"{", b"x"))
        with pytest.raises(TapeError, match=f"line {len(EXCHANGES) + 1} is not an exchange"):
            exchanges[len(EXCHANGES) - 1]


def test_a_line_has_an_end_within_its_bound(tape, tmp_path, monkeypatch):
    file, lines = tmp_path / "tape.jsonl", list(tape.lines())
    file.write_bytes(b"".join(lines))
    longest = max(map(len, lines))
    monkeypatch.setattr("specledger.oracles.tape_file.MOST_LINE", longest - 1)
    assert read_tape(file) == tape
    monkeypatch.setattr("specledger.oracles.tape_file.MOST_LINE", longest - 2)
    with pytest.raises(TapeError, match=rf"line {lines.index(max(lines, key=len)) + 1} is torn, or too long"):
        read_tape(file)
    assert MOST_LINE == 8 * 1_048_576


def test_wrong_lines_are_told_by_their_numbers(tmp_path):
    file = tmp_path / "tape.jsonl"
    for data, words in {
        b"": "the file is empty",
        b"{}\n": "line 1 is not the head of a tape",
        HEAD + b"{\n": "line 2: ",
        HEAD + canonical_bytes(EXCHANGES[0].document(0)) + b"\n{}\n": "line 3 is not an exchange",
    }.items():
        file.write_bytes(data)
        with pytest.raises(TapeError, match=f"E_TAPE_FORM: {words}"):
            read_tape(file)


def test_the_spending_of_a_replayed_message_is_that_of_a_live_one(tape):
    replayed, live = Oracle(tape), Oracle(Tape())
    live.live = Somebody()
    replayed.ask(place(0, 0), 0, message(0))
    live.ask(place(0, 0), 0, message(0))
    size = len(canonical_bytes(message(0)))
    assert replayed.spending.take() == {"messages": 1, "sent": size, "received": 2}
    assert live.spending.take() == {"messages": 1, "sent": size, "received": 1}


def test_each_recorded_answer_is_checked_with_its_session(tape):
    heard = []
    oracle = Oracle(tape, lambda *given: heard.append(given))
    oracle.ask(place(0, 0), 0, message(0))
    assert heard == [(0, canonical_bytes(message(0)), EXCHANGES[0].answer)]


HEAD = b'{"format":"specledger/tape/v2","head":"' + b"0" * 64 + b'","mode":"live"}\n'
BROKEN = {
    "nothing": b"",
    "no head": b'{"a":1}\n',
    "another format": HEAD.replace(b"v2", b"v1"),
    "another mode": HEAD.replace(b'"live"', b'"dead"'),
    "a list for a mode": HEAD.replace(b'"live"', b"[]"),
    "a number for a head": HEAD.replace(b'"' + b"0" * 64 + b'"', b"1"),
    "a head of another form": HEAD.replace(b"0" * 64, b"0" * 63 + b"G"),
    "a head before a simulated log": HEAD.replace(b"live", b"simulated").replace(b"0" * 64, b"1" * 64),
    "white space": HEAD.replace(b":", b": ", 1),
    "a torn head": HEAD[:-1],
    "no exchange": HEAD + b"{}\n",
    "an empty line": HEAD + b"\n",
    "null": HEAD + b"null\n",
    "an exchange in another place": HEAD + canonical_bytes(EXCHANGES[0].document(1)) + b"\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_tape_is_refused(data, tmp_path):
    file = tmp_path / "tape.jsonl"
    file.write_bytes(data)
    with pytest.raises(TapeError, match="E_TAPE_FORM"):
        read_tape(file)


def test_a_tape_holds_as_many_bytes_as_it_may_and_not_one_more(monkeypatch):
    def first(bound: int) -> int:
        """How many answers of two bytes a tape of so many bytes takes."""
        monkeypatch.setattr("specledger.oracles.recording.MOST_TAPE", bound)
        tape = Tape()
        for number in range(4):
            try:
                tape.add(Exchange(0, number, asked(0, message(number)), received(b"[]")))
            except TapeError:
                return number
        return 4

    assert [first(bound) for bound in (129, 130, 259, 260, 389, 390)] == [0, 1, 1, 2, 2, 3]
