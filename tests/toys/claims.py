"""Claims of laws as the documents that a proposer writes."""

T, T0, T1 = {"var": "t"}, {"const": 0}, {"t_plus_1": True}
"""The step of a claim, the first step, and the step after it."""


def obs(name, time=None):
    """What an observable is at a step."""
    return {"obs": name, "t": time or T}


def op(word, left, right):
    """Two parts joined by an operator."""
    return {"op": word, "lhs": left, "rhs": right}


def named(**exprs):
    """Observables by their names."""
    return [{"name": name, "expr": expr} for name, expr in exprs.items()]


def measured(expr, tree=None, template="invariant", name="N", **fields):
    """A law about one observable; without a tree of the claim, that it is what it was at the first step."""
    tree = tree or op("==", obs(name), obs(name, T0))
    return {"template": template, "observables": named(**{name: expr}), "claim_ast": tree, **fields}
