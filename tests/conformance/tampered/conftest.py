"""The conformance suite, laid out once for all tests of this folder; what both verifiers compile is compiled once."""

from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.load.sources import InvalidSources
from specledger.verify import recorded as recorded_specs
from specledger.verify import run as verified_run
from specledger.verify.bundle import Refuted
from specledger.verify.checks import Broken, Lacking
from specledger.wings.discovery import verify as verified_discovery
from tests.conformance.tampered.deletion import watching
from tools.conformance import PLACE, cases, lay_out, read_case

FOLDERS = {folder.name: folder for folder in cases(PLACE)}
"""The folder of every case by its name."""

EXPECTED = {name: read_case(folder) for name, folder in FOLDERS.items()}
"""What `case.json` says, by the name of the case."""


@pytest.fixture(scope="session")
def laid(tmp_path_factory):
    """By its name a case as a verifier gets it, laid out when it is asked for."""
    work = tmp_path_factory.mktemp("tampered")
    known = {}

    def lay(name):
        if name not in known:
            (work / name).mkdir()
            known[name] = lay_out(FOLDERS[name], work / name)
        return known[name]

    return lay


@pytest.fixture(scope="session", autouse=True)
def _compiled_once():
    """Specs that are the same are read and compiled once: most of the time of a verification."""
    known: dict[object, object] = {}

    def once(make, key):
        def made(*given):
            asked = make.__name__, key(*given)
            if asked not in known:
                known[asked] = make(*given)
            return known[asked]

        return made

    modules: tuple[Any, ...] = (recorded_specs, verified_run, verified_discovery)
    recorded, run, discovery = modules
    with pytest.MonkeyPatch.context() as patch:
        document = lambda document, models, kind="scenario": (canonical_bytes(document), kind)  # noqa: E731
        patch.setattr(recorded, "rebuild", once(recorded.rebuild, document))
        patch.setattr(run, "compile_recorded", once(run.compile_recorded, lambda given: given.digest))
        patch.setattr(discovery, "open_all", once(discovery.open_all, lambda given: given.digest))
        yield


@pytest.fixture(scope="session")
def said(laid):
    """What a verifier says of a case, and the places at which it is refused on the way; each is asked once."""
    known = {}

    def say(verify, name):
        if (verify, name) not in known:
            with watching(Broken, Lacking, Rejected, Refuted, InvalidSources) as places:
                answer = verify(laid(name))
            known[verify, name] = answer, frozenset(places)
        return known[verify, name]

    return say
