"""The second verifier's laws: what the engine says of a law is accepted, and whatever else is said is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from specledger.compile.law import compile_law
from specledger.laws.document import bundle_of
from specledger.laws.trial import run_law
from specledger.load import load
from tests.unit.tools.tampered import needing
from tools.conformance import PLACE
from tools.verifier.basis import Open, Refuted, tagged, write
from tools.verifier.certificate import check_certificate
from tools.verifier.certificate_claim import necklaces
from tools.verifier.law_ask import AskedLaw
from tools.verifier.law_cases import law_cases
from tools.verifier.law_check import law_of, replay_law
from tools.verifier.law_try import Trial

ROOT = Path(__file__).resolve().parents[3]
Receipts = list[tuple[str, dict[str, Any]]]

SMALL: dict[str, Any] = {"cases": 52, "mutations": 20, "quantifiers": {"T": 4}, "forbidden": "something"}
ONES: dict[str, Any] = {"observables": [{"name": "N", "expr": "count('1')"}]}
BITS: dict[str, Any] = {
    "observables": [{"name": "N", "expr": "count('1')"}, {"name": "L", "expr": "grid_length"}],
    "template": "invariant",
}
MOVERS: dict[str, Any] = {
    "observables": [
        {"name": "X", "expr": "count('X')"},
        {"name": "R", "expr": "count('>') + X"},
        {"name": "In", "expr": "incoming_collisions"},
    ],
    "template": "invariant",
}
BRIDGE = "In(t) > 0 => X(t+1) == In(t)"

ACCEPTED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "current": ("kinetic_grid_v1", {}, {**MOVERS, "claim": "R(t) == R(0)", "starts": {}}, "PROVED"),
    "conserved from some starts": ("elementary_rule", {"rule": 184}, {**BITS, "claim": "N(t) == N(0)"}, "PROVED"),
    "potential": (
        "elementary_rule",
        {"rule": 128},
        {**ONES, "template": "monotone", "claim": "N(t+1) <= N(t)", "direction": "<="},
        "PROVED",
    ),
    "bound by circulations": (
        "kinetic_grid_v1",
        {},
        {
            **MOVERS,
            "observables": [{"name": "S", "expr": "grid_length - 2 * count('X')"}],
            "template": "bound",
            "claim": "S(t) >= 0",
            "bound_op": ">=",
            "bound_value": 0,
        },
        "PROVED",
    ),
    "implication": ("kinetic_grid_v1", {}, {**MOVERS, "template": "implication_step", "claim": BRIDGE}, "PROVED"),
    "eventually": (
        "elementary_rule",
        {"rule": 51},
        {
            **BITS,
            "template": "eventually",
            "claim": "N(t) == 0 => N(t) == L(t)",
            "quantifiers": {"T": 4, "H": 1},
        },
        "PROVED",
    ),
    "symmetry": (
        "elementary_rule",
        {"rule": 90},
        {"template": "symmetry_commutation", "transform": "shift_k(3)"},
        "PROVED",
    ),
    "no symmetry": (
        "elementary_rule",
        {"rule": 30},
        {"template": "symmetry_commutation", "transform": "mirror"},
        "FAIL",
    ),
    "transition": (
        "elementary_rule",
        {"rule": 204},
        {"template": "local_transition", "trigger_symbol": "1", "result_op": "==", "result_symbol": "1"},
        "PROVED",
    ),
    "not additive": (
        "elementary_rule",
        {"rule": 204},
        {
            **BITS,
            "observables": [{"name": "F", "expr": "leftmost('1') * rightmost('1') - max_gap('0') + spread('1')"}],
            "claim": "F(t) == F(0)",
        },
        "PASS",
    ),
    "refuted": ("elementary_rule", {"rule": 110}, {**BITS, "claim": "N(t) == N(0)"}, "FAIL"),
    "fixed steps": ("elementary_rule", {"rule": 4}, {**BITS, "claim": "N(2) == N(3) or N(t) > 99"}, "PASS"),
    "preconditions": (
        "elementary_rule",
        {"rule": 128},
        {
            **BITS,
            "claim": "N(t) >= 0 and 2 * L(t) > N(t)",
            "preconditions": ["count('0') == 0 || !(grid_length < 400)", {"lhs": "count('1')", "op": ">", "rhs": "-1"}],
            "proposed_tests": [{"family": "pathological_cases", "params": {"cases": 50, "lengths": [4, 9]}}],
        },
        "PROVED",
    ),
    "beyond the starts": (
        "kinetic_grid_v1",
        {},
        {
            **MOVERS,
            "claim": "R(t) * X(t) >= 0 - leftmost_of(t)",
            "observables": [*MOVERS["observables"], {"name": "leftmost_of", "expr": "leftmost('>') + 1"}],
            "proposed_tests": [
                {"family": "constrained_pair_interactions", "params": {"include_collision_state": True}},
                {"family": "symmetry_metamorphic_suite", "params": {"cases": 30}},
            ],
        },
        "PASS",
    ),
    "too long": ("elementary_rule", {}, {**BITS, "claim": "N(t) == N(0)", "quantifiers": {"T": 300}}, "UNKNOWN"),
    "prose": ("elementary_rule", {}, {**BITS, "claim": "N is conserved"}, "UNKNOWN"),
    "no such observable": (
        "elementary_rule",
        {},
        {**BITS, "observables": [{"name": "E", "expr": "entropy + heat(count('1'))"}], "claim": "E(t) == E(0)"},
        "UNKNOWN",
    ),
    "no such family": (
        "elementary_rule",
        {},
        {**BITS, "claim": "N(t) == N(0)", "proposed_tests": [{"family": "quakes"}]},
        "UNKNOWN",
    ),
    "no such transform": ("elementary_rule", {}, {"template": "symmetry_commutation", "transform": "turn"}, "UNKNOWN"),
    "beyond 64 bits": (
        "elementary_rule",
        {"rule": 204},
        {
            **BITS,
            "observables": [{"name": "N", "expr": "9007199254740991 * 1000 * count('1')"}],
            "claim": "N(t) == N(0)",
        },
        "UNKNOWN",
    ),
    "vacuous": (
        "elementary_rule",
        {"rule": 204},
        {**BITS, "template": "implication_state", "claim": "N(t) < 0 => N(t) == 7"},
        "UNKNOWN",
    ),
    "a field too many": (
        "elementary_rule",
        {"rule": 204},
        {**BITS, "claim": "N(t) == N(0)", "direction": "<=", "cases": 55},
        "PROVED",
    ),
    "three symbols": (
        "spin_tide",
        {},
        {
            "observables": [{"name": "P", "expr": "charge"}, {"name": "W", "expr": "walls - clashes"}],
            "template": "implication_state",
            "claim": "W(t) == 0 and P(t) > 0 => P(t) * P(t) > 0",
        },
        "PASS",
    ),
}


@lru_cache(maxsize=1)
def templates() -> dict[str, Any]:
    """The shipped templates."""
    return {path.stem: load(path)[0] for path in sorted((ROOT / "specs" / "template").glob("*.yaml"))}


@lru_cache(maxsize=64)
def tried(name: str) -> tuple[dict[str, Any], Receipts]:
    """What the engine leaves of a law in the table: its specs, and its receipts."""
    universe, params, candidate, _ = ACCEPTED[name]
    path = ROOT / "specs" / "universe" / f"{universe}.yaml"
    held = load(path, set=[f"transition.number={params['rule']}"] if params else [])[0]
    bundle = bundle_of({**SMALL, **candidate}, held, templates())
    receipts = [(event.type, event.body) for event in run_law(compile_law(bundle))]
    plainly: Any = json.loads(write([bundle.document(), receipts]))
    return plainly[0], [(kind, body) for kind, body in plainly[1]]


def refit(receipts: Receipts) -> Receipts:
    """The receipts with the digest of the verdict, and the end, made to fit."""
    bodies = dict(receipts)
    verdict = bodies["verdict"]["verdict"]
    bodies["verdict"]["digest"] = tagged("law-verdict", write(verdict))
    bodies["end"]["status"] = verdict["status"]
    return receipts


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_the_engine_says_of_a_law_is_accepted(name: str) -> None:
    """Every kind of claim, proof and reason; the verdict is the one that the table says."""
    specs, receipts = tried(name)
    assert dict(receipts)["end"]["status"] == ACCEPTED[name][3]
    notes = replay_law(specs, receipts)
    assert notes == (["whether a prover could have decided the law"] if sampled(receipts) else [])


def sampled(receipts: Receipts) -> bool:
    """Whether a verdict rests on cases alone."""
    verdict = dict(receipts)["verdict"]["verdict"]
    return verdict["method"] == "sample" and verdict["status"] != "FAIL" and verdict["reason"] != "evaluation_error"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a value that holds nothing itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from leaves(one, (*path, key))
    if not isinstance(value, dict | list):
        yield path


def another(value: Any) -> Any:
    """A value of the same kind, as far as there is one."""
    return value + 1 if type(value) is int else f"{value}." if isinstance(value, str) else 0


@pytest.mark.parametrize("name", ["conserved from some starts", "not additive", "refuted", "prose", "no symmetry"])
def test_any_other_figure_of_a_verdict_is_refused(name: str) -> None:
    """Each value in a verdict is exchanged, and everything around it made to fit."""
    specs, receipts = tried(name)
    verdict = dict(receipts)["verdict"]["verdict"]
    unseen = {("detail",)} if verdict["up_to"] is not None else set()  # why no proof reaches further, in words
    paths = list(leaves({key: value for key, value in verdict.items() if key != "certificate"}))
    for path in paths[:: 2 if sampled(receipts) else 1]:
        changed = copy.deepcopy(receipts)
        place = dict(changed)["verdict"]["verdict"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = another(place[path[-1]])
        if path in unseen:
            replay_law(specs, refit(changed))
            continue
        with pytest.raises(Refuted):
            replay_law(specs, refit(changed))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("start", lambda body: body.update(seed=7)),
        ("start", lambda body: body.update(warnings=["W_LAW_FIELD"])),
        ("cases", lambda body: body.update(digest="0" * 64)),
        ("cases", lambda body: body["families"].update(other=1)),
        ("verdict", lambda body: body.update(expected={"status": "PASS"})),
        ("end", lambda body: body.update(met=True)),
    ],
)
def test_any_other_receipt_is_refused(kind: str, change: Callable[[dict[str, Any]], None]) -> None:
    """What stands around the verdict follows from the specs too."""
    specs, receipts = tried("refuted")
    changed = copy.deepcopy(receipts)
    change(dict(changed)[kind])
    with pytest.raises(Refuted):
        replay_law(specs, changed)


@pytest.mark.parametrize(("folder", "case"), needing("law", "laws", "replay"))
def test_tampered_laws_are_refused_for_the_right_reason(folder: Path, case: dict[str, Any]) -> None:
    """The code is the one that the engine gives."""

    def held(name: str) -> bytes:
        own = folder / "files" / name
        return (own if own.exists() else PLACE / "bases" / case["base"] / name).read_bytes()

    receipts = [json.loads(line) for line in held("receipts.jsonl").splitlines()]
    with pytest.raises(Refuted) as refused:
        replay_law(json.loads(held("specs.json")), [(one["type"], one["body"]) for one in receipts])
    assert refused.value.code == case["expect"]["code"]


@pytest.mark.parametrize("name", ["current", "potential", "bound by circulations", "symmetry", "transition"])
def test_no_integer_of_a_certificate_is_free_to_make_it_prove_less(name: str) -> None:
    """A certificate with one number exchanged is refused or is a proof still; a document of another form is refused."""
    specs, receipts = tried(name)
    law = law_of(specs["specs"], specs["root"])
    question = AskedLaw(law).facts
    certificate = dict(receipts)["verdict"]["verdict"]["certificate"]
    assert check_certificate(certificate, question) is None
    refused = []
    paths = list(leaves(certificate["proof"]))
    for path in paths[:: max(1, len(paths) // 12)]:
        changed = copy.deepcopy(certificate)
        place = changed["proof"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = "more" if isinstance(place[path[-1]], str) else 10**9
        try:
            check_certificate(changed, question)
        except Refuted as found:
            refused.append(found.code)
    assert {*refused} == {"E_CERTIFICATE"}
    for other in (None, {}, {**certificate, "proof": None}, {**certificate, "more": 1}, {**certificate, "format": "x"}):
        with pytest.raises(Refuted):
            check_certificate(other, question)


def test_a_certificate_of_another_question_proves_nothing() -> None:
    """Neither other rings nor another rule."""
    specs, receipts = tried("current")
    question: Any = AskedLaw(law_of(specs["specs"], specs["root"])).facts
    certificate = dict(receipts)["verdict"]["verdict"]["certificate"]
    for other in ({**question, "rings": [5, None]}, {**question, "horizon": 3}):
        with pytest.raises(Refuted):
            check_certificate(certificate, other)


@pytest.mark.parametrize(("symbols", "length"), [(1, 3), (2, 1), (2, 6), (3, 4), (4, 3)])
def test_necklaces_are_the_least_rotations(symbols: int, length: int) -> None:
    """Each class of rings that are rotations of each other is tried once, by its least, in their order."""
    rings = [bytes(ring) for ring in product(range(symbols), repeat=length)]
    least = [ring for ring in rings if all(ring <= ring[at:] + ring[:at] for at in range(length))]
    assert list(necklaces(list(range(symbols)), length)) == least


def test_what_is_too_much_or_not_read_is_left_open() -> None:
    """Neither refutes anything."""
    specs, _ = tried("conserved from some starts")
    root = specs["root"]
    law = law_of(specs["specs"], root)
    with pytest.raises(Open):
        Trial(law, law_cases(law) * 40_000)
    for expression in ("[1][0]", "count('1') / 2"):
        strange = {**specs["specs"][root], "observables": [{"name": "N", "expr": expression}]}
        with pytest.raises(Open):
            law_of({**specs["specs"], root: strange}, root)
