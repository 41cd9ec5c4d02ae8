"""The core works without a wing: its tests and `spec run hazard`, in a copy of the tree that lacks the wing's folder."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from specledger.core.wing import OF_KINDS, wing_of, wings

ROOT = Path(__file__).resolve().parents[2]
WINGS = ROOT / "engine/specledger/wings"
NAMES = sorted(path.parent.name for path in WINGS.glob("*/__init__.py"))
COPIED = ("engine", "specs", "schemas", "fixtures", "docs", "examples", "tests", "tools", "pyproject.toml")
TESTED = ("core", "expr", "lang", "load", "worlds", "agents", "gates", "run", "evidence")
"""The folders of tests that are about the core alone, below `tests/unit`."""
PUBLIC = {(f"engine/specledger/{name}.py", "bridges") for name in ("gym", "inspect")}
"""The modules that give what a wing has a public name, by the wing that they import it from."""


def uses(wing):
    """The wings that a wing imports."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (WINGS / wing).rglob("*.py"))
    return set(re.findall(r"^\s*(?:from|import) specledger\.wings\.(\w+)", text, re.MULTILINE)) - {wing}


def without(wing):
    """The names of a wing and of all wings that use it."""
    absent = {wing}
    while more := {name for name in NAMES if uses(name) & absent} - absent:
        absent |= more
    return absent


@pytest.fixture(scope="module", params=NAMES)
def copy(request, tmp_path_factory):
    """A copy of the tree without a wing and those that use it: (folder, names of these wings)."""
    folder = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    absent = without(request.param)
    for name in absent:
        for place in ("engine/specledger/wings", "tests/wings"):
            shutil.rmtree(folder / place / name, ignore_errors=True)
    return folder, absent


def python(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder / "engine")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_a_scenario_runs_and_is_verified_without_a_wing(copy):
    folder, _ = copy
    where = "import specledger; print(specledger.__file__)"
    assert python(folder, "-c", where)[1].startswith(str(folder))
    code, output = python(folder, "-m", "specledger", "run", "hazard", "--out", "out")
    assert code == 0, output
    code, output = python(folder, "-m", "specledger", "verify", "out")
    assert code == 0, output
    assert "replay gives the same bytes" in output


@pytest.mark.slow
def test_a_spec_of_a_missing_wing_says_which_to_install(copy):
    folder, absent = copy
    for kind in sorted(point.name for point in entry_points(group=OF_KINDS)):
        name = wing_of(kind)
        if name in absent:
            path = next((folder / "specs" / kind).glob("*.yaml"))
            code, output = python(folder, "-m", "specledger", "check", str(path))
            assert code != 0
            assert f"E_WING]: a spec of the kind `{kind}` needs the wing `{name}`, which is not installed" in output


@pytest.mark.slow
def test_the_tests_of_the_core_pass_without_a_wing(copy):
    folder, _ = copy
    tests = [f"tests/unit/{name}" for name in TESTED]
    plain = ("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not slow and not medium", *tests)
    code, output = python(folder, *plain)
    assert code == 0, output[-5000:]


def test_every_kind_of_a_wing_is_declared_with_it():
    declared = {point.name: wing_of(point.name) for point in entry_points(group=OF_KINDS)}
    assert declared == {kind.name: wing.name for wing in wings() if wing.name in NAMES for kind in wing.kinds()}


def test_the_table_of_wings_has_their_sizes():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    stated = {
        name: int(lines.replace(",", ""))
        for name, lines in re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", text, re.MULTILINE)
    }
    sizes = {name: sum(len(path.read_bytes().splitlines()) for path in (WINGS / name).rglob("*.py")) for name in NAMES}
    assert stated.keys() == sizes.keys()
    assert {name: size for name, size in sizes.items() if abs(stated[name] - size) > size // 4} == {}


def test_nothing_outside_names_a_module_of_a_wing(sources):
    named = {
        (path, wing)
        for path, text in sources.items()
        if "/wings/" not in path
        for wing in re.findall(r"specledger[./]wings[./](\w+)", text)
    }
    assert named == PUBLIC
