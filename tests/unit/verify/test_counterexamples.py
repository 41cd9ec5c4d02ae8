"""The failing cases in a bundle are those of its receipts, byte for byte."""

import json

import pytest

from specledger.kinds import MODELS
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import verify_bundle
from specledger.verify.checks import Status
from specledger.verify.run import RUN
from tools.tampering.forger import canonical

NAME = "counterexample files match the receipts"


def first(f):
    return sorted(path.name for path in (f.folder / "counterexamples").iterdir())[0]


def told(change):
    """The first case says something else, in canonical form."""

    def make(f):
        name = f"counterexamples/{first(f)}"
        document = json.loads(f.read(name))
        change(document)
        f.write(name, canonical(document) + b"\n")

    return make


FAULTS = {
    "other causes": told(lambda document: document["causes"].append("probe:x")),
    "a softer receipt": told(lambda document: document["receipts"][-1]["body"].update(softer=1)),
    "a receipt less": told(lambda document: document["receipts"].pop(0)),
    "a byte more": lambda f: f.write(f"counterexamples/{first(f)}", f.read(f"counterexamples/{first(f)}") + b"\n"),
    "a byte less": lambda f: f.write(f"counterexamples/{first(f)}", f.read(f"counterexamples/{first(f)}")[:-1]),
    "one too many": lambda f: f.write("counterexamples/00000001.json", b"{}\n"),
    "another number": lambda f: (f.folder / "counterexamples" / first(f)).rename(f.folder / "counterexamples/00000001.json"),
    "none": lambda f: f.leave_out("counterexamples"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("variant", ["failing", "stuck"])
def test_cases_that_the_receipts_do_not_show_are_refused(forge, variant, name):
    forger = forge(variant)
    FAULTS[name](forger)
    forger.relist()
    found = verify_bundle(forger.folder, RUN, MODELS, Reader(replay=False))
    failed = [(check.name, check.code) for check in found.checks if check.status is Status.FAILED]
    assert failed == [(NAME, "E_COUNTEREXAMPLES")]


@pytest.mark.parametrize("variant", ["failing", "stuck"])
def test_those_that_they_show_are_accepted(forge, variant):
    (check,) = [check for check in verify_bundle(forge(variant).folder, RUN, MODELS).checks if check.name == NAME]
    assert check.status is Status.PASSED
    assert check.message != "0 files"


def test_a_run_in_which_nothing_failed_shows_none(forge):
    forger = forge()
    assert NAME not in [check.name for check in verify_bundle(forger.folder, RUN, MODELS, Reader(replay=False)).checks]
    forger.write("counterexamples/00000003.json", b"{}\n")
    forger.relist()
    codes = [
        check.code for check in verify_bundle(forger.folder, RUN, MODELS, Reader(replay=False)).checks if check.code
    ]
    assert codes == ["E_COUNTEREXAMPLES"]
