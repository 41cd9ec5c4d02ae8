"""Suites about reasons: each passes as shipped, with mutants that are caught."""

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["axion-disjunctive", "axion-sequential"])
def test_a_suite_passes_as_it_is_shipped(suite, tmp_path):
    assert execute(load(f"specs/suite/{suite}.yaml")[0], tmp_path / "out").verdict == "PASS"
