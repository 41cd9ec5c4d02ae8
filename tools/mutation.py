"""Put a seeded sample of faults into the engine, one at a time, and count those that its tests notice.

Cosmic Ray makes the faults and puts them in. This program chooses which faults (by digest, so that a sample stays the
same where a module does), which tests, and where: in copies of a commit, never in the checkout. At first all tests are
run once, measured, to know which of them reach a line (`mutation_reach`); a fault is then tried by those, the quickest
first, until one fails. An interrupted run goes on where it stopped; `--again` tries the unnoticed faults at the commit.
"""

import argparse
import hashlib
import re
import shlex
import shutil
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest
from pathlib import Path
from queue import SimpleQueue
from subprocess import run

import attrs
from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkItem, WorkResult

from specledger.core.statistics import wilson
from tools.copies import unpack
from tools.mutation_places import candidates, idle, lines
from tools.mutation_reach import PYTEST, Reach, environment, measure

ENGINE = Path("engine/specledger")
LIMIT_S = 100  # processor time, as measured, of the tests that reach the lines, then of those that reach the module
CPU_S, TIMEOUT_S = 200, 3600  # an endless loop ends by the first, a deadlock by the second
# Faults that are not realistic or change nothing: a decorator less (an import fails, a cache is lost), identity for
# equality, shifts and powers for sums, another operator for the stars of an argument list (a syntax error).
EXCLUDED = re.compile(
    r"RemoveDecorator|Comparison\w*_(Eq|NotEq|Lt|LtE|Gt|GtE)_Is|Comparison\w*_(Is|IsNot)_(Eq|NotEq|Lt|Gt)"
    r"|Binary\w*_(RShift|LShift|Pow|BitXor|Div)$|Binary\w*_Pow_"
)


def packages(copy: Path) -> dict[str, list[Path]]:
    """The modules of each package and wing, and of none, by name."""
    folders = [*(copy / ENGINE).iterdir(), *(copy / ENGINE / "wings").iterdir()]
    found = {str(folder.relative_to(copy / ENGINE)): sorted(folder.rglob("*.py")) for folder in folders}
    del found["wings"]
    return {name: modules for name, modules in sorted(found.items()) if modules} | {
        ".": sorted((copy / ENGINE).glob("*.py"))
    }


def faults(copy: Path, module: Path, scratch: Path) -> dict[int, list[WorkItem]]:
    """The faults of a module by line, without those that are excluded."""
    ignored = idle(module.read_text(encoding="utf-8"))
    found: dict[int, list[WorkItem]] = defaultdict(list)
    scratch.unlink(missing_ok=True)
    with use_db(scratch, WorkDB.Mode.create) as db:
        init([module], db, {})
        for item in db.work_items:
            fault = item.mutations[0]
            if any(start <= fault.start_pos < end for start, end in ignored) or EXCLUDED.search(fault.operator_name):
                continue
            relative = attrs.evolve(fault, module_path=module.relative_to(copy))
            found[fault.start_pos[0]].append(WorkItem.single(item.job_id, relative))
    return found


def sample(copy: Path, modules: list[Path], size: int, seed: int, scratch: Path) -> list[WorkItem]:
    """Faults of a package: one of each of the lines with the smallest digests that can have one."""

    def drawn(*parts: object) -> bytes:
        return hashlib.sha256(" ".join(map(str, (seed, *parts))).encode()).digest()

    places = [(path, line) for path in modules for line in candidates(path.read_text(encoding="utf-8"))]
    known: dict[Path, dict[int, list[WorkItem]]] = {}
    chosen: list[WorkItem] = []
    for path, line in sorted(places, key=lambda place: drawn(place[0].relative_to(copy), place[1])):
        if len(chosen) == size:
            break
        if path not in known:
            known[path] = faults(copy, path, scratch)
        if here := known[path].get(line):
            chosen.append(min(here, key=lambda item: drawn(*attrs.astuple(item.mutations[0])[:3])))
    return chosen


def attempt(item: WorkItem, copy: Path, reach: Reach) -> WorkResult:
    """Put a fault into a copy, and run what reaches it until a test fails."""
    fault = item.mutations[0]
    source = (copy / fault.module_path).read_text(encoding="utf-8")
    module = str(fault.module_path.relative_to(ENGINE))
    found_by = shlex.quote(environment(copy)["PYTHONPATH"])
    script = [f"cd {shlex.quote(str(copy))}; export PYTHONPATH={found_by}; ulimit -t {CPU_S}"]
    for number, tests in enumerate(reach.stages(module, lines(source, fault.start_pos[0]), LIMIT_S)):
        listed = copy.with_name(f"{copy.name}.{number}")
        listed.write_text("\n".join(tests), encoding="utf-8")
        files = shlex.join(sorted({test.partition("::")[0] for test in tests}))
        command = shlex.join(["nice", "-n", "10", sys.executable, *PYTEST, "-x", "-n0"])
        script.append(f"TESTS={shlex.quote(str(listed))} {command} {files} || [ $? = 5 ] || exit 1")
    changed = attrs.evolve(fault, module_path=copy / fault.module_path)
    return mutate_and_test([changed], shlex.join(["sh", "-c", "\n".join(script)]), TIMEOUT_S)


def execute(session: Path, copies: list[Path], reach: Reach) -> None:
    """Try each fault that has no result yet, one at a time in each copy."""
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def one(item: WorkItem) -> tuple[WorkItem, WorkResult]:
        copy = free.get()
        try:
            return item, attempt(item, copy, reach)
        finally:
            free.put(copy)

    with use_db(session) as db, ThreadPoolExecutor(len(copies)) as pool:
        for item, result in pool.map(one, list(db.pending_work_items)):
            db.set_result(item.job_id, result)
            print(result.test_outcome and result.test_outcome.value, item.mutations[0].module_path, flush=True)


def row(package: str, results: list[WorkResult]) -> str:
    """One row of the table: what ended by a limit of time is noticed, too."""
    noticed = [result for result in results if result.is_killed]
    late = sum(not re.search(r"\d (failed|error)", result.output or "") for result in noticed)
    return f"| {package} | {len(results)} | {len(noticed)} | {late} | {len(results) - len(noticed)} |"


def main() -> int:
    """Draw the faults, measure what reaches them, try them; print the table and every fault that went unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--faults", type=int, default=3, help="of each package")
    parser.add_argument("--workers", type=int, default=2, help="faults at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out", type=lambda text: Path(text).resolve(), default=Path("out/mutation").resolve())
    arguments = parser.parse_args()
    command = ["git", "rev-parse", arguments.commit]
    commit = run(command, check=True, capture_output=True, text=True).stdout.strip()
    place, session = arguments.out / commit[:12], arguments.out / f"seed-{arguments.seed}.sqlite"
    copies = [place / f"copy-{number}" for number in range(arguments.workers)]
    if not (place / "map" / "done").exists():
        unpack(commit, copies[0])
        if (status := measure(copies[0], place / "map", arguments.workers)) not in (0, 1):
            sys.exit(f"the tests were not run to their end (status {status}): nothing knows what reaches a line")
        (place / "map" / "done").touch()
    for copy in copies[1:]:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(copies[0], copy)  # with what pytest compiled
    for copy in copies:
        unpack(commit, copy)  # what was interrupted may have left a fault behind
    if not session.exists():
        draw(session, copies[0], arguments)
    elif arguments.again:
        forget(session)
    execute(session, copies, Reach(place / "map"))
    return report(session)


def draw(session: Path, copy: Path, arguments: argparse.Namespace) -> None:
    """Fill a session: the first fault of each package, then the second of each, so that a part samples all."""
    known = packages(copy)
    wanted = arguments.packages or list(known)
    scratch = session.with_suffix(".scratch")
    drawn = [sample(copy, known[name], arguments.faults, arguments.seed, scratch) for name in wanted]
    scratch.unlink()
    with use_db(session, WorkDB.Mode.create) as db:
        db.clear()
        db.add_work_items(filter(None, chain.from_iterable(zip_longest(*drawn))))


def forget(session: Path) -> None:
    """Keep the results of noticed faults alone."""
    with use_db(session) as db:
        items, done = db.work_items, db.completed_work_items
        db.clear()
        db.add_work_items(items)
        for item, result in done:
            if result.is_killed:
                db.set_result(item.job_id, result)


def report(session: Path) -> int:
    """Print the table and the unnoticed faults; 1 if less than nine tenths were noticed."""
    results: dict[str, list[WorkResult]] = defaultdict(list)
    with use_db(session) as db:
        for item, result in db.completed_work_items:
            parts = item.mutations[0].module_path.relative_to(ENGINE).parts
            results["/".join(parts[: 1 + (parts[0] == "wings")][: len(parts) - 1]) or "."].append(result)
    every = list(chain.from_iterable(results.values()))
    print("| package | faults | noticed | of these by a limit of time | unnoticed |\n| --- | --- | --- | --- | --- |")
    for package in sorted(results):
        print(row(package, results[package]))
    print(row("all", every))
    unnoticed = [result for result in every if result.test_outcome == TestOutcome.SURVIVED]
    low, high = wilson(len(every) - len(unnoticed), len(every))
    print(f"\n95 % interval (Wilson): {low / 10_000:.1f} to {high / 10_000:.1f} %")
    print(*(f"\n{result.diff}" for result in unnoticed), sep="\n")
    return int(len(unnoticed) * 10 > len(every))


if __name__ == "__main__":
    sys.exit(main())
