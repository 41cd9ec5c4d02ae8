"""Provers against brute force: every start of every small ring is followed until it repeats, and no answer contradicts it."""

from itertools import product
from operator import eq, ge, gt, le, lt, ne

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import (
    Always,
    And,
    Commutes,
    Conserved,
    Eventually,
    Limits,
    Linear,
    Local,
    Monotone,
    Not,
    Opaque,
    Or,
    Proved,
    ProvedUpTo,
    Question,
    Refuted,
    Term,
    Undecided,
    facts,
    implies,
)
from specledger.wings.laws.verify.certificates import check_certificate
from tests.conftest import examples

LONGEST = {2: 7, 3: 5}  # cells of the rings that brute force tries
LIMITS = Limits(cells=20_000, nodes=12)
OPERATORS = {"<=": le, ">=": ge, "==": eq, "!=": ne, "<": lt, ">": gt}


# An oracle of its own: nothing below calls the engine.


def follow(rule, ring, steps):
    states = [ring]
    for _ in range(steps):
        x, n, s = states[-1], len(ring), rule.symbols
        states.append(tuple(rule.table[x[i - 1] * s * s + x[i] * s + x[(i + 1) % n]] for i in range(n)))
    return states


def value(observable, ring):
    total = observable.constant
    for i in range(len(ring)):
        code = 0
        for j in range(observable.width):
            code = observable.symbols * code + ring[(i + j) % len(ring)]
        total += observable.weights[code]
    return total


def true(condition, states, t):
    if isinstance(condition, Linear):
        read = [(a.coefficient, value(a.observable, states[0 if a.at is None else t + a.at])) for a in condition.terms]
        return OPERATORS[condition.op](sum(a * b for a, b in read), condition.bound)
    if isinstance(condition, Not):
        return not true(condition.part, states, t)
    if isinstance(condition, And):
        return all(true(part, states, t) for part in condition.parts)
    return any(true(part, states, t) for part in condition.parts)


def ahead(condition):
    if isinstance(condition, Linear):
        return max((term.at or 0 for term in condition.terms), default=0)
    parts = [condition.part] if isinstance(condition, Not) else condition.parts
    return max(map(ahead, parts), default=0)


def turned(claim, ring):
    ring = ring[::-1] if claim.reflect else ring
    return tuple(claim.symbol_map[ring[(i - claim.shift) % len(ring)]] for i in range(len(ring)))


def instance(question):
    """(Steps that an instance looks at, whether it fails at t on a trajectory.)"""
    claim, rule = question.claim, question.rule
    match claim:
        case Conserved(e):
            return 1, lambda x, t: value(e, x[t]) != value(e, x[t + 1])
        case Monotone(e, direction):
            return 1, lambda x, t: not OPERATORS[direction](value(e, x[t + 1]), value(e, x[t]))
        case Always(condition):
            return ahead(condition), lambda x, t: not true(condition, x, t)
        case Eventually(p, q, within):
            return within, lambda x, t: true(p, x, t) and not any(true(q, x, t + i) for i in range(within + 1))
        case Commutes():
            # the whole trajectory from the transformed start, as the law says it, not step by step
            return 1, lambda x, t: follow(rule, turned(claim, x[0]), t + 1)[-1] != turned(claim, x[t + 1])
        case Local(trigger, results):
            return 1, lambda x, t: any(a == trigger and b not in results for a, b in zip(x[t], x[t + 1], strict=True))
        case Opaque(_, span, holds):
            return span, lambda x, t: not holds(x[0], x[t : t + span + 1])


def admits(question, ring):
    longest = question.longest or len(ring)
    allowed = range(question.rule.symbols) if question.start is None else question.start
    return question.shortest <= len(ring) <= longest and set(ring) <= set(allowed) and true(question.where, [ring], 0)


def violations(question, ring):
    """Each t at which the claim fails on the trajectory from a ring, until it has repeated itself."""
    span, fails = instance(question)
    seen, t = set(), 0
    states = follow(question.rule, ring, span)
    while states[t] not in seen and (question.horizon is None or t + span <= question.horizon):
        seen.add(states[t])
        if fails(states, t):
            yield t
        t += 1
        states.append(follow(question.rule, states[-1], 1)[-1])


def first_failing_length(question):
    symbols = question.rule.symbols
    for length in range(question.shortest, min(question.longest or 99, LONGEST[symbols]) + 1):
        for ring in product(range(symbols), repeat=length):
            if admits(question, ring) and next(violations(question, ring), None) is not None:
                return length
    return None


# Random questions


@st.composite
def additives(draw, symbols, width=2):
    width = draw(st.integers(1, width))
    weights = draw(st.lists(st.integers(-2, 2), min_size=symbols**width, max_size=symbols**width))
    return Additive(symbols, width, tuple(weights), draw(st.integers(-1, 1)))


@st.composite
def linears(draw, symbols, ats):
    width = 2 if symbols == 2 else 1
    terms = st.builds(Term, st.integers(-2, 2), additives(symbols, width), st.sampled_from(ats))
    read = draw(st.lists(terms, min_size=1, max_size=2))
    return Linear(tuple(read), draw(st.sampled_from(sorted(OPERATORS))), draw(st.integers(-3, 6)))


@st.composite
def conditions(draw, symbols, ats):
    one, other = draw(linears(symbols, ats)), draw(linears(symbols, ats))
    return draw(st.sampled_from([one, implies(one, other), And((one, other)), Or((one, other)), Not(one), one]))


@st.composite
def claims(draw, symbols, kinds):
    symbol = st.integers(0, symbols - 1)
    match draw(st.sampled_from(kinds)):
        case "conserved":
            return Conserved(draw(additives(symbols, 3 if symbols == 2 else 2)))
        case "monotone":
            return Monotone(draw(additives(symbols, 3 if symbols == 2 else 2)), draw(st.sampled_from(["<=", ">="])))
        case "state":
            return Always(draw(conditions(symbols, [0])))
        case "step":
            return Always(draw(conditions(symbols, [0, 1])))
        case "past":
            return Always(draw(conditions(symbols, [0, None])))
        case "eventually":
            condition = linears(symbols, [0])
            return Eventually(draw(condition), draw(condition), draw(st.integers(0, 2)))
        case "commutes":
            image = draw(st.lists(symbol, min_size=symbols, max_size=symbols))
            return Commutes(draw(st.booleans()), draw(st.integers(-2, 3)), tuple(image))
        case "local":
            return Local(draw(symbol), draw(st.frozensets(symbol, min_size=1)))
        case _:
            limit = draw(st.integers(0, 4))
            return Opaque(
                "runs", 1, lambda start, states: states[0].count(0) * states[1].count(1) <= limit + len(start)
            )


KINDS = ["conserved", "monotone", "state", "step", "past", "eventually", "commutes", "local", "opaque"]
# Rules with something to prove: they conserve, or lose symbols, or copy.
ELEMENTARY = [184, 226, 170, 204, 51, 15, 128, 254, 200, 76, 232, 12, 4, 36, 132, 164, 90, 150, 110, 30, 43, 142]


@st.composite
def rules(draw):
    if draw(st.booleans()):
        symbols = draw(st.sampled_from([2, 3]))
        table = draw(st.lists(st.integers(0, symbols - 1), min_size=symbols**3, max_size=symbols**3))
        return Rule(symbols, tuple(table))
    if draw(st.booleans()):
        number = draw(st.sampled_from(ELEMENTARY))
        return Rule(2, tuple(number >> i & 1 for i in range(8)))
    keep = draw(st.sampled_from([(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 0, 2), (0, 1, 1)]))
    place = draw(st.sampled_from([0, 1, 2]))
    return Rule(3, tuple(keep[window[place]] for window in product(range(3), repeat=3)))


@st.composite
def questions(draw, kinds=KINDS):
    rule = draw(rules())
    shortest = draw(st.integers(1, 3))
    longest = draw(st.sampled_from([None, None, 200, 4, 5]))
    start = draw(st.sampled_from([None, None, frozenset({0}), frozenset({0, 1}), frozenset({1, rule.symbols - 1})]))
    where = draw(st.one_of(st.just(And(())), linears(rule.symbols, [None])))
    horizon = draw(st.sampled_from([None, None, None, 2, 3]))
    return Question(rule, draw(claims(rule.symbols, kinds)), shortest, longest, start, where, horizon)


@pytest.mark.medium
@settings(max_examples=examples(200))
@given(questions())
def test_no_answer_contradicts_brute_force(question):
    answer = prove(question, LIMITS)
    event(f"{type(question.claim).__name__}: {type(answer).__name__}")
    failing = first_failing_length(question)
    holds = getattr(question.claim, "holds", None)
    match answer:
        case Proved(certificate):
            assert failing is None
            assert check_certificate(certificate, facts(question), holds) is None
        case ProvedUpTo(length, certificate):
            assert failing is None or failing > length
            assert check_certificate(certificate, facts(question), holds) == length
        case Refuted(ring, t, note):
            assert admits(question, ring)
            assert next(violations(question, ring)) == t
            if note.startswith("no smaller") or failing:
                assert failing == len(ring) or (failing is None and len(ring) > LONGEST[question.rule.symbols])
        case Undecided():
            span, _ = instance(question)
            assert question.horizon is not None
            assert question.horizon < span


@pytest.mark.medium
@settings(max_examples=examples(150))
@given(rules(), st.data())
def test_change_over_all_states_is_always_decided(rule, data):
    question = Question(rule, data.draw(claims(rule.symbols, ["conserved", "monotone"])))
    answer = prove(question, LIMITS)
    assert isinstance(answer, Proved | Refuted)
    failing = first_failing_length(question)
    if isinstance(answer, Proved):
        assert failing is None
    else:
        assert failing == len(answer.ring) or (failing is None and len(answer.ring) > LONGEST[rule.symbols])


@pytest.mark.medium
@settings(max_examples=examples(150))
@given(rules(), st.data())
def test_claims_about_windows_over_all_states_are_always_decided(rule, data):
    question = Question(rule, data.draw(claims(rule.symbols, ["commutes", "local"])))
    answer = prove(question, LIMITS)
    assert isinstance(answer, Proved | Refuted)
    assert isinstance(answer, Proved) == (first_failing_length(question) is None)


@pytest.mark.medium
@settings(max_examples=examples(100))
@given(questions(["conserved", "monotone", "state", "step", "past", "eventually", "commutes", "local"]))
def test_few_rings_are_always_decided(question):
    small = Question(question.rule, question.claim, 2, 5, question.start, question.where)
    answer = prove(small, Limits(nodes=4))
    assert isinstance(answer, Proved | Refuted)
    assert isinstance(answer, Proved) == (first_failing_length(small) is None)
