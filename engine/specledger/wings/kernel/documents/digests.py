"""The hashes of the kernel's documents, and submissions as they arrive.

    proposal_hash = hash_json(proposal)
    trace_commit = hash_json(trace without `trace_commit`), the value of every `trace_hash`
    scope_hash = hash_json(scope)

Floats are hashed only where the schema has the type `number`. A proposal without canonical form is hashed as the bytes
that were received, and its trace as 64 zeros; no proposal at all is 64 zeros twice.

Source: toy-pseudo-axion, Canonical hashing rules; the schemas in `schemas/axion`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import Struct

from specledger.core.binding import GENESIS
from specledger.core.canonical import (
    E_CANON_JSON,
    E_CANON_SIZE,
    MAX_DEPTH,
    NotCanonical,
    Written,
    canonical_bytes,
    canonical_ints,
    is_plain,
    parse_json,
)
from specledger.core.digest import hash_json, sha256_hex
from specledger.core.events import Severity
from specledger.core.floats import FLOATS_ANYWHERE, FloatPolicy
from specledger.wings.kernel.documents.schemas import axion

MAX_PROPOSAL: Final = 8_388_608
"""Bytes of a proposal at most, as received and in canonical form."""

MASS_UNIT: Final = 100_000_000
"""What a probability mass of 1 counts: masses are summed as integers of 1e-8, since 0.3 + 0.3 + 0.3 < 0.9 in floats."""

_MOST_NAME: Final = 120  # characters of a witness' invariant, and below of its message: what the schema allows
_MOST_MESSAGE: Final = 2000
_MOST_PARTS: Final = 100_000  # values of a document that are looked at where it has no canonical form


class Submission(Struct, frozen=True):
    """What an agent submitted, hashed before it is judged.

    Attributes:
        document: The proposal as JSON values; None if the bytes were no JSON, or nothing came.
        form: Its canonical bytes, None if it has none.
        problem: Why it has none; such a submission is denied as one that fails its schema.
        actions: The canonical form of each step of its plan as an action of the world; empty if it has no plan.
    """

    document: Any
    proposal_hash: str
    trace_hash: str
    form: bytes | None = None
    problem: NotCanonical | None = None
    actions: tuple[bytes, ...] = ()


def receive(proposal: object) -> Submission:
    """Take a proposal: bytes as they came from outside, or the value that an agent inside gave.

    Bytes need not be in canonical form, but must be one JSON document whose objects name no key twice. A value without
    canonical form is hashed as a text that spells out what it consists of.
    """
    if proposal is None or proposal == b"":
        return Submission(None, GENESIS, GENESIS, problem=NotCanonical(E_CANON_JSON, "$", "nothing was submitted"))
    document, raw = proposal, None
    try:
        if isinstance(proposal, bytes):
            document, raw = None, proposal
            document = _parse(proposal)
        form, trace = _forms(document)
        if len(form) > MAX_PROPOSAL:
            raw = form
            raise NotCanonical(E_CANON_SIZE, "$", f"{len(form)} bytes, more than {MAX_PROPOSAL}")
    except NotCanonical as problem:
        return Submission(document, sha256_hex(_spelled(document) if raw is None else raw), GENESIS, problem=problem)
    trace_hash = GENESIS if trace is None else sha256_hex(trace)
    return Submission(document, sha256_hex(form), trace_hash, form, actions=_actions(document))


def proposal_hash(proposal: Mapping[str, Any]) -> str:
    """The hash of a proposal.

    Raises:
        NotCanonical: It has no canonical form.
    """
    return sha256_hex(_forms(proposal)[0])


def trace_commit(trace: Mapping[str, Any]) -> str:
    """The hash of a trace without its field `trace_commit`: what the field must hold, and every `trace_hash` is.

    Raises:
        NotCanonical: It has no canonical form.
    """
    floats = _floats("trace")
    members = {name: value for name, value in trace.items() if name != "trace_commit"}
    try:
        form = canonical_ints({name: _written(value, floats, (name,)) for name, value in members.items()})
    except NotCanonical:
        form = canonical_bytes(members, floats)  # the same finding with its place in the whole trace
    return sha256_hex(form)


def scope_hash(scope: Mapping[str, Any]) -> str:
    """The hash of a capability's scope, which holds no floats.

    Raises:
        NotCanonical: It has no canonical form.
    """
    return hash_json(scope)


def mass_units(masses: Iterable[float]) -> int:
    """The sum of probability masses as an integer of 1e-8, each rounded as its canonical form is."""
    return sum(int(f"{mass:.8f}".replace(".", "")) for mass in masses)


def world_action(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of a plan as an action of the world: its operation among its arguments.

    Raises:
        ValueError: An argument is called `op`.
    """
    if "op" in step["args"]:
        raise ValueError("an argument cannot be called 'op'")
    return {**step["args"], "op": step["op"]}


def witness(invariant: str, message: str, data: object, severity: Severity = Severity.FATAL) -> dict[str, Any]:
    """What an audit entry holds of a finding: the data stay outside, bound by their hash.

    `message` holds codes, never the text of an exception or of a document.
    """
    try:
        digest = hash_json(data, FLOATS_ANYWHERE)
    except NotCanonical:
        digest = sha256_hex(_spelled(data))
    return {
        "invariant": invariant[:_MOST_NAME],
        "severity": severity.value,
        "message": message[:_MOST_MESSAGE] or invariant,
        "data_hash": digest,
    }


@cache
def _floats(name: str) -> FloatPolicy:
    return axion().floats(name)


def _parse(data: bytes) -> Any:
    if len(data) > MAX_PROPOSAL:
        raise NotCanonical(E_CANON_SIZE, "$", f"{len(data)} bytes, more than {MAX_PROPOSAL}")
    try:
        return parse_json(data)
    except NotCanonical:
        raise
    except ValueError:
        raise NotCanonical(E_CANON_JSON, "$", "not one JSON document in UTF-8") from None


def _forms(document: object) -> tuple[bytes, bytes | None]:
    """The canonical bytes of a proposal, and of its trace without the commitment, if it has one.

    Each member is written once, and only those that hold floats are looked at value by value.
    """
    floats = _floats("proposal")
    if type(document) is not dict:
        return canonical_bytes(document, floats), None
    try:
        members = {name: _written(value, floats, (name,)) for name, value in document.items() if name != "trace"}
        trace = document.get("trace")
        if type(trace) is not dict:
            return canonical_bytes(document, floats), None
        inner = {name: _written(value, floats, ("trace", name)) for name, value in trace.items()}
        form = canonical_ints({**members, "trace": inner})
        inner.pop("trace_commit", None)
        return form, canonical_ints(inner)
    except NotCanonical:
        canonical_bytes(document, floats)  # the same finding with its place in the whole document
        raise


def _written(member: object, floats: FloatPolicy, location: tuple[str, ...]) -> object:
    """A member that the serialiser writes, or its canonical form, nested as deeply as in its document."""
    depth = len(location)
    if is_plain(member, MAX_DEPTH - depth):
        return member
    for _ in location:
        member = [member]
    form = canonical_bytes(member, lambda path: floats([*location, *path[depth:]]))
    return Written(form[depth:-depth])


def _actions(document: Any) -> tuple[bytes, ...]:
    """The steps of a plan as canonical actions; one that is none is empty bytes, the form of nothing."""
    steps: Any = document
    for name in ("payload", "plan", "steps"):
        steps = steps.get(name) if isinstance(steps, dict) else None
    return tuple(_action(step) for step in steps) if isinstance(steps, list | tuple) else ()


def _action(step: object) -> bytes:
    if not isinstance(step, dict) or not isinstance(step.get("args"), dict) or "op" not in step:
        return b""
    try:
        return canonical_ints(world_action(step))
    except ValueError:
        return b""


def _spelled(value: object) -> bytes:
    """A text for any value, the same in every process; it is hashed in place of a document without canonical form."""
    parts: list[str] = []
    _spell(value, parts, MAX_DEPTH)
    return "".join(parts[:_MOST_PARTS]).encode("utf-8", "surrogatepass")


def _spell(value: object, parts: list[str], depth: int) -> None:
    if depth < 0 or len(parts) > _MOST_PARTS:
        parts.append("...")
    elif type(value) is dict:
        _spell_each("{", [part for member in value.items() for part in member], parts, depth)
    elif type(value) is list or type(value) is tuple:
        _spell_each("[", value, parts, depth)
    elif type(value) is int:
        parts.append(f"{value:x},")  # decimal digits of a huge one would take for ever, and Python refuses
    elif type(value) in (type(None), bool, float, str, bytes):
        parts.append(f"{value!r},")
    else:
        parts.append(f"<{type(value).__module__}.{type(value).__qualname__}>,")


def _spell_each(bracket: str, members: Sequence[object], parts: list[str], depth: int) -> None:
    parts.append(bracket)
    for member in members:
        if len(parts) > _MOST_PARTS:
            break
        _spell(member, parts, depth - 1)
    parts.append("/")
