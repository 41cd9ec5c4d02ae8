"""Recorded specs as a bundle again: they are checked like any others."""

from __future__ import annotations

from typing import Any

from specledger.core.diagnostics import Rejected
from specledger.evidence.layout import SCENARIO
from specledger.load import Bundle
from specledger.load.from_document import bundle_from_document
from specledger.spec.base import SpecKinds
from specledger.verify.checks import E_SPECS, Broken


def rebuild(document: Any, kinds: SpecKinds, kind: str = SCENARIO) -> Bundle:
    """The bundle of recorded specs, which are checked like any others.

    Raises:
        Broken: E_SPECS, if they are not the resolved form of a spec of the kind.
    """
    try:
        bundle = bundle_from_document(document, kinds)
    except Rejected as rejected:
        raise invalid(rejected) from None
    if bundle.main.kind != kind:
        raise Broken(E_SPECS, f"the recorded specs are those of a {bundle.main.kind}, not of a {kind}")
    return bundle


def invalid(rejected: Rejected) -> Broken:
    """The finding that recorded specs do not resolve or compile."""
    first = rejected.diagnostics[0]
    return Broken(E_SPECS, f"the recorded specs are invalid: {first.message} [{first.code}]")
