"""The kinds of spec that the kernel adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specledger.kinds.kind import Kind

if TYPE_CHECKING:
    from specledger.core.diagnostics import Diagnostics
    from specledger.load import Bundle
    from specledger.spec.base import Spec


class _Probe(Kind):
    name = "probe"
    explained = "specledger.wings.kernel.explained:probe"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.kernel.spec.probe import Probe

        return Probe


class _Vocabulary(Kind):
    name = "vocabulary"
    explained = "specledger.wings.kernel.explained:vocabulary"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.kernel.spec.vocabulary import Vocabulary

        return Vocabulary

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.kernel.documents.facts import check_vocabulary

        check_vocabulary(bundle.main, diagnostics)


KINDS: Final = (_Probe(), _Vocabulary())
