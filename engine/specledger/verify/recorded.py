"""The recorded specs of a bundle, read and compiled once, when they are first needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from specledger.compile.plan import Plan
from specledger.compile.plan_cache import CompileScenario
from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.evidence.chain import run_id
from specledger.evidence.layout import MAX_SPECS, SPECS
from specledger.load import Bundle
from specledger.spec.base import SpecKinds
from specledger.verify.checks import E_SPECS, require_equal
from specledger.verify.manifest import read_document
from specledger.verify.rebuilding import invalid, rebuild

_LARGEST_KEPT: Final = 100_000
"""Bytes of specs whose plan is kept at most: plans of strangers' specs must not add up."""


class Recorded:
    """The specs of one bundle of a kind, with the digest that its manifest names.

    Attributes:
        manifest: What the manifest says.
    """

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], kind: str, kinds: SpecKinds, compile_plan: CompileScenario
    ) -> None:
        self._folder, self.manifest, self._kind = folder, manifest, kind
        self._kinds, self._compile = kinds, compile_plan

    @cached_property
    def specs(self) -> Bundle:
        """The specs; Broken as `read_specs`."""
        return read_specs(self._folder, self.manifest, self._kinds, self._kind)

    @cached_property
    def plan(self) -> Plan:
        """The plan of a scenario; Broken as E_SPECS if the specs do not compile."""
        return compiled_again(self.specs, self._compile)

    def compiled(self, bundle: Bundle) -> Plan:
        """The plan of a scenario's bundle; of these specs the one that is there."""
        return self.plan if bundle is self.specs else self._compile(bundle)


def read_specs(folder: Path, manifest: Mapping[str, Any], kinds: SpecKinds, kind: str) -> Bundle:
    """The recorded specs of a bundle of a kind, which are those that its manifest names.

    Raises:
        Broken: E_SPECS, if they are not.
    """
    specs = rebuild(read_document(folder / SPECS, MAX_SPECS, E_SPECS), kinds, kind)
    require_equal(manifest, {"specs": specs.digest, "run": run_id(specs.digest)}, "the manifest", E_SPECS)
    return specs


class _ByDigest:
    """Specs without places in files as a key: all that they are follows from their digest."""

    __slots__ = ("specs",)

    def __init__(self, specs: Bundle) -> None:
        self.specs = specs

    def __hash__(self) -> int:
        return hash(self.specs.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByDigest) and other.specs.digest == self.specs.digest


def compile_recorded(specs: Bundle) -> Plan:
    """The plan of recorded specs; the last ones are kept: a report opens evidence that was verified just before.

    Raises:
        Rejected: They do not compile.
    """
    if len(canonical_bytes(specs.document())) > _LARGEST_KEPT or any(spec.origins for spec in specs.specs.values()):
        return compile_scenario(specs)
    return _compile_small(_ByDigest(specs))


@lru_cache(maxsize=8)
def _compile_small(key: _ByDigest) -> Plan:
    return compile_scenario(key.specs)


def compiled_again(specs: Bundle, compile_plan: CompileScenario) -> Plan:
    """The plan of recorded specs; Broken as E_SPECS if they do not compile."""
    try:
        return compile_plan(specs)
    except Rejected as rejected:
        raise invalid(rejected) from None
