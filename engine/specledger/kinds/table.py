"""`KINDS`: every kind of spec. No other module has a list of kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import checks
from specledger.kinds.kind import Kind, Kinds, by_name, models
from specledger.load import Bundle
from specledger.spec.base import Models


def _part(path: str) -> Callable[[], Any]:
    """What is at a path below `specledger`, imported when it is asked for."""
    return partial(_import, *path.rsplit(".", 1))


def _run(kind: str, constant: str) -> tuple[Callable[[], Any], ...]:
    """The parts of a kind that can be run: `kinds.<kind>.RUNNABLE`, and the constant in `verify` and in `report`."""
    return _part(f"kinds.{kind}.RUNNABLE"), _part(f"verify.{constant}"), _part(f"report.{constant}")


def _check(path: str, *, whole: bool = False) -> Callable[[Bundle, Diagnostics], object]:
    """The check of a kind by the function at a path, which takes a spec, with `whole` its bundle, and findings."""
    return partial(_run_check, path, whole)  # which, unlike a lambda, can be sent to a worker process


def _run_check(path: str, whole: bool, bundle: Bundle, found: Diagnostics) -> None:
    _import(*path.rsplit(".", 1))(bundle.main, *([bundle] if whole else []), found)


def _import(module: str, name: str) -> Any:
    return getattr(import_module(f"specledger.{module}"), name)


KINDS: Final[Kinds] = by_name(
    Kind("world", _part("spec.world.World"), _check("worlds.check.check_world", whole=True)),
    Kind("scenario", _part("spec.scenario.Scenario"), checks.check_scenario, *_run("scenario", "run.RUN")),
    Kind("suite", _part("spec.suite.Suite"), checks.check_suite, *_run("suite", "suite.SUITE")),
    Kind("agent", _part("spec.agent.Agent")),
    Kind("governor", _part("spec.governor.Governor")),
    Kind("invariant", _part("spec.invariant.Invariant")),
    Kind("drift", _part("spec.drift.Drift")),
    Kind("library", _part("spec.library.Library")),
    Kind("profile", _part("spec.profile.Profile"), checks.check_profile),
    Kind("probe", _part("spec.probe.Probe")),
    Kind("vocabulary", _part("spec.vocabulary.Vocabulary"), _check("gates.facts.check_vocabulary")),
    Kind("universe", _part("spec.universe.Universe"), _check("laws.universe.check_universe", whole=True)),
    Kind("template", _part("spec.template.Template"), _check("laws.template.check_template")),
    Kind("law", _part("spec.law.Law"), checks.check_law, *_run("law", "law.LAW")),
    Kind(
        "discovery",
        _part("spec.discovery.Discovery"),
        checks.check_discovery,
        *_run("discovery", "discovery.DISCOVERY"),
    ),
    Kind("ranking", _part("spec.ranking.Ranking"), _check("discovery.ranking.check_ranking")),
    Kind("model", _part("spec.model.LanguageModel"), checks.check_model),
    Kind("prompt", _part("spec.prompt.Prompt"), checks.check_prompt),
)

check_without_world: Final = _check("compile.standalone.check_standalone")
"""Check a spec that is typed only in a spec that uses it."""

MODELS: Final[Models] = models(KINDS)
"""The models of `KINDS`."""
