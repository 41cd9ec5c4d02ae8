"""The receipts of a run in their order: each goes on from what those before it left."""

import hashlib

from tools.verifier.basis import ZEROS, counted, demand, number, tagged, write
from tools.verifier.decisions import Figures, decided


class Run:
    """The receipts of a scenario: each goes on from what those before it left."""

    def __init__(self):
        self.gates, self.all_gates, self.invariants, self.due, self.tips = {}, {}, {}, {}, {}
        self.episode, self.steps, self.t = -1, 0, -1
        self.open = self.fatal = self.ended = False
        self.commit, self.state, self.first = None, "", None
        self.entries, self.entry_head = [], ZEROS
        self.result = Figures()

    def add(self, kind, body):
        """Take the next receipt."""
        demand(not self.ended, "E_ENDS", f"{kind!r} after the end")
        demand(kind in self.TAKES, "E_LINE", f"there are no receipts of the type {kind!r}")
        self.TAKES[kind](self, body)
        self.result.add(kind, body)

    @staticmethod
    def need(holds, message):
        """Refute the evidence unless the receipt goes on from those before it."""
        demand(holds, "E_STATE", message)

    def start(self, body):
        """Keep what the run promises."""
        self.promised, self.horizon = body["episodes"], body["horizon"]
        self.commits = body.get("commit", "proposals") != "none"
        self.entry_head = body["audit"]["head"] if "audit" in body else ZEROS
        self.gates, self.all_gates = dict.fromkeys(body["gates"], 0), dict.fromkeys(body["gates"], 0)
        self.invariants = {(one["scope"], one["name"]): one["severity"] for one in body["invariants"]}
        for drift in body["drifts"]:
            self.due.setdefault(drift["drift"], set()).update(drift["schedule"])

    def begin(self, body):
        """An episode begins where the one before it ended, in the state that it shows."""
        self.need(not self.open and number(body["episode"], self.episode + 1), "an episode begins out of order")
        self.need(body["digest"] == tagged("state", write(body["state"])), "the digest of the start state is wrong")
        self.episode, self.state, self.open = body["episode"], body["digest"], True
        self.t, self.commit, self.first, self.fatal = -1, None, None, False
        self.tips = dict.fromkeys(body["parts"], ZEROS)

    def placed(self, body):
        """See that a receipt belongs to the step that comes next."""
        here = self.open and number(body["episode"], self.episode) and number(body["t"], self.t + 1)
        self.need(here, "a receipt is out of order")

    def uncommitted(self):
        """See that no decision is due."""
        self.need(self.commit is None, "a commitment is not followed by its decision")

    def drift(self, body):
        """A drift is due, and begins in the last state."""
        self.placed(body)
        self.uncommitted()
        self.need(body["t"] in self.due.get(body["drift"], ()), f"the drift at t = {body['t']} was not due")
        self.need(body["before"] == self.state, "a drift begins in another state")
        self.state = body["after"]

    def audit(self, body):
        """An entry of the audit log follows the one before it."""
        own = {name: value for name, value in body.items() if name != "entry_hash"}
        self.need(body["prev_entry_hash"] == self.entry_head, "an audit entry does not follow the one before it")
        found = hashlib.sha256(write(own)).hexdigest()
        self.need(body["entry_hash"] == found, "the hash of an audit entry is not its own")
        self.entry_head = found
        self.entries.append(found)

    def probe(self, body):
        """A probe belongs to the step that is being decided."""
        here = self.open and number(body["episode"], self.episode) and number(body["t"], self.t + 1)
        self.need(here, "a probe is out of order")

    def committed(self, body):
        """A set of proposals is committed to."""
        self.placed(body)
        self.uncommitted()
        self.commit = body

    def step(self, body):
        """A decision is bound to its commitment, and begins in the last state."""
        self.placed(body)
        if self.commits:
            demand(self.commit is not None, "E_COMMITMENT", "no commitment precedes a decision")
            decided(self.commit, body)
        t = body["t"]
        self.need(body["before"] == self.state, f"the step at t = {t} begins in another state")
        still = body["after"] == body["before"]
        self.need(body["chosen"] is not None or still, f"nothing was done at t = {t}, but the state changed")
        for name, receipt in body["parts"].items():
            self.part(name, receipt)
        self.need(t < self.horizon and not self.fatal, f"there is a step at t = {t}, after the episode's end")
        for decision in body["decisions"]:
            for failing in decision["rejected"]:
                self.need(failing["gate"] in self.gates, "a gate is none of the run's")
                self.gates[failing["gate"]] += 1
        self.broken("step", body["violations"])
        if body["success"] is True and self.first is None:
            self.first = t
        self.state, self.t, self.commit, self.steps = body["after"], t, None, self.steps + 1

    def part(self, name, receipt):
        """A part's receipt goes on from its last tip."""
        self.need(receipt["tip"] == self.tips[name], f"the chain of {name!r} is broken")
        bare = {key: value for key, value in receipt.items() if key != "tip_after"}
        tip = tagged("part", receipt["tip"].encode() + write(bare))
        self.need(receipt["tip_after"] == tip, f"the tip of {name!r} is wrong")
        moved = receipt["before"] != receipt["after"]
        self.need(receipt["accepted"] or not moved, f"{name!r} moved, though it refused")
        self.tips[name] = tip

    def broken(self, scope, violations):
        """Broken invariants are some of the run's."""
        for one in violations:
            severity = self.invariants.get((scope, one["invariant"]))
            known = severity is not None and one["severity"] == severity
            self.need(known, "a broken invariant is none of the run's")
            self.fatal = self.fatal or (scope == "step" and severity == "fatal")

    def error(self, body):
        """An error happens in an episode, or where one would begin."""
        self.need(number(body["episode"], self.episode + (not self.open)), "an error outside an episode")

    def close(self, body):
        """An episode ends as its steps came to."""
        ended = body["ended"]
        begun = self.open and number(body["episode"], self.episode)
        failed = not self.open and number(body["episode"], self.episode + 1) and ended == "error"
        self.need(begun or failed, "an episode ends that was not begun")
        self.need(self.commit is None or ended == "error", "a commitment is not followed by its decision")
        self.need(failed or number(body["steps"], self.t + 1), "an episode counts other steps than it has")
        self.need(failed or body["state"] == self.state, "an episode ends in another state")
        steps = 0 if failed else self.t + 1
        first = None if failed else self.first
        self.need(
            type(body["first_success"]) is type(first) and body["first_success"] == first, "another first success"
        )
        self.need(body["success"] is (first is not None), "an episode claims another success")
        self.need((ended == "fatal") == (self.fatal and not failed), "an episode ended otherwise than it says")
        self.need(ended != "horizon" or steps == self.horizon, "an episode ended before its horizon")
        if ended in ("horizon", "until", "fatal"):
            self.broken("episode", body["violations"])
        self.need(counted(body["gates"], self.gates), "an episode counts other rejections")
        for gate, rejected in self.gates.items():
            self.all_gates[gate] += rejected
        self.gates = dict.fromkeys(self.gates, 0)
        for name, idle in body["idle"].items():
            most = steps * (("step", name) in self.invariants) + (("episode", name) in self.invariants)
            self.need(type(idle) is int and 0 < idle <= most, "an invariant is idle too often")
        self.episode, self.open, self.fatal, self.first = body["episode"], False, False, None

    def end(self, body):
        """The run ends as long as it promised."""
        whole = not self.open and number(body["episodes"], self.episode + 1)
        self.need(whole and number(body["episodes"], self.promised), "the run ends in its middle")
        self.need(number(body["steps"], self.steps), "the run counts other steps than it has")
        self.need(counted(body["gates"], self.all_gates), "the run counts other rejections")
        self.ended = True

    TAKES = {
        "start": start,
        "episode": begin,
        "drift": drift,
        "audit": audit,
        "probe": probe,
        "commit": committed,
        "step": step,
        "error": error,
        "episode_end": close,
        "end": end,
    }
