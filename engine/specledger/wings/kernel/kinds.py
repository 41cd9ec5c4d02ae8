"""The kinds of spec that the kernel adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specledger.kinds.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specledger.core.diagnostics import Diagnostics
    from specledger.lang.statement import Statement
    from specledger.load import Bundle
    from specledger.spec.base import Spec


class _Probe(Kind):
    name = "probe"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.kernel.spec.probe import Probe

        return Probe

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.wings.kernel.explained import probe

        return probe(bundle)


class _Vocabulary(Kind):
    name = "vocabulary"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.kernel.spec.vocabulary import Vocabulary

        return Vocabulary

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.wings.kernel.explained import vocabulary

        return vocabulary(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.kernel.documents.facts import check_vocabulary

        check_vocabulary(bundle.main, diagnostics)


KINDS: Final = (_Probe(), _Vocabulary())
