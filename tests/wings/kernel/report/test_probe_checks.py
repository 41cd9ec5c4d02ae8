"""The check of a probe in a report: of a failed one the first failure and its causes, of others what they came to."""

from functools import cache

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.overview import headline_of, reason_text
from tests.unit.report.rendering import altered, read, report_of, text_of


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """Five episodes of an honest agent with one probe."""
    sets = ["episodes=5", "horizon=5", "probes=[p5-predictions]"]
    return cache(read)(
        execute(load("axion-basic", kind="scenario", set=sets)[0], tmp_path_factory.mktemp("probed") / "run").place
    )


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


def test_the_headline_names_the_first_failure_and_its_causes_alone(evidence, report):
    probed = [(seq, body) for seq, (type_, body) in enumerate(evidence.bodies()) if type_ == "probe"]
    seq, failed = probed[2]
    made = report(("INCONCLUSIVE", "abstained"), ("INCONCLUSIVE", "noise"), ("FAIL", "inert"))
    said = reason_text(made)
    assert f"first in episode {failed['episode']}, step {failed['t']}, receipt {seq}" in said
    check = checked(made)
    assert [observation.seq for observation in check.observations] == [seq]
    assert check.why.startswith("inert (1): ")
    assert "abstained" not in check.why + "".join(map(str, headline_of(made).meaning))
    assert f"receipt {probed[0][0]}" not in text_of("markdown", made)
