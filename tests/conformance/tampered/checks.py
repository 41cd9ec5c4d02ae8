"""The names of all numbered checks, read off the engine's source, and which of them no case is about, and why."""

import re

from specledger.verify.check_names import all_names as names_of_checks


def all_names():
    """The name of every check, with `…` for what is put in."""
    return {name.replace("{place}", "…") for name in names_of_checks()}


def same(name, made):
    """Whether a check that was made has this name."""
    return re.fullmatch(".*".join(map(re.escape, name.split("…"))), made) is not None


REPLAYS = {
    "scenario": "replay gives the same bytes",
    "law": "replay gives the same bytes",
    "discovery": "replay gives the same bytes",
    "suite": "replay of every run gives the same bytes",
}
"""By kind the check of replay, which each makes in its own way."""

TAMPERED, VERIFY = "conformance/tampered", "unit/verify"
OPTION = "the protocol of the cases has no such option of the reader"
ALONE = "it is of evidence of another kind than a bundle, which is no case"
READ = "it is noted once reading has refused nothing, and reading is what refuses"
ELSEWHERE = {
    "the first receipt matches the specs": (OPTION, VERIFY, "test_forgery", "test_a_forged_bundle_is_whole_in_itself_and_replay_tells"),
    "a trusted authority issued the time stamp": (OPTION, VERIFY, "test_timestamps", "test_a_wrong_signature_refutes_the_bundle"),
    "an independent evaluator agrees with every verdict of an expression": (OPTION, VERIFY, "test_judge", "test_a_disagreement_names_the_verdict_and_refutes"),
    "the run log announced this run before it recorded this result": (OPTION, "unit/cli", "test_log", "test_a_run_is_announced_and_entered_and_verify_tells_which_attempt_it_is"),
    "the receipt is canonical and matches the leaf and the number in the proof": (ALONE, VERIFY, "test_proof", "test_a_single_fault_in_a_proof_is_refused"),
    "the path leads from the leaf to the root": (ALONE, VERIFY, "test_proof", "test_a_single_fault_in_a_proof_is_refused"),
    "the run is the expected one": (ALONE, VERIFY, "test_proof", "test_the_signatures_of_a_checkpoint_are_those_of_the_proof"),
    "enough trusted keys signed a checkpoint of this head": (ALONE, VERIFY, "test_proof", "test_a_forged_checkpoint_is_refuted_and_none_is_not_enough"),
    "size and root match the checkpoint in …": (ALONE, VERIFY, "test_proof", "test_heads_of_one_log_contradict_each_other_only_in_one_size"),
    "size and root match a known checkpoint": ("it is never made: it says what was not given", VERIFY, "test_proof", "test_a_proof_alone_concludes_nothing_about_its_root"),
    "every line is an entry, and the entries form one hash chain": (ALONE, VERIFY, "test_runlog", "test_a_log_alone_is_refuted_where_it_is_broken_or_another_one"),
    "every result follows its attempt": (READ, "unit/evidence", "test_runlog", "test_a_changed_log_is_refused_and_not_appended_to"),
    "the previously seen head is the digest of a line": (ALONE, VERIFY, "test_runlog", "test_a_log_alone_is_refuted_where_it_is_broken_or_another_one"),
    "every line is the canonical JSON of a schema-valid entry": (ALONE, "wings/kernel/axion", "test_audit_log_chain_verification", "test_a_single_fault_refutes_the_chain"),
    "the entries form one hash chain that begins with 64 zeros": (ALONE, "wings/kernel/axion", "test_audit_log_chain_verification", "test_a_single_fault_refutes_the_chain"),
    "issued tokens are bound to their entry, scope and time": (ALONE, "wings/kernel/axion", "test_audit_log_chain_verification", "test_a_single_fault_refutes_the_chain"),
}  # fmt: skip
"""The checks without a case of their own: why, and which test notices without them (folder, module, function)."""
