"""Plans of scenarios that differ in their maps and seeds alone, compiled once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from specledger.compile.plan import Plan
from specledger.compile.scenario import OWN, compile_scenario, with_start
from specledger.core.digest import hash_json
from specledger.expr.generate.numbering import shape_of
from specledger.load import Bundle
from specledger.spec.agent import Agent

_MOST: Final = 16
"""Plans that are kept: the runs of a suite come arm by arm."""


CompileScenario = Callable[[Bundle], Plan]
"""Gives the plan of a scenario; raises Rejected with every finding in any of the bundle's specs."""


class PlanCache:
    """Compiles scenarios; of those that differ in `OWN` alone, and begin in states of one shape, only the first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Plan] = OrderedDict()

    def __call__(self, bundle: Bundle) -> Plan:
        """The plan of a scenario."""
        key = _key(bundle)
        known = self._kept.get(key)
        if known is not None:
            plan = with_start(known, bundle)
            if shape_of(plan.start(0)) == shape_of(known.start(0)):
                self._kept.move_to_end(key)
                return plan
        plan = self._kept[key] = compile_scenario(bundle)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return plan


def _key(bundle: Bundle) -> str:
    """What a plan depends on, except for the start states of its episodes."""
    data: Mapping[str, Any] = bundle.main.data
    agents = [spec.model for spec in bundle.specs.values() if isinstance(spec.model, Agent)]
    own = frozenset() if any(agent.draw or agent.outside is not None for agent in agents) else OWN
    return hash_json(
        {
            "data": {name: value for name, value in data.items() if name not in own},
            "refs": sorted(["/".join(map(str, path)), key] for path, key in bundle.main.refs.items()),
        }
    )
