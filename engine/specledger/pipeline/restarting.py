"""Whether a program that is started again commits by a nonce that it used before.

A program whose generator has a fixed seed draws the same nonces in each process. In a run that starts it again, for a
question that needs a fresh process or after a fault, a nonce then opens a second commitment, which the kernel refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Timer
from typing import Any

from specledger.core.canonical import canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.oracles.outside import transport_of
from specledger.run.session import ANSWERS, read_answer
from specledger.spec.agent import Outside


def repeats_nonce(outside: Outside, messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether two processes of a program commit by one nonce at two decisions.

    `messages` are those of a trial. Each process is sent its first `hello` and `reset`, one of two of its decisions
    under a new `id`, and `reveal`.
    """
    first = {message["type"]: message for message in reversed(messages)}
    decisions = {message["t"]: message for message in messages if message["type"] == "decide"}
    if outside.command is None or len(decisions) < 2:
        return False
    number = max(message["id"] for message in messages)
    nonces = set[str]()
    for asked, t in enumerate((min(decisions), max(decisions)), 1):
        question = {**decisions[t], "id": number + 2 * asked}
        nonces.add(_nonce(outside, [first["hello"], first["reset"], question]))
    return len(nonces) == 1 and nonces != {""}


def _nonce(outside: Outside, messages: Iterable[Mapping[str, Any]]) -> str:
    """The nonce by which a fresh process opens what it commits to; empty if it gives none in time."""
    transport = transport_of(outside)
    watch = Timer((outside.start_ms + outside.deadline_ms) / 1_000, transport.close)
    watch.start()
    said: dict[str, Any] = {}

    def ask(message: Mapping[str, Any]) -> dict[str, Any]:
        answer = transport.exchange(canonical_bytes(dict(message), FLOATS_ANYWHERE))
        body, fault = read_answer(answer, message["id"], ANSWERS[message["type"]])
        if fault:
            raise LookupError(fault)
        return {**body, "sha256": answer.sha256}

    try:
        for message in messages:
            said = ask(message)
        reference = {"commitment": said["commitment"], "nonce_ref": f"statement:{said['sha256']}"}
        return str(ask({"type": "reveal", "id": said["id"] + 1, **reference})["nonce"])
    except LookupError:  # no usable answer, or nothing that it committed to
        return ""
    finally:
        watch.cancel()
        transport.close(bye=True)
