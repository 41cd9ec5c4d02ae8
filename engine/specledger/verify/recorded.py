"""The recorded specs of a bundle, read and compiled once, when they are first needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from specledger.compile.plan import Plan
from specledger.compile.plan_cache import CompileScenario
from specledger.core.diagnostics import Rejected
from specledger.evidence.chain import run_id
from specledger.evidence.layout import SCENARIO, SPECS
from specledger.load import Bundle, bundle_from_document
from specledger.spec.base import Models
from specledger.verify.checks import E_SPECS, Broken, agree
from specledger.verify.manifest import MAX_SPECS, read_document


class Recorded:
    """The specs of one bundle of a kind, with the digest that its manifest names."""

    def __init__(
        self, place: Path, manifest: Mapping[str, Any], kind: str, models: Models, compile_plan: CompileScenario
    ) -> None:
        self._place, self._manifest, self._kind = place, manifest, kind
        self._models, self._compile = models, compile_plan

    @cached_property
    def specs(self) -> Bundle:
        """The specs.

        Raises:
            Broken: E_SPECS, if they are not the resolved form of a spec of the kind, or others than the manifest names.
        """
        specs = rebuild(read_document(self._place / SPECS, MAX_SPECS, E_SPECS), self._models, self._kind)
        agree(self._manifest, {"specs": specs.digest, "run": run_id(specs.digest)}, "the manifest", E_SPECS)
        return specs

    @cached_property
    def plan(self) -> Plan:
        """The plan of a scenario.

        Raises:
            Broken: E_SPECS, if the specs do not compile.
        """
        try:
            return self._compile(self.specs)
        except Rejected as rejected:
            raise invalid(rejected) from None

    def compiled(self, bundle: Bundle) -> Plan:
        """The plan of a scenario's bundle; of these specs the one that is there."""
        return self.plan if bundle is self.specs else self._compile(bundle)


def rebuild(document: Any, models: Models, kind: str = SCENARIO) -> Bundle:
    """The bundle of recorded specs, which are checked like any others.

    Raises:
        Broken: E_SPECS, if they are not the resolved form of a spec of the kind.
    """
    try:
        bundle = bundle_from_document(document, models)
    except Rejected as rejected:
        raise invalid(rejected) from None
    if bundle.main.kind != kind:
        raise Broken(E_SPECS, f"the recorded specs are those of a {bundle.main.kind}, not of a {kind}")
    return bundle


def invalid(rejected: Rejected) -> Broken:
    """The finding that recorded specs do not resolve or compile."""
    return Broken(E_SPECS, f"the recorded specs are invalid: {rejected.diagnostics[0].message}")
