"""Reports of bundles and their texts, as tests of every format need them."""

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.evidence.result import Tally
from specledger.kinds import KINDS, load
from specledger.pipeline.executing import execute
from specledger.report.evidence import read_evidence
from specledger.report.formats import FORMATS, Options
from specledger.report.model import Reading, Replay, Report, Subject
from specledger.report.subject import read_subject


@cache
def read(place):
    """The evidence of a bundle, read once."""
    return read_evidence(place, KINDS)


def make_places(folder):
    """Small bundles of the kinds beside runs and suites: refuted and proved laws, a run under the kernel, a discovery.

    The model of the discovery answers by a script; its first false law is proposed at once.
    """
    small = ["trial.cases=30", "trial.mutations=0", "escalation.cases=30", "escalation.mutations=0", "held_out={}"]
    made = {
        "law": ("law", "collisions-apart", []),
        "proved": ("law", "momentum", []),
        "probed": ("scenario", "axion-basic", ["episodes=2", "horizon=5"]),
        "discovery": ("discovery", "kinetic", ["model=kinetic-script", "iterations=2", "expect=[]", *small]),
    }
    return {
        name: execute(load(spec, kind=kind, set=sets)[0], folder / name).place
        for name, (kind, spec, sets) in made.items()
    }


class Altered:
    """Receipts that were changed after they were checked, as if a check had missed the change."""

    def __init__(self, receipts, change):
        """Change receipts by a function of their bodies by type."""
        self.kept = [json.loads(line) for line in receipts.lines()]
        bodies: dict[str, list] = {}
        for one in self.kept:
            bodies.setdefault(one["type"], []).append(one["body"])
        change(bodies)

    def lines(self):
        """The changed lines."""
        return map(canonical_bytes, self.kept)


def altered(evidence, change):
    """Evidence whose receipts were changed, with the result that they add up to if they are those of a run."""
    changed = replace(evidence, receipts=Altered(evidence.receipts, change))
    if evidence.kind != "scenario":
        return changed
    tally = Tally()
    for type_, body in changed.bodies():
        tally.add(type_, body)
    return replace(changed, manifest={**evidence.manifest, "result": tally.result()})


def subject_of(bundle, questions=()):
    """What a bundle shows; a bundle is evidence or a place. A place is folded once."""
    if isinstance(bundle, Path):
        return _folded(bundle) if not questions else read_subject(read(bundle), KINDS, questions)
    return read_subject(bundle, KINDS, questions)


@cache
def _folded(place):
    return read_subject(read(place), KINDS)


def made_up(name, *checks, doc="", verdict="PASS"):
    """What a bundle that does not exist shows: these checks."""
    digest = "ab" * 32
    manifest = {
        "run": "cd" * 16,
        "specs": digest,
        "receipts": {"count": 9, "head": digest, "root": "ef" * 32},
        "engine": {"name": "specledger", "version": "0.1.0"},
        "result": {"verdict": verdict},
    }
    whole = {"number": 1, "name": "whole", "status": "passed", "message": ""}
    evidence: Any = SimpleNamespace(name="", source_of=lambda _: None, trusting=False)
    key = f"scenario/{name}@0123456789abcdef"
    return Subject(name, "scenario", doc, key, manifest, (whole,), checks, evidence, Reading(), replay=Replay.DONE)


def report_of(*bundles):
    """The report of bundles."""
    return Report(tuple(map(subject_of, bundles)))


def text_of(name, report, **options):
    """The text of a report in a format."""
    return FORMATS[name].write(report, Options(**options)).text


def summary_of(report):
    """The step summary of a report."""
    return FORMATS["github"].write(report).summary
