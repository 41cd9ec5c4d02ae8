"""From a format as it is written to a reader of logs: every path is checked, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from specledger.core.diagnostics import Diagnostics
from specledger.load import Resolved
from specledger.wings.trajectories.formats import codes
from specledger.wings.trajectories.formats.plans import ClausePlan, ConditionPlan, FormatPlan
from specledger.wings.trajectories.formats.reader import read_by
from specledger.wings.trajectories.model import Speaker, Trajectory
from specledger.wings.trajectories.readers.reader import Reader
from specledger.wings.trajectories.rules.paths import Path, PathError, parse_path
from specledger.wings.trajectories.source import Source
from specledger.wings.trajectories.spec.format import CallClause, Clause, Condition, Format, MessageClause, ResultClause

ROOTS: Final = ("record", "trajectory", "entry", "item")
_OF_FORMAT: Final = {
    "trajectories": ("record",),
    "id": ("trajectory", "record", "entry"),
    "by": ("entry", "record"),
    "entries": ("trajectory", "record"),
    "order": ("entry", "record"),
    "time": ("entry", "record"),
    "actor": ("entry", "record"),
}
_SORTS: Final = {
    "messages": "message",
    "calls": "call",
    "results": "result",
    "findings": "finding",
    "ignore": "ignore",
}
_OF_CLAUSE: Final = ("name", "arguments", "id", "batch", "result", "call", "content", "text")
Where = tuple[str | int, ...]


def compile_format(resolved: Resolved, diagnostics: Diagnostics) -> Reader:
    """Check and compile a format.

    Raises:
        Rejected: It has errors.
    """
    plan = _Compiler(resolved, diagnostics).plan()
    diagnostics.raise_if_errors()

    def read(source: Source) -> Iterator[Trajectory]:
        return read_by(plan, source)

    return Reader(plan.name, lambda record: False, read)


class _Compiler:
    """The compilation of one format."""

    def __init__(self, resolved: Resolved, diagnostics: Diagnostics) -> None:
        model = resolved.model
        assert isinstance(model, Format)  # noqa: S101 - the kind's own model
        self.spec, self.resolved, self.diagnostics = model, resolved, diagnostics

    def plan(self) -> FormatPlan:
        spec = self.spec
        paths = {}
        for key, roots in _OF_FORMAT.items():
            text = getattr(spec, key)
            if text is not None and (path := self.path(text, roots, (key,))) is not None:
                paths[key] = path
        if spec.trajectories is not None and spec.entries is None:
            hint = "such as `entries: trajectory.messages[*]`"
            self.wrong(codes.E_FORMAT_FORM, "`trajectories` needs `entries`, what they consist of", (), hint)
        if spec.trajectories is not None and spec.by is not None:
            self.wrong(
                codes.E_FORMAT_FORM, "`by` is for records of several trajectories, not for `trajectories`", ("by",)
            )
        clauses = [
            self.clause(sort, clause, (key, index))
            for key, sort in _SORTS.items()
            for index, clause in enumerate(getattr(spec, key))
        ]
        whole = [clause for clause in clauses if self._is_whole(clause)]
        return FormatPlan(
            spec.name,
            paths,
            tuple(clause for clause in clauses if clause not in whole),
            tuple(clause for clause in whole if "trajectory" in clause.roots),
            tuple(clause for clause in whole if "trajectory" not in clause.roots),
        )

    def _is_whole(self, clause: ClausePlan) -> bool:
        """Whether a finding is of a trajectory or a record; a record that is its own entry has none of the latter."""
        of_entries = {"entry", "item"} if self.spec.entries is not None else {"entry", "item", "record"}
        return clause.sort == "finding" and not clause.roots & of_entries

    def clause(self, sort: str, clause: Clause, at: Where) -> ClausePlan:
        each = None if clause.each is None else self.path(clause.each, ("entry",), (*at, "each"))
        roots = ("entry", "trajectory", "record") if clause.each is None else ROOTS[::-1]
        condition = self.condition(clause, roots, at)
        paths = {}
        for key in _OF_CLAUSE:
            text = getattr(clause, key, None)
            if text is not None and (path := self.path(text, roots, (*at, key))) is not None:
                paths[key] = path
        failed = clause.failed if isinstance(clause, CallClause | ResultClause) else None
        return ClausePlan(
            sort=sort,
            condition=condition.part(of_items=False),
            of_items=condition.part(of_items=True),
            each=each,
            paths=paths,
            failed=None if failed is None else self.condition(failed, roots, (*at, "failed")),
            plain=(clause.plain or "") if isinstance(clause, CallClause) else "",
            speaker=Speaker(clause.speaker) if isinstance(clause, MessageClause) else Speaker.SYSTEM,
        )

    def condition(self, condition: Condition, roots: tuple[str, ...], at: Where) -> ConditionPlan:
        when = []
        for text, values in condition.when.items():
            path = self.path(text, roots, (*at, "when", text))
            if path is not None:
                when.append((path, tuple(values) if isinstance(values, list) else (values,)))
        texts = [condition.has] if isinstance(condition.has, str) else condition.has or []
        has = [self.path(text, roots, (*at, "has")) for text in texts]
        return ConditionPlan(tuple(when), tuple(path for path in has if path is not None))

    def path(self, text: str, roots: tuple[str, ...], at: Where) -> Path | None:
        try:
            path = parse_path(text, ROOTS)
        except PathError as error:
            self.wrong(codes.E_FORMAT_PATH, f"{text!r}: {error}", at, "as in `entry.function.name`")
            return None
        if path.root not in roots:
            why = "; `item` is one of those of `each`" if path.root == "item" else ""
            self.wrong(codes.E_FORMAT_PATH, f"`{path.root}` is not there yet{why}", at, f"what is: {', '.join(roots)}")
            return None
        return path

    def wrong(self, code: str, message: str, at: Where, hint: str | None = None) -> None:
        self.diagnostics.error(code, message, self.resolved.span(*at), hint=hint)
