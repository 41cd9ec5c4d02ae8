"""Doors open fast and a chain is checked by few: what a fresh process loads before it can work."""

import re

import pytest

from tests.toys import CLIMB

HEAVY = {"google.genai", "jsonschema_rs", "numpy", "pydantic", "yaml"}
"""What neither the version nor the help needs; numpy is for laws alone."""
SPEC = "from specledger.cli.main import main; main()"


REMEMBER = "import atexit, sys; atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr))\n"


@pytest.fixture
def loaded(root, run_python):
    """Run a program in a fresh process: (its output, the names of the modules it loaded)."""

    def run(program, *arguments):
        done = run_python("-c", REMEMBER + program, *arguments, cwd=root)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, set(done.stderr.splitlines())

    return run


def test_the_version_is_printed_without_heavy_packages(loaded, project):
    output, modules = loaded(SPEC, "--version")
    assert project["project"]["version"] in output
    assert modules & HEAVY == set()


def test_help_is_printed_without_heavy_packages(loaded):
    output, modules = loaded(SPEC, "--help")
    assert "verify" in output
    assert modules & HEAVY == set()


def test_a_chain_is_checked_without_the_engine(loaded):
    _, modules = loaded("import specledger.verify.receipts")
    rooms = {name.split(".")[1] for name in modules if name.startswith("specledger.")}
    assert rooms <= {"core", "evidence", "verify"}
    assert modules & {*HEAVY, "typer"} == set()


def test_a_spec_is_checked_with_its_own_kind_and_without_what_runs_it(loaded):
    _, modules = loaded(SPEC, "check", "specs/world/toy-gridworld.yaml")
    rooms = {name.split(".")[1] for name in modules if name.startswith("specledger.")}
    assert rooms.isdisjoint({"agents", "compile", "gates", "probes", "run", "suites", "verify", "wings"})
    assert modules & {"google.genai", "jsonschema_rs", "numpy", "specledger.spec.scenario"} == set()


def test_a_command_is_imported_without_the_others(loaded):
    _, modules = loaded(SPEC, "check", "specs/world/toy-gridworld.yaml")
    assert "specledger.cli.specs" in modules
    others = {"agent", "authoring", "demo", "golden", "inspection", "keys", "report", "run", "shards", "verify"}
    assert modules & {f"specledger.cli.{name}" for name in others} == set()


def test_a_scenario_runs_without_numpy_and_without_what_verifies_and_reports(loaded, tmp_path):
    _, modules = loaded(SPEC, "run", str(CLIMB / "climb.yaml"), "--out", str(tmp_path / "out"))
    assert modules & {"google.genai", "numpy", "specledger.suites"} == set()
    assert {name for name in modules if re.match(r"specledger\.wings\.\w+\.(?!kinds$)", name)} == set()
    assert modules & {"specledger.report.model", "specledger.verify.bundle", "specledger.verify.replay"} == set()
    assert modules & {"specledger.verify.run", "specledger.verify.run_order"} == set()
    assert "specledger.run.loop" in modules


def test_the_public_names_are_imported_when_they_are_used(loaded):
    _, modules = loaded("import specledger")
    assert {name for name in modules if name.startswith("specledger")} == {"specledger"}
    assert "specledger.api" in loaded("import specledger; specledger.Bundle")[1]


def test_codes_are_explained_without_the_packages_of_extras(loaded):
    extras = ("cel_expr_python", "cryptography", "google", "gymnasium", "openai", "pyarrow", "pytest", "rfc3161_client")
    missing = f"import sys; sys.modules.update(dict.fromkeys({extras}))\n"
    assert "E_CHAIN: " in loaded(missing + SPEC, "explain", "E_CHAIN")[0]


def test_a_heavy_package_is_noticed(loaded):
    assert "jsonschema_rs" in loaded("import jsonschema_rs")[1]
