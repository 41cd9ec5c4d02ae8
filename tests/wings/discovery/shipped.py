"""Shipped laws as proposals, with the verdicts that are pinned: what a memory may hold, without trying anything."""

import json
from functools import cache
from pathlib import Path

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.load.bundle import gather
from specledger.wings.discovery.memory import DiscoveryMemory
from specledger.wings.discovery.parser import WITHHELD, ParsedLaw
from specledger.wings.discovery.spec.discovery import MemoryLimits
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.universe import check_universe


@cache
def templates():
    return {path.stem: load(path)[0] for path in sorted(Path("specs/template").glob("*.yaml"))}


@cache
def offered(discovery="kinetic"):
    """The templates that a shipped discovery offers: those of its prompt and of its model."""
    bundle = load(f"specs/discovery/{discovery}.yaml")[0]
    keys = [key for field, key in bundle.main.refs.items() if field[0] == "templates"]
    return {bundle.specs[key].name: gather(key, bundle.specs) for key in sorted(keys)}


@cache
def universe(name="kinetic_grid_v1"):
    """A universe as a bundle, and checked."""
    bundle = load(f"specs/universe/{name}.yaml")[0]
    return bundle, checked(bundle)


def checked(bundle):
    """A universe that is ready for use."""
    found = check_universe(bundle.main, bundle, Diagnostics())
    assert found is not None
    return found


NAMES = sorted(path.stem for path in Path("specs/law").glob("*.yaml"))


@cache
def law(name):
    """A shipped law as a bundle."""
    return load(f"specs/law/{name}.yaml")[0]


def universe_of(bundle):
    """The universe of a law, with the law's own parameters, as a bundle of its own."""
    return gather(bundle.main.refs["universe",], bundle.specs)


def proposal(bundle):
    """A law as a proposer would write it, in the seed's JSON."""
    data = bundle.main.data
    template = bundle.specs[bundle.main.refs["template",]].name
    return {key: value for key, value in data.items() if key not in WITHHELD} | {"template": template}


@cache
def about_kinetic():
    """The names of the shipped laws about the kinetic grid."""
    return tuple(name for name in NAMES if law(name).main.refs["universe",] == universe()[0].root)


@cache
def verdict(name):
    """The pinned verdict on a shipped law."""
    receipts = map(json.loads, Path(f"fixtures/laws/{name}.jsonl").read_bytes().splitlines())
    return next(receipt["body"]["verdict"] for receipt in receipts if receipt["type"] == "verdict")


@cache
def snapshot():
    """What is remembered after all laws about the kinetic grid were tried, without any limit."""
    most = MemoryLimits(max_accepted=1000, max_falsified=1000, max_unknown=1000, max_counterexamples=1000)
    memory = DiscoveryMemory(most, universe()[1])
    for name in about_kinetic():
        bundle = law(name)
        memory.record_evaluation(ParsedLaw(proposal(bundle), bundle, compile_law(bundle)), verdict(name))
    return memory.snapshot()
