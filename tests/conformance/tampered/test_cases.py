"""Every case of the conformance suite, by both verifiers; and the suite itself."""

import json
import re
from collections import Counter

import pytest

from specledger.core.diagnostics import codes
from tests.conformance.tampered.conftest import EXPECTED, FOLDERS
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tools.conformance import PLACE
from tools.tamper import CASES, contents, suite

pytestmark = pytest.mark.slow

NEEDS = {"replay", "specs", "tape", "time", "words"}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_engine_says_exactly_what_is_expected(said, name):
    expected, found = EXPECTED[name]["expect"], said(by_engine, name)[0]
    assert (found.exit, found.code) == (expected["exit"], expected["code"]), found
    if found.exit in (1, 3):
        assert found.level == expected["level"], found


@pytest.mark.parametrize("name", EXPECTED)
def test_the_independent_verifier_refuses_what_needs_no_replay(said, name):
    """What it cannot see it accepts, and says that it did not check it."""
    expected, found = EXPECTED[name]["expect"], said(by_tool, name)[0]
    if "needs" in expected:
        assert (found.exit, found.code) == (0, None), found
    else:
        assert found.exit == expected["exit"], found
        assert found.code == expected["code"] or (found.code, expected["code"]) in OTHER_CODES, found


OTHER_CODES = {("E_TAPE_EXTRA", "E_TAPE_FORM"), ("E_TAPE_FORM", "E_TAPE_QUESTION"), ("E_TAPE_FORM", "E_REPLAY")}
"""Codes of the independent verifier where it makes another check first."""


@pytest.mark.parametrize("name", [name for name, case in EXPECTED.items() if "needs" in case["expect"]])
def test_a_level_that_the_independent_verifier_cannot_give_is_never_reached(laid, name):
    assert by_tool(laid(name), "--level", "L4").exit == 3


def test_the_suite_is_what_the_generator_makes_of_fresh_bundles():
    """The same bytes on every machine; a change of evidence or of a fault is made by `python -m tools.tamper`."""
    made, kept = suite(), contents(PLACE)
    assert sorted(made) == sorted(kept)
    assert [name for name in made if made[name] != kept[name]] == []


def test_every_case_is_named_and_described():
    assert len({case.folder for case in CASES}) == len(CASES) == len(FOLDERS)
    for name, case in EXPECTED.items():
        expected = case["expect"]
        assert case["name"] == name
        assert name.startswith(f"{case['family']}-")
        assert name.endswith("_pass" if expected["exit"] == 0 else "_fail")
        assert re.fullmatch(r"[A-Z][^\n]{15,}\.", case["fault"])
        assert (expected["code"] is None) == (expected["exit"] == 0)
        assert expected["code"] is None or expected["code"] in codes()
        assert expected.keys() - {"needs"} == {"code", "exit", "level"}
        assert expected.get("needs", "replay") in NEEDS
        assert "needs" not in expected or expected["exit"] == 1


def test_no_two_cases_are_the_same():
    seen: Counter[object] = Counter()
    for name, folder in FOLDERS.items():
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        case = {key: value for key, value in EXPECTED[name].items() if key not in ("name", "family", "fault", "expect")}
        files["case.json"] = json.dumps(case, sort_keys=True).encode()
        seen[tuple(sorted(files.items()))] += 1
    assert max(seen.values()) == 1
