"""What the words mean that the page of a discovery uses."""

from collections.abc import Mapping
from typing import Final

from specledger.report.sections import Row, RowLink, Section, Words, anchor

YIELD_INTRO: Final = (
    "Yield is the content of different laws by evaluation. A law's content is the share of rules that differ in one "
    "entry of the table and break it on small rings: a lower bound. Laws are different if they do not have the same "
    "meaning; one that follows from others, as a multiple of a conserved quantity or the sum of two, counts as well. "
    "Yield does not show: which laws follow from others; whether a law is interesting; the cost of an evaluation, a "
    "token or a second; the result of another seed or another recording of the same model. A discovery with a more "
    "informative prompt has less to find."
)

TERMS: Final[Mapping[str, str]] = {
    "law": "A claim about every ring of a universe at every step, in a fixed form.",
    "conjecture, proposal": "A law that the model proposed; it is read before it is tried.",
    "rejected proposal": "One that is not read as a law, or equals a law that is known; it gets no trial.",
    "trial": "A law is tried on many starts, generated and mutated ones, and a proof is looked for.",
    "PROVED": "A certificate shows it of every ring of the universe; no trial is needed to trust it.",
    "PASS": "It held in every case that was tried; that is no proof.",
    "FAIL": "A counterexample shows that it is false; that is a finding, and no fault of the run.",
    "UNKNOWN": "It was not decided, with the reason.",
    "accepted law": "A law that is PROVED or PASS, and equal to none that was known.",
    "escalation": "After every so many iterations the laws accepted meanwhile are tried harder, so that one may fall.",
    "iteration": "One question to the model, and what became of its proposals.",
    "yield": "The content of the different laws for each trial; the table of the yield says what content is.",
    "expected law": "One that the spec of the discovery names in advance; missing it fails the run.",
    "found twice": "An equal law was proposed while the first one was being tried.",
}
"""Terms of the page of a discovery."""

TERMS_LINK: Final = RowLink(anchor("terms", next(iter(TERMS))), "what they mean")


def terms_section() -> Section:
    """The terms with their meanings."""
    rows = [Row(term, "", (Words(text),)) for term, text in TERMS.items()]
    return Section("terms", "Terms", "What the words of this page mean.", ("term", "meaning"), rows)
