"""Recordings of outside answers, and how a run reads them back instead of asking again.

Two kinds of file share one form: canonical JSON documents, one for each line, the first of which names the format. The
tape of a run holds the exchanges with an agent, or the decisions at which a kernel was ended, in the order of the run:
its first line is `{"format", "mode", "head"}`, the durability of the run's audit log and the hash of the entry before
its first one, and `programs`, the files of the agent, if it names some. The tape of a discovery holds the answers of a
model: its other lines are `{"iteration", "request", "answer"}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from specledger.core.binding import GENESIS
from specledger.core.canonical import canonical_bytes, canonical_ints
from specledger.core.diagnostics import code
from specledger.core.digest import sha256_hex
from specledger.core.entries import Mode
from specledger.core.events import Ended
from specledger.oracles.answer import AT_WORK, TIMED_OUT, Answer, Asked, Exchange, halts
from specledger.oracles.spending import Spending
from specledger.oracles.tape_head import FORMAT

MODEL_FORMAT: Final = "specledger/model-tape/v1"

MOST_TAPE: Final = 268_435_456
"""Bytes of the answers of a run at most."""
_LEAST: Final = 128  # what an answer counts beside its bytes

E_TAPE_FORM = code("E_TAPE_FORM", "the tape is malformed")
E_TAPE_MISSING = code("E_TAPE_MISSING", "the tape has no answer to a message")
E_TAPE_QUESTION = code("E_TAPE_QUESTION", "the tape answers another message")
E_TAPE_MODEL = code("E_TAPE_MODEL", "the tape of a model does not give its messages")
E_TAPE_EXTRA = code("E_TAPE_EXTRA", "the tape has an answer that was not asked for")
E_TAPE_SIZE = code("E_TAPE_SIZE", "the answers of an outside agent are too large")

Made = TypeVar("Made")


class TapeError(Exception):
    """A tape does not fit its run; `code` is one of the `E_TAPE_...` codes."""

    def __init__(self, code_: str, message: str) -> None:
        self.code = code_
        self.message = message
        super().__init__(f"{code_}: {message}")


# Lines


def _line(document: Any) -> bytes:
    return canonical_bytes(document) + b"\n"


# The tape of a run


class Exchanges(Protocol):
    """Exchanges in order: a list, or those of a long tape, which are read when they are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Exchange: ...

    def __iter__(self) -> Iterator[Exchange]: ...


@dataclass
class Tape:
    """The exchanges of one run.

    Attributes:
        mode: How the audit log is made durable.
        head: The hash that the log's first entry follows.
        programs: The SHA-256 of files that the agent was started from, by their paths.
    """

    mode: Mode = Mode.SIMULATED
    head: str = GENESIS
    exchanges: Exchanges = field(default_factory=list)
    programs: Mapping[str, str] = field(default_factory=dict)
    _size: int = field(default=0, compare=False)

    def add(self, exchange: Exchange) -> None:
        """Append an exchange.

        Raises:
            TapeError: E_TAPE_SIZE.
        """
        self.count(exchange)
        assert isinstance(self.exchanges, list), "a tape that was read is not continued"  # noqa: S101 - a programmer's mistake
        self.exchanges.append(exchange)

    def count(self, exchange: Exchange) -> None:
        """Count what an exchange adds to the tape.

        Raises:
            TapeError: E_TAPE_SIZE.
        """
        self._size += _LEAST + len(exchange.answer.received or b"")
        if self._size > MOST_TAPE:
            raise TapeError(E_TAPE_SIZE, f"there are more than {MOST_TAPE} bytes of answers")

    def lines(self) -> Iterator[bytes]:
        """The tape as a file, each line with its newline."""
        programs = {"programs": dict(self.programs)} if self.programs else {}
        yield _line({"format": FORMAT, "head": self.head, "mode": self.mode.value, **programs})
        for seq, exchange in enumerate(self.exchanges):
            yield _line(exchange.document(seq))


class Halted(Exception):  # noqa: N818 - an outcome of the run
    """The kernel that made a decision was ended, or ended by itself; `answer` says how."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(answer.failure)

    @property
    def kind(self) -> Ended:
        """How the episode ended: HANG or DIED."""
        return Ended.HANG if self.answer.failure == TIMED_OUT else Ended.DIED


class Place(NamedTuple):
    """A decision that needs an answer.

    Attributes:
        tick: The number of the step in the run.
        proposal_hash, trace_hash: Of the proposal before, for the record of an agent that gives no other.
    """

    episode: int
    t: int
    tick: int
    proposal_hash: str = GENESIS
    trace_hash: str = GENESIS


class LiveAgent(Protocol):
    """A live agent, asked from inside the process that a watchdog may end."""

    def ask(self, position: Place, asked: Asked, message: bytes) -> Answer:
        """Send a message to a session of the agent, which `hello` starts, and wait for the answer."""

    def end(self, session: int) -> None:
        """End a session, if it is open."""

    def watch(self, position: Place, work: Callable[[], Made]) -> Made:
        """Execute the agent's work for a decision, and report its beginning and its end."""


class Listener(NamedTuple):
    """What listens to the trial of an agent; nothing of it becomes evidence.

    Attributes:
        errors: A file for the end of the standard error of its program.
        hear: Called with each message, its session and its answer, in the order of the tape.
    """

    errors: Path
    hear: Callable[[int, bytes, Answer], None]


class Oracle:
    """Gives the answers of a run in order: those of the tape, and after its end those of a live agent.

    Attributes:
        live: The agent; None where only the tape answers.
    """

    def __init__(self, tape: Tape, check: Callable[[int, bytes, Answer], None] | None = None) -> None:
        """Answer from a tape; `check` is given each message with its session and its recorded answer."""
        self.tape = tape
        self.live: LiveAgent | None = None
        self.spending = Spending()
        self._check = check
        self._next = 0

    @property
    def read(self) -> int:
        """How many exchanges were read from the tape."""
        return self._next

    def ask(self, position: Place, session: int, message: Mapping[str, Any]) -> Answer:
        """The answer to a message of the type `message["type"]`, whose caller knows that it has a canonical form.

        Raises:
            TapeError: E_TAPE_MISSING, E_TAPE_QUESTION.
        """
        data = canonical_ints(message)
        asked = Asked(session, message["type"], sha256_hex(data))
        if self._next < len(self.tape.exchanges):
            exchange = self.tape.exchanges[self._next]
            if (exchange.episode, exchange.t, exchange.asked) != (position.episode, position.t, asked):
                where = f"episode {position.episode}, step {position.t}"
                raise TapeError(E_TAPE_QUESTION, f"exchange {self._next} is not the `{asked.message}` of {where}")
            self._next += 1
            self.spending.add(len(data), exchange.answer)
            if self._check is not None:
                self._check(session, data, exchange.answer)
            return exchange.answer
        if self.live is None:
            where = f"the `{asked.message}` of episode {position.episode}, step {position.t}"
            raise TapeError(E_TAPE_MISSING, f"there is no answer to {where}")
        answer = self.live.ask(position, asked, data)
        self.spending.add(len(data), answer)
        return answer

    def end(self, session: int) -> None:
        """End a session of a live agent."""
        if self.live is not None:
            self.live.end(session)

    def watch(self, position: Place, work: Callable[[], Made]) -> Made:
        """The result of an inside agent's work for a decision.

        Raises:
            Halted: Its process was ended then.
        """
        if self._next < len(self.tape.exchanges):
            exchange = self.tape.exchanges[self._next]
            at_work = exchange.asked == AT_WORK and halts(exchange.answer)
            if at_work and (exchange.episode, exchange.t) == (position.episode, position.t):
                self._next += 1
                raise Halted(exchange.answer)
        return work() if self.live is None else self.live.watch(position, work)

    def finish(self) -> None:
        """Check that every answer was asked for.

        Raises:
            TapeError: E_TAPE_EXTRA.
        """
        left = len(self.tape.exchanges) - self._next
        if left:
            exchange = self.tape.exchanges[self._next]
            where = f"episode {exchange.episode}, step {exchange.t}"
            raise TapeError(E_TAPE_EXTRA, f"{left} answers were not asked for, the first one for {where}")


# The tape of a discovery


def write_answers(answers: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[bytes]:
    """The lines of a tape, from `{request, answer}` by iteration; `request` is the key of the request."""
    yield _line({"format": MODEL_FORMAT})
    for iteration, exchange in answers:
        yield _line({"iteration": iteration, **exchange})
