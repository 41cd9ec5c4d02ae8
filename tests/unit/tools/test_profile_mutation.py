"""Which constants of a spec are changed, and to what; and a few of them against the rows that state them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.profile_mutation import REASONS, Witness, constants, line_of, noticed_by, other, reason_for, witnesses

ROOT = Path(__file__).parents[3]

SPEC = """
spec: suite/v1
doc: 3 of 4
constants: {MOST: 200, SHARE: {qfixed: 0.05}, ON: true}
checks:
  - {id: at-1, require: "f.value >= 7 && x1 != 'v2'", message: after 9}
  - require: >-
      size(a) == 0 ||
      a[12] < 1.50
map: {drawing: "#1#", name: n 1}
"""


def test_numbers_and_truth_values_are_changed_and_words_are_not():
    found = constants(SPEC)
    assert [one.old for one in found] == ["200", "0.05", "true", "7", "0", "12", "1.50"]
    assert all(SPEC[one.start : one.end] == one.old for one in found)
    assert line_of(SPEC, found[-1]) == "a[12] < 1.50"


@pytest.mark.parametrize(
    ("said", "changed"),
    [("0", "1"), ("1", "2"), ("200", "400"), ("0.05", "0.10"), ("0.0", "1.0"), ("true", "false"), ("false", "true")],
)
def test_a_changed_constant_is_another_one(said, changed):
    assert other(said) == changed


def test_a_reason_is_of_a_file_and_a_line(monkeypatch, tmp_path):
    place = tmp_path / "reasons.yaml"
    place.write_text("- {file: 'specs/a/*', line: 'most: 3', reason: a bound}\n", encoding="utf-8")
    monkeypatch.setattr("tools.profile_mutation.REASONS", place)
    assert reason_for("specs/a/b.yaml", "{least: 1, most: 3}") == "a bound"
    assert reason_for("specs/b/b.yaml", "{least: 1, most: 3}") == ""
    assert reason_for("specs/a/b.yaml", "{least: 1, most: 4}") == ""


def test_the_shipped_reasons_are_of_lines_that_are_there():
    import yaml

    for one in yaml.safe_load(REASONS.read_text(encoding="utf-8")) or []:
        texts = [path.read_text(encoding="utf-8") for path in ROOT.glob(one["file"])]
        assert any(one["line"] in text for text in texts), one
        assert one["reason"]


def test_goldens_are_no_witness():
    class Silent:
        def __init__(self):
            self.commands = []

        def run(self, *words, limit=None):
            self.commands.append(words[-1])
            return 0, ""

        def reads(self):
            return frozenset({"specs/a.yaml"})

    copy: Any
    copy, row = Silent(), {"checks": ["tests/golden/test_goldens.py::test_a", "tests/unit/test_b.py::test_b"]}
    assert [one.name for one in witnesses(copy, [("profile", row)])] == ["tests/unit/test_b.py"]
    assert copy.commands == ["tests/unit/test_b.py::test_b"]


def test_tests_that_run_out_of_time_are_told_apart_from_tests_that_fail():
    class Late:
        limit = 300

        def run(self, *words, limit):
            self.allowed = limit
            return 124, ""

    copy: Any
    copy, slow = Late(), Witness("a", ("tests/a.py",), {}, frozenset({"specs/a.yaml"}), 200.0)
    assert noticed_by(copy, "specs/a.yaml", [slow]) == "a limit of time"
    assert copy.allowed == 800


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a copy is made of a commit")
def test_each_figure_of_a_few_rows_is_noticed_by_one_of_them():
    words = [
        "--controls",
        "timeout",
        "rate-limit",
        "expiry",
        "--files",
        "specs/governor/axion-kernel.yaml",
        "--sample",
        "4",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tools.profile_mutation", "--profiles", "toy-pseudo-axion", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": FAILED tests/") == 4, done.stdout  # which test is first depends on how long each takes
