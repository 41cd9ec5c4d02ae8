"""A small discovery: four iterations, in which a law comes too late to be new, one is refuted and one is not decided."""

import pytest

from specledger.core.events import Event
from specledger.discovery import step
from specledger.discovery.loop import retell, run_discovery
from specledger.discovery.pool import open_all
from specledger.discovery.worker import Worker
from specledger.kinds import load
from tests.toys import SMALL


@pytest.fixture(scope="session")
def small():
    """The discovery, as (bundle, workbench, planned model); trials that were made once are not made again."""
    bundle = load(str(SMALL / "small.yaml"))[0]
    return bundle, *open_all(bundle)


@pytest.fixture(scope="session")
def remembered():
    return {}


@pytest.fixture
def quick(monkeypatch, remembered):
    """Trials are pure: each is made once in this session."""

    def memo(function):
        def made(plan, document, *effort):
            key = function.__name__, repr(document), repr(effort)
            if key not in remembered:
                remembered[key] = function(plan, document, *effort)
            return remembered[key]

        return made

    for name in ("try_proposed", "try_elsewhere"):
        monkeypatch.setattr(step, name, memo(getattr(step, name)))


@pytest.fixture
def facts(small, quick):
    """What the discovery says, made in one go."""
    _, workbench, model = small
    return list(run_discovery(workbench, model.identity, model.open(False).ask))


@pytest.fixture
def told(small):
    """What a store says after the discovery has ended."""
    _, workbench, model = small
    return lambda store: [Event(*event) for event in retell(workbench, model.identity, store)]


@pytest.fixture
def worker(small):
    """A worker of a store, who asks the scripted model."""
    _, workbench, model = small
    return lambda store, owner="me": Worker(store, workbench, model.identity, lambda: model.open(False), owner, 60.0)
