"""Which tests reach which line of the engine, and how long each takes: measured once, without goldens and slow tests.

The same module is the plugin of pytest that writes durations down (`DURATIONS`), and runs only the tests of a list
(`TESTS`). Cosmic Ray is not needed here.
"""

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from coverage.numbits import register_sqlite_functions

# What pins results, or looks at the sources and at documents: a fault is to be noticed by what the engine does.
LEFT_OUT = ("golden", "architecture", "test_pinned_runs.py", "test_docs.py", "test_names.py")
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tools.mutation_reach", "-m", "not slow"]
SETTINGS = "[run]\nbranch = false\nsource_pkgs = specledger\n"


_open, _write, _close = os.open, os.write, os.close  # a test may replace how files are opened


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    """Write down how much processor time a test took, with its processes: other work beside it does not lengthen it."""
    failed, before = item.session.testsfailed, os.times()
    result = yield
    if durations := os.environ.get("DURATIONS"):
        outcome = "failed" if item.session.testsfailed > failed else "passed"
        spent = sum(os.times()[:4]) - sum(before[:4])
        file = _open(durations, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        _write(file, f"{spent:.4f} {outcome} {item.nodeid}\n".encode())
        _close(file)
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of the list, in the order in which they stand in their files."""
    if wanted := os.environ.get("TESTS"):
        listed = set(Path(wanted).read_text(encoding="utf-8").splitlines())
        items[:] = [item for item in items if item.nodeid in listed]


def measure(copy: Path, folder: Path, workers: int) -> int:
    """Run all tests of a copy once, and write what each one reaches to `folder/reached`, durations beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "coverage.ini"
    settings.write_text(f"{SETTINGS}data_file = {folder / 'reached'}\n", encoding="utf-8")
    paths = [path for path in (copy / "tests").rglob("test_*.py") if not any(part in LEFT_OUT for part in path.parts)]
    command = [sys.executable, *PYTEST, "-n", str(workers), "--dist", "loadfile", "--cov", f"--cov-config={settings}"]
    command += ["--cov-context=test", "--cov-report=", *(str(path.relative_to(copy)) for path in sorted(paths))]
    variables = environment(copy) | {"DURATIONS": str(folder / "durations")}
    return subprocess.run(command, cwd=copy, env=variables, check=False).returncode


def environment(copy: Path) -> dict[str, str]:
    """The variables with which tests of a copy find its engine and this plugin."""
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(copy / "engine"), str(copy)))}


class Reach:
    """What was measured: the tests that reach a line or a module, the quickest first."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "reached"
        self.seconds: dict[str, float] = {}
        for line in (folder / "durations").read_text(encoding="utf-8").splitlines():
            duration, outcome, nodeid = line.split(" ", 2)
            if outcome == "passed":
                self.seconds[nodeid] = float(duration)

    def tests(self, module: str, lines: Iterable[int] | None) -> list[str]:
        """The tests that reach one of these lines of a module, or any line of it.

        The quickest of each file come first, then the second of each: tests of one file notice the same.
        """
        query = "SELECT DISTINCT context FROM line_bits JOIN file ON file.id = file_id"
        query += " JOIN context ON context.id = context_id WHERE path LIKE ?"
        if lines is not None:
            query += f" AND ({' OR '.join(f'num_in_numbits({line:d}, numbits)' for line in lines)})"
        with closing(sqlite3.connect(self._data)) as connection:
            register_sqlite_functions(connection)
            contexts = [context for (context,) in connection.execute(query, (f"%/specledger/{module}",))]
        reaching = {context.rpartition("|")[0] for context in contexts} & self.seconds.keys()
        return self.quickest(reaching)

    def quickest(self, tests: Iterable[str]) -> list[str]:
        """Tests in the order in which they are tried."""
        ranks: Counter[str] = Counter()
        ordered = []
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            ranks[file := test.partition("::")[0]] += 1
            ordered.append((ranks[file], self.seconds[test], test))
        return [test for _, _, test in sorted(ordered)]

    def stages(self, module: str, lines: Iterable[int] | None, limit: float) -> list[list[str]]:
        """Lists of tests to be tried one after the other: a few, all that reach the lines, all that reach the module.

        The last is of the other tests of its package, since what a process that a test starts reaches is not measured,
        and of cases that have the name of the module, as those of tables of its limits and defaults: whoever reads
        such a value runs no line. Each list ends where its tests took `limit` seconds when they were measured, the
        first after a twentieth of that.
        """
        reaching = self.tests(module, lines)
        few = self._within(reaching, limit / 20)[:40]
        rest = self._within([test for test in reaching if test not in set(few)], limit)
        near = [] if lines is None else self.tests(module, None)
        package = [test for test in self.seconds if test.startswith(f"{home(module)}/")]
        named = [test for test in self.seconds if test.endswith(f"[{dotted(module)}]")]
        stages = [few, rest]
        for tests in (near, [*named, *self.quickest(package)]):
            tried = {test for stage in stages for test in stage}
            stages.append(self._within([test for test in tests if test not in tried], limit))
        return [stage for stage in stages if stage]

    def _within(self, tests: list[str], limit: float) -> list[str]:
        chosen: list[str] = []
        spent = 0.0
        for test in tests:
            spent += self.seconds[test]
            if spent > limit and chosen:
                break
            chosen.append(test)
        return chosen


def dotted(module: str) -> str:
    """The name of a module within the package, as tables of tests have it."""
    return ".".join(Path(module).with_suffix("").parts).removesuffix(".__init__")


def home(module: str) -> str:
    """The folder of the tests of a module's package or wing."""
    parts = Path(module).with_suffix("").parts
    return "/".join(("tests", *parts[:2]) if parts[0] == "wings" else ("tests", "unit", parts[0]))
