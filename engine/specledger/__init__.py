"""specledger: a spec is data, a run is a pure function of it, its evidence is a chain that anyone can recompute.

    import specledger as sl

The functions and types below are imported when they are first used. Four functions have the name of a package beside
them (`specledger.run` holds the step loop), so these packages can be called and hand the call to `specledger.api`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from specledger.api import Bundle, Case, Diagnostic, Rejected, Verification, load, report, run, verify

__version__: Final = "0.1.0"

__all__ = ["Bundle", "Case", "Diagnostic", "Rejected", "Verification", "__version__", "load", "report", "run", "verify"]

_FUNCTIONS: Final = ("load", "report", "run", "verify")


def __getattr__(name: str) -> Any:
    """A public name.

    Raises:
        AttributeError: There is no such name.
    """
    if name in _FUNCTIONS:
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        return getattr(import_module("specledger.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)


class _Callable(ModuleType):
    """A package that is called as the function of its name in `specledger.api`."""

    @property
    def __wrapped__(self) -> Any:
        return getattr(import_module("specledger.api"), self.__name__.rpartition(".")[2])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)


class _Package(ModuleType):
    """This package: the import of a package beside a function of its name makes it callable."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FUNCTIONS and isinstance(value, ModuleType):
            value.__class__ = _Callable
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
