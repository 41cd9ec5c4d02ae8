"""Which values an expression over a state can give, as far as its text says: ranges of ints and sizes of lists.

Types are those of `declared`. A range follows from the declared types by interval arithmetic (docs/variables.md). What
a condition proves about a range is not followed here: where that could matter nothing is known, and the type is None.
"""

from tools.verifier.declared import INT_TYPE, NAMED_TYPES
from tools.verifier.values import BUDGET

MOST_ITEMS_KNOWN, DEEPEST_TYPED, MOST_REACHED = 65_536, 100, 8321
BOOL_TYPE, STRING_TYPE = ("bool",), ("string",)
FIELD_TYPE = NAMED_TYPES["field"]
NOT_NEGATIVE = ("int", 0, INT_TYPE[2])
GIVEN_TYPES = {
    "reach": ("int", 0, MOST_REACHED),
    "beside": ("int", 0, 4),
    "field_at": INT_TYPE,
    "field_min": INT_TYPE,
    "field_max": INT_TYPE,
    "sum_sq": NOT_NEGATIVE,
    "grad_energy": NOT_NEGATIVE,
    "field_count": NOT_NEGATIVE,
    "path_length": ("int", -1, INT_TYPE[2]),
    "cells_mask": FIELD_TYPE,
    "dilate": FIELD_TYPE,
    "distances": FIELD_TYPE,
    "fresh": STRING_TYPE,
    "string": STRING_TYPE,
    "contains": BOOL_TYPE,
    "startsWith": BOOL_TYPE,
    "endsWith": BOOL_TYPE,
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in")


class Typing:
    """Finds the types of expressions over the state of a world; `texts` are names that stand for texts."""

    def __init__(self, world, texts=()):
        self.world, self.texts, self.deep = world, texts, 0

    def of(self, node, local):
        """The type of a node, None where it is not known; `local` are the types of macros' names and parameters."""
        BUDGET.spend(1)
        found = getattr(self, "of_" + node[0])(node, local)
        return None if found is None or (found[0] != "nothing" and None in found) else found

    def of_literal(self, node, local):
        """Of a literal."""
        value = node[2]
        if type(value) is bool:
            return BOOL_TYPE
        return ("int", value, value) if type(value) is int else STRING_TYPE if type(value) is str else None

    def of_name(self, node, local):
        """Of a name: local, a field of the state, a constant, a derived value."""
        name, world = node[2], self.world
        if name in local:
            return local[name]
        if name in self.texts:
            return STRING_TYPE
        if name == "now":
            return ("state", world.type)
        if name in world.type[1]:
            return world.type[1][name]
        if name in world.constants:
            return self.of_literal(("literal", 0, world.constants[name]), local)
        return self.deeper(world.derived[name], {}) if name in world.derived else None

    def deeper(self, tree, local):
        """Of the body of a function or of a derived value."""
        self.deep += 1
        found = self.of(tree.root, local) if self.deep <= DEEPEST_TYPED else None
        self.deep -= 1
        return found

    def of_select(self, node, local):
        """Of a field."""
        outer, key = self.of(node[2], local), node[3]
        if outer is None:
            return None
        if outer[0] == "state":
            derived = self.world.derived.get(key)
            return outer[1][1].get(key) if key in outer[1][1] or derived is None else self.deeper(derived, {})
        if outer[0] == "record":
            return outer[1].get(key)
        return outer[1] if outer[0] == "map" else None

    def of_index(self, node, local):
        """Of an item."""
        if node[3][0] == "literal" and type(node[3][2]) is str:
            return self.of_select(("select", 0, node[2], node[3][2]), local)
        outer = self.of(node[2], local)
        return outer[1] if outer is not None and outer[0] in ("list", "map") else None

    def of_has(self, node, local):
        """Of a question."""
        return BOOL_TYPE

    of_logic = of_has

    def of_unary(self, node, local):
        """Of `!a` and `-a`."""
        inner = self.of(node[3], local)
        if node[2] == "!":
            return BOOL_TYPE
        return clipped(-inner[2], -inner[1]) if inner is not None and inner[0] == "int" else None

    def of_binary(self, node, local):
        """Of an operator with two sides."""
        operator = node[2]
        if operator in COMPARISONS:
            return BOOL_TYPE
        a, b = self.of(node[3], local), self.of(node[4], local)
        if a is None or b is None:
            return None
        if operator == "+" and "list" in (a[0], b[0]):
            a, b = (("list", ("nothing",), 0) if one[0] == "nothing" else one for one in (a, b))
            item = joined(a[1], b[1])
            return None if item is None else ("list", item, min(MOST_ITEMS_KNOWN, a[2] + b[2]))
        if a[0] == b[0] == "int":
            return spanned(operator, a, b)
        return STRING_TYPE if operator == "+" and a[0] == b[0] == "string" else None

    def of_choice(self, node, local):
        """Of a condition, where it can narrow no range."""
        then, other = self.of(node[3], local), self.of(node[4], local)
        same = then is not None and then == other and then[0] in ("bool", "string")
        return then if same else None

    def of_list(self, node, local):
        """Of a list that is written out."""
        item = ("nothing",)
        for one in node[2]:
            found = self.of(one, local)
            item = None if item is None or found is None else joined(item, found)
        return None if item is None else ("list", item, len(node[2]))

    def of_map(self, node, local):
        """Of a record that is written out."""
        fields = {}
        for key, value in node[2]:
            found = self.of(value, local)
            if key[0] != "literal" or type(key[2]) is not str or found is None:
                return None
            fields[key[2]] = found
        return ("record", fields, frozenset())

    def of_macro(self, node, local):
        """Of a macro."""
        kind, name = node[2], node[4]
        if kind not in ("map", "filter"):
            return BOOL_TYPE
        target = self.of(node[3], local)
        if target is None or target[0] != "list" or kind == "filter" or node[5] is not None:
            return target if kind == "filter" else None
        item = self.of(node[6], {**local, name: target[1]})
        return None if item is None else ("list", item, target[2])

    def of_call(self, node, local):
        """Of a call."""
        name, target, args = node[2:5]
        function = self.world.functions.get(name) if target is None else None
        qualified = target is not None and target[0] == "name" and target[2] == "math" and "math" not in local
        if target is not None and not qualified:
            args = (target, *args)
        types = [self.of(one, local) for one in args]
        if type(function) is tuple:
            return self.deeper(function[1], dict(zip(function[0], types)))
        if name in GIVEN_TYPES and not qualified:
            return GIVEN_TYPES[name]
        return None if None in types or not types else computed_type(name, qualified, types)


def computed_type(name, qualified, types):
    """The type of a call of a function whose result follows from its arguments."""
    first = types[0]
    if qualified:
        ints = [one for one in types if one[0] == "int"]
        if len(ints) < len(types):
            return None
        if name == "abs":
            low, high = first[1:]
            return first if low >= 0 else clipped(0 if high >= 0 else -high, max(-low, high))
        pick = {"greatest": max, "least": min}.get(name)
        return None if pick is None else ("int", pick(one[1] for one in ints), pick(one[2] for one in ints))
    if name == "size":
        return ("int", 0, first[2]) if first[0] == "list" else None
    if name == "sort_by":
        return first
    if first[0] != "list" or first[1][0] != "int":
        return None
    low, high = first[1][1:]
    if name == "sum":
        return clipped(min(0, low * first[2]), max(0, high * first[2]))
    if name in ("minimum", "maximum") and types[1][0] == "int":
        return ("int", min(low, types[1][1]), max(high, types[1][2]))
    return None


def clipped(low, high):
    """What is left of a range within 64 bits."""
    low, high = max(low, INT_TYPE[1]), min(high, INT_TYPE[2])
    return ("int", low, high) if low <= high else INT_TYPE


def spanned(operator, a, b):
    """The range of what an operator gives."""
    if operator == "+":
        return clipped(a[1] + b[1], a[2] + b[2])
    if operator == "-":
        return clipped(a[1] - b[2], a[2] - b[1])
    if operator == "*":
        corners = [x * y for x in a[1:] for y in b[1:]]
        return clipped(min(corners), max(corners))
    if operator == "%":
        most = max(abs(b[1]), abs(b[2])) - 1
        low, high = (max(a[1], -most) if a[1] < 0 else 0), (min(a[2], most) if a[2] > 0 else 0)
        return INT_TYPE if most < 0 else clipped(low, high)
    divisors = [one for one in (b[1], b[2], -1, 1) if one and b[1] <= one <= b[2]]
    corners = [truncated(x, one) for x in a[1:] for one in divisors]
    corners += [0] if a[1] <= 0 <= a[2] else []
    return clipped(min(corners), max(corners)) if corners else INT_TYPE


def truncated(a, b):
    """A quotient of integers, towards zero."""
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def joined(a, b):
    """The least type that holds the values of both, where that is plain."""
    if a == b or b[0] == "nothing":
        return a
    if a[0] == "nothing":
        return b
    if a[0] == b[0] == "int":
        return ("int", min(a[1], b[1]), max(a[2], b[2]))
    if a[0] == b[0] == "list":
        item = joined(a[1], b[1])
        return None if item is None else ("list", item, max(a[2], b[2]))
    if a[0] == b[0] == "record" and a[1].keys() == b[1].keys() and a[2] == b[2]:
        fields = {name: joined(one, b[1][name]) for name, one in a[1].items()}
        return None if None in fields.values() else ("record", fields, a[2])
    return None
