"""Tokens to a syntax tree, by precedence climbing, in bounded depth.

Source: CEL language definition, "Syntax" and "Macros".
"""

from __future__ import annotations

from functools import lru_cache

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr.check.environment import RESERVED
from specledger.expr.errors import E_EXPR_ARGUMENTS, E_EXPR_LIMIT, E_EXPR_OUTSIDE_PROFILE, E_EXPR_SYNTAX
from specledger.expr.limits import INT_MAX, MAX_CHAIN, MAX_HEIGHT, MAX_ITEMS, MAX_LOOPS, MAX_NESTING, MAX_SOURCE
from specledger.expr.parse.foreign_words import WORDS
from specledger.expr.parse.lexer import Cursor, Problem, Token, tokenize
from specledger.expr.parse.syntax import (
    Ast,
    Binary,
    Call,
    Closure,
    Conditional,
    Has,
    Index,
    ListLiteral,
    Literal,
    Logical,
    Macro,
    MapLiteral,
    Name,
    Node,
    Reduce,
    Select,
    Unary,
    binding,
)

_RELATIONS = ("==", "!=", "<", "<=", ">", ">=", "in")
_LEVELS: tuple[tuple[str, ...], ...] = (_RELATIONS, ("+", "-"), ("*", "/", "%"))
_BEGINS = ("name", "quoted", "int", "double", "string", "!")
"""Tokens that begin a value and cannot follow a name."""
_CONSTANTS = {"true": True, "false": False, "null": None}
MACROS = frozenset({"all", "exists", "exists_one", "map", "filter", "reduce"})
_MOST_KEPT = 400  # characters of an expression whose tree is kept for others like it
_REDUCE = "write `list.reduce(sum, x, 0, sum + x)`"
_CLOSURE = "write `closure([start], x, next, 100)`, `next` a list made of `x`, and how many steps at most"


def parse(text: Text, diagnostics: Diagnostics) -> Ast | None:
    """The syntax tree of an expression; None when it has none, and then `diagnostics` says why, with the place."""
    try:
        if len(text.value) > MAX_SOURCE:
            raise _too_large(f"it has {len(text.value)} characters, {MAX_SOURCE} are allowed", 0, MAX_SOURCE)
        root = _tree(text.value) if len(text.value) <= _MOST_KEPT else _tree.__wrapped__(text.value)
    except Problem as problem:
        diagnostics.error(problem.code, problem.message, text.span(problem.start, problem.end), hint=problem.hint)
        return None
    return Ast(root, text)


@lru_cache(maxsize=2048)
def _tree(source: str) -> Node:
    """The tree of a text; equal texts have one tree, since a node says only where in its text it stands."""
    root = _Parser(tokenize(source)).whole()
    _measure(root)
    return root


def _too_large(what: str, start: int, end: int) -> Problem:
    hint = "name a part of it with `let` or a function"
    return Problem(E_EXPR_LIMIT, f"the expression is too large: {what}", start, end, hint)


def _measure(root: Node) -> None:
    """Refuses a tree that is too high or whose macros are nested too deep, without recursion."""
    waiting = [(root, 1, 0)]
    while waiting:
        node, height, loops = waiting.pop()
        if height > MAX_HEIGHT:
            raise _too_large(f"it is more than {MAX_HEIGHT} levels high", node.start, node.end)
        outer, variables, inner = binding(node)
        if loops > MAX_LOOPS - bool(variables):
            raise _too_large(f"more than {MAX_LOOPS} macros are inside each other", node.start, node.end)
        waiting.extend((child, height + 1, loops) for child in outer)
        waiting.extend((child, height + 1, loops + 1) for child in inner)


class _Parser(Cursor):
    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._depth = 0

    def whole(self) -> Node:
        root = self._expression()
        if self.next.kind != "end":
            raise self.unexpected("the expression was complete before it")
        return root

    def _expression(self) -> Node:
        self._depth += 1
        if self._depth > MAX_NESTING + 1:
            raise _too_large(f"more than {MAX_NESTING} brackets are open", self.before - 1, self.before)
        node = self._conditional()
        self._depth -= 1
        return node

    def _conditional(self) -> Node:
        """A chain `a ? b : c ? d : e`, read in a loop and built from its end."""
        parts: list[tuple[Node, Node]] = []
        node = self._logical("||")
        while self.next.kind == "?":
            parts.append((node, self._branch()))
            self._chain(len(parts), node)
            node = self._logical("||")
        for condition, then in reversed(parts):
            node = Conditional(condition, then, node, start=condition.start, end=node.end)
        return node

    def _branch(self) -> Node:
        """The result for true; CEL wants brackets around a condition in it."""
        self.take()
        then = self._logical("||")
        if self.next.kind == "?":
            message = "a condition between `?` and `:` needs brackets"
            raise Problem(E_EXPR_SYNTAX, message, then.start, self.next.end, "write `a ? (b ? c : d) : e`")
        self.expect(":", "between the two results of `?`")
        return then

    def _chain(self, count: int, first: Node, what: str = "operators") -> None:
        if count > MAX_CHAIN:
            raise _too_large(f"a chain has more than {MAX_CHAIN} {what}", first.start, self.next.end)

    def _logical(self, operator: str) -> Node:
        def operand() -> Node:
            return self._logical("&&") if operator == "||" else self._binary(0)

        operands = [operand()]
        while self.taken(operator):
            operands.append(operand())
            self._chain(len(operands) - 1, operands[0])
        if len(operands) == 1:
            return operands[0]
        return Logical(operator, tuple(operands), start=operands[0].start, end=operands[-1].end)

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        first = left = self._binary(level + 1)
        count = 0
        while (operator := self.operator(_LEVELS[level])) is not None:
            self.take()
            right = self._binary(level + 1)
            left = Binary(operator, left, right, start=first.start, end=right.end)
            count += 1
            self._chain(count + 1, first, "terms")
        return left

    def _unary(self) -> Node:
        token = self.next
        if token.kind not in ("!", "-"):
            return self._member(self._primary())
        count = 0
        while self.taken(token.kind):
            count += 1
        if token.kind == "-" and count == 1 and self.next.kind in ("int", "double"):
            return self._member(self._number(negative_from=token.start))
        operand = self._member(self._primary())
        return operand if count % 2 == 0 else Unary(token.kind, operand, start=token.start, end=operand.end)

    def _number(self, negative_from: int | None = None) -> Node:
        token = self.take()
        value = token.value
        if negative_from is not None:
            return Literal(-value, start=negative_from, end=token.end)
        if token.kind == "int" and value > INT_MAX:
            raise Problem(E_EXPR_SYNTAX, "this integer does not fit 64 bits", token.start, token.end)
        return Literal(value, start=token.start, end=token.end)

    def _primary(self) -> Node:
        token = self.next
        if token.kind in ("int", "double"):
            return self._number()
        if token.kind == "string":
            self.take()
            return Literal(token.value, start=token.start, end=token.end)
        if token.kind == "name":
            return self._name()
        if self.taken("("):
            node = self._expression()
            self.expect(")", "to close the bracket")
            return node
        if self.taken("["):
            items = self._items("]")
            return ListLiteral(items, start=token.start, end=self.before)
        if self.taken("{"):
            return self._map(token)
        if token.kind == ".":
            raise self._outside("names that begin with a dot", token)
        raise self.unexpected("expected a value")

    def _outside(self, what: str, token: Token) -> Problem:
        return Problem(E_EXPR_OUTSIDE_PROFILE, f"{what} are CEL, but outside the profile", token.start, token.end)

    def _name(self) -> Node:
        token = self.take()
        name = str(token.value)
        if name in _CONSTANTS:
            return Literal(_CONSTANTS[name], start=token.start, end=token.end)
        if name in RESERVED:
            message = f"`{name}` is a reserved word of CEL"
            raise Problem(E_EXPR_SYNTAX, message, token.start, token.end, WORDS.get(name))
        if name in WORDS and self.next.kind in _BEGINS:
            raise Problem(E_EXPR_SYNTAX, f"`{name}` is not a word of CEL", token.start, token.end, WORDS[name])
        if self.next.kind == "{":
            raise self._outside("messages", token)
        if self.next.kind == "(":
            return self._call(None, token, token.start)
        return Name(name, start=token.start, end=token.end)

    def _items(self, closing: str) -> tuple[Node, ...]:
        items: list[Node] = []
        while not self.taken(closing):
            if self.next.kind == "?":
                raise self._outside("optional items", self.next)
            items.append(self._expression())
            if len(items) > MAX_ITEMS:
                raise _too_large(f"more than {MAX_ITEMS} items in one list or call", items[0].start, items[-1].end)
            if self.taken(closing):
                break
            self.expect(",", f"or `{closing}` after an item")
            if closing == ")" and self.next.kind == ")":
                raise self.unexpected("expected an argument")
        return tuple(items)

    def _map(self, opening: Token) -> Node:
        entries: list[tuple[Node, Node]] = []
        while not self.taken("}"):
            if self.next.kind == "?":
                raise self._outside("optional entries", self.next)
            key = self._expression()
            self.expect(":", "between key and value")
            entries.append((key, self._expression()))
            if len(entries) > MAX_ITEMS:
                raise _too_large(f"more than {MAX_ITEMS} entries in one map", opening.start, entries[-1][1].end)
            if self.taken("}"):
                break
            self.expect(",", "or `}` after an entry")
        return MapLiteral(tuple(entries), start=opening.start, end=self.before)

    def _member(self, node: Node) -> Node:
        start, count = node.start, 0
        while self.next.kind in (".", "["):
            count += 1
            self._chain(count, node)
            if self.take().kind == "[":
                if self.next.kind == "?":
                    raise self._outside("optional indices", self.next)
                index = self._expression()
                self.expect("]", "after the index")
                node = Index(node, index, start=start, end=self.before)
                continue
            token = self.next
            if token.kind == "?":
                raise self._outside("optional fields", token)
            if token.kind not in ("name", "quoted"):
                raise self.unexpected("expected a field after `.`")
            self.take()
            if token.kind == "name" and self.next.kind == "(":
                node = self._call(node, token, start)
            else:
                node = Select(node, str(token.value), token.start, start=start, end=token.end)
            if self.next.kind == "{":
                raise self._outside("messages", token)
        return node

    def _call(self, target: Node | None, name: Token, start: int) -> Node:
        self.take()
        args = self._items(")")
        end = self.before
        function = str(name.value)
        if target is None and function == "has":
            return self._has(args, name, start, end)
        if target is None and function == "closure":
            self._named(function, args, 4, (1,), name, end, _CLOSURE)
            variable = args[1].name if isinstance(args[1], Name) else ""
            return Closure(args[0], variable, args[2], args[3], start=start, end=end)
        if target is not None and function == "reduce":
            return self._reduce(target, name, args, start, end)
        if target is not None and function in MACROS:
            return self._macro(target, name, args, start, end)
        return Call(function, target, args, name.start, start=start, end=end)

    def _has(self, args: tuple[Node, ...], name: Token, start: int, end: int) -> Node:
        if len(args) != 1 or not isinstance(args[0], Select):
            hint = "write `has(record.field)`; for a map, `'key' in map`"
            raise Problem(E_EXPR_ARGUMENTS, "`has` takes one field selection", name.start, end, hint)
        select = args[0]
        return Has(select.operand, select.key, select.key_start, start=start, end=end)

    def _named(
        self, kind: str, args: tuple[Node, ...], count: int, names: tuple[int, ...], name: Token, end: int, hint: str
    ) -> None:
        """Refuses a macro whose arguments are not as many as it takes, or not plain names where it names something."""
        if len(args) != count:
            message = f"`{kind}` takes {count} arguments, not {len(args)}"
            raise Problem(E_EXPR_ARGUMENTS, message, name.start, end, hint)
        for arg in [args[index] for index in names if not isinstance(args[index], Name)]:
            message = f"this argument of `{kind}` names a value of its last expressions: it must be a plain name"
            raise Problem(E_EXPR_ARGUMENTS, message, arg.start, arg.end, hint)

    def _reduce(self, target: Node, name: Token, args: tuple[Node, ...], start: int, end: int) -> Node:
        self._named("reduce", args, 4, (0, 1), name, end, _REDUCE)
        own = [arg.name for arg in args[:2] if isinstance(arg, Name)]
        if own[0] == own[1]:
            raise Problem(E_EXPR_ARGUMENTS, "both names of `reduce` are the same", args[1].start, args[1].end, _REDUCE)
        return Reduce(target, own[0], own[1], args[2], args[3], start=start, end=end)

    def _macro(self, target: Node, name: Token, args: tuple[Node, ...], start: int, end: int) -> Node:
        kind = str(name.value)
        names = [arg.name if isinstance(arg, Name) else None for arg in args[:2]]
        if kind != "map" and len(args) == 3 and None not in names:
            raise Problem(
                E_EXPR_OUTSIDE_PROFILE, "macros with two variables are CEL, but outside the profile", name.start, end
            )
        if len(args) != 2 and not (kind == "map" and len(args) == 3):
            takes = "a name, an optional condition and an expression" if kind == "map" else "a name and an expression"
            message = f"`{kind}` takes {takes}, not {len(args)} argument{'' if len(args) == 1 else 's'}"
            raise Problem(E_EXPR_ARGUMENTS, message, name.start, end, f"write `.{kind}(x, ...)`")
        variable = names[0]
        if variable is None:
            message = f"the first argument of `{kind}` names the item: it must be a plain name"
            raise Problem(E_EXPR_ARGUMENTS, message, args[0].start, args[0].end, f"write `.{kind}(x, ...)`")
        condition = args[1] if len(args) == 3 else None
        return Macro(kind, target, variable, args[-1], condition, args[0].start, start=start, end=end)
