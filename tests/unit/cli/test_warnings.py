"""What `spec check` warns of in a governor that compiles: claims that it never looks at."""

import pytest

from specledger.core.verdict import Exit

HONEST = "  - {id: honest, require: proposal.top == next.n, reason: untrue}\n"
PRICE = "cost: {step: 1 + proposal.top}"
CHOICE = "choose: {maximise: proposal.score}"

# what takes the place of the gate that reads the claim, of the price and of the choice; whether the claim is read
GOVERNORS = {
    "nothing reads it": ("", "", CHOICE, False),
    "another part of the proposal": ("", "", "choose: {maximise: proposal.score + proposal.action.by}", False),
    "a gate": (HONEST, "", CHOICE, True),
    "the condition of a gate": ("  - {id: g, when: proposal.top > 9, deny: n > 9, reason: r}\n", "", CHOICE, True),
    "a witness": ("  - {id: g, deny: n > 9, reason: r, witness: {top: proposal.top}}\n", "", CHOICE, True),
    "the price": ("", PRICE, CHOICE, True),
    "the choice": ("", "", "choose: {maximise: proposal.top}", True),
    "each": ("", "each: {high: proposal.top}", "choose: {maximise: high}", True),
    "a function": ("", "functions: {f: {args: [p], is: p.top}}", "choose: {maximise: f(proposal)}", True),
    "a function of another part": (
        "",
        "functions: {f: {args: [p], is: p.score}}",
        "choose: {maximise: f(proposal)}",
        False,
    ),
}


@pytest.mark.parametrize(("gate", "price", "choice", "read"), GOVERNORS.values(), ids=GOVERNORS)
def test_a_claim_that_nothing_reads_is_warned_of(spec, project, edit, gate, price, choice, read):
    edit("warden.yaml", HONEST, gate)
    edit("warden.yaml", PRICE, price)
    edit("warden.yaml", CHOICE, choice)
    done = spec("check", "climb.yaml", "--format", "json")
    assert (done.status, len(done.json["checked"])) == (Exit.CONFORMS, 1)
    assert done.codes == ([] if read else ["W_CLAIM_UNREAD"])
    if not read:
        (found,) = done.json["diagnostics"]
        assert (found["severity"], found["file"], found["line"]) == ("warning", "warden.yaml", 8)
