"""A spec that uses a wing which is not installed is told which wing that is; other specs do not load it."""

import subprocess
import sys

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.verify.checks import Lacking
from specledger.verify.extension import check_audit_log, verify_audit_log
from tests.toys import ROOT


def findings(rejected):
    return {(one.code, one.message) for one in rejected.value.diagnostics}


def test_a_spec_of_a_kind_of_a_missing_wing_names_the_wing(monkeypatch):
    monkeypatch.setattr("specledger.kinds.registry.wings", tuple)
    with pytest.raises(Rejected) as rejected:
        load(str(ROOT / "specs/probe/p4-bypass.yaml"))
    message = "a spec of the kind `probe` needs the wing `kernel`, which is not installed"
    assert findings(rejected) == {("E_WING", message)}


@pytest.mark.medium
def test_an_admission_without_its_wing_names_the_wing(monkeypatch):
    (bundle,) = load("axion-basic")
    monkeypatch.setattr("specledger.core.wing.wings", tuple)
    with pytest.raises(Rejected) as rejected:
        compile_scenario(bundle)
    message = "`admission` of a governor needs the wing `kernel`, which is not installed"
    assert findings(rejected) == {("E_WING", message)}
    assert "specledger.wings" in str(rejected.value.diagnostics[0].hint)


def test_an_audit_log_without_its_wing_names_the_wing(monkeypatch, tmp_path):
    monkeypatch.setattr("specledger.core.wing.wings", tuple)
    message = "an audit log needs the wing `kernel`, which is not installed"
    with pytest.raises(Rejected) as rejected:
        verify_audit_log(tmp_path / "audit.log.jsonl")
    assert findings(rejected) == {("E_WING", message)}
    with pytest.raises(Lacking) as lacking:
        check_audit_log(tmp_path / "audit.log.jsonl", 0, "")
    assert (lacking.value.code, lacking.value.message) == ("E_WING", message)


@pytest.mark.medium
def test_codes_are_explained_without_a_wing():
    program = (
        "import sys; sys.modules['specledger.wings.bridges'] = None\n"
        "from specledger.cli.main import main; sys.argv = ['spec', 'explain', 'E_WING']; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("E_WING: a wing that is not installed\n")


@pytest.mark.medium
def test_a_plain_scenario_loads_of_a_wing_what_names_its_kinds(tmp_path):
    program = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr))\n"
        "from specledger.cli.main import main; main()"
    )
    words = ["run", "hazard", "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", program, *words], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts = {
        name.removeprefix("specledger.wings.") for name in done.stderr.split() if name.startswith("specledger.wings.")
    }
    assert {part for part in parts if part.partition(".")[2] not in ("", "kinds")} == set()
