"""What a kernel rules about a document: its schema, then the invariants of scope `proposal`, then the scope of a token.

The rules are those of docs/probes.md (Kernel as a governor). Every fatal finding is told, none hides another; what
cannot be evaluated denies.
"""

import re

from tools.verifier.basis import Open, demand
from tools.verifier.kernel_forms import hashed, units_of, witness_of
from tools.verifier.kernel_schema import PROPOSAL, fits_form
from tools.verifier.kernel_tokens import narrowed
from tools.verifier.sealed import Unsealable
from tools.verifier.values import Failed

SLOT = re.compile(r"<([a-z]+)>")
SLOTS = {"counterfactual": "[A-Za-z0-9_.-]{1,80}", "choice": "[!-~]{1,80}"}


class Vocabulary:
    """How claims are worded: the first form is written, all are read."""

    def __init__(self, forms):
        self.forms, self.patterns = forms, []
        for form in forms:
            parts = SLOT.split(form)
            demand(sorted(parts[1::2]) == sorted(SLOTS), "E_SPECS", "a form of a vocabulary has other slots")
            made = (f"(?P<{one}>{SLOTS[one]})" if at % 2 else re.escape(one) for at, one in enumerate(parts))
            self.patterns.append(re.compile("".join(made), re.ASCII))

    def say(self, counterfactual, choice):
        """A claim in words."""
        values = {"counterfactual": counterfactual, "choice": choice}
        return SLOT.sub(lambda slot: values[slot[1]], self.forms[0])

    def parse(self, text):
        """What a claim says; None if it is of no form, or of several."""
        found = [match.groupdict() for match in (one.fullmatch(text) for one in self.patterns) if match]
        return found[0] if len(found) == 1 else None


class Finding:
    """Something that speaks against a document."""

    def __init__(self, name, reason, data=None, severity="fatal", told=None):
        self.name, self.reason, self.data, self.severity, self.told = name, reason, data, severity, told

    def code(self):
        """As notes hold it."""
        return f"{self.name}:{self.reason}"

    def witness(self):
        """As an entry holds it."""
        return witness_of(self.name, self.reason, self.data if self.told is None else self.told, self.severity)

    def rejection(self):
        """As a receipt holds it."""
        return {"gate": self.name, "reason": self.reason, "witness": dict(self.told or {})}


class Ruling:
    """What was ruled about a submission; `scope` is what is granted, None where it is denied."""

    def __init__(self, submission, verdict, findings, codes=(), capability="", scope=None):
        self.submission, self.verdict, self.capability, self.scope = submission, verdict, capability, scope
        self.witnesses = [one.witness() for one in findings]
        self.codes = [*(one.code() for one in findings), *codes]
        denied = scope is None
        self.rejected = [one.rejection() for one in findings if denied and one.severity == "fatal"]


class Admission:
    """The rules of one kernel."""

    def __init__(self, data, invariants, variables, ground, vocabulary):
        """`data` is the governor's `admission`; `invariants` has (name, severity, `judge(state, names)`) of each."""
        if data["document"] != "proposal":
            raise Open("E_REPLAY", f"documents of the schema {data['document']!r} are not made again here")
        self.invariants, self.variables, self.ground, self.vocabulary = invariants, variables, ground, vocabulary
        self.env_text = data["env"]
        self.grants = {name: scope_document(one) for name, one in data.get("grants", {}).items()}
        self.free = {name: scope_document(one) for name, one in data.get("free", {}).items()}

    def gates(self):
        """What can deny a document that fits its schema, and its execution."""
        return [*(name for name, _, _ in self.invariants), "scope", "evaluation", "token"]

    def env(self, state):
        """The environment that a document must show."""
        return self.ground.over(state, self.env_text)

    @staticmethod
    def accepts(document):
        """Whether a document fits its schema."""
        return fits_form(document, PROPOSAL)

    def rule(self, state, submission):
        """Rule about whatever was submitted."""
        document = submission.document
        if submission.problem is not None:
            return Ruling(submission, "deny", [Finding("schema", submission.problem)])
        if not self.accepts(document):
            return Ruling(submission, "deny", [Finding("schema", "not_valid", document)])
        try:
            found = self.find(state, submission)
        except (Failed, Unsealable) as error:
            return Ruling(submission, "deny", [Finding("evaluation", error.code)])
        findings = [self.look(one, state, document, found) for one in self.invariants]
        findings = [one for one in findings if one is not None]
        if any(one.severity == "fatal" for one in findings):
            return Ruling(submission, "deny", findings)
        return self.scoped(submission, findings)

    def look(self, invariant, state, document, found):
        """What an invariant finds; one that cannot be evaluated is broken."""
        name, severity, judge = invariant
        try:
            told = judge(state, {"document": document, "found": found})
        except Failed as error:
            return Finding(name, error.code)
        return None if told is None else Finding(name, "broken", None, severity, told)

    def scoped(self, submission, findings):
        """Grant the scope of the plan's first step, cut to what may be granted."""
        op = submission.document["payload"]["plan"]["steps"][0]["op"]
        if op in self.free:
            return Ruling(submission, "allow", findings, (), op, self.free[op])
        for request in submission.document["requested_capabilities"]:
            name, asked = request["capability"], request["scope"]
            if name not in self.grants or op not in asked["allowed_ops"]:
                continue
            scope = narrowed(asked, self.grants[name])
            if scope is not None and op in scope["allowed_ops"]:
                if scope == asked:
                    return Ruling(submission, "allow", findings, (), name, scope)
                return Ruling(submission, "allow_with_constraints", findings, (f"narrowed:{name}",), name, scope)
        return Ruling(submission, "deny", [*findings, Finding("scope", "no_capability", op)])

    def find(self, state, submission):
        """What the kernel itself finds about a document."""
        document, trace = submission.document, submission.document["trace"]
        own, shown = hashed(self.env(state)), hashed(document["env"])
        known = self.variables.names(state)
        masses = [one["prob_mass"] for one in trace["counterfactuals"]]
        return {
            "trace_hash": submission.trace_hash,
            "env_digest": shown,
            "state_digest": own,
            "mass": units_of(masses),
            "mass_in_range": all(0 <= mass <= 1 for mass in masses),
            "snapshots": [self.snapshot(state, known, one) for one in trace["fork_snapshots"]],
            "nodes": sorted({one["id"] for one in trace["nodes"]}),
            "leading": leading(trace),
            "claims": [self.claim(one) for one in trace["causal_claims"]],
            "known": known,
            "step": self.step_label(document["payload"]["plan"]["steps"][0]),
        }

    def snapshot(self, state, known, one):
        """A snapshot's digest, and the kernel's own; empty where a variable is unknown."""
        focus, expected = one["focus_vars"], ""
        if set(focus) <= set(known):
            expected = hashed(self.variables.normalize(state, focus))
        return {"fork_id": one["fork_id"], "given": one["state_digest"], "expected": expected}

    def claim(self, one):
        """What a claim says, in the words of the vocabulary."""
        said = self.vocabulary.parse(one["expected_effect_on_choice"])
        return {"var": one["var"], **(said or {"counterfactual": "", "choice": ""})}

    def step_label(self, step):
        """The label of a step of a plan; empty where the world has no such action."""
        if "op" in step["args"]:
            return ""
        return self.variables.label({**step["args"], "op": step["op"]}) or ""


def scope_document(grant):
    """A grant as a scope."""
    rate = {"max_calls": grant["max_calls"], "per_ms": grant["per_ms"]}
    return {"allowed_ops": list(grant["allowed_ops"]), "rate_limit": rate, "expiry_ms": grant["expiry_ms"]}


def request_of(grants, wanted):
    """What an agent asks for by an action: as much as is granted, or what it wants instead."""

    def asks(action):
        granted = grants.get(action["op"])
        if granted is None:
            return None
        rate = granted["rate_limit"]
        scope = {
            "allowed_ops": [action["op"]],
            "rate_limit": {
                "max_calls": wanted.get("max_calls") or rate["max_calls"],
                "per_ms": wanted.get("per_ms") or rate["per_ms"],
            },
            "expiry_ms": wanted.get("expiry_ms") or granted["expiry_ms"],
        }
        return {"capability": action["op"], "scope": scope, "justification": "the first step of the plan"}

    return asks


def leading(trace):
    """The nodes from which the last one can be reached, itself among them."""
    known, before = {one["id"] for one in trace["nodes"]}, {}
    for one in trace["edges"]:
        before.setdefault(one["to"], []).append(one["from"])
    reached, waiting = set(), [trace["nodes"][-1]["id"]]
    while waiting:
        one = waiting.pop()
        if one in known and one not in reached:
            reached.add(one)
            waiting += before.get(one, ())
    return sorted(reached)
