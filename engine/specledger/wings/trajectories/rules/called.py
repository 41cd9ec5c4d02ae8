"""The tools that logs call, with their arguments: what words of rules are compared with."""

from __future__ import annotations

from collections import Counter
from typing import Final

from specledger.wings.trajectories.model import Call
from specledger.wings.trajectories.room import MOST_DEFECTS, OTHERS, Room, count_text
from specledger.wings.trajectories.rules.accesses import Access, Steps, argument_steps

MOST_ARGUMENTS: Final = 200
"""Arguments of one tool that are kept."""
MOST_TOOLS: Final = 1000
"""Tools of which arguments are kept."""


class Called:
    """Hears calls.

    Attributes:
        calls: How often each tool was called.
        arguments: The ways to the arguments of each tool.
    """

    def __init__(self) -> None:
        """Begin with no call."""
        self.calls: Counter[str] = Counter()
        self.arguments: dict[str, dict[Steps, None]] = {}
        self._flat: set[tuple[str, ...]] = set()
        self._room = Room(MOST_DEFECTS)

    def hear(self, call: Call) -> None:
        """Note a call and its arguments."""
        count_text(self.calls, call.tool)
        arguments = call.arguments
        if type(arguments) is dict and not any(type(value) in (dict, list) for value in arguments.values()):
            shape = (call.tool, *arguments)
            if shape in self._flat:
                return
            if len(self._flat) < MOST_TOOLS and self._room.take_value([*shape]):
                self._flat.add(shape)
        seen = self.arguments.get(call.tool)
        if seen is None:
            if len(self.arguments) >= MOST_TOOLS or not self._room.take_value(call.tool):
                return
            seen = self.arguments.setdefault(call.tool, {})
        for steps in argument_steps(call.arguments):
            if steps in seen:
                continue
            if len(seen) >= MOST_ARGUMENTS or not self._room.take_value([*steps]):
                return
            seen[steps] = None

    @property
    def knows_tools(self) -> bool:
        """Whether all tools that were called are known by their names."""
        return OTHERS not in self.calls

    def arguments_of(self, about: Access) -> set[Steps] | None:
        """The ways to all arguments of the calls of some tools; None where there were too many to keep."""
        if len(self.arguments) >= MOST_TOOLS:
            return None
        seen = [steps for tool, steps in self.arguments.items() if about.matches(tool)]
        if any(len(steps) >= MOST_ARGUMENTS for steps in seen):
            return None
        return {steps for arguments in seen for steps in arguments}
