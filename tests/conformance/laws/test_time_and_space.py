"""Laws of every form over time and space, against brute force on every ring of up to ten cells.

The rules have radius 1, 2 and 3; claims read up to eight steps ahead, count patterns, and their T and H may depend on the
ring. Whatever is proved has no counterexample, whatever is refuted has that one, and certificates are checked again.
"""

from itertools import product

import pytest

from specledger.compile.law import compile_law
from specledger.kinds import bundle_from_document, load
from specledger.laws.candidate import bundle_of
from specledger.laws.decision import answer_of
from specledger.laws.law_question import questions_of, within_range
from specledger.laws.proofs.question import Proved, ProvedUpTo, Refuted, facts
from specledger.laws.trial import try_law
from specledger.load.bundle import dump, key_of, restore
from specledger.spec.universe import Universe
from specledger.verify.certificates import check_certificate
from specledger.verify.violation import check_counterexample
from tests.conformance.laws.oracle import Judge, World, rotated, step_by

MOST = 10
LONGEST = 40
RULES = {
    # by radius: tables over two symbols that keep, move, spread, exchange or fight, and one without any sense
    radius: {
        "shift": [window[0] for window in windows],
        "keep": [window[radius] for window in windows],
        "blink": [1 - window[radius] for window in windows],
        "any": [max(window) for window in windows],
        "most": [sorted(window)[radius] for window in windows],
        "odd": [sum(window) % 2 for window in windows],
        "traffic": [w[radius + 1] if w[radius] else w[radius - 1] for w in windows],
        "any other": [number * number // 3 % 2 for number in range(len(windows))],
    }
    for radius, windows in ((radius, list(product((0, 1), repeat=2 * radius + 1))) for radius in (1, 2, 3))
}
MEASURES = {"count": {"args": {"s": "symbol"}, "window": ["self"], "count": "self == s"}}
T, NEXT, START = {"var": "t"}, {"t_plus_1": True}, {"const": 0}
OBSERVABLES = [
    {"name": "N", "expr": "count('o')"},
    {"name": "P", "expr": "pattern('o?o')"},
    {"name": "W", "expr": "pattern('-o')"},
]


def read(name, time=T):
    return {"obs": name, "t": time}


def op(word, left, right):
    return {"op": word, "lhs": left, "rhs": right}


def some(name, time=T):
    return op(">", read(name, time), {"const": 0})


def later(steps):
    return {"t_plus": steps}


LAWS = {
    "conserved": {"template": "invariant", "claim_ast": op("==", read("N"), read("N", START))},
    "conserved pattern": {"template": "invariant", "claim_ast": op("==", read("P"), read("P", START))},
    "monotone": {"template": "monotone", "direction": "<=", "claim_ast": op("<=", read("W", NEXT), read("W"))},
    "bound": {"template": "bound", "bound_op": "<=", "bound_value": 3, "claim_ast": op("<=", read("W"), {"const": 3})},
    "state": {"template": "implication_state", "claim_ast": op("=>", some("P"), some("N"))},
    "state from few": {
        "template": "implication_state",
        "claim_ast": op("=>", some("W"), op("<=", read("N"), {"const": 4})),
        "preconditions": ["count('o') <= 4"],
    },
    "step": {"template": "implication_step", "claim_ast": op("=>", some("P"), some("N", NEXT))},
    "period": {
        "template": "implication_later",
        "claim_ast": op("=>", {"const": True}, op("==", read("N", later(2)), read("N"))),
    },
    "delay": {"template": "implication_later", "claim_ast": op("=>", some("W", NEXT), some("W", later(3)))},
    "long delay": {"template": "implication_later", "claim_ast": op("=>", some("P"), some("N", later(8)))},
    "eventually": {
        "template": "eventually",
        "claim_ast": op("=>", some("N"), op("==", read("W"), {"const": 0})),
        "quantifiers": {"T": 4, "H": 2},
    },
    "eventually on each ring": {
        "template": "eventually",
        "claim_ast": op("=>", some("N"), op("==", read("W"), {"const": 0})),
        "quantifiers": {"T": "grid_length", "H": "grid_length - 3"},
    },
    "as long as the ring": {
        "template": "invariant",
        "claim_ast": op("<=", read("N"), op("+", read("N", START), {"const": 2})),
        "quantifiers": {"T": "grid_length - 2"},
    },
    "symmetry": {"template": "symmetry_commutation", "transform": "turned"},
    "local": {"template": "local_transition", "trigger_symbol": "o", "result_op": "==", "result_symbol": "-"},
}


def universe_of(radius, table):
    alphabet = "-o"
    windows = map("".join, product(alphabet, repeat=2 * radius + 1))
    spec = {
        "spec": "universe/v1",
        "name": "made_up",
        "alphabet": list(alphabet),
        "ring": {"min": 3, "max": LONGEST},
        "radius": radius,
        "transition": {"table": {window: alphabet[after] for window, after in zip(windows, table, strict=True)}},
        "observables": MEASURES,
        "transforms": {"turned": {"reflect": True, "shift": "1"}},
        "generators": {"sweep": {"make": "sweep", "weight": 1}},
    }
    form = dump(restore(Universe, spec))
    key = key_of("universe", "made_up", form)
    return bundle_from_document({"root": key, "specs": {key: form}})


@pytest.fixture(scope="module")
def templates():
    names = {law["template"] for law in LAWS.values()}
    return {name: load(f"specs/template/{name}.yaml")[0] for name in names}


def world_of(radius, table):
    return World("-o", "-o", 3, LONGEST, step_by(table, "-o", radius), lambda _, s: rotated(s[::-1], 1))


def agrees(name, radius, rule, templates, most):
    """Check all that the engine says of a law against every start of every ring of up to `most` cells."""
    document = {
        "quantifiers": {"T": 9},
        "observables": OBSERVABLES,
        "forbidden": "what brute force finds",
        **LAWS[name],
    }
    table = RULES[radius][rule]
    law = compile_law(bundle_of(document, universe_of(radius, table), templates)).law
    oracle = Judge(document, world_of(radius, table))
    found = {start: oracle.first_violation(start) for length in range(3, most + 1) for start in oracle.starts(length)}
    failing = min((len(start) for start, t in found.items() if t is not None), default=None)
    answer = answer_of(law)
    if isinstance(answer, Refuted):
        start = "".join("-o"[cell] for cell in answer.ring)
        steps = [t for t in (oracle.first_violation(start),) if t is not None]
        assert steps in ([answer.t], [answer.t + 1])  # a step is counted from the state before it
        assert failing is None or len(start) == failing
    if isinstance(answer, Proved | ProvedUpTo):
        questions = [
            each for asked in questions_of(law) for each in (asked.question, within_range(asked.question, law))
        ]
        (asked,) = {
            str(facts(each)): each for each in questions if facts(each) == answer.certificate["question"]
        }.values()
        up_to = check_certificate(answer.certificate, facts(asked), getattr(asked.claim, "holds", None))
        assert up_to == (answer.length if isinstance(answer, ProvedUpTo) else None)
        assert failing is None or (up_to is not None and failing > up_to)
    verdict = try_law(compile_law(bundle_of(document, universe_of(radius, table), templates)), content=False)
    assert verdict.status != "ERROR"
    if verdict.counterexample is not None:
        assert oracle.first_violation(verdict.counterexample.start) == verdict.counterexample.t
        check_counterexample(law, verdict.counterexample.to_json())
    return type(answer).__name__


@pytest.mark.parametrize("name", LAWS)
def test_laws_agree_with_brute_force(name, templates):
    for radius, rule in ((2, "traffic"), (3, "odd")):
        agrees(name, radius, rule, templates, 6)


@pytest.mark.slow
@pytest.mark.parametrize("radius", RULES)
@pytest.mark.parametrize("name", LAWS)
def test_laws_agree_with_brute_force_on_rings_up_to_ten(name, radius, templates):
    for rule in RULES[radius]:
        agrees(name, radius, rule, templates, MOST)


def test_laws_over_time_and_space_are_proved_and_refuted(templates):
    """At radius 2 some rule gives each answer that a proof for every length, or a counterexample, is."""
    proved = {
        "conserved": "keep",
        "period": "blink",
        "delay": "keep",
        "step": "any",
        "symmetry": "odd",
        "local": "blink",
    }
    assert {agrees(name, 2, rule, templates, 4) for name, rule in proved.items()} == {"Proved"}
    refuted = {"conserved": "blink", "period": "odd", "delay": "odd", "eventually on each ring": "odd", "local": "keep"}
    assert {agrees(name, 2, rule, templates, 6) for name, rule in refuted.items()} == {"Refuted"}
