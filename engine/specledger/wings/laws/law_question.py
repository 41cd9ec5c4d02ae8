"""A law as a question to the prover: its claim as linear conditions over additive observables, or as a function.

The question follows from the form of the claim; a field that the form does not need changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.wings.laws.automaton import Additive
from specledger.wings.laws.claim import (
    ARITHMETIC,
    CELLWISE,
    COMPARISONS,
    IMAGE,
    NEXT,
    NOW,
    START,
    STATE,
    TRANSFORMED,
    TRUE,
    Binary,
    Const,
    Duration,
    Node,
    Observe,
    Read,
    Steps,
    Time,
    conjunction,
    evaluator,
    reads,
    show,
)
from specledger.wings.laws.claim import Not as Denied
from specledger.wings.laws.law import Law
from specledger.wings.laws.observable import Terms, merged, range_of
from specledger.wings.laws.preconditions import admitted_lengths
from specledger.wings.laws.proofs.clauses import as_condition, terms_of
from specledger.wings.laws.proofs.linear import largest_in
from specledger.wings.laws.proofs.question import (
    Always,
    And,
    Claim,
    Commutes,
    Condition,
    Conserved,
    Eventually,
    Linear,
    Local,
    Monotone,
    Not,
    Opaque,
    Or,
    Question,
    State,
    Term,
    facts,
    implies,
)
from specledger.wings.laws.run import Run

Sum = dict[tuple[str, Time], int]
"""Integer factors of what is read; that of `_ONE` is the constant."""

_ONE: Final = ("", START)

_EQUALITIES: Final = ("==", "!=")

_NOT_LINEAR: Final = "the claim is not about additive observables"
_LONG_WAIT: Final = "the wait depends on the length of the ring, and the shortest one is not proved to be enough"
_GUARDED: Final = "a precondition is not about additive observables, and the claim is not proved without it"

_COMMUTING: Final = tuple(
    Binary("==", Observe(one, NOW), Observe(other, NOW)) for one, other in ((IMAGE, TRANSFORMED), (TRANSFORMED, IMAGE))
)
"""The claims that a transform commutes with the rule."""


MAX_CELLS: Final = 100_000
"""Most cells that are read where rings are tried one after the other, for want of a proof about all of them."""


class NotLinear(ValueError):  # noqa: N818 - says what was found
    """A claim that is no Boolean combination of linear conditions on additive observables."""


class LawQuestion(Struct, frozen=True):
    """A question whose proof proves a law.

    Attributes:
        exact: Whether a counterexample to it refutes the law. It does not if the question leaves out a precondition, or
            waits less long.
        whole: Whether it is about whole runs on a few short rings, which are all tried.
    """

    question: Question
    exact: bool
    whole: bool = False


def questions_of(law: Law) -> list[LawQuestion]:
    """The questions to ask about a law on rings of every length, in order; without any, it cannot be proved.

    A precondition that is no linear condition, such as a scan or a product, is left out at first. If the claim does
    not hold without it, the claim is asked as a function that includes it. A wait that depends on the ring is at first
    the one on the shortest ring, which is enough on longer ones. If there are so few admitted rings that all their runs
    can be tried, the last question is that about whole runs: it can be asked about every law.
    """
    writer = _Writer(law)
    where, others = writer.preconditions()
    questions = []
    try:
        claim = writer.claim()
    except NotLinear:
        claim = None
    if claim is not None:
        questions.append(LawQuestion(_question(law, claim, where), exact=others == TRUE and not law.H_cells))
    if claim is None or others != TRUE or law.H_cells:
        function = writer.opaque(others, linear=claim is not None)
        if function is not None:
            questions.append(LawQuestion(_question(law, function, where), exact=True))
    lengths = _short_lengths(law)
    if lengths:
        asked = replace(_question(law, writer.whole(), where), longest=lengths[-1])
        questions.append(LawQuestion(asked, exact=True, whole=True))
    return questions


def _short_lengths(law: Law) -> list[int]:
    """The admitted lengths of rings, if all runs on them can be tried; else none."""
    lengths, cells = admitted_lengths(law), 0
    for length in lengths:
        cells += len(law.starts) ** length * length * (law.on(length).steps + 2)
        if cells > MAX_CELLS:
            return []
    return lengths


def question_of(law: Law) -> Question | None:
    """The question whether a law holds on rings of every length; None if it cannot be asked."""
    return next((law_question.question for law_question in questions_of(law) if law_question.exact), None)


def fits(law: Law) -> bool:
    """Whether every integer of a law stays within 64 bits on every ring of its universe."""
    longest = law.universe.longest
    return all(range_of(node, law.observables, longest) is not None for node in (law.claim, law.where))


def largest_integer(law: Law) -> int:
    """The largest absolute value of an integer in the questions about a law."""
    return max((largest_in(facts(law_question.question)) for law_question in questions_of(law)), default=0)


def _question(law: Law, claim: Claim, where: Condition) -> Question:
    universe = law.universe
    lengths = admitted_lengths(law) if law.where != TRUE else []
    return Question(
        rule=universe.rule,
        claim=claim,
        shortest=lengths[0] if lengths else universe.shortest,
        longest=lengths[-1] if lengths and lengths[-1] < universe.longest else None,
        start=None if len(law.starts) == len(universe.alphabet) else frozenset(law.starts),
        where=where,
        horizon=_horizon(law, claim),
    )


def _horizon(law: Law, claim: Claim) -> Steps:
    """The last state of a trajectory that is looked at, such that the prover judges the steps that the law judges.

    A claim may look less far ahead than its form allows: `eventually` with a consequent about the start alone.
    """
    if not isinstance(claim, Always | Eventually):
        cells = law.T_cells + law.H_cells * law.template.within
        return Duration(law.last + law.reach, cells) if cells else law.steps
    last = law.last + max((term.at or 0 for term in terms_of(as_condition(claim) or And(()))), default=0)
    return Duration(last, law.T_cells) if law.T_cells else last


def within_range(question: Question, law: Law) -> Question:
    """The same question about the universe's own rings alone."""
    return question if question.longest is not None else replace(question, longest=law.universe.longest)


class _Writer:
    """Writes parts of a law in the prover's words; what has none raises `NotLinear`."""

    def __init__(self, law: Law) -> None:
        self._law = law
        rule = law.universe.rule
        self._shortest = next(iter(admitted_lengths(law)), law.universe.shortest) if law.H_cells else 0
        self._additive = {name: observable.additive(rule) for name, observable in law.observables.items()}

    def preconditions(self) -> tuple[Condition, Node]:
        """The preconditions as a condition, and those that are none as a claim about the start."""
        linear, others = [], []
        for condition in _conjuncts(self._law.where):
            try:
                linear.append(self.condition(condition))
            except NotLinear:
                others.append(condition)
        return (linear[0] if len(linear) == 1 else And(tuple(linear))), conjunction(others)

    def claim(self) -> Claim | None:
        """The claim in the prover's words."""
        law = self._law
        if law.template.cells:
            return self._cellwise()
        if law.template.within:
            antecedent = And(()) if law.antecedent is None else self.condition(law.antecedent)
            return Eventually(antecedent, self.condition(law.holds), law.on(self._shortest).H or 0)
        if law.antecedent is None:
            return self._step(law.holds) or Always(self.condition(law.holds))
        return Always(implies(self.condition(law.antecedent), self.condition(law.holds)))

    def condition(self, node: Node) -> Condition:
        """A truth value as a condition."""
        if isinstance(node, Const) and isinstance(node.value, bool):
            return And(()) if node.value else Or(())
        if isinstance(node, Denied):
            return Not(self.condition(node.operand))
        if isinstance(node, Binary) and node.op in COMPARISONS:
            return self._compared(node)
        if isinstance(node, Binary) and node.op not in ARITHMETIC:
            left, right = self.condition(node.left), self.condition(node.right)
            return implies(left, right) if node.op == "=>" else _JOINED[node.op]((left, right))
        raise NotLinear

    def opaque(self, guard: Node, *, linear: bool) -> Opaque | None:
        """The claim as a function that includes a precondition.

        Args:
            guard: The precondition.
            linear: Whether the claim alone can be written as a condition.
        """
        law, guarded = self._law, guard != TRUE
        times = [time for _, time in (*reads(law.claim), *reads(guard))]
        if law.template.cells or any(time.fixed and time.offset for time in times):
            return None
        from_start = guarded or any(time.fixed for time in times)
        waits = Duration((law.H or 0) * law.template.within, law.H_cells * law.template.within)

        measured = {name: cache(observable.of) for name, observable in law.observables.items()}
        guards, counts, consequence = evaluator(guard), evaluator(law.antecedent or TRUE), evaluator(law.holds)

        def reader(initial: State, states: Sequence[State], at: int) -> Read:
            return lambda name, time: measured[name](initial if time.fixed else states[at + time.offset])

        def holds(initial: State, states: Sequence[State]) -> bool:
            read = reader(initial, states, 0)
            if not guards(read) or not counts(read):
                return True
            later = range(waits.on(len(initial)) + 1)
            return any(consequence(reader(initial, states, at)) for at in later)

        name = f"{show(law.claim)} ({law.key})"
        span = Duration(law.reach, waits.cells) if waits.cells else law.reach
        why = _NOT_LINEAR if not linear else _LONG_WAIT if not guarded else _GUARDED
        return Opaque(name, span, holds, from_start, why, guarded)

    def whole(self) -> Opaque:
        """The law as a function of a whole run: its one instance is the one from the start to the last step."""
        law = self._law
        measured = {name: cache(observable.of) for name, observable in law.observables.items()}

        def holds(initial: State, states: Sequence[State]) -> bool:
            return Run(law, initial, states=states, measured=measured).first_violation() is None

        cells = law.T_cells + law.H_cells * law.template.within
        span = Duration(law.last + law.reach, cells) if cells else law.steps
        return Opaque(f"every step of a run: {show(law.claim)} ({law.key})", span, holds, guarded=law.where != TRUE)

    def _cellwise(self) -> Claim | None:
        """A symmetry, or what becomes of a symbol."""
        law = self._law
        trigger, result = law.antecedent, law.holds
        if law.template.within:
            return None
        if trigger is None and law.image is not None and result in _COMMUTING:
            return Commutes(law.image.reflect, law.image.shift, law.image.symbol_map)
        if not (isinstance(trigger, Binary) and trigger.op == "==" and isinstance(result, Binary)):
            return None
        if trigger.left != Observe(STATE, NOW) or result.left != Observe(STATE, NEXT) or result.op not in _EQUALITIES:
            return None
        if not (isinstance(trigger.right, Const) and isinstance(result.right, Const)):
            return None
        alphabet = law.universe.alphabet
        named = alphabet.index(str(result.right.value))
        allowed = {named} if result.op == "==" else set(range(len(alphabet))) - {named}
        return Local(alphabet.index(str(trigger.right.value)), frozenset(allowed))

    def _step(self, node: Node) -> Claim | None:
        """What one quantity does from step to step, if that is all of the claim."""
        if not (isinstance(node, Binary) and node.op in COMPARISONS):
            return None
        total = self._difference(node)
        if total.pop(_ONE, 0):
            return None
        times = {time for _, time in total}
        if len(times) != 2:
            return None
        later = NEXT if NEXT in times else NOW
        if later not in times:  # two fixed steps
            return None
        (earlier,) = times - {later}
        if not (earlier.fixed or (later, earlier) == (NEXT, NOW)):
            return None
        if {name for name, _ in total} != {name for name, time in total if time == later}:
            return None
        factors = {name: factor for (name, time), factor in total.items() if time == later}
        if any(total.get((name, earlier), 0) != -factor for name, factor in factors.items()):
            return None
        terms: Terms = {}
        for name, factor in factors.items():
            terms[self._known(name)] = terms.get(self._known(name), 0) + factor
        quantity = merged(terms, self._law.universe.rule.symbols)
        if quantity is None:
            return None
        if node.op == "==":
            return Conserved(quantity)
        if later == NEXT and earlier == NOW and node.op in ("<=", ">="):
            return Monotone(quantity, "<=" if node.op == "<=" else ">=")
        return None

    def _compared(self, node: Binary) -> Linear:
        total = self._difference(node)
        bound = -total.pop(_ONE, 0)
        terms = []
        for (name, time), factor in total.items():
            if factor and time.fixed and time.offset:
                raise NotLinear
            if factor:
                terms.append(Term(factor, self._known(name), None if time.fixed else time.offset))
        return Linear(tuple(terms), node.op, bound)  # type: ignore[arg-type]

    def _difference(self, node: Binary) -> Sum:
        left, right = self._sum(node.left), self._sum(node.right)
        return {key: left.get(key, 0) - right.get(key, 0) for key in {**left, **right}}

    def _sum(self, node: Node) -> Sum:
        """An integer as a linear sum of what it reads."""
        if isinstance(node, Const) and type(node.value) is int:
            return {_ONE: node.value}
        if isinstance(node, Observe) and node.name not in CELLWISE:
            self._known(node.name)
            return {(node.name, node.time): 1}
        if not (isinstance(node, Binary) and node.op in ARITHMETIC):
            raise NotLinear
        left, right = self._sum(node.left), self._sum(node.right)
        if node.op == "*":
            constant, other = (left, right) if set(left) <= {_ONE} else (right, left)
            if not set(constant) <= {_ONE}:
                raise NotLinear
            return {key: factor * constant.get(_ONE, 0) for key, factor in other.items()}
        sign = 1 if node.op == "+" else -1
        return {key: left.get(key, 0) + sign * right.get(key, 0) for key in {**left, **right}}

    def _known(self, name: str) -> Additive:
        additive = self._additive[name]
        if additive is None:
            raise NotLinear
        return additive


def _conjuncts(node: Node) -> list[Node]:
    if isinstance(node, Binary) and node.op == "and":
        return _conjuncts(node.left) + _conjuncts(node.right)
    return [] if node == TRUE else [node]


_JOINED: Final[Mapping[str, Callable[[tuple[Condition, ...]], Condition]]] = {"and": And, "or": Or}
