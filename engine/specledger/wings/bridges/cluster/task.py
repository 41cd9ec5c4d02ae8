"""What a worker of a cluster executes: a named work, made from its document, on one item.

Requests and results are bytes: a digest, and JSON values, bytes and integers of any size as one document. The only
function that a cluster is sent is `perform`, by its name; a worker has the package installed, and it refuses the
request of another engine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from specledger.core.canonical import canonical_ints, parse_written
from specledger.core.diagnostics import Diagnostic, Rejected, Severity, codes
from specledger.core.digest import tagged
from specledger.core.spans import Position, Span
from specledger.core.wing import wings
from specledger.evidence.resume import engine_digest
from specledger.kinds import KINDS
from specledger.kinds.finished_runs import E_CLUSTER_RESULT
from specledger.load import Bundle
from specledger.load.from_document import bundle_from_document
from specledger.run.executor import Done, Work

if TYPE_CHECKING:
    from specledger.verify.suite_runs import HeldRuns

_SAFE: Final = (1 << 53) - 1
_MARKS: Final = frozenset({"$bytes", "$integer", "$plain"})


def to_bytes(value: Any) -> bytes:
    """JSON values and bytes, with integers of any size, as one document."""
    parts: list[bytes] = []
    document = canonical_ints(_marked(value, parts))
    sizes = canonical_ints([len(document), *map(len, parts)])
    return b"".join([sizes, b"\n", document, *parts])


def from_bytes(data: bytes) -> Any:
    """What `to_bytes` was given, with lists for tuples."""
    head, _, rest = data.partition(b"\n")
    pieces, at = [], 0
    for size in parse_written(head):
        pieces.append(rest[at : at + size])
        at += size
    return _unmarked(parse_written(pieces[0]), pieces[1:])


def _marked(value: Any, parts: list[bytes]) -> Any:
    if isinstance(value, bytes):
        parts.append(value)
        return {"$bytes": len(parts) - 1}
    if isinstance(value, int) and not -_SAFE <= value <= _SAFE:
        return {"$integer": str(value)}
    if isinstance(value, Mapping):
        marked = {name: _marked(inner, parts) for name, inner in value.items()}
        return marked if _MARKS.isdisjoint(marked) else {"$plain": marked}
    return [_marked(inner, parts) for inner in value] if isinstance(value, list | tuple) else value


def _unmarked(value: Any, parts: list[bytes]) -> Any:
    if isinstance(value, list):
        return [_unmarked(inner, parts) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$bytes" in value:
        return parts[value["$bytes"]]
    if "$integer" in value:
        return int(value["$integer"])
    return {name: _unmarked(inner, parts) for name, inner in value.get("$plain", value).items()}


RESULT_TAG: Final = "specledger/cluster-result/v1"
REFUSED: Final = "refused"
"""The key of a reply whose worker has another engine; its value is the digest of that one."""
_DIGEST: Final = 64


def perform(engine: str, entry: str, document: bytes, item: bytes) -> bytes:
    """Do one piece of work, made from a document, on one item, if the engine is the one that asks.

    Returns:
        The digest of the reply and of the request, and the reply: `made`, `rejected`, `failed` or `refused`.
    """
    if engine != engine_digest():
        reply: dict[str, Any] = {REFUSED: engine_digest()}
    else:
        try:
            reply = {"made": _opened(entry, document, threading.get_ident())(from_bytes(item))}
        except Rejected as rejected:
            reply = {"rejected": [_told(diagnostic) for diagnostic in rejected.diagnostics]}
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}"}
    data = to_bytes(reply)
    return reply_digest(entry, item, data).encode() + data


def reply_digest(entry: str, item: bytes, data: bytes) -> str:
    """The digest of a reply, which binds it to what was asked."""
    return tagged(RESULT_TAG, b"%s %d\n%s%s" % (entry.encode(), len(item), item, data))


def read_reply(entry: str, item: bytes, reply: bytes) -> dict[str, Any] | None:
    """The reply to a request; None if its digest is wrong."""
    data = reply[_DIGEST:]
    if reply[:_DIGEST] != reply_digest(entry, item, data).encode():
        return None
    read: dict[str, Any] = from_bytes(data)
    return read


def done_of(work: Work, number: int, item: Any, reply: Mapping[str, Any]) -> Done:
    """The piece of work that a reply other than a refusal finishes."""
    if "failed" in reply:
        return Done(number, None, RuntimeError(f"in a worker of the cluster: {reply['failed']}"))
    try:
        if "rejected" in reply:
            raise Rejected(finding_of(diagnostic, E_CLUSTER_RESULT) for diagnostic in reply["rejected"])
        return Done(number, work.made(item, reply["made"]), None)
    except Rejected as rejected:
        return Done(number, None, rejected)


@lru_cache(maxsize=4)
def _opened(entry: str, document: bytes, _thread: int) -> Callable[[Any], Any]:
    """The work of a document, which each thread of a worker compiles once and has for itself."""
    entries = _ENTRIES if entry in _ENTRIES else {name: make for wing in wings() for name, make in wing.works().items()}
    return entries[entry](from_bytes(document))


def _specs(given: Mapping[str, Any]) -> Bundle:
    return bundle_from_document(given["specs"], KINDS)


def _episodes(given: Mapping[str, Any]) -> Callable[[Any], Any]:
    from specledger.run.scenario_run import EpisodeChunks

    return EpisodeChunks(_specs(given))


def _judged_chunks(given: Mapping[str, Any]) -> Callable[[Any], Any]:
    from specledger.verify.run import JudgedChunks

    return JudgedChunks(_specs(given))


def _suite(given: Mapping[str, Any]) -> Callable[[Any], Any]:
    from specledger.compile.suite import DeferredPlan
    from specledger.kinds.suite import SuiteRuns

    deferred = DeferredPlan(_specs(given))

    def run(item: int) -> Any:
        with TemporaryDirectory() as folder:
            return SuiteRuns(folder, deferred, given["trusted"], given["record"]).run_remotely(item)

    return run


def _checks(given: Mapping[str, Any]) -> Callable[[Any], Any]:
    from specledger.compile.suite import DeferredPlan
    from specledger.verify.suite_runs import RunChecks

    deferred = DeferredPlan(_specs(given))
    return _on_received(lambda folder: RunChecks(folder, deferred, KINDS, given["replay"]))


def _judgements(given: Mapping[str, Any]) -> Callable[[Any], Any]:
    from specledger.compile.suite import DeferredPlan
    from specledger.verify.suite import RunJudgements

    deferred = DeferredPlan(_specs(given))
    return _on_received(lambda folder: RunJudgements(folder, deferred))


def _on_received(make: Callable[[str], HeldRuns]) -> Callable[[Any], Any]:
    """Work on runs that arrive as files, each in a folder of its own."""

    def perform_one(item: Any) -> Any:
        with TemporaryDirectory() as folder:
            return make(folder).perform_remotely(item)

    return perform_one


_ENTRIES: Final[Mapping[str, Callable[[Mapping[str, Any]], Callable[[Any], Any]]]] = {
    "episodes": _episodes,
    "suite": _suite,
    "checks": _checks,
    "judgements": _judgements,
    "judged chunks": _judged_chunks,
}
"""The works of the core by their `entry`, each made from resolved specs and options."""


def _told(finding: Diagnostic) -> dict[str, Any]:
    at = finding.span
    span = None if at is None else [at.file, at.start.line, at.start.column, at.end.line, at.end.column]
    return {
        **{name: getattr(finding, name) for name in ("code", "message", "hint", "expected", "found")},
        "severity": finding.severity.value,
        "place": span,
    }


def finding_of(document: Mapping[str, Any], unknown: str) -> Diagnostic:
    """The finding of a worker, under the code `unknown` if this process does not know its code."""
    location = document["place"]
    span = None if location is None else Span(location[0], Position(*location[1:3]), Position(*location[3:5]))
    known = document["code"] in codes()
    return Diagnostic(
        document["code"] if known else unknown,
        document["message"] if known else f"{document['code']}: {document['message']}",
        span,
        document["hint"],
        Severity(document["severity"]),
        document["expected"],
        document["found"],
    )
