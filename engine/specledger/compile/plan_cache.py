"""Plans of scenarios that differ in their seed alone, compiled once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, Protocol

from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario, with_seed
from specledger.core.digest import hash_json
from specledger.load import Bundle
from specledger.spec.agent import Agent

_MOST: Final = 8
"""Plans that are kept: the runs of a suite come arm by arm."""


class CompileScenario(Protocol):
    """Gives the plan of a scenario."""

    def __call__(self, bundle: Bundle) -> Plan:
        """The plan.

        Raises:
            Rejected: With every finding in any of the bundle's specs.
        """


class PlanCache:
    """Compiles scenarios; of those that differ in their seed alone only the first.

    A plan depends on the seed by its start states only, unless an agent draws values.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Plan] = OrderedDict()

    def __call__(self, bundle: Bundle) -> Plan:
        """The plan of a scenario.

        Raises:
            Rejected: With every finding in any of the bundle's specs.
        """
        key = _key(bundle)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return with_seed(known, bundle)
        plan = self._kept[key] = compile_scenario(bundle)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return plan


def _key(bundle: Bundle) -> str:
    """What a plan depends on, except for the seed of its start states."""
    data: Mapping[str, Any] = bundle.main.data
    draws = any(isinstance(spec.model, Agent) and spec.model.draw for spec in bundle.specs.values())
    return hash_json(
        {
            "data": {name: value for name, value in data.items() if draws or name != "seed"},
            "refs": sorted(["/".join(map(str, path)), key] for path, key in bundle.main.refs.items()),
        }
    )
