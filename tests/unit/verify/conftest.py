"""Bundles of a small run, and a forger who knows every public rule of evidence and has no key."""

import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.keys import SigningKey
from specledger.evidence.layout import TAPE
from specledger.kinds import load
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.verify import recorded
from specledger.verify import run as content
from specledger.verify.trust import Trust
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.trial import run_law
from tools.tampering.bases import CLIMB
from tools.tampering.forger import HELP, Forger

SCENARIO = CLIMB / "climb.yaml"

VARIANTS = {
    "climb": [],
    "other seed": ["seed=4"],
    "stuck": ["governor.with.stamina=2"],
    "failing": ["agent.with.fear=2"],
    "small": ["episodes=1", "horizon=2"],
}


def key_of(number):
    private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
    return SigningKey(private.public_key().public_bytes_raw(), private)


ALICE, BOB, EVE = map(key_of, (1, 2, 3))


def trusting(*keys, threshold=1, origin="specledger/{run}", **more):
    """What a reader trusts who trusts these keys."""
    return Trust(origin, {key.id: key.public for key in keys}, threshold, **more)


@pytest.fixture(scope="session")
def bundles(tmp_path_factory):
    """One untouched bundle of each variant, by name."""
    folder = tmp_path_factory.mktemp("bundles")
    for name, changes in VARIANTS.items():
        (bundle,) = load_runs([str(SCENARIO)], changes)
        execute(replace(bundle, sources={}), folder / name)  # as of specs from no file; sources are looked at elsewhere
        for help_ in HELP:  # what covers a bundle from outside is looked at elsewhere
            (folder / name / help_).unlink()
    return {name: folder / name for name in VARIANTS}


@pytest.fixture(scope="session")
def copy(bundles):
    """Put a copy of a bundle at a place, in the hands of a forger."""
    return lambda variant, place: Forger(shutil.copytree(bundles[variant], place))


@pytest.fixture
def specs_once(monkeypatch):
    """Specs that stay as they are, are read and compiled once: most of the time of a verification."""
    known: dict[str, object] = {}

    def remember(module, name):
        make = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given: known.get(name) or known.setdefault(name, make(*given)))

    remember(recorded, "rebuild")
    remember(content, "compile_recorded")


@pytest.fixture
def forge(copy, tmp_path):
    """A forger with a copy of a bundle of its own."""
    return lambda variant="climb": copy(variant, tmp_path / "bundle")


def tried(laws, **common):
    """By name the specs of a law and the facts of its trial; a law is its universe and its candidate."""
    templates = {path.stem: load(path)[0] for path in sorted(Path("specs/template").glob("*.yaml"))}
    found = {}
    for name, (universe, candidate) in laws.items():
        fields = {"forbidden": "x", **common, **candidate}
        specs = bundle_of(fields, load(f"specs/universe/{universe}.yaml")[0], templates)
        found[name] = specs, list(run_law(compile_law(specs)))
    return found


def write_evidence(place, bundle, facts, kind, tape=None):
    """Seal facts, and what came from outside, as evidence of specs."""
    with BundleWriter(place, run_id(bundle.digest), bundle.document(), bundle.digest, kind.receipts) as writer:
        for fact in facts:
            writer.add(fact)
        if tape is not None:
            writer.put(TAPE, tape)
        writer.finish()
    return place
