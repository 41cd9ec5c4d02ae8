"""What the sample of faults is drawn from, and which tests try a fault, are told without Cosmic Ray."""

import pytest
from coverage import CoverageData

from tools.mutation_places import candidates, idle, lines
from tools.mutation_reach import Reach

SOURCE = """\
from typing import TYPE_CHECKING, overload
if TYPE_CHECKING:
    SIZE = 1 + 1
Name = int | str
LIMIT = 10
class Point(Base, frozen=True):
    x: int | None = None
    def __repr__(self):
        return "p" * 2
    @overload
    def scaled(self, by: int = 1): ...
    def scaled(self, by: int | float = 2) -> int | None:
        pairs = zip(self.x, [by], strict=True)
        if (
            by > 1
        ):
            return self.x * by
        return None
"""


def texts():
    """What stands in the ranges in which no fault is drawn."""
    rows = SOURCE.splitlines()
    for (first, start), (last, end) in idle(SOURCE):
        yield rows[first - 1][start:end] if first == last else rows[first - 1].strip()


def test_no_fault_is_drawn_where_it_changes_nothing():
    expected = ["TYPE_CHECKING", "SIZE = 1 + 1", "int | str", "True", "int | None", "def __repr__(self):", "overload"]
    expected += ["def scaled(self, by: int = 1): ...", "int", "int | float", "int | None", "True"]
    assert sorted(texts()) == sorted(expected)


def test_faults_are_drawn_where_something_is_computed_or_decided():
    assert [SOURCE.splitlines()[line - 1].strip() for line in candidates(SOURCE)] == [
        "LIMIT = 10",
        "def scaled(self, by: int | float = 2) -> int | None:",
        "by > 1",
        "return self.x * by",
    ]


@pytest.mark.parametrize(
    ("line", "of"),
    {
        "of a module": (5, None),
        "of a class": (7, None),
        "a default": (12, None),
        "a whole statement": (13, [13]),
        "the second line of one": (15, [14, 15]),
        "one within another": (17, [17]),
    }.values(),
)
def test_a_fault_is_reached_by_what_runs_its_statement(line, of):
    reached = lines(SOURCE, line)
    assert (None if reached is None else list(reached)) == of


@pytest.fixture
def reach(tmp_path):
    data = CoverageData(str(tmp_path / "reached"))
    contexts = {
        "tests/a.py::quick|run": {"/copy/engine/specledger/run/loop.py": [3, 4]},
        "tests/a.py::second|setup": {"/copy/engine/specledger/run/loop.py": [4]},
        "tests/b.py::long|run": {"/copy/engine/specledger/run/loop.py": [4, 5]},
        "tests/c.py::failed|run": {"/copy/engine/specledger/run/loop.py": [4]},
        "tests/d.py::another[a|b]|run": {"/copy/engine/specledger/wings/w/run/loop.py": [4]},
        "": {"/copy/engine/specledger/run/loop.py": [1, 2, 3, 4, 5]},
    }
    for context, reached in contexts.items():
        data.set_context(context)
        data.add_lines(reached)
    data.write()
    durations = ["0.1 passed tests/a.py::quick", "0.3 passed tests/a.py::second"]
    durations += ["2.0 passed tests/b.py::long", "0.0 failed tests/c.py::failed"]
    durations += ["0.0 passed tests/d.py::another[a|b]", "0.1 passed tests/unit/run/e.py::in_a_process"]
    durations += ["0.1 passed tests/wings/w/f.py::in_a_process", "0.1 passed tests/unit/running/g.py::other"]
    durations += [
        f"0.1 passed tests/h.py::limit[{name}]" for name in ("run.walk", "run", "run.walks", "wings.w.run.walk")
    ]
    (tmp_path / "durations").write_text("\n".join(durations), encoding="utf-8")
    return Reach(tmp_path)


QUICK, SECOND, LONG = "tests/a.py::quick", "tests/a.py::second", "tests/b.py::long"


def test_the_quickest_test_of_each_file_comes_first(reach):
    assert reach.tests("run/loop.py", [4]) == [QUICK, LONG, SECOND]
    assert reach.tests("run/loop.py", [3]) == [QUICK]
    assert reach.tests("run/loop.py", None) == [QUICK, LONG, SECOND]
    assert reach.tests("wings/w/run/loop.py", [4]) == ["tests/d.py::another[a|b]"]
    assert reach.tests("run/loop.py", [9]) == []


def test_tests_are_tried_in_stages_of_bounded_length(reach):
    package = ["tests/unit/run/e.py::in_a_process"]
    assert reach.stages("run/loop.py", [5], 100) == [[LONG], [QUICK, SECOND], package]
    assert reach.stages("run/loop.py", [4], 10) == [[QUICK], [LONG, SECOND], package]
    assert reach.stages("run/loop.py", [4], 1) == [[QUICK], [LONG], [SECOND], package]
    assert reach.stages("run/loop.py", None, 100) == [[QUICK, LONG, SECOND], package]
    assert reach.stages("wings/w/no.py", [4], 100) == [["tests/wings/w/f.py::in_a_process"]]
    assert reach.stages("running.py", [4], 100) == [["tests/unit/running/g.py::other"]]
    assert reach.stages("else.py", [4], 100) == []


def test_cases_that_have_the_name_of_a_module_try_its_faults(reach):
    package = "tests/unit/run/e.py::in_a_process"
    assert reach.stages("run/walk.py", None, 100) == [["tests/h.py::limit[run.walk]", package]]
    assert reach.stages("run/__init__.py", [4], 100) == [["tests/h.py::limit[run]", package]]
    assert reach.stages("wings/w/run/walk.py", None, 100)[-1][0] == "tests/h.py::limit[wings.w.run.walk]"
