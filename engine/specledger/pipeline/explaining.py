"""Say the rules of a spec in sentences: its own, and those of the specs that a scenario refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.kinds import KINDS, load
from specledger.lang.statement import Statement
from specledger.load import Bundle
from specledger.load.bundle import gather
from specledger.pipeline.targets import list_specs

E_EXPLAIN_RULES = code("E_EXPLAIN_RULES", "A spec that has no rules to explain")


class Explained(Struct, frozen=True):
    """A spec with the sentences that say its rules."""

    kind: str
    name: str
    doc: str
    statements: tuple[Statement, ...]


def can_explain(kind: str) -> bool:
    """Whether specs of a kind have rules that sentences can say."""
    row = KINDS.get(kind)
    return row is not None and (row.explains or bool(row.explained_by))


def explain(target: str, overrides: Sequence[str] = (), kind: str | None = None) -> tuple[Explained, ...]:
    """The rules of the spec in a file, or of that name, after changes.

    Raises:
        Rejected: It is wrong, or of a kind without rules (E_EXPLAIN_RULES).
    """
    bundle = load(target, kind=kind, set=overrides)[0]
    kind = bundle.main.kind
    if KINDS[kind].explained_by:
        return tuple(_by_parts(bundle))
    if not can_explain(kind):
        have = ", ".join(filter(can_explain, KINDS))
        hint = f"`spec explain {kind}` explains its keys; kinds with rules are {have}"
        message = f"a spec of the kind {kind} has no rules to explain"
        raise Rejected([Diagnostic(E_EXPLAIN_RULES, message, bundle.main.span("spec"), hint=hint)])
    return (_explained(bundle),)


def explain_name(name: str, overrides: Sequence[str] = ()) -> tuple[Explained, ...]:
    """The rules of all specs of a name, whatever their kind; empty if there is none."""
    kinds = {spec.kind for spec in list_specs(None) if spec.name == name}
    return tuple(
        spec for kind in KINDS if kind in kinds and can_explain(kind) for spec in explain(name, overrides, kind)
    )


def _by_parts(bundle: Bundle) -> Iterator[Explained]:
    for kind in KINDS[bundle.main.kind].explained_by:
        for key, spec in bundle.specs.items():
            if spec.kind == kind and can_explain(kind):
                yield _explained(gather(key, bundle.specs))


def _explained(bundle: Bundle) -> Explained:
    spec = bundle.main
    statements = tuple(statement.sentence() for statement in KINDS[spec.kind].explain(bundle))
    return Explained(spec.kind, spec.name, " ".join((spec.model.doc or "").split()), statements)
