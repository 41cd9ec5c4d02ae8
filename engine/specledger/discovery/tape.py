"""What a model from outside answered in one discovery: the tape that replay reads, so that nobody is asked again.

Decides how the answers are written, in the order of the iterations, and that each belongs to one request. Refuses to
know what they say. The first line is `{"format"}`; every other one is `{"iteration", "request", "answer"}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.oracles.model import ModelAnswer, ModelRequest
from specledger.oracles.tape import E_TAPE_EXTRA, E_TAPE_FORM, E_TAPE_MISSING, MOST_LINE, TapeError

FORMAT: Final = "specledger/model-tape/v1"

Kept = Mapping[int, Any]
"""By iteration `{request, answer}`: the key of the request, and the answer's document."""


def write_answers(answers: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[bytes]:
    """The lines of a tape, each with its newline, from answers in the order of their iterations."""
    yield canonical_bytes({"format": FORMAT}) + b"\n"
    for iteration, kept in answers:
        yield canonical_bytes({"iteration": iteration, **kept}) + b"\n"


def read_answers(path: Path) -> Kept:
    """The answers on a tape.

    Raises:
        TapeError: E_TAPE_FORM, if it is none.
        OSError: It cannot be read.
    """
    found: dict[int, Any] = {}
    with path.open("rb") as file:
        for number, document in enumerate(_documents(file)):
            if number == 0:
                if document != {"format": FORMAT}:
                    raise TapeError(E_TAPE_FORM, f"the first line is not that of {FORMAT}")
                continue
            if not isinstance(document, dict) or document.keys() != {"iteration", "request", "answer"}:
                raise TapeError(E_TAPE_FORM, f"line {number + 1} holds no answer")
            iteration = document.pop("iteration")
            if type(iteration) is not int or iteration != len(found):
                raise TapeError(E_TAPE_FORM, f"line {number + 1} is not that of iteration {len(found)}")
            found[iteration] = document
    return found


def _documents(file: Any) -> Iterator[Any]:
    number = 0
    while line := file.readline(MOST_LINE + 1):
        number += 1
        if len(line) > MOST_LINE or not line.endswith(b"\n"):
            raise TapeError(E_TAPE_FORM, f"line {number} is too long, or torn")
        try:
            yield parse_canonical(line[:-1], limit=MOST_LINE)
        except NotCanonical as error:
            raise TapeError(E_TAPE_FORM, f"line {number}: {error}") from None
    if not number:
        raise TapeError(E_TAPE_FORM, "it is empty")


class Played:
    """Answers requests from a tape."""

    def __init__(self, identity: Mapping[str, Any], kept: Kept) -> None:
        """Prepare to answer in place of whoever answered then."""
        self._identity = identity
        self._kept = kept
        self._asked: set[int] = set()

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """The answer that was given then.

        Raises:
            TapeError: E_TAPE_MISSING, if there is none to this request; E_TAPE_FORM, if it is no answer.
        """
        kept = self._kept.get(request.turn)
        if kept is None or kept["request"] != request.key(self._identity):
            message = f"iteration {request.turn} asks for something that the tape has no answer to"
            raise TapeError(E_TAPE_MISSING, message)
        self._asked.add(request.turn)
        try:
            return ModelAnswer.read(kept["answer"])
        except ValueError as error:
            raise TapeError(E_TAPE_FORM, f"iteration {request.turn}: {error}") from None

    def finish(self) -> None:
        """See that every answer was asked for.

        Raises:
            TapeError: E_TAPE_EXTRA.
        """
        left = sorted(set(self._kept) - self._asked)
        if left:
            raise TapeError(E_TAPE_EXTRA, f"nobody asks for the answer of iteration {left[0]}")
