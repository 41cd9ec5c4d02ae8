"""Make edited evidence fit again, as a forger would: `python -m tools.fit BUNDLE`, in a clone.

Verdicts get their digests, the receipts are chained anew, their result is added up, the manifest lists the files as
they are now, and `sha256sums` and VERIFY.md are left out. With `--only files` the manifest lists the files and nothing
else is changed, with `--only head` it also tells the head of the receipts as they are; with `--specs` the keys and
digests of edited specs are computed anew as well. Of an audit log the entries are chained anew.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from specledger.core.entries import entry_hash
from tools.tampering.forger import HELP, Forger, canonical, tagged


def main(words: Sequence[str] | None = None) -> None:
    """Fit the evidence that the command line names."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--specs", action="store_true")
    parser.add_argument("--only", choices=("files", "head"))
    options = parser.parse_args(words)
    if options.evidence.is_file():
        fit_log(options.evidence)
        return
    forger = Forger(options.evidence)
    for name in HELP:
        (options.evidence / name).unlink(missing_ok=True)
    if options.specs:
        forger.respec(lambda document: None)
    if options.only == "files":
        forger.relist()
    elif options.only == "head":
        forger.rehead()
    else:
        for body in forger.bodies("verdict") + forger.bodies("law"):
            body["digest"] = tagged("law-verdict", canonical(body["verdict"]))
        forger.seal()


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
