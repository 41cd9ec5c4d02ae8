"""`KINDS`: every kind of spec. No other module has a list of kinds."""

from __future__ import annotations

from typing import Final

from specledger.kinds.kind import Kind, Kinds, models, table
from specledger.spec.agent import Agent
from specledger.spec.base import Models
from specledger.spec.discovery import Discovery
from specledger.spec.drift import Drift
from specledger.spec.governor import Governor
from specledger.spec.invariant import Invariant
from specledger.spec.law import Law
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

KINDS: Final[Kinds] = table(
    Kind("world", World),
    Kind("scenario", Scenario),
    Kind("agent", Agent),
    Kind("governor", Governor),
    Kind("invariant", Invariant),
    Kind("drift", Drift),
    Kind("profile", Profile),
    Kind("probe", Probe),
    Kind("vocabulary", Vocabulary),
    Kind("universe", Universe),
    Kind("template", Template),
    Kind("law", Law),
    Kind("discovery", Discovery),
    Kind("ranking", Ranking),
    Kind("suite", Suite),
    Kind("model", LanguageModel),
    Kind("prompt", Prompt),
)

MODELS: Final[Models] = models(KINDS)
"""The models of `KINDS`."""
