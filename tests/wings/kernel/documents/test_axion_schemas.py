"""The schemas say what their table says, and an independent validator reads them alike."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from referencing import Registry, Resource

from specledger.core.entries import Entries, Mode
from specledger.gates.documents import MOST_FINDINGS
from specledger.kinds import load
from specledger.report.profile_specs import stated_specs
from specledger.wings.kernel.documents.digests import receive
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.documents.signatures import sign_by_secret
from specledger.wings.kernel.documents.tokens import TokenActuator

ROOT = Path(__file__).resolve().parents[4]
PROPOSAL = json.loads((ROOT / "fixtures/axion/proposal.json").read_bytes())
TRACE, ENV = PROPOSAL["trace"], PROPOSAL["env"]
HEAT = {"capability": "heat", "scope": PROPOSAL["requested_capabilities"][0]["scope"], "justification": "it is cold"}
OPEN_PROPOSAL = PROPOSAL | {
    "env": {"degrees": 18, "rooms": [{"id": "hall"}]},
    "payload": {"intent": "heat", "plan": {"steps": [{"op": "heat", "args": {"by": 2}}]}},
    "requested_capabilities": [HEAT],
}
REQUEST = PROPOSAL["requested_capabilities"][0]
TOKEN = TokenActuator(lambda *_: (None, None), sign_by_secret(0)).issue(
    receive(PROPOSAL), "move", REQUEST["scope"], 300
)
WITNESS = {"invariant": "I0", "severity": "fatal", "message": "trace_commit", "data_hash": "0" * 64}
ENTRY = Entries(Mode.LIVE).seal("CAPABILITY_ISSUED", at_ms=300, witnesses=[WITNESS], tokens=[TOKEN])
SCHEMAS = {path.name: json.loads(path.read_bytes()) for path in (ROOT / "schemas/axion").glob("*.json")}
TOOL = {"id": "rope-1", "kind": "rope", "charges": 2}

VALID: dict[str, Any] = {
    "audit_entry": ENTRY,
    "capability_request": REQUEST,
    "capability_scope": REQUEST["scope"],
    "capability_token": TOKEN,
    "causal_claim": TRACE["causal_claims"][0],
    "common#/$defs/float01": 0.5,
    "common#/$defs/hmachex": "0123456789abcdef" * 4,
    "common#/$defs/sha256hex": "0123456789abcdef" * 4,
    "common#/$defs/smallfloat": -1e9,
    "common#/$defs/timestamp_ms": 0,
    "common#/$defs/uuid": "12345678-1234-5234-8234-123456789aBc",
    "counterfactual": TRACE["counterfactuals"][0],
    "fork_snapshot": TRACE["fork_snapshots"][0],
    "open_proposal": OPEN_PROPOSAL,
    "plan": PROPOSAL["payload"]["plan"],
    "proposal": PROPOSAL,
    "toy_entity": ENV["self"],
    "toy_env": ENV,
    "toy_hazard": ENV["hazards"][0],
    "toy_object": ENV["objects"][0],
    "toy_tool": TOOL,
    "trace": TRACE,
    "trace_node": TRACE["nodes"][0],
}

# The table, field by field: strings and arrays by their lengths, numbers by their values; `*` is any element.
RANGES: dict[str, dict[str, tuple[int, Any]]] = {
    "toy_entity": {
        "id": (1, 80), "x": (0, 255), "y": (0, 255), "energy": (0, 100_000), "inventory": (0, 32), "inventory.*": (1, 80)
    },
    "toy_object": {"id": (1, 80), "kind": (1, 80), "x": (0, 255), "y": (0, 255)},
    "toy_hazard": {"id": (1, 80), "kind": (1, 80), "x": (0, 255), "y": (0, 255), "severity": (1, 100)},
    "toy_tool": {"id": (1, 80), "kind": (1, 80), "charges": (0, 100_000)},
    "toy_env": {
        "tick": (0, 1_000_000), "grid.w": (2, 256), "grid.h": (2, 256), "grid.walls": (0, 65_536),
        "grid.walls.*.x": (0, 255), "grid.walls.*.y": (0, 255), "agents": (0, 64), "objects": (0, 256),
        "hazards": (0, 256), "tools": (0, 64), "rng_seed": (1, 64), "self.energy": (0, 100_000),
        "agents.*.energy": (0, 100_000), "objects.*.x": (0, 255), "hazards.*.severity": (1, 100),
    },
    "plan": {"steps": (1, 64)},
    "capability_scope": {
        "allowed_ops": (1, 16), "allowed_ops.*": (1, 80), "rate_limit.max_calls": (1, 1000),
        "rate_limit.per_ms": (1, 86_400_000), "expiry_ms": (1, 864_000_000),
    },
    "capability_request": {"justification": (1, 2000), "scope.expiry_ms": (1, 864_000_000)},
    "capability_token": {
        "capability": (0, None), "issued_at_ms": (0, None), "expires_at_ms": (0, None), "signature": (64, 2048),
        "scope.expiry_ms": (1, 864_000_000),
    },
    "trace_node": {"id": (0, 1_000_000), "summary": (1, 2000)},
    "fork_snapshot": {"fork_id": (1, 80), "focus_vars": (1, 64), "focus_vars.*": (1, 80), "nonce_ref": (1, 120)},
    "causal_claim": {
        "var": (1, 80), "expected_effect_on_choice": (1, 500), "confidence": (0, 1), "supporting_nodes": (1, 64),
        "supporting_nodes.*": (0, None),
    },
    "counterfactual": {
        "cf_id": (1, 80), "mutation.var": (1, 80), "predicted_outcome.choice": (1, 80),
        "predicted_outcome.score": (-1_000_000_000, 1_000_000_000), "prob_mass": (0, 1),
    },
    "trace": {
        "nodes": (1, 2048), "edges": (0, 4096), "edges.*.from": (0, None), "edges.*.to": (0, None),
        "fork_snapshots": (0, 64), "causal_claims": (0, 64), "counterfactuals": (1, 128), "nodes.*.id": (0, 1_000_000),
        "fork_snapshots.*.fork_id": (1, 80), "causal_claims.*.var": (1, 80), "counterfactuals.*.prob_mass": (0, 1),
    },
    "proposal": {
        "payload.intent": (1, 2000), "payload.constraints": (0, 64), "payload.constraints.*": (1, 500),
        "requested_capabilities": (0, 16), "env.tick": (0, 1_000_000), "payload.plan.steps": (1, 64),
        "trace.nodes": (1, 2048), "requested_capabilities.*.justification": (1, 2000),
    },
    "open_proposal": {
        "payload.intent": (1, 2000), "payload.plan.steps": (1, 64), "payload.plan.steps.*.op": (1, 80),
        "requested_capabilities": (0, 16), "requested_capabilities.*.capability": (1, 80),
        "requested_capabilities.*.justification": (1, 2000), "trace.nodes": (1, 2048),
    },
    "audit_entry": {
        "timestamp_ms": (0, None), "kernel_decision.notes": (0, 4000), "witnesses": (0, 128),
        "witnesses.*.invariant": (1, 120), "witnesses.*.message": (1, 2000), "capability_tokens": (0, 16),
        "capability_tokens.*.signature": (64, 2048),
    },
    "common#/$defs/timestamp_ms": {"": (0, None)},
    "common#/$defs/float01": {"": (0, 1)},
    "common#/$defs/smallfloat": {"": (-1_000_000_000, 1_000_000_000)},
    "common#/$defs/sha256hex": {"": (64, 64)},
    "common#/$defs/hmachex": {"": (64, 64)},
}  # fmt: skip
WORDS = {
    "plan": {"steps.*.op": "move wait pickup drop signal use_tool noop"},
    "capability_request": {"capability": "move pickup drop signal use_tool actuate_physical_stub"},
    "trace_node": {"kind": "assumption inference simulation evaluation observation"},
    "causal_claim": {"direction": "increase decrease threshold categorical"},
    "trace": {"trace_version": "0.2", "edges.*.type": "supports assumes derives simulates evaluates"},
    "proposal": {"proposal_type": "action self_modify delegate capability_request"},
    "audit_entry": {
        "event": "POLICY_DECISION CAPABILITY_ISSUED CAPABILITY_DENIED FATAL_HANG INTERNAL_ERROR",
        "kernel_decision.verdict": "allow deny allow_with_constraints", "witnesses.*.severity": "fatal warn",
    },
}  # fmt: skip
DIGESTS = {
    "capability_token": ["binding.proposal_hash", "binding.trace_hash", "binding.scope_hash"],
    "fork_snapshot": ["state_digest", "commitment"],
    "counterfactual": ["base_state_digest"],
    "trace": ["trace_commit"],
    "audit_entry": ["prev_entry_hash", "entry_hash", "proposal_hash", "trace_hash", "witnesses.*.data_hash"],
    "common#/$defs/sha256hex": [""],
    "common#/$defs/hmachex": [""],
}
UUIDS = {
    "capability_token": ["token_id", "revocation_id"],
    "proposal": ["proposal_id"],
    "audit_entry": ["entry_id"],
    "common#/$defs/uuid": [""],
}
TRUTHS = {"toy_entity": ["status.alive", "status.stunned"]}
OPTIONAL = {("proposal", "payload", "constraints")}

NOT_DIGESTS = ["", "0" * 63, "0" * 65, "0" * 63 + "g", "A" * 64, "0" * 64 + "\n", " " + "0" * 63, 0, None, ["0" * 64]]
NOT_UUIDS = [
    "12345678-1234-6234-8234-123456789abc", "12345678-1234-0234-8234-123456789abc", "12345678-1234-5234-7234-123456789abc",
    "12345678-1234-5234-c234-123456789abc", "12345678123452348234123456789abc", "{12345678-1234-5234-8234-123456789abc}",
    "12345678-1234-5234-8234-123456789abc\n", "12345678-1234-5234-8234-123456789abg", "", None, 5,
]  # fmt: skip
UUIDS_TOO = [
    "12345678-1234-1234-9234-123456789abc",
    "ABCDEFAB-1234-4234-B234-ABCDEFABCDEF",
    "00000000-0000-3000-a000-000000000000",
]


def independent(name):
    """The validator of `jsonschema` for a schema of the folder; a tuple is written as an array, too."""
    stem, _, pointer = name.partition("#")
    schema = SCHEMAS[f"{stem}.json"]
    registry = Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in SCHEMAS.values())
    arrays = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "array", lambda _, value: isinstance(value, list | tuple)
    )
    kind = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=arrays)
    return kind({"$ref": f"{schema['$id']}#{pointer}"} if pointer else schema, registry=registry)


def judge(name, document, *, large=False):
    """Whether a document is valid, on which both validators must agree; the slow one takes seconds for 65,536 walls."""
    accepted = axion().check(name)(document)
    findings = axion().explain(name, document)
    assert accepted == (not findings), findings
    if large:
        return accepted
    places = {error.json_path for error in INDEPENDENT[name].iter_errors(document)}
    assert (
        places >= {place for _, place in findings}
        if len(findings) == MOST_FINDINGS
        else places == {place for _, place in findings}
    )
    return accepted


INDEPENDENT = {name: independent(name) for name in VALID}


def replaced(document, path, value):
    """A copy of a document with another value at a path; the value may be a function of the old one."""
    if not path:
        return value(document) if callable(value) else value
    key, _, rest = path.partition(".")
    found = copy.copy(document)
    index = 0 if key == "*" else key
    found[index] = replaced(document[index], rest, value)
    return found


def sized(old, size):
    """A value of the old one's type and of some size; its elements are like the first."""
    if isinstance(old, str):
        return (old or "0")[:1] * size
    if isinstance(old, list):
        return [old[0]] * size
    return size


def filled(name):
    """The valid document, with something in every array."""
    document = VALID[name]
    if name == "toy_entity":
        document = {**document, "inventory": ["coin-0"]}
    return {**document, "tools": [TOOL]} if name == "toy_env" else document


def rows(table):
    return [pytest.param(name, path, id=f"{name} {path}") for name, paths in table.items() for path in paths]


def test_there_are_seventeen_schemas_with_their_names_and_addresses():
    files = {path.name: json.loads(path.read_bytes()) for path in (ROOT / "schemas/axion").iterdir()}
    assert len(files.keys() - {"open_proposal.json"}) == 17
    assert sorted(path.removesuffix(".json") for path in files) == sorted({name.partition("#")[0] for name in VALID})
    for name, schema in files.items():
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["$id"] == f"https://axio.local/schema/{name}"
    assert "left out" in files["trace.json"]["properties"]["trace_commit"]["description"]


@pytest.mark.parametrize("name", VALID)
def test_a_valid_document_is_accepted(name):
    assert judge(name, VALID[name])
    assert judge(name, filled(name))


@pytest.mark.parametrize(("name", "path"), rows(RANGES))
def test_ranges_are_those_of_the_table(name, path):
    low, high = RANGES[name][path]
    document = filled(name)

    def with_size(size):
        return replaced(document, path, lambda old: sized(old, size))

    large = high == 65_536
    assert judge(name, with_size(low))
    if high is not None or isinstance(at(document, path), int):
        assert judge(name, with_size(10**15 if high is None else high), large=large)
    if low or not isinstance(at(document, path), str | list):
        assert not judge(name, with_size(low - 1))
    if high is not None:
        assert not judge(name, with_size(high + 1), large=large)


def at(document, path):
    for key in path.split(".") if path else ():
        document = document[0 if key == "*" else key]
    return document


@pytest.mark.parametrize(("name", "path"), rows(WORDS))
def test_words_are_those_of_the_table(name, path):
    for word in WORDS[name][path].split():
        assert judge(name, replaced(VALID[name], path, word))
    for other in ("", "other", WORDS[name][path].split()[0] + " ", None, 0, 0.2):
        assert not judge(name, replaced(VALID[name], path, other))


@pytest.mark.parametrize(("name", "path"), rows(DIGESTS))
def test_digests_are_64_lower_case_hexadecimal_digits(name, path):
    assert judge(name, replaced(VALID[name], path, "0123456789abcdef" * 4))
    assert [bad for bad in NOT_DIGESTS if judge(name, replaced(VALID[name], path, bad))] == []


@pytest.mark.parametrize(("name", "path"), rows(UUIDS))
def test_uuids_are_those_of_rfc_4122(name, path):
    assert all(judge(name, replaced(VALID[name], path, good)) for good in UUIDS_TOO)
    assert [bad for bad in NOT_UUIDS if judge(name, replaced(VALID[name], path, bad))] == []


@pytest.mark.parametrize(("name", "path"), rows(TRUTHS))
def test_truths_are_booleans(name, path):
    assert all(judge(name, replaced(VALID[name], path, good)) for good in (True, False))
    assert not any(judge(name, replaced(VALID[name], path, bad)) for bad in (0, 1, "true", None))


def objects(document, path=()):
    """Each object inside a document that is not open, by its path."""
    if isinstance(document, dict):
        if path[-1:] not in [("props",), ("args",), ("payload",), ("new_value",)] or path == ("payload",):
            yield path, document
            for key, value in document.items():
                yield from objects(value, (*path, key))
    elif isinstance(document, list) and document:
        yield from objects(document[0], (*path, "*"))


@pytest.mark.parametrize("name", [name for name in VALID if "#" not in name and name != "trace_node"])
def test_every_object_is_closed_and_every_field_required(name):
    seen = 0
    for path, found in objects(filled(name)):
        place = ".".join(path)
        if name == "open_proposal" and path[:1] == ("env",):
            continue
        assert not judge(name, replaced(filled(name), place, {**found, "more": 1})), place
        for key in found:
            without = {other: value for other, value in found.items() if other != key}
            assert judge(name, replaced(filled(name), place, without)) == ((name, *path, key) in OPTIONAL), (place, key)
            seen += 1
    assert seen >= 2


@pytest.mark.parametrize("key", ["id", "kind", "summary", "payload", "more"])
def test_a_node_is_closed_and_its_fields_required(key):
    node = dict(VALID["trace_node"])
    if key == "more":
        node[key] = 1
    else:
        del node[key]
    assert not judge("trace_node", node)


# Whatever is done to a valid document, both validators say the same of it.

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 300),
    st.sampled_from([-1e9, 1e9, -1e9 - 1, 1e9 + 1, 2**53 - 1, -(2**53) + 1, 1e-9, 1.0, 0.0, -0.0, 255.0, 255.5]),
    st.text(max_size=3),
    st.sampled_from(
        ["0" * 64, "0" * 64 + "\n", "é" * 80, "\U0001f600" * 80, "\U0001f600" * 81, "x" * 501, NOT_UUIDS[6]]
    ),
    st.sampled_from(NOT_DIGESTS[:7]),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.sampled_from(["id", "x", "op", "é"]), st.integers(), max_size=2),
)


def places(document, path=()):
    yield path
    if isinstance(document, dict):
        for key in sorted(document):
            yield from places(document[key], (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*path, index))


def mutate(data, document):
    """Change a document at one place: another value, a key more or less, an element twice, two values swapped."""
    *within, last = data.draw(st.sampled_from([path for path in places(document) if path]))
    holder = document
    for key in within:
        holder = holder[key]
    deed = data.draw(st.sampled_from(["put", "put", "drop", "more", "other"]))
    if deed == "put":
        holder[last] = data.draw(VALUES)
    elif deed == "drop":
        del holder[last]
    elif deed == "more" and isinstance(holder, dict):
        holder[data.draw(st.sampled_from(["more", "id", "x", ""]))] = data.draw(VALUES)
    elif deed == "more":
        holder.extend([holder[last]] * data.draw(st.sampled_from([1, 16, 33, 64])))
    else:
        inner = document
        for key in data.draw(st.sampled_from(sorted(places(document), key=repr))):
            inner = inner[key]
        holder[last] = copy.deepcopy(inner)


@pytest.mark.medium
@pytest.mark.parametrize("name", [name for name in VALID if isinstance(VALID[name], dict)])
@given(data=st.data())
def test_both_validators_agree_on_mutated_documents(name, data):
    document = copy.deepcopy(filled(name))
    for _ in range(data.draw(st.integers(1, 3))):
        if any(path for path in places(document)):
            mutate(data, document)
    judge(name, document)


@pytest.mark.parametrize("name", [name for name in VALID if "#" in name])
@given(value=VALUES)
def test_both_validators_agree_on_values(name, value):
    judge(name, value)


RANGE = ("minimum", "maximum", "maxItems")
UNBOUND = {"string", "bool", "int"}


def ranges_of_schema(node, place=""):
    """The range of each integer and list of a schema that has one, by its place."""
    node = SCHEMAS[node["$ref"]] if "$ref" in node else node
    own = {key: node[key] for key in RANGE if key in node and node["type"] in ("integer", "array")}
    inner = {f".{name}": each for name, each in node.get("properties", {}).items()} | (
        {"[]": node["items"]} if "items" in node else {}
    )
    below = [ranges_of_schema(each, place + name) for name, each in inner.items()]
    return {**({place: own} if own else {}), **{at: found for each in below for at, found in each.items()}}


def ranges_of_type(node, types, place=""):
    """The range of each integer and list of a type of a world that has one, by its place."""
    node = types[node] if isinstance(node, str) and node not in UNBOUND else node
    if isinstance(node, str):
        return {}
    own = {key: node[key] for key in RANGE if node.get(key) is not None}
    inner = {f".{name}": each for name, each in (node.get("properties") or {}).items()} | (
        {"[]": node["items"]} if node.get("items") is not None else {}
    )
    below = [ranges_of_type(each, types, place + name) for name, each in inner.items()]
    return {**({place: own} if own else {}), **{at: found for each in below for at, found in each.items()}}


def test_the_types_of_the_world_have_the_ranges_of_the_schemas():
    world = stated_specs(load("axion-hazard", kind="scenario")[0])["world/toy-gridworld"]
    state = {name: ranges_of_type(node, world["types"], f".{name}") for name, node in world["state"].items()}
    ranges = {at: found for name in ENV for at, found in state[name].items()}
    assert ranges == ranges_of_schema(SCHEMAS["toy_env.json"])
    assert state["carried"][".carried"] == ranges[".self.inventory"]
