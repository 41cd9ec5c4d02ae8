"""What lies in the folder of a bundle, and how a bundle of an agent from outside is made."""

import json

import pytest

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify


def files_of(place):
    """The bytes of every file in a folder by its path."""
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def receipts_of(place):
    """The receipts of a bundle."""
    return [json.loads(line) for line in (place / "receipts.jsonl").read_bytes().splitlines()]


def bodies_of(place, type_):
    """The bodies of the receipts of a type."""
    return [one["body"] for one in receipts_of(place) if one["type"] == type_]


def run_outside(folder, scenario, *sets):
    """Run the scenario of a file in a folder, whose agent from outside is trusted; its evidence verifies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        finished = execute(load(scenario, set=list(sets))[0], folder / "out", RunOptions(trusted=True))
    assert verify(finished.place).verdict == "PASS"
    return finished
