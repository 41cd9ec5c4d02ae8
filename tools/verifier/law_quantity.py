"""Observables of laws: integers that are measured of a ring, their ranges, and the sums over windows that they are."""

from itertools import product

from tools.verifier.law_claim import BIG_INT
from tools.verifier.law_ring import CellScan
from tools.verifier.values import BUDGET

MOST_WINDOWS_SUMMED = 65_536


class IntegerLost(Exception):
    """An integer leaves 64 bits."""


def held_integer(value):
    """An integer within 64 bits."""
    if not -BIG_INT - 1 <= value <= BIG_INT:
        raise IntegerLost
    return value


class Quantity:
    """An observable of a law: an integer, a measure of its universe, or +, - or * of two of these; with its values."""

    def __init__(self, op, left, right=None):
        self.op, self.left, self.right, self.values = op, left, right, {}

    def of(self, ring):
        """The value on a ring."""
        found = self.values.get(ring)
        if found is None:
            found = self.values[ring] = self.computed(ring)
        return found

    def computed(self, ring):
        """The value on a ring, computed."""
        if self.op == "number":
            return self.left
        if self.op == "measure":
            return self.left.of(ring)
        one, other = self.left.of(ring), self.right.of(ring)
        return held_integer(one + other if self.op == "+" else one - other if self.op == "-" else one * other)

    def bounds(self, longest):
        """The least and the greatest value on rings of up to so many cells; None if an integer may leave 64 bits."""
        BUDGET.spend(1)
        if self.op == "number":
            found = (self.left, self.left)
        elif self.op == "measure":
            found = self.left.bounds(longest)
        else:
            found = range_joined(self.op, self.left.bounds(longest), self.right.bounds(longest))
        return range_kept(found)

    def terms(self):
        """The observable as (constant, [(factor, measure)]) if it is a sum over windows, else None."""
        if self.op == "number":
            return self.left, []
        if self.op == "measure":
            return None if isinstance(self.left, CellScan) else (0, [(1, self.left)])
        left, right = self.left.terms(), self.right.terms()
        if left is None or right is None:
            return None
        BUDGET.spend(1 + len(left[1]) + len(right[1]))
        if self.op == "*":
            left, right = (right, left) if not left[1] else (left, right)
            times = right[0]
            return None if right[1] else (left[0] * times, [(factor * times, one) for factor, one in left[1]])
        sign = 1 if self.op == "+" else -1
        return left[0] + sign * right[0], left[1] + [(sign * factor, one) for factor, one in right[1]]

    def additive(self, symbols):
        """The observable as one sum over the widest window, {width, weights, constant}; None if it is none."""
        terms = self.terms()
        if terms is None:
            return None
        constant, measures = terms
        width = max((one.width for _, one in measures), default=1)
        if symbols**width > MOST_WINDOWS_SUMMED:
            return None
        weights = [0] * symbols**width
        for factor, one in measures:
            if factor:
                span, every = symbols ** (width - one.width), one.weights()
                weights = [held + factor * every[code // span] for code, held in enumerate(weights)]
        return {"width": width, "weights": weights, "constant": constant}


def range_joined(op, left, right):
    """The range of +, - or * of two ranges."""
    if left is None or right is None:
        return None
    if op == "*":
        corners = [one * other for one, other in product(left, right)]
        return min(corners), max(corners)
    low, high = (right[0], right[1]) if op == "+" else (-right[1], -right[0])
    return left[0] + low, left[1] + high


def range_kept(found):
    """A range, if it lies within 64 bits."""
    return found if found is not None and -BIG_INT - 1 <= found[0] and found[1] <= BIG_INT else None
