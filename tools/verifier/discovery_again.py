"""A discovery made again: its verdicts looked at, everything between answers and verdicts made again, its laws tried.

What only a prover, or the engine's own words, could tell is taken from the receipts, and said as not checked.
"""

import json

from tools.verifier.basis import CRASHES, Open, Refuted
from tools.verifier.discovery_check import NOTE_WORK, DiscoveryTrials
from tools.verifier.discovery_form import NoLaw
from tools.verifier.discovery_replay import DiscoveryReplay
from tools.verifier.progress import PROGRESS
from tools.verifier.values import BUDGET, Failed


def discovery_again(bundle):
    """Make the discovery of a bundle again, whose chain and specs were checked before."""
    receipts = []
    for line in bundle.lines():
        receipt = json.loads(line)
        receipts.append((receipt["type"], receipt["body"]))
    notes = remade_discovery(bundle.specs, bundle.tape, receipts)
    bundle.unmade += [one for one in notes if one != NOTE_WORK]
    if NOTE_WORK in notes:
        raise Open("E_WORK", NOTE_WORK)


def remade_discovery(document, tape, receipts):
    """Compare the receipts of a discovery with what specs and answers lead to; give back what was not checked.

    Args:
        document: What specs.json holds.
        tape: The documents of tape.jsonl, None without it.
        receipts: [(type, body)] in their order.
    """
    notes = set()
    trials = DiscoveryTrials(document["specs"][document["root"]], document["specs"], notes)
    judged = [one for one in receipts if one[0] in ("law", "escalation")]
    try:
        for kind, body in judged:
            BUDGET.part()
            trials.check(kind, body)
        BUDGET.part()
        DiscoveryReplay(document, tape, receipts, notes).run()
        for number, (kind, body) in enumerate(judged, 1):
            PROGRESS.tell("verdict", number, len(judged))
            BUDGET.part()
            trials.again(kind, body)
    except (Failed, NoLaw) as failed:
        raise Refuted("E_SPECS", f"the specs cannot be computed with: {failed}"[:300]) from None
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot make it again: {error!r}"[:200]) from None
    return sorted(notes)
