"""The one table of kinds: what may follow `spec:`, and the model that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.spec.agent import Agent
from engine.spec.base import Spec
from engine.spec.discovery import Discovery
from engine.spec.drift import Drift
from engine.spec.governor import Governor
from engine.spec.invariant import Invariant
from engine.spec.law import Law
from engine.spec.model import LanguageModel
from engine.spec.probe import Probe
from engine.spec.profile import Profile
from engine.spec.prompt import Prompt
from engine.spec.ranking import Ranking
from engine.spec.scenario import Scenario
from engine.spec.suite import Suite
from engine.spec.template import Template
from engine.spec.universe import Universe
from engine.spec.vocabulary import Vocabulary
from engine.spec.world import World

KINDS: Final[Mapping[str, type[Spec]]] = MappingProxyType(
    {
        "world": World,
        "scenario": Scenario,
        "agent": Agent,
        "governor": Governor,
        "invariant": Invariant,
        "drift": Drift,
        "profile": Profile,
        "probe": Probe,
        "vocabulary": Vocabulary,
        "universe": Universe,
        "template": Template,
        "law": Law,
        "discovery": Discovery,
        "ranking": Ranking,
        "suite": Suite,
        "model": LanguageModel,
        "prompt": Prompt,
    }
)
