"""The number of each check stands in its name, and nowhere else."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from specledger.core.wing import wings
from specledger.verify import check_names
from specledger.verify.check_names import CheckName, all_names
from specledger.verify.checks import Broken, Verification

ENGINE = Path(__file__).resolve().parents[3] / "engine/specledger"
CORE = {name: value for name, value in vars(check_names).items() if isinstance(value, CheckName)}
SOURCES = {path: path.read_text(encoding="utf-8") for path in ENGINE.rglob("*.py")}


def test_every_name_of_the_core_is_used_where_its_check_is_made():
    text = "\n".join(SOURCES.values())
    assert [name for name in CORE if f"check_names.{name}" not in text] == []


def test_a_name_is_stated_once():
    text = "\n".join(SOURCES.values())
    stated = re.findall(r"CheckName\(\s*\"", text)
    assert len(stated) == len(all_names())
    assert len({*all_names()}) == len(CORE) + sum(len(wing.checks()) for wing in wings())


@pytest.mark.wing("discovery")
@pytest.mark.wing("laws")
def test_the_numbers_are_consecutive():
    assert sorted({name.number for name in all_names() if name.number is not None}) == list(range(1, 22))


def test_only_checks_of_different_kinds_share_a_number():
    shared = [name for name in CORE.values() if name.number in {10, 11, 20}]
    assert len(shared) == 6
    others = [name.number for name in CORE.values() if name.number is not None and name not in shared]
    assert sorted(others) == sorted({*others})


@pytest.mark.parametrize("wing", wings(), ids=lambda wing: wing.name)
def test_the_checks_of_a_wing_are_made_in_its_folder(wing):
    text = "\n".join(SOURCES[path] for path in SOURCES if path.is_relative_to(ENGINE / "wings" / wing.name))
    module = import_module(f"specledger.wings.{wing.name}")
    assert [name for name in wing.checks() if str(name) not in text] == [], module


def test_a_check_without_a_number_has_that_of_its_position():
    verification = Verification()
    verification.passed(CheckName("a"))
    verification.failed(CheckName("b", 7), Broken("E_HEAD", "why"))
    verification.not_made(CheckName("at {place}", 18).of("there"), "why")
    assert [(check.number, check.name) for check in verification.checks] == [(1, "a"), (7, "b"), (18, "at there")]
    assert {type(check.name) for check in verification.checks} == {str}
