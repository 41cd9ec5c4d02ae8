"""No refusal can be left out of `tools/verify.py`: without any one, some evidence comes to something else.

It is asked by the cases of the suite, by the tables of what the engine's readers refuse, and by bundles of which one
value or one receipt is another and everything else was computed again.
"""

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conformance.tampered import test_both_refute as both
from tests.conformance.tampered import test_forgeries as forgeries
from tests.conformance.tampered.conftest import EXPECTED
from tests.conformance.tampered.deletion import sites, watching, without
from tests.conformance.tampered.verifiers import by_tool
from tests.unit.evidence import test_checkpoint as notes
from tests.unit.evidence import test_envelope as envelopes
from tests.unit.tools import test_verify as own
from tests.unit.verify import test_trust as trusted
from tools import verify as tool
from tools.conformance import PLACE, Laid
from tools.tampering.forger import Forger

pytestmark = pytest.mark.slow

CHANGED = 250
"""Changed bundles of each base."""
MOST = 40
"""Inputs of a refusal that are tried without it."""
SIGNED = ("climb-signed",)
BASES = sorted(place.name for place in (PLACE / "bases").iterdir() if place.name not in SIGNED)

BOUND = "it bounds size, and what is larger is refused for its form as well"
UNREACHED = (
    "no tampered case comes to it yet: it takes a scenario that bears agent faults, or a suite that allows some ends"
)
RECORDED = "no case is a recording: `test_recording`"
UNNOTICED = {
    "walk": (1, BOUND),
    "RunFollower._probe": (1, "what stands behind it refuses the one case that comes to it"),
    "RunFollower._step": (1, UNREACHED),
    "RunFollower._gap": (2, "no case is a recording: `test_unknown`"),
    "RunFollower._episode_end": (3, f"{UNREACHED}; two are of recordings: `test_recording`"),
    "RunFollower._start": (1, RECORDED),
    "RunFollower._rules": (7, f"{RECORDED}, and `test_kept`"),
    "RunFollower._guard": (3, "a receipt of a guard that is sealed again shows it: `test_forged`"),
    "check_trajectories": (3, RECORDED),
    "trajectories_in": (5, RECORDED),
    "read_trust": (1, "a key is no JSON, so that only the message is another: `test_trust`"),
    "judged_line": (1, RECORDED),
    "check_assessment": (1, UNREACHED),
    "load": (
        2,
        "the canonical form stands behind the one; the other is a function inside, which cannot be looked into",
    ),
    "check_mutant": (1, "the mutants of the suites that are asked have arms, of which it knows no control"),
    "check_expected": (1, "the signatures that are not there stand behind it"),
    "check_against": (1, "it takes an environment without `cryptography`"),
    "check_signatures": (1, "it takes an environment without `cryptography`; its own test does"),
}
"""By function how many refusals at most nothing notices, and why."""


class Input(NamedTuple):
    """Something that is asked, and the places at which it is refused; `came` is what came of it."""

    ask: Any
    came: object
    places: frozenset[Any]


def came_of(ask):
    """What comes of an input: the exit and the code, a value that is read, a refusal, or a crash."""
    try:
        answer = ask()
    except tool.Finding as finding:
        return "refused", finding.status
    except Exception as error:
        return type(error).__name__
    return (answer.exit, answer.code, "malformed" in answer.message) if hasattr(answer, "exit") else "read"


def questions(laid, folder: Path) -> Iterator[Any]:
    """Everything that is asked."""
    for name in EXPECTED:
        yield partial(by_tool, laid(name))
    for text, _ in notes.REFUSED.values():
        yield partial(tool.read_note, text if isinstance(text, bytes) else str(text).encode())
    bits = envelopes.signature() | {"sig": envelopes.signature()["sig"][:-3] + "x=="}
    twice_spelled = envelopes.written(envelopes.document(signatures=[bits]))
    for number, data in enumerate([twice_spelled, *(data for data, _ in envelopes.REFUSED.values())]):
        yield partial(tool.read_envelope, written(folder / f"{number}.dsse.json", data), envelopes.PAYLOAD)
    for name, (told, _) in trusted.WRONG.items():
        data = told if isinstance(told, bytes) else json.dumps(told).encode()
        yield partial(tool.read_trust, written(folder / f"{name}.json", data))
    for name, raw in trusted.WEAK.items():
        data = json.dumps(trusted.document(keys=[trusted.key(raw)], threshold=1)).encode()
        yield partial(tool.read_trust, written(folder / f"{name}.json", data))
    for text in TEXTS:
        yield partial(tool.parse, text, "x")
    yield partial(tool.parse, b"[1,2,3]", "x", 2)
    long = written(folder / "long.txt", b"1234567\n")
    yield partial(tool.read_bytes, long, 7)
    yield lambda: list(tool.read_lines(long, 7))
    yield from of_rings()
    for changes in ({"run": "0" * 32}, {"specs": "0" * 64}, {}):
        trust = json.loads((PLACE / "trust-one.json").read_bytes()) | changes
        path = written(folder / f"trust-{len(changes)}-{''.join(changes)}.json", json.dumps(trust).encode())
        yield partial(by_tool, Laid(PLACE / "bases" / "climb", {"trust": path}))
    yield from of_run_logs(folder)
    yield from of_bundles(folder)


TEXTS = [b'{"a":1,"a":1}', b"1.0", b"NaN", b"9007199254740992", b"[" * 66 + b"]" * 66, b"[ ]", b"\xff", b"[" * 100_000]
"""What is not canonical JSON."""


RINGS: list[Any] = [
    lambda universe, recorded: recorded.update(t=2),
    lambda universe, recorded: recorded.update(start="o---"),
    lambda universe, recorded: recorded.update(start="-o---"),
    lambda universe, recorded: recorded["excerpt"]["states"].insert(0, "-----"),
    lambda universe, recorded: recorded["excerpt"]["states"].__setitem__(1, "-----"),
    lambda universe, recorded: universe.update(radius=4),
    lambda universe, recorded: universe["ring"].update(max=4),
]
"""Faults of a counterexample and of its universe."""


def of_rings():
    for change_ring, table in product(RINGS, (True, False)):
        universe, recorded = own.far(2, table)
        change_ring(universe, recorded)
        yield partial(tool.evolve, universe, None, recorded, {})


def written(path, data):
    path.write_bytes(data)
    return path


RUN_LOGS: dict[str, Any] = {
    "a line less": lambda lines: lines.pop(1),
    "the first line twice": lambda lines: (lines.insert(1, deepcopy(lines[0])), lines[3]["body"].update(attempt=2)),
    "an unknown type": lambda lines: lines[2].update(type="note"),
    "a log in the middle": lambda lines: lines[1].update(type="log"),
    "another format": lambda lines: lines[0]["body"].update(format="specledger/runlog/v2"),
    "a first line with more": lambda lines: lines[0]["body"].update(more=1),
    "an attempt with more": lambda lines: lines[1]["body"].update(more=1),
    "a result with more": lambda lines: lines[2]["body"].update(more=1),
    "a line with more": lambda lines: lines[1].update(more=1),
    "a result of no attempt": lambda lines: lines[2]["body"].update(attempt=0),
    "a result twice": lambda lines: lines.append(deepcopy(lines[2])),
    "another verdict": lambda lines: lines[2]["body"].update(verdict="FAIL"),
    "another run": lambda lines: lines[1]["body"].update(run="0" * 32),
    "another manifest": lambda lines: lines[2]["body"].update(manifest="0" * 64),
    "no line": lambda lines: lines.clear(),
}
"""Faults of a run log; its lines are chained again."""


def of_run_logs(folder):
    bundle = PLACE / "bases" / "climb"
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    for name, change in RUN_LOGS.items():
        path = own.run_log(folder / f"{name}.jsonl", manifest)
        lines: list[Any] = [json.loads(line) for line in path.read_bytes().splitlines()]
        prev = tool.ZEROS
        change(lines)
        for seq, line in enumerate(lines):
            line.update(seq=seq, prev=prev)
            prev = tool.tagged("runlog", tool.canonical(line))
        path.write_bytes(b"".join(tool.canonical(line) + b"\n" for line in lines))
        yield partial(by_tool, Laid(bundle, {"log": path}))
    path = own.run_log(folder / "moved.jsonl", manifest)
    path.write_bytes(path.read_bytes().replace(b'"seeds":[3]', b'"seeds":[4]'))
    yield partial(by_tool, Laid(bundle, {"log": path}))


def end_otherwise(name):
    """A file ends with something else than a newline."""

    def change(forger):
        forger.write(name, forger.read(name)[:-1] + b"x")
        if name != "manifest.json":
            forger.relist()

    return change


def sealed(change):
    """A change after which everything else is computed again."""
    return lambda forger: (change(forger), forger.seal())


def other_lines(change):
    """A change of the lines of a tape, which is sealed again."""
    return sealed(partial(change_lines, "tape.jsonl", change))


def change_lines(name, change, forger):
    lines: list[Any] = [json.loads(line) for line in forger.read(name).splitlines()]
    change(lines)
    forger.write(name, b"".join(tool.canonical(line) + b"\n" for line in lines))


def of_bundles(folder):
    """Bundles with one change."""
    forged = [*forgeries.REFUSALS.values(), *forgeries.FORGERIES.values(), *both.FORGED.values()]
    changed: list[tuple[Any, Any]] = [(base, sealed(change)) for base, change, *_ in forged]
    changed += [("outside", other_lines(change)) for change in own.FORGED_TAPES.values()]
    changed += [("climb", end_otherwise(name)) for name in ("manifest.json", "receipts.jsonl")]
    for base in BASES:
        changed += [(base, partial(at_random, random.Random(f"{base} {number}"))) for number in range(CHANGED)]
    for number, (base, change) in enumerate(changed):
        place = shutil.copytree(PLACE / "bases" / base, folder / f"bundle-{number}")
        with suppress(*tool.MALFORMED):  # what cannot be made to fit is asked as it is
            change(Forger(place))
        yield partial(by_tool, Laid(place, {}))


def at_random(draw, forger):
    """Another value somewhere, or one receipt less or twice; sealed again where that can be."""
    at, receipts = draw.randrange(len(forger.receipts)), forger.receipts
    ways = {
        "a receipt less": lambda: receipts.pop(at),
        "a receipt twice": lambda: receipts.insert(draw.randrange(len(receipts)), deepcopy(receipts[at])),
        "in a receipt": lambda: replace_near(receipts, draw),
        "in a body": lambda: (replace_near(receipts[at]["body"], draw), fit_verdicts(forger)),
        "in the manifest": lambda: replace_near(forger.manifest, draw),
        "in the specs": lambda: forger.respec(lambda document: replace_near(document, draw)),
        "in a file": lambda: change_file(forger, draw),
    }
    (way,) = draw.choices([*ways], weights=(8, 8, 8, 46, 10, 5, 15))
    ways[way]()
    if way == "in a receipt":
        chain(forger)
    elif way == "in the manifest":
        forger.save()
    else:
        forger.seal()


def chain(forger):
    """The receipts as they are, whatever they hold, in one chain of lines."""
    lines: list[bytes] = []
    for receipt in forger.receipts:
        if isinstance(receipt, dict) and lines:
            receipt["prev"] = tool.leaf_hash(lines[-1]).hex()
        lines.append(tool.canonical(receipt))
    forger.lines = lines
    forger.rehead()


def fit_verdicts(forger):
    """Verdicts on laws have the digests that fit them."""
    for body in forger.bodies("verdict") + forger.bodies("law") + forger.bodies("escalation"):
        if isinstance(body, dict) and isinstance(body.get("verdict"), dict):
            body["digest"] = tool.tagged("law-verdict", tool.canonical(body["verdict"]))


def change_file(forger, draw):
    """Another value, or a line less, in a file beside the receipts."""
    names = [name for name in forger.names() if name.endswith((".jsonl", "specs.json")) and "/" not in name]
    lose = draw.random() < 0.2
    change_lines(draw.choice(names), lambda lines: lines.pop() if lose else replace_near(lines, draw), forger)


def replace_near(holder, draw):
    """Put something near it in the place of one value: of its type as a rule."""
    while True:
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        value = holder[key]
        if isinstance(value, dict | list) and value and draw.random() < 0.8:
            holder = value
            continue
        holder[key] = draw.choice(near(value))
        return


def near(value):
    """Values near a value."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, -1, 10**6]
    if isinstance(value, str):
        return [f"{value}x", value[:-1], "FAIL", "PASS", "ERROR", "error", "horizon", "fatal"]
    if isinstance(value, list):
        return [value[:-1], [*value, *value[-1:]], value[::-1]]
    return [dict(list(value.items())[1:]), {**value, "more": 1}] if isinstance(value, dict) else [0, "x", {}, {"a": 1}]


def test_no_refusal_can_be_left_out(laid, tmp_path):
    inputs = []
    for ask in questions(laid, tmp_path):
        with watching(tool.Finding) as places:
            came = came_of(ask)
        inputs.append(Input(ask, came, frozenset(places)))
    unnoticed: dict[str, list[str]] = {}
    for site in sites(tool):
        reaching = [one for one in inputs if any(map(site.holds, one.places))]
        with without(site):
            if all(came_of(one.ask) == one.came for one in reaching[:MOST]):
                unnoticed.setdefault(site.function, []).append(f"line {site.first}, reached by {len(reaching)}")
    more = {owner: found for owner, found in unnoticed.items() if len(found) > UNNOTICED.get(owner, (0,))[0]}
    assert not more, "nothing notices these"
