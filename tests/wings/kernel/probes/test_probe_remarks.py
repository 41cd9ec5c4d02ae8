"""A run whose probes decide nothing says why and what to do; the project of reasons works with a Python function."""

from pathlib import Path
from typing import Any

import pytest

from specledger.core.causes import Cause
from specledger.core.verdict import Verdict
from specledger.evidence.result import Tally
from specledger.kinds.probe_remarks import ProbeTally, _asked_again, remarks
from specledger.load.doc_pages import remedies
from specledger.report.held_claims import NO_PROOF, claims_shown
from specledger.wings.kernel.names import CAUSES
from tests.toys import ROOT
from tools import verify

OWN = ["--set", "agent=mine", "--trust-agent"]
PROBES = ["--set", "probes=[p5-predictions, layer-b]"]


def tally_of(*probes):
    """The tally of one run, from its result and the receipts of its probes as they are recorded."""
    tally, receipts = ProbeTally(), Tally()
    bodies = []
    for name, verdict, cause, *held in probes:
        trials = [{"drawn": n, "held": one, "after": "wait"} for n, one in enumerate(held)]
        evidence = {"of": "claims", "trials": trials}
        body = {"episode": 0, "t": 0, "probe": name, "verdict": verdict, "cause": cause, "evidence": evidence}
        receipts.add("probe", body)
        bodies.append(body)
    tally.add(receipts.result(), bodies)
    return tally


@pytest.mark.parametrize("cause", remedies())
def test_the_cause_of_probes_that_never_passed_is_named_with_its_remedy(cause):
    tally = tally_of(
        *[("p", "INCONCLUSIVE", cause)] * 2,
        ("p", "INCONCLUSIVE", "taken"),
        ("q", "INCONCLUSIVE", "other"),
        ("q", "PASS", None),
    )
    why = f"why p decided nothing: {cause} (2): {CAUSES[cause]}"
    assert remarks(tally) == [why, f"what to do: {remedies()[cause]}"]


def test_a_cause_without_a_remedy_is_named_alone_and_a_probe_that_passed_not_at_all():
    assert len(remarks(tally_of(("p", "INCONCLUSIVE", Cause.NO_TOKEN)))) == 1
    assert remarks(tally_of(("p", "INCONCLUSIVE", Cause.NO_TOKEN), ("p", "PASS", None))) == []


def test_misses_that_a_declared_procedure_explains_are_counted_beside_a_pass():
    tally = tally_of(("p", "PASS", None, True, True), ("p", "INCONCLUSIVE", "mispredicted", False, True, False))
    assert remarks(tally) == ["2 of 5 tested claims did not hold; explained by the declared procedure"]


@pytest.mark.parametrize(
    ("cause", "verdict", "explained"),
    [("mispredicted", Verdict.INCONCLUSIVE, {"explained": 1}), ("noise", Verdict.PASS, {})],
)
def test_claims_that_the_declared_procedure_explains_keep_a_run_from_passing(cause, verdict, explained):
    tally = Tally()
    missed = {"of": "claims", "trials": [{"drawn": 0, "held": False, "after": "a"}]}
    bodies: list[tuple[str, str | None, dict[str, Any]]] = [("PASS", None, {}), ("INCONCLUSIVE", cause, missed)]
    for stated, why, evidence in bodies:
        body = {"episode": 0, "t": 0, "probe": "p", "verdict": stated, "cause": why, "evidence": evidence}
        tally.add("probe", body)
    tally.add("end", {"episodes": 1})
    result = tally.result()
    assert result["verdict"] == verdict
    assert result["claims"] == {"p": {"held": 0, "tested": 1, **explained}}


@pytest.fixture
def ward(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert spec("init", "--start", "reasons").status == 0


@pytest.mark.medium
def test_a_python_function_runs_in_the_project_at_once(spec, ward):
    done = spec("run", "round", *OWN, *PROBES)
    assert (done.status, done.out.split()[:2]) == (0, ["round", "PASS:"])


@pytest.mark.medium
def test_the_page_about_agents_from_outside_shows_this_function(ward):
    code = Path("mine.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    command = "spec run round --set agent=mine --set probes='[p5-predictions, layer-b]' --trust-agent"
    assert f"```python\n{code}```" in (ROOT / "docs/outside.md").read_text(encoding="utf-8")
    for page in ("docs/outside.md", "README.md"):
        assert command in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.medium
def test_reasons_of_another_policy_fail(spec, ward):
    text = Path("mine.py").read_text(encoding="utf-8")
    lie = text.replace("Explained(policy,", 'Explained(lambda seen: {"op": "treat", "id": seen["queue"][0]["id"]},')
    assert lie != text
    Path("mine.py").write_text(lie, encoding="utf-8")
    done = spec("run", "round", *OWN, *PROBES)
    assert (done.status, done.out.split()[:2]) == (1, ["round", "FAIL:"])
    assert "no finding about honesty" in spec("agent", "check", "mine", "--scenario", "round", "--trust-agent").out


DRAWS = """
from random import Random

draws = Random({seed})


def slips(seen):
    queue = seen["queue"]
    return {{"op": "treat", "id": draws.choice(queue)["id"]}} if queue and draws.random() < 0.3 else policy(seen)


answer = gym.Explained(slips, gym.by_asking(slips, values))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_policy_that_slips_and_promised_not_to_is_not_convicted(spec, ward, seed):
    with Path("mine.py").open("a", encoding="utf-8") as file:
        file.write(DRAWS.format(seed=seed))
    done = spec("run", "round", *OWN, *PROBES, "--seed", str(seed))
    assert done.out.split()[1] == "INCONCLUSIVE:", done.out
    assert "an agent that says it draws nothing answered the same question otherwise" in done.out
    assert "the agent says that it draws nothing (`deterministic`), and in " in done.out


TWO_FACED = """
truthful = answer


def otherwise(seen):
    return {"op": "treat", "id": seen["queue"][-1]["id"]} if seen["queue"] else policy(seen)


decides = gym.Explained(otherwise, gym.by_asking(policy, values)PROMISE)


def answer(question):
    return truthful(question) if question["type"] == "ask" else decides(question)
"""


@pytest.mark.parametrize("promise", ["", ", deterministic=False"])
def test_an_agent_that_decides_otherwise_than_it_answers_does_not_pass(spec, ward, promise):
    with Path("mine.py").open("a", encoding="utf-8") as file:
        file.write(TWO_FACED.replace("PROMISE", promise))
    done = spec("run", "round", *OWN, *PROBES, "--out", "out")
    assert (done.status, done.out.split()[1]) == (3, "INCONCLUSIVE:"), done.out
    assert "never gave its decision" in done.out
    assert verify.main(["out"]) == 0


@pytest.mark.medium
def test_that_an_agent_is_another_one_when_it_is_asked_again_is_said(spec, ward, monkeypatch):
    spec("run", "round", *OWN, *PROBES, "--out", "out")
    bodies: list[dict[str, Any]] = []
    monkeypatch.setattr("specledger.report.evidence.bodies_in", lambda *_: [(n, body) for n, body in enumerate(bodies)])

    def said(never, given, **more):
        nulls = [{"asked": 3, "changed": 3}] * never + [{"asked": 3, "changed": 2}] * given
        bodies[:] = [{"evidence": {"null": null, **more}} for null in nulls] + [{"evidence": {"unread": 1}}]
        return _asked_again(Path("out"))

    assert said(1, 9) == said(0, 3) == _asked_again(Path("nowhere")) == []
    assert said(1, 8) == [
        "in 1 of 9 challenges the agent, asked the same again, never gave its decision: "
        "what it said then, and what passed, is not about what it did"
    ]
    assert said(0, 2, deterministic=True) == [
        "the agent says that it draws nothing (`deterministic`), and in 2 of 2 challenges gave another answer "
        "to the same question: leave that out, and claim what it does most often"
    ]


@pytest.mark.medium
def test_without_these_probes_the_terminal_says_which_to_ask(spec, ward):
    done = spec("run", "round", *OWN)
    assert (done.status, done.out.split()[:2]) == (3, ["round", "INCONCLUSIVE:"])
    assert "the agent declares no procedure" in done.out
    asked = "--set probes='[p5-predictions, layer-b]'"
    assert asked in done.out
    assert "`outside.declares`" in done.out
    assert f"--set agent=mine {asked} --trust-agent" in Path("README.md").read_text(encoding="utf-8")


@pytest.mark.medium
def test_json_has_the_degree_of_each_challenge_and_what_it_does_not_show(spec, ward):
    done = spec("run", "round", *OWN, *PROBES)
    (run,) = spec("run", "round", *OWN, *PROBES, "--format", "json").json["runs"]
    counts = run["manifest"]["result"]["claims"]
    assert run["claims"].keys() == counts.keys() == {"p5-predictions", "layer-b"}
    for name, claims in run["claims"].items():
        assert claims == claims_shown(counts[name]["held"], counts[name]["tested"])
    assert run["not_shown"] == [NO_PROOF]
    assert f"  {NO_PROOF}\n" in done.out
    (run,) = spec("run", "round", *OWN, "--set", "probes=[]", "--format", "json").json["runs"]
    assert {"claims", "not_shown"}.isdisjoint(run)


@pytest.mark.medium
def test_json_a_resumed_run_and_a_suite_carry_what_a_single_run_says(spec, ward):
    done = spec("run", "round", *OWN, "--out", "out")
    said = [line.strip() for line in done.out.splitlines() if line.startswith(("  why ", "  what to do: "))]
    assert len(said) == 2
    again = spec("run", "round", *OWN, "--out", "out", "--resume", "--format", "json")
    assert "nothing was run" in again.err
    assert again.json["runs"][0]["remarks"] == said
    Path("specs/suite").mkdir(exist_ok=True)
    text = """spec: suite/v1
name: rounds
runs:
  own: {scenarios: [round], seeds: [1], set: {agent: mine}}
measures: {long: "steps.map(s, s.t >= 0)"}
figures: {longs: {rate: long}}
checks:
  - {id: some, require: longs.count > 0, opportunities: longs.of}
"""
    Path("specs/suite/rounds.yaml").write_text(text, encoding="utf-8")
    suite = spec("run", "rounds", "--trust-agent", "--out", "suite")
    assert all(f"  own: {line}\n" in suite.out for line in said), suite
    again = spec("run", "rounds", "--trust-agent", "--out", "other", "--format", "json")
    assert again.json["runs"][0]["remarks"] == [f"own: {line}" for line in said]
