"""The last check: what the recorded specs lead to is made again by this file, and compared receipt by receipt.

What differs refutes the evidence. What this file does not know, cannot do, or would take too long to do, is not
checked, and that is said; it refutes nothing.
"""

import json

from tools.verifier.basis import CRASHES, KNOWN_EVALUATOR, KNOWN_VERSION, Open, Refuted, demand, write
from tools.verifier.discovery_again import discovery_again
from tools.verifier.kernel import KernelDesk
from tools.verifier.law_check import law_again
from tools.verifier.progress import PROGRESS
from tools.verifier.replay import Replay
from tools.verifier.sealed import Unsealable
from tools.verifier.shape_check import check_shapes
from tools.verifier.suite_check import suite_again
from tools.verifier.values import Failed

SHOWN_VALUE = 80
TYPES_UNCHECKED = "the static types of expressions, and whatever else makes specs invalid without changing a receipt"


def compare(document, tape, lines, desk=None, known=None):
    """Make a run again and compare every receipt with the recorded one.

    Args:
        document: What specs.json holds.
        tape: The documents of tape.jsonl, None without it.
        lines: The lines of the receipts, without their newlines.
        desk: What makes the desk of a kernel, of a `Replay`.
        known: How many receipts there are, for whoever waits.

    Returns:
        How many receipts are the same.
    """
    try:
        made = Replay(document, tape, desk).receipts()
        count = 0
        for line in lines:
            PROGRESS.tell("receipt", count + 1, known)
            receipt = json.loads(line)
            kind, body = next(made, (None, None))
            told(count, receipt, kind, body)
            count += 1
        more = next(made, None)
        demand(more is None, "E_REPLAY", f"the receipts end at {count}, and the run goes on")
    except (Failed, Unsealable) as failed:
        raise Refuted("E_SPECS", f"the specs cannot be computed with: {failed.code}") from None
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot make it again: {error!r}"[:200]) from None
    return count


def told(count, receipt, kind, body):
    """See that a recorded receipt is the one that was made."""
    recorded = receipt["body"]
    if kind == receipt["type"] and write(recorded) == write(body):
        return
    if kind != receipt["type"]:
        place, old, new = "type", receipt["type"], kind
    else:
        place, old, new = difference(recorded, body, "body")
    if bounded(receipt["type"], recorded):
        raise Open("E_REPLAY", f"receipt {count} tells of a bound of work, which this file does not count alike")
    message = f"receipt {count}, {place}: recorded {short_text(old)}, made {short_text(new)}"
    raise Refuted("E_REPLAY", message)


def bounded(kind, recorded):
    """Whether a receipt tells of an error by the bound of work, at a place where errors stand: no other is believed."""
    decisions = recorded.get("decisions") if kind == "step" else None
    told_there = [one.get("error") for one in decisions if isinstance(one, dict)] if isinstance(decisions, list) else []
    errors = [recorded] if kind == "error" else told_there
    return any(isinstance(error, dict) and error.get("code") == "E_EVAL_LIMIT" for error in errors)


def short_text(value):
    """A value as a message shows it."""
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= SHOWN_VALUE else f"{text[:SHOWN_VALUE]}…"


def difference(old, new, place):
    """The first place, by the order of the keys, at which two values differ, and what stands there."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        pairs = [(f"{place}.{key}", old[key], new[key]) for key in sorted(old)]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(f"{place}[{index}]", *pair) for index, pair in enumerate(zip(old, new))]
    else:
        return place, old, new
    inner, first, second = next(pair for pair in pairs if write(pair[1]) != write(pair[2]))
    return difference(first, second, inner)


def scenario_again(bundle):
    """A run. A kernel that signs with a key takes its signatures from the receipts, and checks them."""

    def desk(run):
        return KernelDesk(run, recorded_signatures(bundle))

    compare(bundle.specs, bundle.tape, bundle.lines(), desk, bundle.manifest["receipts"]["count"])


def recorded_signatures(bundle):
    """The signatures of all capability tokens, in the order in which they were issued."""
    receipts = (json.loads(line) for line in bundle.lines())
    entries = [receipt["body"] for receipt in receipts if receipt["type"] == "audit"]
    issued = [body for body in entries if body["event"] == "CAPABILITY_ISSUED"]
    return [token["signature"] for body in issued for token in body["capability_tokens"]]


def suite_made_again(bundle):
    """A suite: its runs, and what follows from them."""
    suite_again(bundle, scenario_again)


AGAIN = {"scenario": scenario_again, "law": law_again, "suite": suite_made_again, "discovery": discovery_again}


def made_again(bundle):
    """Make again what a bundle is of, by the specs of the version that this file knows."""
    version, evaluator = (bundle.manifest[name]["version"] for name in ("engine", "evaluator"))
    if (version, evaluator) != (KNOWN_VERSION, KNOWN_EVALUATOR):
        raise Open(
            "E_REPLAY", f"it was made by version {version} with evaluator {evaluator}, which this file does not know"
        )
    check_shapes(bundle.specs["specs"])
    AGAIN[bundle.kind](bundle)
