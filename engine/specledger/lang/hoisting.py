"""What a generated loop keeps while it tries several things on one record: values that none of the trials can change.

Decides which named expressions are evaluated once, at the first trial that needs them, so that whatever fails, fails
where it would have failed without this. Refuses to know what is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specledger.expr.check.checker import Checked
from specledger.expr.generate.emitter import Emitter
from specledger.lang.bind import bind
from specledger.lang.scope import Let


class Kept:
    """The locals of one generated function that stay as they are from trial to trial.

    Attributes:
        lines: Lines to stand before the loop.
    """

    def __init__(self, emitter: Emitter, *steady: str) -> None:
        """Begin with nothing kept but the locals `steady`, which are set before the loop."""
        self._emitter = emitter
        self._steady = set(steady)
        self._loaded: dict[str, str] = {}
        self.lines: list[str] = []

    def load(self, needed: Iterable[str], sources: Mapping[str, str]) -> dict[str, str]:
        """The local of each needed variable, loaded before the loop, each source once.

        Args:
            needed: The variables that expressions read; those without a source are bound elsewhere.
            sources: Python source of each variable, made of steady locals.
        """
        known = {name: self._loaded[source] for name, source in sources.items() if source in self._loaded}
        lines, names = bind(self._emitter, set(needed) - known.keys(), sources)
        self.lines += lines
        self._loaded |= {sources[name]: local for name, local in names.items()}
        self._steady |= set(names.values())
        return {**{name: local for name, local in known.items() if name in needed}, **names}

    def let(self, let: Let, names: dict[str, str]) -> list[str]:
        """Lines that evaluate named expressions in order; `names` gains a local for each."""
        lines = []
        for name, checked in let:
            more, local = self.value(name, checked, names)
            names[name] = local
            lines += more
        return lines

    def value(self, hint: str, checked: Checked, names: Mapping[str, str]) -> tuple[list[str], str]:
        """Lines that evaluate an expression, once if it is steady, and the local that then holds its value."""
        local = self._emitter.local(hint)
        line = f"{local} = {self._emitter.expression(checked, names)}"
        if not all(names[name] in self._steady for name in checked.variables):
            return [line], local
        self.lines.append(f"{local} = None")
        self._steady.add(local)
        return [f"if {local} is None:", f"    {line}"], local
