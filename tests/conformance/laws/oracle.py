"""Laws by brute force: universes as their descriptions word them, laws as the seed's templates word them.

Nothing here calls the engine: documents are plain YAML, expressions and claims are read by the few lines below, and
every start of a ring is followed step by step. Sources: kinetic grid facts; law proposer, section 6.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import yaml

LAWS = Path(__file__).resolve().parents[3] / "specs" / "law"


# Universes


def kinetic_step(s):
    """A right-mover arrives from a `>` or X on the left, a left-mover from a `<` or X on the right; both make an X."""
    n, after = len(s), ""
    for i in range(n):
        rightward, leftward = s[i - 1] in ">X", s[(i + 1) % n] in "<X"
        after += "X" if rightward and leftward else ">" if rightward else "<" if leftward else "."
    return after


def traffic_step(s):
    """A car with a free cell before it drives on; any other stays."""
    n = len(s)
    drives = [s[i] == "c" and s[(i + 1) % n] == "." for i in range(n)]
    return "".join("c" if drives[i - 1] or (s[i] == "c" and not drives[i]) else "." for i in range(n))


def tide_step(s):
    """Each cell takes the sign of the sum of itself and its two neighbours."""
    n, charge = len(s), {"+": 1, "-": -1, "0": 0}
    sums = [charge[s[i - 1]] + charge[s[i]] + charge[s[(i + 1) % n]] for i in range(n)]
    return "".join("+" if each > 0 else "-" if each < 0 else "0" for each in sums)


def cycle_step(s):
    """Paper beats rock, scissors beat paper, rock beats scissors: among two neighbours on either side."""
    n, beats = len(s), {"r": "p", "p": "s", "s": "r"}
    near = [{s[(i + k) % n] for k in (-2, -1, 1, 2)} for i in range(n)]
    return "".join(beats[s[i]] if beats[s[i]] in near[i] else s[i] for i in range(n))


def elementary_step(number):
    """Wolfram's numbering: bit 4a + 2b + c of the number is what follows a b c."""
    return lambda s: "".join(str(number >> int(s[i - 1] + s[i] + s[(i + 1) % len(s)], 2) & 1) for i in range(len(s)))


def step_by(table, alphabet, radius=1):
    """A step by look-up of a cell and its neighbours, read from the left as digits."""
    offsets = range(-radius, radius + 1)

    def step(s):
        cells, n, k = [alphabet.index(c) for c in s], len(s), len(alphabet)
        codes = [sum(cells[(i + at) % n] * k ** (radius - at) for at in offsets) for i in range(n)]
        return "".join(alphabet[table[code]] for code in codes)

    return step


@dataclass(frozen=True)
class World:
    """A universe: its symbols, those that starts may have, its rings, one step, and changes of whole states."""

    alphabet: str
    symbols: str
    shortest: int
    longest: int
    step: Callable[[str], str]
    change: Callable[[str, str], str]


SWAP = {">": "<", "<": ">"}
TRANSFORMS = {
    # whether reversed, and which symbols change
    "mirror_swap": (True, SWAP),
    "mirror_only": (True, {}),
    "swap_only": (False, SWAP),
    "mirror": (True, {}),
    "complement": (False, {"0": "1", "1": "0"}),
    "mirror_complement": (True, {"0": "1", "1": "0"}),
    "flip": (False, {"+": "-", "-": "+"}),
    "turn": (False, {"r": "p", "p": "s", "s": "r"}),
    "reverse_holes": (True, {".": "c", "c": "."}),
}


def rotated(s, k):
    """To the right by k cells."""
    k %= len(s)
    return s[-k:] + s[:-k] if k else s


def changed(name, s):
    """The state after a transform of a shipped universe."""
    called = re.fullmatch(r"shift_k(?:\((-?\d+)\))?", name)
    if called:
        return rotated(s, int(called[1] or 1))
    reverse, symbols = TRANSFORMS[name]
    return "".join(symbols.get(c, c) for c in (s[::-1] if reverse else s))


def world_of(document):
    """The universe of a shipped law."""
    universe = document["universe"]
    if isinstance(universe, dict):
        return World("01", "01", 3, 200, elementary_step(universe["with"]["rule"]), changed)
    return {
        "kinetic_grid_v1": World(".><X", ".><", 4, 200, kinetic_step, changed),
        "traffic": World(".c", ".c", 3, 200, traffic_step, changed),
        "cyclic_three": World("rps", "rps", 3, 100, cycle_step, changed),
        "spin_tide": World("0+-", "0+-", 3, 120, tide_step, changed),
    }[universe]


# Observables


def pairs(s, a, b):
    return sum(s[i] == a and s[(i + 1) % len(s)] == b for i in range(len(s)))


def gap_pairs(s, a, b, g):
    n = len(s)
    return sum(
        s[i] == a and s[(i + g + 1) % n] == b and all(s[(i + 1 + j) % n] == "." for j in range(g)) for i in range(n)
    )


def longest(s, a):
    return max((len(run) for run in re.findall(f"{re.escape(a)}+", s)), default=0)


def measures(s):
    """What the observables of every universe are worth on a state; a name means the same in each."""
    n = len(s)
    return {
        "count": s.count,
        "grid_length": n,
        "incoming_collisions": sum(s[i - 1] in ">X" and s[(i + 1) % n] in "<X" for i in range(n)),
        "adjacent_pairs": lambda a, b: pairs(s, a, b),
        "gap_pairs": lambda a, b, g: gap_pairs(s, a, b, g),
        "triples": lambda a, b, c: sum((s[i - 1], s[i], s[(i + 1) % n]) == (a, b, c) for i in range(n)),
        "leftmost": s.find,
        "rightmost": s.rfind,
        "max_gap": lambda a: longest(s, a),
        "longest_run": lambda a: longest(s, a),
        "spread": lambda a: s.rfind(a) - s.find(a) if a in s else -1,
        "pattern": lambda text: sum(all(c in ("?", s[(i + k) % n]) for k, c in enumerate(text)) for i in range(n)),
        "rocks_reached": sum(s[i] == "r" and s[(i + 2) % n] == "p" for i in range(n)),
        "moving": pairs(s, "c", "."),
        "jammed": pairs(s, "c", "c"),
        "free_pairs": pairs(s, ".", "."),
        "charge": s.count("+") - s.count("-"),
        "walls": sum(s[i] != s[i - 1] for i in range(n)),
        "borders": sum(s[i] != s[i - 1] for i in range(n)),
        "clashes": pairs(s, "+", "-") + pairs(s, "-", "+"),
    }


class Judge:
    """One law, judged on one start after the other."""

    def __init__(self, document, world=None):
        self.law, self.claim = document, document.get("claim_ast")
        self.world = world or world_of(document)
        self.symbols = self.world.symbols
        if "starts" in document:
            self.symbols = "".join(document["starts"].get("symbols", self.world.alphabet))
        elif any("include_collision_state" in test.get("params", {}) for test in document.get("proposed_tests", [])):
            self.symbols = self.world.alphabet
        self.quantifiers = {"T": 50, "H": 0, **document.get("quantifiers", {})}
        self.ahead = max(map(int, re.findall(r"'t_plus': (\d+)", str(self.claim))), default=1)
        self.fixed = max(map(int, re.findall(r"'t': {'const': (\d+)}", str(self.claim))), default=0)
        self._values, self._after = {}, {}

    def steps(self, name, s):
        """T or H on a ring as long as a state."""
        return eval(str(self.quantifiers[name]), {"__builtins__": {}}, {"grid_length": len(s)})

    def values(self, s):
        """The law's own observables on a state."""
        if s not in self._values:
            names = measures(s)
            for observable in self.law.get("observables", []):
                names[observable["name"]] = eval(observable["expr"], {"__builtins__": {}}, names)
            self._values[s] = names
        return self._values[s]

    def after(self, s):
        if s not in self._after:
            self._after[s] = self.world.step(s)
        return self._after[s]

    def usable(self, s):
        """Whether a start is of the law's contract."""
        return set(s) <= set(self.symbols) and all(self._met(each, s) for each in self.law.get("preconditions", []))

    def _met(self, condition, s):
        if isinstance(condition, dict):
            sides = [str(condition[side]) for side in ("lhs", "rhs")]
            return COMPARED[condition["op"]](*(eval(side, {"__builtins__": {}}, self.values(s)) for side in sides))
        return eval(condition.replace("&&", "and").replace("||", "or"), {"__builtins__": {}}, self.values(s))

    def first_violation(self, start):
        """The first step at which the law fails from a start of its contract, or None."""
        template, steps = self.law["template"], [start]
        if template == "symmetry_commutation":
            return self._first_asymmetry(start)
        horizon, waits = self.steps("T", start), self.steps("H", start)
        last = horizon - 1 if template in ("monotone", "implication_step", "local_transition") else horizon
        seen = set()  # what comes after a state that was met before is known
        for t in range(last + 1):
            while len(steps) <= max(t + self.ahead, t + waits, self.fixed):
                steps.append(self.after(steps[-1]))
            if steps[t] in seen:
                return None
            seen.add(steps[t])
            if not self.holds_at(template, steps, t):
                return t
        return None

    def _first_asymmetry(self, start):
        name, state, seen = self.law["transform"], start, set()
        image = self.world.change(name, start)
        for n in range(1, self.steps("T", start) + 1):
            if (state, image) in seen:
                return None
            seen.add((state, image))
            state, image = self.after(state), self.after(image)
            if image != self.world.change(name, state):
                return n
        return None

    def holds_at(self, template, steps, t):
        law = self.law
        if template == "local_transition":
            same = law["result_op"] == "=="
            cells = zip(steps[t], steps[t + 1], strict=True)
            return all((b == law["result_symbol"]) == same for a, b in cells if a == law["trigger_symbol"])
        if template == "eventually":
            ends, (p, q) = range(t, t + self.steps("H", steps[0]) + 1), (self.claim["lhs"], self.claim["rhs"])
            return not self.value(p, steps, t) or any(self.value(q, steps, u) for u in ends)
        return self.value(self.claim, steps, t)

    def value(self, node, steps, t):
        if "const" in node:
            return node["const"]
        if "obs" in node:
            time = node["t"]
            at = time["const"] if "const" in time else t + time.get("t_plus", int("t_plus_1" in time))
            return self.values(steps[at])[node["obs"]]
        if node["op"] == "not":
            return not self.value(node["arg"], steps, t)
        return COMPARED[node["op"]](self.value(node["lhs"], steps, t), self.value(node["rhs"], steps, t))

    def starts(self, length):
        return (s for s in map("".join, product(self.symbols, repeat=length)) if self.usable(s))

    def smallest_failing(self, most):
        """A start of fewest cells that violates the law, of at most so many cells; None if there is none."""
        for length in range(self.world.shortest, most + 1):
            for start in self.starts(length):
                if self.first_violation(start) is not None:
                    return start
        return None


COMPARED = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=>": lambda p, q: not p or q,
    "and": lambda p, q: p and q,
    "or": lambda p, q: p or q,
}


def read_laws():
    """The shipped laws, by name."""
    documents = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(LAWS.glob("*.yaml"))]
    return {document["name"]: document for document in documents}
