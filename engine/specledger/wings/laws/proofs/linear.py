"""Proofs of linear claims over every ring: the negated claim as rows that no circulation meets.

The negated claim, joined with the preconditions, is a list of clauses, each tried alone. Over all states one phase
suffices: any state is an initial state. Otherwise there are two. *Initial*, t = 0: the ring is the initial state, its
windows are over the start symbols. *Later*, t > 0: the ring's windows are in a closed set that holds all windows
which occur after a step, its initial state is a second circulation over the start symbols, of as many cells, and
links join the two: observables that every step conserves, or never raises, or never lowers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.circulations import Met, Row, Search, Tree, Walk
from specledger.wings.laws.proofs.clauses import Clause, as_condition, clauses, joined, terms_of
from specledger.wings.laws.proofs.potentials import climb, conserved_quantities, current
from specledger.wings.laws.proofs.question import And, Claim, Condition, Limits, Question, additive_facts
from specledger.wings.laws.proofs.windows import Graph, change, graph, later_windows, over, seen, weigh

_CLOSURE = 1 << 12  # windows whose images are taken again and again
MAX_CLOSURE = 1 << 14  # the same, for a closed set of single cells


class TooWide(Exception):  # noqa: N818 - a limit that was met, not an error of the engine
    """The windows that the claim needs are too many."""


class Open(Exception):  # noqa: N818 - an answer, not an error
    """A clause that some circulation meets.

    Attributes:
        initial: Whether its ring is an initial state.
    """

    def __init__(self, met: Met, windows: Walk, initial: bool) -> None:
        super().__init__(met, windows, initial)
        self.met = met
        self.windows = windows
        self.initial = initial


class Link(Struct, frozen=True):
    """An observable whose value at any t is in a relation to its initial value, with the potential that shows it."""

    observable: Additive
    relation: str
    potential: Sequence[int]


class Phase(Struct, frozen=True):
    """A graph for the ring, one for its initial state if that is another, and the rows that all clauses share."""

    now: Graph
    start: Graph | None
    rows: tuple[Row, ...]


def prove_linear(question: Question, claim: Claim, limits: Limits, cases: int) -> dict[str, Any]:
    """The proof of a claim about additive observables.

    Raises:
        Open: A clause may be met.
        TooManyClauses, TooWide: A limit was met.
    """
    condition = as_condition(claim) or And(())
    denied = [clauses(question.where, limits.conjuncts), clauses(condition, limits.conjuncts, negated=True)]
    listed = joined(denied, limits.conjuncts)
    rule, symbols = question.rule, question.rule.symbols
    width = _width(rule, condition, steps=True)
    narrowed = question.start is not None or question.where != And(())
    remembers = any(term.at is None for term in terms_of(condition))
    width = max(width, _width(rule, condition, steps=False), _width(rule, question.where, steps=False))
    if symbols**width > limits.windows and not (narrowed or remembers):
        return _prove_wide(question, listed, width, limits, cases)
    _check(symbols, width, limits)
    cases = min(cases, limits.cases(symbols**width))
    starts = None if question.start is None else over(symbols, 1, question.start)
    initial = Phase(graph(symbols, width, starts), None, tuple(_lengths(question, width, 0)))
    proof: dict[str, Any] = {
        "kind": "circulation",
        "initial": {"width": width, "trees": _refute(question, initial, listed, cases)},
        "later": _prove_later(question, condition, listed, limits, cases) if narrowed or remembers else None,
    }
    if _checking(proof, rule, listed) > limits.check:
        raise TooWide("its certificate would take too much work to check")
    return proof


def _prove_wide(question: Question, listed: list[Clause], width: int, limits: Limits, cases: int) -> dict[str, Any]:
    """The same where any state is an initial state and the windows are too many for lists.

    Raises:
        Open, TooWide: As of `prove_linear`.
    """
    rule, symbols, width = question.rule, question.rule.symbols, max(width, 2)
    if symbols**width > limits.wide:
        raise TooWide(f"{symbols}^{width} windows are more than {limits.wide}")
    from specledger.wings.laws.proofs import wide  # noqa: PLC0415 - imports numpy, which few proofs need

    walk = wide.WideGraph(symbols, width, [limits.swept])
    terms = {term for clause in listed for atom in clause for term in atom.terms}
    tables = {}
    for term in sorted(terms, key=lambda term: seen(rule, term.observable, term.at or 0)):
        tables[term.observable, term.at] = wide.later_weights(rule, term.observable, term.at or 0)
        if sum(table.nbytes for table in tables.values()) > limits.tables:
            raise TooWide(f"the weights of {symbols}^{width} windows take more than {limits.tables} bytes")
    lengths = [(1, question.shortest), *([] if question.longest is None else [(-1, -question.longest)])]
    shared = [Row(wide.Weights(symbols, width, [(sign, 0, wide.ONE)]), [], False, bound) for sign, bound in lengths]
    trees = []
    for clause in listed:
        rows = list(shared)
        for atom in clause:
            read = [
                (t.coefficient, seen(rule, t.observable, t.at or 0), tables[t.observable, t.at]) for t in atom.terms
            ]
            bound = atom.bound - sum(term.coefficient * term.observable.constant for term in atom.terms)
            rows.append(Row(wide.Weights(symbols, width, read), [], atom.equal, bound))
        try:
            trees.append(Search(cases).refute(rows, walk, None))
        except Met as met:
            raise Open(met, walk, True) from None
        except wide.TooManySweeps as many:
            raise TooWide(str(many)) from None
    return {"kind": "swept", "width": width, "trees": trees}


def _checking(proof: dict[str, Any], rule: Rule, listed: list[Clause]) -> int:
    """At least the work that a checker counts: windows for each term, each link, each tree, each row of a leaf."""
    terms = sum(len(atom.terms) for clause in listed for atom in clause)
    work = 0
    for phase in filter(None, (proof["initial"], proof["later"])):
        widths = [phase["width"], *([phase["start_width"]] if "start_width" in phase else [])]
        windows = sum(rule.symbols**width for width in widths)
        for link in phase.get("links", ()):
            width = link["observable"]["width"]
            work += 2 * windows + 2 * rule.symbols ** (width + 2 * rule.radius)
        work += windows * (3 * terms + 3 + sum(map(_rows, phase["trees"])))
    return work


def _rows(tree: Tree) -> int:
    """How often a checker looks at all windows for a tree."""
    if "multipliers" in tree:
        return 2 + len(tree["multipliers"])
    return 1 + sum(_rows(part) for part in tree.values() if isinstance(part, dict))


def _prove_later(
    question: Question, condition: Condition, listed: list[Clause], limits: Limits, cases: int
) -> dict[str, Any]:
    symbols, rule = question.rule.symbols, question.rule
    width = _width(rule, condition, steps=True)
    size, closed = closed_windows(question, width)
    observables = dict.fromkeys(term.observable for term in chain(terms_of(condition), terms_of(question.where)))
    links = list(find_links(rule, observables, limits))
    back = max([1, *(link.observable.width for link in links)])
    width = max(width, size, back)
    back = max(back, _width(rule, condition, steps=False), _width(rule, question.where, steps=False))
    _check(symbols, max(width, back), limits)
    rows = list(_lengths(question, width, back))
    rows.append(Row([1] * symbols**width, [-1] * symbols**back, True, 0))
    for link in links:
        sign = -1 if link.relation == "<=" else 1
        now = [sign * weight for weight in weigh(rule, link.observable, 0, width)]
        start = [-sign * weight for weight in weigh(rule, link.observable, 0, back)]
        rows.append(Row(now, start, link.relation == "==", 0))
    starts = None if question.start is None else over(symbols, 1, question.start)
    phase = Phase(graph(symbols, width, closed, size), graph(symbols, back, starts), tuple(rows))
    return {
        "width": width,
        "start_width": back,
        "closed": closed_facts(size, closed),
        "links": [
            {"observable": additive_facts(link.observable), "op": link.relation, "potential": list(link.potential)}
            for link in links
        ],
        "trees": _refute(question, phase, listed, cases),
    }


def closed_windows(question: Question, width: int) -> tuple[int, frozenset[int] | None]:
    """The size and the set of windows that a ring can have after a step; None for all of them."""
    symbols, more = question.rule.symbols, question.rule.width - 1
    if question.start is None:
        return 1, None
    size = max(1, min(width, 8))
    while size > 1 and symbols ** (size + more) > _CLOSURE:
        size -= 1
    if symbols ** (size + more) > MAX_CLOSURE:
        return 1, None
    reachable = later_windows(question.rule, question.start, size)
    return (1, None) if len(reachable) == symbols**size else (size, reachable)


def closed_facts(size: int, windows: frozenset[int] | None) -> dict[str, Any]:
    """A closed set of windows as JSON."""
    return {"width": size, "windows": None if windows is None else sorted(windows)}


def find_links(rule: Rule, observables: Iterable[Additive], limits: Limits) -> Iterable[Link]:
    """What keeps a relation to its initial value: all conserved observables of small windows, and given ones."""
    observables = list(observables)
    width = min(2, max((observable.width for observable in observables), default=1))
    while width > 1 and rule.symbols ** (width + 2 * rule.radius) > limits.windows:
        width -= 1
    if rule.symbols ** (width + 2 * rule.radius) > limits.windows:
        return
    quantities = conserved_quantities(rule, width)
    for observable in (*quantities, *observables):
        if rule.symbols ** seen(rule, observable, 1) > limits.windows:
            continue
        windows = graph(rule.symbols, seen(rule, observable, 1))
        growth = change(rule, observable)
        potential = current(windows, growth)
        if potential is not None:
            if observable.width > width or observable in quantities:
                yield Link(observable, "==", potential)
            continue
        for relation, sign in (("<=", 1), (">=", -1)):
            heights, _ = climb(windows, [sign * value for value in growth])
            if heights is not None:
                yield Link(observable, relation, heights)


def _refute(question: Question, phase: Phase, listed: list[Clause], cases: int) -> list[Tree]:
    trees = []
    for clause in listed:
        rows = [*phase.rows, *clause_rows(question.rule, clause, phase)]
        try:
            tree = Search(cases).refute(rows, phase.now, phase.start)
        except Met as met:
            raise Open(met, phase.now, phase.start is None) from None
        trees.append(tree)
    return trees


def clause_rows(rule: Rule, clause: Clause, phase: Phase) -> Iterable[Row]:
    """The rows of a clause. In the initial phase the initial state is the ring itself."""
    for atom in clause:
        now = [0] * rule.symbols**phase.now.width
        start = [0] * rule.symbols**phase.start.width if phase.start else []
        bound = atom.bound
        for term in atom.terms:
            past = term.at is None and phase.start is not None
            side, width = (start, phase.start.width) if past and phase.start else (now, phase.now.width)
            for code, weight in enumerate(weigh(rule, term.observable, term.at or 0, width)):
                side[code] += term.coefficient * weight
            bound -= term.coefficient * term.observable.constant
        yield Row(now, start, atom.equal, bound)


def _lengths(question: Question, width: int, back: int) -> Iterable[Row]:
    symbols = question.rule.symbols
    start = [0] * symbols**back if back else []
    yield Row([1] * symbols**width, start, False, question.shortest)
    if question.longest is not None:
        yield Row([-1] * symbols**width, start, False, -question.longest)


def _width(rule: Rule, condition: Condition, *, steps: bool) -> int:
    """Cells that what a condition says of t and later, or of the initial state, needs to be seen; at least one."""
    read = (term for term in terms_of(condition) if (term.at is not None) == steps)
    return max((seen(rule, term.observable, term.at or 0) for term in read), default=1)


def _check(symbols: int, width: int, limits: Limits) -> None:
    if symbols**width > limits.windows:
        raise TooWide(f"{symbols}^{width} windows are more than {limits.windows}")


def largest_in(document: object) -> int:
    """The largest absolute value of an integer in a document."""
    if isinstance(document, dict | list):
        return max(map(largest_in, document.values() if isinstance(document, dict) else document), default=0)
    return abs(document) if isinstance(document, int) else 0
