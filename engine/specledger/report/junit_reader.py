"""Reads the outcomes of a project's tests from the JUnit XML of a test runner.

The file is untrusted: a document type is refused, so that there are no entities, and size and depth are bounded.

Source: `pytest --junitxml`: `testcase` elements whose `classname` is the module's path with dots.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.report.codes import E_TESTS
from specledger.report.model import Outcome, combined

MAX_BYTES: Final = 67_108_864
"""Bytes of a file at most."""
MAX_DEPTH: Final = 16
"""Elements inside one another at most."""

_ENDS: Final = {"failure": Outcome.FAILED, "error": Outcome.CANNOT_TELL, "skipped": Outcome.UNTESTED}


class _Reader:
    """Collects the outcome of each case."""

    def __init__(self) -> None:
        self.found: dict[str, list[Outcome]] = {}
        self._depth = 0
        self._case: tuple[str, Outcome] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} elements lie inside one another")
        if tag == "testcase":
            module, name = attributes.get("classname", ""), attributes.get("name", "")
            self._case = (f"{module.replace('.', '/')}.py::{name.partition('[')[0]}", Outcome.PASSED)
        elif tag in _ENDS and self._case is not None:
            self._case = (self._case[0], combined([self._case[1], _ENDS[tag]]))

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testcase" and self._case is not None:
            self.found.setdefault(self._case[0], []).append(self._case[1])
            self._case = None

    def refuse(self, *_: Any) -> None:
        raise ValueError("it has a document type")


def read_tests(path: Path) -> dict[str, Outcome]:
    """The outcome of each test by its name: `tests/unit/gates/test_tokens.py::test_a`.

    A test of which some cases were skipped and the others passed has passed; one of which all were skipped is untested.

    Args:
        path: The file.

    Raises:
        Rejected: E_TESTS.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.StartDoctypeDeclHandler = reader.refuse
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES} bytes")
        parser.Parse(data, True)
    except OSError as error:
        raise Rejected([Diagnostic(E_TESTS, f"{path} cannot be read: {error.strerror or error}")]) from None
    except (ValueError, expat.ExpatError) as error:
        raise Rejected([Diagnostic(E_TESTS, f"{path}: {error}")]) from None
    return {name: _of_cases(outcomes) for name, outcomes in reader.found.items()}


def _of_cases(outcomes: list[Outcome]) -> Outcome:
    made = [outcome for outcome in outcomes if outcome is not Outcome.UNTESTED]
    return combined(made or outcomes)
