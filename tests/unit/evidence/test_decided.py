"""How many challenges were decided stands beside a verdict, wherever that is shown first."""

import io
import json
from contextlib import redirect_stdout

import pytest

from specledger.evidence.decided import challenges_of, decided_words
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from tests.toys.suites import suite_of_calls
from tools import verify as tool

pytestmark = pytest.mark.wing("challenges")

OPEN = {"PASS": 2, "INCONCLUSIVE": 8}
WORDS = ": 12 of 24 challenges decided (words-cut, words-filler)"


def test_only_probes_that_left_something_open_are_counted_in_words():
    results = [{"probes": {"whole": {"PASS": 90}, "honest": OPEN}}, {"probes": {"honest": {"FAIL": 1}}}, {}]
    challenges = challenges_of(results)
    assert challenges == {"honest": {"total": 11, "decided": 3}, "whole": {"total": 90, "decided": 90}}
    assert decided_words(challenges) == ": 3 of 11 challenges decided (honest)"
    assert decided_words({"whole": challenges["whole"]}) == decided_words({}) == ""


def test_many_probes_are_counted_and_the_first_named():
    challenges = {name: {"total": 2, "decided": 1} for name in "abcde"}
    assert decided_words(challenges) == ": 5 of 10 challenges decided (a, b, c and 2 more)"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A run that passes with half of the challenges of two probes undecided, and a suite of it."""
    folder = tmp_path_factory.mktemp("decided")
    for name, target in (("run", "cues"), ("suite", suite_of_calls(folder, "asked", cues="cues"))):
        (bundle,) = load_runs([target], [])
        execute(bundle, folder / name)
    return folder


@pytest.mark.parametrize("name", ["run", "suite"])
def test_a_pass_says_first_how_many_challenges_were_decided(spec, places, name, tmp_path):
    place = places / name
    challenges = {"total": 12, "decided": 6}
    (subject,) = spec("report", place, "--format", "json").json["subjects"]
    assert (subject["verdict"], subject["challenges"]["words-cut"]) == ("PASS", challenges)
    title = spec("report", place, "--format", "markdown").out.splitlines()[0]
    assert title.endswith(f": PASS `{WORDS.removeprefix(': ')}` (not replayed)")
    spec("report", place, "--format", "html", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f"PASS</span>{WORDS} <span" in page
    assert f": PASS{WORDS} (not replayed)</title>" in page
    verified = spec("verify", place, "--no-replay")
    assert f"recorded       verdict PASS{WORDS}: what the run found" in " ".join(verified.out.split("\n"))
    facts = spec("verify", place, "--no-replay", "--format", "json").json["facts"]
    assert facts["recorded"]["challenges"]["words-filler"] == challenges
    printed = io.StringIO()
    with redirect_stdout(printed):
        tool.main([str(place), "--json"])
    assert json.loads(printed.getvalue())["recorded"]["challenges"] == facts["recorded"]["challenges"]
    with redirect_stdout(printed):
        tool.main([str(place)])
    assert "recorded  challenges of words-cut: 6 of 12 decided" in printed.getvalue()


def test_the_first_line_about_a_run_and_a_suite_says_it(spec, places, tmp_path):
    done = spec("run", "cues", "--out", tmp_path / "run")
    assert done.out.startswith(f"cues  PASS{WORDS}  ")
    assert spec("run", places / "asked.yaml", "--out", tmp_path / "suite").out.startswith(
        f"asked  PASS{WORDS}  1 run, "
    )
    (told,) = spec("run", "cues", "--out", tmp_path / "json", "--format", "json").json["runs"]
    assert told["challenges"]["words-cut"] == {"total": 12, "decided": 6}
