"""What a certificate is about: conditions on sums over windows, their alternatives, and rings tried one by one."""

from itertools import product

from tools.verifier.basis import demand
from tools.verifier.law_claim import APPLIED
from tools.verifier.law_ring import RingImage, RingRule, WindowSum
from tools.verifier.values import BUDGET

MOST_RINGS, MOST_WINDOWS, WIDEST, MOST_CLAUSES = 1 << 19, 1 << 14, 14, 1 << 10
DENIED = {"<=": ">", ">": "<=", ">=": "<", "<": ">=", "==": "!=", "!=": "=="}


def certain(holds, message):
    """Refuse a certificate unless something holds."""
    demand(holds, "E_CERTIFICATE", message)


def exactly(value, *names):
    """The values of an object that has exactly these fields."""
    certain(isinstance(value, dict) and value.keys() == {*names}, f"expected the fields {', '.join(names)}")
    return [value[name] for name in names]


def all_integers(value, count):
    """A list of so many integers."""
    shaped = isinstance(value, list) and len(value) == count and all(type(one) is int for one in value)
    certain(shaped, f"expected {count} integers")
    return value


def claim_condition(claim):
    """What a claim about sums says of every t, as a condition."""
    kind = claim["kind"]
    if kind == "always":
        return claim["condition"]
    if kind == "eventually":
        later = [condition_later(claim["consequent"], steps) for steps in range(claim["within"] + 1)]
        return {"or": [{"not": claim["antecedent"]}, {"or": later}]}
    certain(kind in ("conserved", "monotone"), "the claim is not about sums over windows")
    growth = [{"times": times, "observable": claim["observable"], "at": at} for times, at in ((1, 1), (-1, 0))]
    return {"sum": growth, "op": claim.get("direction", "=="), "bound": 0}


def condition_parts(condition):
    """How a condition joins others, and those; of a comparison: `sum` and nothing."""
    if "sum" in condition:
        return "sum", []
    ((name, parts),) = condition.items()
    return name, [parts] if name == "not" else parts


def condition_later(condition, steps):
    """A condition so many steps later; what it says of the initial state stays."""
    name, parts = condition_parts(condition)
    if name == "sum":
        moved = [one if one["at"] is None else {**one, "at": one["at"] + steps} for one in condition["sum"]]
        return {**condition, "sum": moved}
    moved = [condition_later(one, steps) for one in parts]
    return {name: moved[0] if name == "not" else moved}


def condition_terms(condition):
    """Every term of a condition."""
    name, parts = condition_parts(condition)
    found = list(condition["sum"]) if name == "sum" else []
    for one in parts:
        found += condition_terms(one)
    return found


def clauses_of(condition, denied=False):
    """The disjunctive form of a condition or of its denial: clauses of rows (terms, whether ==, bound)."""
    name, parts = condition_parts(condition)
    if name == "not":
        return clauses_of(parts[0], not denied)
    if name != "sum":
        listed = [clauses_of(one, denied) for one in parts]
        found = clauses_joined(listed) if (name == "and") != denied else [one for some in listed for one in some]
        certain(len(found) <= MOST_CLAUSES, "too many clauses")
        return found
    op, bound, up = condition["op"], condition["bound"], condition["sum"]
    op, down = DENIED[op] if denied else op, [{**one, "times": -one["times"]} for one in up]
    if op == "!=":
        return [[(down, False, 1 - bound)], [(up, False, bound + 1)]]
    row = {"<": (down, False, 1 - bound), ">": (up, False, bound + 1), "<=": (down, False, -bound)}
    return [[row.get(op, (up, op == "==", bound))]]


def clauses_joined(listed):
    """One clause of each list together, in every combination, earlier lists varying slowest."""
    found = [[]]
    for some in listed:
        certain(len(found) * len(some) <= MOST_CLAUSES, "too many clauses")
        found = [one + other for one in found for other in some]
    return found


def necklaces(symbols, length):
    """Of rings that are rotations of each other the least one (Fredricksen, Kessler and Maiorana)."""
    word = [0] * length
    while True:
        yield bytes([symbols[one] for one in word])
        last = length - 1
        while True:
            while last >= 0 and word[last] == len(symbols) - 1:
                last -= 1
            if last < 0:
                return
            word[last] += 1
            word[last + 1 :] = [word[place % (last + 1)] for place in range(last + 1, length)]
            if length % (last + 1) == 0:
                break
            last = length - 1


class ProofQuestion:
    """A question, and how it is judged on rings, one after the other."""

    def __init__(self, question, holds=None):
        self.symbols, self.claim = question["rule"]["symbols"], question["claim"]
        self.rule = RingRule(self.symbols, question["rule"]["table"])
        self.shortest, self.longest = question["rings"]
        self.where, self.horizon = question["start"]["where"], question["horizon"]
        symbols = question["start"]["symbols"]
        self.start = list(range(self.symbols)) if symbols is None else sorted(symbols)
        self.every = symbols is None and self.where == {"and": []}
        self.opaque, self.totals, self.spelled = holds, {}, {}
        self.read_claim()

    def words(self, width):
        """Every window of a width, in the order of codes."""
        certain(type(width) is int and 1 <= width <= WIDEST, "the width is out of range")
        certain(self.symbols**width <= MOST_WINDOWS, "too many windows")
        BUDGET.spend(self.symbols**width)
        if width not in self.spelled:
            self.spelled[width] = [bytes(one) for one in product(range(self.symbols), repeat=width)]
        return self.spelled[width]

    def code(self, cells):
        """The code of a window."""
        code = 0
        for cell in cells:
            code = code * self.symbols + cell
        return code

    def inner(self, cells, steps=1):
        """The inner cells of a window some steps later."""
        for _ in range(steps):
            threes = zip(cells, cells[1:], cells[2:])
            cells = bytes(self.rule.table[(a * self.symbols + b) * self.symbols + c] for a, b, c in threes)
        return cells

    def total(self, observable, ring):
        """The value of an observable on a ring."""
        key = (id(observable), ring)
        if key not in self.totals:
            width, weights, constant = exactly(observable, "width", "weights", "constant")
            sums = WindowSum(self.symbols, width, lambda cells: weights[self.code(cells)])
            self.totals[key] = sums.of(ring) + constant
        return self.totals[key]

    def true(self, condition, start, at):
        """Whether a condition holds of an initial state and the states from t on."""
        name, parts = condition_parts(condition)
        if name == "sum":
            found = 0
            for one in condition["sum"]:
                found += one["times"] * self.total(one["observable"], start if one["at"] is None else at[one["at"]])
            return APPLIED[condition["op"]](found, condition["bound"])
        if name == "not":
            return not self.true(parts[0], start, at)
        return (all if name == "and" else any)(self.true(one, start, at) for one in parts)

    def read_claim(self):
        """How an instance is judged: steps that it looks at, whether at the start, whether rotations matter."""
        claim, kind = self.claim, self.claim["kind"]
        self.span, self.from_start, self.rotates = 1, False, True
        if kind == "opaque":
            certain(self.opaque is not None, "an opaque claim needs its judge")
            self.span, self.from_start, self.rotates = claim["span"], claim["from_start"], False
            self.holds = self.opaque
        elif kind == "local":
            trigger, results = claim["trigger"], claim["results"]
            self.holds = lambda _, at: all(new in results for old, new in zip(*at) if old == trigger)
        elif kind == "commutes":
            image = RingImage(claim["reflect"], claim["shift"], claim["map"])
            self.holds = lambda _, at: self.rule.step(image.of(at[0])) == image.of(at[1])
        else:
            said = claim_condition(claim)
            steps = [one["at"] for one in condition_terms(said)]
            self.span, self.from_start = max((one for one in steps if one is not None), default=0), None in steps
            self.holds = lambda start, at: self.true(said, start, at)

    def rings(self, length):
        """The initial states of a length that are tried."""
        all_ = necklaces(self.start, length) if self.rotates else map(bytes, product(self.start, repeat=length))
        for ring in all_:
            BUDGET.spend(length)
            if self.true(self.where, ring, []):
                yield ring

    def failing(self, length):
        """The first ring of a length on which the claim fails earliest, with its t; None if there is none."""
        if not self.from_start:
            return self.failing_of([(ring, ring) for ring in self.rings(length)])
        found = [(one[1], place, one[0]) for place, ring in enumerate(self.rings(length)) if (one := self.first(ring))]
        return (min(found)[2], min(found)[0]) if found else None

    def first(self, ring):
        """A ring on which the claim fails, with the first t at which it does."""
        return self.failing_of([(ring, ring)])

    def failing_of(self, level):
        """Of some rings, step by step together, the first that fails; if every state may be a start, t = 0 is all."""
        seen, t, once = set(), 0, self.every and not self.from_start
        while level and (self.horizon is None or t + self.span <= self.horizon):
            fresh = []
            for state, ring in level:
                if state in seen:
                    continue
                seen.add(state)
                BUDGET.spend(len(state) * (self.span + 1))
                if not self.holds(ring, self.rule.run(state, self.span)):
                    return ring, t
                fresh.append((state, ring))
            level = [] if once else [(self.rule.step(state), ring) for state, ring in fresh]
            t += 1
        return None
