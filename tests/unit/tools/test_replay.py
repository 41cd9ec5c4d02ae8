"""A run that the one-file verifier makes again has the engine's receipts, whatever goes wrong in it.

The specs are the larger example of docs/authoring.md, which uses most of the language; each case changes a piece of it.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes, canonical_ints
from specledger.load import load
from specledger.verify.replay import make_run
from tools.verifier.basis import Open, Refuted
from tools.verifier.made_again import compare
from tools.verifier.values import BUDGET

PAGE = Path(__file__).resolve().parents[3] / "docs" / "authoring.md"
W, B = "courier", "battery"
G, A, D, K = "thrifty", "porter", "late-parcel", "never-empty"
S = "delivery"


@cache
def blocks():
    found = {}
    for block in re.findall(r"```yaml\n(spec: .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        _, kind, _, name = block.split()[:4]
        kind = kind.removesuffix("/v1")
        found[name] = (kind, block)
    return found


CASES = {
    "plain": [],
    "generated maps": [],
    "a gate fails": [(G, "require: proposal.expected == next.at,", "require: 1 / (proposal.expected.x - 2) < 9 && proposal.expected == next.at,")],
    "a witness fails": [(G, "witness: {at: next.at}", "witness: {at: '[1][next.at.x]'}"), (A, "{expected: target}", "{expected: at}")],
    "the sum of the cost": [(G, "{step: STEP,", "{step: 'rejected > 1 ? 9223372036854775807 : STEP', more: '9',")],
    "an input fails": [(G, "supply: {price: cost}", "supply: {price: 'cost + (rejected > 2 ? 9223372036854775807 : 0)'}")],
    "the choice fails": [(G, "maximise: proposal.score", "maximise: proposal.score / (proposal.expected.x - 3)")],
    "a claim fails": [(A, "{expected: target}", "{expected: \"{'x': target.x / (at.x - 3), 'y': target.y}\"}")],
    "the score fails": [(A, 'score: "action.op', 'score: "at.x == 3 ? [1][7] : action.op')],
    "a memory leaves its type": [(A, "additionalProperties: int}", "additionalProperties: {type: integer, minimum: 0, maximum: 1}}")],
    "a write fails": [(A, "when: action.op == 'go', effect", "when: \"action.op == 'go' && 7 / (at.x - 4) != 99\", effect")],
    "an invariant fails": [(K, "require: battery.charge", "require: 1 / (at.x - 3) < 99 && battery.charge")],
    "a warning": [(K, "require: battery.charge >= 0", "severity: warn\nrequire: at.x < 3 && battery.charge >= 0")],
    "idle": [(K, "require: battery", "when: at.x == 2\nrequire: battery")],
    "a breach of the episode": [(K, "require: battery.charge >= 0", "scope: episode\nrequire: at.x < 2 && battery.charge >= 0")],
    "fatal": [(K, "require: battery.charge >= 0", "require: at.x < 3 && battery.charge >= 0")],
    "a drift fails": [(D, "value: place}]", "value: place}, {set: collected, to: 1 / (at.x - at.x)}]")],
    "a list is full": [(D, "t == STEP_OF_PARCEL", "t % 2 == 1"), (W, "maxItems: 32", "maxItems: 3")],
    "a record is too large": [(W, "{to_go: next.left", "{to_go: 9007199254740991 + (at.x - 2)")],
    "a state is too large": [(W, "collected + 1}", "collected + 9007199254740992}")],
    "an observation is too large": [(W, "observe: {at: at,", "observe: {far: 9007199254740990 + at.x, at: at,")],
    "an outcome fails that no gate reads": [(W, "tile(to) == WALL}", "tile(to) == WALL, more: 5 / (at.x - 3)}")],
    "an outcome fails that a gate reads": [
        (W, "tile(to) == WALL}", "tile(to) == WALL, more: 5 / (at.x - 3)}"),
        (G, "deny: has(outcome.into_wall) &&", "deny: has(outcome.more) && outcome.more < 99 && has(outcome.into_wall) &&"),
    ],
    "a coupling fails": [(W, "go: {action: drain, args: {by: price}}", "go: {action: drain, let: {z: at.x - 3}, args: {by: price + 0 * (9 / z)}}")],
    "a part's receipt fails": [(B, "{used: charge - next.charge,", "{used: (charge - next.charge) / (cycles - 2),")],
    "the goal fails": [(W, "success: left == 0", "success: left == 0 || 1 % (at.x - 3) == 7")],
    "every step reads now": [
        (W, "parts:\n", "every_step: [{set: collected, to: 'now.at.x + sum_of(now)'}]\nparts:\n"),
        (W, "functions:\n", "functions:\n  sum_of: {args: [z], is: z.left + z.battery.cycles}\n"),
    ],
    "a memory of the run": [(A, "memory:\n", "memory:\n  scope: run\n"), (S, "horizon: 40", "horizon: 9\nepisodes: 2")],
    "potentials": [
        (G, "gates:\n", "memory: {scope: run, fields: {been: {type: {type: array, items: cell}, start: '[at]'}}}\nremember: [{id: w, when: '!(at in been)',"
         " effect: {append: been, value: seen.at}}]\npotentials: {known: {is: size(been)}, far: {is: 'size(parcels) - size(been)'}}\ngates:\n"),
        (S, "horizon: 40", "horizon: 9\nepisodes: 2"),
    ],
    "no commitment": [(S, "horizon: 40", "horizon: 9\ncommit: none")],
    "effects on elements": [
        (W, "  collected: int\n", "  collected: int\n  log: {type: array, items: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 5}, at: cell}}}\n"),
        (W, "start: {parcels:", 'start: {log: "[]", parcels:'),
        (W, "[{set: at, to: to}]\n    outcome", "[{set: at, to: to}, {append: log, value: \"{'n': 0, 'at': at}\"}, {each: log, as: e, where: e.at.x > 1, update: {n: e.n + 1}}]\n    outcome"),
    ],
    "one side absorbs the other": [(G, "require: next.battery.charge >= 0", "require: 1 / (at.x - 3) > 100 || next.battery.charge >= 0")],
    "a function of a function fails": [
        (W, "functions:\n", "functions:\n  inv: {args: [n], is: '100 / n'}\n  inv2: {args: [n], is: 'inv(n) + inv(n - 1)'}\n"),
        (G, "require: next.battery.charge >= 0", "require: inv2(at.x - 2) != 77 && next.battery.charge >= 0"),
    ],
    "a derived value fails": [
        (W, "{left: size(parcels)}", "{left: size(parcels), odd: 12 / (at.x - 4)}"),
        (G, "require: next.battery.charge >= 0", "require: next.odd != 77 && next.battery.charge >= 0"),
    ],
    "an argument outside its enum": [(A, "['N', 'E', 'S', 'W']", "['N', 'Q', 'E', 'S', 'W']")],
}  # fmt: skip


def lines_of(folder, changes, name=S):
    """The specs of a case and the lines of the receipts that the engine makes of them."""
    texts = {spec: (kind, block) for spec, (kind, block) in blocks().items()}
    for spec, old, new in changes:
        kind, block = texts[spec]
        assert old in block, (spec, old)
        texts[spec] = (kind, block.replace(old, new, 1))
    for spec, (kind, block) in texts.items():
        (folder / "specs" / kind).mkdir(parents=True, exist_ok=True)
        (folder / "specs" / kind / f"{spec}.yaml").write_text(block, encoding="utf-8")
    bundle = load(str(folder / "specs" / "scenario" / f"{name}.yaml"))[0]
    events = make_run(bundle, compile_scenario(bundle))
    made = [canonical_ints({"type": event.type, "body": event.body}) for event in events]
    return json.loads(canonical_bytes(bundle.document())), made


@pytest.mark.parametrize("name", CASES)
def test_the_receipts_are_the_same(tmp_path, name):
    BUDGET.begin()
    document, lines = lines_of(tmp_path, CASES[name], "delivery-anywhere" if name == "generated maps" else S)
    assert compare(document, None, lines) == len(lines)


def changed(line, old, new):
    assert old in line
    return line.replace(old, new, 1)


FAULTS = {
    "another figure": (lambda lines: [*lines[:3], changed(lines[3], b'"to_go":2', b'"to_go":1'), *lines[4:]], "body.record.to_go: recorded 1, made 2"),
    "a receipt is missing": (lambda lines: [*lines[:4], *lines[5:]], "receipt 4, type"),
    "receipts at the end are missing": (lambda lines: lines[:-1], "the receipts end at"),
    "receipts are added": (lambda lines: [*lines, lines[-1]], "type: recorded"),
    "a bool for a number": (lambda lines: [changed(lines[0], b'"seed":7', b'"seed":true'), *lines[1:]], "body.seed: recorded true, made 7"),
}  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return lines_of(tmp_path_factory.mktemp("plain"), [])


@pytest.mark.parametrize("name", FAULTS)
def test_what_differs_is_told(plain, name):
    change, message = FAULTS[name]
    with pytest.raises(Refuted, match=re.escape(message)) as refuted:
        compare(plain[0], None, change(plain[1]))
    assert refuted.value.code == "E_REPLAY"


def test_what_takes_too_much_work_is_left_open(plain):
    BUDGET.begin()
    BUDGET.left = 1000
    try:
        with pytest.raises(Open, match="more work"):
            compare(plain[0], None, plain[1])
    finally:
        BUDGET.begin()


@pytest.mark.parametrize("text", ["nothing(at)", "nothing", "at.map(x, x)"])
def test_what_it_does_not_know_refutes_nothing(plain, text):
    document = json.loads(json.dumps(plain[0]))
    next(data for key, data in document["specs"].items() if key.startswith("governor/"))["choose"]["maximise"] = text
    with pytest.raises((Open, Refuted)) as said:
        compare(document, None, plain[1])
    assert isinstance(said.value, Open) or getattr(said.value, "code", "") == "E_REPLAY"


def test_specs_that_are_no_expressions_are_refuted(plain):
    document = json.loads(json.dumps(plain[0]))
    next(data for key, data in document["specs"].items() if key.startswith("governor/"))["choose"]["maximise"] = "1 +"
    with pytest.raises(Refuted, match="no expression") as refuted:
        compare(document, None, plain[1])
    assert refuted.value.code == "E_SPECS"
