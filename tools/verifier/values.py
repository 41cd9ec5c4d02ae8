"""Values of expressions: 64-bit ints, equality, order, membership; how an evaluation fails; how much work is done."""

from tools.verifier.basis import Open

USUAL_WORK, MILLION_STEPS, PARTS_OF_ALL = 60, 1_000_000, 20


class Budget:
    """How many steps of evaluation may still be done: so many for a part of the evidence, a multiple for all of it.

    `begin` anew for each bundle and `part` for each part; `spend` before each piece of work.
    """

    def __init__(self):
        self.most = self.left = self.rest = 0
        self.begin()

    def begin(self, millions=USUAL_WORK):
        """A new bundle is looked at."""
        self.most, self.left, self.rest = millions * MILLION_STEPS, 0, millions * MILLION_STEPS * PARTS_OF_ALL
        self.part()

    def part(self):
        """The next part is looked at: it has as much as every other one, as long as all of it has."""
        self.rest += max(0, self.left)
        self.left = min(self.most, self.rest)
        self.rest -= self.left

    def spend(self, nodes):
        """Do so much work, or say that it is too much to be done here."""
        self.left -= nodes
        if self.left < 0:
            self.refuse()

    def foresee(self, nodes):
        """See that a part can do so much work before it begins with it."""
        if nodes > self.most:
            self.refuse()

    def refuse(self):
        """Say that it is too much."""
        most = self.most // MILLION_STEPS
        bounds = f"{most} million steps of evaluation for a part, {most * PARTS_OF_ALL} million for all"
        raise Open("E_WORK", f"it takes more work than {bounds}; --work N allows more")


BUDGET = Budget()


class Failed(Exception):
    """An expression has no value: the code and the place that a receipt holds; `text` is the expression."""

    def __init__(self, code, offset=None, text=None):
        self.code, self.offset, self.text = code, offset, text
        super().__init__(code)

    def told(self):
        """The failure as a receipt holds it."""
        return {"code": self.code, "expression": self.text, "offset": None if self.text is None else self.offset}


class Limited(Failed):
    """A text or a list becomes too long; no operand of `&&` or `||` makes that good."""

    def __init__(self, offset=None):
        super().__init__("E_EVAL_LIMIT", offset)


def checked_int(value, offset=None):
    """An int of 64 bits."""
    if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        return value
    raise Failed("E_EVAL_OVERFLOW", offset)


def checked_size(value, most):
    """A size that a function takes: from 0 to a greatest one."""
    if not 0 <= value <= most:
        raise Failed("E_EVAL_ARGUMENT")


def equal_values(a, b):
    """Numbers are compared as numbers, other values of different types are unequal, NaN equals nothing."""
    if type(a) is type(b) and type(a) in (int, str):
        return a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal_values(value, b[key]) for key, value in a.items())
    if type(a) is not type(b):
        return type(a) in (int, float) and type(b) in (int, float) and float(a) == float(b)
    if type(a) is list:
        return len(a) == len(b) and all(map(equal_values, a, b))
    return a == b


def ordered_pair(a, b, offset=None):
    """Two values that have an order, as they are compared."""
    if type(a) is type(b) and type(a) in (int, float, str, bool):
        return a, b
    if type(a) in (int, float) and type(b) in (int, float):
        return float(a), float(b)
    raise Failed("E_EVAL_TYPE", offset)


def member_of(key, values):
    """The key of a map that equals a value, in a tuple since it may be false; None if there is none."""
    wanted = int(key) if type(key) is float and key.is_integer() else key
    if type(wanted) is str:
        return (wanted,) if wanted in values else None
    if type(wanted) not in (int, bool) or wanted not in values:
        return None
    own = next(one for one in values if one == wanted)
    return (own,) if type(own) is type(wanted) else None
