"""The kinds of evidence that the engine itself writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.verify.discovery import DISCOVERY
from specledger.verify.kind import EvidenceKind
from specledger.verify.law import LAW
from specledger.verify.run import RUN
from specledger.verify.suite import SUITE

EVIDENCE: Final[Mapping[str, EvidenceKind[Any, Any]]] = {
    kind.receipts.name: kind for kind in (RUN, SUITE, LAW, DISCOVERY)
}
