"""What universes, templates and laws say in sentences: every form of a document, and every node of a claim."""

import pytest

from specledger.lang.statement import Statement, lines_of
from specledger.pipeline.explaining import explain
from specledger.wings.laws.claim import Binary, Const, Node, Not, Observe, Time
from specledger.wings.laws.explained import _clause

DOCUMENTS = {
    "a universe with every observable and transform": (
        """spec: universe/v1
name: ring_u
alphabet: [a, b, c]
ring: {min: 3, max: 9, sizes: [3, 4]}
starts: {symbols: [a, b]}
transition:
  let: {near: "left == 'a' || right == 'a'"}
  next: "near ? 'b' : self"
observables:
  count: {args: {s: symbol}, window: [self], count: "self == s"}
  pairs: {args: {s: symbol, r: symbol}, window: [self, right], count: "self == s && right == r"}
  size_of: {window: [self], count: "true"}
  weight: {window: [left, self], sum: "self == 'a' ? 2 : 0"}
  far: {window: "4", count: "w[0] == w[3]"}
  shape: {pattern: "a?b"}
  head: {args: {s: symbol}, scan: first, where: "self == s"}
  tail: {args: {s: symbol}, scan: last, where: "self == s"}
  run: {args: {s: symbol}, scan: longest, where: "self == s"}
  spread: {args: {s: symbol}, scan: extent, where: "self == s"}
transforms:
  mirror: {reflect: true}
  turn: {map: {a: b, b: a}}
  both: {reflect: true, map: {a: b, b: a}, args: {k: int}, default: {k: 1}, shift: k}
  same: {}
generators:
  random_density_sweep: {make: sweep, weight: 40, percents: [10]}
interaction: pairs
""",
        [
            'A state is a ring of 3 to 9 cells, each with the symbol "a", "b" or "c".',
            'A start has no other symbols than "a" and "b".',
            'In every step a cell becomes "b" if `near` is true, otherwise `self`.',
            '`near` means that `left` is "a" or `right` is "a".',
            "`count` of `s` is the number of cells `self` for which `self` is `s`.",
            "`far` is how often it holds of 4 cells `w` that entry 0 of `w` is entry 3 of `w`.",
            "`head` of `s` is the place of the first cell for which `self` is `s`.",
            "`pairs` of `r` and `s` is how often it holds of the cells `self` and `right` that `self` is `s` and `right` is `r`.",
            "`run` of `s` is the length of the longest run of cells for which `self` is `s`.",
            '`shape` is how often the pattern "a?b" occurs.',
            "`size_of` is the number of cells.",
            "`spread` of `s` is the distance from the first to the last cell for which `self` is `s`.",
            "`tail` of `s` is the place of the last cell for which `self` is `s`.",
            '`weight` is the sum, over the cells `left` and `self`, of 2 if `self` is "a", otherwise 0.',
            'The transform `both` of a state reflects it, then moves it to the right by `k` cells, then changes "a" to "b" and "b" to "a", where `k` is 1 if nothing else is said.',
            "The transform `mirror` of a state reflects it.",
            "The transform `same` of a state changes nothing.",
            'The transform `turn` of a state changes "a" to "b" and "b" to "a".',
            "Something happens where `pairs` is not 0.",
        ],
    ),
    "a universe with a table": (
        """spec: universe/v1
name: ring_t
alphabet: [a, b]
ring: {min: 3, max: 9, sizes: [3]}
transition: {table: {aaa: b, aab: a, aba: a, abb: a, baa: a, bab: b, bba: a, bbb: b}}
observables: {n: {window: [self], count: "true"}}
generators:
  random_density_sweep: {make: sweep, weight: 40, percents: [10]}
""",
        [
            'A state is a ring of 3 to 9 cells, each with the symbol "a" or "b".',
            "In every step a cell becomes what the table gives of it and its neighbours, from left to right:",
            '  - "aaa" gives "b".',
            '  - "aab" gives "a".',
            '  - "aba" gives "a".',
            '  - "abb" gives "a".',
            '  - "baa" gives "a".',
            '  - "bab" gives "b".',
            '  - "bba" gives "a".',
            '  - "bbb" gives "b".',
            "`n` is the number of cells.",
        ],
    ),
    "a template with every part": (
        """spec: template/v1
name: shown
needs: [direction, bound_value, H]
for_all: {t: {from: 1, to: T}, i: cells}
within: H
parts: {P: {reads: [t, "t + 1", fixed], sort: bool}, Q: {reads: [t], sort: int}}
claim: {op: or, lhs: {op: not, arg: {part: P}}, rhs: {op: "==", lhs: {part: Q}, rhs: {field: bound_value}}}
""",
        [
            "A law of this form gives `P`, a condition that may read `t`, `t + 1` and a fixed step.",
            "A law of this form gives `Q`, a number that may read `t`.",
            "Such a law gives `direction`, `bound_value` and `H`.",
            "At every step from 1 to `T` and in every cell, there or at most `H` steps later, it must be so that it is not so that `P` holds or `Q` is `bound_value`.",
        ],
    ),
}


@pytest.mark.parametrize(("text", "sentences"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_is_said_in_full(tmp_path, text, sentences):
    (tmp_path / "shown.yaml").write_text(text, encoding="utf-8")
    (spec,) = explain(str(tmp_path / "shown.yaml"))
    assert list(lines_of(spec.statements)) == sentences


SHIPPED = {
    "template/bound": [
        "A law of this form gives `f`, a number that may read `t`.",
        "Such a law gives `bound_op` and `bound_value`.",
        "At every step from 0 to `T`, it must be so that the comparison `bound_op` holds between `f` and `bound_value`.",
    ],
    "template/implication_step": [
        "A law of this form gives `P`, a condition that may read `t` and a fixed step.",
        "A law of this form gives `Q`, a condition that may read `t`, `t + 1` and a fixed step.",
        "At every step from 0 to `T - 1` at which `P` holds, it must be so that `Q` holds.",
    ],
    "template/invariant": [
        "A law of this form gives `C`, a condition that may read `t` and a fixed step.",
        "At every step from 0 to `T`, it must be so that `C` holds.",
    ],
    "template/local_transition": [
        "Such a law gives `trigger_symbol`, `result_op` and `result_symbol`.",
        "At every step from 0 to `T - 1` and in every cell at which the symbol of the cell is `trigger_symbol`, it must be so that the comparison `result_op` holds between the symbol of the cell 1 step later and `result_symbol`.",
    ],
    "template/monotone": [
        "A law of this form gives `f`, a number that may read `t`.",
        "Such a law gives `direction`.",
        "At every step from 0 to `T - 1`, it must be so that the comparison `direction` holds between `f` at `t + 1` and `f`.",
    ],
    "template/symmetry_commutation": [
        "Such a law gives `transform`.",
        "At every step from 1 to `T` and in every cell, it must be so that the symbol of the cell that evolves from the transformed start is the symbol of the cell that the evolved start has when it is transformed.",
    ],
    "template/eventually": [
        "A law of this form gives `P`, a condition that may read `t` and a fixed step.",
        "A law of this form gives `Q`, a condition that may read `t` and a fixed step.",
        "Such a law gives `H`.",
        "At every step from 0 to `T` at which `P` holds, there or at most `H` steps later, it must be so that `Q` holds.",
    ],
    "law/cars-seen-from-holes": [
        'It is about rings of 3 to 200 cells of the universe `traffic` that start with the symbols "." and "c".',
        "At every step after the start up to step 50 and in every cell, it must be so that the symbol of the cell that evolves from the transformed start is the symbol of the cell that the evolved start has when it is transformed.",
        "The transformation is `reverse_holes`.",
        'It is refuted by "a start whose mirrored and exchanged copy evolves into something else than its result".',
    ],
    "law/cycle-paper-covers-rock": [
        'It is about rings of 3 to 100 cells of the universe `cyclic_three` that start with the symbols "r", "p" and "s".',
        "At every step up to step `grid_length` at which both `Scissors` is 0 and `Papers` is more than 0, there or at most `grid_length - 2` steps later, it must be so that `Rocks` is 0.",
        "Only starts count for which `grid_length` is at most 6.",
        'It is refuted by "a rock that is left after so many steps".',
        '`Rocks` is how often "r" occurs.',
        '`Papers` is how often "p" occurs.',
        '`Scissors` is how often "s" occurs.',
    ],
    "law/first-mover-stays": [
        'It is about rings of 4 to 200 cells of the universe `kinetic_grid_v1` that start with the symbols ".", ">" and "<".',
        "At every step up to step 50, it must be so that `First` is `First` at the start.",
        'It is refuted by "a step at which the first right-mover is in another cell".',
        '`First` is `leftmost` of ">".',
    ],
    "law/collisions-never-fall": [
        'It is about rings of 4 to 200 cells of the universe `kinetic_grid_v1` that start with the symbols ".", ">" and "<".',
        "At every step up to step 50, it must be so that `X` 1 step later is at least `X`.",
        'It is refuted by "a step after which there are fewer X cells".',
        '`X` is how often "X" occurs.',
    ],
    "law/components-product": [
        'It is about rings of 4 to 200 cells of the universe `kinetic_grid_v1` that start with the symbols ".", ">" and "<".',
        "At every step up to step 50, it must be so that `P` is `P` at the start.",
        'It is refuted by "a step at which the product is not that of the start".',
        '`P` is the sum of how often ">" occurs and how often "X" occurs, times the sum of how often "<" occurs and how often "X" occurs.',
    ],
}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_template_or_law_is_said_in_full(name):
    (spec, *_) = explain(name)
    assert list(lines_of(spec.statements)) == SHIPPED[name]


def test_an_elementary_rule_is_said_by_its_number():
    (spec,) = explain("universe/elementary_rule")
    assert "In every step a cell becomes what the elementary rule 110 says." in list(lines_of(spec.statements))


A, B, C = Observe("a", Time(0)), Observe("b", Time(1)), Observe("c", Time(0, fixed=True))
SMALL, EQUAL = Binary("<", A, Const(3)), Binary("==", B, C)
CLAIMS: dict[str, tuple[Node, str]] = {
    "a comparison": (SMALL, "`a` is less than 3"),
    "steps": (EQUAL, "`b` 1 step later is `c` at the start"),
    "later steps": (
        Binary("!=", Observe("a", Time(2)), Observe("b", Time(4, fixed=True))),
        "`a` 2 steps later is not `b` at step 4",
    ),
    "a symbol": (Binary("==", Observe("state[i]", Time(0)), Const("x")), 'the symbol of the cell is the symbol "x"'),
    "a negative number": (Binary(">=", A, Const(-4)), "`a` is at least minus 4"),
    "nothing": (Binary(">=", A, Const(0)), "`a` is at least 0"),
    "the denial of a comparison": (Not(SMALL), "`a` is at least 3"),
    "another denial": (
        Not(Binary("and", SMALL, EQUAL)),
        "it is not so that both `a` is less than 3 and `b` 1 step later is `c` at the start",
    ),
    "two": (Binary("and", SMALL, EQUAL), "`a` is less than 3 and `b` 1 step later is `c` at the start"),
    "one of two": (Binary("or", SMALL, EQUAL), "`a` is less than 3 or `b` 1 step later is `c` at the start"),
    "a condition": (Binary("=>", SMALL, EQUAL), "if `a` is less than 3, then `b` 1 step later is `c` at the start"),
    "a condition inside a denial": (
        Not(Binary("=>", SMALL, EQUAL)),
        "it is not so that if `a` is less than 3 then `b` 1 step later is `c` at the start",
    ),
    "either inside a condition": (
        Binary("=>", Binary("or", SMALL, EQUAL), SMALL),
        "if either `a` is less than 3 or `b` 1 step later is `c` at the start, then `a` is less than 3",
    ),
    "always": (Const(True), "it always holds"),
    "never": (Const(False), "it never holds"),
    "a sum": (Binary("==", Binary("+", A, B), Const(1)), "`a` plus `b` 1 step later is 1"),
    "a product of sums": (
        Binary("==", Binary("*", Binary("+", A, C), Binary("-", A, C)), Const(1)),
        "the sum of `a` and `c` at the start times the difference of `a` and `c` at the start is 1",
    ),
    "a product of products": (
        Binary("==", Binary("*", Binary("*", A, A), A), Const(1)),
        "`a` times `a` times `a` is 1",
    ),
    "a difference from a sum": (
        Binary("==", Binary("-", A, Binary("+", A, C)), Const(1)),
        "`a` minus the sum of `a` and `c` at the start is 1",
    ),
    "a truth value that is compared": (
        Binary("==", SMALL, EQUAL),
        "whether `a` is less than 3 is whether `b` 1 step later is `c` at the start",
    ),
}


@pytest.mark.parametrize(("node", "text"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim_is_said_in_one_line(node, text):
    assert _clause(node) == Statement(text)


@pytest.mark.parametrize(("op", "head"), [("and", "all of these hold"), ("or", "at least one of these holds")])
def test_more_than_two_claims_are_a_list(op, head):
    three = Binary(op, Binary(op, SMALL, EQUAL), SMALL)
    parts = ("`a` is less than 3", "`b` 1 step later is `c` at the start", "`a` is less than 3")
    assert _clause(three) == Statement(head, tuple(map(Statement, parts)))
    other = "or" if op == "and" else "and"
    mixed = Binary(op, SMALL, Binary(other, SMALL, EQUAL))
    said = _clause(mixed)
    assert (said.text, [part.text for part in said.parts]) == (
        head, ["`a` is less than 3", f"`a` is less than 3 {other} `b` 1 step later is `c` at the start"],
    )  # fmt: skip
