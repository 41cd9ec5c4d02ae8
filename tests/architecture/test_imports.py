"""Doors open fast and a chain is checked by few: what a fresh process loads before it can work."""

import re

import pytest

HEAVY = {"google.genai", "jsonschema", "numpy"}
SPEC = "from specledger.cli.main import main; main()"


@pytest.fixture
def loaded(root, run_python):
    """Run a program in a fresh process: (its output, the names of the modules it loaded)."""

    def run(program, *arguments):
        done = run_python("-X", "importtime", "-c", program, *arguments, cwd=root)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, set(re.findall(r"^import time:.*\|\s+([\w.]+)$", done.stderr, re.MULTILINE))

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
    assert modules & {*HEAVY, "jsonschema_rs", "pydantic", "typer", "yaml"} == set()


def test_a_heavy_package_is_noticed(loaded):
    assert "jsonschema" in loaded("import jsonschema")[1]
