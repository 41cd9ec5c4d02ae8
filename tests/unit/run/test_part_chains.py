"""The chains of the parts' receipts, each digest and tip computed again by other means."""

import copy
import hashlib
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.run.decision import PartChains

FEW = settings(max_examples=40)  # each example writes and hashes several documents
FIELDS = st.dictionaries(st.sampled_from(["code", "V_before", "witness"]), st.integers(-9, 9), max_size=2)
STATES = st.builds(lambda b, t: {"t": t, "b": b}, st.integers(-9, 9), st.integers(0, 9))
ENTRIES = st.lists(st.tuples(st.sampled_from(["left", "right"]), STATES, STATES, FIELDS, st.booleans()), max_size=5)


def tagged(tag, data):
    return hashlib.sha256(tag + b"\0" + data).hexdigest()


def written(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@FEW
@given(entries=ENTRIES)
def test_every_part_has_its_own_chain(entries):
    before, tips = copy.deepcopy(entries), dict.fromkeys(["left", "right"], "0" * 64)
    chains = PartChains(["left", "right"])
    receipts = [chains.append(*given, accepted=accepted) for *given, accepted in entries]
    for (name, state, after, body, accepted), found in zip(entries, receipts, strict=True):
        receipt = {
            **body,
            "accepted": accepted,
            "before": tagged(b"specledger/state/v1", written(state)),
            "after": tagged(b"specledger/state/v1", written(after)),
            "tip": tips[name],
        }
        tips[name] = tagged(b"specledger/part/v1", tips[name].encode() + written(receipt))
        assert found == {**receipt, "tip_after": tips[name]}
    assert entries == before
