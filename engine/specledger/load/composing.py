"""Values by cases and sums of weighted terms, as the expressions that they stand for.

`{case: [{when: near, then: 5}], else: 0}` stands for `near ? 5 : 0` wherever an expression may stand; a `score` may be
a list of terms, `{id: worth, weight: 2, value: worth}` stands for `2 * worth`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.load.composed import Binding, Part, Piece, binding, joined, product, total
from specledger.load.document import Composed, Node
from specledger.load.findings import describe, place_of
from specledger.load.shapes import Shape, known_keys
from specledger.spec.base import TermsMark

E_CASE_FORM = code("E_CASE_FORM", "A value by cases that has another form")
E_SCORE_TERM = code("E_SCORE_TERM", "A term of a score that has another form")

CASE: Final = "case"
_CASE_KEYS: Final = (CASE, "else")
_BRANCH_KEYS: Final = ("when", "then")
_TERM_KEYS: Final = ("id", "weight", "value")

_CASE_HINT: Final = "write `{case: [{when: near, then: 5}], else: 0}`"
_TERM_HINT: Final = "write `{id: worth, weight: 2, value: worth}`"


def compose(root: Node, shapes: tuple[Shape, ...], diagnostics: Diagnostics) -> Node:
    """A tree in which each value by cases, and each list of terms, is the expression that it stands for."""
    return _Composer(diagnostics).visit(root, shapes) if _has_any(root) else root


def is_by_cases(node: Node) -> bool:
    """Whether a node is a value by cases, which replaces what it is laid over."""
    return node.is_mapping and node.members.keys() == {*_CASE_KEYS}


def _has_any(node: Node) -> bool:
    if node.is_mapping:
        return CASE in node.members or any(map(_has_any, node.members.values())) or _has_terms(node)
    return node.is_list and any(map(_has_any, node.elements))


def _has_terms(node: Node) -> bool:
    score = node.members.get("score")
    return score is not None and score.is_list


class _Composer:
    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics

    def visit(self, node: Node, shapes: tuple[Shape, ...]) -> Node:
        """The node, or the expression that it stands for."""
        if node.is_mapping and CASE in node.members and _takes_cases(shapes):
            return self._expression(node, self._case(node))
        if node.is_list and _takes_terms(shapes):
            return self._terms(node)
        if node.is_mapping:
            members = {key: self.visit(inner, _inside(shapes, key)) for key, inner in node.members.items()}
            return replace(node, value=members)
        if node.is_list:
            return replace(node, value=tuple(self.visit(inner, _inside(shapes, 0)) for inner in node.elements))
        return node

    def _expression(self, node: Node, part: Part | None, terms: Iterable[tuple[str, str]] = ()) -> Node:
        if part is None:
            return replace(node, style="plain", value="0", flawed=True)
        text = joined(part.pieces)
        return replace(node, style="plain", value=text.value, composed=Composed(text, tuple(terms)))

    def _case(self, node: Node) -> Part | None:
        """`near ? 5 : 0` of the branches; None after findings were reported."""
        branches, otherwise = node.members[CASE], node.members.get("else")
        known = self._known(E_CASE_FORM, node, _CASE_KEYS, _CASE_HINT)
        if not branches.elements or otherwise is None:
            at = branches if otherwise is not None else node
            message = "`case` has no list of branches" if otherwise is not None else "`case` has no `else`"
            self._wrong(E_CASE_FORM, message, at, _CASE_HINT)
            return None
        pieces: list[Piece] = []
        for branch in branches.elements:
            wrong = branch.members.keys() < set(_BRANCH_KEYS) or not branch.is_mapping
            if wrong or not self._known(E_CASE_FORM, branch, _BRANCH_KEYS, _CASE_HINT):
                if wrong:
                    self._wrong(E_CASE_FORM, "a branch has `when` and `then`", branch, _CASE_HINT)
                return None
            first, then = (self._part(branch.members[key], E_CASE_FORM) for key in _BRANCH_KEYS)
            if first is None or then is None:
                return None
            pieces += [*first.inside(Binding.CONDITION), " ? ", *then.inside(Binding.CONDITION), " : "]
        last = self._part(otherwise, E_CASE_FORM)
        if last is None or not known:
            return None
        return Part((*pieces, *last.inside(Binding.CONDITION)), Binding.LOOSE)

    def _part(self, node: Node, code_: str) -> Part | None:
        """An expression as it is written, or one by cases."""
        if node.is_mapping and CASE in node.members:
            return self._case(node)
        if node.style in ("block", "flow") or node.value is None:
            self._wrong(code_, f"expected an expression, found {describe(node)}", node, _CASE_HINT)
            return None
        return Part((node.text,), binding(node.text.value))

    def _terms(self, node: Node) -> Node:
        parts: list[Part] = []
        names: dict[str, str] = {}
        for term in node.elements:
            known = term.is_mapping and self._known(E_SCORE_TERM, term, _TERM_KEYS, _TERM_HINT)
            given, value = term.members.get("id"), term.members.get("value")
            if given is None or not isinstance(given.value, str) or value is None:
                self._wrong(E_SCORE_TERM, "a term has `id` and `value`", term, _TERM_HINT)
                return self._expression(node, None)
            if given.value in names:
                self._wrong(E_SCORE_TERM, f"two terms have the id {given.value!r}", given, "each term has its own id")
            weight = term.members.get("weight")
            factors = [self._part(part, E_SCORE_TERM) for part in (weight, value) if part is not None]
            sound = [factor for factor in factors if factor is not None]
            if not known or len(sound) < len(factors):
                return self._expression(node, None)
            parts.append(product(sound))
            names[given.value] = joined(parts[-1].pieces).value
        if not parts:
            self._wrong(E_SCORE_TERM, "a score without terms", node, _TERM_HINT)
            return self._expression(node, None)
        return self._expression(node, total(parts), names.items())

    def _known(self, code_: str, node: Node, keys: tuple[str, ...], hint: str) -> bool:
        unknown = [key for key in node.members if key not in keys]
        for key in unknown:
            near = suggest(key, keys)
            at = node.members[key].key_span
            advice = f"did you mean `{near}`?" if near else hint
            self._diagnostics.error(code_, f"there is no key `{key}` here", at, hint=advice)
        return not unknown

    def _wrong(self, code_: str, message: str, node: Node, hint: str) -> None:
        self._diagnostics.error(code_, message, place_of(node), hint=hint)


def _takes_cases(shapes: tuple[Shape, ...]) -> bool:
    return any(shape.expression for shape in shapes) and CASE not in known_keys(shapes)


def _takes_terms(shapes: tuple[Shape, ...]) -> bool:
    leaves = [leaf for shape in shapes for leaf in (shape, *shape.leaves)]
    return any(isinstance(mark, TermsMark) for leaf in leaves for mark in leaf.marks)


def _inside(shapes: tuple[Shape, ...], step: str | int) -> tuple[Shape, ...]:
    return tuple(inner for shape in shapes for inner in shape.inside(step))
