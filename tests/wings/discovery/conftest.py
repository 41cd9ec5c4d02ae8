"""What tests of discovery share: proposed laws made of candidates, and a small discovery of four iterations."""

from pathlib import Path

import pytest

from specledger.kinds import load
from specledger.wings.discovery.coordinator import run_discovery
from specledger.wings.discovery.parser import ParsedLaw
from specledger.wings.discovery.ranking import compile_ranking
from specledger.wings.discovery.worker import open_all
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from tests.toys import SMALL
from tests.toys.claims import measured, obs
from tests.toys.trials import remember_trials


@pytest.fixture(scope="session")
def templates():
    return {path.stem: load(path)[0] for path in sorted(Path("specs/template").glob("*.yaml"))}


@pytest.fixture(scope="session")
def kinetic():
    return load("specs/universe/kinetic_grid_v1.yaml")[0]


@pytest.fixture(scope="session")
def proposed(templates, kinetic):
    """A proposed law from the fields of a candidate; `forbidden` is filled in."""

    def propose(template="invariant", universe=None, **fields):
        document = {"template": template, "forbidden": "a step at which it fails", **fields}
        bundle = bundle_of(document, universe or kinetic, templates)
        return ParsedLaw(document, bundle, compile_law(bundle))

    return propose


@pytest.fixture(scope="session")
def conserved(proposed):
    """The law that an expression never changes."""

    return lambda expr, **fields: proposed(**measured(expr, **fields))


@pytest.fixture(scope="session")
def bounded(proposed):
    """The law that an expression stays on one side of a number."""

    def propose(expr, op, value, name="N", **fields):
        claim = {"op": op, "lhs": obs(name), "rhs": {"const": value}}
        return proposed(**measured(expr, claim, "bound", name, bound_op=op, bound_value=value, **fields))

    return propose


@pytest.fixture(scope="session")
def shipped_ranking():
    bundle = load("specs/ranking/scientific-value.yaml")[0]
    return compile_ranking(bundle, bundle.root)


@pytest.fixture(scope="session")
def small():
    """In the small discovery a law comes too late to be new, one is refuted and one is not decided.

    It is (bundle, workbench, planned model).
    """
    bundle = load(str(SMALL / "small.yaml"))[0]
    return bundle, *open_all(bundle)


@pytest.fixture(scope="session")
def trials():
    return {}


@pytest.fixture
def quick(monkeypatch, trials):
    remember_trials(monkeypatch, trials)


@pytest.fixture
def facts(small, quick):
    """The events of the small discovery, without an interruption."""
    _, workbench, model = small
    return list(run_discovery(workbench, model.identity))
