"""Parts of reports by hand: what was left open, observations, gates, failed probes, calls of a model, witnesses."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.events import Severity
from specledger.oracles.answer import Answer
from specledger.oracles.model import failed
from specledger.report import unanswered as calls
from specledger.report.gate_section import gate_section
from specledger.report.left_open import LeftOpen, mark_of
from specledger.report.markup import escape, shorten, shorten_at_word
from specledger.report.model import Check, Receipt
from specledger.report.observations import Observations, as_int, as_name
from specledger.report.outcome import Outcome, combined
from specledger.report.sections import EpisodeLink, ReceiptLink
from specledger.report.shown_probes import ShownProbes
from specledger.report.witness_words import witness_words

MARKS = [
    (Outcome.FAILED, 2, 1, Severity.FATAL, Severity.FATAL.impact.mark),
    (Outcome.FAILED, 2, 1, Severity.WARN, Severity.WARN.impact.mark),
    (Outcome.CANNOT_TELL, 2, 0, Severity.FATAL, "cannot tell"),
    (Outcome.PASSED, 2, 0, Severity.FATAL, "held"),
    (Outcome.NOT_APPLICABLE, 0, 0, Severity.FATAL, "its condition never held"),
    (Outcome.UNTESTED, 0, 0, Severity.FATAL, "never checked"),
]


@pytest.mark.parametrize(("outcome", "opportunities", "failures", "severity", "mark"), MARKS)
def test_the_row_of_an_invariant_says_what_became_of_it(outcome, opportunities, failures, severity, mark):
    check = Check("invariant/a", "a", None, outcome, opportunities, failures)
    assert mark_of(check, severity.value) == mark


def gap(gate, reason):
    return {"gate": gate, "reason": reason}


def test_what_was_not_judged_is_counted_by_gate_and_by_invariant():
    left = LeftOpen()
    bodies: list[Any] = [
        {"decisions": [{"unjudged": [gap("b", "no sum"), gap("a", "no sum")]}, {}], "unjudged": []},
        {"decisions": [{"unjudged": [gap("b", "no sum")]}]},
        {"unjudged": [{"invariant": "safe", "reason": "late"}]},
        *[{"unjudged": [{"invariant": "safe", "reason": f"reason {number}"}] * 2} for number in range(5)],
    ]
    for body in bodies:
        left.add(body)
    assert list(left.gates()) == [("a: no sum", 1), ("b: no sum", 2)]
    assert left.times("safe") == 11
    assert left.why("safe") == "; ".join(f"reason {number} (2)" for number in range(5))
    assert (left.times("other"), left.why("other")) == (0, "")


def receipt(seq, **body):
    return Receipt(seq, b"{}", "step", body)


def test_the_first_observations_of_a_check_are_kept_and_the_others_counted():
    kept = Observations()
    for seq in range(27):
        kept.note("invariant/a", receipt(seq // 2, episode=1, t=seq), "broken", seq)
    check = kept.of(Check("invariant/a", "a", None, Outcome.FAILED, 30))
    assert (len(check.observations), check.more) == (25, 2)
    assert kept.links("invariant/a") == [ReceiptLink(0), ReceiptLink(1), ReceiptLink(2)]
    assert kept.links("invariant/a", 1) == [ReceiptLink(0)]
    assert kept.steps("invariant/a") == [EpisodeLink(0, 1, 0), *kept.links("invariant/a")]
    assert (kept.links("invariant/b"), kept.steps("invariant/b")) == ([], [])
    assert kept.of(Check("invariant/b", "b", None, Outcome.PASSED, 1)).more == 0


@pytest.mark.parametrize("place", [{"episode": 3}, {"t": 3}, {"run": "a"}])
def test_an_observation_of_no_step_leads_to_its_receipt_alone(place):
    kept = Observations()
    kept.note("check/a", receipt(4, **place), "broken", None)
    assert kept.steps("check/a") == [ReceiptLink(4)]


def test_the_end_of_an_episode_and_the_body_that_is_named_give_the_place():
    kept = Observations()
    kept.note("check/a", receipt(4, episode=0, steps=7), "broken", None)
    kept.note("check/a", receipt(5, episode=0, t=1), "broken", None, {"run": "r", "episode": 2, "t": 0})
    first, second = kept.of(Check("check/a", "a", None, Outcome.FAILED, 2)).observations
    assert (first.run, first.episode, first.t) == (None, 0, 7)
    assert (second.run, second.episode, second.t) == ("r", 2, 0)


def test_what_a_receipt_gives_is_of_its_type():
    assert (as_name("x" * 200), as_name("x" * 201)) == ("x" * 200, "x" * 199 + "\u2026")
    with pytest.raises(TypeError, match="expected a string, found int"):
        as_name(1)
    assert as_int(0) == 0
    with pytest.raises(TypeError, match="expected an int, found bool"):
        as_int(True)


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [("abc", 3, "abc"), ("abcd", 3, "ab\u2026"), ("ab", 1, "\u2026"), ("ab", 0, "\u2026"), ("", 0, "")],
)
def test_a_text_that_is_too_long_ends_in_an_ellipsis(text, most, short):
    assert shorten(text, most) == short


AT_WORDS = {
    "it fits": ("one two", 7, "one two"),
    "within a word": ("one two three four", 16, "one two three\u2026"),
    "between words": ("one two three four", 14, "one two three\u2026"),
    "a long word": ("one twothreefourfive", 12, "one twothre\u2026"),
    "one word": ("abcdefgh", 5, "abcd\u2026"),
}


@pytest.mark.parametrize(("text", "most", "short"), AT_WORDS.values(), ids=AT_WORDS)
def test_a_sentence_ends_with_a_whole_word(text, most, short):
    assert shorten_at_word(text, most) == short


def test_a_long_text_is_escaped_whole():
    assert escape("<" * 1001 + "'\"&>") == "&lt;" * 1001 + "&#39;&quot;&amp;&gt;"


def test_gates_say_how_much_they_rejected_and_whether_they_ever_did():
    section = gate_section(
        {"strict": 1, "idle": 0, "unseen": 0},
        {"strict": 4, "idle": 4, "unseen": 0},
        {"strict": {"require": "x > 0"}},
        {"strict": [ReceiptLink(3)], "idle": [ReceiptLink(4)]},
    )
    marks = {row.name: row.mark for row in section.rows}
    assert marks == {"strict": "held", "idle": "never rejected anything (judged 4)", "unseen": "judged nothing"}
    assert [row.of for row in section.rows] == [1, 0, 0]
    assert ["evidence" in dict(row.details) for row in section.rows] == [False, True, True]


def probe(seq, verdict, agent="", **evidence):
    body = {"probe": "p", "verdict": verdict, "evidence": evidence, **({"agent": agent} if agent else {})}
    return Receipt(seq, b"{}", "probe", body)


@pytest.fixture
def shown(monkeypatch):
    """What is given to the tables of answers: probes, and how many more there are."""
    given: list[Any] = []

    def answer_tables(probes, more):
        given.append((list(probes), more))
        return []

    meanings = SimpleNamespace(answer_tables=answer_tables)
    monkeypatch.setattr("specledger.report.shown_probes.meanings", lambda: meanings)
    return given


@pytest.mark.parametrize(("failed", "expected", "more"), [(0, range(25), 5), (1, [99], 0)])
def test_where_no_probe_failed_those_that_tested_reasons_are_shown(failed, expected, more, shown):
    probes = ShownProbes({})
    for seq in range(30):
        probes.probed("one", probe(seq, "PASS" if seq else "INCONCLUSIVE", trials=[{}]))
    probes.probed("two", probe(40, "PASS", taken=False))
    for _ in range(failed):
        probes.probed("one", probe(99, "FAIL"))
    assert list(probes.sections()) == []
    ((listed, rest),) = shown
    assert ([given.seq for given in listed], rest) == ([*expected], more)


def test_failed_probes_are_shown_with_what_their_agent_had_committed_to(shown):
    probes = ShownProbes({})
    probes.committed(
        Receipt(0, b"{}", "commit", {"proposals": [{"document": "of a"}, {"document": "x"}], "agent": "a"})
    )
    probes.committed(Receipt(1, b"{}", "commit", {"proposals": [{"document": 1}]}))
    probes.probed("one", probe(2, "PASS", "a"))
    for seq in range(27):
        probes.probed("one", probe(seq, "FAIL", "a" if seq else ""))
    probes.committed(Receipt(3, b"{}", "commit", {"proposals": [], "agent": "a"}))
    assert list(probes.sections()) == []
    ((failed_probes, more),) = shown
    assert (len(failed_probes), more) == (25, 2)
    assert [each.document for each in failed_probes[:2]] == [None, "of a"]


ANYWHERE: Any = ["one"]


def answers(monkeypatch, *answered):
    """What is said of answers: each a failure of the model, the reason of the agent, or neither."""
    given = [Answer(b"", "raised" if cause or reason else "", reason) for cause, reason, _ in answered]
    models = iter([failed(cause, detail) if cause else SimpleNamespace(failure=None) for cause, _, detail in answered])
    monkeypatch.setattr(calls, "answers_of", lambda folder: given)
    monkeypatch.setattr(calls, "model_answer", lambda answer: next(models))
    return calls.unanswered(ANYWHERE)


def test_answers_of_a_model_that_gave_no_statement_are_counted_by_their_causes(monkeypatch):
    assert answers(monkeypatch, ("", "", "")) == ""
    assert answers(monkeypatch, ("", "no_call", ""), ("", "", "")) == (
        "1 of 2 calls of the model failed: 1 no_call (the model called no function)"
    )
    assert answers(monkeypatch, ("", "b", ""), ("", "arguments", ""), ("", "b", ""), ("", "c", "")) == (
        "4 of 4 calls of the model failed: 2 b; 1 arguments (the arguments are no JSON object); 1 c"
    )
    assert answers(monkeypatch, *(("", f"cause {number}", "") for number in range(4))).endswith("; and 1 other cause")
    assert answers(monkeypatch, *(("", f"cause {number}", "") for number in range(5))).endswith("; and 2 other causes")


def test_an_answer_that_no_model_gave_is_no_call(monkeypatch):
    monkeypatch.setattr(calls, "answers_of", lambda folder: [Answer(b"x", "raised", "died")])
    monkeypatch.setattr(calls, "model_answer", lambda answer: None)
    assert calls.unanswered(ANYWHERE) == ""


@pytest.mark.parametrize(
    ("value", "expression", "text"),
    [
        (250_000, "often.value", "25.00 %"),
        (250_000, " often.wilson.low ", "25.00 %"),
        (250_000, "often.cluster.high", "25.00 %"),
        (250_000, "often.bound", "25.00 %"),
        (250_000, "often.of", "250000"),
        (250_000, "often.value + 1", "250000"),
        (1_500_000, "usual.value", "1.500"),
        (750_000, "minimum(often.filter(f, f.name != 'a').map(f, f.value), 0)", "75.00 %"),
        (750_000, "minimum(often.map(f, f.of), 0)", "750000"),
        (7, "all.value", "7"),
        (True, "often.value", "true"),
        (7, "unknown.value", "7"),
        (7, "", "7"),
    ],
)
def test_a_witness_is_shown_in_the_units_of_the_figure_that_it_reads(value, expression, text):
    statistics = {"often": "rate", "usual": "mean", "all": "sum"}
    figures: Any = [{"figure": name, "statistic": statistic} for name, statistic in statistics.items()]
    assert witness_words({"x": value}, {"x": expression} if expression else {}, figures) == {"x": text}


WORST = [Outcome.FAILED, Outcome.CANNOT_TELL, Outcome.UNTESTED, Outcome.DIFFERS, Outcome.PASSED, Outcome.NOT_APPLICABLE]


@pytest.mark.parametrize("place", range(len(WORST)))
def test_the_worst_outcome_is_the_combined_one(place):
    assert combined(WORST[place:]) is combined(reversed(WORST[place:])) is WORST[place]


def test_no_outcome_at_all_is_untested():
    assert combined([]) is Outcome.UNTESTED
