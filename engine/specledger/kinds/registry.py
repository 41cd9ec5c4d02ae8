"""The registry of kinds: those of the core, then those of the wings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from specledger.core.wing import wings
from specledger.evidence.layout import SCENARIO
from specledger.evidence.receipts import ReceiptTypes
from specledger.kinds.kind import Kind


class Registry(Mapping[str, Kind]):
    """Kinds by name. The wings are loaded when a name is not one of the core's, or all kinds are listed."""

    def __init__(self, core: Mapping[str, Kind], restore: Callable[[], Registry]) -> None:
        """A registry; `restore` gives it in another process, where it is pickled as this function."""
        self._core, self._restore = core, restore

    def __getitem__(self, name: str) -> Kind:
        return self._core[name] if name in self._core else self._all()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._core or name in self._all()

    def __iter__(self) -> Iterator[str]:
        yield from self._core
        yield from (name for name in self._all() if name not in self._core)

    def __len__(self) -> int:
        return len(self._all())

    def __reduce__(self) -> tuple[Callable[[], Registry], tuple[()]]:
        return self._restore, ()

    def runnable(self) -> tuple[str, ...]:
        """The names of the kinds whose specs can be run."""
        return tuple(name for name, kind in self.items() if kind.runs)

    def receipts(self) -> dict[str, ReceiptTypes]:
        """The receipts of each kind of evidence, by its name in schemas, where they are typed.

        Those of a scenario are called `run`.
        """
        types = {"run" if name == SCENARIO else name: self[name].report.receipts for name in self.runnable()}
        return {name: declared for name, declared in types.items() if declared}

    def may_run(self, name: str) -> bool:
        """Whether specs of a kind can be run, or there is no such kind."""
        return name not in self or self[name].runs

    def _all(self) -> dict[str, Kind]:
        kinds = dict(self._core)
        for wing in wings():
            for kind in wing.kinds():
                if kind.name in kinds:
                    raise TypeError(f"the wing {wing.name!r} declares the kind {kind.name!r}, which there is already")
                kinds[kind.name] = kind
        return kinds
