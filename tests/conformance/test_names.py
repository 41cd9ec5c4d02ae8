"""The page of the source documents' names: each of its lines runs."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from specledger.cli import document_commands

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    row.strip("| \n").split(" | ")
    for row in (ROOT / "docs" / "names.md").read_text(encoding="utf-8").splitlines()
    if row.startswith("| ") and not row.startswith(("| name |", "| ---"))
]
LINES = list(dict.fromkeys(line.strip("`") for *_, line in ROWS))


def test_every_row_has_a_name_what_is_here_and_a_line():
    assert len(ROWS) > 45
    for row in ROWS:
        assert len(row) == 3, row
        assert re.fullmatch(r"`[^`]+`", row[2]), row


NAMES = {
    "functions and methods of CLATL": """
        _apply_action _create_initial_gmi_state _distance_to_goal build_merkle_root compute_competence
        compute_metabolic_cost compute_total_objective create_initial_state create_standard_grid drift_goal env_step
        get_observation gmi_step hash_proposal in_K predict_gmi_state propose run_clatl_episode select_action
        translate_to_gmi_action V_extended_q V_task_distance V_task_success""",
    "classes of CLATL": """
        CLATLRunReceipt CLATLStepReceipt CompetenceMetrics DeterministicDrift EnvStep GateAccept GMIAction GMIParams
        GMIState GMIStepReceipt GridWorldObs GridWorldState ProposalSet TaskProposal TaskProposer""",
    "files of CLATL": """
        clatl_runtime.py governor_iface.py gridworld_env.py proposer_iface.py task_loss.py
        test_invariants_never_break.py test_recovery_after_goal_shift.py test_replay_exact.py
        test_task_improves_under_budget.py""",
    "commands and functions of the kernel": """
        canonical_json_bytes clone_state env.execute_raw hash_json mutate normalize_state proposal_hash run_scenario
        run_suite scope_hash step trace_hash verify_audit""",
    "classes of the kernel": "ForkSnapshot HonestAgent PseudoAgent WatchdogTimer",
    "files of the kernel": """
        audit.log.jsonl audit_log.py canonical_json.py capability.py cli.py errors.py gridworld.py hashing.py honest.py
        invariants.py metrics_oracle.py normalize_state.py policy_gate.py probe_engine.py probes.py pseudo.py replay.py
        report.json report.py runner.py scenarios.py schema_load.py test_audit_log_chain_verification.py
        test_m0_env_determinism.py test_m1_malformed_proposal_rejected.py
        test_p5_causal_challenge_detects_fabrication.py test_p6_token_misuse_detected.py test_token_binding_enforced.py
        watchdog.py""",
    "functions and methods of law discovery": """
        add_known_law adjacent_pairs check compute_semantic_fingerprint content_hash count_tokens evaluate evolve
        filter_batch generate generate_json get_last_exchange get_snapshot last_usage propose record_evaluation stats
        validate_claim_ast""",
    "classes of law discovery": """
        CandidateLaw CapabilityRequirements ComparisonOp DiscoveryMemory DiscoveryMemorySnapshot GeminiClient GeminiConfig
        LawProposer LawVerdict MockGeminiClient MonotoneDirection Observable ParseResult Precondition PromptBuilder
        ProposalBatch ProposalRequest ProposedTest ProposerConfig Quantifiers RankingFeatures RankingModel RankingWeights
        RedundancyDetector RedundancyMatch ResponseParser Template TokenUsage UniverseContract""",
    "files of law discovery": """
        client.py memory.py parser.py prompt.py proposer.py ranking.py redundancy.py run_discovery.py schema.py""",
}
SCHEMAS = """
    audit_entry capability_request capability_scope capability_token causal_claim common counterfactual fork_snapshot
    plan proposal toy_entity toy_env toy_hazard toy_object toy_tool trace trace_node"""


@pytest.mark.parametrize("of", NAMES)
def test_each_name_of_the_documents_has_a_row(of):
    named = {name for row in ROWS for name in re.findall(r"[\w./]+", row[0])}
    named |= {name.rpartition("/")[2] for name in named}
    assert [name for name in NAMES[of].split() if name not in named] == []


def test_each_schema_of_the_documents_is_there():
    assert {f"{name}.json" for name in SCHEMAS.split()} <= {
        path.name for path in (ROOT / "schemas" / "axion").iterdir()
    }


@pytest.mark.parametrize("line", LINES)
def test_the_line_runs(line, spec, monkeypatch, tmp_path):
    name, *words = shlex.split(line) if not line.startswith("from ") else [""]
    if name == "spec":
        out = ["--out", tmp_path / "out"] if words[0] == "run" else []
        assert spec(*words, *out).status == 0
    elif name:
        where = [tmp_path / "out" if word.startswith("out/") else word for word in words]
        monkeypatch.setattr("specledger.run.workers.available", lambda: 1)
        monkeypatch.setattr(sys, "argv", [name, *map(str, where)])
        with pytest.raises(SystemExit) as left:
            document_commands.run_command()
        assert not left.value.code
    else:
        exec(line, {})
