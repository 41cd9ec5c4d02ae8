"""The study of a model is made as its page says, with the files of the page and a scripted service in the place of one."""

import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import preview
from tests import loopback_model
from tests.conftest import quick
from tests.loopback_model import WRITERS, obedient
from tests.unit.oracles.loopback import KEY, Reply, Service, refusal

PAGE = Path(__file__).parents[2] / "docs/study.md"
START = re.compile(r"## To begin with\n(.*?)\n## ", re.DOTALL)
BLOCK = re.compile(r"^ *```(yaml|sh)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def blocks(language):
    begin = START.search(PAGE.read_text(encoding="utf-8"))
    assert begin is not None
    return [re.sub(r"^   ", "", body, flags=re.MULTILINE) for kind, body in BLOCK.findall(begin[1]) if kind == language]


def test_each_file_of_the_page_names_its_place():
    files = [body.splitlines()[0] for body in blocks("yaml")]
    assert files == [f"# specs/{name}.yaml" for name in (
        "model/mine", "model/mine-recorded", "agent/mine-candid", "agent/mine-covert", "suite/reasons-of-mine"
    )]  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A project with every file of the page."""
    monkeypatch.chdir(tmp_path)
    for kind, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "yaml":
            text = re.sub(r"^   ", "", body, flags=re.MULTILINE) if body.startswith("   ") else body
            file = tmp_path / text.splitlines()[0].removeprefix("# ")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return tmp_path


SUITES = {
    "reasons-of-mine": "reasons-of-a-model",
    "honesty-of-mine": "honesty-of-a-model",
    "noisy-mine": "reasons-of-a-model",
}


@pytest.mark.medium
@pytest.mark.parametrize("suite", quick(SUITES, "reasons-of-mine"))
def test_the_suites_of_the_page_ask_their_own_model_in_every_arm(suite, files):
    arms = {
        name: {arm["arm"]: arm for arm in preview(load(name, kind="suite")[0])["arms"]}
        for name in (suite, SUITES[suite])
    }
    assert arms[suite].keys() == arms[SUITES[suite]].keys()
    (bundle,) = load(suite, kind="suite")
    agents = {run["agent"] for run in bundle.main.data["runs"].values()}
    assert {agent.partition("-")[0] for agent in agents} == {"agent/mine"}


COSTS = {  # the row of the table: of which arm it is
    "`reasons-of-a-model`: `candid`, `covert`, 12 episodes": ("reasons-of-mine", "candid"),
    "`honesty-of-a-model`: `candid`, `covert`, 6 episodes": ("honesty-of-mine", "candid"),
    "`honesty-of-a-model`: `candid_often`, `covert_often`, 6 episodes": ("honesty-of-mine", "candid_often"),
}


@pytest.mark.medium
@pytest.mark.parametrize("row", quick(COSTS, "`honesty-of-a-model`: `candid_often`, `covert_often`, 6 episodes"))
def test_the_figures_of_the_page_are_those_of_the_plan(row, files):
    suite, arm = COSTS[row]
    (cells,) = [
        line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {row} |")
    ]
    (planned,) = [each for each in preview(load(suite, kind="suite")[0])["arms"] if each["arm"] == arm]
    assert [int(cells[column]) for column in (2, 4)] == [planned["calls"], planned["calls_at_most"]]


WRITER = re.compile(r"http://127\.0\.0\.1:\d+/v1\Z")


def test_the_scripted_service_prints_the_address_that_a_model_needs(capsys, monkeypatch):
    monkeypatch.setattr(loopback_model, "Service", lambda behaviour, port: SimpleNamespace(
        address=f"http://127.0.0.1:{port}/", thread=SimpleNamespace(join=lambda: None), close=lambda: None
    ))  # fmt: skip
    for words in ([], ["9000"], *(["--writer", name] for name in WRITERS)):
        loopback_model.main(words)
        assert WRITER.match(capsys.readouterr().out.strip())
    for words in (["--help"], ["x"], ["--writer", "nobody"]):
        with pytest.raises(SystemExit):
            loopback_model.main(words)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads
def test_the_page_leads_to_its_table(tmp_path, monkeypatch, spec):
    monkeypatch.chdir(tmp_path)
    for body in blocks("yaml"):
        file = tmp_path / body.splitlines()[0].removeprefix("# ")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body, encoding="utf-8")
    (lines,) = blocks("sh")
    explained, planned, ran, verified = lines.splitlines()
    service = Service(obedient)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{service.address}v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    try:
        assert "Keep at least 2 steps away from every hazard" in spec(*shlex.split(explained)[1:]).out
        (plan,) = spec(*shlex.split(planned)[1:], "--format", "json").json["plans"]
        table = spec(*shlex.split(ran)[1:]).out
    finally:
        service.close()
    asked = len(service.requests)
    assert abs(plan["model"]["calls"] - asked) <= asked / 10
    assert float(plan["model"]["cost"]) < 3  # at the price of the page, which is that of a small model
    figures = dict(re.findall(r"^ +(\w+\[\w+\]) +rate +[\d.]+ % +(\d+ of \d+),", table, re.MULTILINE))
    assert figures == {
        **{f"{layer}[candid]": "0 of 12" for layer in ("N", "P", "any_layer", "abstained")},
        **{f"{layer}[covert]": "12 of 12" for layer in ("N", "P", "any_layer")},
        "abstained[covert]": "0 of 12",
    }
    monkeypatch.delenv("OPENAI_API_KEY")
    assert spec(*shlex.split(verified)[1:]).status == 0


def absent(_asked):
    return Reply(refusal(404, "NOT_FOUND", "no such model"), 404)


def locked(_asked):
    return Reply(refusal(401, "UNAUTHENTICATED", "no such key"), 401)


CAUSES = {  # how the service answers at first, the limit of tokens at first, and which failure that is
    "another address": (absent, None, "E_MODEL_INVALID"),
    "another key": (locked, None, "E_MODEL_UNAUTHORISED"),
    "a limit": (obedient, 60_000, "E_MODEL_OVER_LIMIT"),
}


@pytest.mark.medium
@pytest.mark.parametrize(
    "cause", [pytest.param(name, marks=() if name == "another key" else pytest.mark.slow) for name in CAUSES]
)
def test_what_failed_on_the_way_to_the_model_is_asked_again(cause, files, monkeypatch, spec):
    behaviour, limit, code = CAUSES[cause]
    service = Service(behaviour)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{service.address}v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    path = files / "specs/model/mine.yaml"
    text = path.read_text(encoding="utf-8")
    run = ("run", "model-reasons", "--set=agent=mine-candid", "--episodes=1", "--workers=1")
    try:
        if limit is not None:
            path.write_text(text.replace("money: 5", f"tokens: {limit}"), encoding="utf-8")
        down = spec(*run, "--record", "--out=down")
        path.write_text(text, encoding="utf-8")
        service.behaviour = obedient
        up = spec(*run, "--record", "--out=up")
    finally:
        service.close()
    assert down.status == 3
    assert re.search(rf"answers? failed on the way to the model \(\d+ {code}\)", down.err)
    assert "--record" in down.err
    assert (up.status, up.err) == (0, "")
    assert spec("verify", "down").status == spec("verify", "up").status == 0
    assert spec(*run, "--out=again").status == 0  # of the record alone
    assert (files / "again/sha256sums").read_bytes() == (files / "up/sha256sums").read_bytes()


@pytest.mark.medium
def test_a_suite_says_what_failed_on_the_way_to_the_model(files, monkeypatch, spec):
    service = Service(locked)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{service.address}v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    few = ("--set=runs.candid.set.episodes=1", "--set=runs.covert.set.episodes=1")
    try:
        done = spec("run", "reasons-of-mine", "--workers=1", "--record", "--out=down", *few)
    finally:
        service.close()
    assert "down: 8 answers failed on the way to the model (8 E_MODEL_UNAUTHORISED)" in done.err
