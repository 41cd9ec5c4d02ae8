"""Without any one refusal of the verifier some case has another outcome; a crash counts as one."""

import ast
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.tampered.checks import ELSEWHERE, REPLAYS, all_names, same
from tests.conformance.tampered.conftest import EXPECTED
from tests.conformance.tampered.deletion import sites, without
from tests.conformance.tampered.verifiers import by_engine
from tools.conformance import PLACE

pytestmark = pytest.mark.slow

ENGINE = [
    import_module(f"specledger.{name}")
    for name in [
        "wings.kernel.verify.audit_log",
        "verify.bundle",
        "verify.derived_files",
        "wings.discovery.verify",
        "verify.manifest",
        "wings.kernel.verify.probed",
        "verify.rebuilding",
        "verify.recorded",
        "verify.fork",
        "wings.laws.verify.verdicts",
        "verify.receipts",
        "verify.replay",
        "verify.run_order",
        "verify.signed",
        "verify.suite",
        "verify.run",
    ]
]

BEHIND = "another check stands behind it and says the same"
LIMIT = "it bounds size, and what is larger is refused for its form as well"
ASKED = "only other options of the reader reach it; its own tests do"
UNMADE = "it takes evidence that only a hostile engine writes; its own tests do"
OPEN = "it leaves open what this verifier does not know, and refutes nothing; its own tests do"
UNREACHED = "no tampered case is of a scenario that bears agent faults"
RECORDED = "no case is a recording: `test_recording`"
UNNOTICED = {
    "run:RunContent._check_start": (1, ASKED),
    "run:RunContent.judge": (1, ASKED),
    "derived_files:check_counterexamples": (1, UNMADE),
    "verify:DiscoveryContent._check_rings": (1, UNMADE),
    "verify:DiscoveryContent._check_verdict": (1, BEHIND),
    "verify:DiscoveryContent.judge": (1, ASKED),
    "verify:_refusing": (1, UNMADE),
    "verify:verdicts_of": (1, UNMADE),
    "verify:_again": (1, UNMADE),
    "fork:_against_bundle": (2, ASKED),
    "fork:same_log": (1, ASKED),
    "verdicts:LawContent._check_verdict": (1, UNMADE),
    "verdicts:LawContent.judge": (1, ASKED),
    "verdicts:check_proof": (3, UNMADE),
    "verdicts:check_refutation": (1, UNMADE),
    "probed:_check": (3, "a probe that is sealed again shows it: `test_probed`"),
    "run_order:RunOrder._start": (2, "no case has such a severity, or rules: `test_severities`, `test_recording`"),
    "run_order:RunOrder._ruled": (4, f"{RECORDED}, and `test_kept`"),
    "run_order:RunOrder._guarded": (2, "a receipt of a guard that is sealed again shows it: `test_forged`"),
    "run:made_again": (1, RECORDED),
    "run:_recorded": (2, RECORDED),
    "run_order:RunOrder._probe": (2, "no case has several agents and probes: `test_probe_turns`"),
    "run_order:RunOrder._begin": (1, BEHIND),
    "run_order:RunOrder._step": (2, f"{BEHIND}; gates that a recording leaves open: `test_unknown`"),
    "run_order:RunOrder._left_open": (1, "no case is a recording: `test_unknown`"),
    "run_order:RunOrder._prevent": (1, UNREACHED),
    "run_order:RunOrder._close": (1, UNREACHED),
    "verdicts:check_about": (1, "a forgery that is sealed again shows it: `test_forgeries`"),
    "rebuilding:rebuild": (1, BEHIND),
    "signed:check_time": (2, "nothing is asked of the time here"),
    "signed:_listed": (1, UNMADE),
    "derived_files:resolve_sources": (1, LIMIT),
    "suite:SuiteContent._check_assessment": (1, UNMADE),
    "suite:SuiteRuns.judge": (1, ASKED),
}
"""By function how many refusals at most no case notices, and why."""

MOST = 6
"""Cases of a site that are looked at, of those that are known to reach it."""

SLOW = ("kernel", "discovery", "suite")
MODULES = [(by_engine, module) for module in ENGINE]
LATE: dict[Any, set[str]] = {by_engine: {"replay"}}
"""What a case may need that a verifier looks at only when it makes things again."""

SITES = {module: sites(module) for _, module in MODULES}


def outcome(verify, laid, name):
    """What a verifier says of a case, without its words; a refusal that stands for a crash is one.

    What is refuted before replay is not made again: whether the files alone refute it is seen without.
    """
    expected = EXPECTED[name]["expect"]
    early = expected["exit"] == 1 and expected.get("needs") not in LATE[verify]
    try:
        return told(verify(laid(name), **({"replay": False} if early else {})))
    except Exception as error:
        return "crash", type(error).__name__


def told(said):
    return said.exit, said.code, "malformed" in said.message


def candidates(said, verify, site):
    """The first cases that are refused at a site, fast ones first."""
    reaching = [name for name in EXPECTED if any(map(site.holds, said(verify, name)[1]))]
    return sorted(reaching, key=lambda name: EXPECTED[name]["base"] in SLOW)[:MOST]


def noticing(said, laid, verify, site):
    """A case that comes to something else without a site, if there is one among the first few."""
    cases = candidates(said, verify, site)
    with without(site):
        return next((name for name in cases if outcome(verify, laid, name) != told(said(verify, name)[0])), None)


@pytest.mark.parametrize(("verify", "module"), MODULES, ids=[module.__name__ for _, module in MODULES])
def test_no_refusal_can_be_left_out(said, laid, verify, module):
    unnoticed: dict[str, list[str]] = {}
    for site in SITES[module]:
        if noticing(said, laid, verify, site) is None:
            unnoticed.setdefault(site.owner, []).append(str(site))
    more = {owner: found for owner, found in unnoticed.items() if len(found) > UNNOTICED.get(owner, (0,))[0]}
    assert not more, "no case notices these"


# Numbered checks

REFUSED = {name: case for name, case in EXPECTED.items() if case["expect"]["exit"] in (1, 3)}
"""The cases of folders of which a check fails or is not made."""


def kind_of(case):
    """The kind of evidence that a case was made from."""
    manifest = json.loads((PLACE / "bases" / REFUSED[case]["base"] / "manifest.json").read_bytes())
    return manifest.get("kind", "scenario")


@pytest.fixture(scope="module")
def refusing(said):
    """By kind and name of a check the cases that it refuses."""
    found: dict[tuple[str, str], list[str]] = {}
    for case in REFUSED:
        found.setdefault((kind_of(case), said(by_engine, case)[0].check), []).append(case)
    return found


def test_every_check_has_a_case_or_a_test_of_its_own(refusing):
    names = all_names()
    made = {name for _, name in refusing}
    assert {name for name in names if not any(same(name, one) for one in made)} == ELSEWHERE.keys()
    assert {one for one in made if not any(same(name, one) for name in names)} <= {""}
    assert refusing.keys() >= REPLAYS.items()


def test_the_tests_that_are_named_are_there():
    for _, folder, module, function in ELSEWHERE.values():
        tree = ast.parse((Path(__file__).parents[2] / folder / f"{module}.py").read_text(encoding="utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, function
