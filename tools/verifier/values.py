"""Values of expressions: 64-bit ints, equality, order, membership; how an evaluation fails; how much work is done."""

from tools.verifier.basis import Open


class Budget:
    """How many nodes may still be evaluated: `begin` anew for each bundle, `spend` before each piece of work."""

    def __init__(self, most):
        self.most = self.left = most

    def begin(self):
        """A new bundle is looked at."""
        self.left = self.most

    def spend(self, nodes):
        """Do so much work, or say that it is too much to be done here."""
        self.left -= nodes
        if self.left < 0:
            raise Open("E_WORK", "replay takes more work than this file does")


BUDGET = Budget(60_000_000)


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
