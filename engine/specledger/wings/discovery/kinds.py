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


class _Discovery(Kind):
    name = "discovery"
    runs = True

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.discovery.spec.discovery import Discovery

        return Discovery

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.discovery.check import check_discovery

        check_discovery(bundle, diagnostics)

    @property
    def run(self) -> Runnable:
        from specledger.wings.discovery.runnable import RUNNABLE

        return RUNNABLE

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        from specledger.wings.discovery.verify import DISCOVERY

        return DISCOVERY

    @property
    def report(self) -> ReportKind:
        from specledger.wings.discovery.report import DISCOVERY

        return DISCOVERY


class _Ranking(Kind):
    name = "ranking"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.discovery.spec.ranking import Ranking

        return Ranking

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.wings.discovery.explained import ranking

        return ranking(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.discovery.ranking import check_ranking

        check_ranking(bundle.main, diagnostics)


KINDS: Final[tuple[Kind, ...]] = (_Discovery(), _Ranking())
