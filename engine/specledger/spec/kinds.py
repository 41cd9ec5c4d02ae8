"""The one table of kinds: what may follow `spec:`, and the model that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from specledger.spec.agent import Agent
from specledger.spec.base import Spec
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
