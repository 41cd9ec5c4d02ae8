"""`KINDS`: every kind of spec. Each row imports what it names when that is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specledger.kinds.kind import Kind
from specledger.kinds.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specledger.core.diagnostics import Diagnostics
    from specledger.kinds.kind import Runnable
    from specledger.lang.statement import Statement
    from specledger.load import Bundle
    from specledger.report.model import ReportKind
    from specledger.spec.base import Spec
    from specledger.verify.kind import EvidenceKind


class _World(Kind):
    name = "world"
    has_actions = True

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.world import World

        return World

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_world import world

        return world(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.worlds.check import check_world

        check_world(bundle.main, bundle, diagnostics)


class _Scenario(Kind):
    name = "scenario"
    runs = has_actions = True
    explained_by = ("governor", "invariant", "agent", "drift", "probe", "policy")

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.scenario import Scenario

        return Scenario

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.compile.scenario import compile_with_findings

        diagnostics.extend(compile_with_findings(bundle)[1])

    @property
    def run(self) -> Runnable:
        from specledger.kinds.scenario import RUNNABLE

        return RUNNABLE

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        from specledger.verify.run import RUN

        return RUN

    @property
    def report(self) -> ReportKind:
        from specledger.report.run import RUN

        return RUN


class _Suite(Kind):
    name = "suite"
    runs = True

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.suite import Suite

        return Suite

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_checks import suite

        return suite(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.kinds.checks import check_suite

        check_suite(bundle, diagnostics)

    @property
    def run(self) -> Runnable:
        from specledger.kinds.suite import RUNNABLE

        return RUNNABLE

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        from specledger.verify.suite import SUITE

        return SUITE

    @property
    def report(self) -> ReportKind:
        from specledger.report.suite import SUITE

        return SUITE


class _Agent(Kind):
    name = "agent"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.agent import Agent

        return Agent

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_rules import agent

        return agent(bundle)


class _Governor(Kind):
    name = "governor"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.governor import Governor

        return Governor

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_rules import governor

        return governor(bundle)


class _Invariant(Kind):
    name = "invariant"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.invariant import Invariant

        return Invariant

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_rules import invariant

        return invariant(bundle)


class _Drift(Kind):
    name = "drift"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.drift import Drift

        return Drift

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_world import drift

        return drift(bundle)


class _Library(Kind):
    name = "library"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.library import Library

        return Library

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_rules import library

        return library(bundle)


class _Profile(Kind):
    name = "profile"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.profile import Profile

        return Profile

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        from specledger.kinds.explained_checks import profile

        return profile(bundle)

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.report.profile_rules import check_profile

        check_profile(bundle.main, KINDS, diagnostics)


class _Model(Kind):
    name = "model"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.model import LanguageModel

        return LanguageModel

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.kinds.checks import check_model

        check_model(bundle)


class _Prompt(Kind):
    name = "prompt"

    @property
    def model(self) -> type[Spec]:
        from specledger.spec.prompt import Prompt

        return Prompt

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        from specledger.kinds.checks import check_prompt

        check_prompt(bundle, diagnostics)


def kinds() -> Registry:
    """`KINDS`."""
    return KINDS


_ROWS: Final = (
    _World(),
    _Scenario(),
    _Suite(),
    _Agent(),
    _Governor(),
    _Invariant(),
    _Drift(),
    _Library(),
    _Profile(),
    _Model(),
    _Prompt(),
)

KINDS: Final = Registry({kind.name: kind for kind in _ROWS}, kinds)
"""The kinds of the core and of the wings."""
