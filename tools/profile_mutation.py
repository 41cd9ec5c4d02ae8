"""Change each stated constant of the specs that profiles rest on, one at a time, and list what no row notices.

A row of a profile names tests and evidence. Both are run once as they are, to learn which files in `specs` each reads,
and then for each changed constant of such a file, until one of them fails. Tests of goldens are left out. The constants
are the numbers and truth values of YAML, and those in expressions; a number is doubled, 0 becomes 1, and a truth value
the other one. What is left must have a reason in `tools/profile_reasons.yaml`. All of it happens in a copy of a commit.

    python -m tools.profile_mutation --files 'specs/probe/*' --sample 20
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.copies import unpack

REASONS = Path(__file__).with_name("profile_reasons.yaml")
PROFILES = ("clatl-overview", "clatl-plan", "law-proposer", "toy-pseudo-axion")
PINNED = "tests/golden/"
"""Tests of pinned digests, which notice any change of a spec, whatever a row says, and so show nothing here."""
PYTEST = ["-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
PROSE = frozenset({"doc", "spec", "name", "says", "section", "source", "why", "message", "hint", "reason", "title"})
PROSE |= {"drawing", "label", "text", "forbidden", "id", "stream"}
NUMBER = re.compile(r"(?<![\w.'\"$])\d+(?:\.\d+)?(?![\w.])|\b(?:true|false)\b")
SLOWER = 4
"""How many times longer tests may take with a change than without; then they do not end, or the machine is busy."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
TRACE = """
import os, sys
log = os.open(os.environ["SPECS_READ"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def hear(event, given):
    if event == "open" and isinstance(given[0], (str, os.PathLike)) and "/specs/" in os.fspath(given[0]):
        os.write(log, os.fspath(given[0]).encode() + b"\\n")
sys.addaudithook(hear)
"""
"""Every process of Python that a copy starts tells which files in `specs` it opens."""


class Constant(NamedTuple):
    """One stated constant: from which to which character of its file, what stands there, and what else could."""

    start: int
    end: int
    old: str
    new: str


class Witness(NamedTuple):
    """What can notice a change: tests of one file, or the evidence of a spec with the outcome of each row by it."""

    name: str
    tests: tuple[str, ...]
    outcomes: dict[str, str]
    reads: frozenset[str]
    seconds: float


def constants(text: str) -> list[Constant]:
    """The constants of a spec in the order of the file."""
    found: list[Constant] = []
    for key, node in scalars(yaml.compose(text, yaml.SafeLoader)):
        start, end = node.start_mark.index, node.end_mark.index
        if key in PROSE:
            continue
        quote = 1 if node.style in ("'", '"') else 0
        inside = text[start + quote : end - quote]
        hidden = [match.span() for match in QUOTED.finditer(inside)]
        for match in NUMBER.finditer(inside):
            if not any(low <= match.start() < high for low, high in hidden):
                at = start + quote + match.start()
                found.append(Constant(at, at + len(match[0]), match[0], other(match[0])))
    return sorted(found)


def scalars(node: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of a document that is a scalar, with the nearest key that it stands under."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            yield from scalars(value, str(name.value))
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from scalars(value, key)
    elif node is not None:
        yield key, node


def other(said: str) -> str:
    """A constant that says something else."""
    if said in ("true", "false"):
        return "false" if said == "true" else "true"
    if "." in said:
        places = len(said.partition(".")[2])
        return f"{float(said) * 2 or 1:.{places}f}"
    return str(int(said) * 2 or 1)


class Copy:
    """A copy of a commit in which commands are run."""

    def __init__(self, folder: Path, commit: str, limit: float, longest: float) -> None:
        """Copy it; a command may take so many seconds, a run of a spec the `longest`."""
        self.folder, self.limit, self.longest = folder, limit, longest
        unpack(commit, folder)
        hook = folder / ".trace"
        hook.mkdir(exist_ok=True)
        (hook / "sitecustomize.py").write_text(TRACE, encoding="utf-8")
        self._log = folder / "specs-read"
        path = f"{hook}:{folder / 'engine'}:{folder}"
        self._environment = os.environ | {"PYTHONPATH": path, "SPECS_READ": str(self._log)}

    def run(self, *words: str, limit: float | None = None) -> tuple[int, str]:
        """Run Python; the status, 124 after the limit of time, and what it printed."""
        command, piped = ["nice", sys.executable, *words], subprocess.PIPE
        with subprocess.Popen(
            command, cwd=self.folder, env=self._environment, stdout=piped, stderr=subprocess.DEVNULL,
            text=True, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                printed, _ = process.communicate(timeout=limit or self.limit)
            except subprocess.TimeoutExpired:
                return 124, ""
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # with what it has started
        return process.returncode, printed

    def reads(self) -> frozenset[str]:
        """Which of its specs were opened since it was asked before."""
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        specs = f"{self.folder}/"
        named = {line.removeprefix(specs) for line in lines if line.startswith(specs)}
        return frozenset(name for name in named if name.endswith(".yaml") and not name.startswith("specs/profile/"))


def rows_of(folder: Path, profiles: list[str], controls: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """The rows of profiles that are shown in some way, or those that are named."""
    found = []
    for profile in profiles:
        document = yaml.safe_load((folder / f"specs/profile/{profile}.yaml").read_text(encoding="utf-8"))
        shown = [row for row in document["controls"] if row["status"] in ("shown", "differs")]
        found += [(profile, row) for row in shown if not controls or row["id"] in controls]
    return found


def witnesses(copy: Copy, rows: list[tuple[str, dict[str, Any]]]) -> Iterator[Witness]:
    """Run what the rows name once; what fails already, or takes too long, notices nothing."""
    modules: dict[str, set[str]] = {}
    for _, row in rows:
        for check in row.get("checks", ()):
            if not check.startswith(PINNED):
                modules.setdefault(check.partition("::")[0], set()).add(check)
    evidence = {(each["of"], profile) for profile, row in rows for each in row.get("evidence", ()) if "of" in each}
    for name in sorted({*modules, *(spec for spec, _ in evidence)}):
        tests = tuple(sorted(modules.get(name, ())))
        copy.reads()
        begun = time.monotonic()
        status, outcomes = 0, dict[str, str]()
        if tests:
            status, _ = copy.run(*PYTEST, *tests)
        else:
            outcomes = evidence_of(copy, name, [profile for spec, profile in sorted(evidence) if spec == name])
        seconds = time.monotonic() - begun
        if status != 0 or not (tests or outcomes):
            print(f"left out: {name} failed, or took too long ({seconds:.0f} s)", flush=True)
            continue
        yield Witness(name, tests, outcomes, copy.reads(), seconds)


def evidence_of(copy: Copy, spec: str, profiles: list[str]) -> dict[str, str]:
    """Run a spec; the outcome of each row of profiles by its evidence, with what the outcome rests on."""
    place = copy.folder / "out" / spec
    shutil.rmtree(place, ignore_errors=True)
    status, _ = copy.run("-m", "specledger", "run", spec, "--out", str(place), "-q", limit=copy.longest)
    if status not in (0, 1, 3):
        return {}
    found = {}
    for profile in profiles:
        _, printed = copy.run("-m", "specledger", "report", str(place), "--format", "json", "--profile", profile)
        judged = json.loads(printed).get("profile") if printed.startswith("{") else None
        for row in judged["controls"] if judged else ():
            for each in row["evidence"]:
                if each["subject"] is not None:
                    found[f"{profile} {row['id']} {each['check']}"] = each["outcome"]
    return found


def noticed_by(copy: Copy, file: str, known: list[Witness]) -> str:
    """What notices the present state of a file: a test, or a row whose evidence has another outcome; else empty."""
    own = sorted((one for one in known if file in one.reads), key=lambda one: one.seconds)
    tests = [test for one in own for test in one.tests]
    if tests:
        needed = sum(one.seconds for one in own if one.tests)
        status, printed = copy.run(*PYTEST, *tests, limit=max(copy.limit, SLOWER * needed))
        if status == 124:
            return "a limit of time"
        if status != 0:
            lines = [line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return lines[0].split(" - ")[0] if lines else f"tests ended with {status}"
    for one in own:
        if one.outcomes:
            profiles = sorted({row.partition(" ")[0] for row in one.outcomes})
            found = evidence_of(copy, one.name, profiles)
            changed = [row for row, outcome in one.outcomes.items() if found.get(row) != outcome]
            if changed:
                return f"evidence of {one.name}: {changed[0]}"
    return ""


def line_of(text: str, constant: Constant) -> str:
    """The line that a constant stands on."""
    start = text.rfind("\n", 0, constant.start) + 1
    return text[start : (text.find("\n", constant.start) + 1 or len(text) + 1) - 1].strip()


def reason_for(file: str, line: str) -> str:
    """Why no row needs to notice a constant of a line; empty if nobody has said so."""
    known = yaml.safe_load(REASONS.read_text(encoding="utf-8")) or []
    return next((one["reason"] for one in known if fnmatch(file, one["file"]) and one["line"] in line), "")


def drawn(files: list[Path], folder: Path, size: int | None, seed: int) -> list[tuple[Path, Constant]]:
    """The constants of files, or a sample of them by their digests."""
    every = [(file, one) for file in files for one in constants(file.read_text(encoding="utf-8"))]
    if size is None:
        return every
    keys = {each: f"{seed} {each[0].relative_to(folder)} {each[1]}" for each in every}
    return sorted(every, key=lambda each: hashlib.sha256(keys[each].encode()).digest())[:size]


def main() -> int:
    """Print what notices each changed constant, and those that nothing notices; 1 if one of them has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", nargs="*", default=list(PROFILES), metavar="PROFILE")
    parser.add_argument("--controls", nargs="*", default=[], metavar="ID", help="these rows alone")
    parser.add_argument("--files", nargs="*", default=["specs/*"], metavar="GLOB", help="whose constants are changed")
    parser.add_argument("--sample", type=int, help="so many of the constants; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--limit", type=float, default=300, help="seconds that tests may take")
    parser.add_argument("--longest", type=float, default=60, help="seconds that a run of a spec may take")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy is removed
    left = 0
    with tempfile.TemporaryDirectory() as place:
        copy = Copy(Path(place), arguments.commit, arguments.limit, arguments.longest)
        known = list(witnesses(copy, rows_of(copy.folder, arguments.profiles, arguments.controls)))
        read = sorted(frozenset[str]().union(*(one.reads for one in known)))
        files = [copy.folder / name for name in read if any(fnmatch(name, each) for each in arguments.files)]
        tried = drawn(files, copy.folder, arguments.sample, arguments.seed)
        print(f"{len(known)} witnesses, {len(read)} files, {len(tried)} constants", flush=True)
        for file, constant in tried:
            left += try_one(copy, file, constant, known)
    print(f"{left} constants that nothing notices have no reason")
    return int(left > 0)


def try_one(copy: Copy, file: Path, constant: Constant, known: list[Witness]) -> bool:
    """Change one constant; whether nothing notices it, and there is no reason."""
    text, name = file.read_text(encoding="utf-8"), str(file.relative_to(copy.folder))
    file.write_text(text[: constant.start] + constant.new + text[constant.end :], encoding="utf-8")
    try:
        by = noticed_by(copy, name, known)
    finally:
        file.write_text(text, encoding="utf-8")
    line = line_of(text, constant)
    reason = "" if by else reason_for(name, line)
    number = text.count("\n", 0, constant.start) + 1
    said = by or (f"nothing, because {reason}" if reason else "NOTHING")
    print(f"{name}:{number}: {constant.old} -> {constant.new} in `{line}`: {said}", flush=True)
    return not by and not reason


if __name__ == "__main__":
    sys.exit(main())
