"""The check of a probe in a report: of a failed one the first failure and its causes, of others what they came to."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.evidence.layout import RECEIPTS
from specledger.kinds import load
from specledger.kinds.probe_remarks import probe_counts
from specledger.pipeline.executing import execute
from specledger.report.overview import headline_of, reason_text
from tests.unit.report.rendering import altered, read, report_of, text_of


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """Five episodes of an honest agent with one probe."""
    sets = ["episodes=5", "horizon=5", "probes=[p5-predictions]"]
    bundle = load("axion-basic", kind="scenario", set=sets)[0]
    return read(execute(bundle, tmp_path_factory.mktemp("probed") / "run").place)


@pytest.fixture
def report(evidence):
    """The report of this run after its probes came to other verdicts, in order; those left over passed."""

    def make(*ends):
        def change(bodies):
            for body, (verdict, cause) in zip(bodies["probe"], ends, strict=False):
                body.update(verdict=verdict, cause=cause)

        return report_of(altered(evidence, change))

    return make


def checked(report):
    return next(check for check in report.subjects[0].checks if check.id == "probe/p5-predictions")


def test_the_headline_names_the_first_failure_with_its_causes_then_why_others_decided_nothing(evidence, report):
    probed = [(seq, body) for seq, (type_, body) in enumerate(evidence.bodies()) if type_ == "probe"]
    seq, failed = probed[2]
    made = report(("INCONCLUSIVE", "abstained"), ("INCONCLUSIVE", "noise"), ("FAIL", "inert"))
    said = reason_text(made)
    assert f"first in episode {failed['episode']}, step {failed['t']}, receipt {seq}" in said
    check = checked(made)
    assert [observation.seq for observation in check.observations] == [seq]
    assert check.why.startswith("inert (1): ")
    assert check.why.endswith(". 2 passed, 1 failed, 1 inconclusive: noise, 1 could not be asked: abstained")
    assert "could not be asked: abstained" in "".join(map(str, headline_of(made).meaning))
    assert f"receipt {probed[0][0]}" not in text_of("markdown", made)


ENDS = {
    "could not be asked": ([("INCONCLUSIVE", "abstained")] * 2, "3 passed, 2 could not be asked: abstained"),
    "was not decided": (
        [("INCONCLUSIVE", "noise"), ("INCONCLUSIVE", "no_aim")],
        "3 passed, 1 inconclusive: noise, 1 could not be asked: no_aim",
    ),
    "never passed": ([("INCONCLUSIVE", "abstained")] * 5, ""),
    "always passed": ([], ""),
}


@pytest.mark.parametrize(("ends", "words"), ENDS.values(), ids=ENDS)
def test_what_a_probe_that_passed_in_part_came_to_is_said_in_the_same_words_everywhere(report, tmp_path, ends, words):
    made = report(*ends)
    (row,) = next(section for section in made.subjects[0].reading.sections() if section.id == "probes").rows
    said = checked(made).why.partition(". ")[0]
    shown = probe_counts(finished(made, tmp_path))
    if words:
        assert (row.mark, said) == (words, words)
        assert shown == [f"  probes: p5-predictions {words}"]
        assert words in text_of("html", made)
    else:
        assert "passed" not in row.mark + said


def test_the_terminal_says_why_a_probe_that_failed_decided_nothing_elsewhere(report, tmp_path):
    made = report(("INCONCLUSIVE", "abstained"), ("FAIL", "inert"))
    words = "3 passed, 1 failed, 1 could not be asked: abstained"
    assert probe_counts(finished(made, tmp_path)) == [f"  probes: p5-predictions {words}"]
    (row,) = next(section for section in made.subjects[0].reading.sections() if section.id == "probes").rows
    assert row.mark == "FAIL"


def finished(report, folder):
    """The finished run of a report, as the terminal is given it."""
    (subject,) = report.subjects
    (folder / RECEIPTS).write_bytes(b"".join(line + b"\n" for line in subject.evidence.receipts.lines()))
    made: Any = SimpleNamespace(place=folder, manifest=subject.manifest)
    return made
