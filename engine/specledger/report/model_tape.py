"""The answers on the tape of a run, and the answer of a model that one was made of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specledger.core.canonical import parse_json
from specledger.evidence.layout import TAPE
from specledger.oracles.answer import Answer
from specledger.oracles.model import ModelAnswer
from specledger.oracles.recording import TapeError
from specledger.oracles.tape_file import read_tape


def answers_of(folder: Path) -> Iterator[Answer]:
    """The answers on the tape in a folder of evidence; none without a tape, or of one that verification refutes."""
    try:
        exchanges = read_tape(folder / TAPE).exchanges
    except (OSError, TapeError):
        return
    yield from (exchange.answer for exchange in exchanges)


def model_answer(answer: Answer) -> ModelAnswer | None:
    """What the model answered; None if an answer was made without one."""
    try:
        return ModelAnswer.read(parse_json(answer.received or b"")["source"]["answer"])
    except (ValueError, KeyError, TypeError):
        return None
