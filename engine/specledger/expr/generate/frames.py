"""Where the names of an expression are found in the Python function that it becomes part of.

Decides the Python source of every slot and variable, and names for temporaries. Refuses to know forms of expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from specledger.expr.check.tree import Slot

_PLAIN = re.compile(r"[a-z]\w*\Z", re.ASCII)


def is_name(source: str) -> bool:
    """Whether source is a single Python name."""
    return _PLAIN.match(source) is not None


@dataclass(eq=False)
class Frame:
    """One Python function being written, or one body written in place of its call.

    Attributes:
        variables: Variable of the expression -> Python source: a name, or a field of a name.
        fresh: Gives a new local of the Python function.
        slots: Parameter or macro variable -> Python source.
        outer: The frame of the expression around a loop that became a function of its own.
        handed: What that function is given, source in the outer frame -> its parameter.
        depth: Bodies written in place of their calls around this one.
        level: Expressions around the one being written.
    """

    variables: Mapping[str, str]
    fresh: Callable[[], str]
    slots: dict[Slot, str] = field(default_factory=dict)
    outer: Frame | None = None
    handed: dict[str, str] = field(default_factory=dict)
    depth: int = 0
    level: int = 0

    def slot(self, slot: Slot) -> str:
        """The source of a slot's value."""
        if slot in self.slots:
            return self.slots[slot]
        return self._given(lambda outer: outer.slot(slot))

    def variable(self, name: str) -> str:
        """The source of a variable's value."""
        if self.outer is None:
            return self.variables[name]
        return self._given(lambda outer: outer.variable(name))

    def _given(self, find: Callable[[Frame], str]) -> str:
        if self.outer is None:
            raise KeyError("a slot outside its scope")
        source = find(self.outer)
        return self.handed.setdefault(source, f"a{len(self.handed)}")
