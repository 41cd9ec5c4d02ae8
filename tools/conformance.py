#!/usr/bin/env python3
"""Run any verifier of evidence on the conformance suite: `python3 tools/conformance.py COMMAND...`.

    python3 tools/conformance.py python3 tools/verify.py
    python3 tools/conformance.py --full spec verify

Each case is a bundle with one fault, or an honest one. The verifier is called as `COMMAND BUNDLE [--trust FILE]
[--against FILE]` and answers by its exit code: 0 nothing is refuted, 1 refuted, 2 no evidence or wrong usage, 3
something that was asked for could not be shown. A reason code (`E_CHAIN`) that it prints is compared as well. See
`docs/conformance.md`. Needs Python 3.9 or newer, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

PLACE = Path(__file__).resolve().parents[1] / "fixtures" / "tampered"
CODE = re.compile(r"\bE_[A-Z0-9_]+\b")
SECONDS = 120


class Laid(NamedTuple):
    """A case as a verifier gets it: its bundle, and the options with what the reader brings."""

    bundle: Path
    options: dict[str, Path]


class Answer(NamedTuple):
    """A verifier's answer to a case: its exit code, its reason code, and whether they are as expected."""

    status: str
    exit: int | None
    code: str | None
    wanted: str


def cases(place: Path) -> list[Path]:
    """The folders of the cases, in the order of their names."""
    return sorted(path.parent for path in place.glob("*/case.json"))


def read_case(folder: Path) -> dict[str, Any]:
    """What `case.json` says."""
    case: dict[str, Any] = json.loads((folder / "case.json").read_bytes())
    return case


def lay_out(folder: Path, work: Path) -> Laid:
    """Put a case together: the base, without `removed`, with the files in `files`, then `links` and `pad`.

    Args:
        folder: The case.
        work: An empty folder.
    """
    case = read_case(folder)
    bundle = work / "bundle"
    shutil.copytree(folder.parent / "bases" / case["base"], bundle, copy_function=shutil.copyfile)
    for name in case["removed"]:
        (bundle / name).unlink()
        _remove_empty(bundle / name, bundle)
    if (folder / "files").is_dir():
        shutil.copytree(folder / "files", bundle, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for name, size in case.get("pad", {}).items():
        with (bundle / name).open("ab") as file:
            file.write(b"x" * size)
    for name, target in case.get("links", {}).items():
        shutil.move(str(bundle / name), str(work / target))
        (bundle / name).symlink_to(work / (target if target == "elsewhere" else "gone"))
    options: dict[str, Path] = {}
    for option in ("trust", "against"):
        if option in case:
            options[option] = (folder / case[option]).resolve()
    return Laid(bundle, options)


def _remove_empty(path: Path, bundle: Path) -> None:
    """Remove the folders that a file left empty."""
    folder = path.parent
    while folder != bundle and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def judge(case: dict[str, Any], exit_code: int | None, output: str, errors: str, full: bool) -> Answer:
    """Compare a verifier's answer with what a case expects.

    Args:
        case: The case.
        exit_code: The verifier's, None if it took too long.
        output: What it printed, on both streams.
        errors: What it printed on standard error.
        full: Whether it must refuse cases that need replay or the like.
    """
    expected = case["expect"]
    found = CODE.search(output)
    code = found[0] if found and exit_code != 0 else None
    wanted = f"{expected['exit']} {expected['code'] or ''}".strip()
    undecided = "needs" in expected and not full
    if exit_code not in (0, 1, 2, 3) or "Traceback (most recent call last)" in errors:
        return Answer("CRASH", exit_code, code, wanted)
    if undecided and exit_code in (0, 3):
        return Answer("not decided", exit_code, None, wanted)
    if exit_code != expected["exit"]:
        return Answer("WRONG", exit_code, code, wanted)
    if code is not None and expected["code"] is not None and code != expected["code"]:
        return Answer("other code", exit_code, code, wanted)
    return Answer("right", exit_code, code, wanted)


def run(command: list[str], folder: Path, full: bool) -> Answer:
    """Lay out one case and have it verified."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as work:
        laid = lay_out(folder, Path(work))
        options = [word for name, path in laid.options.items() for word in (f"--{name}", str(path))]
        try:
            done = subprocess.run(
                [*command, str(laid.bundle), *options],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return judge(read_case(folder), None, "", "", full)
        output, errors = (data.decode("utf-8", "replace") for data in (done.stdout, done.stderr))
        return judge(read_case(folder), done.returncode, output + errors, errors, full)


def main(words: list[str] | None = None) -> int:
    """Run a verifier on all cases and print a table; 0 if it conforms, 1 if not, 2 if no case could be run."""
    parser = argparse.ArgumentParser(description="Run a verifier of evidence on the conformance suite.")
    parser.add_argument("--cases", type=Path, default=PLACE, help="the folder of the cases")
    parser.add_argument("--only", default="", help="only cases whose names begin with this")
    parser.add_argument("--full", action="store_true", help="the verifier replays: it must refuse every case")
    parser.add_argument("--workers", type=int, default=4, help="how many verifiers run at a time")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the verifier and its first arguments")
    asked = parser.parse_args(words)
    folders = [folder for folder in cases(asked.cases) if folder.name.startswith(asked.only)]
    if not asked.command:
        parser.error("name a command")
    if not folders:
        parser.exit(2, f"no case in {asked.cases} has a name that begins with {asked.only!r}\n")
    try:
        with ThreadPoolExecutor(asked.workers) as pool:
            answers = list(pool.map(lambda folder: run(asked.command, folder, asked.full), folders))
    except OSError as error:
        parser.exit(2, f"the command cannot be run on the cases: {error}\n")
    counts = Counter(answer.status for answer in answers)
    print(f"{'case':44} {'expected':26} {'answer':26} status")
    for folder, answer in zip(folders, answers):
        given = f"{answer.exit} {answer.code or ''}".strip()
        print(f"{folder.name:44} {answer.wanted:26} {given:26} {answer.status}")
    conforms = not counts["WRONG"] and not counts["CRASH"]
    statuses = ("right", "other code", "not decided", "WRONG", "CRASH")
    summary = ", ".join(f"{counts[status]} {status}" for status in statuses)
    print(f"\n{len(folders)} cases: {summary}.", "It conforms." if conforms else "It does NOT conform.")
    return 0 if conforms else 1


if __name__ == "__main__":
    sys.exit(main())
