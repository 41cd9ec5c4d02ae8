"""Expressions of specs (CEL profile v1, docs/authoring.md): from a text to a tree, in bounded size and depth.

A node is a tuple: its form, where it begins in the text, and its parts. The beginning is what an error tells: of a
chain of operators or selections it is where the first of them begins, brackets around it left out.
"""

import re
from functools import lru_cache

from tools.verifier.basis import Refuted

LONGEST_TEXT, MOST_BRACKETS, LONGEST_CHAIN, HIGHEST_TREE, MOST_ITEMS, MOST_MACROS = 8192, 32, 32, 48, 256, 6
INT64_MAX = 2**63 - 1
RESERVED_WORDS = frozenset(
    "as break const continue else false for function if import in let loop namespace null package return true var void"
    " while".split()
)
MACRO_NAMES = frozenset(("all", "exists", "exists_one", "filter", "map"))
BINARY_LEVELS = (("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
SKIPPED_TEXT = re.compile(r"(?:[ \t\n\r\f]|//[^\n]*)*")
TOKEN_FORMS = re.compile(
    r"(?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<int>0x[0-9a-fA-F]+|[0-9]+)(?![uU])"
    r"|(?P<string>(?:[rR])?(?:'''|\"\"\"|'|\"))"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator>&&|\|\||[=!<>]=|[-+*/%!<>?:.,()\[\]{}])"
    r"|`(?P<quoted>[A-Za-z0-9_.\-/ ]+)`"
)
ESCAPE_FORMS = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(?s:(.))|$)"
)
CONTROL_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class NoExpression(Refuted):
    """A text is no expression of the profile."""

    def __init__(self, message, text):
        super().__init__("E_SPECS", f"no expression: {message}, in {text[:80]!r}")


class Expression:
    """A parsed expression: its text, its root, the number of its nodes; `runs` is what `cel` keeps of it."""

    __slots__ = ("root", "runs", "text", "weight")

    def __init__(self, text, root, weight):
        self.text, self.root, self.weight, self.runs = text, root, weight, {}


@lru_cache(maxsize=16384)
def parse(text):
    """The tree of an expression; equal texts have one.

    `true`, `false` and numbers may stand for expressions: they are parsed as they are spelled.
    """
    if len(text) > LONGEST_TEXT:
        raise NoExpression(f"it has more than {LONGEST_TEXT} characters", text)
    root = Parser(text).whole()
    return Expression(text, root, measured(root, text))


def inner_nodes(node):
    """The parts of a node that are nodes."""
    form = node[0]
    if form in ("literal", "name"):
        return ()
    if form in ("select", "has"):
        return (node[2],)
    if form == "unary":
        return (node[3],)
    if form == "index":
        return node[2:4]
    if form == "binary":
        return node[3:5]
    if form == "logic":
        return node[3]
    if form == "choice":
        return node[2:5]
    if form == "call":
        return node[4] if node[3] is None else (node[3], *node[4])
    if form == "list":
        return node[2]
    if form == "map":
        return tuple(part for entry in node[2] for part in entry)
    return (node[3], *(() if node[5] is None else (node[5],)), node[6])


def node_count(root):
    """How many nodes a tree has."""
    waiting, count = [root], 0
    while waiting:
        count += 1
        waiting += inner_nodes(waiting.pop())
    return count


def measured(root, text):
    """The number of nodes; a tree that is too high, or has too many macros inside one another, is refused."""
    waiting, count = [(root, 1, 0)], 0
    while waiting:
        node, height, macros = waiting.pop()
        count += 1
        if height > HIGHEST_TREE or macros > MOST_MACROS - (node[0] == "macro"):
            raise NoExpression("it is too deep", text)
        inside = macros + (node[0] == "macro")
        target = node[3] if node[0] == "macro" else None
        waiting += [(one, height + 1, macros if one is target else inside) for one in inner_nodes(node)]
    return count


class Parser:
    """Reads one text, token by token, in bounded depth."""

    def __init__(self, text):
        self.text, self.at, self.depth = text, 0, 0
        self.advance()

    def fail(self, message):
        """Refuse the text."""
        raise NoExpression(f"{message} at {self.start}", self.text)

    def advance(self):
        """Read the next token: `kind` is int, double, string, name, quoted, end, or the operator itself."""
        self.start = SKIPPED_TEXT.match(self.text, self.at).end()
        if self.start == len(self.text):
            self.kind, self.value, self.at = "end", None, self.start
            return
        found = TOKEN_FORMS.match(self.text, self.start)
        if found is None:
            self.fail("something that has no meaning")
        self.at, self.kind = found.end(), found.lastgroup
        self.value = found[self.kind]
        if self.kind == "operator":
            self.kind = self.value
        elif self.kind == "double":
            self.value = float(self.value)
            if self.value == float("inf"):
                self.fail("a number that fits no double")
        elif self.kind == "int":
            digits = self.value
            if len(digits.lstrip("0x")) > 19:
                self.fail("an integer beyond 64 bits")
            self.value = int(digits, 16 if digits.startswith("0x") else 10)
            if self.value > INT64_MAX + 1:
                self.fail("an integer beyond 64 bits")
        elif self.kind == "string":
            self.string(self.value)

    def string(self, opening):
        """Read a text up to its closing quote."""
        raw, quote = opening[0] in "rR", opening.lstrip("rR")
        made, at, text = [], self.at, self.text
        while not text.startswith(quote, at):
            if at >= len(text) or (len(quote) == 1 and text[at] in "\r\n"):
                self.fail("a text without its closing quote")
            if text[at] == "\\" and not raw:
                found = ESCAPE_FORMS.match(text, at)
                made.append(self.escape(found))
                at = found.end()
            else:
                made.append(text[at])
                at += 1
        self.at, self.value = at + len(quote), "".join(made)
        if any("\ud800" <= one <= "\udfff" for one in self.value):
            self.fail("half of a character")

    def escape(self, found):
        """What an escape stands for."""
        letter, *numbers, wrong = found.groups()
        if letter:
            return CONTROL_ESCAPES.get(letter, letter)
        digits = next((pair for pair in zip(numbers, (16, 16, 16, 8)) if pair[0] is not None), None)
        if digits is None or wrong is not None:
            self.fail("no such escape")
        point = int(*digits)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            self.fail("no such character")
        return chr(point)

    def taken(self, kind):
        """Whether the next token was of a kind, and if so left behind."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind):
        """Leave a token of a kind behind."""
        if not self.taken(kind):
            self.fail(f"no {kind}")

    def whole(self):
        """One expression, and nothing after it."""
        node = self.expression()
        if self.kind != "end":
            self.fail("something follows")
        return node

    def expression(self):
        """An expression, one bracket deeper."""
        self.depth += 1
        if self.depth > MOST_BRACKETS + 1:
            self.fail("too many brackets are open")
        node = self.choice()
        self.depth -= 1
        return node

    def choice(self):
        """`a ? b : c ? d : e`; a condition between `?` and `:` needs brackets."""
        parts, node = [], self.logic("||")
        while self.taken("?"):
            then = self.logic("||")
            self.expect(":")
            parts.append((node, then))
            self.chain(len(parts))
            node = self.logic("||")
        for condition, then in reversed(parts):
            node = ("choice", condition[1], condition, then, node)
        return node

    def chain(self, count):
        """Bound a chain of operators."""
        if count > LONGEST_CHAIN:
            self.fail("a chain is too long")

    def logic(self, operator):
        """`a && b && c`, or of `||`."""
        operand = (lambda: self.logic("&&")) if operator == "||" else (lambda: self.binary(0))
        operands = [operand()]
        while self.taken(operator):
            operands.append(operand())
            self.chain(len(operands) - 1)
        return operands[0] if len(operands) == 1 else ("logic", operands[0][1], operator, tuple(operands))

    def binary(self, level):
        """Operators of one level, from the left."""
        if level == len(BINARY_LEVELS):
            return self.unary()
        left, count = self.binary(level + 1), 1
        while self.kind in BINARY_LEVELS[level] or (level == 0 and (self.kind, self.value) == ("name", "in")):
            operator = self.value
            self.advance()
            left = ("binary", left[1], operator, left, self.binary(level + 1))
            count += 1
            self.chain(count)
        return left

    def unary(self):
        """`!!a`, `--a`, and numbers with a sign."""
        start, sign, count = self.start, self.kind, 0
        if sign not in ("!", "-"):
            return self.member(self.primary())
        while self.taken(sign):
            count += 1
        if sign == "-" and count == 1 and self.kind in ("int", "double"):
            node = ("literal", start, -self.value)
            self.advance()
            return self.member(node)
        operand = self.member(self.primary())
        return operand if count % 2 == 0 else ("unary", start, sign, operand)

    def primary(self):
        """A literal, a name, a call, or something in brackets."""
        kind, value, start = self.kind, self.value, self.start
        if kind in ("int", "double", "string"):
            if kind == "int" and value > INT64_MAX:
                self.fail("an integer beyond 64 bits")
            self.advance()
            return ("literal", start, value)
        if kind == "name":
            return self.named()
        if self.taken("("):
            node = self.expression()
            self.expect(")")
            return node
        if self.taken("["):
            return ("list", start, self.items("]"))
        if self.taken("{"):
            return self.entries(start)
        return self.fail("no value")

    def named(self):
        """A name, a constant of the language, or a call."""
        name, start = self.value, self.start
        self.advance()
        if name in ("true", "false", "null"):
            return ("literal", start, {"true": True, "false": False, "null": None}[name])
        if name in RESERVED_WORDS or self.kind == "{":
            self.fail(f"{name} cannot stand")
        return self.called(None, name, start) if self.kind == "(" else ("name", start, name)

    def items(self, closing):
        """What stands between brackets, separated by commas; a list may end with one, arguments may not."""
        items = []
        while not self.taken(closing):
            items.append(self.expression())
            if len(items) > MOST_ITEMS:
                self.fail("too many items")
            if self.taken(closing):
                break
            self.expect(",")
            if closing == ")" == self.kind:
                self.fail("no argument")
        return tuple(items)

    def entries(self, start):
        """A record or a map."""
        entries = []
        while not self.taken("}"):
            key = self.expression()
            self.expect(":")
            entries.append((key, self.expression()))
            if len(entries) > MOST_ITEMS:
                self.fail("too many entries")
            if self.taken("}"):
                break
            self.expect(",")
        return ("map", start, tuple(entries))

    def member(self, node):
        """Selections, indices and calls on a value."""
        start, count = node[1], 0
        while self.kind in (".", "["):
            count += 1
            self.chain(count)
            if self.taken("["):
                node = ("index", start, node, self.expression())
                self.expect("]")
                continue
            self.advance()
            if self.kind not in ("name", "quoted"):
                self.fail("no field")
            quoted, name = self.kind == "quoted", self.value
            self.advance()
            if self.kind == "{":
                self.fail("no message can stand")
            call = self.kind == "(" and not quoted
            node = self.called(node, name, start) if call else ("select", start, node, name)
        return node

    def called(self, target, name, start):
        """A call, `has`, or a macro."""
        self.advance()
        args = self.items(")")
        if target is None and name == "has":
            if len(args) != 1 or args[0][0] != "select":
                self.fail("has takes one selection")
            return ("has", start, args[0][2], args[0][3])
        if target is None or name not in MACRO_NAMES:
            return ("call", start, name, target, args)
        if not (len(args) == 2 or (name == "map" and len(args) == 3)) or args[0][0] != "name":
            self.fail(f"{name} takes a name and an expression")
        return ("macro", start, name, target, args[0][2], args[1] if len(args) == 3 else None, args[-1])
