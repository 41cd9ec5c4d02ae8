"""What can notice a changed spec: the tests that rows of profiles name, and the evidence that they ask of runs."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.copies import unpack

PINNED = "tests/golden/"
"""Tests of pinned digests, which notice any change of a spec, whatever a row says, and so show nothing here."""
PYTEST = ["pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
PYTEST += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # the engine is imported before pytest begins
PYTEST += ["-p", "unshrunk", "--hypothesis-profile", "unshrunk"]
TOOK = re.compile(r"^([\d.]+)s \w+ +([^\s\[]+)", re.MULTILINE)
LIMIT = "a limit of time"
"""What is said of tests that do not end, or of a machine that is busy: not that they notice anything."""
SLOWER = 4
"""How many times longer tests may take with a change than without; then they do not end, or the machine is busy."""
TRACE = """
import os, sys
log = os.open(os.environ["SPECS_READ"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def hear(event, given):
    if event == "open" and isinstance(given[0], (str, os.PathLike)) and "/specs/" in os.fspath(given[0]):
        os.write(log, os.fspath(given[0]).encode() + b"\\n")
sys.addaudithook(hear)
"""
"""Every process of Python that a copy starts tells which files in `specs` it opens."""
UNSHRUNK = """
from hypothesis import HealthCheck, Phase, settings
settings.register_profile(
    "unshrunk", derandomize=True, deadline=None, database=None, max_examples=30,
    phases=(Phase.explicit, Phase.generate), suppress_health_check=[HealthCheck.too_slow],
)
"""
"""A plugin of pytest: that a property fails is enough, and by which example does not matter."""


class Witness(NamedTuple):
    """What can notice a change: tests of one file, or the evidence of a spec with the outcome of each row by it.

    The tests are in the order of the seconds that each takes.
    """

    name: str
    tests: dict[str, float]
    outcomes: dict[str, str]
    reads: frozenset[str]
    seconds: float


class Copy:
    """A copy of a commit in which commands are run."""

    def __init__(self, folder: Path, commit: str, limit: float, longest: float) -> None:
        """Copy it; a command may take so many seconds, a run of a spec the `longest`."""
        self.folder, self.limit, self.longest = folder, limit, longest
        unpack(commit, folder)
        hook = folder / ".trace"
        hook.mkdir(exist_ok=True)
        (hook / "sitecustomize.py").write_text(TRACE, encoding="utf-8")
        (hook / "unshrunk.py").write_text(UNSHRUNK, encoding="utf-8")
        self._log = folder / "specs-read"
        path = f"{hook}:{folder / 'engine'}:{folder}"
        self._server: subprocess.Popen[str] | None = None
        self._environment = os.environ | {"PYTHONPATH": path, "SPECS_READ": str(self._log)}

    def run(self, *words: str, limit: float | None = None) -> tuple[int, str]:
        """Run a module of Python; the status, 124 after the limit of time, and what it printed."""
        if self._server is None:
            self._server = subprocess.Popen(
                ["nice", sys.executable, "-m", "tools.profile_server"],  # noqa: S607 - a tool of people
                cwd=self.folder, env=self._environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps({"words": words, "limit": limit or self.limit}) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        return answer["status"], answer["printed"]

    def close(self) -> None:
        """End what runs commands."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()

    def reads(self) -> frozenset[str]:
        """Which of its specs were opened since it was asked before."""
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        self._log.write_text("", encoding="utf-8")  # it stays open, so that it cannot be another file
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


def witnesses(copy: Copy, rows: list[tuple[str, dict[str, Any]]], by: Sequence[str] = ("*",)) -> Iterator[Witness]:
    """Run once what the rows name and is asked for; what fails already, or takes too long, notices nothing."""
    modules: dict[str, set[str]] = {}
    for _, row in rows:
        for check in row.get("checks", ()):
            if not check.startswith(PINNED):
                modules.setdefault(check.partition("::")[0], set()).add(check)
    evidence = {
        (name, profile)
        for profile, row in rows
        for item in row.get("evidence", ())
        if (name := spec_of(item)) is not None
    }
    for name in sorted({*modules, *(spec for spec, _ in evidence)}):
        if not any(fnmatch(name, item) for item in by):
            continue
        tests = dict.fromkeys(sorted(modules.get(name, ())), 0.0)
        copy.reads()
        begun = time.monotonic()
        status, outcomes = 0, dict[str, str]()
        if tests:
            status, printed = copy.run(*PYTEST, "--durations=0", "-vv", *tests)
            for cost, test in TOOK.findall(printed):
                if test in tests:
                    tests[test] += float(cost)
            tests = dict(sorted(tests.items(), key=lambda item: item[1]))
        else:
            outcomes = evidence_of(copy, name, [profile for spec, profile in sorted(evidence) if spec == name])
        seconds = time.monotonic() - begun
        if status != 0 or not (tests or outcomes):
            print(f"left out: {name} failed, or took too long ({seconds:.0f} s)", flush=True)
            continue
        yield Witness(name, tests, outcomes, copy.reads(), seconds)


def spec_of(named: dict[str, str]) -> str | None:
    """The spec of whose bundles a row asks something that running it shows."""
    if "specs[" in named.get("require", "") and "receipts" not in named:
        return None  # this is asked of the specs themselves
    law = named.get("check", "").removeprefix("law/")
    return named.get("of") or (law if law != named.get("check", "") else None)


def evidence_of(copy: Copy, spec: str, profiles: list[str]) -> dict[str, str]:
    """Run a spec; the outcome of each row of profiles by its evidence, with what the outcome rests on."""
    place = copy.folder / "out" / spec
    shutil.rmtree(place, ignore_errors=True)
    status, _ = copy.run("specledger", "run", spec, "--out", str(place), "-q", limit=copy.longest)
    if status not in (0, 1, 3):
        return {}
    found = {}
    for profile in profiles:
        _, printed = copy.run("specledger", "report", str(place), "--format", "json", "--profile", profile)
        judged = json.loads(printed).get("profile") if printed.startswith("{") else None
        for row in judged["controls"] if judged else ():
            for item in row["evidence"]:
                if item["subject"] is not None:
                    found[f"{profile} {row['id']} {item['check']}"] = item["outcome"]
    return found


def noticed_by(copy: Copy, file: str, known: list[Witness]) -> str:
    """What notices the present state of a file: a test, or a row whose evidence has another outcome; else empty."""
    own = sorted((one for one in known if file in one.reads), key=lambda one: one.seconds)
    for is_test, group in groupby(own, key=lambda one: bool(one.tests)):
        members = [*group]
        noticed = by_tests(copy, members) if is_test else by_evidence(copy, members)
        if noticed:
            return noticed
    return ""


def by_tests(copy: Copy, own: list[Witness]) -> str:
    """The first of some tests that fails, the quick ones first; empty if none does."""
    costs = {test: cost for one in own for test, cost in one.tests.items()}
    tests = sorted(costs, key=costs.__getitem__)
    status, printed = copy.run(*PYTEST, *tests, limit=max(copy.limit, SLOWER * sum(one.seconds for one in own)))
    if status == 124:
        return LIMIT
    lines = [line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR"))]
    first = re.sub(r"\[.*| - .*", "", lines[0]) if lines else f"tests ended with {status}"
    return first.removeprefix("FAILED ") if status else ""


def by_evidence(copy: Copy, own: list[Witness]) -> str:
    """The first row of which the evidence comes out otherwise; empty if there is none."""
    for one in own:
        profiles = sorted({row.partition(" ")[0] for row in one.outcomes})
        outcomes = evidence_of(copy, one.name, profiles)
        changed = [row for row, outcome in one.outcomes.items() if outcomes.get(row) != outcome]
        if changed:
            return f"evidence of {one.name}: {changed[0]}"
    return ""
