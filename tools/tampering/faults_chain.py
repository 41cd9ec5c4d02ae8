"""Faults of receipts: their bytes, their chain, their order, and what a run says about itself.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tools.tampering.case import Case, Change, nothing, recount, rehead, relist, seal, sign, unsigned
from tools.tampering.signer import Signer

START, EPISODE, COMMIT, STEP, DRIFT, COMMIT_1, STEP_1, COMMIT_2, STEP_2, CLOSE, SECOND, END = (*range(11), 19)
"""Where the receipts of the base `climb` stand."""
LAST: Final = -1

RECEIPTS, SPECS, MANIFEST = "receipts.jsonl", "specs.json", "manifest.json"


def broken_early(f: Signer) -> None:
    """The first step breaks a fatal invariant, the episode says so, and there are steps after it."""
    f.receipts[STEP]["body"]["violations"].append({"invariant": "bounded", "severity": "fatal", "witness": {}})
    f.receipts[CLOSE]["body"]["ended"] = "fatal"


def body(number: int, **fields: Any) -> Change:
    """Fields in the body of one receipt say something else."""
    return lambda f: f.receipts[number]["body"].update(fields)


def line(number: int, old: bytes, new: bytes) -> Change:
    """A line is spelled otherwise, and what follows names its digest."""
    return lambda f: f.respell(number, old, new)


def swap(name: str, old: bytes, new: bytes) -> Change:
    """A text in a file is another one."""
    return lambda f: f.swap(name, old, new)


def manifest(**fields: Any) -> Change:
    """Fields of the manifest say something else."""
    return lambda f: f.manifest.update(fields)


def inside(name: str, /, **fields: Any) -> Change:
    """Fields of an object in the manifest say something else."""
    return lambda f: f.manifest[name].update(fields)


def without(*numbers: int) -> Change:
    """Receipts are taken out."""

    def change(f: Signer) -> None:
        f.receipts = [one for at, one in enumerate(f.receipts) if at not in numbers]

    return change


def again(number: int, at: int) -> Change:
    """A receipt stands at another place, too."""
    return lambda f: f.receipts.insert(at, json.loads(json.dumps(f.receipts[number])))


def exchanged(one: int, other: int) -> Change:
    """Two receipts stand in each other's place."""

    def change(f: Signer) -> None:
        f.receipts[one], f.receipts[other] = f.receipts[other], f.receipts[one]

    return change


def decision(change: Any) -> Change:
    """The first commitment and the step after it say something else."""
    return lambda f: change(f.receipts[COMMIT]["body"], f.receipts[STEP]["body"])


def spec_of(kind: str, change: Any) -> Change:
    """The resolved spec of a kind says something else; keys, digests and run fit."""

    def make(f: Signer) -> None:
        def edit(document: Any) -> None:
            (key,) = (key for key in document["specs"] if key.startswith(f"{kind}/"))
            change(document["specs"][key])

        f.respec(edit)

    return make


def stands(f: Signer) -> Any:
    """The first step of `stuck` in which nothing was chosen."""
    return next(step for step in f.bodies("step") if step["chosen"] is None)


def splice_line(f: Signer) -> None:
    taken = (f.folder.parent / "other" / RECEIPTS).read_bytes().split(b"\n")
    f.lines = [*f.lines[:STEP_2], taken[STEP_2], *f.lines[STEP_2 + 1 :]]


def cut_episode(f: Signer) -> None:
    without(*range(SECOND, END))(f)
    f.first("end")["episodes"] = 1


def hide_error(f: Signer) -> None:
    for close in f.bodies("episode_end"):
        close["ended"] = "until"
    f.receipts = [one for one in f.receipts if one["type"] != "error"]


def refused_part_moves(f: Signer) -> None:
    stands(f)["parts"]["pot"]["after"] = "0" * 64


def stop_untold(f: Signer) -> None:
    stands(f)["violations"] = []


def error_after_all(f: Signer) -> None:
    f.receipts.insert(END, {"type": "error", "body": {"episode": 1, "t": 0, "code": "x"}})


def error_with_breach(f: Signer) -> None:
    """The episode that ended in an error breaks an invariant as well."""
    broken = {"invariant": "bounded", "severity": "fatal", "witness": {}}
    next(close for close in f.bodies("episode_end") if close["ended"] == "error")["violations"].append(broken)


def unfinished_commit(f: Signer) -> None:
    f.receipts[CLOSE]["body"] |= {"steps": 2, "state": f.receipts[STEP_1]["body"]["after"]}
    without(STEP_2)(f)
    f.first("end")["steps"] -= 1


def rejected_choice(commit: Any, step: Any) -> None:
    step["decisions"][step["chosen"]]["rejected"] = [{"gate": "leap", "reason": "too_far", "witness": {}}]


def nothing_chosen(commit: Any, step: Any) -> None:
    step |= {"chosen": None, "chosen_hash": None, "token": None}


def uppercase_run(f: Signer) -> None:
    f.manifest["run"] = f.manifest["run"].upper()


EDIT: Final = [
    Case("edit-a-specs-byte", "One byte of the specs was changed, and nothing else.", "climb", swap(SPECS, b"pot", b"pod"), nothing, "E_FILES"),
    Case("edit-the-start-state", "An episode begins in another state than its digest says.", "short", body(EPISODE, state={"n": 5}), seal, "E_STATE"),
    Case("edit-a-refused-part", "A part moved, though it refused.", "stuck", refused_part_moves, recount, "E_STATE"),
    Case("edit-a-step-without-action", "Nothing was chosen in a step, and its violations do not say why.", "stuck", stop_untold, recount, "E_STATE"),
    Case("edit-a-gate", "A decision was rejected by a gate that the run does not have.", "short", lambda f: f.receipts[STEP]["body"]["decisions"][2]["rejected"][0].update(gate="none"), seal, "E_STATE"),
    Case("edit-a-breach", "A step breaks an invariant that the run does not have.", "climb", lambda f: f.receipts[STEP_2]["body"]["violations"].append({"invariant": "none", "severity": "warn", "witness": {}}), seal, "E_STATE"),
    Case("edit-first-success", "An episode names another first success than its steps have.", "climb", body(CLOSE, first_success=0), seal, "E_STATE"),
    Case("edit-all-rejections", "The run counts fewer rejections than its steps have.", "climb", lambda f: f.receipts[END]["body"]["gates"].update(leap=0), seal, "E_STATE"),
    Case("edit-idle", "An invariant was idle more often than there were steps.", "climb", body(CLOSE, idle={"bounded": 9}), seal, "E_STATE"),
    Case("edit-faults", "An agent fault is after the end of its episode.", "climb", body(CLOSE, faults=[{"t": 99, "message": "decide", "reason": "wrong_form"}]), recount, "E_STATE"),
    Case("edit-steps", "An episode counts other steps than it has.", "climb", body(CLOSE, steps=4), seal, "E_STATE"),
    Case("edit-a-drift", "A drift begins in another state than the step before it ended in.", "climb", body(DRIFT, before="ab" * 32), seal, "E_STATE"),
    Case("edit-a-schedule", "A drift happens at a step at which it was not due.", "climb", lambda f: f.receipts[START]["body"]["drifts"][0].update(schedule=[0]), seal, "E_STATE"),
    Case("edit-an-error", "There is an error outside of any episode.", "climb", error_after_all, seal, "E_STATE"),
    Case("edit-an-ending", "An episode ended in a way that there is not.", "climb", body(CLOSE, ended="done"), seal, "E_STATE"),
    Case("edit-a-broken-episode", "An episode that ended in an error has a violation.", "failing", error_with_breach, seal, "E_STATE"),
    Case("edit-after-a-breach", "An episode goes on after a fatal breach.", "climb", broken_early, seal, "E_STATE"),
    Case("edit-a-state-digest", "A step ends in another state than the next one begins in.", "climb", body(STEP_1, after="ab" * 32), seal, "E_STATE"),
    Case("edit-a-long-horizon", "An episode ended at its horizon, before its horizon.", "climb", body(START, horizon=4), seal, "E_STATE"),
]  # fmt: skip

CUT: Final = [
    Case("drop-the-start", "The first receipt is missing; the rest was sealed again.", "climb", without(START), seal, "E_ENDS"),
    Case("drop-the-manifest", "There is no manifest.", "climb", lambda f: f.remove(MANIFEST), nothing, "E_MANIFEST"),
    Case("drop-everything", "There is an empty folder.", "climb", lambda f: [path.unlink() for path in f.folder.rglob("*") if path.is_file()], nothing, "E_NO_EVIDENCE", exit=2),
    Case("drop-from-the-list", "The manifest does not list the specs, which are there.", "climb", lambda f: f.manifest["files"].pop(1), unsigned, "E_FILES"),
    Case("truncate-to-nothing", "There are no receipts.", "climb", lambda f: f.write(RECEIPTS, b""), rehead, "E_ENDS"),
    Case("truncate-a-newline", "The last line has no newline: something was cut off.", "climb", lambda f: f.write(RECEIPTS, f.read(RECEIPTS)[:-1]), relist, "E_LINE"),
    Case("truncate-an-episode", "The second episode is missing, and the end says so; the start promised two.", "climb", cut_episode, recount, "E_STATE"),
    Case("hidden-error", "The error that ended an episode was taken out, and everything else was made to fit.", "failing", hide_error, recount, "E_REPLAY", "L4", needs="replay"),
]  # fmt: skip

ORDER: Final = [
    Case("reorder-a-drift", "A drift stands between a commitment and its decision.", "climb", exchanged(DRIFT, COMMIT_1), seal, "E_STATE"),
    Case("duplicate-a-commitment", "A commitment stands twice, and was sealed again.", "climb", again(COMMIT, STEP), seal, "E_STATE"),
    Case("duplicate-the-end", "There are two ends.", "climb", again(END, 20), seal, "E_ENDS"),
    Case("splice-a-line", "A line of another run of the same scenario stands here.", "climb", splice_line, relist, "E_CHAIN"),
]  # fmt: skip

FORGED: Final = [
    Case("verdict-figure-missing", "The manifest leaves out the warnings.", "climb", lambda f: f.manifest["result"].pop("warnings"), sign, "E_RESULT"),
    Case("loosened-start", "The first receipt names other specs than the manifest.", "climb", body(START, specs="ab" * 32), seal, "E_SPECS"),
]  # fmt: skip

COMMITTED: Final = [
    Case("commitment-undecided", "A commitment has no decision, and the episode ends.", "climb", unfinished_commit, recount, "E_STATE"),
    Case("commitment-choice-rejected", "What was chosen was rejected by a gate.", "short", decision(rejected_choice), recount, "E_COMMITMENT"),
    Case("commitment-nothing-chosen", "Nothing was chosen, though something was admitted.", "short", decision(nothing_chosen), seal, "E_COMMITMENT"),
    Case("proposals-dropped", "A proposal was taken out of the set.", "short", decision(lambda commit, step: (commit["proposals"].pop(), step["decisions"].pop())), recount, "E_COMMITMENT"),
    Case("proposals-decisions", "There is a decision less than there are proposals.", "short", decision(lambda commit, step: step["decisions"].pop()), recount, "E_COMMITMENT"),
    Case("token-missing", "A decision has no token.", "short", decision(lambda commit, step: step.update(token=None)), seal, "E_COMMITMENT"),
]  # fmt: skip

FAULTS: Final = (*EDIT, *CUT, *ORDER, *FORGED, *COMMITTED)
