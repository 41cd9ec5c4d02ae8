"""Claims of laws: trees of what is said, read from JSON or from text, shown as text, matched with a template.

A node is a tuple: ("const", value), ("obs", name, step, fixed), ("not", node), or (operator, left, right). The step
of an observable is counted from the one that is judged, or from the start where it is fixed.
"""

import operator
import re

from tools.verifier.basis import Refuted, demand

SUM_SIGNS, ORDERS_OF_CLAIMS, JOINTS = ("+", "-", "*"), ("==", "!=", "<", "<=", ">", ">="), ("=>", "and", "or")
CELL_NOW, CELL_IMAGE, CELL_MOVED = "state[i]", "evolve(transform(S))[i]", "transform(evolve(S))[i]"
CELLWISE = (CELL_NOW, CELL_IMAGE, CELL_MOVED)
CLAIM_TRUE = ("const", True)
BIG_INT = 2**63 - 1
MOST_NODES, MOST_LEVELS, MOST_STEP = 512, 32, 1_000_000
CLAIM_TOKEN = re.compile(r"\s*(?:([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|(=>|==|!=|<=|>=|[-+*/<>()])|(\S))", re.ASCII)
LEVELS = {"=>": 1, "or": 2, "and": 3, "+": 6, "-": 6, "*": 7, **dict.fromkeys(ORDERS_OF_CLAIMS, 5)}
APPLIED = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=>": lambda one, other: not one or other,
    "and": lambda one, other: one and other,
    "or": lambda one, other: one or other,
}


class Ambiguous(Exception):
    """A text that leaves open what is claimed."""


def claim_nodes(node):
    """A node and everything below it, from left to right."""
    yield node
    if node[0] not in ("const", "obs"):
        for below in node[1:]:
            yield from claim_nodes(below)


def claim_reads(node):
    """What is read, each once, in the order of the text: (name, step, fixed)."""
    return list(dict.fromkeys(one[1:] for one in claim_nodes(node) if one[0] == "obs"))


def claim_from_json(value, level=0, count=None):
    """The tree of a claim in JSON."""
    count = [0] if count is None else count
    count[0] += 1
    code = "E_SPECS"
    demand(count[0] <= MOST_NODES and level < MOST_LEVELS, code, "a claim is too large")
    demand(isinstance(value, dict), code, "a node of a claim is no object")
    if value.keys() == {"const"}:
        return ("const", claim_constant(value["const"]))
    if value.keys() == {"obs", "t"} and isinstance(value["obs"], str):
        return ("obs", value["obs"], *claim_time(value["t"]))
    op = value.get("op")
    if op == "not" and value.keys() == {"op", "arg"}:
        return ("not", claim_from_json(value["arg"], level + 1, count))
    known = op in LEVELS and value.keys() == {"op", "lhs", "rhs"}
    demand(known, code, "a node of a claim means nothing")
    return (op, *(claim_from_json(value[side], level + 1, count) for side in ("lhs", "rhs")))


def claim_constant(value):
    """An integer within 64 bits, a truth value or a symbol."""
    symbol = isinstance(value, str) and len(value) == 1
    fits = symbol or isinstance(value, bool) or (isinstance(value, int) and -BIG_INT - 1 <= value <= BIG_INT)
    demand(fits, "E_SPECS", "a constant of a claim is none")
    return value


def claim_time(value):
    """The step that an observable is read at, and whether it is counted from the start."""
    if value == {"var": "t"}:
        return 0, False
    if isinstance(value, dict) and value.keys() == {"t_plus_1"} and value["t_plus_1"] is True:
        return 1, False
    step = value["const"] if isinstance(value, dict) and value.keys() == {"const"} else None
    demand(type(step) is int and 0 <= step <= MOST_STEP, "E_SPECS", "a time of a claim is none")
    return step, True


def claim_to_json(node):
    """The claim in JSON, in its one form."""
    if node[0] == "const":
        return {"const": node[1]}
    if node[0] == "obs":
        _, name, step, fixed = node
        if step == 1 and not fixed:
            return {"obs": name, "t": {"t_plus_1": True}}
        return {"obs": name, "t": {"const": step} if fixed else {"var": "t"}}
    if node[0] == "not":
        return {"op": "not", "arg": claim_to_json(node[1])}
    return {"op": node[0], "lhs": claim_to_json(node[1]), "rhs": claim_to_json(node[2])}


def claim_text(node, level=0):
    """The claim as text, with the brackets that it needs."""
    if node[0] == "const":
        if isinstance(node[1], bool):
            return "true" if node[1] else "false"
        return f"'{node[1]}'" if isinstance(node[1], str) else str(node[1])
    if node[0] == "obs":
        _, name, step, fixed = node
        return f"{name}({step})" if fixed else f"{name}(t)" if step == 0 else f"{name}(t+{step})"
    if node[0] == "not":
        own, text = 4, f"not {claim_text(node[1], 4)}"
    else:
        op, own = node[0], LEVELS[node[0]]
        left = own + (op in ORDERS_OF_CLAIMS or op == "=>")
        text = f"{claim_text(node[1], left)} {op} {claim_text(node[2], own + (op != '=>'))}"
    return f"({text})" if own < level else text


def claim_sort(node):
    """Whether a claim is worth an integer, a truth value or a symbol; operators take what they are given."""
    code, message = "E_SPECS", "an operator of a claim has operands that it cannot take"
    if node[0] == "const":
        return "bool" if isinstance(node[1], bool) else "int" if isinstance(node[1], int) else "cell"
    if node[0] == "obs":
        return "cell" if node[1] in CELLWISE else "int"
    sorts = {claim_sort(below) for below in node[1:]}
    taken = {"int"} if node[0] in SUM_SIGNS or node[0] in ORDERS_OF_CLAIMS else {"bool"}
    taken = {"int", "bool", "cell"} if node[0] in ("==", "!=") else taken
    demand(len(sorts) == 1 and sorts <= taken, code, message)
    return "int" if node[0] in SUM_SIGNS else "bool"


def claim_moved(node, steps):
    """The claim with every step that is not fixed so many later; no step may come before the one that is judged."""
    if node[0] == "obs":
        _, name, step, fixed = node
        demand(fixed or step + steps >= 0, "E_SPECS", "a part of a claim is read at the wrong step")
        return node if fixed else ("obs", name, step + steps, False)
    return node if node[0] == "const" else (node[0], *(claim_moved(below, steps) for below in node[1:]))


# Templates: patterns of claims


def pattern_filled(pattern, parts, fields):
    """A pattern in JSON with parts (as JSON) and fields in their places."""
    if not isinstance(pattern, dict):
        return pattern
    if pattern.keys() == {"field"}:
        return fields[pattern["field"]]
    if "part" in pattern:
        held = parts[pattern["part"]]
        return claim_to_json(claim_moved(claim_from_json(held), 1)) if pattern.get("at") == "t + 1" else held
    return {key: pattern_filled(value, parts, fields) for key, value in pattern.items()}


def pattern_matched(pattern, claim, fields, found):
    """Find what a claim in JSON puts in the place of each part."""
    code, message = "E_SPECS", "a claim is not of its template's form"
    if not isinstance(pattern, dict) or pattern.keys() == {"field"}:
        wanted = fields[pattern["field"]] if isinstance(pattern, dict) else pattern
        demand(type(wanted) is type(claim) and wanted == claim, code, message)
    elif "part" in pattern:
        node = claim_from_json(claim)
        node = claim_moved(node, -1) if pattern.get("at") == "t + 1" else node
        demand(found.setdefault(pattern["part"], node) == node, code, message)
    else:
        demand(isinstance(claim, dict) and claim.keys() == pattern.keys(), code, message)
        for key in pattern:
            pattern_matched(pattern[key], claim[key], fields, found)


# Claims as text


class ClaimText:
    """Reads a text such as `X(t+1) == In(t) and not 2 * X(t) > L(0)`."""

    def __init__(self, text):
        demand(len(text) <= 8192, "E_SPECS", "a claim is too long")
        self.tokens = [next(filter(None, match)) for match in CLAIM_TOKEN.findall(text.rstrip())]
        demand(len(self.tokens) <= MOST_NODES, "E_SPECS", "a claim has too many words")
        self.place = self.open = 0

    def whole(self):
        """The tree of the whole text."""
        node = self.implied()
        if self.place < len(self.tokens):
            self.unexpected()
        return claim_from_json(claim_to_json(node))

    def next(self):
        """The next word, or None."""
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, *wanted):
        """The next word if it is one of these, else None."""
        found = self.next() if self.next() in wanted else None
        self.place += found is not None
        return found

    def unexpected(self, wanted=None):
        """Say what stands here."""
        found = self.next()
        if found == "/":
            raise Refuted("E_SPECS", "a claim divides")
        shown = "the end" if found is None else f"`{found}`"
        raise Ambiguous(f"expected `{wanted}`, found {shown}" if wanted else f"unexpected {shown}")

    def expect(self, token):
        """Take a word that must come."""
        if self.take(token) is None:
            self.unexpected(token)

    def deeper(self, steps):
        """Count how deep it is."""
        self.open += steps
        demand(self.open <= MOST_LEVELS, "E_SPECS", "a claim is too deep")

    def implied(self):
        """`=>` binds least and leans to the right."""
        self.deeper(1)
        left = self.joined("or", lambda: self.joined("and", self.denied))
        node = ("=>", left, self.implied()) if self.take("=>") else left
        self.deeper(-1)
        return node

    def joined(self, word, operand):
        """Operands with a word between, from left to right."""
        node = operand()
        while self.take(word):
            node = (word, node, operand())
        return node

    def denied(self):
        """A denial, or one comparison."""
        if self.take("not"):
            self.deeper(1)
            node = ("not", self.denied())
            self.deeper(-1)
            return node
        left = self.summed()
        op = self.take(*ORDERS_OF_CLAIMS)
        return left if op is None else (op, left, self.summed())

    def summed(self):
        """Products with + and - between."""
        node = self.product()
        while self.next() in ("+", "-"):
            node = (self.take("+", "-"), node, self.product())
        return node

    def product(self):
        """Atoms with * between."""
        node = self.atom()
        while self.take("*"):
            node = ("*", node, self.atom())
        return node

    def atom(self):
        """A bracket, an integer, a truth value, or an observable at a step."""
        if self.take("("):
            node = self.implied()
            self.expect(")")
            return node
        sign = -1 if self.take("-") else 1
        token = self.next()
        if token is not None and token.isdigit():
            self.place += 1
            return ("const", claim_constant(sign * int(token)))
        named = token is not None and (token[0].isalpha() or token[0] == "_") and token not in ("and", "or", "not")
        if sign < 0 or not named:
            self.unexpected()
        self.place += 1
        if token in ("true", "false"):
            return ("const", token == "true")
        if self.take("(") is None:
            raise Ambiguous(f"`{token}` does not say when it is looked at")
        step = self.step()
        self.expect(")")
        return ("obs", token, *step)

    def step(self):
        """`t`, `t + 1`, or a step from the start."""
        if self.take("t"):
            if self.take("+"):
                self.expect("1")
                return 1, False
            return 0, False
        token = self.next()
        if token is None or not token.isdigit() or int(token) > MOST_STEP:
            self.unexpected("t")
        self.place += 1
        return int(token), True
