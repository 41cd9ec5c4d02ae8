"""Make the conformance suite of verifiers of evidence: `python -m tools.tamper`.

Every case is a folder `fixtures/tampered/<family>-<fault>_fail`, or `..._pass` where the bundle is honest: a
`case.json` and what differs from an honest bundle in `fixtures/tampered/bases`. `docs/conformance.md` describes them.
The same sources make the same bytes; the honest bundles are fresh ones of the engine, so a change of evidence changes
them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tools.tampering import (
    faults_chain,
    faults_covers,
    faults_form,
    faults_kinds,
    faults_layout,
    faults_reader,
    faults_turns,
)
from tools.tampering.bases import BASES, ROOT, build, project
from tools.tampering.case import TRUST, Case
from tools.tampering.signer import Signer

TABLES: Final = (
    faults_chain,
    faults_form,
    faults_covers,
    faults_reader,
    faults_kinds,
    faults_layout,
    faults_turns,
)
CASES: Final = tuple(case for table in TABLES for case in table.FAULTS)
PLACE: Final = ROOT / "fixtures" / "tampered"

Files = Mapping[str, bytes]
"""The content of files by their paths, with slashes."""


def contents(folder: Path) -> dict[str, bytes]:
    """The files in a folder and in those inside it, by their paths."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def suite(cases: Iterable[Case] = CASES) -> dict[str, bytes]:
    """All files of the suite by their paths: the bases, the trust files that cases share, and the cases."""
    made = {f"trust-{name}.json": data for name, data in TRUST.items()}
    with _unforced(), tempfile.TemporaryDirectory(prefix="specledger-tamper-") as work:
        bases = _bases(Path(work), {case.base_folder: case for case in cases})
        folders = {f"bases/{name}": files for name, files in bases.items()}
        folders |= {case.folder: _made(case, Path(work), bases[case.base_folder]) for case in cases}
    return made | {f"{folder}/{name}": data for folder, files in folders.items() for name, data in files.items()}


def _bases(work: Path, wanted: Mapping[str, Case]) -> dict[str, Files]:
    """The honest bundles by their folders; those of signed cases are signed."""
    with project():
        for name in BASES:
            build(name, work / name)
    for folder, case in wanted.items():
        if case.signed:
            shutil.copytree(work / case.base, work / folder)
            Signer(work / folder, signed=True).sign()
    return {name: contents(work / name) for name in sorted(wanted)}


def _made(case: Case, work: Path, base: Files) -> Files:
    """The files of a case: `case.json`, and under `files` what differs from the base."""
    folder = work / "case"
    shutil.rmtree(folder, ignore_errors=True)
    forger = Signer(shutil.copytree(work / case.base_folder, folder), signed=case.signed)
    case.change(forger)
    case.mend(forger)
    now = contents(folder)
    made = {f"files/{name}": data for name, data in now.items() if base.get(name) != data}
    document: dict[str, Any] = {
        "name": case.folder,
        "family": case.family,
        "fault": case.fault,
        "base": case.base_folder,
        "removed": sorted(base.keys() - now.keys()),
        **forger.recipe,
        **({"trust": "../trust-one.json"} if case.signed else {}),
        "expect": {
            "exit": case.exit,
            "code": case.code,
            "level": case.level,
            **({"needs": case.needs} if case.needs else {}),
        },
    }
    for option, data in forger.options.items():
        shared = next((name for name, known in TRUST.items() if known == data), None)
        document[option] = f"../trust-{shared}.json" if shared is not None else f"{option}.file"
        made |= {} if shared is not None else {document[option]: data}
    return made | {"case.json": json.dumps(document, indent=2, sort_keys=True).encode() + b"\n"}


@contextmanager
def _unforced() -> Iterator[None]:
    """Nothing here must survive a crash, and forcing hundreds of small files to the disk takes long."""
    forced = os.fsync
    os.fsync = lambda fd: None
    try:
        yield
    finally:
        os.fsync = forced


def main() -> None:
    """Write the suite anew."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=PLACE, help="the folder, which is replaced")
    out = parser.parse_args().out
    made = suite()
    shutil.rmtree(out, ignore_errors=True)
    for name, data in made.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)
    size = sum(map(len, made.values()))
    families = {case.family for case in CASES}
    print(f"{len(CASES)} cases of {len(families)} families, {size:,} bytes, in {out}")


if __name__ == "__main__":
    main()
