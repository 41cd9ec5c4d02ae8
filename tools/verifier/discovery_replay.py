"""A discovery made again from its specs and the answers, receipt by receipt (docs/discovery.md).

Verdicts are taken from the receipts, where `discovery_check` looks at them; everything that follows from verdicts and
answers is made again: what is remembered, asked, read, left out, ranked, late, escalated, refuted and found.
"""

import re

from tools.verifier.basis import Refuted, demand, number, tagged, write
from tools.verifier.discovery_answer import AnswerParser, asked_for, failed_answer, readable
from tools.verifier.discovery_apart import told_apart
from tools.verifier.discovery_law import LawBook, Proposal
from tools.verifier.discovery_memory import ACCEPTED, DiscoveryMemory, memory_digest, view_digest
from tools.verifier.discovery_model import (
    LASTING_FAILURES,
    USAGE_FIGURES,
    Question,
    answer_form,
    model_identity,
    open_model,
    plain_digest,
)
from tools.verifier.discovery_prompt import PromptMaker, capabilities_of
from tools.verifier.discovery_rank import Ranking, millionths
from tools.verifier.discovery_same import ONE_WHOLE, KnownLaws, near_match, same_match
from tools.verifier.law_read import RingLaw

LEDGER_LINES = 1000
EQUAL_BY_PROOF = re.compile(r"(both hold|each follows from the other) under every rule; [0-9]{1,9} certificates")
NOTE_EQUAL = "that two laws follow from each other, where only a prover finds it, or finds it not"
LAW_HEAD = ("spec", "name", "doc", "metadata", "universe", "seed", "expect")


class Sight:
    """What a step may look at: the memory, how many laws are known, and the accepted laws that wait."""

    def __init__(self, memory, known, waiting):
        self.memory, self.known, self.waiting = memory.snapshot(), len(known), dict(waiting)


class Judged:
    """What is known of a law that was tried."""

    def __init__(self, proposal, iteration):
        self.proposal, self.iteration, self.verdict, self.escalated = proposal, iteration, None, False

    @property
    def status(self):
        return "ERROR" if self.verdict is None else self.verdict["status"]


class DiscoveryReplay:
    """Makes a discovery again and compares it with its receipts, (type, body) in their order."""

    def __init__(self, document, tape, receipts, notes):
        specs, root = document["specs"], document["root"]
        self.spec, self.specs, self.document = specs[root], specs, document
        self.receipts, self.at, self.notes = receipts, 0, notes
        spec = self.spec
        self.book = LawBook(specs, spec["universe"], spec["templates"])
        self.prompt = PromptMaker(spec, specs)
        self.ranking, self.model = Ranking(specs[spec["ranking"]]), open_model(specs, spec["model"], tape)
        strict = spec.get("proposer", {}).get("strict_parsing", False)
        self.parser, self.strict = AnswerParser(self.book, strict, self.prompt.scramble, notes), strict
        self.form = plain_digest(answer_form(self.prompt.allowed))
        self.memory = DiscoveryMemory(spec.get("memory", {}), capabilities_of(specs[spec["universe"]]))
        self.known, self.judged, self.waiting = [], {}, {}
        self.position = self.iterations = 0
        self.stopped = self.failure = None
        self.figures = dict.fromkeys(("evaluations", "escalations", "tokens", "dry", "late"), 0)
        self.views = {0: Sight(self.memory, self.known, self.waiting)}
        redundancy = spec.get("redundancy", {})
        self.threshold = millionths(redundancy.get("threshold", "0.9"))
        self.equivalent = redundancy.get("equivalent", True)
        self.lag, self.every = spec.get("lag", 1), spec.get("escalation", {}).get("every", 5)
        self.most = spec.get("iterations", 20)

    # Receipts

    def recorded(self, kind):
        """The body of the next receipt, which must be of this kind."""
        there = self.at < len(self.receipts) and self.receipts[self.at][0] == kind
        demand(there, "E_REPLAY", f"receipt {self.at}: made {kind!r}, recorded something else")
        return self.receipts[self.at][1]

    def same(self, kind, made):
        """The next receipt is this one."""
        recorded = self.recorded(kind)
        if write(recorded) != write(made):
            path, one, other = first_difference(recorded, made)
            message = f"receipt {self.at}, field {path}: recorded {one}, made {other}"
            raise Refuted("E_REPLAY", message)
        self.at += 1

    def run(self):
        """Make all of it again."""
        self.same("start", self.start())
        while self.stopped is None:
            rounds, within = divmod(self.position, self.every + 1)
            view = self.views[self.needs()]
            if within == self.every:
                self.escalate(view)
            else:
                demand(rounds * self.every + within == self.iterations, "E_REPLAY", "iterations are counted wrongly")
                self.propose(view)
            self.committed()
            if within != self.every:
                self.iterations += 1
                self.stopped = self.reason()
        self.escalate(Sight(self.memory, self.known, self.waiting))
        self.close()
        demand(self.at == len(self.receipts), "E_REPLAY", f"receipt {self.at} is one too many")
        if self.model.outside:
            self.model.finish()

    def needs(self):
        """How many steps were committed before what this step may look at."""
        return max(0, self.position - self.lag + 1)

    def committed(self):
        """A step is done."""
        self.position += 1
        self.views[self.position] = Sight(self.memory, self.known, self.waiting)
        self.views.pop(self.position - self.lag, None)

    def start(self):
        """The first receipt."""
        spec = self.spec
        return {
            "kind": "discovery",
            "discovery": spec["name"],
            "specs": tagged("specs", write(self.document)),
            "universe": spec["universe"],
            "model": {"spec": spec["model"], "identity": model_identity(self.specs, spec["model"])},
            "prompt": spec["prompt"],
            "ranking": spec["ranking"],
            "templates": self.prompt.allowed,
            "iterations": self.most,
            "lag": self.lag,
            "seed": spec.get("seed", 42),
        }

    # An iteration

    def propose(self, view):
        """Ask, read, leave out, rank; then the laws with their verdicts."""
        recorded, memory = self.recorded("iteration"), view.memory
        held, left = recorded.get("rejections"), recorded.get("redundant")
        shaped = listed_objects(held, ("object", "reason")) and listed_objects(left, ("law", "match_type"))
        demand(shaped, "E_REPLAY", f"receipt {self.at}: what was rejected or left out is told in another form")
        asked = self.spec.get("request", {})
        count = asked.get("count", 5)
        text, prompt = self.prompt.made(memory)
        lists = {"accepted": "accepted_laws", "falsified": "falsified_laws", "unknown": "unknown_laws"}
        names = {name: [one["law_id"] for one in memory[key]] for name, key in lists.items()}
        temperature = None if asked.get("temperature") is None else millionths(asked["temperature"])
        known = {"count": count, **names}
        question = Question(self.iterations, self.prompt.system, text, self.form, temperature, known)
        answer = self.model.ask(question)
        said = readable(answer, self.strict)
        laws, rejections, warned = ([], [], []) if said is None else self.parser.parsed(said, held)
        laws = asked_for(laws, rejections, asked.get("target_templates"), asked.get("exclude_templates"))
        warnings = failed_answer(answer)
        if len(laws) > count:
            warnings.append(f"{len(laws)} laws came, {count} were asked for")
        unique, nearest, redundant = self.filtered(laws, view, left)
        scored, unranked = self.ranking.ranked(unique, nearest, memory)
        self.same(
            "iteration",
            {
                "iteration": self.iterations,
                "snapshot": view_digest(memory, [law.key for _, law in self.known[: view.known]]),
                "prompt": prompt,
                "request": tagged("model-answer", write(question.document)),
                "answer": {
                    "digest": tagged("model-answer", write(answer)),
                    **{name: answer[name] for name in ("failure", "finish", "usage")},
                },
                "rejections": rejections,
                "redundant": redundant,
                "warnings": [*warnings, *warned, *unranked],
                "sensitivity": self.ranking.sensitivity(scored),
            },
        )
        self.failure = answer["failure"]
        self.figures["tokens"] += sum(answer["usage"][name] for name in USAGE_FIGURES)
        self.tried(scored, view)

    def filtered(self, laws, view, recorded):
        """The laws that are new, each with the one that it resembles most; and those that are left out."""
        before = self.index_of_known()
        batch, left = KnownLaws(), list(recorded)
        unique, nearest, redundant = [], [], []
        for law in laws:
            told = left[0] if left and left[0]["law"] == law.key else None
            found = self.match(law, [(before, view.known), (batch, len(batch.looks))], told)
            if found is not None and found["similarity"] >= self.threshold:
                redundant.append({**found, "law": law.key})
                left = left[1:]
                continue
            unique.append(law)
            nearest.append(found)
            batch.add(law)
        return unique, nearest, redundant

    def index_of_known(self):
        """An index of all laws that are known, each learned once."""
        index = getattr(self, "index", None) or KnownLaws()
        for _, law in self.known[len(index.looks) :]:
            index.add(law)
        self.index = index
        return index

    def match(self, law, indexes, told):
        """What a law repeats or resembles; that a prover found two to be the same is taken from the receipt."""
        found = same_match(law, indexes)
        if found is not None:
            return found
        if self.equivalent and any(most for _, most in indexes):
            self.notes.add(NOTE_EQUAL)
            if told is not None and told.get("match_type") == "equivalent":
                match = {name: one for name, one in told.items() if name != "law"}
                known = [one for index, most in indexes for one in index.looks[:most]]
                same = [one for one in known if one.id == match.get("matched_law_id")]
                shaped = match.keys() == {"matched_law_id", "similarity", "match_type", "details"}
                shaped = shaped and number(match["similarity"], ONE_WHOLE) and same
                shaped = shaped and isinstance(match["details"], str) and EQUAL_BY_PROOF.fullmatch(match["details"])
                demand(shaped, "E_REPLAY", f"receipt {self.at}: {law.key} is equivalent to no law that was known")
                apart = all(told_apart(law.law, one.law) for one in same)
                demand(not apart, "E_REPLAY", f"receipt {self.at}: {law.key} says something else than that law")
                return match
        return near_match(law, indexes)

    def tried(self, scored, view):
        """The laws of an iteration, with the verdicts that are recorded; those that came too late are told apart."""
        later = [law for _, law in self.known[view.known :]]
        index, learned = KnownLaws(later), False
        for place, (law, features, _) in enumerate(scored):
            recorded = self.recorded("law")
            self.figures["evaluations"] += 1
            told = recorded.get("late") if isinstance(recorded.get("late"), dict) else None
            late = self.match(law, [(index, len(later))], told)
            late = late if late is not None and late["similarity"] >= self.threshold else None
            body = {"iteration": self.iterations, "number": place, "law": law.key, "document": law.document}
            body.update(features=features, late=late, **self.verdict(recorded))
            self.same("law", body)
            if late is not None:
                self.figures["late"] += 1
            else:
                learned |= self.learn(law, recorded["verdict"])
        self.figures["dry"] = 0 if learned else self.figures["dry"] + 1

    @staticmethod
    def verdict(recorded):
        """What a receipt tells of a trial: it is taken as it is, and its digest is made."""
        verdict = recorded["verdict"]
        digest = None if verdict is None else tagged("law-verdict", write(verdict))
        return {"verdict": verdict, "error": recorded["error"], "digest": digest}

    def learn(self, law, verdict):
        """Take the verdict on a law; whether it was accepted."""
        judged = self.judged.setdefault(law.key, Judged(law, self.iterations))
        judged.verdict = verdict
        self.memory.record(law, verdict)
        accepted = judged.status in ACCEPTED
        if accepted and not judged.escalated:
            self.waiting[law.key] = law.document
        if accepted or self.spec.get("proposer", {}).get("add_to_redundancy_filter", True):
            self.known.append((self.position, law))
        return accepted

    def reason(self):
        """Why no more laws are asked for, or None."""
        if self.failure in LASTING_FAILURES:
            return self.failure
        figures = {**self.figures, "accepted": sum(one.status in ACCEPTED for one in self.judged.values())}
        stop = self.spec.get("stop", {})
        for name in ("accepted", "evaluations", "dry", "tokens"):
            if stop.get(name) is not None and figures[name] >= stop[name]:
                return name
        return "iterations" if self.iterations >= self.most else None

    # Escalations and the end

    def escalate(self, view):
        """The accepted laws that waited are tried harder; the first of two escalations counts."""
        for key, document in view.waiting.items():
            judged = self.judged[key]
            if judged.escalated:
                continue
            recorded = self.recorded("escalation")
            body = {"law": key, "document": document, "before": judged.status, "held_out": recorded["held_out"]}
            self.same("escalation", {**body, **self.verdict(recorded)})
            judged.escalated, judged.verdict = True, recorded["verdict"]
            self.waiting.pop(key, None)
            self.figures["escalations"] += 1
            self.memory.record(judged.proposal, recorded["verdict"])

    def close(self):
        """Why it stopped, the ledger, what was expected, and the end."""
        self.same("stop", {"reason": self.stopped, "iterations": self.iterations})
        lines = [line for key, one in self.judged.items() for line in ledger_lines(key, one)]
        for first in range(0, max(1, len(lines)), LEDGER_LINES):
            self.same("ledger", {"refuted": lines[first : first + LEDGER_LINES]})
        for key in self.spec.get("expect", []):
            self.same("expected", self.expected(key))
        statuses = [one.status for one in self.judged.values()]
        counts = {one: statuses.count(one) for one in ("PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR")}
        figures = {name: one for name, one in self.figures.items() if name != "dry"}
        memory = memory_digest(self.memory.snapshot())
        self.same("end", {"iterations": self.iterations, **figures, "laws": counts, "memory": memory})

    def expected(self, key):
        """An expected law, with the one that was found and says the same."""
        spec, recorded = self.specs[key], self.recorded("expected")
        wanted = spec.get("expect", {}).get("status")
        document = {name: one for name, one in spec.items() if name not in LAW_HEAD}
        document["template"] = self.specs[spec["template"]]["name"]
        law, found = Proposal(document, RingLaw(self.specs, key)), None
        for name, one in self.judged.items():
            if one.status in (ACCEPTED if wanted is None else (wanted,)) and found is None:
                told = recorded.get("found") == name and not told_apart(law.law, one.proposal.law)
                equal = self.proved_equal(one.proposal) if told else None
                match = self.match(law, [(KnownLaws([one.proposal]), 1)], equal)
                found = name if match is not None and match["similarity"] == ONE_WHOLE else None
        return {"law": spec["name"], "key": key, "status": wanted, "found": found}

    @staticmethod
    def proved_equal(proposal):
        """What a receipt would tell of a law that a prover found to be the same."""
        details = "each follows from the other under every rule; 0 certificates"
        match = {"matched_law_id": proposal.id, "similarity": ONE_WHOLE, "match_type": "equivalent"}
        return {**match, "details": details}


def listed_objects(value, keys):
    """Whether a value is a list of objects that have these keys."""
    return isinstance(value, list) and all(isinstance(one, dict) and {*keys} <= one.keys() for one in value)


def ledger_lines(key, judged):
    """The line of a law in the ledger, if it was refuted."""
    found = None if judged.verdict is None else judged.verdict["counterexample"]
    if found is None:
        return []
    place = {"start": found["start"], "t": found["t"], "cells": len(found["start"])}
    return [{"law": key, "claim": judged.verdict["claim"], "iteration": judged.iteration, **place}]


def first_difference(recorded, made, path=""):
    """The first field in which two values differ, and what stands in both, short."""
    if isinstance(recorded, dict) and isinstance(made, dict):
        for name in sorted(recorded.keys() | made.keys()):
            if name not in recorded or name not in made:
                return f"{path}.{name}"[1:], name in recorded, name in made
            if write(recorded[name]) != write(made[name]):
                return first_difference(recorded[name], made[name], f"{path}.{name}")
    if isinstance(recorded, list) and isinstance(made, list) and len(recorded) == len(made):
        for index, (one, other) in enumerate(zip(recorded, made)):
            if write(one) != write(other):
                return first_difference(one, other, f"{path}.{index}")
    return path[1:] or "itself", write(recorded).decode()[:80], write(made).decode()[:80]
