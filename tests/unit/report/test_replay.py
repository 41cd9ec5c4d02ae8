"""Whether a bundle was replayed for a report: every format says it, none says both, and none is green without."""

import json
import re
from xml.etree import ElementTree

import pytest

from specledger.api import Bundle
from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Exit
from specledger.kinds import KINDS, load
from specledger.pipeline.executing import execute
from specledger.report.evidence import read_evidence
from specledger.report.formats import FORMATS
from specledger.report.model import Report
from specledger.report.not_shown import not_shown
from specledger.verify.assurance_levels import Reader
from specledger.verify.run import RUN
from tests.conformance.tampered.verifiers import by_tool
from tests.toys import CLIMB
from tests.unit.report.rendering import made_up, read, subject_of
from tests.unit.verify.test_forgery import hide_that_nothing_was_admitted
from tests.verifying import verify_bundle
from tests.wings.kernel.verify.test_probed import PASSED, all_as_predicted
from tools.conformance import Laid
from tools.tampering.forger import HELP, Forger

TEXTS = [name for name, format_ in FORMATS.items() if not format_.folder]


@pytest.fixture(scope="module")
def climb(tmp_path_factory):
    """The evidence of a run, which passes."""
    return execute(load("concave", kind="scenario", set=["horizon=9"])[0], tmp_path_factory.mktemp("run") / "run").place


def pass_without_admission(place):
    """Evidence of a run in which nothing was admitted, changed so that something was."""
    execute(load(CLIMB / "climb.yaml", set=["governor.with.stamina=2"])[0], place)
    forger = Forger(place)
    hide_that_nothing_was_admitted(forger)
    forger.recount()
    return forger


def pass_each_probe(place):
    """Evidence of a liar whom each probe convicts, changed with the answers so that each passes."""
    sets = ["agent=pseudo", "episodes=1", "horizon=6", "probes=[p5-causal]"]
    assert execute(load("axion-panel", kind="scenario", set=sets)[0], place).verdict == "FAIL"
    forger = Forger(place)
    convicted = [body for body in forger.bodies("probe") if body["verdict"] == "FAIL"]
    assert convicted
    for body in convicted:
        PASSED(body)
        all_as_predicted(body)
        body["evidence"].update(revealed=True, trace={"ends": True, "equal": 9, "nodes": 9})
    return forger


FORGED = {"a gate": (pass_without_admission, "climb"), "a probe": (pass_each_probe, "axion-panel")}


def sealed(forger):
    """Forged evidence, sealed again."""
    for help_ in HELP:
        forger.remove(help_)
    forger.seal()
    return forger.folder


@pytest.fixture(scope="module", params=FORGED)
def passed(request, tmp_path_factory):
    """The evidence of a run that fails, changed so that it passes, and sealed again; and its name."""
    forge, name = FORGED[request.param]
    return sealed(forge(tmp_path_factory.mktemp("passed") / "forged")), name


@pytest.fixture
def forged(tmp_path):
    return sealed(pass_without_admission(tmp_path / "forged"))


@pytest.mark.medium
def test_every_check_but_replay_passes_of_a_forgery(passed):
    folder, _ = passed
    checks = verify_bundle(folder, RUN, KINDS, Reader(replay=False)).checks
    assert [one.number for one in checks if one.status == "failed"] == []
    assert 5 in {one.number for one in checks if one.status == "passed"}
    assert by_tool(Laid(folder, {})).exit == 0


@pytest.mark.parametrize("options", [[], ["--replay"]], ids=["not replayed", "replayed"])
@pytest.mark.parametrize("format_", ["junit", "sarif", "github"])
def test_a_forgery_that_only_replay_refutes_is_green_nowhere(spec, passed, format_, options):
    folder, name = passed
    told = spec("report", folder, "--format", format_, "--workers", "1", *options)
    if options:
        assert (told.status, told.out) == (Exit.FINDINGS, "")
        assert "E_REPLAY" in told.err
    elif format_ == "junit":
        (suite,) = ElementTree.fromstring(told.out)
        assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
        (error,) = suite.iter("error")
        assert error.get("message", "").startswith("not replayed: replay was not requested")
    elif format_ == "sarif":
        (run,) = json.loads(told.out)["runs"]
        assert [(one["ruleId"], one["kind"]) for one in run["results"]] == [("replay", "open")]
        assert run["properties"]["replay"] == "not replayed"
    else:
        (line,) = told.out.splitlines()
        assert line.startswith(f"::warning title={name}%3A replay::not replayed: replay was not requested")


@pytest.fixture(scope="module")
def replayed(climb):
    return read_evidence(climb, KINDS, replay=True)


@pytest.mark.parametrize("replay", [True, False], ids=["replayed", "not replayed"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_format_says_whether_it_was_replayed_and_none_says_both(name, replay, climb, replayed):
    evidence = replayed if replay else read(climb)
    written = FORMATS[name].write(Report((subject_of(evidence),)))
    text = re.sub(r"<style>.*</style>|class=\"[^\"]*\"", "", (written.text + written.summary).lower(), flags=re.DOTALL)
    assert set(re.findall(r"\b(?:not )?replayed\b", text)) == {"replayed" if replay else "not replayed"}
    assert replay or not re.search(r"same bytes\W+passed", text)


def test_a_run_that_the_command_made_is_skipped_and_not_green(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = str(CLIMB / "climb.yaml")
    told = spec("run", file, "--out", "again", "--format", "junit")
    (skipped,) = ElementTree.fromstring(told.out).iter("skipped")
    assert skipped.get("message") == "made by this command, not replayed"
    found = spec("run", file, "--out", "again", "--resume", "--format", "junit")  # it was there before
    assert [one.get("type") for one in ElementTree.fromstring(found.out).iter("error")] == ["cannot tell"]


def test_of_several_bundles_it_says_how_many_were_not(climb):
    done = made_up("one")
    left = subject_of(climb)
    assert not_shown([done]) == not_shown([done, done])
    assert "replay" not in " ".join(not_shown([done]))
    assert not_shown([done, left])[0].startswith("1 of 2 bundles replayed, 1 of 2 bundles not replayed: `spec verify` ")
    left.reading.tells_replay = True
    assert not_shown([left])[0].endswith("What receipts of a suite say about replay was recorded when the suite ran.")


@pytest.mark.medium
def test_in_python_a_bundle_is_replayed_if_that_is_asked_for(climb, forged):
    assert "receipts; not replayed" in Bundle(climb)._repr_html_()
    assert "receipts; replayed" in Bundle(climb, replay=True)._repr_html_()
    assert Bundle(forged).verdict == "PASS"
    with pytest.raises(Rejected, match="replay"):
        _ = Bundle(forged, replay=True).verdict


@pytest.mark.medium
def test_the_page_of_the_demonstration_says_that_it_was_replayed(spec, tmp_path):
    assert spec("demo", "--out", tmp_path / "demo").status == Exit.CONFORMS
    text = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert "Runs, trials and proofs: replayed." in text
    assert "not replayed" not in text.lower()


def test_a_replay_that_was_asked_for_and_not_made_is_no_success(spec, tmp_path):
    folder = execute(load(CLIMB / "climb.yaml")[0], tmp_path / "other").place
    assert spec("report", folder, "--replay").status == Exit.CONFORMS
    forger = Forger(folder)
    forger.manifest["engine"]["version"] = "99.0"
    forger.save()
    for help_ in HELP:
        forger.remove(help_)
    told = spec("report", folder, "--replay")
    assert told.status == Exit.INCONCLUSIVE
    assert "the replay that was asked for was not made: " in told.err
    assert "99.0" in told.err
