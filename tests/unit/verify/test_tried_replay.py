"""A suite tries whether a run can be made again: whether its chain is whole, and whether the same receipts come."""

import shutil
from typing import Any

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.pipeline.checking import load_runs
from specledger.verify.run import try_replay
from tests.unit.verify.conftest import SCENARIO


@pytest.fixture
def folder(bundles, tmp_path):
    return shutil.copytree(bundles["small"], tmp_path / "small")


def tried(folder: Any) -> dict[str, Any]:
    (bundle,) = load_runs([str(SCENARIO)])
    return try_replay(folder, bundle.kinds, compile_scenario)


def test_an_untouched_run_is_whole_and_the_same_again(folder):
    result = tried(folder)
    count = len((folder / "receipts.jsonl").read_bytes().splitlines())
    assert result == {"intact": True, "exact": True, "compared": count, "noticed": True}


def test_an_altered_receipt_breaks_the_chain_and_is_another_one(folder):
    receipts = folder / "receipts.jsonl"
    receipts.write_bytes(receipts.read_bytes().replace(b'"episode":0', b'"episode":1', 1))
    result = tried(folder)
    assert (result["intact"], result["exact"]) == (False, False)
