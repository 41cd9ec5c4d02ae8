"""Expressions on one line of English: a value as a phrase, a condition as words inside a phrase.

Names of a spec stand in backticks, texts in quotation marks. Whatever the tree holds, no operator and no bracket is
left over.
"""

from __future__ import annotations

from specledger.expr.parse.syntax import (
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
)
from specledger.lang.english_words import (
    ADDITIVE,
    COMPARISONS,
    CONVERSIONS,
    FUNCTIONS,
    INFIX,
    MULTIPLES,
    NOUNS,
    OPPOSITES,
    OWNERS,
    SEVERAL,
    STATES,
    TESTS,
)
from specledger.lang.statement import listed

QUANTIFIERS = {"all": "for every", "exists": "for some", "exists_one": "for exactly one"}
DENIED_QUANTIFIERS = {"all": "for some", "exists": "for no", "exists_one": "not for exactly one"}
"""How a quantified condition is denied; the condition under a denied `all` is denied, too."""


def code(name: str) -> str:
    """A name of a spec, as sentences have it."""
    return f"`{name}`"


def quoted(text: str) -> str:
    """A text of a spec in quotation marks; the empty one has words."""
    return '"' + text.replace('"', "'") + '"' if text else "the empty text"


def is_condition(node: Node) -> bool:
    """Whether a node is a condition by its form; a name or a call of a spec's own function may be one, too."""
    match node:
        case Logical() | Has():
            return True
        case Unary():
            return node.operator == "!"
        case Binary():
            return node.operator in COMPARISONS
        case Macro():
            return node.kind in QUANTIFIERS
        case Literal():
            return isinstance(node.value, bool)
        case Call():
            return node.target is not None and node.function in TESTS
        case Conditional():
            return is_condition(node.then) and is_condition(node.otherwise)
        case _:
            return False


def is_test(node: Node) -> bool:
    """Whether a node is a condition that has its own words; a truth value is said as a value."""
    return is_condition(node) and not isinstance(node, Literal)


def inline(node: Node) -> str:
    """A condition inside a phrase, on one line whatever it is."""
    match node:
        case Logical():
            word = ("both", "and") if node.operator == "&&" else ("either", "or")
            return f"{word[0]} {listed((inline(operand) for operand in node.operands), word[1])}"
        case Macro() if node.kind in QUANTIFIERS:
            return f"{QUANTIFIERS[node.kind]} {code(node.variable)} of {phrase(node.target)}, {inline(node.body)}"
        case Conditional():
            return f"{inline(node.then)} if {inline(node.condition)}, and otherwise {inline(node.otherwise)}"
        case Unary() if node.operator == "!" and isinstance(node.operand, Logical | Macro | Conditional):
            return f"it is not so that {inline(node.operand)}"
        case Unary() if node.operator == "!":
            return atom(node.operand, holds=False)
        case _:
            return atom(node, holds=True)


def compared(operator: str, left: Node, right: Node) -> str:
    """A comparison in words; of two conditions whether they agree."""
    if operator in ("==", "!=") and (is_test(left) or is_test(right)):
        words = "exactly if" if operator == "==" else "exactly unless"
        return f"{inline(left)} {words} {inline(right)}"
    null = next((side for side in (left, right) if isinstance(side, Literal) and side.value is None), None)
    if null is not None and operator in ("==", "!="):
        other = left if null is right else right
        return f"{phrase(other)} has {'no' if operator == '==' else 'a'} value"
    if operator in ("in", "not in") and isinstance(right, ListLiteral) and len(right.items) == 1:
        return compared("==" if operator == "in" else "!=", left, right.items[0])
    if operator in ("in", "not in") and isinstance(right, ListLiteral) and right.items:
        words = "is one of" if operator == "in" else "is none of"
        return f"{phrase(left)} {words} {listed(map(phrase, right.items), 'and')}"
    if operator in MULTIPLES and isinstance(left, Binary) and left.operator == "%" and _is_zero(right):
        return f"{_operand(left.left)} {MULTIPLES[operator]} {_operand(left.right)}"
    emptiness = _emptiness(operator, left, right)
    return emptiness or f"{phrase(left)} {COMPARISONS[operator]} {phrase(right)}"


def _is_zero(node: Node) -> bool:
    return isinstance(node, Literal) and node.value == 0 and not isinstance(node.value, bool)


def _emptiness(operator: str, left: Node, right: Node) -> str | None:
    """`there is no `r` of ... for which ...` for a comparison of a size with 0."""
    if not (
        isinstance(left, Call) and left.function == "size" and isinstance(right, Literal) and right.value in (0, 1)
    ):
        return None
    some = (operator, right.value) in {(">", 0), ("!=", 0), (">=", 1)}
    if not some and (operator, right.value) not in {("==", 0), ("<=", 0), ("<", 1)}:
        return None
    of = left.target if left.target is not None else left.args[0]
    word = "an" if some else "no"
    if isinstance(of, Macro) and of.kind == "filter":
        return f"there is {'a' if some else 'no'} {_filtered(of)}"
    return f"there is {word} entry in {phrase(of)}"


def atom(node: Node, *, holds: bool) -> str:
    """A condition that is not made of others: that it holds, or that it does not."""
    match node:
        case Unary() if node.operator == "!":
            return atom(node.operand, holds=not holds)
        case Binary() if node.operator in COMPARISONS:
            return compared(node.operator if holds else OPPOSITES[node.operator], node.left, node.right)
        case Has():
            return f"{phrase(Select(operand=node.operand, key=node.key))} is {'present' if holds else 'absent'}"
        case Literal():
            return "it always holds" if bool(node.value) is holds else "it never holds"
        case Call() if node.function in CONVERSIONS and len(node.args) == 1:
            return atom(node.args[0], holds=holds)
        case Call() if node.target is not None and node.function in TESTS and node.args:
            return f"{phrase(node.target)} {TESTS[node.function][not holds]} {phrase(node.args[0])}"
        case Call() if node.target is None and node.args:
            words = "holds of" if holds else "does not hold of"
            return f"{code(node.function)} {words} {listed(map(phrase, node.args))}"
        case _:
            return f"{phrase(node)} is {'true' if holds else 'false'}"


def phrase(node: Node) -> str:
    """A value in words."""
    if is_test(node):
        return f"whether {inline(node)}"
    match node:
        case Literal():
            return _literal(node.value)
        case Name():
            return STATES.get(node.name) or code(node.name)
        case Select() | Index():
            return _member(node)
        case Unary():
            return f"minus {_operand(node.operand)}"
        case Binary():
            return _operation(node)
        case Conditional():
            return f"{phrase(node.then)} if {inline(node.condition)}, otherwise {phrase(node.otherwise)}"
        case Call():
            return _called(node)
        case ListLiteral():
            return f"the list of {listed(map(phrase, node.items))}" if node.items else "an empty list"
        case MapLiteral():
            entries = [f"{phrase(entry)} as {phrase(key)}" for key, entry in node.entries]
            return f"a record of {listed(entries)}" if entries else "an empty record"
        case Macro():
            return _filtered(node, every=True) if node.kind == "filter" else f"the list of {_mapped(node)}"
        case Reduce():
            over = f"{code(node.variable)} of {phrase(node.target)}"
            start = phrase(node.initial)
            return f"what {code(node.accumulator)} becomes from {start} when it is {phrase(node.body)} for each {over}"
        case Closure():
            over, step = phrase(node.origins), phrase(node.body)
            most = f"in {phrase(node.limit)} steps at most"
            return f"all that is reached from {over} when {code(node.variable)} leads to {step}, {most}"
    raise TypeError(f"no form of expressions: {type(node).__name__}")


def _literal(given: bool | int | float | str | None) -> str:
    if given is None:
        return "no value"
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return quoted(given)
    return f"minus {-given}" if given < 0 else str(given)


def _member(node: Select | Index) -> str:
    path: list[str] = []
    at: Node = node
    while isinstance(at, Select):
        path.insert(0, at.key)
        at = at.operand
    if isinstance(at, Index):
        inner = _indexed(at)
        return f"{code('.'.join(path))} of {inner}" if path else inner
    if not isinstance(at, Name):
        return f"{code('.'.join(path))} of {phrase(at)}"
    if at.name == "action" and path == ["op"]:
        return "the action"
    if at.name in OWNERS:
        return OWNERS[at.name].format(code(".".join(path)))
    return code(".".join([at.name, *path]))


def _indexed(node: Index) -> str:
    key = node.index
    if isinstance(key, Literal) and isinstance(key.value, str):
        return f"{code(key.value)} of {phrase(node.operand)}"
    return f"entry {phrase(key)} of {phrase(node.operand)}"


def _operation(node: Binary) -> str:
    """Sums and products are said from left to right; a sum inside a product is named as one, after its factors."""
    left, right, operator = node.left, node.right, node.operator
    inner = isinstance(left, Binary) and left.operator in INFIX
    if operator in ADDITIVE:
        first = _operation(left) if inner and isinstance(left, Binary) else _operand(left)
        plain = isinstance(right, Binary) and right.operator in INFIX and right.operator not in ADDITIVE
        second = _operation(right) if plain and isinstance(right, Binary) else _operand(right)
        return f"{first} {INFIX[operator]} {second}"
    if operator == "*" and isinstance(left, Binary) and left.operator == "*":
        return f"{_operation(left)} {INFIX[operator]} {_operand(right)}"
    if operator == "*" and inner and not isinstance(right, Binary):
        left, right, inner = right, left, False
    return f"{_operand(left)}{',' if inner else ''} {INFIX[operator]} {_operand(right)}"


def _operand(node: Node) -> str:
    if isinstance(node, Binary) and node.operator in NOUNS:
        left, right = _operand(node.left), _operand(node.right)
        several = " and " in f"{left} {right}"
        return f"{NOUNS[node.operator]} {f'first {left}, then {right}' if several else f'{left} and {right}'}"
    if isinstance(node, Binary) and node.operator == "%":
        return f"the rest of {_operand(node.left)} divided by {_operand(node.right)}"
    if isinstance(node, Conditional):
        chosen = f"{phrase(node.then)} if {inline(node.condition)}"
        return f"the choice of {chosen} and otherwise {_operand(node.otherwise)}"
    return phrase(node)


def _called(node: Call) -> str:
    if node.function in CONVERSIONS and node.target is None and len(node.args) == 1:
        return phrase(node.args[0])
    method = node.target is not None and not (isinstance(node.target, Name) and node.target.name in ("math", "lists"))
    args = [node.target, *node.args] if method and node.target is not None else [*node.args]
    if not args:
        return code(node.function)
    first = args[0]
    if node.function == "size" and isinstance(first, Macro) and first.kind == "filter":
        return f"the number of {_filtered(first)}"
    if node.function == "sum" and isinstance(first, Macro) and first.kind == "map":
        return f"the sum of {_mapped(first)}"
    if node.function == "count" and isinstance(first, Literal):
        return f"how often {phrase(first)} occurs"
    known = FUNCTIONS.get(node.function)
    if known is not None and node.function in SEVERAL and len(args) > 1:
        return known.format(_several([*map(phrase, args)]))
    if known is not None and len(args) <= 2:
        inner = _mapped(first) if isinstance(first, Macro) and first.kind == "map" else phrase(first)
        rest = f" with {phrase(args[1])} for none" if len(args) == 2 else ""
        return known.format(inner) + rest
    return f"{code(node.function)} of {_several([*map(phrase, args)])}"


def _several(phrases: list[str]) -> str:
    """Arguments in a row, so that an `and` inside one of them is not read as one between them."""
    if len(phrases) > 1 and any(" and " in phrase for phrase in phrases):
        return f"first {', then '.join(phrases)}"
    return listed(phrases)


def _mapped(node: Macro) -> str:
    """`c.id` for every `c` of ..., those of a filter with its condition."""
    body, of = phrase(node.body), node.target
    if isinstance(of, Macro) and of.kind == "filter" and of.variable == node.variable:
        return f"{body} for {_filtered(of, every=True)}"
    where = f" for which {inline(node.condition)}" if node.condition is not None else ""
    return f"{body} for every {code(node.variable)} of {phrase(of)}{where}"


def _filtered(node: Macro, *, every: bool = False) -> str:
    head = "every " if every else ""
    return f"{head}{code(node.variable)} of {phrase(node.target)} for which {inline(node.body)}"
