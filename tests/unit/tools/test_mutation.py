"""The tool that puts faults into packages finds each package and its tests; it would draw nothing from one that is gone."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def packages():
    """`TESTS` of the tool, which cannot be imported without Cosmic Ray."""
    tree = ast.parse((ROOT / "tools/mutation.py").read_text(encoding="utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    (value,) = [node.value for node in assigned if ast.unparse(node.targets[0]) == "TESTS"]
    return ast.literal_eval(value)


@pytest.mark.parametrize(("package", "patterns"), packages().items())
def test_a_package_and_its_tests_are_there(package, patterns):
    assert list((ROOT / "engine/specledger" / package).rglob("*.py"))
    assert [one for one in patterns.split() if not list((ROOT / "tests").glob(one))] == []
