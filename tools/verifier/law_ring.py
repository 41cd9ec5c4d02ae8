"""Ring automata: a universe as its spec says it, one step of a ring, and what can be measured of a state.

A state is a `bytes` of symbol numbers.
"""

import re
from itertools import product

from tools.verifier.basis import Open, demand
from tools.verifier.cel import evaluate
from tools.verifier.syntax import parse
from tools.verifier.values import Failed

MAX_RING_WINDOWS, BYTE_CODES = 65_536, 256
TRANSFORM_CALL = re.compile(r"([A-Za-z]\w*)(?:\(\s*(-?[0-9]{1,9}(?:\s*,\s*-?[0-9]{1,9})*)\s*\))?", re.ASCII)
LET_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def window_codes(symbols, ring, first, width):
    """The code of each cell's window, which begins so many cells from it and goes around the ring.

    Where every code fits a byte, all cells are computed at once, as the bytes of one large integer: no byte overflows.
    """
    if (first, width) == (0, 1):
        return ring
    size = len(ring)
    turned = [ring[place % size :] + ring[: place % size] for place in range(first, first + width)]
    if symbols**width <= BYTE_CODES:
        codes = 0
        for cells in turned:
            codes = codes * symbols + int.from_bytes(cells, "big")
        return codes.to_bytes(size, "big")
    codes = [0] * size
    for cells in turned:
        codes = [code * symbols + cell for code, cell in zip(codes, cells)]
    return codes


def byte_table(values):
    """What `bytes.translate` takes: a byte for each code, the rest never used."""
    return bytes(values).ljust(BYTE_CODES, b"\0")


class RingRule:
    """A table of next symbols, by the code of (left, self, right)."""

    def __init__(self, symbols, table):
        self.symbols, self.table = symbols, tuple(table)
        self.bytes = byte_table(self.table) if len(self.table) <= BYTE_CODES else None

    def step(self, ring):
        """The ring one step later."""
        codes = window_codes(self.symbols, ring, -1, 3)
        return bytes([self.table[code] for code in codes]) if self.bytes is None else codes.translate(self.bytes)

    def run(self, ring, steps):
        """The states at 0, 1, … steps."""
        states = [ring]
        for _ in range(steps):
            states.append(self.step(states[-1]))
        return states

    def changed(self, number):
        """The rule that differs in one entry: the entries in order, for each the other symbols in order."""
        entry, other = divmod(number, self.symbols - 1)
        table = list(self.table)
        table[entry] = other + (other >= table[entry])
        return RingRule(self.symbols, table)


class Weights(dict):
    """What windows weigh, by code, each computed when it is first asked for."""

    def __init__(self, symbols, width, weigh):
        super().__init__()
        self.symbols, self.width, self.weigh = symbols, width, weigh

    def __missing__(self, code):
        rest, cells = code, []
        for _ in range(self.width):
            rest, cell = divmod(rest, self.symbols)
            cells.append(cell)
        self[code] = self.weigh(cells[::-1])
        return self[code]


class WindowSum:
    """A sum, over all cells, of what the window weighs that begins there; windows go around the ring."""

    def __init__(self, symbols, width, weigh):
        self.symbols, self.width, self.weight = symbols, width, Weights(symbols, width, weigh)

    def weights(self):
        """What every window weighs, by code."""
        return [self.weight[code] for code in range(self.symbols**self.width)]

    def of(self, ring):
        """The sum over a ring."""
        return sum(map(self.weight.__getitem__, window_codes(self.symbols, ring, 0, self.width)))

    def bounds(self, longest):
        """The least and the greatest value on rings of up to so many cells."""
        every = self.weights()
        return min(0, *every) * longest, max(0, *every) * longest


class CellScan:
    """Where cells with certain symbols are, on a ring that is read from cell 0 to the last."""

    def __init__(self, form, wanted):
        self.form, self.wanted, self.marks = form, wanted, byte_table(wanted)

    def of(self, ring):
        """An index, -1 if there is no such cell; or a length."""
        marks = ring.translate(self.marks)
        if self.form == "longest":
            return max(map(len, marks.split(b"\0")))
        first, last = marks.find(1), marks.rfind(1)
        return {"first": first, "last": last, "extent": last - first if first >= 0 else -1}[self.form]

    def bounds(self, longest):
        """The least and the greatest value on rings of up to so many cells."""
        return -1, longest


class RingImage:
    """A change of a ring: reflected if so, then rotated right, then every symbol mapped."""

    def __init__(self, reflect, shift, symbols):
        self.reflect, self.shift, self.symbols, self.bytes = reflect, shift, symbols, byte_table(symbols)

    def of(self, ring):
        """The changed ring."""
        turned = ring[::-1] if self.reflect else ring
        cut = len(ring) - self.shift % len(ring)
        return (turned[cut:] + turned[:cut]).translate(self.bytes)


class RingUniverse:
    """A universe, from its spec."""

    def __init__(self, key, data):
        self.key, self.name, self.alphabet = key, data["name"], list(data["alphabet"])
        ring, marks = data["ring"], self.alphabet
        self.shortest, self.longest = ring["min"], ring["max"]
        self.sizes = ring.get("sizes") or usual_sizes(self.shortest, self.longest)
        self.empty = marks.index(data.get("empty") or marks[0])
        self.starts = sorted({marks.index(one) for one in (data.get("starts") or {}).get("symbols") or marks})
        self.generators = {name: data["generators"][name] for name in sorted(data["generators"])}
        self.transforms, self.observables = data.get("transforms") or {}, data["observables"]
        self.interaction, self.measures, self.mutant_runs = data.get("interaction"), {}, {}
        self.rule = RingRule(len(marks), ring_table(marks, data["transition"]))

    def text(self, ring):
        """A state as characters."""
        return "".join(self.alphabet[cell] for cell in ring)

    def measure(self, name, values=()):
        """An observable of the universe with its arguments."""
        key = (name, tuple((type(one).__name__, one) for one in values))
        if key not in self.measures:
            self.measures[key] = self.measured(self.observables[name], list(values))
        return self.measures[key]

    def measured(self, said, values):
        """What a spec of an observable measures."""
        args = dict(zip(sorted(said.get("args") or {}), values))
        demand(len(args) == len(values) == len(said.get("args") or {}), "E_SPECS", "an observable's arguments differ")
        if "scan" in said:
            where = parse(said["where"])
            return CellScan(said["scan"], [ring_value(where, {**args, "self": one}) is True for one in self.alphabet])
        window, body = said["window"], parse(said["count"] if "count" in said else said["sum"])
        width = len(window) if isinstance(window, list) else ring_value(parse(window), args)
        small = type(width) is int and 1 <= width <= 16 and len(self.alphabet) ** width <= MAX_RING_WINDOWS
        demand(small, "E_SPECS", "a window has no cell, or too many contents")

        def weigh(cells):
            marks = [self.alphabet[cell] for cell in cells]
            named = dict(zip(window, marks)) if isinstance(window, list) else {"w": marks}
            return int(ring_value(body, {**args, **named}))

        return WindowSum(len(self.alphabet), width, weigh)

    def image(self, text):
        """The change that a text such as `shift_k(3)` names; None if the universe has no such transform."""
        match = TRANSFORM_CALL.fullmatch(text.strip())
        demand(match, "E_SPECS", f"{text!r} names no transform")
        if match[1] not in self.transforms:
            return None
        said, given = self.transforms[match[1]], [int(one) for one in match[2].split(",")] if match[2] else []
        args = sorted(said.get("args") or {})
        filled = {**(said.get("default") or {}), **dict(zip(args, given))}
        demand(len(given) <= len(args) and set(filled) == set(args), "E_SPECS", "a transform's arguments differ")
        mapped = said.get("map") or {}
        symbols = [self.alphabet.index(mapped.get(one, one)) for one in self.alphabet]
        return RingImage(said.get("reflect", False), ring_value(parse(str(said.get("shift", "0"))), filled), symbols)


def ring_value(tree, names):
    """The value of an expression of a universe; one without a value is in no valid spec."""
    try:
        return evaluate(tree, names)
    except Failed as failed:
        raise Open("E_SPECS", f"an expression of the universe has no value ({failed.code})") from None


def usual_sizes(shortest, longest):
    """Ring lengths that grow by a half, up to 64 cells or twice the shortest."""
    found, size = [], shortest
    while size <= min(longest, max(64, 2 * shortest)):
        found.append(size)
        size = max(size + 1, size * 3 // 2)
    return found


def ring_table(marks, transition):
    """The next symbol of every three, from a number, a table or an expression."""
    if "number" in transition:
        demand(len(marks) == 2, "E_SPECS", "a number says what two symbols do")
        return [transition["number"] >> code & 1 for code in range(8)]
    if "table" in transition:
        return [marks.index(transition["table"]["".join(three)]) for three in product(marks, repeat=3)]
    lets, table = let_order(transition.get("let") or {}), []
    following = parse(transition["next"])
    for three in product(marks, repeat=3):
        names = dict(zip(("left", "self", "right"), three))
        for name, tree in lets:
            names[name] = ring_value(tree, names)
        table.append(marks.index(ring_value(following, names)))
    return table


def let_order(lets):
    """Named expressions, each after those that it names."""
    waiting, order = dict(sorted(lets.items())), []
    while waiting:
        ready = [name for name, text in waiting.items() if not set(LET_WORD.findall(text)) & waiting.keys() - {name}]
        if not ready:
            raise Open("E_SPECS", "named expressions name one another in a way that is not read here")
        order += [(name, parse(waiting.pop(name))) for name in ready]
    return order
