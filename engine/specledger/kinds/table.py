"""`KINDS`: every kind of spec. No other module has a list of kinds."""

from __future__ import annotations

from typing import Final

from specledger.kinds import checks
from specledger.kinds.kind import Kind, Kinds, Runnable, by_name, models
from specledger.spec.agent import Agent
from specledger.spec.base import Models
from specledger.spec.discovery import Discovery
from specledger.spec.drift import Drift
from specledger.spec.governor import Governor
from specledger.spec.invariant import Invariant
from specledger.spec.law import Law
from specledger.spec.library import Library
from specledger.spec.model import LanguageModel
from specledger.spec.probe import Probe
from specledger.spec.profile import Profile
from specledger.spec.prompt import Prompt
from specledger.spec.ranking import Ranking
from specledger.spec.scenario import Scenario
from specledger.spec.suite import Suite
from specledger.spec.template import Template
from specledger.spec.universe import Universe
from specledger.spec.vocabulary import Vocabulary
from specledger.spec.world import World


def _scenario() -> Runnable:
    from specledger.kinds.scenario import RUNNABLE

    return RUNNABLE


def _suite() -> Runnable:
    from specledger.kinds.suite import RUNNABLE

    return RUNNABLE


def _law() -> Runnable:
    from specledger.kinds.law import RUNNABLE

    return RUNNABLE


def _discovery() -> Runnable:
    from specledger.kinds.discovery import RUNNABLE

    return RUNNABLE


KINDS: Final[Kinds] = by_name(
    Kind("world", World, checks.check_world),
    Kind("scenario", Scenario, checks.check_scenario, _scenario),
    Kind("suite", Suite, checks.check_suite, _suite),
    Kind("agent", Agent),
    Kind("governor", Governor),
    Kind("invariant", Invariant),
    Kind("drift", Drift),
    Kind("library", Library),
    Kind("profile", Profile, checks.check_profile),
    Kind("probe", Probe),
    Kind("vocabulary", Vocabulary, checks.check_vocabulary),
    Kind("universe", Universe, checks.check_universe),
    Kind("template", Template, checks.check_template),
    Kind("law", Law, checks.check_law, _law),
    Kind("discovery", Discovery, checks.check_discovery, _discovery),
    Kind("ranking", Ranking, checks.check_ranking),
    Kind("model", LanguageModel, checks.check_model),
    Kind("prompt", Prompt, checks.check_prompt),
)

MODELS: Final[Models] = models(KINDS)
"""The models of `KINDS`."""
