"""Reads the files of recordings (`oracles.recording`): the tape of a run, and that of a discovery.

Every line is checked when a file is read. What of it is kept is bounded: a tape is a stranger's, of any size.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.oracles.answer import Exchange
from specledger.oracles.model import ModelAnswer, ModelRequest
from specledger.oracles.recording import (
    E_TAPE_EXTRA,
    E_TAPE_FORM,
    E_TAPE_MISSING,
    MODEL_FORMAT,
    Tape,
    TapeError,
)
from specledger.oracles.tape_head import head_of

MOST_LINE: Final = 8_388_608
"""Bytes of a line at most: an answer of control characters is written six times as long."""
MOST_KEPT: Final = 64 << 20
"""Bytes of memory, about, of the exchanges that are kept; those that follow are read again when they are asked for."""
_EXCHANGE: Final = 500  # bytes of one, beside what it holds


def _documents(path: Path) -> Iterator[tuple[int, int, Any]]:
    """The documents of a recording, each with the number of its line and the offset where that begins.

    Raises:
        TapeError: E_TAPE_FORM, also if the file is empty.
        OSError: It cannot be read.
    """
    number = offset = 0
    with path.open("rb") as file:
        while line := file.readline(MOST_LINE + 1):
            number += 1
            if not line.endswith(b"\n"):
                raise TapeError(E_TAPE_FORM, f"line {number} is torn, or too long")
            try:
                yield number, offset, parse_canonical(line[:-1], limit=MOST_LINE)
            except NotCanonical as error:
                raise TapeError(E_TAPE_FORM, f"line {number}: {error}") from None
            offset += len(line)
    if not number:
        raise TapeError(E_TAPE_FORM, "the file is empty")


def _document_at(path: Path, offset: int) -> Any:
    """The document of a line that was read before; None if it is not there any more."""
    with path.open("rb") as file:
        file.seek(offset)
        try:
            return parse_canonical(file.readline(MOST_LINE + 1)[:-1], limit=MOST_LINE)
        except NotCanonical:
            return None


def read_head(path: Path) -> Tape:
    """Read the first line of the tape of a run, without its exchanges.

    Raises:
        TapeError: E_TAPE_FORM.
        OSError: It cannot be read.
    """
    try:
        mode, head, programs = head_of(next(_documents(path))[2])
    except ValueError:
        raise TapeError(E_TAPE_FORM, "line 1 is not the head of a tape") from None
    return Tape(mode, head, programs=programs)


def read_tape(path: Path) -> Tape:
    """Read the tape of a run.

    Raises:
        TapeError: E_TAPE_FORM, E_TAPE_SIZE.
        OSError: It cannot be read.
    """
    tape, documents = read_head(path), _documents(path)
    next(documents)
    kept: list[Exchange] = []
    offsets, room = array("Q"), MOST_KEPT
    for number, offset, document in documents:
        exchange = _exchange(document, number - 2)
        tape.count(exchange)
        room -= _EXCHANGE + sum(map(sys.getsizeof, (exchange.answer.received, *exchange.asked)))
        if room >= 0:
            kept.append(exchange)
        else:
            offsets.append(offset)
    tape.exchanges = _LongTape(path, kept, offsets) if offsets else kept
    return tape


def _exchange(document: Any, seq: int) -> Exchange:
    try:
        return Exchange.read(document, seq)
    except (ValueError, TypeError):
        raise TapeError(E_TAPE_FORM, f"line {seq + 2} is not an exchange") from None


class _LongTape:
    """The exchanges of a tape of which only the first ones are kept."""

    def __init__(self, path: Path, kept: Sequence[Exchange], offsets: Sequence[int]) -> None:
        self._path, self._kept, self._offsets = path, kept, offsets

    def __len__(self) -> int:
        return len(self._kept) + len(self._offsets)

    def __getitem__(self, number: int, /) -> Exchange:
        if number < len(self._kept):
            return self._kept[number]
        return _exchange(_document_at(self._path, self._offsets[number - len(self._kept)]), number)

    def __iter__(self) -> Iterator[Exchange]:
        return map(self.__getitem__, range(len(self)))


class ModelTape:
    """The recorded answers of a model, which answers in its place; each is read again when it is asked for."""

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        """Read a tape.

        Raises:
            TapeError: E_TAPE_FORM.
            OSError: It cannot be read.
        """
        self._path, self._identity = path, identity
        self._offsets = array("Q")
        self._asked: set[int] = set()
        for number, offset, document in _documents(path):
            if number == 1:
                if document != {"format": MODEL_FORMAT}:
                    raise TapeError(E_TAPE_FORM, f"the first line is not that of {MODEL_FORMAT}")
            elif not isinstance(document, dict) or document.keys() != {"iteration", "request", "answer"}:
                raise TapeError(E_TAPE_FORM, f"line {number} is not an answer")
            elif type(document["iteration"]) is not int or document["iteration"] != len(self._offsets):
                raise TapeError(E_TAPE_FORM, f"line {number} is not that of iteration {len(self._offsets)}")
            else:
                self._offsets.append(offset)

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """The recorded answer to a request.

        Raises:
            TapeError: E_TAPE_MISSING, if there is none; E_TAPE_FORM, if it is malformed.
        """
        turn = request.turn
        recorded = _document_at(self._path, self._offsets[turn]) if turn < len(self._offsets) else None
        if recorded is None or recorded["request"] != request.key(self._identity):
            raise TapeError(E_TAPE_MISSING, f"the tape has no answer to the request of iteration {turn}")
        self._asked.add(turn)
        try:
            return ModelAnswer.read(recorded["answer"])
        except ValueError as error:
            raise TapeError(E_TAPE_FORM, f"iteration {turn}: {error}") from None

    def finish(self) -> None:
        """Check that every answer was asked for.

        Raises:
            TapeError: E_TAPE_EXTRA.
        """
        left = next((turn for turn in range(len(self._offsets)) if turn not in self._asked), None)
        if left is not None:
            raise TapeError(E_TAPE_EXTRA, f"the answer of iteration {left} was not asked for")
