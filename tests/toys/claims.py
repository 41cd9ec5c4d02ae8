"""Claims of laws as the documents that a proposer writes."""

T, T0, T1 = {"var": "t"}, {"const": 0}, {"t_plus_1": True}
"""The step of a claim, the first step, and the step after it."""


def obs(name, time=None):
    """What an observable is at a step."""
    return {"obs": name, "t": time or T}


def op(word, left, right):
    """Two parts joined by an operator."""
    return {"op": word, "lhs": left, "rhs": right}


def measured(expr, claim=None, template="invariant", **fields):
    """A law about one observable N; without a claim, that N is what it was at the first step."""
    claim = claim or op("==", obs("N"), obs("N", T0))
    return {"template": template, "observables": [{"name": "N", "expr": expr}], "claim_ast": claim, **fields}
