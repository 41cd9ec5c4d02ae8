"""What arrives is hashed as the seed says, whatever it is, before anybody looks at what it means."""

import copy
import hashlib
import json
import math
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.binding import GENESIS
from specledger.core.canonical import MAX_DEPTH, NotCanonical, canonical_bytes
from specledger.core.digest import hash_json
from specledger.core.events import Severity
from specledger.wings.kernel.documents.digests import (
    MASS_UNIT,
    MAX_PROPOSAL,
    mass_units,
    proposal_hash,
    receive,
    scope_hash,
    trace_commit,
    witness,
    world_action,
)
from specledger.wings.kernel.documents.schemas import axion

PROPOSAL = json.loads((Path(__file__).resolve().parents[4] / "fixtures/axion/proposal.json").read_bytes())
FLOATS = axion().floats("proposal")


def plain(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_hashes_are_those_of_any_json_writer_and_sha_256():
    trace = {name: value for name, value in PROPOSAL["trace"].items() if name != "trace_commit"}
    found = receive(PROPOSAL)
    assert found.problem is None
    assert found.proposal_hash == proposal_hash(PROPOSAL) == plain(PROPOSAL)
    assert found.trace_hash == trace_commit(PROPOSAL["trace"]) == plain(trace) == PROPOSAL["trace"]["trace_commit"]
    scope = PROPOSAL["requested_capabilities"][0]["scope"]
    assert scope_hash(scope) == plain(scope)


def test_the_commitment_does_not_depend_on_what_stands_in_its_field():
    trace = {**PROPOSAL["trace"], "trace_commit": "f" * 64}
    assert trace_commit(trace) == PROPOSAL["trace"]["trace_commit"]
    assert receive({**PROPOSAL, "trace": trace}).trace_hash == PROPOSAL["trace"]["trace_commit"]
    assert proposal_hash({**PROPOSAL, "trace": trace}) != proposal_hash(PROPOSAL)


def test_bytes_and_values_are_hashed_alike_whatever_the_spelling():
    spelled = json.dumps(dict(reversed(PROPOSAL.items())), indent=3).replace("0.9", "0.90000").encode()
    assert receive(spelled).proposal_hash == receive(PROPOSAL).proposal_hash
    assert receive(spelled).form == canonical_bytes(PROPOSAL, FLOATS)
    assert receive(spelled).document == PROPOSAL


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, -0.0, 1e-9, 2**53, "é", "\ud800", math.nan]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["trace", "env", "é", "n"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def form_or_problem(document):
    try:
        return canonical_bytes(document, FLOATS)
    except NotCanonical as problem:
        return problem


@given(changes=st.dictionaries(st.sampled_from(["env", "trace", "payload", "more"]), JSON), inner=st.none() | JSON)
def test_hashing_member_by_member_is_hashing_the_whole(changes, inner):
    document = {**PROPOSAL, **changes}
    if inner is not None and isinstance(document["trace"], dict):
        document["trace"] = {**document["trace"], "nodes": inner}
    found, whole = receive(document), form_or_problem(document)
    if isinstance(whole, bytes):
        assert (found.form, found.problem) == (whole, None)
        assert found.proposal_hash == hashlib.sha256(whole).hexdigest()
    else:
        assert found.problem is not None
        assert (found.problem.code, found.problem.path) == (whole.code, whole.path)
        assert (found.form, found.trace_hash) == (None, GENESIS)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"counterfactuals": [{"prob_mass": 0.125}]},
        {"counterfactuals": [{"prob_mass": math.inf}]},
        {"nodes": [1.5]},
        {"nodes": 2**60},
        {"other": {1: 2}},
        {"other": {"\ud800": 1}},
        {1: 2},
    ],
    ids=str,
)
def test_a_commitment_is_the_hash_of_the_whole_trace_or_its_finding(change):
    trace = {**PROPOSAL["trace"], **change}
    rest = {name: value for name, value in trace.items() if name != "trace_commit"}
    assert _told(trace_commit, trace) == _told(lambda value: hash_json(value, axion().floats("trace")), rest)


def _told(function, value):
    try:
        return function(value)
    except NotCanonical as finding:
        return finding.code, str(finding)


@pytest.mark.parametrize("place", ["env", "trace"])
def test_members_are_nested_as_deeply_as_in_the_whole(place):
    for depth, fits in ((MAX_DEPTH - 2, True), (MAX_DEPTH - 1, False)):
        deep: Any = 0
        for _ in range(depth - (place == "trace")):
            deep = [deep]
        document = {"env": {"x": deep}, "trace": {}} if place == "env" else {"trace": {"x": {"y": deep}}}
        assert (receive(document).problem is None) == fits


RAW = {
    "no JSON": b"{",
    "NaN": b'{"a":NaN}',
    "no UTF-8": b"\xff\xfe",
    "a key twice": b'{"a":1,"a":1}',
    "a very deep document": b"[" * 100_000 + b"]" * 100_000,
    "a float where none may be": b'{"env":{"tick":6.0}}',
    "more than 2^53": b"9007199254740993",
    "ten megabytes": b'"' + b"x" * 10_485_760 + b'"',
}


@pytest.mark.parametrize("data", RAW.values(), ids=RAW)
def test_what_cannot_be_hashed_is_the_bytes_that_were_received(data):
    found = receive(data)
    assert found.proposal_hash == hashlib.sha256(data).hexdigest()
    assert found.trace_hash == GENESIS
    assert (found.form, found.actions) == (None, ())
    assert found.problem is not None
    assert found.problem.code.startswith("E_CANON_")


def test_what_is_too_large_is_not_parsed():
    found = receive(b"[" * (MAX_PROPOSAL + 1))
    assert found.problem is not None
    assert found.problem.code == "E_CANON_SIZE"


@pytest.mark.parametrize("nothing", [None, b""])
def test_nothing_at_all_is_64_zeros_twice(nothing):
    found = receive(nothing)
    assert (found.proposal_hash, found.trace_hash, found.document) == (GENESIS, GENESIS, None)
    assert found.problem is not None


CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE
VALUES = {
    "NaN": {"a": math.nan}, "infinity": [math.inf], "half a pair": "\ud800", "a set": {1, 2}, "an object": object(),
    "a number of a class": [Decimal(1)], "a huge integer": 10**5000, "bytes inside": {"a": b"x"}, "a key of a number": {1: 2},
    "a cycle": CYCLE, "very wide": [math.nan] * 300_000, "a long text": {"a": "x" * (MAX_PROPOSAL + 1)},
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_that_cannot_be_hashed_has_a_hash_all_the_same(value):
    found = receive(value)
    assert found.problem is not None
    assert len(found.proposal_hash) == 64
    assert found.proposal_hash == receive(value).proposal_hash
    assert found.proposal_hash not in {receive(other).proposal_hash for other in VALUES.values() if other is not value}


@pytest.mark.slow
def test_that_hash_is_the_same_in_every_process():
    program = (
        "import math; from specledger.wings.kernel.documents.digests import receive;"
        "print(receive({'a': {1, 'x'}, 'b': object(), 'c': [math.nan, '\\ud800']}).proposal_hash)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": "engine"}
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert runs[0] == runs[1] != ""


def test_the_steps_of_a_plan_are_kept_as_actions():
    found = receive(PROPOSAL)
    steps = PROPOSAL["payload"]["plan"]["steps"]
    assert found.actions == tuple(canonical_bytes(world_action(step)) for step in steps)
    assert found.actions[2] == b'{"object":"coin1","op":"pickup"}'


NO_STEPS: dict[str, tuple[Any, tuple[bytes, ...]]] = {
    "no plan": ({}, ()),
    "a plan of another type": ({"plan": [1]}, ()),
    "steps of another type": ({"plan": {"steps": "move"}}, ()),
    "steps that are none": ({"plan": {"steps": [1, {}, {"op": "move"}, {"op": "move", "args": []}]}}, (b"",) * 4),
    "an argument called op": ({"plan": {"steps": [{"op": "wait", "args": {"op": "move"}}]}}, (b"",)),
}


@pytest.mark.parametrize(("payload", "actions"), NO_STEPS.values(), ids=NO_STEPS)
def test_what_is_no_step_is_no_action(payload, actions):
    assert receive({**PROPOSAL, "payload": payload}).actions == actions


MASSES: dict[str, tuple[list[float], int]] = {
    "the floats that miss 0.9": ([0.3, 0.3, 0.3], 90_000_000),
    "one": ([1], MASS_UNIT),
    "one as a float": ([1.0], MASS_UNIT),
    "a little less": ([0.3, 0.3, 0.29999999], 89_999_999),
    "less than a unit": ([0.000000004], 0),
    "none": ([], 0),
    "more than one": ([0.75, 0.75], 150_000_000),
    "a negative one": ([-0.5, 1], 50_000_000),
}


@pytest.mark.parametrize(("masses", "units"), MASSES.values(), ids=MASSES)
def test_masses_are_summed_as_integers(masses, units):
    assert mass_units(masses) == units


@given(st.lists(st.floats(0, 1), max_size=20))
def test_a_mass_counts_what_its_canonical_form_says(masses):
    forms = [canonical_bytes(mass, lambda path: True).decode() for mass in masses]
    assert mass_units(masses) == int(sum(Decimal(form) for form in forms) * MASS_UNIT)


@pytest.mark.parametrize("data", [{"a": [1, 2]}, math.nan, {1, 2}, None, copy.deepcopy(PROPOSAL), CYCLE])
def test_a_witness_fits_its_schema_whatever_it_is_about(data):
    made = [witness("I0", "code", data), witness("x" * 500, "", data, Severity.WARN), witness("I1", "y" * 5000, data)]
    assert axion().explain("audit_entry#/properties/witnesses", made) == []
    assert (len(made[1]["invariant"]), len(made[2]["message"])) == (120, 2000)  # as much as the schema allows


def test_a_witness_binds_its_data():
    assert witness("I0", "code", {"a": 1})["data_hash"] == plain({"a": 1})
    assert witness("I0", "code", math.nan)["data_hash"] != witness("I0", "code", math.inf)["data_hash"]
