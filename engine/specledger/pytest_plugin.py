"""The pytest plugin: specs that a project marks are test items, one for each case.

It is loaded in every project that has specledger installed, so it imports nothing else until a project marks specs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from specledger.load import Bundle

_SPECS: Final = "specledger_specs"
_GOLDENS: Final = "specledger_goldens"
_TRUST: Final = "specledger_trust_agents"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of a project."""
    parser.addini(_SPECS, "patterns of spec files that are tests, such as specs/scenario/*.yaml", "linelist")
    parser.addini(_GOLDENS, "the folder of goldens that `spec golden` compares with; none by default", "string")
    parser.addini(
        _TRUST, "whether agents from outside are executed, as with `spec run --trust-agent`", "bool", default=False
    )


def pytest_configure(config: pytest.Config) -> None:
    """Look for the specs of a project that marks some.

    Raises:
        UsageError: A pattern has no file.
    """
    matches = {pattern: _files(config.rootpath, pattern) for pattern in config.getini(_SPECS)}
    if empty := [pattern for pattern, files in matches.items() if not files]:
        raise pytest.UsageError(f"{_SPECS}: there is no file {config.rootpath / empty[0]}")
    if matches:
        config.pluginmanager.register(_Specs(frozenset().union(*matches.values())), "specledger-specs")


def _files(root: Path, pattern: str) -> frozenset[Path]:
    try:
        return frozenset(file.resolve() for file in root.glob(pattern))
    except NotImplementedError:  # an absolute pattern
        return frozenset()


class _Specs:
    """Collects the marked files."""

    def __init__(self, marked: frozenset[Path]) -> None:
        self._marked = marked

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A collector of a marked file."""
        return SpecFile.from_parent(parent, path=file_path) if file_path.resolve() in self._marked else None


class SpecFile(pytest.File):
    """A marked file: an item for each case of what can be run, else one that checks it."""

    def collect(self) -> Iterator[pytest.Item]:
        """The items; a file that cannot be loaded is one item that fails."""
        from specledger.core.diagnostics import Rejected
        from specledger.kinds import KINDS
        from specledger.pipeline.checking import load_cases

        try:
            bundles = load_cases(str(self.path))
        except Rejected:
            bundles = ()
        runnable = [bundle for bundle in bundles if KINDS[bundle.main.kind].runs]
        for bundle in runnable:
            name = f"{bundle.main.name}[{bundle.case}]" if bundle.case else bundle.main.name
            yield CaseItem.from_parent(self, name=name, bundle=bundle)
        if not runnable:
            yield CheckItem.from_parent(self, name="check")


class _Item(pytest.Item):
    """A test whose failures are findings."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Findings with their locations and excerpts."""
        from specledger.core.diagnostics import Rejected, render
        from specledger.core.spans import read_source

        if isinstance(excinfo.value, Rejected):
            return "\n\n".join(render(diagnostic, read_source) for diagnostic in excinfo.value.diagnostics)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The file and the name."""
        return self.path, None, self.name


class CheckItem(_Item):
    """The check of a spec that is not run by itself."""

    def runtest(self) -> None:
        """Check it."""
        from specledger.core.diagnostics import Diagnostics
        from specledger.pipeline.checking import check

        diagnostics = Diagnostics()
        diagnostics.extend(check([str(self.path)])[1])
        diagnostics.raise_if_errors()


class CaseItem(_Item):
    """A run of one case, compared with its golden if the project has goldens."""

    def __init__(self, *, bundle: Bundle, **rest: Any) -> None:
        super().__init__(**rest)
        self._bundle = bundle

    def runtest(self) -> None:
        """Run it."""
        from specledger.core.diagnostics import Rejected
        from specledger.pipeline.testing import find_failures

        folder = self.config.getini(_GOLDENS)
        update = self.config.getoption("update_snapshots", default=None)  # None: syrupy is not installed
        accept = ["spec", "golden", "--update", f"--dir={folder}", self.nodeid.partition("::")[0]]
        if update is not None:
            accept = ["pytest", self.nodeid, "--snapshot-update"]
        goldens = self.config.rootpath / folder if folder else None
        failures = find_failures(
            self._bundle,
            goldens,
            update=bool(update),
            accept=shlex.join(accept),
            trusted=self.config.getini(_TRUST),
        )
        if failures:
            raise Rejected(failures)
