"""The checks of receipts that need no engine: the chain of lines, then what they say: commitments, states, the result.

Two passes over the file, line by line; memory does not grow with the number of receipts. The first reads bytes alone:
what a line must end with is known before it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from specledger.core.binding import (
    GENESIS,
    leaf,
    part_tip,
    proposal_digest,
    scope_digest,
    set_root,
    state_digest,
    token_document,
)
from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.merkle import Tree, leaf_hash
from specledger.evidence.layout import MAX_LINE
from specledger.evidence.result import Fold, Tally
from specledger.verify.audit_chain import EntryChain, check_place
from specledger.verify.checks import E_CHAIN, E_COMMITMENT, E_ENDS, E_LINE, E_STATE, Broken
from specledger.verify.declared_totals import Said

_KEYS: Final = {"body", "prev", "run", "seq", "type"}

_SUBTREE: Final = 1024
"""Leaves that are put into the tree at once."""

Listener = Callable[[str, Mapping[str, Any]], None]
"""Receives the type and the body of each receipt that was found in order."""


class Order(Protocol):
    """How the receipts of one kind follow one another."""

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt, or raise Broken."""


class Receipts:
    """The receipts of a file, checked as they are read.

    Attributes:
        count, head, root: Of the chain read so far.
        result: What the receipts add up to.
        specs: The digest of the specs that the first receipt names.
    """

    def __init__(
        self,
        path: Path,
        run: str,
        join: Order | None = None,
        tally: Fold | None = None,
        listen: Listener | None = None,
    ) -> None:
        """Prepare to read the receipts of a run, or of another kind with its own order and result."""
        self._path = path
        self._run = run
        self._tree = Tree()
        self._leaves: list[bytes] = []
        self._tally: Fold = Tally() if tally is None else tally
        self._join: Order = Join() if join is None else join
        self._listen = listen
        self.count = 0
        self.head = GENESIS
        self.specs: str | None = None

    @property
    def root(self) -> str:
        """The Merkle root over the lines read so far, as hex."""
        for hashed in self._leaves:
            self._tree.append_hash(hashed)
        self._leaves.clear()
        return self._tree.root().hex()

    @property
    def result(self) -> dict[str, Any]:
        """The figures of the receipts read so far."""
        return self._tally.result()

    def link(self) -> None:
        """Read all lines as bytes: each ends with its number, the run, and the digest of the line before.

        Raises:
            Broken: At the first line that does not. It is the first that is no receipt, or follows another one.
        """
        run, head, count, before = canonical_bytes(self._run), GENESIS.encode(), 0, b""
        for line in self.lines():
            tail = b',"prev":"%b","run":%b,"seq":%d' % (head, run, count)
            at = line.rfind(b',"type":"')
            if at < 0 or not line.endswith(tail, 0, at):
                raise self._unlinked(before, line, count)
            before, hashed = line, leaf_hash(line)
            head = hashed.hex().encode()
            count += 1
            self._leaves.append(hashed)
            if len(self._leaves) == _SUBTREE:
                self._tree.append_subtree(self._leaves)
                self._leaves.clear()
        self.head, self.count = head.decode(), count

    def check(self) -> None:
        """Read all receipts, after they were found to be linked.

        Raises:
            Broken: At the first receipt that is not what it must be.
        """
        last = ""
        for number, line in enumerate(self.lines()):
            receipt = _read(line, number)
            last = receipt["type"]
            if (last == "start") != (number == 0):
                raise Broken(E_ENDS, f"receipt {number} is {last!r}")
            try:
                self._join.add(last, receipt["body"])
                self._tally.add(last, receipt["body"])
                if last == "start":
                    self.specs = receipt["body"]["specs"]
                if self._listen is not None:
                    self._listen(last, receipt["body"])
            except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
                raise Broken(E_LINE, f"receipt {number} ({last}) is not what it must be: {error!r}") from None
        if last != "end":
            raise Broken(E_ENDS, f"the last receipt is {last!r}, not 'end'" if last else "there are no receipts")

    def lines(self) -> Iterator[bytes]:
        """The lines of the file without their newlines.

        Raises:
            Broken: A line that is too long, or a last line without a newline.
        """
        with self._path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                if not line.endswith(b"\n"):
                    why = "longer than any receipt" if len(line) > MAX_LINE else "torn: it has no newline"
                    raise Broken(E_LINE, f"line {number + 1} is {why}")
                number += 1
                yield line[:-1]

    def _unlinked(self, before: bytes, line: bytes, number: int) -> Broken:
        """Why a line is none that follows the one before, which may be what was changed."""
        try:
            if number:
                _read(before, number - 1)
            receipt = _read(line, number)
        except Broken as broken:
            return broken
        if receipt["run"] != self._run:
            return Broken(E_CHAIN, f"receipt {number} belongs to another run")
        if not _equals(receipt["seq"], number):
            return Broken(E_CHAIN, f"receipt {number} has the number {receipt['seq']!r}")
        return Broken(E_CHAIN, f"receipt {number} does not follow the receipt before it")


def _read(line: bytes, number: int) -> Mapping[str, Any]:
    """The receipt that a line is, in canonical form.

    Raises:
        Broken: E_LINE, if it is none.
    """
    try:
        receipt = parse_canonical(line, limit=MAX_LINE)
    except NotCanonical as error:
        raise Broken(E_LINE, f"line {number + 1}: {error}") from None
    if not isinstance(receipt, dict) or receipt.keys() != _KEYS or not isinstance(receipt["type"], str):
        raise Broken(E_LINE, f"line {number + 1} is no receipt: it needs exactly {', '.join(sorted(_KEYS))}")
    return receipt


class Join:
    """Follows a run through its receipts: each must continue what the ones before it left."""

    def __init__(self) -> None:
        """Begin before the first receipt."""
        self._said = Said()
        self._state = ""
        self._episode = -1
        self._open = False
        self._t = -1
        self._steps = 0
        self._commit: Mapping[str, Any] | None = None
        self._commits = True
        self._tips: dict[str, str] = {}
        self._entries = EntryChain()
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt.

        Raises:
            Broken: It does not continue the run.
            KeyError, TypeError: It lacks a field, or is of an unknown type.
        """
        if self._ended:
            raise Broken(E_ENDS, f"{type_!r} after the end")
        takes = {
            "start": self._start,
            "episode": self._begin,
            "drift": self._drift,
            "audit": self._entered,
            "probe": self._probe,
            "commit": self._committed,
            "step": self._step,
            "error": self._error,
            "episode_end": self._close,
            "end": self._end,
        }
        takes[type_](body)

    def _start(self, body: Mapping[str, Any]) -> None:
        self._said.start(body)
        self._commits = body.get("commit", "proposals") != "none"
        if "audit" in body:
            self._entries = EntryChain(body["audit"]["head"])

    def _begin(self, body: Mapping[str, Any]) -> None:
        self._said.begin()
        begins = not self._open and _equals(body["episode"], self._episode + 1)
        self._demand(begins, "an episode begins out of order")
        self._demand(body["digest"] == state_digest(body["state"]), "the digest of the start state is wrong")
        self._episode, self._open, self._t, self._commit = body["episode"], True, -1, None
        self._state = body["digest"]
        self._tips = dict.fromkeys(body["parts"], GENESIS)

    def _drift(self, body: Mapping[str, Any]) -> None:
        self._place(body, self._t + 1)
        self._said.drift(body)
        self._demand(body["before"] == self._state, f"the drift at t = {body['t']} begins in another state")
        self._state = body["after"]

    def _entered(self, body: Mapping[str, Any]) -> None:
        self._entries.add(body)

    def _probe(self, body: Mapping[str, Any]) -> None:
        check_place(body, self._episode if self._open else None, self._t + 1)

    def _committed(self, body: Mapping[str, Any]) -> None:
        self._place(body, self._t + 1)
        self._commit = body

    def _step(self, body: Mapping[str, Any]) -> None:
        t = body["t"]
        self._place(body, self._t + 1, committed=True)
        if self._commits:
            if self._commit is None:
                raise Broken(E_COMMITMENT, f"no commitment precedes the decision at t = {t}")
            check_decision(self._commit, body)
        self._demand(body["before"] == self._state, f"the step at t = {t} begins in another state")
        if body["chosen"] is None:
            self._demand(body["after"] == body["before"], f"nothing was done at t = {t}, but the state changed")
        for name, receipt in body["parts"].items():
            self._part(name, receipt, t)
        self._said.step(body)
        self._state, self._t, self._commit = body["after"], t, None
        self._steps += 1

    def _part(self, name: str, receipt: Mapping[str, Any], t: int) -> None:
        self._demand(receipt["tip"] == self._tips[name], f"the chain of {name!r} is broken at t = {t}")
        bare = {key: value for key, value in receipt.items() if key != "tip_after"}
        tip = part_tip(receipt["tip"], bare)
        self._demand(receipt["tip_after"] == tip, f"the tip of {name!r} at t = {t} is wrong")
        self._demand(
            receipt["accepted"] or receipt["before"] == receipt["after"], f"{name!r} moved at t = {t}, refused"
        )
        self._tips[name] = tip

    def _error(self, body: Mapping[str, Any]) -> None:
        number = self._episode if self._open else self._episode + 1
        self._demand(_equals(body["episode"], number), "an error outside an episode")

    def _close(self, body: Mapping[str, Any]) -> None:
        begun = self._open and _equals(body["episode"], self._episode)
        failed = not self._open and _equals(body["episode"], self._episode + 1) and body["ended"] == "error"
        self._demand(begun or failed, "an episode ends that was not begun")
        self._demand(self._commit is None or body["ended"] == "error", "a commitment is not followed by its decision")
        self._demand(
            _equals(body["steps"], self._t + 1) or failed, f"episode {body['episode']} counts other steps than it has"
        )
        self._demand(body["state"] == self._state or failed, f"episode {body['episode']} ends in another state")
        self._said.close(body)
        self._episode, self._open = body["episode"], False

    def _end(self, body: Mapping[str, Any]) -> None:
        self._said.end(body)
        ends = not self._open and _equals(body["episodes"], self._episode + 1)
        self._demand(ends, "the run ends in mid-episode")
        self._demand(_equals(body["steps"], self._steps), "the run counts other steps than it has")
        self._ended = True

    def _place(self, body: Mapping[str, Any], t: int, *, committed: bool = False) -> None:
        placed = self._open and _equals(body["episode"], self._episode) and _equals(body["t"], t)
        self._demand(placed, "a receipt is out of order")
        self._demand(committed or self._commit is None, "a commitment is not followed by its decision")

    @staticmethod
    def _demand(holds: bool, message: str) -> None:
        if not holds:
            raise Broken(E_STATE, message)


def _equals(value: Any, number: int) -> bool:
    """Whether a value is this integer; JSON's `false` is none, though Python's equals 0."""
    return type(value) is int and value == number


def check_decision(commit: Mapping[str, Any], step: Mapping[str, Any]) -> None:
    """Recompute everything that binds a decision to its committed proposal set.

    Raises:
        Broken: E_COMMITMENT, if the root, the chosen digest, the token or the admission is not what it must be.
    """
    t = step["t"]
    proposals = commit["proposals"]
    leaves = [leaf(index, proposal) for index, proposal in enumerate(proposals)]
    if set_root(leaves) != commit["root"]:
        raise Broken(E_COMMITMENT, f"the stored proposals at t = {t} are not those committed to")
    if len(step["decisions"]) != len(proposals):
        raise Broken(E_COMMITMENT, f"{len(proposals)} proposals but {len(step['decisions'])} decisions at t = {t}")
    chosen = step["chosen"]
    admitted = [not decision["rejected"] and decision["error"] is None for decision in step["decisions"]]
    if chosen is None:
        if any(admitted) or step["token"] is not None or step["chosen_hash"] is not None:
            raise Broken(
                E_COMMITMENT, f"nothing was chosen at t = {t}, though something was admitted or a token issued"
            )
        return
    if type(chosen) is not int or not 0 <= chosen < len(proposals):
        raise Broken(E_COMMITMENT, f"the choice at t = {t} is outside the set")
    if not admitted[chosen]:
        raise Broken(E_COMMITMENT, f"the proposal chosen at t = {t} was rejected")
    digest = proposal_digest(leaves[chosen])
    if step["chosen_hash"] != digest:
        raise Broken(E_COMMITMENT, f"the digest of the proposal chosen at t = {t} is wrong")
    scope = scope_digest(step["episode"], t, proposals[chosen]["action"]["op"])
    if step["token"] != token_document(digest, commit["root"], scope):
        raise Broken(E_COMMITMENT, f"the token at t = {t} is not bound to the proposal, the commitment and the scope")
