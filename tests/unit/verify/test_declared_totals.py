"""What a run says about itself is compared with its receipts, without specs and without replay."""

import pytest

from specledger.kinds import MODELS
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import verify_bundle
from specledger.verify.checks import Status
from specledger.verify.run import RUN


def close(f):
    return f.bodies("episode_end")[0]


def step(f, number=0):
    return f.bodies("step")[number]


SAID = {
    "a first success that was none": (lambda f: close(f).update(first_success=0), "first success"),
    "a first success that is a truth value": (lambda f: close(f).update(first_success=False), "first success"),
    "a success that was none": (lambda f: close(f).update(success=not close(f)["success"]), "claims another success"),
    "an end by a breach that was none": (lambda f: close(f).update(ended="fatal"), "ended otherwise"),
    "a horizon that was not reached": (lambda f: f.bodies("start")[0].update(horizon=9), "the horizon is 9"),
    "a step after the horizon": (lambda f: f.bodies("start")[0].update(horizon=1), "after the episode's end"),
    "more rejections than there were": (lambda f: close(f)["gates"].update(schema=1), "counts other rejections"),
    "a gate that is none": (lambda f: step(f)["decisions"][2]["rejected"][0].update(gate="none"), "none of the run's"),
    "another gate's rejection": (lambda f: step(f)["decisions"][2].update(rejected=[{"gate": "honest", "reason": "x", "witness": {}}]), "counts other rejections"),
    "a breach of no invariant": (lambda f: step(f, 2).update(violations=[{"invariant": "none", "severity": "warn", "witness": {}}]), "none of the run's"),
    "a breach of another severity": (lambda f: step(f, 2).update(violations=[{"invariant": "bounded", "severity": "warn", "witness": {}}]), "none of the run's"),
    "an invariant idle too often": (lambda f: close(f).update(idle={"bounded": 99}), "idle too often"),
    "an invariant idle for less than once": (lambda f: close(f).update(idle={"bounded": 0}), "idle too often"),
    "an invariant idle that is none": (lambda f: close(f).update(idle={"none": 1}), "idle too often"),
    "a drift that was not due": (lambda f: [one.update(schedule=[]) for one in f.bodies("start")[0]["drifts"]], "was not due"),
    "fewer episodes than were promised": (lambda f: f.bodies("start")[0].update(episodes=3), "promised 3 episodes"),
    "a run that counts other rejections": (lambda f: f.bodies("end")[0]["gates"].update(schema=1), "the run counts other"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
@pytest.mark.usefixtures("specs_once")
def test_a_claim_that_its_own_receipts_refute_is_refused(forge, name):
    change, why = SAID[name]
    forger = forge("climb")
    change(forger)
    forger.seal()
    found = verify_bundle(forger.folder, RUN, MODELS, Reader(replay=False))
    (check,) = [check for check in found.checks if check.status is Status.FAILED]
    assert (check.number, check.code) == (5, "E_STATE")
    assert why in str(check.message)
