"""The receipts of the other kinds in their order: of a law's trial, a suite and a discovery."""

from collections import Counter

from tools.verifier.basis import demand, number, tagged, write
from tools.verifier.receipts import Run


def judged(verdict, digest):
    """Everything in a verdict on a law that follows from the verdict itself."""
    code, status = "E_VERDICT", verdict["status"]
    demand(digest == tagged("law-verdict", write(verdict)), code, "the digest of a verdict is not its own")
    demand(status in ("PROVED", "PASS", "FAIL", "UNKNOWN"), code, "a status is none")
    demand(
        (status == "UNKNOWN") == (verdict["reason"] is not None), code, f"{status} and its reason do not go together"
    )
    refuted, proved = verdict["counterexample"] is not None, verdict["certificate"] is not None
    demand((status == "FAIL") == refuted, code, f"{status} and its counterexample do not go together")
    rests = proved and verdict["method"] == "proof"
    demand(status != "PROVED" or rests, code, "PROVED rests on no certificate")
    demand(status != "FAIL" or not proved, code, "FAIL has a certificate that the law holds")


class Law:
    """The receipts of a law's trial."""

    def __init__(self):
        self.seen, self.figures = [], {"status": None, "reason": None, "met": None, "cases": 0}
        self.entries = []
        self.result = self

    def add(self, kind, body):
        """Take the next receipt."""
        self.seen.append(kind)
        orders = (["start", "cases", "verdict", "end"], ["start", "verdict", "end"])
        demand(any(order[: len(self.seen)] == self.seen for order in orders), "E_ENDS", f"{kind!r} has no place here")
        if kind == "cases":
            self.figures["cases"] = body["count"]
        elif kind == "verdict":
            self.said = body
            self.figures.update(status=body["verdict"]["status"], reason=body["verdict"]["reason"])
        elif kind == "end":
            self.status, self.figures["met"] = body["status"], body["met"]

    def check_verdicts(self):
        """The verdict fits itself, and the end fits the verdict."""
        verdict, expected = self.said["verdict"], self.said["expected"]
        judged(verdict, self.said["digest"])
        demand(self.status == verdict["status"], "E_VERDICT", "the end tells another status")
        met = None if expected is None else all(verdict[name] == value for name, value in expected.items())
        demand(self.figures["met"] is met, "E_VERDICT", "whether the expectation was met is told wrongly")

    def made(self):
        """The result so far."""
        met, status = self.figures["met"], self.figures["status"]
        verdict = {"PROVED": "PASS", "PASS": "PASS", "FAIL": "FAIL", "UNKNOWN": "INCONCLUSIVE"}.get(status)
        if verdict is None or self.seen[-1] != "end":
            verdict = "ERROR"
        elif met is not None:
            verdict = "PASS" if met is True else "FAIL"
        return {"verdict": verdict, **self.figures}


class Suite:
    """The receipts of a suite, and what they say of the runs that it holds."""

    def __init__(self):
        self.count, self.checks, self.mutants, self.verdicts, self.runs = Counter(), {}, {}, [], {}
        self.own, self.ended, self.entries = 0, False, []
        self.result = self

    def add(self, kind, body):
        """Take the next receipt."""
        known = kind in ("start", "run", "figure", "check", "mutant", "end")
        demand(known and not self.ended, "E_ENDS", f"{kind!r} has no place here")
        if kind == "start":
            self.own = body["runs"]
        elif kind == "run":
            self.runs[body["place"]] = {name: body[name] for name in ("specs", "receipts", "result")}
            own = self.count["runs"] < self.own
            self.count["runs" if own else "trials"] += 1
            for name in ("episodes", "steps", "drifts", "errors") if own else ():
                self.count[name] += body["result"][name]
        elif kind == "check":
            self.checks[body["check"]] = body["verdict"]
            self.verdicts.append(body["verdict"])
        elif kind == "mutant":
            self.mutants[body["mutant"]] = body["caught"]
            self.verdicts.append(body["verdict"])
        self.ended = kind == "end"

    def made(self):
        """The result so far."""
        verdict = "ERROR"
        if self.ended and not self.count["errors"]:
            order = ("ERROR", "FAIL", "INCONCLUSIVE", "PASS")
            verdict = min(self.verdicts, key=order.index, default="INCONCLUSIVE")
        names = ("runs", "trials", "episodes", "steps", "drifts", "errors")
        figures = {name: self.count[name] for name in names}
        return {"verdict": verdict, **figures, "checks": self.checks, "mutants": self.mutants}


class Discovery:
    """The receipts of a discovery."""

    AFTER = {
        "": ("start",),
        "start": ("iteration",),
        "iteration": ("iteration", "law", "escalation", "stop"),
        "law": ("iteration", "law", "escalation", "stop"),
        "escalation": ("iteration", "escalation", "stop"),
        "stop": ("ledger",),
        "ledger": ("ledger", "expected", "end"),
        "expected": ("expected", "end"),
        "end": (),
    }
    NAMES = ("iterations", "failures", "rejected", "redundant", "late", "evaluations", "escalations", "tokens")

    def __init__(self):
        self.last, self.iterations, self.number = "", 0, 0
        self.count, self.laws, self.shares, self.expected, self.stopped = Counter(), {}, {}, {}, None
        self.told, self.entries = [], []
        self.result = self

    def add(self, kind, body):
        """Take the next receipt."""
        demand(kind in self.AFTER[self.last], "E_ENDS", f"{kind!r} has no place after {self.last!r}")
        self.last = kind
        if kind == "iteration":
            demand(number(body["iteration"], self.iterations), "E_ENDS", "iterations count up")
            self.iterations, self.number = self.iterations + 1, 0
            self.iteration(body)
        elif kind == "law":
            placed = number(body["iteration"], self.iterations - 1) and number(body["number"], self.number)
            demand(placed, "E_ENDS", "the laws of an iteration count up")
            self.number += 1
            self.count["evaluations"] += 1
            self.count["late"] += body["late"] is not None
            if body["late"] is None:
                self.judged(body["law"], body["verdict"])
        elif kind == "escalation":
            self.count["escalations"] += 1
            self.judged(body["law"], body["verdict"])
        elif kind == "expected":
            self.expected[body["law"]] = body["found"] is not None
        if kind in ("law", "escalation", "ledger"):
            self.told.append((kind, body))
        if kind in ("stop", "end"):
            demand(number(body["iterations"], self.iterations), "E_ENDS", "the end counts the iterations")
        if kind == "stop":
            self.stopped = body["reason"]

    def iteration(self, body):
        """Count what an iteration tells."""
        usage = body["answer"]["usage"]
        self.count["iterations"] += 1
        self.count["failures"] += body["answer"]["failure"] is not None
        self.count["rejected"] += len(body["rejections"])
        self.count["redundant"] += len(body["redundant"])
        self.count["tokens"] += sum(usage[name] for name in ("prompt_tokens", "output_tokens", "thinking_tokens"))

    def check_verdicts(self):
        """Every verdict fits itself, and the ledger holds every refuted law with its ring, in order."""
        refuted, came, recorded = {}, {}, []
        for kind, body in self.told:
            if kind == "ledger":
                recorded += body["refuted"]
                continue
            law, verdict = body["law"], body["verdict"]
            demand(kind == "law" or law in came, "E_VERDICT", "an escalated law was not proposed before")
            demand((verdict is None) != (body["error"] is None), "E_VERDICT", "a verdict and an error, or neither")
            demand(verdict is not None or body["digest"] is None, "E_VERDICT", "there is a digest of no verdict")
            if verdict is not None:
                judged(verdict, body["digest"])
            if kind == "law" and body["late"] is not None:
                continue
            came.setdefault(law, body["iteration"] if kind == "law" else 0)
            if verdict is not None:
                refuted.pop(law, None)
            if verdict is not None and verdict["counterexample"] is not None:
                found = verdict["counterexample"]
                ring = {"start": found["start"], "t": found["t"], "cells": len(found["start"])}
                refuted[law] = {"law": law, "claim": verdict["claim"], "iteration": came[law], **ring}
        ordered = [refuted[law] for law in came if law in refuted]
        demand(write(recorded) == write(ordered), "E_DISCOVERY_LEDGER", "the ledger is not what the verdicts lead to")

    def judged(self, law, verdict):
        """Keep the last verdict on a law."""
        self.laws[law] = "ERROR" if verdict is None else verdict["status"]
        content = None if verdict is None else verdict["content"]
        self.shares[law] = 0 if content is None else content["share"]

    def made(self):
        """The result so far."""
        statuses = list(self.laws.values())
        accepted = [law for law, status in self.laws.items() if status in ("PROVED", "PASS")]
        verdict = "PASS" if accepted else "INCONCLUSIVE"
        if self.expected:
            verdict = "PASS" if all(self.expected.values()) else "FAIL"
        if self.last != "end" or "ERROR" in statuses:
            verdict = "ERROR"
        return {
            "verdict": verdict,
            **{name: self.count[name] for name in self.NAMES},
            "laws": {one: statuses.count(one) for one in ("PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR")},
            "content": sum(self.shares[law] for law in accepted),
            "stopped": self.stopped,
            "expected": self.expected,
        }


ORDERS = {"scenario": Run, "suite": Suite, "law": Law, "discovery": Discovery}
