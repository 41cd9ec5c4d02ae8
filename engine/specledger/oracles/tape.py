"""The tape of a run: what came from outside, in order, and how it is asked for: read back, or live.

Decides that a decision which was answered is never asked again: replay reads the answer, and a missing or a superfluous
one is a finding. Refuses to know who answers, and what a time-out is: whether an answer was in time is a fact about a
machine, which the tape states and nobody measures again.

The first line of `tape.jsonl` is `{"format", "mode", "head"}`: how the audit log of the run is made durable, and the
hash of the entry that the log ended with before. Every other line is an answer. All are canonical JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol, TypeVar

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.diagnostics import code
from specledger.core.entries import GENESIS, Mode
from specledger.oracles.answer import DIED, TIMED_OUT, Answer

FORMAT: Final = "specledger/tape/v1"
MOST_LINE: Final = 8_388_608
"""Bytes of a line at most: an answer of control characters is written six times as long."""

MOST_TAPE: Final = 268_435_456
"""Bytes of the answers of a run at most."""
_LEAST: Final = 128  # what an answer counts beside its bytes

E_TAPE_FORM = code(
    "E_TAPE_FORM",
    "the tape is none",
    "tape.jsonl begins with the tape's format, the mode of the audit log and its first head; every other line is one "
    "answer, with the hash of its bytes. All are canonical JSON.",
)
E_TAPE_MISSING = code(
    "E_TAPE_MISSING",
    "the tape has no answer for a decision",
    "Replay reads what an agent from outside answered, and never asks it. The tape was cut, an answer was taken out, "
    "or the run comes to other decisions than the recorded one.",
)
E_TAPE_EXTRA = code(
    "E_TAPE_EXTRA",
    "the tape has an answer that nobody asked for",
    "Replay came to its end, and answers are left. They were put in, or the run comes to fewer decisions than the "
    "recorded one.",
)

E_TAPE_SIZE = code(
    "E_TAPE_SIZE",
    "an agent from outside says too much",
    "A run keeps 256 MiB of answers, so that whoever verifies it can read them. Let the agent answer more briefly, or "
    "run fewer episodes.",
)

Made = TypeVar("Made")


class TapeError(Exception):
    """A tape does not fit its run; `code` is one of the `E_TAPE_...` codes."""

    def __init__(self, code_: str, message: str) -> None:
        """Keep the code and the message."""
        self.code = code_
        self.message = message
        super().__init__(f"{code_}: {message}")


class Halted(Exception):  # noqa: N818 - an outcome of the run
    """The kernel that made a decision was ended, or ended by itself; `answer` says how."""

    def __init__(self, answer: Answer) -> None:
        """Keep the answer that is none."""
        self.answer = answer
        super().__init__(answer.failure)

    @property
    def kind(self) -> str:
        """How the episode ended: `hang` or `died`."""
        return "hang" if self.answer.failure == TIMED_OUT else "died"


class Place(NamedTuple):
    """Which decision somebody is asked for.

    Attributes:
        episode, t: The step.
        tick: Its number in the run.
        proposal_hash, trace_hash: Of the proposal before, for the record of an agent that gives no other.
    """

    episode: int
    t: int
    tick: int
    proposal_hash: str = GENESIS
    trace_hash: str = GENESIS


@dataclass
class Tape:
    """What came from outside in one run.

    Attributes:
        mode: How the audit log is made durable.
        head: The hash that the log's first entry follows.
        answers: In the order of the decisions.
    """

    mode: Mode = Mode.SIMULATED
    head: str = GENESIS
    answers: list[Answer] = field(default_factory=list)
    _size: int = field(default=0, compare=False)

    def add(self, answer: Answer) -> None:
        """Take the next answer.

        Raises:
            TapeError: E_TAPE_SIZE.
        """
        self._size += _LEAST + len(answer.received or b"")
        if self._size > MOST_TAPE:
            raise TapeError(E_TAPE_SIZE, f"there are more than {MOST_TAPE} bytes of answers")
        self.answers.append(answer)

    def lines(self) -> Iterator[bytes]:
        """The tape as a file, each line with its newline."""
        yield canonical_bytes({"format": FORMAT, "head": self.head, "mode": self.mode.value}) + b"\n"
        for answer in self.answers:
            yield canonical_bytes(answer.document()) + b"\n"


def read_tape(path: Path) -> Tape:
    """Read a tape.

    Raises:
        TapeError: E_TAPE_FORM, E_TAPE_SIZE.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        header = _line(file, 1)
        known = isinstance(header, dict) and header.keys() == {"format", "head", "mode"}
        if not known or header["format"] != FORMAT or header["mode"] not in list(Mode):
            raise TapeError(E_TAPE_FORM, "line 1 is no head of a tape")
        if not isinstance(header["head"], str):
            raise TapeError(E_TAPE_FORM, "line 1 is no head of a tape")
        tape, number = Tape(Mode(header["mode"]), header["head"]), 2
        while (document := _line(file, number)) is not None:
            try:
                tape.add(Answer.read(document))
            except (ValueError, TypeError):
                raise TapeError(E_TAPE_FORM, f"line {number} is no answer") from None
            number += 1
        return tape


def _line(file: IO[bytes], number: int) -> Any:
    """The next document of a file, None at its end."""
    line = file.readline(MOST_LINE + 1)
    if not line:
        return None
    try:
        document = parse_canonical(line.removesuffix(b"\n"), limit=MOST_LINE)
    except NotCanonical as error:
        raise TapeError(E_TAPE_FORM, f"line {number}: {error}") from None
    if not line.endswith(b"\n") or document is None:
        raise TapeError(E_TAPE_FORM, f"line {number} is torn, too long, or empty")
    return document


class Asks(Protocol):
    """Who is asked live: from inside the process that a watchdog may end."""

    def ask(self, place: Place, question: bytes) -> Answer:
        """Ask, and wait for the answer."""

    def watch(self, place: Place, work: Callable[[], Made]) -> Made:
        """Do what the agent inside does for a decision, and say when it begins and ends."""


class Oracle:
    """Gives the answers of a run in order: those on the tape, and once it is at its end those of whoever is asked.

    Attributes:
        tape: What came so far.
        live: Who is asked; None where only the tape answers.
    """

    def __init__(self, tape: Tape) -> None:
        """Begin at the tape's first answer."""
        self.tape = tape
        self.live: Asks | None = None
        self._next = 0

    @property
    def read(self) -> int:
        """How many answers were read off the tape."""
        return self._next

    def ask(self, place: Place, question: Callable[[], Mapping[str, Any]]) -> Answer:
        """The answer for a decision.

        Raises:
            TapeError: E_TAPE_MISSING.
        """
        answer = self._recorded(place)
        if answer is not None:
            return answer
        if self.live is None:
            raise TapeError(E_TAPE_MISSING, f"there is no answer for episode {place.episode}, step {place.t}")
        return self.live.ask(place, canonical_bytes(question()))

    def watch(self, place: Place, work: Callable[[], Made]) -> Made:
        """What an agent inside gives for a decision.

        Raises:
            Halted: It was ended then.
        """
        answer = self._recorded(place)
        if answer is not None:
            raise Halted(answer)
        return work() if self.live is None else self.live.watch(place, work)

    def finish(self) -> None:
        """See that every answer was asked for.

        Raises:
            TapeError: E_TAPE_EXTRA.
        """
        left = len(self.tape.answers) - self._next
        if left:
            answer = self.tape.answers[self._next]
            where = f"episode {answer.episode}, step {answer.t}"
            raise TapeError(E_TAPE_EXTRA, f"nobody asked for {left} answers, the first one for {where}")

    def _recorded(self, place: Place) -> Answer | None:
        if self._next == len(self.tape.answers):
            return None
        answer = self.tape.answers[self._next]
        if (answer.episode, answer.t) != (place.episode, place.t):
            return None
        self._next += 1
        return answer


def halts(answer: Answer) -> bool:
    """Whether an answer says that the process which waited for it is no more."""
    return answer.failure in (TIMED_OUT, DIED)
