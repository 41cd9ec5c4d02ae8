"""The episodes of a run, as the measures of a suite read them (docs/suites.md)."""

from tools.verifier.basis import merkle, tagged, write

PART_CHAIN = ("before", "after", "tip", "tip_after")


class EpisodeReader:
    """Folds receipts, in their order, into episodes."""

    def __init__(self, heading):
        self.heading, self.horizon, self.start, self.commit = heading, 0, None, None
        self.steps, self.drifts, self.probes, self.entries = [], [], [], []

    def add(self, kind, body):
        """Take one receipt; the episode that it ends, or None."""
        if kind == "start":
            self.horizon = body["horizon"]
        elif kind == "episode":
            self.start, self.commit = body["state"], None
            self.steps, self.drifts, self.probes, self.entries = [], [], [], []
        elif kind == "drift":
            told = {name: body[name] for name in ("drift", "t", "changed")}
            self.drifts.append({**told, "rebases": body.get("rebases", [])})
        elif kind == "probe":
            self.probes.append(told_probe(body))
        elif kind == "audit":
            self.entries.append(told_entry(body))
        elif kind == "commit":
            self.commit = body
        elif kind == "step":
            self.steps.append(told_step(body, self.commit))
            self.commit = None
        elif kind == "episode_end" and self.start is not None:
            made, self.start = self.closed(body), None
            return made
        return None

    def closed(self, body):
        """The episode that ends here."""
        ends = [*(drift["t"] for drift in self.drifts), len(self.steps)]
        drifts = [{**drift, "end": end} for drift, end in zip(self.drifts, ends[1:])]
        stretches = [{"drift": "", "t": 0, "end": ends[0]}]
        stretches += [{name: drift[name] for name in ("drift", "t", "end")} for drift in drifts]
        first = body["first_success"]
        return {
            **self.heading,
            "horizon": self.horizon,
            "episode": body["episode"],
            "ended": body["ended"],
            "success": body["success"],
            "first_success": -1 if first is None else first,
            "breaches": told_breaches(body),
            "start": self.start,
            "steps": self.steps,
            "drifts": drifts,
            "stretches": stretches,
            "probes": self.probes,
            "entries": self.entries,
        }


def told_breaches(body):
    """Broken invariants without their witnesses."""
    return [{name: one[name] for name in ("invariant", "severity")} for one in body["violations"]]


def told_probe(body):
    """What a probe says, its answers and its trace."""
    evidence = body["evidence"]
    trace = evidence.get("trace", {"nodes": 0, "equal": 0})
    told = {name: body[name] for name in ("probe", "t", "verdict", "cause")}
    return {**told, "answers": evidence.get("answers", ""), "nodes": trace["nodes"], "equal": trace["equal"]}


def told_entry(body):
    """What an entry of a kernel's log says."""
    ruling = body["kernel_decision"]
    return {
        "event": body["event"],
        "verdict": ruling["verdict"],
        "codes": ruling["notes"].split(" ")[1:],
        "witnesses": [{name: one[name] for name in ("invariant", "severity")} for one in body["witnesses"]],
    }


def told_step(body, commit):
    """What a step says."""
    decisions, chosen = body["decisions"], body["chosen"]
    step = {
        "t": body["t"],
        "chosen": -1 if chosen is None else chosen,
        "proposals": len(decisions),
        "admitted": sum(not one["rejected"] and one["error"] is None for one in decisions),
        "errors": sum(one["error"] is not None for one in decisions),
        "rejections": [
            {"proposal": place, "gate": failing["gate"], "reason": failing["reason"]}
            for place, one in enumerate(decisions)
            for failing in one["rejected"]
        ],
        "bound": chosen is None or (commit is not None and bound_to(commit, body)),
        "success": body["success"],
        "violations": told_breaches(body),
        "parts": {
            name: {key: value for key, value in one.items() if key not in PART_CHAIN}
            for name, one in body["parts"].items()
        },
        "potentials": body.get("potentials", {}),
        "rebases": body.get("rebases", []),
    }
    if chosen is not None:
        step.update(record=body["record"], cost=body["cost"])
        if commit is not None:
            step["action"] = commit["proposals"][chosen]["action"]
    return step


def bound_to(commit, step):
    """Whether a choice is one of the proposals committed to before, by every digest of choice, set and token."""
    chosen, proposals = step["chosen"], commit["proposals"]
    if type(chosen) is not int or not 0 <= chosen < len(proposals) or commit["t"] != step["t"]:
        return False
    leaves = [write({"index": place, "proposal": one}) for place, one in enumerate(proposals)]
    digest, root = tagged("proposal", leaves[chosen]), merkle(leaves)
    scope = {"episode": step["episode"], "op": proposals[chosen]["action"]["op"], "t": step["t"]}
    token = {"commitment": root, "proposal": digest, "scope": tagged("scope", write(scope))}
    token["id"] = tagged("token", write(token))
    return root == commit["root"] and step["chosen_hash"] == digest and step["token"] == token
