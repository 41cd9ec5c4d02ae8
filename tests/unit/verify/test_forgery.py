"""A bundle that is sealed again after a change is whole in itself, and replay tells it all the same.

The forger changes what happened, then makes everything fit that can be computed without the engine: commitments, tokens,
chains of parts, the chain of receipts, the Merkle root, the result, the file list. What stays is that the specs do not
lead to it.
"""

import json

import pytest

from specledger.core.verdict import Verdict
from specledger.kinds import KINDS
from specledger.verify.assurance_levels import Reader
from specledger.verify.checks import Status
from specledger.verify.run import RUN
from tests.verifying import verify_bundle


def decisions(f):
    return list(zip(f.bodies("commit"), f.bodies("step"), strict=True))


def choose_another(f):
    commit, step = decisions(f)[0]
    step["chosen"] = 0
    f.bind(commit, step)


def add_a_proposal(f):
    commit, step = decisions(f)[0]
    commit["proposals"].append(commit["proposals"][0])
    step["decisions"].append(step["decisions"][0])
    f.bind(commit, step)


def hide_the_last_step(f):
    (commit, step), close = decisions(f)[2], f.bodies("episode_end")[0]
    f.receipts = [one for one in f.receipts if one["body"] is not commit and one["body"] is not step]
    close["state"] = step["before"]
    f.chain_parts()


def hide_a_drift(f):
    drift = f.bodies("drift")[0]
    f.receipts = [one for one in f.receipts if one["body"] is not drift]
    decisions(f)[1][1]["before"] = drift["before"]


def hide_an_episode(f):
    f.receipts = [one for one in f.receipts if one["body"].get("episode") != 1]
    f.bodies("end")[0]["episodes"] = 1
    f.bodies("start")[0]["episodes"] = 1


def make_up_a_violation(f):
    """In the last step of an episode, which then ended by it."""
    decisions(f)[2][1]["violations"] = [{"invariant": "bounded", "severity": "fatal", "witness": {}}]
    f.bodies("episode_end")[0]["ended"] = "fatal"


def hide_that_nothing_was_admitted(f):
    """In `stuck`: the last decision of each episode admits its first proposal."""
    for commit, step in decisions(f):
        if step["chosen"] is None:
            step["decisions"][0]["rejected"] = []
            step["chosen"], step["violations"] = 0, []
            f.bind(commit, step)


def name_other_gates(f):
    f.bodies("start")[0]["gates"].remove("leap")
    for _, step in decisions(f):
        for decision in step["decisions"]:
            decision["rejected"] = []


def loosen_the_specs(f):
    """A gate of the governor denies less; keys, digests and the run's name fit; the receipts are the old ones."""

    def loosen(document):
        (governor,) = (spec for spec in document["specs"].values() if spec["spec"] == "governor/v1")
        governor["gates"][0]["deny"] = "action.by > 2"

    f.respec(loosen)


def tighten_the_specs(f):
    """There is said to be one episode, which is what a scenario has that says nothing."""

    def tighten(document):
        del document["specs"][document["root"]]["episodes"]

    f.respec(tighten)


FORGERIES = {
    choose_another: ("climb", "receipt 3 differs at body.chosen: recorded 0, replayed 1"),
    add_a_proposal: ("climb", "receipt 2 differs at body.proposals[3]: recorded {"),
    hide_the_last_step: ("climb", "receipt 7 differs at type: recorded 'episode_end', replayed 'commit'"),
    hide_a_drift: ("climb", "receipt 4 differs at type: recorded 'commit', replayed 'drift'"),
    hide_an_episode: ("climb", "receipt 0 differs at body.episodes: recorded 1, replayed 2"),
    make_up_a_violation: ("climb", "receipt 8 differs at body.violations[0]: recorded {"),
    hide_that_nothing_was_admitted: ("stuck", "receipt 8 differs at body.chosen: recorded 0, replayed None"),
    name_other_gates: ("climb", "receipt 0 differs at body.gates[1]: recorded 'honest', replayed 'leap'"),
    loosen_the_specs: ("climb", "receipt 3 differs at body."),
    tighten_the_specs: ("climb", "receipt 0 differs at body.episodes: recorded 2, replayed 1"),
}


def test_an_untouched_bundle_sealed_again_is_the_same_bytes(forge):
    """So the forger knows every rule, and what tells a forged bundle is its change."""
    forger = forge()
    before = {name: forger.read(name) for name in ("manifest.json", "receipts.jsonl", "specs.json")}
    forger.chain_parts()
    for commit, step in decisions(forger):
        forger.bind(commit, step)
    forger.respec(lambda document: None)
    forger.seal()
    assert {name: forger.read(name) for name in before} == before


SPOKEN = {hide_an_episode, name_other_gates, tighten_the_specs}
"""Those that the first receipt gives away, which is compared with the specs before anything is run."""


@pytest.mark.parametrize("change", FORGERIES, ids=lambda change: change.__name__)
def test_a_forged_bundle_is_whole_in_itself_and_replay_tells(forge, change):
    variant, difference = FORGERIES[change]
    forger = forge(variant)
    change(forger)
    forger.recount()
    forger.seal()
    found = verify_bundle(forger.folder, RUN, KINDS, Reader(replay=False))
    start = Status.FAILED if change in SPOKEN else Status.PASSED
    *before, first, replay = [check.status for check in found.checks]
    assert (set(before), first, replay) == ({Status.PASSED}, start, Status.NOT_MADE)
    expected = Verdict.FAIL if change in SPOKEN else Verdict.INCONCLUSIVE
    assert found.verdict is expected, "what was not replayed is not accepted"

    found = verify_bundle(forger.folder, RUN, KINDS)
    *before, replay = [check.status for check in found.checks]
    assert (set(before), replay) == ({Status.PASSED}, Status.FAILED)
    assert found.checks[-1].code == "E_REPLAY"
    assert difference in str(found.checks[-1].message)
    assert found.verdict is Verdict.FAIL


def test_loosened_specs_with_the_old_receipts_are_refused_at_every_stage_of_fitting(forge):
    """From only the file to everything: the specs' digest, the run's name in the receipts, and replay refuse in turn."""
    forger = forge()
    before, start = dict(forger.manifest), forger.bodies("start")[0]["specs"]
    loosen_the_specs(forger)
    fitting, forger.manifest = forger.manifest, before
    forger.relist()
    refused = [failure(forger)]
    forger.manifest = fitting
    forger.relist()
    refused.append(failure(forger))
    forger.bodies("start")[0]["specs"] = start
    forger.seal()
    refused.append(failure(forger))
    forger.bodies("start")[0]["specs"] = fitting["specs"]
    forger.seal()
    refused.append(failure(forger))
    assert refused == ["E_SPECS", "E_CHAIN", "E_SPECS", "E_REPLAY"]


def failure(forger):
    return next(
        (check.code for check in verify_bundle(forger.folder, RUN, KINDS).checks if check.status is Status.FAILED),
        None,
    )


def leaves(value, path=()):
    """The path of every scalar and every empty collection."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [leaf for key, member in members for leaf in leaves(member, (*path, key))]
    return found or [path]


def changed(value):
    """A value of the same type that is another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return ("1" if value[:1] == "0" else "0") + value[1:]
    if value == []:
        return [{"gate": "leap", "invariant": "bounded", "severity": "warn"}]
    return 0 if value is None else {"x": 0}


@pytest.mark.slow
@pytest.mark.usefixtures("specs_once")
def test_no_field_of_any_receipt_can_be_changed_and_sealed(forge):
    """One field at a time, everything sealed anew."""
    forger = forge("small")
    untouched = json.dumps(forger.receipts)
    told = {}
    for path in leaves([receipt["body"] for receipt in forger.receipts]):
        forger.receipts = json.loads(untouched)
        place = forger.receipts[path[0]]["body"]
        for step in path[1:-1]:
            place = place[step]
        place[path[-1]] = changed(place[path[-1]])
        forger.seal()
        told[path] = failure(forger)
    assert None not in told.values(), [path for path, code in told.items() if code is None]
    assert {"E_STATE", "E_COMMITMENT", "E_SPECS", "E_REPLAY"} <= set(told.values())
