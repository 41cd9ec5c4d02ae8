"""Which diagnostic codes are given while a test runs, against what `docs/codes.yaml` says of the tests that it names.

A code is given where a finding or an exception with that code comes to be in this process, or where a program that a
test runs to its end prints it.
"""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from specledger.core import diagnostics
from specledger.load.doc_pages import FILE, read_pages
from specledger.oracles.recording import TapeError
from specledger.verify.checks import Broken
from tests.code_examples import codes_in

DOCS = Path(__file__).parents[1] / "docs"

CODED: tuple[Any, ...] = (TapeError, Broken)
"""Exceptions that carry a code; whatever else gives one demands that it is registered."""


@contextmanager
def given_codes() -> Iterator[set[str]]:
    """The codes that are given until the block ends."""
    given: set[str] = set()
    demand = diagnostics._demand_registered

    def demand_registered(name: str) -> None:
        demand(name)
        given.add(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diagnostics, "_demand_registered", demand_registered)
        for kind in CODED:
            patch.setattr(kind, "__init__", _noting(kind.__init__, given))
        patch.setattr(subprocess.Popen, "communicate", _printing(subprocess.Popen.communicate, given))
        yield given


def _noting(init: Any, given: set[str]) -> Any:
    def noting(error: Any, *values: Any, **names: Any) -> None:
        init(error, *values, **names)
        given.add(str(error.code))

    return noting


def _printing(communicate: Any, given: set[str]) -> Any:
    def printing(process: Any, *values: Any, **names: Any) -> Any:
        printed = communicate(process, *values, **names)
        for text in printed:
            given.update(codes_in(text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""))
        return printed

    return printing


@cache
def named_tests() -> Mapping[str, frozenset[str]]:
    """`node id of a test -> the codes that it is named for`."""
    named: dict[str, set[str]] = {}
    for code, page in read_pages(DOCS / FILE).items():
        if page.test:
            named.setdefault(page.test, set()).add(code)
    return {test: frozenset(codes) for test, codes in named.items()}


@contextmanager
def demanded(due: frozenset[str]) -> Iterator[None]:
    """Fail unless all these codes are given in the block."""
    with given_codes() as given:
        yield
    left = ", ".join(sorted(due - given))
    if left:
        pytest.fail(
            f"docs/{FILE} names this test for {left}; given: {', '.join(sorted(given)) or 'nothing'}", pytrace=False
        )
