"""Goldens: digests and canonical receipts of runs, pinned in files.

A pin is `<name>.json`, a small tree of digests, and `<name>.jsonl`, the receipts. The tree names the specs that
changed, the receipts show what they change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical, parse_json, pretty
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from specledger.core.digest import sha256_hex
from specledger.core.events import Event
from specledger.core.merkle import Tree, leaf_hash
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.layout import MAX_SPECS_VOLUME, RECEIPTS, SPECS
from specledger.evidence.workplace import E_OUT_UNWRITABLE
from specledger.kinds import KINDS, case_name
from specledger.kinds.running import Finished, RunOptions
from specledger.load import Bundle
from specledger.load.library import Library
from specledger.pipeline.executing import execute
from specledger.run.workers import Processes
from specledger.verify.replay import differences, first_difference, is_digest

E_GOLDEN_DIFFERS = code("E_GOLDEN_DIFFERS", "a golden differs")
NOT_PINNED: Final = "nothing is pinned yet"
"""The difference from a pin that does not exist."""

_KEY_DIGITS: Final = re.compile(rb"@[0-9a-f]{16}\"")


class Pin(Struct, frozen=True):
    """The pinned digests and receipts of one case.

    Attributes:
        name: The name of the case, which is the file name without its ending.
        tree: Digests of specs, receipts and (of a run) episodes, and the result. `documents` has one for each spec,
            without the digests in its references, so that a change shows in the changed spec alone.
    """

    name: str
    tree: dict[str, Any]
    receipts: tuple[bytes, ...]

    def write(self, folder: Path) -> None:
        """Write the pin to a folder as accepted; Rejected as E_OUT_UNWRITABLE."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{self.name}.jsonl").write_bytes(b"".join(line + b"\n" for line in self.receipts))
            (folder / f"{self.name}.json").write_bytes(pretty(self.tree).encode("ascii"))
        except OSError as error:
            message = f"cannot write {self.name} in {folder}: {error.strerror or error}"
            raise Rejected([Diagnostic(E_OUT_UNWRITABLE, message)]) from error


def pin(bundle: Bundle, workers: int = 1) -> Pin:
    """Run a case and return its pin; Rejected if it does not compile."""
    runnable = KINDS[bundle.main.kind].run
    if runnable.events is not None:
        return pin_events(bundle, runnable.events(bundle))
    with TemporaryDirectory() as folder:
        return pin_evidence(execute(bundle, Path(folder) / "pinned", RunOptions(Processes(workers))))


def pin_events(bundle: Bundle, events: Iterable[Event]) -> Pin:
    """The pin of a run that is one chain of events, such as one whose outside agent is answered by a tape."""
    tally = KINDS[bundle.main.kind].run.receipts.tally()
    chain = Chain(run_id(bundle.digest))
    episodes: list[Tree] = []
    lines = []
    for event in events:
        line = chain.seal(event)
        tally.add(event.type, event.body)
        lines.append(line)
        if event.type == "episode":
            episodes.append(Tree())
        if episodes and event.type != "end":
            episodes[-1].append_hash(leaf_hash(line))
    tree = {
        bundle.main.kind: bundle.main.name,
        "case": bundle.case,
        "specs": bundle.digest,
        "documents": documents_of(bundle.document()["specs"]),
        "episodes": [episode.root().hex() for episode in episodes],
        "receipts": {"count": chain.count, "head": chain.head, "root": chain.root},
        "result": tally.result(),
    }
    return Pin(case_name(bundle), tree, tuple(lines))


def pin_evidence(finished: Finished) -> Pin:
    """The pin of written evidence: its own receipts, which for a suite hold the root of every run."""
    manifest = finished.manifest
    known = {name: manifest[name] for name in ("specs", "receipts", "result")}
    documents = documents_of(parse_json((finished.place / SPECS).read_bytes(), most=MAX_SPECS_VOLUME)["specs"])
    lines = (finished.place / RECEIPTS).read_bytes().splitlines()
    return Pin(finished.name, {finished.kind: finished.name, "documents": documents, **known}, tuple(lines))


def documents_of(specs: Mapping[str, Any]) -> dict[str, str]:
    """A digest of 16 digits for each `<kind>/<name>`, over its resolved forms without the digests of references."""
    forms: dict[str, list[bytes]] = {}
    for key, data in specs.items():
        forms.setdefault(key.partition("@")[0], []).append(_KEY_DIGITS.sub(b'"', canonical_bytes(data)))
    return {name: sha256_hex(b"\n".join(sorted(resolved)))[:16] for name, resolved in sorted(forms.items())}


def pin_matches(current: Pin, folder: Path) -> str | None:
    """Compare a pin with the accepted one; line endings are ignored.

    Returns:
        None if they are the same, else the text of `difference`.
    """
    try:
        tree = (folder / f"{current.name}.json").read_bytes().replace(b"\r\n", b"\n")
        accepted = (folder / f"{current.name}.jsonl").read_bytes().splitlines()
    except OSError:
        return NOT_PINNED
    if tuple(accepted) == current.receipts and tree == pretty(current.tree).encode("ascii"):
        return None
    return difference(current, tree, accepted)


def pinned_names(folder: Path) -> list[str]:
    """The names of the pins in a folder, also of those that lack one of their files; sorted."""
    return sorted({path.stem for end in (".json", ".jsonl") for path in folder.glob(f"*{end}")})


def pinned_spec(name: str, folder: Path) -> Path | None:
    """The spec file of a pin, in the project of the working folder or else shipped; None if there is none."""
    tree: Any = None
    with suppress(OSError, ValueError):
        tree = parse_json((folder / f"{name}.json").read_bytes())
    recorded = tree if isinstance(tree, dict) else {}
    runnable = KINDS.runnable()
    library = Library(None, KINDS, Diagnostics())
    for kind in [kind for kind in runnable if kind in recorded] or runnable:
        for file in library.find_target(name.partition(".")[0], kind):  # the id of a case follows
            return file
    return None


def difference(current: Pin, tree: bytes, accepted: Sequence[bytes]) -> str:
    """A text for the first difference from an accepted pin: changed specs, then the receipt, its step and the field."""
    changed = _changed_specs(current.tree, tree)
    specs = f"changed specs: {', '.join(changed)}; " if changed else ""
    if tuple(accepted) == current.receipts:
        return f"{specs}the receipts are the same, the tree of digests is not"
    return specs + _first_receipt(current.receipts, accepted)


def _changed_specs(current: Mapping[str, Any], tree: bytes) -> list[str]:
    """The specs whose digest differs from the accepted tree, and those that only one of the two has."""
    try:
        parsed = parse_json(tree)
    except ValueError:
        return []
    accepted = parsed.get("documents") if isinstance(parsed, dict) else None
    if not isinstance(accepted, dict):
        return []
    documents = current["documents"]
    return [name for name in sorted({*documents, *accepted}) if documents.get(name) != accepted.get(name)]


def _first_receipt(current: Sequence[bytes], accepted: Sequence[bytes]) -> str:
    """Describe the first receipt that differs in more than digests, which depend on all receipts before them."""
    for number, (new, old) in enumerate(zip_longest(current, accepted)):
        if new is None or old is None or not all(map(is_digest, differences(new, old))):
            return f"{_step(new or old)}{first_difference(number, new, old)}"
    return "only digests differ: the specs say something else, but the run does the same"


def _step(line: bytes | None) -> str:
    """The step of a receipt, as the prefix of a message."""
    try:
        receipt: Any = parse_canonical(line or b"null", limit=len(line or b"null"))
        return f"episode {receipt['body']['episode']}, step {receipt['body']['t']}: "
    except (NotCanonical, KeyError, TypeError):  # an edited golden, or a receipt of no step
        return ""
