"""The names of all numbered checks, read off the engine's source, and which of them no case is about, and why."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3] / "engine"
MAKERS = {"_make", "passed", "failed", "not_made"}
"""What makes or notes a check; it is given the name first, a free function its verification before."""
VARIABLES = {"name", "again"}
"""What a name is called before it is given to one of them."""
HELD = {"steps", "_CHECKS", "replays"}
"""Where names stand that are not written where they are given."""


def text(node):
    """A name as it is written, with `…` for what is put in; None if it is no text."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def given(call):
    """The name that a call gives to what makes a check."""
    own = isinstance(call.func, ast.Attribute)
    return call.args[0 if own else 1]


def makes(node):
    return isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in MAKERS


def named(value):
    """The names in a value: a text, the first of each tuple in a list, the keys of a table."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return [text(one.elts[0]) for one in value.elts if isinstance(one, ast.Tuple)]
    return [text(key) for key in value.keys] if isinstance(value, ast.Dict) else [text(value)]


def bound(node):
    """The name and the value of an assignment to one name."""
    if isinstance(node, ast.AnnAssign):
        return getattr(node.target, "id", ""), node.value
    if isinstance(node, ast.Assign):
        first, value = node.targets[0], node.value
        if isinstance(first, ast.Tuple) and isinstance(value, ast.Tuple):
            return next(
                (
                    (one.id, told)
                    for one, told in zip(first.elts, value.elts, strict=True)
                    if isinstance(one, ast.Name) and one.id in VARIABLES
                ),
                ("", None),
            )
        return getattr(first, "id", ""), value
    return "", None


def in_function(function):
    """The names that a function gives, and the calls whose name this cannot read."""
    found, unread = set(), []
    calls = [node for node in ast.walk(function) if makes(node)]
    yields = ast.unparse(function.returns) == "Iterator[Named]" if function.returns else False
    for call in calls:
        name = given(call)
        if text(name) is not None:
            found.add(text(name))
        elif ast.unparse(name) not in {*VARIABLES, "self.replays"}:
            unread.append(ast.unparse(call))
    for node in ast.walk(function) if calls or yields else ():
        name, value = bound(node)
        if value is not None and name in VARIABLES | HELD:
            found |= set(named(value))
        if yields and isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            found.add(text(node.value.elts[0]))
    return found - {None}, unread


def all_names():
    """Every name, and what could not be read."""
    found, unread = set(), []
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if path.parent.name != "verify" and "Verification()" not in source:
            continue
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names, calls = in_function(node)
                found |= names
                unread += calls
            elif isinstance(node, (ast.Module, ast.ClassDef)):
                for one in node.body:
                    name, value = bound(one)
                    if value is not None and name in HELD:
                        found |= set(named(value))
    return found - {None}, unread


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
    "the file is the archive of a bundle": (READ, TAMPERED, "test_cases", "test_the_engine_says_exactly_what_is_expected"),
    "the run begins as its specs lead to": (OPTION, VERIFY, "test_forgery", "test_a_forged_bundle_is_whole_in_itself_and_replay_tells"),
    "an authority that you trust stamped the time": (OPTION, VERIFY, "test_timestamps", "test_a_wrong_signature_refutes_the_bundle"),
    "an independent evaluator agrees with every verdict of an expression": (OPTION, VERIFY, "test_judge", "test_a_disagreement_names_the_verdict_and_refutes"),
    "the run log announced this run, and these bytes were entered after": (OPTION, "unit/cli", "test_log", "test_a_run_is_announced_and_entered_and_verify_tells_which_attempt_it_is"),
    "the receipt is canonical, and its leaf and its number are those of the proof": (ALONE, VERIFY, "test_proof", "test_a_single_fault_in_a_proof_is_refused"),
    "the path leads from the leaf to the root": (ALONE, VERIFY, "test_proof", "test_a_single_fault_in_a_proof_is_refused"),
    "it is of the run that you expect": (ALONE, VERIFY, "test_proof", "test_the_signatures_of_a_checkpoint_are_those_of_the_proof"),
    "enough keys that you trust have signed a checkpoint of this head": (ALONE, VERIFY, "test_proof", "test_a_forged_checkpoint_is_refuted_and_none_is_not_enough"),
    "size and root are those of the head in …": (ALONE, VERIFY, "test_proof", "test_heads_of_one_log_contradict_each_other_only_in_one_size"),
    "size and root are those of a head that is known from elsewhere": ("it is never made: it says what was not given", VERIFY, "test_proof", "test_a_proof_alone_concludes_nothing_about_its_root"),
    "every line is an entry, and the entries form one chain": (ALONE, VERIFY, "test_runlog", "test_a_log_alone_is_refuted_where_it_is_broken_or_another_one"),
    "a result follows the one attempt that it is of": (READ, "unit/evidence", "test_runlog", "test_a_changed_log_is_refused_and_not_appended_to"),
    "the head that you saw is the digest of one of its lines": (ALONE, VERIFY, "test_runlog", "test_a_log_alone_is_refuted_where_it_is_broken_or_another_one"),
    "every line is the canonical form of a schema-valid entry": (ALONE, "conformance/axion", "test_audit_log_chain_verification", "test_a_single_fault_refutes_the_chain"),
    "the entries form one chain that begins with 64 zeros": (ALONE, "conformance/axion", "test_audit_log_chain_verification", "test_a_single_fault_refutes_the_chain"),
    "issued tokens are bound to their entry, their scope and their time": (ALONE, "conformance/axion", "test_audit_log_chain_verification", "test_a_single_fault_refutes_the_chain"),
}  # fmt: skip
"""The checks without a case of their own: why, and which test notices without them (folder, module, function)."""
