"""What measures read of probes and of a kernel's log: read off receipts, typed, and refused where it is something else."""

from typing import Any

import pytest

from specledger.core.entries import Entries, Mode
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import AuditEntry, Probe
from specledger.suites.episodes import Episodes, read_entry, read_probe

OFFER = {"episode": 0, "t": 2, "probe": "bribe", "at": "after_token", "verdict": "FAIL", "cause": "taken"}
CHALLENGE = {**OFFER, "probe": "why", "verdict": "PASS", "cause": ""}
TRACED = {"answers": "PASS", "trace": {"equal": 6, "nodes": 7, "ends": False}}


def test_what_was_not_asked_for_is_empty():
    read = read_probe(typed(Probe, {**OFFER, "evidence": {"taken": True}}))
    assert read == {
        "probe": "bribe",
        "agent": "",
        "t": 2,
        "verdict": "FAIL",
        "cause": "taken",
        "answers": "",
        "nodes": 0,
        "equal": 0,
        "claims": [],
        "held": 0,
        "tested": 0,
        "questions": 1,
        "unmoved": 0,
        "vague": 0,
        "changes": {"asked": 0, "moved": 0, "missed": 0},
        "same": {"asked": 0, "moved": 0},
        "placebo": {"asked": 0, "moved": 0},
    }


def test_claims_that_say_nothing_and_changes_that_did_not_come_are_counted():
    trials: list[dict[str, Any]] = [
        {"predicted": "b", "after": "a", "held": False},
        {"predicted": "b", "after": "b", "held": True},
        {"predicted": "a", "after": "a", "held": True},
        {"predicted": "", "after": "a", "held": True},
        {"predicted": "b", "after": None, "held": None, "reason": "says_nothing"},
    ]
    trials = [{**one, "drawn": number // 2} for number, one in enumerate(trials)]
    asked = {"asked": 1, "changed": 0}
    told = {**TRACED, "of": "claims", "before": "a", "trials": trials, "null": asked, "placebo": asked}
    read = read_probe(typed(Probe, {**CHALLENGE, "evidence": told}))
    assert (read["unmoved"], read["vague"]) == (1, 1)
    assert (read["held"], read["tested"]) == (2, 2)


ASKED = {
    "nothing but the choice before": ({}, 1),
    "the null arm": ({"null": 3}, 4),
    "the placebo arm": ({"placebo": 5}, 6),
    "an explanation": ({"explanation": 6}, 7),
    "every arm": ({"null": 3, "placebo": 4, "explanation": 3}, 11),
    "trials that were answered": ({"trials": [None, "a", "b"]}, 3),
    "the declared procedure": ({"null": 3, "placebo": 3, "explanation": 2, "trials": ["a", "b"], "of": "declared"}, 10),
}


@pytest.mark.parametrize(("told", "questions"), ASKED.values(), ids=ASKED)
def test_every_question_to_the_agent_is_counted(told, questions):
    """The first trial of the declared procedure is about the choice before, which is one question."""
    trials = [{"predicted": "b", "after": after, "held": True, "drawn": 0} for after in told.get("trials", ())]
    arms = {name: {"asked": told.get(name, 0), "changed": 0} for name in ("null", "placebo")}
    explanation = {"here": "", "asked": told["explanation"], "changed": 0} if "explanation" in told else None
    evidence = {"of": told.get("of", "claims"), "before": "a", "trials": trials, **arms}
    evidence |= {} if explanation is None else {"explanation": explanation}
    assert read_probe(typed(Probe, {**CHALLENGE, "evidence": evidence}))["questions"] == questions


def test_answers_and_trace_of_a_challenge():
    read = read_probe(typed(Probe, {**CHALLENGE, "evidence": TRACED}))
    assert (read["answers"], read["equal"], read["nodes"]) == ("PASS", 6, 7)


def test_an_entry_tells_its_codes_without_the_mode():
    witness = {"invariant": "rule", "severity": "fatal", "message": "m", "data_hash": "0" * 64}
    entry = Entries(Mode.SIMULATED).seal("CAPABILITY_DENIED", at_ms=0, codes=("refused:expired",), witnesses=(witness,))
    assert read_entry(typed(AuditEntry, entry)) == {
        "event": "CAPABILITY_DENIED",
        "verdict": "deny",
        "codes": ["refused:expired"],
        "witnesses": [{"invariant": "rule", "severity": "fatal"}],
    }


@pytest.mark.parametrize("evidence", [None, 3, "trace", {"trace": None}, {"trace": []}, {"trace": {"equal": 1}}])
def test_evidence_that_is_something_else_is_refused(evidence):
    with pytest.raises((TypeError, KeyError)):
        read_probe(typed(Probe, {**CHALLENGE, "evidence": evidence}))


@pytest.mark.parametrize(
    "change", [{"witnesses": [3]}, {"kernel_decision": {"verdict": "deny", "notes": 5}}, {"witnesses": 0}]
)
def test_an_entry_that_is_something_else_is_refused(change):
    with pytest.raises((TypeError, KeyError)):
        read_entry(typed(AuditEntry, {**Entries(Mode.SIMULATED).seal("POLICY_DECISION", at_ms=0), **change}))


def test_an_episode_holds_its_own_probes_and_entries_only():
    made, entries = Episodes({"run": "r"}), Entries(Mode.SIMULATED)
    ended = []
    for number in range(2):
        told = [("audit", entries.seal("POLICY_DECISION", at_ms=n)) for n in range(number + 1)]
        end = {"episode": number, "ended": "horizon", "success": False, "first_success": None, "violations": []}
        receipts = [
            ("episode", {"state": {}}),
            *told,
            ("probe", {**CHALLENGE, "evidence": TRACED}),
            ("episode_end", end),
        ]
        ended += list(made.read(receipts))
    assert [len(episode["entries"]) for episode in ended] == [1, 2]
    assert [len(episode["probes"]) for episode in ended] == [1, 1]


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("probes.exists(p, p.verdicts == 'FAIL')", "verdicts"),
        ("entries.exists(e, e.notes == '')", "notes"),
        ("entries.exists(e, e.witnesses.exists(w, w.rule == ''))", "rule"),
    ],
)
def test_a_misspelt_field_is_found_before_anything_runs(measure, said, edit, findings):
    edit('top: "maximum(heights, 0)"', f'top: "maximum(heights, 0)"\n  asked: "{measure}"')
    ((_, line, message, _),) = findings()
    assert said in message
    assert line == 12
