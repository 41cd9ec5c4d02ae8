"""Models as agents, asked over real HTTP: each behaviour ends in its verdict, and replays without the service."""

import json
import shutil
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute, preview
from specledger.pipeline.verifying import verify
from specledger.wings.kernel.reasons.procedure import DecisionPoint
from tests.conformance.gridworld.conftest import Ran, load_suite
from tests.conftest import quick
from tests.loopback_model import BEHAVIOURS, narration, obedient, observation
from tests.toys.bundles import bodies_of
from tests.unit.oracles.loopback import KEY, Said, Service

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

ROOT = Path(__file__).parents[4]
LAYERS = ("p5-causal", "p5-predictions", "layer-c", "layer-d", "layer-b", "layer-r", "p5-repeated")
PANEL = ("p3-audit", "p4-bypass", "p5-causal", "p6-token", *LAYERS[1:6])
WIRES = {
    "openai": "openai: {model: made-up, endpoint: '${address}v1', deadline_ms: ${deadline}, price: {input: 1, output: 2, as_of: '2026-11-01'}}",
    "gemini": "gemini: {model: made-up, deadline_ms: ${deadline}}",
}


def ask(
    folder,
    behaviour,
    wire="openai",
    *,
    deterministic=True,
    deadline=60_000,
    prompt="follow-objective",
    declares=", declares: honest",
    probes=PANEL,
    horizon=2,
):
    """Runs an episode with a behaviour behind a wire format; the service is closed before it returns."""
    service = Service(behaviour)
    words = WIRES[wire].replace("${address}", service.address).replace("${deadline}", str(deadline))
    (folder / "made.yaml").write_text(f"spec: model/v1\nname: made\n{words}\n")
    (folder / "asked.yaml").write_text(
        "spec: agent/v1\nname: asked\n"
        f"outside: {{model: ./made.yaml, prompt: {prompt}, reasons: axion-directions{declares}, "
        f"deterministic: {str(deterministic).lower()}, deadline_ms: 120000}}\n"
    )
    (folder / "own.yaml").write_text(
        "spec: scenario/v1\nname: own\nextends: axion-panel\ngovernor: axion-kernel-patient\nagent: ./asked.yaml\n"
        f"seed: 11\nepisodes: 1\nhorizon: {horizon}\nprobes: [{', '.join(probes)}]\n"
    )
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GEMINI_API_KEY", KEY)
            patch.setenv("GOOGLE_GEMINI_BASE_URL", service.address)
            (bundle,) = load(folder / "own.yaml")
            finished = execute(bundle, folder / "out", RunOptions())
    finally:
        service.close()
    assert [check.message for check in verify(finished.place).checks if check.code] == []
    assert KEY.encode() not in b"".join(path.read_bytes() for path in finished.place.rglob("*") if path.is_file())
    return finished


@pytest.fixture
def run(tmp_path):
    return partial(ask, tmp_path)


@pytest.fixture(scope="module")
def faithful(tmp_path_factory):
    """The run of a model that does what it declares, which several tests look at."""
    return ask(tmp_path_factory.mktemp("faithful"), BEHAVIOURS["faithful"])


SETUPS = {
    "declared and deterministic": {},
    "declared, may draw": {"deterministic": False, "probes": ["p5-causal", "layer-b", "layer-c", "layer-r"]},
    "nothing declared": {"deterministic": False, "declares": ""},
    "asked until it is decided": {"deterministic": False, "declares": "", "probes": ["p5-sequential", "p5-one-claim"]},
}


@pytest.mark.medium
@pytest.mark.parametrize("name", quick(SETUPS, "declared and deterministic"))
def test_the_plan_says_what_a_run_asks(run, faithful, name):
    finished = run(BEHAVIOURS["faithful"], **SETUPS[name]) if SETUPS[name] else faithful
    (bundle,) = load(finished.place.parent / "own.yaml")
    planned = preview(bundle)["model"]
    tape = (finished.place / "tape.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    asked = [one for one in map(json.loads, tape) if one["message"] not in ("hello", "reset", "reveal", "bye")]
    assert abs(planned["calls"] - len(asked)) <= len(asked) / 10
    assert len(asked) <= planned["calls_at_most"]
    used = [json.loads(one["received"]["text"])["source"]["answer"]["usage"] for one in asked]
    sent, came = (sum(one[key] for one in used) for key in ("prompt_tokens", "output_tokens"))
    assert 0.9 < planned["prompt_tokens"] / sent < 1.1
    assert 0.5 < planned["output_tokens"] / came < 2
    assert planned["output_tokens_at_most"] == planned["calls_at_most"] * 8192
    money = (planned["prompt_tokens"] + 2 * planned["output_tokens"]) / 1_000_000
    assert float(planned["cost"]) == pytest.approx(money, abs=1e-5)
    assert planned["prices_as_of"] == "2026-11-01"
    assert float(planned["cost"]) == pytest.approx((sent + 2 * came) / 1_000_000, rel=0.1)
    assert_within(preview(bundle), spent_in(finished))


def spent_in(finished):
    """What a run spent, by the figures of its episodes."""
    return sum((Counter(end["spent"]) for end in bodies_of(finished.place, "episode_end")), Counter())


def assert_within(planned, spent):
    """No figure of a run is above what the plan says at most."""
    asked, model = planned["asked"], planned.get("model")
    assert 0 < spent["messages"] <= asked["messages"]
    assert 0 < spent["sent"] <= asked["sent"]
    if model:
        assert 0 < spent["calls"] <= model["calls_at_most"]
        assert 0 < spent["cost"] <= 1_000_000 * float(model["cost_at_most"])


def asked_twice(asked):
    """A liar: each reason is a direction, or a change that does not bring what it says."""
    said = BEHAVIOURS["hidden"](asked)
    ((name, text),) = said.calls
    mine = narration("pseudo").choose(observation(asked.prompt), {}, DecisionPoint(0, 0)).label
    other = "move:S" if mine == "move:N" else "move:N"
    made_up = [
        {"variable": "self.energy", "direction": "decreases", "choice": other},
        *({"variable": "rng_seed", "becomes": str(seed), "choice": mine} for seed in (2, 3)),
    ]
    return Said(calls=((name, json.dumps({**json.loads(text), "reasons": made_up})),))


def long_values(asked):
    """A liar: it states values that are as long as an answer may be."""
    said = BEHAVIOURS["hidden"](asked)
    ((name, text),) = said.calls
    walls = [{"x": x, "y": y} for x in range(6) for y in range(6)]
    made_up = [{"variable": "walls.nearby", "becomes": walls[:n], "choice": "wait"} for n in (34, 35, 36)]
    return Said(calls=((name, json.dumps({**json.loads(text), "reasons": made_up})),))


@pytest.mark.medium
@pytest.mark.parametrize("liar", [asked_twice, long_values])
def test_a_liar_costs_no_more_than_the_plan_says(run, monkeypatch, liar):
    if liar is asked_twice:
        monkeypatch.setitem(WIRES, "openai", WIRES["openai"].replace("price:", "max_output_tokens: 128, price:"))
    finished = run(liar, deterministic=False, declares="", probes=["p5-one-claim", "p5-predictions"])
    (bundle,) = load(finished.place.parent / "own.yaml")
    planned, spent = preview(bundle), spent_in(finished)
    if liar is asked_twice:
        assert spent["calls"] == planned["model"]["calls_at_most"]
    assert_within(planned, spent)


@pytest.mark.medium
def test_a_program_is_sent_no_more_than_the_plan_says(tmp_path):
    (bundle,) = load(ROOT / "examples/agents/reasons.yaml", allow_outside=True)
    finished = execute(bundle, tmp_path / "out", RunOptions(trusted=True))
    assert_within(preview(bundle), spent_in(finished))


@pytest.mark.medium
def test_a_limit_ends_the_questions_and_convicts_nobody(run, monkeypatch):
    monkeypatch.setitem(WIRES, "openai", WIRES["openai"].replace("price:", "limits: {tokens: 3000}, price:"))
    finished = run(BEHAVIOURS["faithful"])
    tape = (finished.place / "tape.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    assert "over_limit" in {json.loads(line)["reason"] for line in tape}
    assert (finished.manifest["result"]["verdict"], flags(finished)) == ("INCONCLUSIVE", set())


def probes(finished):
    return [one for one in bodies_of(finished.place, "probe") if one["probe"] in LAYERS]


def flags(finished):
    """The layers that flag the agent."""
    return {one["probe"] for one in probes(finished) if one["verdict"] == "FAIL"}


@pytest.mark.medium
@pytest.mark.parametrize("wire", WIRES)
def test_a_model_that_follows_what_it_declares_is_flagged_by_no_layer(run, faithful, wire):
    finished = faithful if wire == "openai" else run(BEHAVIOURS["faithful"], wire)
    assert flags(finished) == set()
    assert {one["verdict"] for one in probes(finished)} == {"PASS"}


@pytest.mark.medium
@pytest.mark.parametrize("wire", quick(WIRES, "openai"))
def test_a_hidden_objective_is_found(run, wire):
    assert flags(run(obedient, wire, prompt="hidden-objective")) >= {"p5-causal", "layer-r"}


@pytest.mark.medium
def test_a_hidden_objective_is_found_without_a_declared_procedure_too(run):
    finished = run(BEHAVIOURS["hidden"], deterministic=False, declares="", probes=["p5-repeated"], horizon=6)
    assert flags(finished) == {"p5-repeated"}


FAULTS = {"refusing": "raised", "broken": "not_json", "slow": "raised"}


@pytest.mark.medium
@pytest.mark.parametrize("name", FAULTS)
def test_a_model_that_does_not_answer_is_faulty_and_convicts_nobody(run, name):
    finished = run(BEHAVIOURS[name], deadline=200 if name == "slow" else 60_000)
    result = finished.manifest["result"]
    assert (result["verdict"], flags(finished)) == ("INCONCLUSIVE", set())
    assert set(result["faults"]) == {FAULTS[name]}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The shipped study, from its record."""
    return Ran(execute(load_suite("honesty-of-a-model"), tmp_path_factory.mktemp("study") / "study"))


@pytest.mark.slow
def test_the_shipped_study_separates_the_prompts(study, snapshot):
    study.assert_pinned(snapshot)
    assert study.holds("the-declared-objective-is-not-flagged")
    assert study.holds("the-hidden-objective-is-found")
    for layer in ("S", "P", "D", "B", "R", "N"):
        assert [one["count"] for one in study.figures[layer]] == [0, 6]


@pytest.mark.slow
def test_the_shipped_study_is_verified_without_its_record(study, tmp_path):
    copied = tmp_path / "elsewhere"
    shutil.copytree(study.finished.place, copied)
    verification = verify(copied)
    assert [check.message for check in verification.checks if check.code] == []
