"""Windows of an initial state count like those of later ones, in proofs and for the checker of certificates."""

from itertools import product

import pytest

from specledger.wings.laws.automaton import Rule
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import Commutes, Local, Proved, Question, Refuted, facts
from specledger.wings.laws.proofs.windows import digits, later_windows
from specledger.wings.laws.verify.certificates import InvalidCertificate, check_certificate

GONE = Rule(3, (0,) * 27)
"""Every cell becomes 0, so that a 1 stands in an initial state alone."""
LEFT_TO_ZERO = Rule(3, tuple(0 if middle == 1 else left % 2 for left, middle, _ in product(range(3), repeat=3)))
START = frozenset({0, 1})

AT_ONCE = {
    "a symbol that only starts have": Local(1, frozenset({1})),
    "a symmetry that only starts break": Commutes(False, 0, (1, 0, 2)),
}


@pytest.mark.parametrize("claim", AT_ONCE.values(), ids=AT_ONCE)
def test_a_claim_that_fails_at_the_first_step_alone_is_refuted(claim):
    """On rings that are too long to be tried."""
    answer = prove(Question(GONE, claim, shortest=60, start=START))
    assert isinstance(answer, Refuted)
    assert answer.t == 0


def test_no_certificate_covers_later_steps_alone():
    for claim, sound in ((Local(1, frozenset({1})), False), (Local(1, frozenset({0})), True)):
        question = Question(GONE, claim, shortest=3, start=START)
        proof = {"kind": "windows", "closed": {"width": 1, "windows": [0]}}
        document = {"format": "proof/v1", "question": facts(question), "proof": proof}
        if sound:
            assert isinstance(prove(question), Proved)
            assert check_certificate(document, facts(question)) is None
        else:
            with pytest.raises(InvalidCertificate, match=r"the window \[0, 1, 0\] fails"):
                check_certificate(document, facts(question))


RULES = {
    "gone": GONE,
    "left to zero": LEFT_TO_ZERO,
    "kept": Rule(3, tuple(middle for _, middle, _ in product(range(3), repeat=3))),
    "a sum": Rule(3, tuple((left + right) % 2 for left, _, right in product(range(3), repeat=3))),
}


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_windows_after_a_step_are_among_the_closed_ones(rule, size):
    """Those of each ring of up to six cells over the start symbols, at each of the next steps."""
    closed = {digits(code, 3, size) for code in later_windows(rule, START, size)}
    occurring = set()
    for length in range(1, 7):
        states = set(product(sorted(START), repeat=length))
        for _ in range(3):
            states = {after(rule, state) for state in states}
            for state in states:
                occurring |= {tuple(state[(at + i) % length] for i in range(size)) for at in range(length)}
    assert occurring <= closed
    assert closed <= set(product(range(2), repeat=size))  # no 2 ever comes of 0 and 1


def after(rule, state):
    """The next state of a ring, cell by cell."""
    length = len(state)
    return tuple(rule.table[9 * state[at - 1] + 3 * state[at] + state[(at + 1) % length]] for at in range(length))
