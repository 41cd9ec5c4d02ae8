"""Certificates prove their own question and no other, and nothing that is written into one breaks the checker."""

import copy
import inspect
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import (
    Always,
    And,
    Claim,
    Commutes,
    Conserved,
    Eventually,
    Limits,
    Linear,
    Local,
    Monotone,
    Opaque,
    Or,
    Proved,
    ProvedUpTo,
    Question,
    Term,
    facts,
    implies,
)
from specledger.wings.laws.verify import certificates, conditions, statements, swept
from specledger.wings.laws.verify.certificates import InvalidCertificate, check_certificate
from tools.law_reach import AUTOMATA, THREE_SYMBOLS, WIDTHS, tried

TRAFFIC, AND, KEEP = (Rule(2, tuple(number >> i & 1 for i in range(8))) for number in (184, 128, 204))
SHIFT = Rule(3, tuple(left for left, _, _ in product(range(3), repeat=3)))
ONES, LENGTH, TWOS = Additive(2, 1, (0, 1)), Additive(2, 1, (1, 1)), Additive(3, 1, (0, 0, 1))
RISES, EDGES = Additive(2, 2, (0, 1, 0, 0)), Additive(2, 2, (0, 1, 1, 0))


def compare(left, op, right=0, at=0, then=0):
    if isinstance(right, int):
        return Linear((Term(1, left, at),), op, right)
    return Linear((Term(1, left, at), Term(-1, right, then)), op, 0)


def same(_, states):
    return sum(states[0]) == sum(states[1])


MIXED = And((compare(ONES, ">"), compare(ONES, "<", LENGTH)))
QUESTIONS = {
    "current": Question(TRAFFIC, Conserved(ONES)),
    "potential": Question(AND, Monotone(ONES, "<=")),
    "commutes": Question(AND, Commutes(True, 1, (0, 1)), 3, 9),
    "local": Question(SHIFT, Local(1, frozenset({0, 1})), start=frozenset({0, 1})),
    "bound": Question(TRAFFIC, Always(compare(ONES, "<=", LENGTH)), 4, 200),
    "step": Question(AND, Always(implies(compare(ONES, "<=", 3), compare(ONES, "<=", 3, at=1)))),
    "past": Question(TRAFFIC, Always(compare(ONES, "==", ONES, then=None))),
    "falling": Question(AND, Always(compare(ONES, "<=", ONES, then=None))),
    "start": Question(SHIFT, Always(compare(TWOS, "==")), start=frozenset({0, 1})),
    "where": Question(TRAFFIC, Always(compare(ONES, "<=", 4)), where=compare(ONES, "<=", 4, at=None)),
    "nodes": Question(KEEP, Always(implies(MIXED, compare(RISES, ">")))),
    "window": Question(KEEP, Always(compare(EDGES, "!=", 3))),
    "eventually": Question(AND, Eventually(compare(ONES, ">"), compare(ONES, "<=", LENGTH), 1)),
    "few": Question(TRAFFIC, Opaque("ones stay", 1, same, from_start=False), 2, 4),
    "up to": Question(TRAFFIC, Opaque("ones stay", 1, same)),
    "late": Question(KEEP, Opaque("ones stay", 2, same), 2, 3, frozenset({1}), horizon=4),
}
# True of no ring, or not of all; each question's rule and contract with claims of every kind that fail.
FALSE: list[Claim] = [
    *(Always(compare(ONES, op, bound)) for op, bound in (("<=", 2), (">=", 1), ("!=", 3), ("==", 2))),
    Always(Or(())),
    Conserved(RISES),
    Monotone(RISES, "<="),
    Always(implies(compare(RISES, ">"), compare(RISES, ">", 1, at=1))),
    Eventually(And(()), compare(ONES, ">"), 1),
    Commutes(False, 0, (1, 0)),
    Commutes(False, 0, (1, 1)),
    Local(0, frozenset()),
    Opaque("never", 0, lambda start, states: False),
]


def judge(question):
    return getattr(question.claim, "holds", None)


SWEPT = {"swept bound": "bound", "swept step": "step", "swept cases": "window", "swept eventually": "eventually"}
"""Questions whose windows are swept over, although they are few."""
QUESTIONS |= {name: QUESTIONS[other] for name, other in SWEPT.items()}


def limits(name):
    return Limits(cells=2_000, windows=1 if name in SWEPT else 1 << 16)


@pytest.fixture(scope="module")
def proofs():
    answers = {name: prove(question, limits(name)) for name, question in QUESTIONS.items()}
    assert isinstance(answers["up to"], ProvedUpTo)
    found = {name: answer.certificate for name, answer in answers.items() if isinstance(answer, Proved | ProvedUpTo)}
    assert {name for name, answer in answers.items() if not isinstance(answer, Proved)} == {"up to"}
    return found


def test_the_proofs_are_of_every_kind_and_shape(proofs):
    text = str(proofs)
    assert {proof["proof"]["kind"] for proof in proofs.values()} == {
        "current",
        "potential",
        "windows",
        "circulation",
        "exhaustive",
        "swept",
    }
    assert {name for name, proof in proofs.items() if proof["proof"]["kind"] == "swept"} == set(SWEPT)
    assert "'more'" in str(proofs["swept cases"])
    for word in ("'crossing'", "'more'", "'op': '=='", "'op': '<='", "'windows': [", "'later': None"):
        assert word in text, word


def places(value, path=()):
    """The path of everything inside a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield from places(member, (*path, key))


def find(document, path):
    for key in path:
        document = document[key]
    return document


def changes(value):
    """Other values for a place: near ones, and hostile ones."""
    if type(value) is int:
        yield from (value + 1, value - 1, -value, 2 * value + 1, 10**12, 2**53, bool(value), str(value))
    if isinstance(value, list):
        yield from ([*value, 0], value[:-1], value[::-1], value * 2, [value] * 3)
    if isinstance(value, dict):
        yield from ({**value, "more to say": 0}, dict(list(value.items())[1:]))
    if isinstance(value, str):
        yield from (value + " ", "circulation", "==", ">=")
    yield from (None, True, 0, 2**70, 1.5, float("nan"), "", "\ud800", [], {}, [[[[]]]], {"or": []}, object(), b"")


def altered(document):
    """(path, the document with another value there) for every place and change."""
    for path in places(document):
        for new in changes(find(document, path)):
            changed = copy.deepcopy(document)
            if not path:
                yield path, new
                continue
            find(changed, path[:-1])[path[-1]] = new
            if type(new) is not type(find(document, path)) or new != find(document, path):
                yield path, changed


def accepted(document, question):
    try:
        return True, check_certificate(document, facts(question), judge(question))
    except InvalidCertificate:
        return False, None


@pytest.mark.medium
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_changed_certificate_is_refused_or_proves_the_same(name, proofs):
    question, document = QUESTIONS[name], proofs[name]
    whole = accepted(document, question)
    assert whole[0]
    refused = kept = 0
    for path, changed in altered(document):
        result = accepted(changed, question)
        refused += not result[0]
        if result[0]:
            kept += 1
            assert path[0] == "proof", path
            # an exhaustive proof of fewer rings says so; other proofs may have room in their integers, never in their form
            assert result == whole or (path == ("proof", "length") and result[1] == changed["proof"]["length"])
            assert type(find(changed, path)) in (int, list) or find(changed, path) is None
    assert refused > 9 * kept


@pytest.mark.parametrize("name", ["current", "commutes", "few"])
def test_there_is_no_room_in_these_proofs(name, proofs):
    kept = [path for path, changed in altered(proofs[name]) if accepted(changed, QUESTIONS[name])[0]]
    assert kept in ([], [("proof", "length")] * len(kept))


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_proof_is_accepted_for_a_false_claim(name, proofs):
    question = QUESTIONS[name]
    for claim in FALSE:
        symbols = question.rule.symbols
        observables = [value for value in (getattr(claim, "observable", None),) if value]
        if symbols == 3 and not isinstance(claim, Local | Opaque):
            continue
        assert all(observable.symbols == symbols for observable in observables)
        false = Question(question.rule, claim, question.shortest, None)
        if isinstance(prove(false, Limits(cells=4_000)), Proved):
            continue  # true of this rule after all
        for proof in proofs.values():
            document = {"format": "proof/v1", "question": facts(false), "proof": proof["proof"]}
            held, length = accepted(document, false)
            assert not held or length is not None, (claim, proof)


def test_an_exhaustive_proof_ends_where_it_says(proofs):
    question, document = QUESTIONS["up to"], copy.deepcopy(proofs["up to"])
    length = document["proof"]["length"]
    assert check_certificate(document, facts(question), same) == length
    document["proof"]["length"] = length - 1
    assert check_certificate(document, facts(question), same) == length - 1
    document["proof"]["length"] = 10**9
    with pytest.raises(InvalidCertificate, match="too m"):
        check_certificate(document, facts(question), same)


def exhaustive(question, length, holds=None):
    document = {"format": "proof/v1", "question": facts(question), "proof": {"kind": "exhaustive", "length": length}}
    return check_certificate(document, facts(question), holds)


BROKEN_LATER = {
    "starts that meet a condition": Question(
        AND, Always(compare(ONES, "==", 2)), 4, 4, where=compare(ONES, "==", 2, at=None)
    ),
    "starts of some symbols": Question(
        Rule(3, tuple(2 if left and right else middle for left, middle, right in product(range(3), repeat=3))),
        Always(compare(TWOS, "==")), 4, 4, frozenset({0, 1}),
    ),
    "a claim about the start, of all states": Question(AND, Always(compare(ONES, "==", ONES, then=None)), 4, 4),
}  # fmt: skip


@pytest.mark.parametrize("question", BROKEN_LATER.values(), ids=BROKEN_LATER)
def test_an_exhaustive_proof_follows_rings_to_states_that_are_no_starts(question):
    with pytest.raises(InvalidCertificate, match="fails at t = 1"):
        exhaustive(question, 4)


TWO_ONES = {"where": compare(ONES, "==", 2, at=None)}
# a claim that fails, what restricts the starts, and the last step that is looked at where it first fails
FAILS_AT: dict[str, tuple[Claim, dict[str, Any], int]] = {
    "a state": (Always(compare(ONES, "==", 2)), TWO_ONES, 1),
    "the next state": (Always(compare(ONES, "==", 2, at=1)), TWO_ONES, 1),
    "the state after that": (Always(compare(ONES, "!=", 0, at=2)), TWO_ONES, 2),
    "a state, of all": (Always(compare(ONES, "!=", 2)), {}, 0),
    "two states, of all": (Conserved(ONES), {}, 1),
    "three states, of all": (Always(compare(ONES, "==", ONES, at=2, then=0)), {}, 2),
    "the start and a state, of all": (Always(compare(ONES, "==", ONES, then=None)), {}, 1),
}


@pytest.mark.parametrize(("claim", "starts", "first"), FAILS_AT.values(), ids=FAILS_AT)
def test_an_exhaustive_proof_looks_as_far_as_the_horizon_and_no_farther(claim, starts, first):
    for horizon in (*range(4), None):
        question = Question(AND, claim, 4, 4, horizon=horizon, **starts)
        if horizon is not None and horizon < first:
            assert exhaustive(question, 4) is None
        else:
            with pytest.raises(InvalidCertificate, match="the claim fails"):
                exhaustive(question, 4)


def test_an_exhaustive_proof_covers_rings_up_to_its_length():
    claim = Opaque("at most four cells", 0, lambda start, states: len(start) <= 4)
    lasting = Question(KEEP, claim, 2, 4)
    assert [exhaustive(lasting, length, claim.holds) for length in range(2, 6)] == [2, 3, None, None]
    ending = Question(KEEP, claim, 2, 6)
    assert [exhaustive(ending, length, claim.holds) for length in range(2, 5)] == [2, 3, 4]
    for length in (5, 6, 7):
        with pytest.raises(InvalidCertificate, match="the claim fails"):
            exhaustive(ending, length, claim.holds)


def test_a_claim_that_may_tell_cells_apart_is_checked_on_every_rotation():
    """Of each ring the smallest rotation begins with a 0."""
    claim = Opaque("the first cell is 0", 0, lambda start, states: states[0][0] == 0)
    with pytest.raises(InvalidCertificate, match="the claim fails"):
        exhaustive(Question(KEEP, claim, 4, 4, where=compare(ONES, "<=", 1, at=None)), 4, claim.holds)


def test_an_opaque_claim_needs_its_judge(proofs):
    with pytest.raises(InvalidCertificate, match="needs its judge"):
        check_certificate(proofs["few"], facts(QUESTIONS["few"]))


def test_a_judge_that_says_no_is_heard(proofs):
    with pytest.raises(InvalidCertificate, match="fails at t = 0"):
        check_certificate(proofs["few"], facts(QUESTIONS["few"]), lambda start, states: False)


@pytest.mark.parametrize(
    "proof",
    [
        {"kind": "circulation", "initial": {"width": 10**9, "trees": []}, "later": None},
        {"kind": "circulation", "initial": {"width": 14, "trees": [[]] * 1000}, "later": None},
        {"kind": "windows", "closed": {"width": 13, "windows": []}},
        {"kind": "exhaustive", "length": 2**52},
        {"kind": "current", "potential": [0] * 100_000},
    ],
)
def test_size_is_refused_before_work(proof):
    question = facts(QUESTIONS["bound"])
    with pytest.raises(InvalidCertificate):
        check_certificate({"format": "proof/v1", "question": question, "proof": proof}, question)


# Forgeries that only one check stands against; where its ground is true, the same document is a proof.

KEEP3 = Rule(3, tuple(middle for _, middle, _ in product(range(3), repeat=3)))
MEET = Rule(3, tuple(2 if left and right else middle for left, middle, right in product(range(3), repeat=3)))
LEAF = {"multipliers": [0, 1], "now": [0], "start": None}
ONE_LATER = {"multipliers": [0, 0, 1], "now": [0], "start": [0]}
BY_LINK = {"multipliers": [0, 0, -1, 1], "now": [0], "start": [0]}
LINK = {"observable": {"width": 1, "weights": [0, 0, 1], "constant": 0}, "op": "==", "potential": [0] * 9}


def later(tree, closed, *links):
    shape = {"width": 1, "start_width": 1, "closed": {"width": 1, "windows": closed}, "links": list(links)}
    return {**shape, "trees": [tree, tree]}


@pytest.mark.parametrize(
    ("steps", "reason", "sound"),
    [
        (None, "later steps are not covered", False),
        (later(ONE_LATER, [0, 1]), "leads out of the closed windows", True),
        (later(BY_LINK, None, LINK), "breaks the potential", True),
        (later(ONE_LATER, None), "breaks the potential", False),
    ],
)
def test_what_later_steps_lean_on_is_checked(steps, reason, sound):
    def document(question):
        below = {**LEAF, "multipliers": [0, 1]}
        proof = {"kind": "circulation", "initial": {"width": 1, "trees": [below, below]}, "later": steps}
        return {"format": "proof/v1", "question": facts(question), "proof": proof}

    for rule, true in ((MEET, False), (KEEP3, sound)):
        question = Question(rule, Always(compare(TWOS, "==")), shortest=4, start=frozenset({0, 1}))
        if true:
            assert check_certificate(document(question), facts(question)) is None
        else:
            with pytest.raises(InvalidCertificate, match=reason):
                check_certificate(document(question), facts(question))


def test_an_inequality_is_not_turned_around():
    question = Question(KEEP, Always(compare(ONES, "<=", 2)))
    leaf = {"multipliers": [-4, 4], "now": [0], "start": None}
    proof = {"kind": "circulation", "initial": {"width": 1, "trees": [leaf]}, "later": None}
    with pytest.raises(InvalidCertificate, match="a negative multiplier"):
        check_certificate({"format": "proof/v1", "question": facts(question), "proof": proof}, facts(question))


def test_deep_trees_are_refused(proofs):
    document = copy.deepcopy(proofs["nodes"])
    tree = document["proof"]["initial"]["trees"][0]
    for _ in range(2_000):
        tree = {"window": 0, "count": 0, "fewer": tree, "more": {}}
    document["proof"]["initial"]["trees"][0] = tree
    assert not accepted(document, QUESTIONS["nodes"])[0]


def test_the_checker_knows_no_prover():
    for module in (certificates, conditions, statements, swept):
        assert "specledger.wings.laws.proofs" not in inspect.getsource(module).replace(
            "`specledger.wings.laws.proofs.question(question)`", ""
        )
        assert len(inspect.getsource(module).splitlines()) < 250


def test_what_the_prover_makes_the_checker_reads():
    most = Limits()
    assert most.windows <= statements.MAX_WINDOWS
    assert most.check <= statements.MAX_WORK
    assert most.certificate <= certificates.MAX_BYTES
    assert (most.wide, most.swept, most.tables) <= (swept.MAX_WINDOWS, swept.MAX_SWEPT, swept.MAX_TABLES)


@pytest.mark.medium
@pytest.mark.parametrize("width", WIDTHS)
def test_laws_that_look_three_steps_ahead_at_radius_2_are_proved(width):
    """Each answer is compared with all rings of up to twelve cells, and each certificate is checked, as they are made."""
    held = [law.answer for law in tried(3, width, 3, Limits()) if law.holds]
    assert "Proved" in held
    before = [law.answer for law in tried(3, width, 3, Limits(windows=1 << 12, wide=1 << 12)) if law.holds]
    assert "Proved" not in before


@pytest.mark.medium
@pytest.mark.parametrize("width", WIDTHS[:2])
def test_laws_of_three_symbols_that_look_three_steps_ahead_at_radius_2_are_proved(width):
    """3^13 windows and 3^14; each answer is compared and checked, as above."""
    held = [law.answer for law in tried(2, width, 3, Limits(), THREE_SYMBOLS) if law.holds]
    assert "Proved" in held
    assert set(held) <= {"Proved", "Refuted"}


@pytest.mark.medium
def test_sweeps_decide_as_lists_do():
    """The same random laws with windows in lists and in arrays; the answers of both are compared with small rings."""
    for automata, width, ahead in product(AUTOMATA, WIDTHS[:2], (1, 2)):
        few = automata._replace(longest=6)
        lists, arrays = (
            [law.answer for law in tried(2, width, ahead, Limits(windows=windows), few)] for windows in (1 << 16, 1)
        )
        assert lists == arrays


@pytest.mark.medium
@pytest.mark.parametrize(
    ("most", "why"),
    [
        (Limits(windows=1, wide=31), "2^5 windows are more than 31"),
        (Limits(windows=1, swept=31), "0 sweeps over 2^5 windows do not decide them"),
        (Limits(windows=1, tables=31), "the weights of 2^5 windows take more than 31 bytes"),
    ],
)
def test_what_was_too_large_is_said(most, why):
    """The crosses of two neighbours some step later are seen in five cells."""
    claim = Always(implies(compare(ONES, "<=", 1), compare(ONES, "<=", 1, at=2)))
    assert isinstance(prove(Question(AND, claim), most), ProvedUpTo)
    answer = prove(Question(AND, claim), most)
    assert isinstance(answer, ProvedUpTo)
    assert answer.why == why


BOTH = {"multipliers": [0, 1], "sweeps": 0}
FORGED_SWEEPS = {
    "too few": (2, {**BOTH, "sweeps": -1}, "the number of sweeps is out of range"),
    "as many as nodes": (2, {**BOTH, "sweeps": 2}, "the number of sweeps is out of range"),
    "nothing refuted": (2, {**BOTH, "multipliers": [0, 0]}, "refute nothing"),
    "turned around": (2, {**BOTH, "multipliers": [4, -1]}, "a negative multiplier"),
    "beyond 64 bits": (16, {"multipliers": [0, 2**52], "sweeps": 1 << 12}, "leaves 64 bits"),
    "still rising": (2, BOTH, "still rises after 0 sweeps"),
}


@pytest.mark.parametrize(("width", "leaf", "reason"), FORGED_SWEEPS.values(), ids=FORGED_SWEEPS)
def test_a_forged_potential_of_sweeps_is_refused(width, leaf, reason):
    asked = facts(Question(KEEP, Always(compare(ONES, "<=", 2))))
    proof = {"kind": "swept", "width": width, "trees": [leaf]}
    with pytest.raises(InvalidCertificate, match=reason):
        check_certificate({"format": "proof/v1", "question": asked, "proof": proof}, asked)


@pytest.mark.parametrize(("allowed", "reason"), [((1 << 14) - 1, "takes too much work"), (1 << 14, "still rises")])
def test_a_sweep_counts_for_so_many_windows_at_least(allowed, reason, monkeypatch):
    monkeypatch.setattr(swept, "MAX_SWEPT", allowed)
    asked = facts(Question(KEEP, Always(compare(ONES, "<=", 2))))
    with pytest.raises(InvalidCertificate, match=reason):
        check_certificate(
            {"format": "proof/v1", "question": asked, "proof": {"kind": "swept", "width": 2, "trees": [BOTH]}}, asked
        )


@pytest.mark.parametrize(("symbols", "width"), [(2, 2), (2, 5), (2, 12), (3, 2), (3, 7), (4, 5)])
@pytest.mark.parametrize("sweeps", [0, 1, 2, 3, 11])
@pytest.mark.parametrize("bits", [31, 63])
def test_heights_never_leave_their_type(symbols, width, sweeps, bits):
    """All cells become 1, so a law of no ones is false; heights that rise in each block of a sweep came round to less."""
    rule, ones = Rule(symbols, (1,) * symbols**3), Additive(symbols, 1, (0, 1) + (0,) * (symbols - 2))
    asked = facts(Question(rule, Always(Linear((Term(1, ones, 0),), "<=", 0)), shortest=3))
    factor = min((1 << bits) - 1, (1 << 53) - 1) // (sweeps + 2)
    proof = {"kind": "swept", "width": width, "trees": [{"multipliers": [factor, 0], "sweeps": sweeps}]}
    with pytest.raises(InvalidCertificate, match="sweeps"):
        check_certificate({"format": "proof/v1", "question": asked, "proof": proof}, asked)


@pytest.mark.parametrize(
    ("width", "trees", "question", "reason"),
    [
        (1, [BOTH], "bound", "out of range"),
        (17, [BOTH], "bound", "out of range"),
        (16, [BOTH, BOTH], "start", "too many windows"),
        (2, [], "bound", "not one tree for each clause"),
        (2, [BOTH], "past", "later steps are not covered"),
        (2, [BOTH], "where", "later steps are not covered"),
        (2, [BOTH], "step", "the width is too small"),
    ],
)
def test_sweeps_are_bounded_and_cover_what_is_asked(width, trees, question, reason, monkeypatch):
    monkeypatch.setattr(swept, "MAX_WINDOWS", 1 << 16)
    asked = facts(replace(QUESTIONS[question], start=None))
    proof = {"kind": "swept", "width": width, "trees": trees}
    with pytest.raises(InvalidCertificate, match=reason):
        check_certificate({"format": "proof/v1", "question": asked, "proof": proof}, asked)


@pytest.mark.medium
def test_a_certificate_that_is_too_large_is_no_proof():
    question = QUESTIONS["nodes"]
    proved = prove(question)
    assert isinstance(proved, Proved)
    for few in (Limits(certificate=100), Limits(check=10)):
        assert not isinstance(prove(question, few), Proved)


def test_fewer_cases_are_tried_where_windows_are_many():
    most = Limits()
    assert [most.cases(1 << bits) for bits in (4, 14, 15, 16, 30)] == [48, 48, 24, 12, 2]
