"""Change each stated constant of the specs that profiles are about, one at a time, and list what no row notices.

The specs are those that the bundles hold of which rows ask something. The constants are the numbers and truth values
of YAML, and those in expressions; a number is doubled, 0 becomes 1, and a truth value the other one. A change is
noticed by

1. a rule of a row about the specs themselves, which is asked without running anything, or as the specs are refused;
2. else, unless `tools/profile_reasons.yaml` says why no row needs to notice it, by the test or the evidence that
   noticed it before, as `tools/profile_noticed.yaml` has it;
3. else by any test or evidence that rows name and that reads the file, the quick ones first. Tests of goldens are
   left out. Each is run once as it is, to learn what it reads.

`--stated` runs nothing, and takes minutes: what noticed a constant before counts. All of it happens in a copy of a
commit.

    python -m tools.profile_mutation --profiles toy-pseudo-axion --files 'specs/probe/*'
"""

import argparse
import hashlib
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from tools.profile_constants import Constant, changed, constants, line_of
from tools.profile_facts import Facts
from tools.profile_notices import noticed, place_of, reason_for, reasons, write
from tools.profile_witnesses import LIMIT, Copy, Witness, noticed_by, rows_of, witnesses

PROFILES = ("clatl-overview", "clatl-plan", "law-proposer", "toy-pseudo-axion")
STATED, RUN, REASON, NEITHER = "noticed by a rule", "noticed by a run", "with a reason", "neither"
LATE = "not decided in time"


class Attempt(NamedTuple):
    """One changed constant: where it stands, and what became of it."""

    file: str
    number: int
    line: str
    constant: Constant
    outcome: str
    by: str

    def __str__(self) -> str:
        """A line of the list."""
        where, old, new = f"{self.file}:{self.number}", self.constant.old, self.constant.new
        return f"{where}: {old} -> {new} in `{self.line}`: {self.outcome}{f': {self.by}' if self.by else ''}"


def drawn(files: list[str], folder: Path, size: int | None, seed: int) -> list[tuple[str, Constant]]:
    """The constants of files, or a sample of them by their digests."""
    every = [(file, one) for file in files for one in constants((folder / file).read_text(encoding="utf-8"))]
    if size is None:
        return every
    keys = {item: f"{seed} {item[0]} {item[1]}" for item in every}
    return sorted(every, key=lambda item: hashlib.sha256(keys[item].encode()).digest())[:size]


def attempt(folder: Path, file: str, constant: Constant, facts: Facts, run: Callable[[str, str], str]) -> Attempt:
    """Change one constant in a folder; `run` says what notices the present state of a file, given what did before."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    line, place = line_of(text, constant), place_of(file, text, constant)
    path.write_text(changed(text, constant), encoding="utf-8")
    try:
        by, outcome = facts.refuted(file), STATED
        if not by and (reason := reason_for(place, reasons())):
            by, outcome = reason, REASON
        if not by:
            by, outcome = run(file, noticed().get(place, "")), RUN
    finally:
        path.write_text(text, encoding="utf-8")
    outcome = NEITHER if not by else LATE if by == LIMIT else outcome
    return Attempt(file, line.number, line.text, constant, outcome, by)


def recorded(_: str, before: str) -> str:
    """What noticed a constant when it was last tried."""
    return before


def by_running(copy: Copy, known: list[Witness], new: bool) -> Callable[[str, str], str]:
    """What notices the present state of a file, when it is run; what noticed it before is tried first, or counts."""

    def run(file: str, before: str) -> str:
        if new and before:
            return before
        first = [one._replace(tests={before: one.tests[before]}) for one in known if before and before in one.tests]
        first += [one for one in known if before.startswith(f"evidence of {one.name}: ")]
        return noticed_by(copy, file, first) or noticed_by(copy, file, known)

    return run


def main() -> int:
    """Print what notices each changed constant, and those that nothing notices; 1 if one of them has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", nargs="*", default=list(PROFILES), metavar="PROFILE")
    parser.add_argument("--controls", nargs="*", default=[], metavar="ID", help="these rows alone")
    parser.add_argument("--files", nargs="*", default=["specs/*"], metavar="GLOB", help="whose constants are changed")
    parser.add_argument("--by", nargs="*", default=["*"], metavar="GLOB", help="tests and specs that may notice")
    parser.add_argument("--stated", action="store_true", help="run nothing; what noticed a constant before counts")
    parser.add_argument("--new", action="store_true", help="run nothing for what was noticed before")
    parser.add_argument("--record", action="store_true", help="write down which test or evidence noticed what")
    parser.add_argument("--sample", type=int, help="so many of the constants; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--limit", type=float, default=300, help="seconds that tests may take")
    parser.add_argument("--longest", type=float, default=60, help="seconds that a run of a spec may take")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy is removed
    with tempfile.TemporaryDirectory() as place:
        return tried(Path(place), arguments)


def tried(folder: Path, arguments: argparse.Namespace) -> int:
    """Do in an empty folder what the arguments ask; the status."""
    with closing(Copy(folder, arguments.commit, arguments.limit, arguments.longest)) as copy:
        return tried_in(copy, arguments)


def tried_in(copy: Copy, arguments: argparse.Namespace) -> int:
    """Do in a copy what the arguments ask; the status."""
    folder = copy.folder
    facts = Facts(folder, arguments.profiles, arguments.controls)
    known: list[Witness] = []
    if not arguments.stated:
        rows = rows_of(folder, arguments.profiles, arguments.controls)
        known = list(witnesses(copy, rows, arguments.by))
    files = [name for name in facts.files if any(fnmatch(name, item) for item in arguments.files)]
    chosen = drawn(files, folder, arguments.sample, arguments.seed)
    print(f"{len(known)} witnesses, {len(facts.asked)} rules, {len(files)} files, {len(chosen)} constants", flush=True)
    run = recorded if arguments.stated else by_running(copy, known, arguments.new)
    count = Counter[str]()
    for file, constant in chosen:
        one = attempt(folder, file, constant, facts, run)
        count[one.outcome] += 1
        print(one, flush=True)
        if arguments.record and one.outcome == RUN:
            text = (folder / file).read_text(encoding="utf-8")
            write({**noticed(), place_of(file, text, constant): one.by})
    print(", ".join(f"{count[outcome]} {outcome}" for outcome in (STATED, RUN, REASON, LATE, NEITHER)))
    return int(count[NEITHER] + count[LATE] > 0)


if __name__ == "__main__":
    sys.exit(main())
