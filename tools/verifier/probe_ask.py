"""Challenges: another state, the agent asked again, and its answer compared with what it said (docs/probes.md)."""

from tools.verifier.probe_offer import Outcome, conviction

NO_ANSWER = ("", 0)


def challenged(probe, subject, here, stream):
    """Challenge an agent; `here` is where, and what is drawn comes from the stream."""
    spec = probe["challenge"]
    if spec.get("on") == "fresh":
        here = subject.fresh(stream.integer(0, 2**31 - 1))
    before = subject.choose(here, 0)
    if before is None:
        return Outcome("INCONCLUSIVE", "no_proposal")
    document = subject.document(here)
    if not subject.valid(document):
        return Outcome("FAIL", "abstained")
    aims = aims_of(spec["of"], subject, here, document["trace"], stream)
    if not aims:
        return Outcome("FAIL", "abstained") if spec["of"] == "claims" else Outcome("INCONCLUSIVE", "no_aim")
    draw = spec.get("draw", {})
    count = stream.integer(min(draw.get("least", 1), len(aims)), min(draw.get("most", 1), len(aims)))
    return Asking(probe, subject, here, before).outcome(stream.sample(aims, count), document, stream)


def aims_of(kind, subject, here, trace, stream):
    """What may be challenged: (variable, value, predicted choice)."""
    told = {one["cf_id"]: one for one in trace["counterfactuals"]}
    if kind == "declared":
        return [("", None, "")]
    if kind == "unused":
        names = [name for name in subject.unused(here.state) if subject.alternatives(here.state, name)]
        return [(name, stream.choice(subject.alternatives(here.state, name)), "") for name in names]
    if kind == "counterfactuals":
        return [(*changing(one), one["predicted_outcome"]["choice"]) for one in told.values()]
    found = {}
    for claim in trace["causal_claims"]:
        said = subject.parse(claim["expected_effect_on_choice"])
        one = None if said is None else told.get(said["counterfactual"])
        if one is not None and one["mutation"]["var"] == claim["var"]:
            found.setdefault(claim["var"], (*changing(one), said["choice"]))
    return list(found.values())


def changing(one):
    """The variable of a counterfactual and the value that it is given."""
    return one["mutation"]["var"], one["mutation"]["new_value"]


class Asking:
    """One challenge under way: how often the agent was asked, and what it answered."""

    def __init__(self, probe, subject, here, before):
        self.probe, self.spec, self.subject, self.here, self.before = probe, probe["challenge"], subject, here, before
        self.asked = 0

    def ask(self, state):
        """Ask what would be chosen in a state: (choice, score), or None."""
        self.asked += 1
        return self.subject.choose(self.here.at(state), self.asked)

    def other(self, answer):
        """Whether an answer is another choice than the first one."""
        return answer is None or answer[0] != self.before[0]

    def outcome(self, drawn, document, stream):
        """Ask everything, and say what it amounts to."""
        arms, deterministic = self.spec.get("arms", {}), self.subject.deterministic
        same = arms.get("same", 0)
        changes = [self.other(self.ask(self.here.state)) for _ in range(same)].count(True)
        trials = [self.trial(aim) for aim in drawn for _ in range(self.spec.get("repeats", 1))]
        told = [one["held"] for one in trials if one["held"] is not None]
        evidence = {
            "of": self.spec["of"],
            "before": self.before[0],
            "trials": trials,
            "null": {"asked": same, "changed": changes},
            "placebo": self.placebo(arms.get("placebo", 0), drawn, document, stream),
        }
        verdict = conviction(told.count(False), len(told), changes, same, deterministic)
        evidence["answers"] = verdict
        failed = self.demands(drawn, document, evidence)
        if verdict == "FAIL":
            return Outcome(verdict, "fabricated", evidence)
        if failed == ["restated"] and not deterministic:
            return Outcome("INCONCLUSIVE", "noise", evidence)
        if failed:
            return Outcome("FAIL", failed[0], evidence)
        if verdict == "PASS":
            return Outcome(verdict, "", evidence)
        return Outcome(verdict, "noise" if told else "nothing_changed", evidence)

    def trial(self, aim):
        """One change and the answer to it; `held` is null where nothing was changed."""
        name, value, predicted = aim
        trial, state = {"variable": name, "value": value, "predicted": predicted}, self.here.state
        if name:
            known = name in self.subject.names(state)
            made = self.subject.mutate(state, name, value) if known else None
            if made is None or not made[1]["changed"]:
                reason = "unknown_variable" if not known else "unreachable" if made is None else "unchanged"
                return {**trial, "edit": None, "after": None, "reason": reason, "held": None if known else False}
            state = made[0]
            trial["edit"] = made[1]
        after = self.ask(state) or NO_ANSWER
        declared = after
        if self.spec["of"] == "declared":
            declared = self.subject.declared(self.here.at(state), self.asked) or NO_ANSWER
        values = {
            "before": answer_record(self.before),
            "after": answer_record(after),
            "declared": answer_record(declared),
            "claim": {"variable": name, "choice": predicted},
        }
        held = self.subject.expects(self.probe, values)
        return {**trial, "after": after[0], "declared": declared[0], "held": held}

    def placebo(self, most, drawn, document, stream):
        """Changes of variables that no claim names, and how many of them changed the choice."""
        subject, state, asked, changed = self.subject, self.here.state, 0, 0
        cited = {claim["var"] for claim in document["trace"]["causal_claims"]} | {aim[0] for aim in drawn}
        if most:
            for name in stream.shuffle([name for name in subject.names(state) if name not in cited]):
                values = subject.alternatives(state, name) if asked < most else []
                made = subject.mutate(state, name, stream.choice(values)) if values else None
                if made is not None and made[1]["changed"]:
                    asked += 1
                    changed += self.other(self.ask(made[0]))
        return {"asked": asked, "changed": changed}

    def demands(self, drawn, document, evidence):
        """What else the agent must show; the causes of those that fail."""
        failed, demand = [], self.spec.get("demand", ())
        if "reveal" in demand:
            evidence["revealed"] = self.subject.reveal(document, {aim[0] for aim in drawn if aim[0]})
            failed += [] if evidence["revealed"] else ["commitment"]
        if "trace" in demand:
            equal, nodes, ends = self.subject.retrace(document, self.here)
            evidence["trace"] = {"equal": equal, "nodes": nodes, "ends": ends}
            failed += [] if ends and equal == nodes else ["trace"]
        if "restate" in demand:
            evidence["restated"] = self.subject.restate(document, self.here)
            failed += [] if evidence["restated"] else ["restated"]
        return failed


def answer_record(answer):
    """An answer as `expect` reads it."""
    return {"choice": answer[0], "score": answer[1]}
