"""What is asked of a proof: a law as the question that its certificate has to be about (docs/proofs.md).

A claim is asked as conditions on sums over windows where it is that, else as something to be judged ring by ring.
"""

from tools.verifier.law_claim import (
    APPLIED,
    CELL_IMAGE,
    CELL_MOVED,
    CELL_NOW,
    CELLWISE,
    CLAIM_TRUE,
    ORDERS_OF_CLAIMS,
    SUM_SIGNS,
    claim_reads,
    claim_text,
)
from tools.verifier.law_quantity import held_integer

ONE_TERM = ("", 0, True)
NOW, NEXT = (0, False), (1, False)
EVERYTHING = {"and": []}


class NotLinear(Exception):
    """A claim is no Boolean combination of linear conditions on sums over windows."""


class AskedLaw:
    """The question of a law: its facts, and how an opaque claim is judged; `facts` is None if nothing can be asked."""

    def __init__(self, law):
        self.law, symbols = law, law.universe.rule.symbols
        self.sums = {name: one.additive(symbols) for name, one in law.quantities.items()}
        self.guarded, where = False, EVERYTHING
        try:
            where = EVERYTHING if law.where == CLAIM_TRUE else self.condition(law.where)
        except NotLinear:
            self.guarded = True
        try:
            claim = self.opaque() if self.guarded else self.claimed()
        except NotLinear:
            claim = self.opaque()
        every = len(law.starts) == len(law.universe.alphabet)
        facts = {
            "rule": {"symbols": symbols, "table": list(law.universe.rule.table)},
            "rings": [law.universe.shortest, None],
            "start": {"symbols": None if every else list(law.starts), "where": where},
            "horizon": law.steps,
            "claim": claim,
        }
        self.facts = None if claim is None else facts

    def within_range(self):
        """The same question about the rings of the universe alone."""
        return {**self.facts, "rings": [self.law.universe.shortest, self.law.universe.longest]}

    def claimed(self):
        """The claim, as one of the kinds of a question; None if nothing can be asked."""
        law = self.law
        if law.cells:
            return self.cellwise()
        holds = law.holds
        if law.within:
            before = EVERYTHING if law.antecedent is None else self.condition(law.antecedent)
            parts = {"antecedent": before, "consequent": self.condition(holds)}
            return {"kind": "eventually", **parts, "within": law.waits}
        if law.antecedent is None:
            return self.stepwise(holds) or {"kind": "always", "condition": self.condition(holds)}
        implied = {"or": [{"not": self.condition(law.antecedent)}, self.condition(holds)]}
        return {"kind": "always", "condition": implied}

    def cellwise(self):
        """A symmetry, or what becomes of a symbol."""
        law, before, after = self.law, self.law.antecedent, self.law.holds
        if law.within:
            return None
        sides = {("obs", CELL_IMAGE, *NOW), ("obs", CELL_MOVED, *NOW)}
        if before is None and law.image is not None and after[0] == "==" and {*after[1:]} == sides:
            image = law.image
            return {"kind": "commutes", "reflect": image.reflect, "shift": image.shift, "map": list(image.symbols)}
        local = before is not None and before[0] == "==" and before[1] == ("obs", CELL_NOW, *NOW)
        local = local and after[0] in ("==", "!=") and after[1] == ("obs", CELL_NOW, *NEXT)
        if not (local and before[2][0] == after[2][0] == "const"):
            return None
        marks = law.universe.alphabet
        named = marks.index(after[2][1])
        results = [code for code in range(len(marks)) if (code == named) == (after[0] == "==")]
        return {"kind": "local", "trigger": marks.index(before[2][1]), "results": results}

    def stepwise(self, node):
        """What one quantity does from step to step, if that is all of the claim."""
        if node[0] not in ORDERS_OF_CLAIMS:
            return None
        total = self.difference(node)
        if total.pop(ONE_TERM, 0):
            return None
        times = {key[1:] for key in total}
        later = NEXT if NEXT in times else NOW
        if len(times) != 2 or later not in times:
            return None
        (earlier,) = times - {later}
        factors = {key[0]: factor for key, factor in total.items() if key[1:] == later}
        if {key[0] for key in total} != factors.keys():
            return None
        if any(total.get((name, *earlier), 0) != -factor for name, factor in factors.items()):
            return None
        observable = self.combined(factors)
        if node[0] == "==":
            return {"kind": "conserved", "observable": observable}
        if (later, earlier) == (NEXT, NOW) and node[0] in ("<=", ">="):
            return {"kind": "monotone", "observable": observable, "direction": node[0]}
        return None

    def combined(self, factors):
        """One sum over windows from several."""
        symbols, constant = self.law.universe.rule.symbols, 0
        width = max(self.sum_of(name)["width"] for name in factors)
        weights = [0] * symbols**width
        for name, factor in factors.items():
            one = self.sum_of(name)
            span = symbols ** (width - one["width"])
            constant += factor * one["constant"]
            weights = [held + factor * one["weights"][code // span] for code, held in enumerate(weights)]
        return {"width": width, "weights": weights, "constant": constant}

    def sum_of(self, name):
        """The sum over windows that an observable is."""
        if self.sums.get(name) is None:
            raise NotLinear
        return self.sums[name]

    def condition(self, node):
        """A truth value as a condition."""
        kind = node[0]
        if kind == "const" and isinstance(node[1], bool):
            return {"and": []} if node[1] else {"or": []}
        if kind == "not":
            return {"not": self.condition(node[1])}
        if kind in ORDERS_OF_CLAIMS:
            return self.compared(node)
        if kind in ("=>", "and", "or"):
            left, right = self.condition(node[1]), self.condition(node[2])
            return {"or": [{"not": left}, right]} if kind == "=>" else {kind: [left, right]}
        raise NotLinear

    def compared(self, node):
        """A comparison as a sum of terms and a bound."""
        total = self.difference(node)
        bound, terms = -total.pop(ONE_TERM, 0), []
        for (name, step, fixed), factor in total.items():
            if factor:
                if fixed and step:
                    raise NotLinear
                terms.append({"times": factor, "observable": self.sum_of(name), "at": None if fixed else step})
        return {"sum": terms, "op": node[0], "bound": bound}

    def difference(self, node):
        """The left side less the right side."""
        return self.added(self.linear(node[1]), self.linear(node[2]), -1)

    @staticmethod
    def added(left, right, sign):
        """A sum or difference of two sums."""
        return {key: left.get(key, 0) + sign * right.get(key, 0) for key in {**left, **right}}

    def linear(self, node):
        """An integer as a sum: {(name, step, fixed): factor}."""
        kind = node[0]
        if kind == "const" and type(node[1]) is int:
            return {ONE_TERM: node[1]}
        if kind == "obs" and node[1] not in CELLWISE:
            self.sum_of(node[1])
            return {node[1:]: 1}
        if kind not in SUM_SIGNS:
            raise NotLinear
        left, right = self.linear(node[1]), self.linear(node[2])
        if kind != "*":
            return self.added(left, right, 1 if kind == "+" else -1)
        constant, other = (left, right) if left.keys() <= {ONE_TERM} else (right, left)
        if not constant.keys() <= {ONE_TERM}:
            raise NotLinear
        return {key: factor * constant.get(ONE_TERM, 0) for key, factor in other.items()}

    def opaque(self):
        """The claim as something that is judged ring by ring; with its preconditions, if they are no conditions."""
        law = self.law
        reads = claim_reads(law.claim) + (claim_reads(law.where) if self.guarded else [])
        if law.cells or any(fixed and step for _, step, fixed in reads):
            return None
        from_start = self.guarded or any(fixed for _, _, fixed in reads)
        name = f"{claim_text(law.claim)} ({law.key})"
        return {"kind": "opaque", "name": name, "span": law.reach, "from_start": from_start}

    def holds(self, start, states):
        """Whether an opaque claim holds of an initial state and the states from a step on."""
        law = self.law

        def value(node, at):
            if node[0] == "const":
                return node[1]
            if node[0] == "obs":
                _, name, step, fixed = node
                return law.quantities[name].of(bytes(start if fixed else states[at + step]))
            if node[0] == "not":
                return not value(node[1], at)
            found = APPLIED[node[0]](value(node[1], at), value(node[2], at))
            return held_integer(found) if node[0] in SUM_SIGNS else found

        if self.guarded and not value(law.where, 0):
            return True
        if law.antecedent is not None and not value(law.antecedent, 0):
            return True
        return any(value(law.holds, later) for later in range(law.waits + 1))


def question_contract(question):
    """The starts and rings that a question is about, in words; symbols by number."""
    shortest, longest = question["rings"]
    symbols, where = question["start"]["symbols"], question["start"]["where"]
    rings = f"{shortest} or more" if longest is None else f"{shortest} to {longest}"
    starts = "all states" if symbols is None else f"starts over {{{', '.join(map(str, symbols))}}}"
    met = "" if where == EVERYTHING else " that meet the preconditions"
    return f"{starts}{met} on rings of {rings} cells"
