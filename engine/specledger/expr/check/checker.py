"""The checker: from a text to a typed expression that fits its place.

Source: CEL language definition, "Gradual Type Checking".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr.check.analysis import TooLarge, bounded, captures_of, clock_read, reads_of
from specledger.expr.check.environment import Environment, Session, scope_of
from specledger.expr.check.excluded_names import FUNCTIONS as EXCLUDED_FUNCTIONS
from specledger.expr.check.excluded_names import METHODS as EXCLUDED_METHODS
from specledger.expr.check.excluded_names import NOT_DEFINED, refuse
from specledger.expr.check.forms import Forms
from specledger.expr.check.misfits import hint_of_constant, hint_of_misfit
from specledger.expr.check.names import dotted
from specledger.expr.check.operators import advice, apart, as_fixed, holds_fixed, mixed
from specledger.expr.check.relations import mismatch
from specledger.expr.check.tree import Path, Slot, Typed, Value
from specledger.expr.check.types import BOOL, DOUBLE, DYN, FIXED, MISTAKEN, STRING, Defined, IntType, ListType, Type
from specledger.expr.errors import E_EXPR_LIMIT, E_EXPR_NO_PROMOTION, E_EXPR_TYPE
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.limits import MAX_EXPANDED_HEIGHT, MAX_EXPANDED_NODES
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import Ast, Call, children


class Checked(Struct, frozen=True, eq=False):
    """A typed expression.

    Attributes:
        type: Its type; an int's range and a list's size are as narrow as could be proved.
        variables: Names of the variables to bind, those that called functions capture included.
        reads: Paths of data read, as far as known before it runs: ("next", "coherence", "b"), ("grid",).
    """

    text: Text
    type: Type
    root: Typed
    variables: frozenset[str]
    reads: frozenset[Path]

    @property
    def clock(self) -> frozenset[str]:
        """The names of the clock of the run that it may read."""
        return clock_read(self.root)


_OBSERVER: Final[ContextVar[Callable[[Checked], None] | None]] = ContextVar("observer", default=None)


@contextmanager
def observed(keep: Callable[[Checked], None]) -> Iterator[None]:
    """Call `keep` with every expression that is typed meanwhile, whatever collects the findings."""
    token = _OBSERVER.set(keep)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def check(
    source: Text | Ast, environment: Environment, diagnostics: Diagnostics, expect: Type | None = None
) -> Checked | None:
    """Types an expression.

    Args:
        source: The text, or its syntax tree.
        environment: What names mean.
        diagnostics: Receives every mistake with its place.
        expect: The type of the place that the value goes to; a bare int literal becomes a double there.

    Returns:
        The typed expression, or None when there is a mistake.
    """
    ast = source if isinstance(source, Ast) else parse(source, diagnostics)
    if ast is None:
        return None
    forms = Forms(Session(diagnostics), scope_of(environment), ast.text, {})
    forms.fixed = expect is not None and holds_fixed(expect)
    root = _walked(forms, ast)
    if root is not None and expect is not None:
        root = _expected(forms, root, expect)
    if root is None:
        return None
    variables = frozenset(variable.name for variable in captures_of(root))
    checked = Checked(ast.text, root.type, root, variables, reads_of(root))
    keep = _OBSERVER.get()
    if keep is not None:
        keep(checked)
    return checked


def check_body(definition: Defined, environment: Environment, diagnostics: Diagnostics) -> None:
    """Types the body of a function that nothing calls: whatever is wrong in it for all arguments is reported."""
    ast = parse(definition.body, diagnostics)
    if ast is not None:
        params = {name: (Slot(name), MISTAKEN) for name in definition.params}
        _walked(Forms(Session(diagnostics), scope_of(environment), ast.text, params), ast)


def with_fixed(checked: Checked) -> Checked:
    """A list of decimals as one of fixed-point numbers, for values that stand in receipts; anything else as it is."""
    if not isinstance(checked.type, ListType) or checked.type.item != DOUBLE:
        return checked
    root = as_fixed(checked.root, ListType(FIXED))
    return replace(checked, root=root, type=root.type)


def _walked(forms: Forms, ast: Ast) -> Typed | None:
    """The checked tree; None, reported, when something in it is wrong or it is too large."""
    try:
        root = forms.check(ast.root)
        if root is not None:
            bounded(root)
    except TooLarge:
        message = f"with the bodies of its functions the expression is beyond {MAX_EXPANDED_NODES} parts"
        message += f" or {MAX_EXPANDED_HEIGHT} levels"
        forms.session.diagnostics.error(E_EXPR_LIMIT, message, ast.text.span(), hint="name parts of it with `let`")
        return None
    return root


def _expected(forms: Forms, root: Typed, expect: Type) -> Typed | None:
    """The root as its place needs it; None, reported, when it does not fit."""
    if expect == DOUBLE and isinstance(root, Value) and type(root.type) is IntType and not root.name:
        return replace(root, type=DOUBLE, value=float(root.value))
    root = as_fixed(root, expect)
    wrong = mismatch(root.type, expect)
    if wrong is None:
        return root
    code, hint = E_EXPR_TYPE, None
    if mixed(root.type, expect):
        code = E_EXPR_NO_PROMOTION
        truncating = f"`int({forms.source(root)})` truncates; what is declared `qfixed` keeps decimals"
        hint = f"write `double({forms.source(root)})`" if expect == DOUBLE else truncating
        if apart(root.type, expect):
            source = forms.source(root)
            hint = f"write `millionths({source})`" if holds_fixed(root.type) else advice((root,), (source,))
    elif root.type == DYN and (expect in (DOUBLE, STRING, BOOL) or isinstance(expect, IntType)):
        hint = f"its type is not known before it runs: write `{expect}({forms.source(root)})`"
    else:
        hint = hint_of_misfit(root, expect, forms.text.value)
        hint = hint or hint_of_constant(root, forms.scope.environment.constants)
    message = f"the value does not fit its place: {wrong}"
    forms.session.error(code, message, forms.span(root), hint=hint, expected=str(expect), found=str(root.type))
    return None


def check_syntax(text: Text, diagnostics: Diagnostics) -> None:
    """Reports what is wrong without knowing types: syntax, size, or calls outside the profile."""
    ast = parse(text, diagnostics)
    waiting = [] if ast is None else [ast.root]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if isinstance(node, Call):
            name, group = _called(node)
            if group is not None:
                refuse(node, name, group, text, diagnostics.error)


def _called(node: Call) -> tuple[str, str | None]:
    """The name by which a function is called, and its group where it is certain that the profile leaves it out."""
    if node.target is None:
        return node.function, EXCLUDED_FUNCTIONS[node.function] if node.function in NOT_DEFINED else None
    prefix = dotted(node.target)
    qualified = f"{prefix}.{node.function}"
    if prefix is not None and (qualified in EXCLUDED_FUNCTIONS or qualified in STANDARD):
        return qualified, EXCLUDED_FUNCTIONS.get(qualified)
    return node.function, EXCLUDED_METHODS.get(node.function)
