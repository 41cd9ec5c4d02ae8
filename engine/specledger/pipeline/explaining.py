"""Say the rules of a spec in sentences: its own, and those of the specs that a scenario refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from specledger.compile.extension import recordings
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.kinds import KINDS, load
from specledger.lang.statement import Statement
from specledger.load import Bundle
from specledger.load.bundle import gather
from specledger.pipeline.targets import specs_named

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


def explain(
    target: str, overrides: Sequence[str] = (), kind: str | None = None, logs: Sequence[Path] = ()
) -> tuple[Explained, ...]:
    """The rules of the spec in a file, or of that name, after changes, and which calls of logs do not fit its actions.

    Raises:
        Rejected: It is wrong, or of a kind without rules (E_EXPLAIN_RULES).
    """
    bundle = load(target, kind=kind, set=overrides)[0]
    kind = bundle.main.kind
    calls = _calls(bundle, logs)
    if KINDS[kind].explained_by:
        return (*_by_parts(bundle), *calls)
    if not can_explain(kind):
        have = ", ".join(filter(can_explain, KINDS))
        hint = f"`spec explain {kind}` explains its keys; kinds with rules are {have}"
        message = f"a spec of the kind {kind} has no rules to explain"
        raise Rejected([Diagnostic(E_EXPLAIN_RULES, message, bundle.main.span("spec"), hint=hint)])
    return (_explained(bundle), *calls)


def explain_name(name: str, overrides: Sequence[str] = (), logs: Sequence[Path] = ()) -> tuple[Explained, ...]:
    """The rules of all specs of a name, whatever their kind; empty if there is none. With logs, those with actions."""
    kinds = {spec.kind for spec in specs_named(name)}
    chosen = [kind for kind in KINDS if kind in kinds and (KINDS[kind].has_actions if logs else can_explain(kind))]
    return tuple(spec for kind in chosen for spec in explain(name, overrides, kind, logs))


def _calls(bundle: Bundle, logs: Sequence[Path]) -> tuple[Explained, ...]:
    """Which calls of logs do not fit the actions of a spec; nothing where it has no logs.

    Raises:
        Rejected: E_EXPLAIN_RULES: Logs are named, and it has no actions.
    """
    kind = bundle.main.kind
    part = recordings()
    if not KINDS[kind].has_actions:
        if not logs:
            return ()
        message = f"a spec of the kind {kind} has no actions that calls could fit"
        hint = "name a world, or a scenario"
        raise Rejected([Diagnostic(E_EXPLAIN_RULES, message, bundle.main.span("spec"), hint=hint)])
    misfits = () if part is None else part.misfits(bundle, logs)
    statements = tuple(statement.sentence() for statement in misfits)
    return (Explained("calls", bundle.main.name, "", statements),) if statements else ()


def _by_parts(bundle: Bundle) -> Iterator[Explained]:
    for kind in KINDS[bundle.main.kind].explained_by:
        for key, spec in bundle.specs.items():
            if spec.kind == kind and can_explain(kind):
                yield _explained(gather(key, bundle.specs))


def _explained(bundle: Bundle) -> Explained:
    spec = bundle.main
    statements = tuple(statement.sentence() for statement in KINDS[spec.kind].explain(bundle))
    return Explained(spec.kind, spec.name, " ".join((spec.model.doc or "").split()), statements)
