"""What the kernel adds to the verification of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.compile.plan import Actor
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Probe
from specledger.verify.extension import Controlled
from specledger.wings.kernel.plan import Challenged, probes_of
from specledger.wings.kernel.verify.audit_log import check_log, verify_audit
from specledger.wings.kernel.verify.judge import observe
from specledger.wings.kernel.verify.probed import check_probe


def _check(body: Mapping[str, Any], actors: list[Actor]) -> None:
    outside = any(actor.outside is not None or isinstance(actor.controller, Challenged) for actor in actors)
    check_probe(typed(Probe, body), probes_of(actors), outside=outside)


CONTROLLED: Final = Controlled(_check, observe, check_log, verify_audit)
