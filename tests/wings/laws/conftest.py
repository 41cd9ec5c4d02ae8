"""What tests of laws share: universes, templates, and laws made of candidates."""

from pathlib import Path

import pytest

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import load
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.universe import check_universe


@pytest.fixture(scope="session")
def templates():
    return {path.stem: load(path)[0] for path in sorted(Path("specs/template").glob("*.yaml"))}


@pytest.fixture(scope="session")
def universe_of():
    def read(name, **params):
        bundle = load(f"specs/universe/{name}.yaml", set=[f"{key}={value}" for key, value in params.items()])[0]
        found = Diagnostics()
        universe = check_universe(bundle.main, bundle, found)
        assert universe is not None, found.sorted()
        return universe

    return read


@pytest.fixture(scope="session")
def kinetic(universe_of):
    return universe_of("kinetic_grid_v1")


@pytest.fixture
def plan_of(templates):
    """A compiled law from a candidate; `forbidden` is filled in."""

    def compile_candidate(candidate, universe="kinetic_grid_v1", rule=None, **options):
        bundle = load(f"specs/universe/{universe}.yaml", set=[] if rule is None else [f"transition.number={rule}"])[0]
        return compile_law(bundle_of({"forbidden": "something", **candidate}, bundle, templates), **options)

    return compile_candidate


@pytest.fixture
def law_of(plan_of):
    return lambda candidate, universe="kinetic_grid_v1": plan_of(candidate, universe).law


@pytest.fixture
def codes_of(tmp_path):
    """The codes with which a law, universe or template in YAML is refused."""

    def read(text):
        name = next(line.removeprefix("name: ") for line in text.splitlines() if line.startswith("name: "))
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            compile_law(load(path)[0])
        except Rejected as rejected:
            return sorted({one.code if one.span is not None else f"{one.code} nowhere" for one in rejected.diagnostics})
        return []

    return read
