"""What a report of a discovery counts, against its receipts; the tests of reports say how it is written."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.report.model import Receipt
from specledger.report.sections import anchor
from specledger.wings.discovery.report import DiscoveryReading, claim_text, trials_of
from specledger.wings.discovery.result import DISCOVERY
from specledger.wings.discovery.runnable import MOST
from specledger.wings.discovery.runnable import _listed as listed


@pytest.fixture
def bodies(facts):
    """The bodies of the small discovery's receipts by type."""
    by_type: dict[str, list[Any]] = {}
    for fact in facts:
        by_type.setdefault(fact.type, []).append(fact.body)
    return by_type


@pytest.fixture
def result(facts):
    tally = DISCOVERY.tally()
    for fact in facts:
        tally.add(fact.type, fact.body)
    return tally.result()


@pytest.fixture
def reading(small, facts, result):
    bundle, *_ = small
    evidence: Any = SimpleNamespace(specs=bundle, manifest={"result": result})
    told = DiscoveryReading(evidence)
    for seq, fact in enumerate(facts):
        told.add(Receipt(seq, b"", fact.type, fact.body))
    return told


def plain(cell):
    """The text or the number of a cell."""
    return next(getattr(cell, name) for name in ("number", "text", "value", "parts", "name") if hasattr(cell, name))


def rows(reading, section):
    """The rows of a section: for each name the cells."""
    (wanted,) = [one for one in reading.sections() if one.id == section]
    return {row.name: [plain(cell) for cell in row.cells] for row in wanted.rows}


def last_verdicts(bodies):
    """For each law that was not late its last verdict: of an escalation, else of its trial."""
    tried = {body["law"]: body["verdict"] for body in bodies["law"] if body["late"] is None}
    return tried | {body["law"]: body["verdict"] for body in bodies["escalation"]}


def test_the_counts_of_the_head_lead_to_what_their_words_mean(reading):
    link = dict(reading.facts())["these words"]
    assert link.anchor in [anchor(section.id, row.name) for section in reading.sections() for row in section.rows]


@pytest.mark.medium
def test_the_yield_is_the_content_of_the_accepted_laws_by_evaluation(reading, bodies, result):
    accepted = [one for one in last_verdicts(bodies).values() if one["status"] in ("PROVED", "PASS")]
    content = sum(verdict["content"]["share"] for verdict in accepted)
    (cells,) = rows(reading, "yield").values()
    model, prompt, evaluations, kept, different, told, by_hundred, tokens = cells
    assert (model, prompt) == ("small-script", "blind")
    assert evaluations == len(bodies["law"]) == result["evaluations"]
    assert kept == f"{len(accepted)} ({sum(one['status'] == 'PROVED' for one in accepted)} proved)"
    assert different == len(accepted)  # no two of them have one meaning
    assert 0 < content < len(accepted) * 1_000_000
    assert told == f"{content / 1_000_000:.3f}"
    assert by_hundred == f"{content / evaluations / 10_000:.3f}"
    assert tokens == sum(
        body["answer"]["usage"][name] for body in bodies["iteration"] for name in ("prompt_tokens", "output_tokens")
    )


def test_the_trials_add_up_to_the_evaluations(reading, bodies):
    trials = {name: number for name, (number,) in rows(reading, "trials").items()}
    assert trials.pop("all") == sum(trials.values()) == len(bodies["law"])
    assert trials["late"] == sum(body["late"] is not None for body in bodies["law"])
    counts = Counter(verdict["status"] for verdict in last_verdicts(bodies).values())
    assert {name: number for name, number in trials.items() if name != "late"} == counts


def test_what_was_tried_before_is_what_is_left_of_the_evaluations():
    result = {"evaluations": 9, "laws": {"PROVED": 2, "PASS": 0, "FAIL": 3}, "late": 1}
    assert trials_of(result) == {"PROVED": 2, "FAIL": 3, "late": 1, "of a law that was tried before": 3}


def test_each_iteration_has_its_tokens_laws_and_rejections(reading, bodies):
    told = rows(reading, "iterations")
    assert len(told) == len(bodies["iteration"])
    for number, body in enumerate(bodies["iteration"]):
        laws = [law for law in bodies["law"] if law["iteration"] == number]
        usage = body["answer"]["usage"]
        _, prompt, answered, failure, trials, late, rejected, redundant, moved = told[f"iteration {number}"]
        assert prompt == body["prompt"]["tokens"]
        assert answered == usage["output_tokens"] + usage["thinking_tokens"]
        assert failure == (body["answer"]["failure"] or "")
        assert (trials, late) == (len(laws), sum(law["late"] is not None for law in laws))
        assert (rejected, redundant) == (len(body["rejections"]), len(body["redundant"]))
        assert (moved == "none") == (not any(change["changes"] for change in body["sensitivity"]))


def test_laws_stand_by_their_status_with_what_shows_it(reading, bodies):
    (laws,) = [one for one in reading.sections() if one.id == "laws"]
    order = ["PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR"]
    assert [row.mark for row in laws.rows] == sorted((row.mark for row in laws.rows), key=order.index)
    told = {dict(row.details)["key"].value: row for row in laws.rows}
    assert told.keys() == last_verdicts(bodies).keys()
    for key, verdict in last_verdicts(bodies).items():
        cells = [plain(cell) for cell in told[key].cells]
        accepted = verdict["status"] in ("PROVED", "PASS")
        assert (told[key].mark, cells[0].startswith(verdict["claim"])) == (verdict["status"], True)
        assert cells[3] == (f"{verdict['content']['share'] / 10_000:.2f} %" if accepted else "")
        trials = [body for body in bodies["law"] if body["law"] == key and body["late"] is None]
        assert cells[2] == trials[0]["iteration"]
        again = key in [body["law"] for body in bodies["escalation"]]
        assert plain(dict(told[key].details)["tried"]) == ("twice" if again or len(trials) > 1 else "once")
        if verdict["counterexample"] is not None:
            words = [plain(part) for part in cells[1]]
            assert words == ["ring ", verdict["counterexample"]["start"], f" at step {verdict['counterexample']['t']}"]
        held: list[Any] = next((body["held_out"] for body in bodies["escalation"] if body["law"] == key), [])
        applied = [one["status"] for one in held if one["status"] != "INAPPLICABLE"]
        assert ("on other rules" in dict(told[key].details)) == bool(held)
        assert cells[4] == (f"{applied.count('FAIL')} of {len(applied)}" if accepted else "")


def test_a_claim_names_what_its_observables_and_its_transform_are():
    observables = [{"name": "A", "expr": "count('x')"}, {"name": "B", "expr": "A + 1"}]
    assert claim_text({}, "x") == "x"
    assert claim_text({"observables": observables}, "A > B") == "A > B, where A = count('x'), B = A + 1"
    told = claim_text({"observables": observables[:1], "transform": "mirror"}, "c")
    assert told == "c, where A = count('x'), transform = mirror"


def test_the_reasons_of_rejections_stand_by_how_often_with_the_first_iteration(reading, bodies):
    reasons = [(one["reason"], body["iteration"]) for body in bodies["iteration"] for one in body["rejections"]]
    counts = Counter(reason for reason, _ in reasons)
    assert rows(reading, "rejected") == {reason: [counts[reason], dict(reversed(reasons))[reason]] for reason in counts}
    (late,) = [body for body in bodies["law"] if body["late"] is not None]
    ((name, (match,)),) = rows(reading, "late").items()
    assert (f"law/{name}", match) == (late["law"], late["late"])


def test_proved_laws_and_all_tokens_of_an_answer_are_counted(small, facts, result):
    """Of laws that are all proved, and of an answer that thought."""
    bundle, *_ = small
    evidence: Any = SimpleNamespace(specs=bundle, manifest={"result": result})
    told = DiscoveryReading(evidence)
    for seq, fact in enumerate(facts):
        body = fact.body
        if fact.type == "iteration":
            usage = {**body["answer"]["usage"], "output_tokens": 20, "thinking_tokens": 3}
            body = {**body, "answer": {**body["answer"], "usage": usage}}
        elif fact.type in ("law", "escalation") and body["verdict"]["status"] == "PASS":
            body = {**body, "verdict": {**body["verdict"], "status": "PROVED"}}
        told.add(Receipt(seq, b"", fact.type, body))
    assert {cells[2] for cells in rows(told, "iterations").values()} == {23}
    ((_, _, _, kept, *_),) = rows(told, "yield").values()
    assert kept == "2 (2 proved)"


@pytest.mark.parametrize("count", [0, 1, MOST, MOST + 1, MOST + 60])
def test_a_list_in_a_terminal_has_forty_lines_and_the_number_of_the_others(count):
    lines = listed("laws", [f"law {number}" for number in range(count)])
    shown = min(count, 40)
    assert lines[:1] == (["  laws:"] if count else [])
    assert lines[1 : shown + 1] == [f"    law {number}" for number in range(shown)]
    assert lines[shown + 1 :] == ([f"    and {count - 40} more"] if count > 40 else [])
