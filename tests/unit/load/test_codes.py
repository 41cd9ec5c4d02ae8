"""Every code of the package has a page that helps, and a test that triggers it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CODES = sorted(
    name
    for path in (ROOT / "engine" / "specledger" / "load").glob("*.py")
    for name in re.findall(r"^(E_[A-Z_]+) = code\(", path.read_text(encoding="utf-8"), re.MULTILINE)
)


def strings(path):
    return {
        node.value for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Constant)
    }


def test_every_code_is_triggered_by_a_test():
    used = set().union(
        *(strings(path) for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_codes.py")
    )
    assert set(CODES) - used == set()
