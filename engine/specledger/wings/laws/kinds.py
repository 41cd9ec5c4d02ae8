"""The kinds of the wing. Each row imports what it names when that is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specledger.kinds.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specledger.core.diagnostics import Diagnostics
    from specledger.kinds.kind import Runnable
    from specledger.lang.statement import Statement
    from specledger.load import Bundle
    from specledger.report.model import ReportKind
    from specledger.spec.base import Spec
    from specledger.verify.kind import EvidenceKind


class _Universe(Kind):
    name = "universe"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.laws.spec.universe import Universe

        return Universe

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.wings.laws.explained_universe import universe

        return universe(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.laws.universe import check_universe

        check_universe(bundle.main, bundle, diagnostics)


class _Template(Kind):
    name = "template"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.laws.spec.template import Template

        return Template

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.wings.laws.explained_template import template

        return template(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.laws.template import check_template

        check_template(bundle.main, diagnostics)


class _Law(Kind):
    name = "law"
    runs = True

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.laws.spec.law import Law

        return Law

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.wings.laws.explained import law

        return law(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.laws.check import check_law

        check_law(bundle, diagnostics)

    @property
    def run(self) -> Runnable:
        from specledger.wings.laws.runnable import RUNNABLE

        return RUNNABLE

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        from specledger.wings.laws.verify.verdicts import LAW

        return LAW

    @property
    def report(self) -> ReportKind:
        from specledger.wings.laws.report import LAW

        return LAW


KINDS: Final[tuple[Kind, ...]] = (_Universe(), _Template(), _Law())
