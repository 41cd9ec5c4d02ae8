"""Laws of every form, made up over made-up universes: no verdict, proof or judgement contradicts brute force.

What is true is found by `tests/conformance/laws/oracle.py`, which calls no engine: every start of every ring of at most
six cells is followed until it repeats itself.
"""

from functools import cache
from itertools import product

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from specledger.kinds import bundle_from_document, load
from specledger.load.bundle import dump, key_of, restore
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.decision import answer_of
from specledger.wings.laws.judge import judge
from specledger.wings.laws.law_question import questions_of, within_range
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import Commutes, Conserved, Limits, Proved, ProvedUpTo, Refuted, facts
from specledger.wings.laws.run import Run
from specledger.wings.laws.spec.universe import Universe
from specledger.wings.laws.verify.certificates import check_certificate
from tests.conformance.laws.oracle import Judge, World, rotated, step_by
from tests.toys.trials import try_law

SYMBOLS = ".><X"
LONGEST = {2: 6, 3: 6, 4: 6}  # cells that brute force tries, by the number of symbols
RADII = {2: [1, 1, 2, 3], 3: [1, 1, 2], 4: [1]}
LIMITS = Limits(cells=20_000, nodes=8)
MAX_T = 200
SHORT = ["monotone", "implication_step", "local_transition"]  # judged at t up to T - 1
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
MEASURES = {
    "count": {"args": {"s": "symbol"}, "window": ["self"], "count": "self == s"},
    "grid_length": {"window": ["self"], "count": "true"},
    "adjacent_pairs": {
        "args": {"a": "symbol", "b": "symbol"},
        "window": ["self", "right"],
        "count": "self == a && right == b",
    },
    "leftmost": {"args": {"s": "symbol"}, "scan": "first", "where": "self == s"},
    "rightmost": {"args": {"s": "symbol"}, "scan": "last", "where": "self == s"},
    "max_gap": {"args": {"s": "symbol"}, "scan": "longest", "where": "self == s"},
    "spread": {"args": {"s": "symbol"}, "scan": "extent", "where": "self == s"},
}
NOW, NEXT, START, FIRST = {"var": "t"}, {"t_plus_1": True}, {"const": 0}, {"const": 1}
LATER = [{"t_plus": steps} for steps in (2, 2, 3, 8)]


@cache
def templates():
    return {
        path: load(f"specs/template/{path}.yaml")[0]
        for path in (
            *SHORT,
            "invariant",
            "implication_state",
            "implication_later",
            "eventually",
            "symmetry_commutation",
            "bound",
        )
    }


# Universes


def famous(symbols, radius):
    """Tables with something to prove: they copy, keep, exchange, spread, fight or let movers through."""
    wide = list(product(range(symbols), repeat=2 * radius + 1))
    yield from ([window[place] for window in wide] for place in range(2 * radius + 1))
    yield [sum(window) % symbols for window in wide]
    yield [sorted(window)[radius] for window in wide]
    yield [(window[0] + window[-1] - window[radius]) % symbols for window in wide]
    windows = [window[radius - 1 : radius + 2] for window in wide]
    yield [max(window) for window in windows]
    yield [min(window) for window in windows]
    yield [(middle + 1) % symbols for _, middle, _ in windows]
    yield [left if middle == 0 else middle if right else 0 for left, middle, right in windows]  # traffic
    if symbols == 4:
        yield [(left in (1, 3)) + 2 * (right in (2, 3)) for left, _, right in windows]


def universe_of(alphabet, table, rings, reflect, mapped, starts, radius=1):
    """A made-up universe as a document of its own."""
    spec = {
        "spec": "universe/v1",
        "name": "made_up",
        "alphabet": list(alphabet),
        "ring": {"min": rings[0], "max": rings[1]},
        "radius": radius,
        "transition": {
            "table": {
                "".join(window): alphabet[after]
                for window, after in zip(product(alphabet, repeat=2 * radius + 1), table, strict=True)
            }
        },
        "observables": MEASURES,
        "transforms": {
            "turned": {
                "reflect": reflect,
                "args": {"k": "int"},
                "shift": "k",
                "map": dict(zip(alphabet, mapped, strict=True)),
            }
        },
        "generators": {
            "sweep": {"make": "sweep", "weight": 3, "percents": [20, 50, 80]},
            "extremes": {"make": "extremes", "weight": 1},
        },
        "starts": {"symbols": list(starts)},
    }
    form = dump(restore(Universe, spec))
    key = key_of("universe", "made_up", form)
    return bundle_from_document({"root": key, "specs": {key: form}})


@st.composite
def universes(draw):
    """A world for brute force, and the same as a spec."""
    symbols = draw(st.sampled_from([2, 2, 3, 3, 4]))
    alphabet, radius = SYMBOLS[:symbols], draw(st.sampled_from(RADII[symbols]))
    windows = symbols ** (2 * radius + 1)
    anything = st.binary(min_size=windows, max_size=windows).map(lambda table: [cell % symbols for cell in table])
    table = draw(st.sampled_from(list(famous(symbols, radius))) | anything)
    shortest = draw(st.integers(1, 4))
    longest = draw(st.sampled_from([LONGEST[symbols], 200]))
    reflect, turn = draw(st.booleans()), draw(st.integers(-2, 7))
    mapped = draw(
        st.sampled_from([alphabet, alphabet[::-1], *[draw(st.text(alphabet, min_size=symbols, max_size=symbols))]])
    )
    starts = draw(st.sampled_from([alphabet, alphabet, alphabet[:2]]))
    bundle = universe_of(alphabet, table, (shortest, longest), reflect, mapped, starts, radius)

    def change(_, s):
        return "".join(mapped[alphabet.index(c)] for c in rotated(s[::-1] if reflect else s, turn))

    return (
        World(alphabet, starts, shortest, longest, step_by(table, alphabet, radius), change),
        bundle,
        f"turned({turn})",
    )


# Laws


@st.composite
def expressions(draw, alphabet, names=()):
    symbol = st.sampled_from(alphabet).map(repr)
    one = st.one_of(
        symbol.map(lambda s: f"count({s})"),
        symbol.map(lambda s: f"count({s})"),
        st.tuples(symbol, symbol).map(lambda two: f"adjacent_pairs({two[0]}, {two[1]})"),
        st.just("grid_length"),
        st.text(f"{alphabet}?", min_size=1, max_size=4).map(lambda text: f"pattern('{text}')"),
        st.tuples(st.sampled_from(["leftmost", "rightmost", "max_gap", "spread"]), symbol).map(
            lambda call: f"{call[0]}({call[1]})"
        ),
        st.integers(-3, 3).map(str),
        *([st.sampled_from(names)] if names else []),
    )
    first = draw(one)
    if draw(st.booleans()):
        return first
    return f"{first} {draw(st.sampled_from('++--*'))} {draw(one)}"


def integers(times):
    read = st.builds(lambda name, t: {"obs": name, "t": t}, st.sampled_from(["A", "B"]), st.sampled_from(times))
    constant = st.integers(-2, 6).map(lambda value: {"const": value})
    joined = st.builds(lambda op, a, b: {"op": op, "lhs": a, "rhs": b}, st.sampled_from("+-*"), read, read | constant)
    return read | read | joined


def conditions(times):
    constant = st.integers(-1, 6).map(lambda value: {"const": value})
    one = st.builds(
        lambda op, a, b: {"op": op, "lhs": a, "rhs": b},
        st.sampled_from(COMPARISONS),
        integers(times),
        integers(times) | constant,
    )
    two = st.builds(lambda op, a, b: {"op": op, "lhs": a, "rhs": b}, st.sampled_from(["and", "or", "=>"]), one, one)
    return one | one | two | one.map(lambda part: {"op": "not", "arg": part})


def implies(p, q):
    return {"op": "=>", "lhs": p, "rhs": q}


def moved(node, time):
    """An integer that reads t, as it reads another step."""
    if "obs" in node:
        return {**node, "t": time}
    return {**node, "lhs": moved(node["lhs"], time), "rhs": moved(node["rhs"], time)} if "op" in node else node


@st.composite
def claims(draw, template, alphabet, transform):
    """The fields of a law that its form needs."""
    condition, symbol = conditions([NOW, NOW, START]), st.sampled_from(alphabet)
    antecedent = st.just({"const": True}) | condition
    if template == "invariant":
        same = draw(integers([NOW]))
        back = {"op": "==", "lhs": same, "rhs": moved(same, START)}
        return {"claim_ast": draw(st.sampled_from([back, draw(condition)]))}
    if template == "monotone":
        value, direction = draw(integers([NOW])), draw(st.sampled_from(["<=", ">="]))
        return {"direction": direction, "claim_ast": {"op": direction, "lhs": moved(value, NEXT), "rhs": value}}
    if template == "implication_step":
        return {"claim_ast": implies(draw(antecedent), draw(conditions([NOW, NEXT, NEXT])))}
    if template == "implication_later":
        value, later = draw(integers([NOW])), draw(st.sampled_from([NEXT, *LATER]))
        period = {"op": draw(st.sampled_from(["==", "<="])), "lhs": moved(value, later), "rhs": value}
        return {"claim_ast": implies(draw(antecedent), draw(conditions([NOW, NEXT, START, *LATER]) | st.just(period)))}
    if template in ("implication_state", "eventually"):
        times = draw(st.sampled_from([[NOW, NOW, NOW, NOW, START, FIRST], [START]]))
        return {"claim_ast": implies(draw(antecedent), draw(conditions(times)))}
    if template == "bound":
        op, bound = draw(st.sampled_from(COMPARISONS)), draw(st.integers(-2, 8))
        claim = {"op": op, "lhs": draw(integers([NOW])), "rhs": {"const": bound}}
        return {"bound_op": op, "bound_value": bound, "claim_ast": claim}
    if template == "local_transition":
        op = draw(st.sampled_from(["==", "!="]))
        return {"trigger_symbol": draw(symbol), "result_op": op, "result_symbol": draw(symbol)}
    return {"transform": transform}


def strays(alphabet, transform):
    """Fields of laws of any form."""
    symbol = st.sampled_from(alphabet)
    fields = {
        "transform": st.just(transform),
        "direction": st.sampled_from(["<=", ">="]),
        "bound_op": st.sampled_from(COMPARISONS),
        "bound_value": st.integers(-2, 8),
        "trigger_symbol": symbol,
        "result_op": st.sampled_from(["==", "!="]),
        "result_symbol": symbol,
    }
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def preconditions(draw, alphabet):
    left = draw(expressions(alphabet) | st.just("grid_length"))
    right = str(draw(st.integers(3, 6) if left == "grid_length" else st.integers(0, 3)))
    return {"lhs": left, "rhs": right, "op": draw(st.sampled_from(COMPARISONS))}


@st.composite
def laws(draw, template):
    """A law, the world that it is about, and the judge that says what is true."""
    world, universe, transform = draw(universes())
    first = draw(expressions(world.alphabet))
    law = {
        "template": template,
        "quantifiers": {
            "T": draw(st.sampled_from([1, 2, 5, "grid_length", "2 * grid_length - 1"])),
            "H": draw(st.sampled_from([0, 1, 2, "grid_length - 1"])),
        },
        "trial": {"steps": 600},
        "observables": [
            {"name": "A", "expr": first},
            {"name": "B", "expr": draw(expressions(world.alphabet, ["A"]))},
        ],
        "forbidden": "what brute force finds",
        "cases": 60,
        "mutations": 40,
        **draw(claims(template, world.alphabet, transform)),
    }
    if template != "eventually":
        del law["quantifiers"]["H"]
    if draw(st.integers(0, 3)) == 0:
        law["starts"] = {"symbols": sorted(draw(st.sets(st.sampled_from(world.alphabet), min_size=2)))}
    if draw(st.integers(0, 2)) == 0:
        law["preconditions"] = draw(st.lists(preconditions(world.alphabet), min_size=1, max_size=2))
    if draw(st.booleans()):  # what no part of the form reads changes nothing
        law = draw(strays(world.alphabet, transform)) | law
    if draw(st.integers(0, 2)) == 0:  # every T up to the period is judged when T is the longest one
        law["quantifiers"]["T"] = min(MAX_T, longest_orbit(world))
    return law, universe, Judge(law, world)


def longest_orbit(world):
    """Steps after which every ring has repeated itself."""
    longest = 1
    for length in range(world.shortest, LONGEST[len(world.alphabet)] + 1):
        for ring in product(world.alphabet, repeat=length):
            seen, s = set(), "".join(ring)
            while s not in seen:
                seen.add(s)
                s = world.step(s)
            longest = max(longest, len(seen) + 1)
    return longest


def truth(oracle):
    """The first step at which each start of the contract violates the law, or None; by start."""
    most = min(oracle.world.longest, LONGEST[len(oracle.world.alphabet)])
    return {
        start: oracle.first_violation(start)
        for length in range(oracle.world.shortest, most + 1)
        for start in oracle.starts(length)
    }


def shortest_failing(found):
    return min((len(start) for start, t in found.items() if t is not None), default=None)


@pytest.mark.medium
@pytest.mark.parametrize("template", templates())
@settings(max_examples=8)
@given(st.data())
def test_no_answer_contradicts_brute_force(template, data):
    document, universe, oracle = data.draw(laws(template))
    law = compile_law(bundle_of(document, universe, templates())).law
    found = truth(oracle)
    failing = shortest_failing(found)
    check_judgement(law, oracle, found)
    check_answer(law, oracle, found, failing)
    check_verdict(law, document, universe, oracle, found, failing)


def check_judgement(law, oracle, found):
    """The harness, on every ring at once: which starts count, when each violates the law, and how often it speaks."""
    alphabet, shortest = oracle.world.alphabet, oracle.world.shortest
    rings = [
        "".join(ring) for length in range(shortest, shortest + 3) for ring in product(oracle.symbols, repeat=length)
    ]
    rings = [ring for ring in rings if len(ring) <= oracle.world.longest][:300]
    starts = [tuple(map(alphabet.index, ring)) for ring in rings]
    judged = judge(law, starts)
    for start, hits in [*zip(starts, judged.hits.tolist(), strict=True)][:60]:
        run = Run(law, start)
        assert hits == (len({t for t, counts, _ in run.instances() if counts}) if run.usable() else 0)
    for ring, usable, t in zip(rings, judged.usable.tolist(), judged.violated.tolist(), strict=True):
        assert usable == oracle.usable(ring)
        if usable:
            assert (None if t < 0 else t) == (found[ring] if ring in found else oracle.first_violation(ring))


def check_answer(law, oracle, found, failing):
    """The prover: what it proves is true as far as brute force reaches, and what it refutes is false."""
    longest = max(map(len, found), default=oracle.world.longest)
    asked = [(form, each) for each in questions_of(law) for form in (each.question, within_range(each.question, law))]
    for question, form in asked:
        answer = prove(question, LIMITS)
        holds = getattr(question.claim, "holds", None)
        match answer:
            case Proved(certificate):
                assert failing is None
                assert check_certificate(certificate, facts(question), holds) is None
            case ProvedUpTo(length, certificate):
                assert failing is None or failing > length
                assert check_certificate(certificate, facts(question), holds) == length
            case Refuted(ring, t) if form.exact:
                start = "".join(oracle.world.alphabet[cell] for cell in ring)
                assert oracle.usable(start)
                between = isinstance(question.claim, Conserved | Commutes)  # a step is counted from the state before it
                violated = oracle.first_violation(start)
                assert violated is not None if form.whole else violated == t + between
                assert failing == len(start) or (failing is None and len(start) > longest)


def check_verdict(law, document, universe, oracle, found, failing):
    """The whole trial: its verdict, its counterexample, and its agreement with the prover."""
    plan = compile_law(bundle_of(document, universe, templates()))
    verdict = try_law(plan)
    event(f"{verdict.status} {verdict.reason or verdict.method}")
    if verdict.status == "FAIL":
        assert verdict.counterexample is not None
        start, t = verdict.counterexample.start, verdict.counterexample.t
        assert oracle.usable(start)
        assert oracle.world.shortest <= len(start) <= oracle.world.longest
        assert oracle.first_violation(start) == t
    elif verdict.certificate is not None:
        assert failing is None or (verdict.up_to is not None and failing > verdict.up_to)
    assert (verdict.status == "FAIL") >= isinstance(answer_of(law), Refuted)
    assert verdict.detail or verdict.status not in ("PASS", "UNKNOWN")
    assert verdict.status != "UNKNOWN" or verdict.reason in (
        "unmet_preconditions",
        "vacuous_pass",
        "inconclusive_low_power",
    )
    if verdict.reason == "vacuous_pass" and verdict.method == "proof":
        assert failing is None


# How far a law looks: a lone `>` that spreads by a cell a step on either side fills a ring of m cells at step m // 2.
