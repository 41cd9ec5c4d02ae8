"""Where independent pieces of work are done; results are merged in the order of the work.

`run.workers.Processes` are processes of this machine, `wings.bridges` connects to
a Dask cluster. The evidence is the
same for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Final, Protocol

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected

_AHEAD: Final = 3  # items for each worker that are made before their turn comes, so that results never pile up


CONTINUES: Final = "the same command continues it: `spec run` with --resume, `spec discover` as it is"
"""The hint where work was lost."""


class Lost(Rejected):
    """What does the work ended from outside. The work itself is not at fault, and finished pieces of it count."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__([Diagnostic(code, message, hint=hint)])


class Work(ABC):
    """What is done with each item. A process receives it pickled, a cluster receives its document and no code.

    Attributes:
        entry: The name under which a worker of a cluster finds how the work is made from its document.
    """

    entry: ClassVar[str]

    @abstractmethod
    def __call__(self, item: Any) -> Any:
        """Do one piece of the work in this process."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The work as JSON values: resolved specs and options."""

    def sent(self, item: Any) -> Any:
        """What a cluster receives for an item: JSON values and bytes."""
        return item

    def made(self, item: Any, result: Any) -> Any:
        """What the result of a cluster is here, after what belongs on this machine's disk was written."""
        return result


class Done(Struct, frozen=True):
    """A finished piece of work.

    Attributes:
        result: What the work gave; None if it raised.
    """

    index: int
    result: Any
    error: Exception | None

    def value(self) -> Any:
        """The result.

        Raises:
            Exception: What the work raised.
        """
        if self.error is not None:
            raise self.error
        return self.result


class Crew(Protocol):
    """The workers that are doing one work. Used as a context: when it is left, outstanding pieces are given up."""

    def submit(self, index: int, item: Any) -> None:
        """Queue a piece of work.

        Raises:
            Lost: A worker, or the connection to all of them, was lost.
        """

    def ready(self) -> list[Done]:
        """What is finished and was not returned yet, without waiting for anything."""

    def wait(self) -> Done:
        """Wait for the next finished piece of work, in whatever order they finish.

        Raises:
            Lost: As for `submit`.
        """


class Executor(Protocol):
    """Where work is done."""

    @property
    def width(self) -> int:
        """How many pieces of work are done at once."""

    @property
    def remote(self) -> bool:
        """Whether work is done on other machines, which share no files and no keys with this one."""

    def open(self, work: Callable[[Any], Any], pieces: int | None = None) -> AbstractContextManager[Crew]:
        """The workers for one work.

        Args:
            work: A `Work`; processes take any function of a module.
            pieces: How many pieces there will be, if that is known.
        """


def spread(work: Callable[[Any], Any], given: Sequence[Any], executor: Executor) -> Iterator[Any]:
    """Apply a work to each item.

    Yields:
        The results in the order of the items.

    Raises:
        Lost: A worker, or the connection to all of them, was lost.
        Exception: What `work` raises, at its item; what others are doing then is not finished.
    """
    ready: dict[int, Done] = {}
    begun = 0
    with executor.open(work, len(given)) as crew:
        for turn in range(len(given)):
            while begun < min(len(given), turn + executor.width * _AHEAD):
                crew.submit(begun, given[begun])
                begun += 1
            ready |= {done.index: done for done in crew.ready()}
            while turn not in ready:
                done = crew.wait()
                ready[done.index] = done
            yield ready.pop(turn).value()
