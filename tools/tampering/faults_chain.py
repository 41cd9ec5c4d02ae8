"""Faults of receipts: their bytes, their chain, their order, and what a run says about itself.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tools.tampering.case import Case, Change, lines, nothing, recount, rehead, relist, resign, seal, sign, unsigned
from tools.tampering.forger import canonical, merkle, sha256, tagged
from tools.tampering.signer import Signer

START, EPISODE, COMMIT, STEP, DRIFT, COMMIT_1, STEP_1, COMMIT_2, STEP_2, CLOSE, SECOND, END = (*range(11), 19)
"""Where the receipts of the base `climb` stand."""
LAST: Final = -1

RECEIPTS, SPECS, MANIFEST = "receipts.jsonl", "specs.json", "manifest.json"


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


def sealed(number: int, **fields: Any) -> Change:
    """One receipt claims another run, number or predecessor, and what follows is chained to it."""

    def change(f: Signer) -> None:
        f.seal(number, **fields)

    return change


def decision(change: Any) -> Change:
    """The first commitment and the step after it say something else."""
    return lambda f: change(f.receipts[COMMIT]["body"], f.receipts[STEP]["body"])


def rebound(change: Any) -> Change:
    """The first commitment and the step say something else, and root and token are made to fit."""

    def make(f: Signer) -> None:
        commit, step = f.receipts[COMMIT]["body"], f.receipts[STEP]["body"]
        change(commit, step)
        f.bind(commit, step)

    return make


def spec_of(kind: str, change: Any) -> Change:
    """The resolved spec of a kind says something else; keys, digests and run fit."""

    def make(f: Signer) -> None:
        def edit(document: Any) -> None:
            (key,) = (key for key in document["specs"] if key.startswith(f"{kind}/"))
            change(document["specs"][key])

        f.respec(edit)

    return make


def misnamed(f: Signer) -> None:
    f.swap(SPECS, b"action.by > 1", b"action.by > 2")
    f.manifest["specs"] = f.first("start")["specs"] = tagged("specs", f.read(SPECS)[:-1])
    f.manifest["run"] = tagged("run", f.manifest["specs"].encode())[:32]


def broken_early(f: Signer) -> None:
    """The first step breaks a fatal invariant, the episode says so, and there are steps after it."""
    f.receipts[STEP]["body"]["violations"].append({"invariant": "bounded", "severity": "fatal", "witness": {}})
    f.receipts[CLOSE]["body"]["ended"] = "fatal"


def loose(governor: Any) -> None:
    governor["gates"][0]["deny"] = "action.by > 2"


def stands(f: Signer) -> Any:
    """The first step of `stuck` in which nothing was chosen."""
    return next(step for step in f.bodies("step") if step["chosen"] is None)


def of_other(name: str) -> Change:
    """A file is that of the run with another seed."""
    return lambda f: f.write(name, (f.folder.parent / "other" / name).read_bytes())


def splice_line(f: Signer) -> None:
    taken = (f.folder.parent / "other" / RECEIPTS).read_bytes().split(b"\n")
    f.lines = [*f.lines[:STEP_2], taken[STEP_2], *f.lines[STEP_2 + 1 :]]


def splice_sealed(f: Signer) -> None:
    taken = (f.folder.parent / "other" / RECEIPTS).read_bytes().split(b"\n")
    f.receipts[STEP_2] = json.loads(taken[STEP_2])


def splice_specs(f: Signer) -> None:
    of_other(SPECS)(f)
    f.manifest["specs"] = tagged("specs", f.read(SPECS)[:-1])
    f.manifest["run"] = tagged("run", f.manifest["specs"].encode())[:32]


def cut_episode(f: Signer) -> None:
    without(*range(SECOND, END))(f)
    f.first("end")["episodes"] = 1


def hide_episode(f: Signer) -> None:
    cut_episode(f)
    f.first("start")["episodes"] = 1


def promise_episode(f: Signer) -> None:
    f.first("start")["episodes"] = f.first("end")["episodes"] = 3


def hide_step(f: Signer) -> None:
    f.receipts[CLOSE]["body"]["state"] = f.receipts[STEP_1]["body"]["after"]
    without(COMMIT_2, STEP_2)(f)


def hide_drift(f: Signer) -> None:
    f.receipts[STEP_1]["body"]["before"] = f.receipts[DRIFT]["body"]["before"]
    without(DRIFT)(f)


def hide_error(f: Signer) -> None:
    for close in f.bodies("episode_end"):
        close["ended"] = "until"
    f.receipts = [one for one in f.receipts if one["type"] != "error"]


def admit_for_nothing(f: Signer) -> None:
    """In `stuck`, the first proposal of the decision in which nothing was chosen is admitted, and chosen."""
    for commit, step in zip(f.bodies("commit"), f.bodies("step"), strict=True):
        if step["chosen"] is None:
            step["decisions"][0]["rejected"] = []
            step["chosen"] = 0
            f.bind(commit, step)


def gap_t(f: Signer) -> None:
    for number in (COMMIT_2, STEP_2):
        f.receipts[number]["body"]["t"] = 3


def tip_elsewhere(f: Signer) -> None:
    """The last receipt of a part claims another predecessor; its own tip is right."""
    part = f.bodies("step")[-1]["parts"]["pot"]
    part["tip"] = "0" * 64
    bare = {key: value for key, value in part.items() if key != "tip_after"}
    part["tip_after"] = tagged("part", part["tip"].encode() + canonical(bare))


def refused_part_moves(f: Signer) -> None:
    stands(f)["parts"]["pot"]["after"] = "0" * 64


def moved_without_choice(f: Signer) -> None:
    step = stands(f)
    old, step["after"] = step["after"], "ab" * 32
    f.first("episode_end")["state"] = step["after"] if f.first("episode_end")["state"] == old else old


def error_after_all(f: Signer) -> None:
    f.receipts.insert(END, {"type": "error", "body": {"episode": 1, "t": 0, "code": "x"}})


def unfinished_commit(f: Signer) -> None:
    f.receipts[CLOSE]["body"] |= {"steps": 2, "state": f.receipts[STEP_1]["body"]["after"]}
    without(STEP_2)(f)
    f.first("end")["steps"] -= 1


def leaves_without_index(commit: Any, step: Any) -> None:
    commit["root"] = merkle([canonical(one) for one in commit["proposals"]])


def last_leaf_twice(commit: Any, step: Any) -> None:
    leaves = [canonical({"index": at, "proposal": one}) for at, one in enumerate(commit["proposals"])]
    commit["root"] = merkle([*leaves, leaves[-1]])


def no_prefixes(commit: Any, step: Any) -> None:
    leaves = [canonical({"index": at, "proposal": one}) for at, one in enumerate(commit["proposals"])]
    commit["root"] = sha256(b"".join(leaves))


def untagged_digest(commit: Any, step: Any) -> None:
    step["chosen_hash"] = sha256(canonical({"index": step["chosen"], "proposal": commit["proposals"][step["chosen"]]}))


def rejected_choice(commit: Any, step: Any) -> None:
    step["decisions"][step["chosen"]]["rejected"] = [{"gate": "leap", "reason": "too_far", "witness": {}}]


def nothing_chosen(commit: Any, step: Any) -> None:
    step |= {"chosen": None, "chosen_hash": None, "token": None}


def token_twice(f: Signer) -> None:
    f.receipts[STEP_1]["body"]["token"] = f.receipts[STEP]["body"]["token"]


def uppercase_run(f: Signer) -> None:
    f.manifest["run"] = f.manifest["run"].upper()


def uppercase_specs(f: Signer) -> None:
    f.manifest["specs"] = f.first("start")["specs"] = f.manifest["specs"].upper()


EDIT: Final = [
    Case("edit-a-byte", "One byte of the receipts was changed, and nothing else.", "climb", swap(RECEIPTS, b'"seed":3', b'"seed":4'), nothing, "E_FILES"),
    Case("edit-a-specs-byte", "One byte of the specs was changed, and nothing else.", "climb", swap(SPECS, b"pot", b"pod"), nothing, "E_FILES"),
    Case("edit-a-size", "The manifest tells another size of a file.", "climb", lambda f: f.manifest["files"][1].update(size=1), sign, "E_FILES"),
    Case("edit-a-size-type", "The manifest tells the size of a file as text.", "climb", lambda f: f.manifest["files"][1].update(size=str(f.manifest["files"][1]["size"])), sign, "E_FILES"),
    Case("edit-a-receipt", "A receipt in the middle was changed; its digest no longer follows.", "short", body(STEP, record={"reached": 2}), lines, "E_CHAIN"),
    Case("edit-the-last-receipt", "The last receipt was changed; the head no longer fits.", "climb", body(END, more=1), lines, "E_HEAD"),
    Case("edit-the-start-state", "An episode begins in another state than its digest says.", "short", body(EPISODE, state={"n": 5}), seal, "E_STATE"),
    Case("edit-a-state-digest", "A step ends in another state than the next one begins in.", "climb", body(STEP_1, after="ab" * 32), seal, "E_STATE"),
    Case("edit-the-last-state", "An episode ends in another state than its last step.", "climb", body(CLOSE, state="ab" * 32), seal, "E_STATE"),
    Case("edit-a-tip", "The tip after a part's receipt is not that of the receipt.", "short", lambda f: f.receipts[STEP]["body"]["parts"]["pot"].update(tip_after="0" * 64), seal, "E_STATE"),
    Case("edit-a-tip-before", "A part's receipt claims another predecessor.", "climb", tip_elsewhere, seal, "E_STATE"),
    Case("edit-a-refused-part", "A part moved, though it refused.", "stuck", refused_part_moves, recount, "E_STATE"),
    Case("edit-without-choice", "Nothing was chosen, and the state is another one afterwards.", "stuck", moved_without_choice, seal, "E_STATE"),
    Case("edit-a-gate", "A decision was rejected by a gate that the run does not have.", "short", lambda f: f.receipts[STEP]["body"]["decisions"][2]["rejected"][0].update(gate="none"), seal, "E_STATE"),
    Case("edit-a-breach", "A step breaks an invariant that the run does not have.", "climb", lambda f: f.receipts[STEP_2]["body"]["violations"].append({"invariant": "none", "severity": "warn", "witness": {}}), seal, "E_STATE"),
    Case("edit-a-severity", "A step breaks a fatal invariant, and calls it a warning.", "climb", lambda f: f.receipts[STEP_2]["body"]["violations"].append({"invariant": "bounded", "severity": "warn", "witness": {}}), seal, "E_STATE"),
    Case("edit-first-success", "An episode names another first success than its steps have.", "climb", body(CLOSE, first_success=0), seal, "E_STATE"),
    Case("edit-success", "An episode claims another success than its steps have.", "climb", lambda f: f.receipts[CLOSE]["body"].update(success=not f.receipts[CLOSE]["body"]["success"]), seal, "E_STATE"),
    Case("edit-ended", "An episode says that a fatal breach ended it, and has none.", "climb", body(CLOSE, ended="fatal"), seal, "E_STATE"),
    Case("edit-rejections", "An episode counts fewer rejections than its steps have.", "climb", lambda f: f.receipts[CLOSE]["body"]["gates"].update(leap=0), seal, "E_STATE"),
    Case("edit-all-rejections", "The run counts fewer rejections than its steps have.", "climb", lambda f: f.receipts[END]["body"]["gates"].update(leap=0), seal, "E_STATE"),
    Case("edit-idle", "An invariant was idle more often than there were steps.", "climb", body(CLOSE, idle={"bounded": 9}), seal, "E_STATE"),
    Case("edit-steps", "An episode counts other steps than it has.", "climb", body(CLOSE, steps=4), seal, "E_STATE"),
    Case("edit-all-steps", "The run counts other steps than it has.", "climb", body(END, steps=7), seal, "E_STATE"),
    Case("edit-a-drift", "A drift begins in another state than the step before it ended in.", "climb", body(DRIFT, before="ab" * 32), seal, "E_STATE"),
    Case("edit-a-schedule", "A drift happens at a step at which it was not due.", "climb", lambda f: f.receipts[START]["body"]["drifts"][0].update(schedule=[0]), seal, "E_STATE"),
    Case("edit-an-error", "There is an error outside of any episode.", "climb", error_after_all, seal, "E_STATE"),
    Case("edit-a-horizon", "The run has more steps than the horizon that it promised.", "climb", body(START, horizon=2), seal, "E_STATE"),
    Case("edit-a-long-horizon", "An episode ended at its horizon, before its horizon.", "climb", body(START, horizon=4), seal, "E_STATE"),
    Case("edit-after-a-breach", "An episode goes on after a fatal breach.", "climb", broken_early, seal, "E_STATE"),
]  # fmt: skip

CUT: Final = [
    Case("drop-a-line", "A receipt in the middle is missing; its chain is broken.", "climb", without(STEP_1), lines, "E_CHAIN"),
    Case("drop-a-step", "A decision and its commitment are missing; the rest was sealed again.", "climb", without(COMMIT_1, STEP_1), seal, "E_STATE"),
    Case("drop-an-episode-end", "The end of an episode is missing; the rest was sealed again.", "climb", without(CLOSE), seal, "E_STATE"),
    Case("drop-the-start", "The first receipt is missing; the rest was sealed again.", "climb", without(START), seal, "E_ENDS"),
    Case("drop-the-manifest", "There is no manifest.", "climb", lambda f: f.remove(MANIFEST), nothing, "E_MANIFEST"),
    Case("drop-everything", "There is an empty folder.", "climb", lambda f: [path.unlink() for path in f.folder.rglob("*") if path.is_file()], nothing, "E_NO_EVIDENCE", exit=2),
    Case("drop-the-specs", "A file that the manifest lists is missing.", "climb", lambda f: f.remove(SPECS), nothing, "E_FILES"),
    Case("drop-from-the-list", "The manifest does not list the specs, which are there.", "climb", lambda f: f.manifest["files"].pop(1), unsigned, "E_FILES"),
    Case("truncate-the-end", "The last receipt is missing.", "climb", without(END), lines, "E_HEAD"),
    Case("truncate-the-end-sealed", "The last receipt is missing, and head and root are those of the rest.", "climb", without(END), seal, "E_ENDS"),
    Case("truncate-to-nothing", "There are no receipts.", "climb", lambda f: f.write(RECEIPTS, b""), rehead, "E_ENDS"),
    Case("truncate-a-newline", "The last line has no newline: something was cut off.", "climb", lambda f: f.write(RECEIPTS, f.read(RECEIPTS)[:-1]), relist, "E_LINE"),
    Case("truncate-an-episode", "The second episode is missing, and the end says so; the start promised two.", "climb", cut_episode, recount, "E_STATE"),
    Case("truncate-an-episode-everywhere", "The second episode is missing, and the start promised one.", "climb", hide_episode, recount, "E_REPLAY", "L4", needs="replay"),
    Case("truncate-a-run-under-way", "The run ends inside an episode.", "climb", lambda f: (without(*range(18, END))(f), f.receipts[-1]["body"].update(episodes=2)), seal, "E_STATE"),
    Case("hidden-step", "The last step of an episode was taken out, and everything else was made to fit.", "climb", hide_step, recount, "E_REPLAY", "L4", needs="replay"),
    Case("hidden-drift", "A drift was taken out, and everything else was made to fit.", "climb", hide_drift, recount, "E_REPLAY", "L4", needs="replay"),
    Case("hidden-error", "The error that ended an episode was taken out, and everything else was made to fit.", "failing", hide_error, recount, "E_REPLAY", "L4", needs="replay"),
    Case("truncate-nothing", "Start and end tell of three episodes, and there are two.", "climb", promise_episode, seal, "E_STATE"),
    Case("hidden-end", "A step follows the end of the run.", "climb", again(DRIFT, 20), seal, "E_ENDS"),
]  # fmt: skip

ORDER: Final = [
    Case("reorder-lines", "Two receipts stand in each other's place.", "climb", exchanged(STEP, COMMIT_1), lines, "E_CHAIN"),
    Case("reorder-steps", "Two steps stand in each other's place, and were sealed again.", "climb", exchanged(STEP, STEP_1), seal, "E_STATE"),
    Case("reorder-a-drift", "A drift stands between a commitment and its decision.", "climb", exchanged(DRIFT, COMMIT_1), seal, "E_STATE"),
    Case("reorder-two-files", "The manifest lists two files in each other's place.", "climb", lambda f: f.manifest["files"].insert(0, f.manifest["files"].pop(1)), sign, "E_FILES"),
    Case("reorder-files", "The manifest lists the files in another order.", "climb", lambda f: f.manifest["files"].reverse(), sign, "E_FILES"),
    Case("duplicate-a-line", "A line stands twice.", "climb", again(STEP, COMMIT_1), lines, "E_CHAIN"),
    Case("duplicate-a-step", "A step stands twice, and was sealed again.", "climb", again(STEP, DRIFT), seal, "E_STATE"),
    Case("duplicate-a-commitment", "A commitment stands twice, and was sealed again.", "climb", again(COMMIT, STEP), seal, "E_STATE"),
    Case("duplicate-the-start", "There are two starts.", "climb", again(START, EPISODE), seal, "E_ENDS"),
    Case("duplicate-the-end", "There are two ends.", "climb", again(END, 20), seal, "E_ENDS"),
    Case("duplicate-an-episode", "An episode begins twice.", "climb", again(EPISODE, COMMIT), seal, "E_STATE"),
    Case("duplicate-an-episode-end", "An episode ends twice.", "climb", again(CLOSE, SECOND), seal, "E_STATE"),
    Case("gap-in-numbers", "A receipt has the next number but one; the chain is whole otherwise.", "climb", sealed(END, seq=20), resign, "E_CHAIN"),
    Case("gap-in-the-chain", "A receipt names another predecessor than the one before it.", "climb", sealed(END, prev="ab" * 32), resign, "E_CHAIN"),
    Case("gap-in-episodes", "The second episode is called the third.", "climb", lambda f: f.receipts[SECOND]["body"].update(episode=2), seal, "E_STATE"),
    Case("gap-in-steps", "A step and its commitment skip a number.", "climb", gap_t, seal, "E_STATE"),
    Case("gap-in-the-run", "The end counts more episodes than there were.", "climb", body(END, episodes=3), seal, "E_STATE"),
    Case("splice-a-line", "A line of another run of the same scenario stands here.", "climb", splice_line, relist, "E_CHAIN"),
    Case("splice-a-run", "The last receipt names another run; the chain is whole otherwise.", "climb", sealed(END, run="ab" * 16), resign, "E_CHAIN"),
    Case("splice-a-step", "A step of another run stands here, and was sealed again.", "climb", splice_sealed, seal, "E_STATE"),
    Case("splice-the-specs", "The specs are those of another run, and the manifest says so; the first receipt does not.", "climb", splice_specs, seal, "E_SPECS"),
    Case("splice-the-receipts", "The receipts are those of another run.", "climb", of_other(RECEIPTS), rehead, "E_CHAIN"),
]  # fmt: skip

FORGED: Final = [
    Case("verdict-in-the-manifest", "The manifest tells another verdict than the receipts come to.", "climb", inside("result", verdict="INCONCLUSIVE"), sign, "E_RESULT"),
    Case("verdict-of-a-failure", "The manifest says PASS of a run that failed, and so do the signatures.", "stuck", inside("result", verdict="PASS", violations={}), sign, "E_RESULT"),
    Case("verdict-figure", "The manifest tells one success more.", "climb", lambda f: f.manifest["result"].update(successes=f.manifest["result"]["successes"] + 1), sign, "E_RESULT"),
    Case("verdict-figure-missing", "The manifest leaves out the warnings.", "climb", lambda f: f.manifest["result"].pop("warnings"), sign, "E_RESULT"),
    Case("verdict-figure-added", "The manifest tells a figure that nobody knows.", "climb", inside("result", score=9), sign, "E_RESULT"),
    Case("verdict-type", "The number of errors is `false`, which some readers take for 0.", "climb", inside("result", errors=False), sign, "E_RESULT"),
    Case("verdict-flipped", "A step is said to have reached the goal; everything else was made to fit.", "short", body(STEP, success=True), recount, "E_REPLAY", "L4", needs="replay"),
    Case("verdict-made-up", "The decision of a run that failed admits what its gates rejected; everything else was made to fit.", "stuck", admit_for_nothing, recount, "E_REPLAY", "L4", needs="replay"),
    Case("verdict-of-a-gate", "A gate is said to have rejected nothing; everything else was made to fit.", "short", lambda f: f.receipts[STEP]["body"]["decisions"][2].update(rejected=[]), recount, "E_REPLAY", "L4", needs="replay"),
    Case("verdict-witness", "The witness of a rejection tells another value; everything else was made to fit.", "short", lambda f: f.receipts[STEP]["body"]["decisions"][2]["rejected"][0]["witness"].update(by=1), recount, "E_REPLAY", "L4", needs="replay"),
    Case("verdict-record", "A figure of the record is another one; everything else was made to fit.", "short", body(STEP, record={"reached": 2}), recount, "E_REPLAY", "L4", needs="replay"),
    Case("verdict-observation", "The agent is said to have seen something else; everything else was made to fit.", "short", body(COMMIT, observation="ab" * 32), recount, "E_REPLAY", "L4", needs="replay"),
    Case("loosened-gate", "A gate denies less in the recorded specs than in the run; keys, digests and the run's name fit.", "climb", spec_of("governor", loose), recount, "E_REPLAY", "L4", needs="replay"),
    Case("loosened-length", "The recorded specs say one episode, the receipts have two.", "climb", spec_of("scenario", lambda spec: spec.pop("episodes")), recount, "E_REPLAY", "L4", needs="replay"),
    Case("loosened-key", "A spec says something else than its key; every other digest fits.", "climb", misnamed, recount, "E_SPECS"),
    Case("loosened-digest", "The specs were loosened, keys fit, and the manifest tells the digest of before.", "climb", lambda f: (old := dict(f.manifest), spec_of("governor", loose)(f), f.manifest.update(specs=old["specs"], run=old["run"]), f.first("start").update(specs=old["specs"])), seal, "E_SPECS"),
    Case("loosened-invalid", "The recorded specs have a field that the kind does not have.", "climb", spec_of("scenario", lambda spec: spec.update(colour="red")), recount, "E_SPECS", needs="specs"),
    Case("loosened-run", "The run's name is not that of its specs.", "climb", manifest(run="ab" * 16), seal, "E_SPECS"),
    Case("loosened-start", "The first receipt names other specs than the manifest.", "climb", body(START, specs="ab" * 32), seal, "E_SPECS"),
]  # fmt: skip

COMMITTED: Final = [
    Case("commitment-proposal", "A proposal was changed after it was committed to.", "short", decision(lambda commit, step: commit["proposals"][0].update(score=9)), seal, "E_COMMITMENT"),
    Case("commitment-root", "The root is not that of the proposals.", "short", decision(lambda commit, step: commit.update(root="ab" * 32)), seal, "E_COMMITMENT"),
    Case("commitment-missing", "A decision has no commitment.", "climb", without(COMMIT), seal, "E_COMMITMENT"),
    Case("commitment-undecided", "A commitment has no decision, and the episode ends.", "climb", unfinished_commit, recount, "E_STATE"),
    Case("commitment-other-step", "A commitment is that of another step.", "climb", lambda f: f.receipts[COMMIT]["body"].update(proposals=f.receipts[COMMIT_1]["body"]["proposals"]), seal, "E_COMMITMENT"),
    Case("commitment-choice-outside", "What was chosen is not in the set.", "short", decision(lambda commit, step: step.update(chosen=3)), seal, "E_COMMITMENT"),
    Case("commitment-choice-negative", "What was chosen is counted from the end.", "short", decision(lambda commit, step: step.update(chosen=-2)), seal, "E_COMMITMENT"),
    Case("commitment-choice-true", "What was chosen is `true`, which some readers take for 1.", "short", decision(lambda commit, step: step.update(chosen=True)), seal, "E_COMMITMENT"),
    Case("commitment-choice-rejected", "What was chosen was rejected by a gate.", "short", decision(rejected_choice), recount, "E_COMMITMENT"),
    Case("commitment-choice-hash", "The digest of what was chosen is that of something else.", "short", decision(lambda commit, step: step.update(chosen_hash="ab" * 32)), seal, "E_COMMITMENT"),
    Case("commitment-untagged", "The digest of what was chosen has no domain tag.", "short", decision(untagged_digest), seal, "E_COMMITMENT"),
    Case("commitment-nothing-chosen", "Nothing was chosen, though something was admitted.", "short", decision(nothing_chosen), seal, "E_COMMITMENT"),
    Case("commitment-hash-of-nothing", "Nothing was chosen, and it has a digest.", "stuck", lambda f: stands(f).update(chosen_hash="ab" * 32), seal, "E_COMMITMENT"),
    Case("commitment-other-agent", "Another proposal was made; root, digest and token were made to fit.", "short", rebound(lambda commit, step: commit["proposals"][0].update(score=-1)), recount, "E_REPLAY", "L4", needs="replay"),
    Case("proposals-added", "A proposal was added to the set.", "short", decision(lambda commit, step: (commit["proposals"].append(commit["proposals"][0]), step["decisions"].append(step["decisions"][0]))), seal, "E_COMMITMENT"),
    Case("proposals-dropped", "A proposal was taken out of the set.", "short", decision(lambda commit, step: (commit["proposals"].pop(), step["decisions"].pop())), recount, "E_COMMITMENT"),
    Case("proposals-reordered", "The proposals stand in another order.", "short", decision(lambda commit, step: commit["proposals"].reverse()), seal, "E_COMMITMENT"),
    Case("proposals-decisions", "There is a decision less than there are proposals.", "short", decision(lambda commit, step: step["decisions"].pop()), recount, "E_COMMITMENT"),
    Case("proposals-unindexed", "The leaves of the set do not bind the places of the proposals.", "short", decision(leaves_without_index), seal, "E_COMMITMENT"),
    Case("proposals-last-twice", "The tree over the set has its last leaf twice.", "short", decision(last_leaf_twice), seal, "E_COMMITMENT"),
    Case("proposals-unprefixed", "The root is a plain hash of the leaves, without a tree.", "short", decision(no_prefixes), seal, "E_COMMITMENT"),
    Case("proposals-hidden", "A rejected proposal was taken out; root, digest and token were made to fit.", "short", rebound(lambda commit, step: (commit["proposals"].pop(), step["decisions"].pop())), recount, "E_REPLAY", "L4", needs="replay"),
    Case("token-missing", "A decision has no token.", "short", decision(lambda commit, step: step.update(token=None)), seal, "E_COMMITMENT"),
    Case("token-of-another-step", "A decision has the token of the step before.", "short", token_twice, seal, "E_COMMITMENT"),
    Case("token-scope", "A token is bound to another scope.", "short", decision(lambda commit, step: step["token"].update(scope="ab" * 32)), seal, "E_COMMITMENT"),
    Case("token-id", "A token has another name than its binding.", "short", decision(lambda commit, step: step["token"].update(id="ab" * 32)), seal, "E_COMMITMENT"),
    Case("token-field", "A token says more than it must.", "short", decision(lambda commit, step: step["token"].update(note="x")), seal, "E_COMMITMENT"),
    Case("token-for-nothing", "Nothing was chosen, and there is a token.", "stuck", lambda f: stands(f).update(token=f.receipts[STEP]["body"]["token"]), seal, "E_COMMITMENT"),
]  # fmt: skip

FAULTS: Final = (*EDIT, *CUT, *ORDER, *FORGED, *COMMITTED)
