"""Make edited evidence fit again, as a forger would: `python -m tools.fit BUNDLE`, in a clone.

Verdicts and answers on a tape get their digests, the receipts are chained anew, their result is added up, the manifest
lists the files as they are now, and `sha256sums` and VERIFY.md are left out. With `--only-files` the manifest lists
the files, and nothing else is changed. Of an audit log the entries are chained anew.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from specledger.core.entries import entry_hash
from specledger.evidence.layout import TAPE
from tools.tampering.forger import HELP, Forger, canonical, sha256, tagged


def main(words: Sequence[str] | None = None) -> None:
    """Fit the evidence that the command line names."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--only-files", action="store_true")
    options = parser.parse_args(words)
    if options.evidence.is_file():
        fit_log(options.evidence)
        return
    forger = Forger(options.evidence)
    for name in HELP:
        (options.evidence / name).unlink(missing_ok=True)
    if options.only_files:
        forger.relist()
    else:
        for body in forger.bodies("verdict") + forger.bodies("law"):
            body["digest"] = tagged("law-verdict", canonical(body["verdict"]))
        if (options.evidence / TAPE).exists():
            fit_tape(options.evidence / TAPE)
        forger.seal()


def fit_tape(path: Path) -> None:
    """Give each answer of a tape its size and its digest."""
    lines = []
    for line in map(json.loads, path.read_bytes().splitlines()):
        text = (line.get("received") or {}).get("text")
        if text is not None:
            line |= {"sha256": sha256(text.encode()), "size": len(text.encode())}
        lines.append(canonical(line) + b"\n")
    path.write_bytes(b"".join(lines))


def fit_log(path: Path) -> None:
    """Chain the entries of an audit log anew."""
    head, lines = "0" * 64, []
    for line in path.read_bytes().splitlines():
        entry = json.loads(line) | {"prev_entry_hash": head}
        head = entry["entry_hash"] = entry_hash(entry)
        lines.append(canonical(entry) + b"\n")
    path.write_bytes(b"".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
