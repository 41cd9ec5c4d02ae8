"""The kinds of the wing. Each row imports what it names when that is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specledger.kinds.kind import Kind

if TYPE_CHECKING:
    from specledger.core.diagnostics import Diagnostics
    from specledger.kinds.kind import Compared
    from specledger.lang.statement import Statement
    from specledger.load import Bundle
    from specledger.spec.base import Spec


class _Policy(Kind):
    name = "policy"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.trajectories.spec.policy import Policy

        return Policy

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.wings.trajectories.explained import policy

        return policy(bundle)

    @property
    def compare(self) -> Callable[[Bundle, Bundle, Sequence[Path], str | None], Compared]:
        from specledger.wings.trajectories.policy_diff import compare_policies

        return compare_policies

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.trajectories.rules.compile import compile_policy
        from specledger.wings.trajectories.rules.constants import warn_of_constants

        policy = compile_policy(bundle.main, diagnostics)
        warn_of_constants(bundle.main, policy, diagnostics)


class _Format(Kind):
    name = "format"

    @property
    def model(self) -> type[Spec]:
        from specledger.wings.trajectories.spec.format import Format

        return Format

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.wings.trajectories.formats.compile import compile_format

        compile_format(bundle.main, diagnostics)


KINDS: Final[tuple[Kind, ...]] = (_Policy(), _Format())
