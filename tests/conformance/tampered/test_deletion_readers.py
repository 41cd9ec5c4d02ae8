"""No refusal can be left out of what reads one thing: notes, envelopes, time stamps, certificates.

Each is asked directly, by the tables of its own tests: what is refused there must come to something else without a
refusal, or fall over. So a table that lacks an input which only one refusal stands against is noticed.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import specledger.evidence.checkpoint
import specledger.evidence.envelope
import specledger.evidence.timestamp
from specledger.core.diagnostics import Rejected
from specledger.evidence.checkpoint import InvalidNote, origin_of, read_note
from specledger.evidence.envelope import InvalidEnvelope, read_envelope
from specledger.evidence.timestamp import InvalidTimestamp, read_timestamp
from specledger.wings.laws.automaton import Rule
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import Always, Limits, Proved, ProvedUpTo, Question, facts
from specledger.wings.laws.verify import certificates, statements
from specledger.wings.laws.verify.certificates import InvalidCertificate, check_certificate
from tests.conformance.tampered.deletion import sites, watching, without
from tests.unit.evidence import test_checkpoint as notes
from tests.unit.evidence import test_envelope as envelopes
from tests.unit.evidence import test_timestamp as stamps
from tests.wings.laws import test_proof_certificates as proofs

pytestmark = pytest.mark.slow

REFUSALS = (InvalidCertificate, InvalidEnvelope, InvalidNote, InvalidTimestamp, Rejected)

Ask = Callable[[], object]

EITHER, OTHER = (Rule(2, tuple(number >> i & 1 for i in range(8))) for number in (252, 51))
"""A cell is marked if it or its left neighbour was; a cell is marked if it was not."""


def of_notes(_: Any) -> Iterator[Ask]:
    for text, _why in notes.REFUSED.values():
        data = text if isinstance(text, bytes) else str(text).encode()
        yield partial(read_note, data)
    for pattern in ("", "a b", "x" * 256):
        yield partial(origin_of, pattern, "0" * 32)


def of_envelopes(_: Any) -> Iterator[Ask]:
    for data, _why in envelopes.REFUSED.values():
        yield partial(read_envelope, data)


def of_stamps(_: Any) -> Iterator[Ask]:
    for data, _why in stamps.REFUSED.values():
        yield partial(read_timestamp, data)
    whole = stamps.response()
    for at in range(len(whole)):
        yield partial(read_timestamp, whole[:at])
        yield partial(read_timestamp, whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])


def of_certificates(_: Any) -> Iterator[Ask]:
    """Every third change of a proof of each kind, every proof for claims that fail, and forgeries made by hand."""
    found = {}
    for name, question in proofs.QUESTIONS.items():
        answer = prove(question, Limits(cells=2_000))
        assert isinstance(answer, Proved | ProvedUpTo), name
        found[name] = answer.certificate
        for _, changed in islice(proofs.altered(answer.certificate), None, None, 3):
            yield asking(changed, facts(question), proofs.judge(question))
    for claim in proofs.FALSE:
        told = facts(Question(proofs.TRAFFIC, claim))
        for certificate in found.values():
            yield asking({**certificate, "question": told}, told, getattr(claim, "holds", None))
    yield asking(found["few"], facts(proofs.QUESTIONS["few"]), None)
    below = {"kind": "circulation", "initial": {"width": 1, "trees": [proofs.LEAF, proofs.LEAF]}}
    forged = [
        (proofs.MEET, below | {"later": None}),
        (proofs.MEET, below | {"later": proofs.later(proofs.ONE_LATER, [0, 1])}),
        (proofs.MEET, below | {"later": proofs.later(proofs.BY_LINK, None, proofs.LINK)}),
    ]
    for rule, proof in forged:
        question = Question(rule, Always(proofs.compare(proofs.TWOS, "==")), shortest=4, start=frozenset({0, 1}))
        told = facts(question)
        yield asking({"format": "proof/v1", "question": told, "proof": proof}, told, None)
    for question, proof in ((turned_around(), below_zero()), (too_narrow(), below | {"later": None}), rising()):
        told = facts(question)
        yield asking({"format": "proof/v1", "question": told, "proof": proof}, told, None)


def turned_around():
    return Question(proofs.KEEP, Always(proofs.compare(proofs.ONES, "<=", 2)))


def below_zero():
    """Multiples that turn an inequality around."""
    leaf = {"multipliers": [-4, 4], "now": [0], "start": None}
    return {"kind": "circulation", "initial": {"width": 1, "trees": [leaf]}, "later": None}


def too_narrow():
    """In windows of one cell, edges that rise would be cells."""
    return Question(proofs.KEEP, Always(proofs.compare(proofs.RISES, "==", proofs.ONES)))


def rising():
    """What is another number after every step need not be a larger one."""
    claim = Always(proofs.compare(proofs.ONES, ">=", proofs.ONES, then=None))
    true = prove(Question(EITHER, claim), Limits(cells=2_000))
    assert isinstance(true, Proved)
    proof = true.certificate["proof"]
    assert [link["op"] for link in proof["later"]["links"]] == [">="]
    links = [{**link, "op": "!=", "potential": [0] * len(link["potential"])} for link in proof["later"]["links"]]
    return Question(OTHER, claim), {**proof, "later": {**proof["later"], "links": links}}


def asking(certificate, question, judge):
    return partial(check_certificate, certificate, question, judge)


READERS = {
    specledger.evidence.checkpoint: of_notes,
    specledger.evidence.envelope: of_envelopes,
    specledger.evidence.timestamp: of_stamps,
    certificates: of_certificates,
    statements: of_certificates,
}
"""By module what is asked of it, given an empty folder."""

FORM = "what it looks at lacks a field that is read next, or has one too few, which is refused as malformed"
STRICTER = "without it more is asked of a certificate, not less"
UNNOTICED = {
    "envelope:read_envelope": (1, "the canonical form of what it ends stands behind it"),
    "timestamp:_Reader.value": (1, "what such a length covers is not there either"),
    "certificates:_Check.check": (1, FORM),
    "certificates:_Check.check_windows": (1, f"{FORM}; of the width: {STRICTER}"),
    "certificates:_Check.check_circulations": (1, STRICTER),
    "certificates:_Check.check_trees": (1, FORM),
    "statements:Statement.judge": (1, "what is called instead of a judge is nothing, which is refused as malformed"),
    "statements:Statement.weights": (
        1,
        "windows that are too narrow have no whole number of rests, which is malformed",
    ),
}
"""By function how many refusals at most nothing notices, and why."""

BOUND = re.compile(r"too many|too much|too large|out of range|more than|larger than")
"""How a refusal is worded that bounds work or size: without it the rest would not end. Each has a test of its own."""

MOST = 40
"""Inputs of a refusal that are tried without it."""


def came_of(ask):
    """What comes of an input: what is read, that it is refused, or what falls over; no words."""
    try:
        return "read", ask()
    except REFUSALS:
        return "refused"
    except Exception as error:
        return type(error)


def worded(site):
    """The lines of a site."""
    return "".join(Path(str(site.module.__file__)).read_text(encoding="utf-8").splitlines()[site.first - 1 : site.last])


@pytest.mark.parametrize(
    "modules", [[one] for one in list(READERS)[:4]] + [list(READERS)[4:]], ids=lambda ones: ones[0].__name__
)
def test_no_refusal_of_a_reader_can_be_left_out(modules, tmp_path):
    refused = []
    for ask in READERS[modules[0]](tmp_path):
        with watching(*REFUSALS) as places:
            before = came_of(ask)
        if before == "refused":
            refused.append((ask, set(places)))
    unnoticed: dict[str, list[str]] = {}
    for site in (site for module in modules for site in sites(module) if not BOUND.search(worded(site))):
        reaching = [ask for ask, places in refused if any(map(site.holds, places))] or [ask for ask, _ in refused]
        with without(site):
            if all(came_of(ask) == "refused" for ask in reaching[:MOST]):
                unnoticed.setdefault(site.owner, []).append(f"{site} of {len(reaching)}")
    more = {owner: found for owner, found in unnoticed.items() if len(found) > UNNOTICED.get(owner, (0,))[0]}
    assert not more, "nothing notices these"
