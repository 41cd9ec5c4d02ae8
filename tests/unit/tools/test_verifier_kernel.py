"""The second verifier's kernel: its forms are the schemas, its tokens refuse, its runs are made again byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostics
from specledger.gates import digests
from specledger.load import Bundle, load
from specledger.pipeline import execute
from specledger.worlds.check import check_world
from tools.verifier import kernel_schema
from tools.verifier.basis import Refuted
from tools.verifier.kernel import KernelDesk
from tools.verifier.kernel_forms import canonical, receive_bytes, receive_value, units_of
from tools.verifier.kernel_rule import Vocabulary, leading
from tools.verifier.kernel_tokens import Denied, Entries, SecretSigner, Tokens, Vault
from tools.verifier.made_again import compare
from tools.verifier.probe_offer import conviction
from tools.verifier.replay import Replay
from tools.verifier.sealed import Unsealable

ROOT = Path(__file__).resolve().parents[3]
AXION = ROOT / "schemas" / "axion"
SHORT = ("episodes=1", "horizon=3", "seed=4")


def resolved(schema: Any, file: str) -> Any:
    """A JSON Schema in the small tuples of the verifier."""
    if "$ref" in schema:
        stem, _, pointer = schema["$ref"].partition("#")
        stem = stem or file
        place = json.loads((AXION / stem).read_bytes())
        for key in pointer.split("/")[1:]:
            place = place[key]
        return resolved(place, stem)
    if "enum" in schema:
        return set(schema["enum"])
    kind = schema.get("type")
    if kind == "string":
        return ("text", schema.get("minLength", 0), schema["maxLength"], schema.get("pattern", "").strip("^$"))
    if kind in ("integer", "number"):
        return ({"integer": "whole"}.get(kind, kind), schema.get("minimum"), schema.get("maximum"))
    if kind == "array":
        return ("list", resolved(schema["items"], file), schema.get("minItems", 0), schema["maxItems"])
    if kind == "boolean":
        return ("flag",)
    if "properties" not in schema:
        return ("map",)
    assert schema["additionalProperties"] is False
    members = {name: ("any",) if one is True else resolved(one, file) for name, one in schema["properties"].items()}
    return ("object", members, frozenset(members) - frozenset(schema["required"]))


def plainly(form: Any) -> Any:
    """A form of the verifier with its pattern as text."""
    if isinstance(form, set):
        return form
    if form[0] == "text":
        return (*form[:3], "" if form[3] is None else form[3].pattern)
    if form[0] == "list":
        return ("list", plainly(form[1]), *form[2:])
    if form[0] == "object":
        return ("object", {name: plainly(one) for name, one in form[1].items()}, form[2])
    return form


def test_forms_are_the_schemas() -> None:
    file = "proposal.json"
    assert plainly(kernel_schema.PROPOSAL) == resolved(json.loads((AXION / file).read_bytes()), file)


FORMS = {
    "none": (True, False), "a float for an integer": (1.0, False), "true for an integer": (True, False),
    "below": (-1, False), "least": (0, True), "greatest": (255, True), "above": (256, False), "text": ("1", False),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_coordinate_is_an_integer_in_its_range(name: str) -> None:
    value, fits = FORMS[name]
    assert kernel_schema.fits_form(value, kernel_schema.COORDINATE) is fits


GIVEN = {
    "nothing": b"", "no JSON": b"{", "no UTF-8": b"\xff", "a number": b"7", "a list": b"[1]", "a fraction": b"[0.5]",
    "a key twice": b'{"a":1,"a":2}', "NaN": b"NaN", "half a character": b'["\\ud800"]', "beyond": b"9007199254740992",
    "beyond a double": b"1e999", "deep": b"[" * 65 + b"]" * 65, "spaces": b' { "b" : 1, "a" : -0 } ',
    "a mass": b'{"trace":{"counterfactuals":[{"prob_mass":0.30000000000000004}],"trace_commit":"x"}}',
    "no mass": b'{"trace":{"counterfactuals":[{"prob_mess":0.5}]}}', "no trace": b'{"trace":[1]}',
    "minus nothing": b'{"trace":{"causal_claims":[{"confidence":-1e-12}]}}', "digits": b"9" * 5000,
    "a plan": b'{"payload":{"plan":{"steps":[{"op":"move","args":{"dir":"N"}},{"op":1},{"op":"a","args":{"op":2}}]}}}',
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_a_submission_is_hashed_as_the_engine_hashes_it(name: str) -> None:
    mine, its = receive_bytes(GIVEN[name]), digests.receive(GIVEN[name])
    problem = None if its.problem is None else its.problem.code
    assert (mine.proposal_hash, mine.trace_hash, mine.form, mine.problem) == (
        its.proposal_hash, its.trace_hash, its.form, problem,
    )  # fmt: skip
    assert tuple(mine.actions) == its.actions


@pytest.mark.parametrize("value", [0.1, -0.0, 1e-9, 0.123456785, 2.0, 1 / 3, -7.25, 9007199254740991.0])
def test_a_fraction_is_written_as_the_engine_writes_it(value: float) -> None:
    assert canonical([value], ("list", ("number", None, None), 0, 9)) == canonical_bytes([value], lambda _: True)


@pytest.mark.parametrize("value", [0.5, 2**53, {"a": {1: 2}}, "\ud800", float("nan"), object()])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(Unsealable):
        canonical(value)


def test_masses_are_summed_as_integers() -> None:
    assert units_of([0.3, 0.3, 0.3]) == 90_000_000
    assert units_of([1, 0.333333335]) == 133_333_334


def told(steps: list[dict[str, Any]]) -> Any:
    """A submission whose plan has these steps; nothing else of it counts for tokens."""
    data = canonical_bytes({"payload": {"plan": {"steps": steps}}, "trace": {}})
    return receive_bytes(data)


NORTH, SOUTH = ({"op": "move", "args": {"dir": way}} for way in "NS")
SCOPE = {"allowed_ops": ["move"], "rate_limit": {"max_calls": 2, "per_ms": 100}, "expiry_ms": 150}
MOVE_N, MOVE_S = ({"op": "move", "dir": way} for way in "NS")
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "no token": ("no_token", {"token": None}),
    "altered": ("unknown", {"token": {"capability": "wait"}}),
    "signed by somebody": ("unknown", {"token": {"signature": "0" * 64}}),
    "too late": ("expired", {"at_ms": 250}),
    "too early": ("expired", {"at_ms": 99}),
    "another proposal": ("wrong_proposal", {"submission": told([NORTH, NORTH])}),
    "another scope": ("wrong_scope", {"granted": "f" * 64}),
    "another operation": ("wrong_op", {"action": {"op": "wait"}}),
    "another step": ("wrong_action", {"action": MOVE_S}),
    "no step": ("wrong_action", {"index": 3}),
    "again": ("spent", {"before": [(0, MOVE_N)]}),
    "too often": ("exhausted", {"index": 2, "before": [(0, MOVE_N), (1, MOVE_S)]}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_token_refuses_what_it_does_not_cover(name: str) -> None:
    reason, change = REFUSED[name]
    submission = told([NORTH, SOUTH, NORTH])
    tokens = Tokens(lambda state, action, inputs: (state, {}), SecretSigner(1))
    token = tokens.issue(submission, "move", SCOPE, 100)
    given = {"token": token, "index": 0, "submission": submission, "action": MOVE_N, "at_ms": 100}
    given |= {"granted": token["binding"]["scope_hash"], "state": {}, "inputs": {}}
    for index, action in change.get("before", ()):
        tokens.act(**{**given, "index": index, "action": action})
    changed = {name: value for name, value in change.items() if name != "before"}
    if isinstance(changed.get("token"), dict):
        changed["token"] = {**token, **changed["token"]}
    with pytest.raises(Denied) as denied:
        tokens.act(**{**given, **changed})
    assert denied.value.reason == reason


def test_the_rate_is_counted_over_all_tokens_of_a_capability() -> None:
    submission = told([NORTH])
    tokens = Tokens(lambda state, action, inputs: (state, {}), SecretSigner(1))
    times = []
    for at_ms in (100, 150, 190, 199, 200, 249, 250):
        token = tokens.issue(submission, "move", SCOPE, at_ms)
        scope = token["binding"]["scope_hash"]
        try:
            tokens.act(token, 0, submission, MOVE_N, scope, at_ms, {}, {})
            times.append((at_ms, ""))
        except Denied as denied:
            times.append((at_ms, denied.reason))
    assert times == [
        (100, ""), (150, ""), (190, "rate"), (199, "rate"), (200, ""), (249, "rate"), (250, ""),
    ]  # fmt: skip


def test_entries_keep_what_fits_and_say_that_something_was_cut() -> None:
    entry = Entries().seal("POLICY_DECISION", 0, receive_value(None), codes=["x" * 100] * 50, witnesses=[{}] * 129)
    notes = entry["kernel_decision"]["notes"]
    assert len(notes) <= 4000
    assert notes.endswith(" cut")
    assert len(entry["witnesses"]) == 128


def test_a_commitment_opens_once_it_was_made_and_for_nothing_else() -> None:
    vault = Vault(1)
    one, other = vault.snapshot("fork-0", "a" * 64, ["x"]), vault.snapshot("fork-0", "a" * 64, ["x"])
    assert one["commitment"] != other["commitment"]
    assert vault.opens(one)
    assert not vault.opens({**other, "state_digest": "b" * 64})
    assert not vault.opens({**other, "nonce_ref": "nonce-7"})


def test_a_text_that_is_of_two_forms_says_nothing() -> None:
    words = Vocabulary(["IF cf:<counterfactual> THEN <choice>", "IF <counterfactual> THEN <choice>"])
    assert words.say("cf-0", "wait") == "IF cf:cf-0 THEN wait"
    assert words.parse("IF a THEN b") == {"counterfactual": "a", "choice": "b"}
    assert Vocabulary(words.forms[:1]).parse("IF cf:a THEN b c") is None
    with pytest.raises(Refuted):
        Vocabulary(["IF <counterfactual> THEN <counterfactual>"])


def test_what_leads_to_the_last_node_is_found_through_circles() -> None:
    edges = [{"from": 1, "to": 2}, {"from": 2, "to": 1}, {"from": 9, "to": 2}, {"from": 2, "to": 0}]
    assert leading({"nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": edges}) == [1, 2]
    assert leading({"nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": edges[3:]}) == [2]


CONVICTED = {
    (0, 0, 0, 1, True): "INCONCLUSIVE", (0, 3, 0, 1, True): "PASS", (1, 3, 0, 1, True): "FAIL",
    (1, 3, 1, 1, True): "INCONCLUSIVE", (3, 3, 0, 1, False): "INCONCLUSIVE", (24, 24, 0, 16, False): "FAIL",
}  # fmt: skip


@pytest.mark.parametrize("asked", CONVICTED)
def test_a_miss_convicts_where_it_is_no_noise(asked: tuple[int, int, int, int, bool]) -> None:
    assert conviction(*asked) == CONVICTED[asked]


def bundle_of(agent: str) -> Bundle:
    """The panel's scenario with an agent."""
    (case,) = load("scenario/axion-panel", set=[*SHORT, f"agent={agent}"])
    return case


def desk_of(bundle: Bundle) -> Any:
    """The verifier's desk for a bundle."""
    return Replay(bundle.document(), None, KernelDesk).desk


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[bytes]]:
    """A run with every probe: its specs and the lines of its receipts."""
    place = execute(bundle_of("pseudo"), tmp_path_factory.mktemp("kernel") / "out").place
    lines = (place / "receipts.jsonl").read_bytes().splitlines()
    return json.loads((place / "specs.json").read_bytes()), lines


def test_a_run_under_a_kernel_is_made_again(ran: tuple[Any, list[bytes]]) -> None:
    specs, lines = ran
    assert compare(specs, None, lines, KernelDesk) == len(lines)


CHANGED = {
    "a note": ("audit", lambda body: body["kernel_decision"].update(notes="mode:simulated other")),
    "a signature": ("audit", lambda body: body["capability_tokens"][0].update(signature="ab" * 32)),
    "a verdict": ("probe", lambda body: body.update(verdict="INCONCLUSIVE")),
    "a paid score": ("probe", lambda body: body["evidence"].update(paid=0)),
    "a document": ("commit", lambda body: body["proposals"][0].update(document="{}")),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_receipt_is_refuted(name: str, ran: tuple[Any, list[bytes]]) -> None:
    specs, lines = ran
    kind, change = CHANGED[name]
    held = "capability_tokens" if name == "a signature" else None
    documents = [json.loads(line) for line in lines]
    told = next(one for one in documents if one["type"] == kind and (held is None or one["body"][held]))
    change(told["body"])
    with pytest.raises(Refuted) as refuted:
        compare(specs, None, [canonical_bytes(one) for one in documents], KernelDesk)
    assert refuted.value.code == "E_REPLAY"


@pytest.mark.parametrize("agent", ["honest", "memoriser"])
def test_what_a_procedure_leaves_unread_is_what_the_engine_finds(agent: str) -> None:
    bundle = bundle_of(agent)
    desk, plan = desk_of(bundle), compile_scenario(bundle)
    state = plan.start(0)
    found = plan.desk(plan).kernel.unused(state)  # type: ignore[misc, union-attr]
    mine = desk.parts.unread_entries()
    assert found
    assert set(found) == {name for name in desk.parts.variables.names(state) if name in mine}


def in_tuples(type_: Any) -> Any:
    """A type of the engine in the tuples of the verifier."""
    if type(type_).__name__ == "IntType":
        return ("int", type_.low, type_.high)
    if type(type_).__name__ == "ListType":
        return ("list", in_tuples(type_.item), type_.most)
    if type(type_).__name__ == "MapType":
        return ("map", in_tuples(type_.value))
    if type(type_).__name__ == "RecordType":
        return ("record", {name: in_tuples(one) for name, one in type_.fields.items()}, frozenset(type_.optional))
    return (type_.name,)


def test_variables_have_the_types_that_the_engine_proves() -> None:
    bundle = bundle_of("honest")
    world = check_world(bundle.specs[bundle.main.refs[("world",)]], bundle, Diagnostics())
    assert world is not None
    variables = desk_of(bundle).parts.variables
    for planned in world.namespace.variables:
        assert variables.type_of(planned.name) == in_tuples(planned.read.type), planned.name
