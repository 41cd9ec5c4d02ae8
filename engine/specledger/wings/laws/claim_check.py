"""Checks the claim of a law: how it was written, what it reads, and whether it has the form of its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specledger.core.canonical import MAX_INTEGER
from specledger.core.diagnostics import suggest
from specledger.lang.scope import Scope
from specledger.load import Resolved
from specledger.wings.laws.claim import (
    CELLWISE,
    Const,
    Duration,
    Node,
    Observe,
    SortError,
    first_wrong,
    is_image,
    placed,
    reads,
    show,
    sort_of,
    walk,
)
from specledger.wings.laws.claim_parser import E_CLAIM_TEXT, ClaimError, read_claim, read_text
from specledger.wings.laws.findings import (
    E_LAW_FORM,
    E_LAW_INTEGER,
    E_LAW_MISSING,
    E_LAW_SORT,
    E_LAW_STRING,
    E_LAW_UNDEFINED,
    FORMULA,
    W_LAW_STRING,
)
from specledger.wings.laws.observable import Measured
from specledger.wings.laws.observable_parser import Reader
from specledger.wings.laws.primitive import GRID_LENGTH, report_symbols
from specledger.wings.laws.spec.law import Law as LawSpec
from specledger.wings.laws.template import Mismatch, Template
from specledger.wings.laws.universe import Universe


class ClaimCheck:
    """Reads the claim of one law; findings go to the scope of its spec."""

    def __init__(
        self,
        spec: Resolved,
        universe: Universe,
        template: Template,
        scope: Scope,
        reader: Reader,
        give_up: Callable[[str, str], None],
        *,
        strict: bool,
        proposed: bool,
    ) -> None:
        """Of a law with these observables; `give_up` takes the reason for which nothing can be decided."""
        model = spec.model
        assert isinstance(model, LawSpec)  # noqa: S101 - the check of laws checks no other spec
        self.spec, self.model, self.universe, self.template = spec, model, universe, template
        self.scope, self.reader, self.give_up = scope, reader, give_up
        self.strict, self.proposed = strict, proposed

    def read(self, fields: Mapping[str, Any]) -> Node | None:
        """The claim, read or derived; None, with findings or a reason, if there is none."""
        derived = self.template.derive(fields)
        try:
            if self.model.claim_ast is not None:
                return self._sorted(read_claim(self.model.claim_ast))
            if derived is not None:
                return derived
            if self.model.claim is not None:
                return self._from_string()
        except ClaimError as error:
            key = "claim" if self.model.claim_ast is None else "claim_ast"
            span = self.spec.span(key, *error.path)
            if error.code == E_CLAIM_TEXT:
                self.give_up("ambiguous_claim", error.message)
            else:
                self.scope.diagnostics.error(error.code, error.message, span, hint=error.hint)
            return None
        self.scope.diagnostics.error(E_LAW_MISSING, "the law has no claim", self.spec.span(), expected="claim_ast")
        return None

    def _from_string(self) -> Node | None:
        """The claim as a formula: the form of an author. Other words, and strings of proposers, have a warning."""
        if self.strict:
            self.scope.wrong(E_LAW_STRING, "strict parsing takes no string claim; write `claim_ast`", "claim")
            return None
        span, warn = self.spec.span("claim"), self.scope.diagnostics.warn
        try:
            claim = read_text(self.model.claim or "")
        except ClaimError as error:
            warn(W_LAW_STRING, f"the claim cannot be read from its string: {error.message}", span, hint=FORMULA)
            raise
        if self.proposed:
            warn(W_LAW_STRING, f"the claim was read from its string, as {show(claim)}", span, hint="write `claim_ast`")
        if any(name == GRID_LENGTH for name, _ in reads(claim)):
            self.reader.known.setdefault(GRID_LENGTH, Measured(self.universe.measures[GRID_LENGTH].bind(())))
        return self._sorted(claim)

    def _sorted(self, claim: Node) -> Node | None:
        """The claim, if it reads what there is and its operators take what they are given."""
        known = {*(observable.name for observable in self.model.observables), *self.reader.known}
        sound = True
        for node, path in placed(claim):
            if isinstance(node, Observe) and node.name not in known and node.name not in CELLWISE:
                near = suggest(node.name, known)
                message = f"the law defines no observable `{node.name}`"
                self.scope.wrong(E_LAW_UNDEFINED, message, *self._place(path, "obs"), near=near, word=node.name)
                sound = False
            if isinstance(node, Const) and isinstance(node.value, str) and node.value not in self.universe.alphabet:
                report_symbols(self.scope, [node.value], self.universe.alphabet, *self._place(path, "const"))
                sound = False
            if isinstance(node, Const) and type(node.value) is int and abs(node.value) > MAX_INTEGER:
                message = f"{node.value} is beyond 2^53 - 1"
                self.scope.wrong(E_LAW_INTEGER, message, *self._place(path, "const"), word=str(node.value))
                sound = False
        try:
            if sort_of(claim) != "bool":
                raise SortError("the claim is no truth value")
        except SortError as error:
            self.scope.wrong(E_LAW_SORT, str(error), *self._place(first_wrong(claim), "op"))
            return None
        return claim if sound else None

    def _place(self, path: tuple[str, ...], key: str) -> tuple[str, ...]:
        """Where a node of the claim is written: in the tree, or somewhere in the string."""
        return ("claim",) if self.model.claim_ast is None else ("claim_ast", *path, key)

    def judged(self, claim: Node, fields: Mapping[str, Any]) -> tuple[Node | None, Node] | None:
        """When a step counts and what must hold there; None, with findings, if the claim has another form."""
        field = "claim" if self.model.claim_ast is None else "claim_ast"
        try:
            parts = self.template.fit(claim, fields)
            if not self.template.cells and any(_is_cellwise(node) for node in walk(claim)):
                raise Mismatch("only laws about every cell speak of single cells and symbols")
            if "transform" not in self.template.needs and any(is_image(node) for node in walk(claim)):
                raise Mismatch("only laws of forms that need a transform speak of transformed states")
            shortest = Duration.read(self.model.quantifiers.T).on(self.universe.shortest)
            late = [time.offset for _, time in reads(claim) if time.fixed and time.offset > shortest]
            if late:
                raise Mismatch(f"step {late[0]} is after T")
        except Mismatch as error:
            message = f"this is no {self.template.name}: {error}"
            self.scope.diagnostics.error(E_LAW_FORM, message, self.spec.span(field))
            return None
        return self.template.judged(parts, fields)


def _is_cellwise(node: Node) -> bool:
    if isinstance(node, Observe):
        return node.name in CELLWISE
    return isinstance(node, Const) and isinstance(node.value, str)
