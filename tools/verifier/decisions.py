"""What binds a decision to the set that was committed to, and the result that receipts add up to."""

from collections import Counter

from tools.verifier.basis import demand, merkle, tagged, write


def decided(commit, step):
    """Everything that binds a decision to the set that was committed to before it."""
    proposals, chosen, t = commit["proposals"], step["chosen"], step["t"]
    leaves = [write({"index": index, "proposal": one}) for index, one in enumerate(proposals)]
    code = "E_COMMITMENT"
    demand(merkle(leaves) == commit["root"], code, f"the proposals at t = {t} are not those committed to")
    demand(len(step["decisions"]) == len(proposals), code, f"there is not one decision for each proposal at t = {t}")
    admitted = [not one["rejected"] and one["error"] is None for one in step["decisions"]]
    if chosen is None:
        none = not any(admitted) and step["token"] is None and step["chosen_hash"] is None
        demand(none, code, f"nothing was chosen at t = {t}, though something was admitted")
        return
    demand(type(chosen) is int and 0 <= chosen < len(proposals), code, f"the choice at t = {t} is outside the set")
    demand(admitted[chosen], code, f"the proposal chosen at t = {t} was rejected")
    digest = tagged("proposal", leaves[chosen])
    demand(step["chosen_hash"] == digest, code, f"the digest of the proposal chosen at t = {t} is wrong")
    scope = {"episode": step["episode"], "op": proposals[chosen]["action"]["op"], "t": t}
    binding = {"commitment": commit["root"], "proposal": digest, "scope": tagged("scope", write(scope))}
    token = {"id": tagged("token", write(binding)), **binding}
    demand(step["token"] == token, code, f"the token at t = {t} is bound to something else")


class Figures:
    """The result of a run, added up from its receipts."""

    def __init__(self):
        self.count, self.scopes, self.probes = Counter(), Counter(), {}
        self.gates, self.violations, self.warnings = {}, Counter(), Counter()
        self.failed = self.ended = False

    def add(self, kind, body):
        """Take the next receipt."""
        count = self.count
        if kind == "start":
            self.gates = dict.fromkeys(body["gates"], 0)
            self.scopes.update(one["scope"] for one in body["invariants"])
        elif kind == "drift":
            count["drifts"] += 1
        elif kind == "error":
            count["errors"] += 1
        elif kind == "step":
            count["steps"] += 1
            count["proposals"] += len(body["decisions"])
            count["checks"] += self.scopes["step"]
            count["errors"] += sum(one["error"] is not None for one in body["decisions"])
            for failing in (failing for one in body["decisions"] for failing in one["rejected"]):
                self.gates[failing["gate"]] += 1
            self.violations.update(["progress"] if body["chosen"] is None else [])
            self.breaches(body)
        elif kind == "probe":
            count["checks"] += 1
            count["errors"] += body["verdict"] == "ERROR"
            self.failed = self.failed or body["verdict"] == "FAIL"
            self.probes.setdefault(body["probe"], Counter())[body["verdict"]] += 1
        elif kind == "episode_end":
            count["episodes"] += 1
            count["successes"] += bool(body["success"])
            count["checks"] += self.scopes["episode"] - sum(body["idle"].values())
            self.breaches(body)
        elif kind == "end":
            self.ended = True

    def breaches(self, body):
        """Count broken invariants by their severity."""
        for one in body["violations"]:
            (self.violations if one["severity"] == "fatal" else self.warnings)[one["invariant"]] += 1

    def made(self):
        """The result so far."""
        count = self.count
        verdict = "PASS" if count["checks"] else "INCONCLUSIVE"
        verdict = "FAIL" if self.violations or self.failed else verdict
        verdict = "ERROR" if count["errors"] or not self.ended else verdict
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        made = {"verdict": verdict, **{name: count[name] for name in names}}
        made.update(rejections=self.gates, violations=dict(self.violations), warnings=dict(self.warnings))
        return {**made, "probes": {name: dict(one) for name, one in self.probes.items()}} if self.probes else made
