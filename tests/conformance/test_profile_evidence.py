"""What the profiles of the source documents ask of evidence: real evidence answers it. `test_profile_mutations` shows each false.

The receipts are the pinned ones, those of laws, and those of the kernel's acceptance suite on a small seed. Rules about
specs are asked of those that ship. That laws meet their expectations, and suites their checks, other tests of this
folder show.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from specledger.cli.main import _guarded
from specledger.kinds import KINDS, load
from specledger.pipeline.executing import execute
from specledger.report.model import Receipt
from specledger.report.outcome import Outcome
from specledger.report.profile_answers import Answers
from specledger.report.profile_rules import questions_of
from specledger.verify.checks import Verification

ROOT = Path(__file__).parents[2]
SEEDS = ("clatl-overview", "clatl-plan", "law-proposer", "toy-pseudo-axion")
PINNED = ("golden", "suites", "discovery")
SUITE = "axion-m4"
SMALL = ("tuned_on=[]", "mutants=[]", *(f"runs.{arm}.seeds=[3]" for arm in ("honest", "pseudo")))
MADE_SMALL = {"receipts/hundred-episodes.1"}
"""What is not so in the suite made small."""


@cache
def asked(profile):
    """What a profile asks of receipts."""
    found = questions_of(load(profile, kind="profile")[0], KINDS)
    return [question for question in found if question.require is not None]


@cache
def shipped(name):
    return load(name, kind=kind_of(name))[0]


@pytest.fixture(scope="module")
def receipts_of(tmp_path_factory):
    """The receipts of a shipped spec."""
    made = {}

    def receipts(name):
        if name not in made:
            found = [path for folder in PINNED if (path := ROOT / "fixtures" / folder / f"{name}.jsonl").is_file()]
            if name == SUITE:
                sized = [f"runs.{arm}.set={{episodes: 2}}" for arm in ("honest", "pseudo")]
                place = tmp_path_factory.mktemp("profiles") / "suite"
                found = [execute(load(name, kind="suite", set=[*SMALL, *sized])[0], place).place / "receipts.jsonl"]
            elif not found:
                bundle = load(name, kind="law")[0]
                found = [execute(bundle, tmp_path_factory.mktemp("profiles") / name).place / "receipts.jsonl"]
            (file,) = found
            lines = [(line, json.loads(line)) for line in file.read_bytes().splitlines()]
            made[name] = [Receipt(seq, line, read["type"], read["body"]) for seq, (line, read) in enumerate(lines)]
        return made[name]

    return receipts


def answer(question, receipts_of):
    name, stated = question.named.of, question.reads == {"specs"}
    answers = Answers([question], name, kind_of(name), shipped(name) if stated else None)
    for receipt in [] if stated else receipts_of(name):
        answers.add(receipt)
    return [check.outcome for check in answers.checks("key", Verification())]


def kind_of(name):
    return next(
        kind for kind in ("scenario", "suite", "law", "discovery") if (ROOT / f"specs/{kind}/{name}.yaml").is_file()
    )


@pytest.mark.medium
@pytest.mark.parametrize("profile", SEEDS)
def test_real_receipts_answer_whatever_is_asked_of_receipts(profile, receipts_of):
    found = {each.id: answer(each, receipts_of) for each in asked(profile)}
    assert {id_: outcomes for id_, outcomes in found.items() if outcomes != [Outcome.PASSED]} == {
        id_: [Outcome.FAILED] for id_ in MADE_SMALL & found.keys()
    }


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """A run that holds to its rules, one whose gate against hazards is off, one of another document, a damaged one."""
    folder = tmp_path_factory.mktemp("bundles")
    runs = {
        "kept": ("hazard", ["episodes=1"]),
        "broken": ("hazard", ["episodes=1", "governor.gates.hazard=null", "agent=greedy"]),
        "elsewhere": ("axion-basic", []),
    }
    for name, (scenario, changes) in runs.items():
        execute(load(scenario, kind="scenario", set=changes)[0], folder / name)
    execute(load("hazard", kind="scenario", set=["episodes=1"])[0], folder / "damaged")
    receipts = folder / "damaged" / "receipts.jsonl"
    receipts.write_bytes(receipts.read_bytes().replace(b'"chosen":1', b'"chosen":2', 1))
    return folder


@pytest.fixture
def judged(bundles, monkeypatch, capsys):
    """The status of a report of some of the bundles, and by id what it says of each control."""

    def run(*names, profile="clatl-plan"):
        words = [*(str(bundles / name) for name in names), "--format", "json", "--profile", profile]
        monkeypatch.setattr("sys.argv", ["spec", "report", *words])
        status, out = int(_guarded()), capsys.readouterr().out
        return status, {one["id"]: one for one in json.loads(out)["profile"]["controls"]} if out else {}

    return run


@pytest.mark.medium
@pytest.mark.parametrize(
    ("names", "status", "outcome"),
    [(["kept"], 3, "untested"), (["broken"], 1, "failed"), (["kept", "broken"], 1, "failed")],
)
def test_a_broken_rule_fails_the_control_that_is_about_it(names, status, outcome, judged):
    ended, controls = judged(*names)
    assert (ended, controls["hazard-prevented"]["outcome"]) == (status, outcome)


@pytest.mark.medium
def test_evidence_of_something_else_passes_no_control(judged):
    status, controls = judged("elsewhere")
    assert (status, {one["outcome"] for one in controls.values()}) == (3, {"untested"})
    status, controls = judged("elsewhere", profile="toy-pseudo-axion")
    assert [one["outcome"] for one in controls["basic-scenario"]["evidence"]] == ["passed"] * 2
    assert "tests of the project show it, too" in controls["basic-scenario"]["why"]
    assert controls["audit-chained"]["outcome"] == "untested"


def test_damaged_evidence_is_refuted_before_anything_is_judged(judged):
    assert judged("kept", "damaged") == (1, {})


def test_what_is_deferred_says_why(judged):
    _, controls = judged("kept", profile="nist-sp-800-53")
    assert controls["au-10"]["outcome"] == "untested"
    assert controls["au-10"]["why"].startswith("deferred: a report does not look at signatures")
