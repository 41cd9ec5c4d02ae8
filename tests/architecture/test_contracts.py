"""Each import contract still fails when it is broken, for the stated reason and not because the linter could not run."""

import re
import tomllib
from itertools import product
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
LAYERS = [[package.strip() for package in layer.split("|")] for layer in CONTRACTS["layers"]["layers"]]
PACKAGES = [package for layer in LAYERS for package in layer]
LEVEL = {package: number for number, layer in enumerate(LAYERS) for package in layer}

ROOMS = {package: "wings/laws" if package == "wings" else package for package in PACKAGES}
"""Where modules are planted; `wings` holds folders alone."""

# A tree that keeps every contract: each package, each named module, and each owner of an outside package importing it.
KEPT = {"specledger/__init__.py": "import specledger.api", "specledger/verify/receipts.py": ""}
KEPT |= {f"specledger/{package}/__init__.py": "" for package in PACKAGES}
KEPT |= {f"specledger/{room}/leaf.py": "" for room in ROOMS.values()}
KEPT |= {
    "specledger/cli/owner.py": "import typer",
    "specledger/load/owner.py": "import pydantic, yaml",
    "specledger/spec/owner.py": "import pydantic",
    "specledger/core/owner.py": "import orjson",
    "specledger/wings/guard/client.py": "import orjson",
    "specledger/run/scenario_run.py": "import specledger.load",
}
WINGS = [wing.strip() for layer in CONTRACTS["wings"]["layers"] for wing in layer.split("|")]
KEPT |= {f"specledger/wings/{wing}/__init__.py": "" for wing in WINGS}
KEPT |= {f"specledger/wings/{wing}/spec/__init__.py": "import pydantic" for wing in WINGS}
KEPT |= {f"specledger/wings/{wing}/commands.py": "import typer" for wing in WINGS}

BROKEN = {
    "layers": {"specledger/core/planted.py": "import specledger.cli.leaf"},
    "wings": {f"specledger/wings/{WINGS[-1]}/planted.py": f"import specledger.wings.{WINGS[0]}.commands"},
    "bridges": {"specledger/wings/bridges/planted.py": "import specledger.wings.laws.kinds"},
    "challenges": {"specledger/wings/challenges/planted.py": "import specledger.wings.laws.kinds"},
    "editor": {"specledger/wings/editor/planted.py": "import specledger.wings.kernel.commands"},
    "guard": {"specledger/wings/guard/planted.py": "import specledger.wings.kernel.commands"},
    "discovery": {"specledger/wings/discovery/planted.py": "import specledger.wings.kernel.commands"},
    "evidence": {"specledger/evidence/planted.py": "import specledger.spec.leaf"},
    "receipts": {"specledger/run/planted.py": "import specledger.evidence.leaf"},
    "chain": {"specledger/verify/receipts.py": "import specledger.core.leaf", "specledger/core/leaf.py": "import yaml"},
    "loop": {"specledger/run/planted.py": "def late():\n    import specledger.load.leaf"},
    "yaml": {"specledger/compile/planted.py": "from yaml import safe_load"},
    "pydantic": {"specledger/worlds/planted.py": "from pydantic import BaseModel"},
    "typer": {"specledger/pipeline/planted.py": "import typer"},
    "orjson": {"specledger/evidence/planted.py": "import orjson"},
}


@pytest.fixture
def lint(tmp_path, root, run_python):
    """Write a tree of modules and check it with the checkout's own contracts: (exit code, plain output)."""

    def check(files, *contracts):
        (tmp_path / "pyproject.toml").write_bytes((root / "pyproject.toml").read_bytes())
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        linter = "from importlinter.cli import lint_imports_command; lint_imports_command()"
        chosen = [word for contract in contracts for word in ("--contract", contract)]
        done = run_python("-c", linter, "--no-cache", "--no-logo", *chosen, cwd=tmp_path, NO_COLOR="1", COLUMNS="200")
        return done.returncode, done.stdout + done.stderr

    return check


def test_the_contract_names_the_rooms_of_the_architecture(root):
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = re.search(r"^    engine/specledger/\n((?:      .+\n)+)", text, re.MULTILINE)
    assert block, "ARCHITECTURE.md has lost its list of packages"
    assert [re.split(r"\s{2,}", line.strip())[0] for line in block[1].splitlines()] == CONTRACTS["layers"]["layers"]


def test_a_tree_of_permitted_imports_keeps_every_contract(lint):
    code, output = lint(KEPT)
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in output
    assert code == 0


def test_every_contract_has_a_planted_offender():
    assert set(BROKEN) == set(CONTRACTS)


@pytest.mark.parametrize("contract", BROKEN)
def test_a_planted_import_breaks_its_contract(lint, contract):
    code, output = lint(KEPT | BROKEN[contract], contract)
    assert f"{CONTRACTS[contract]['name']} BROKEN" in output
    assert "Contracts: 0 kept, 1 broken." in output
    assert code == 1


def test_rooms_may_import_exactly_what_is_below_them(lint):
    def importing(packages):
        return "\n".join(f"import specledger.{ROOMS[package].replace('/', '.')}.leaf" for package in packages)

    below = {package: [other for other in PACKAGES if LEVEL[other] > LEVEL[package]] for package in PACKAGES}
    permitted = {f"specledger/{ROOMS[package]}/permitted.py": importing(below[package]) for package in PACKAGES}
    assert "Contracts: 1 kept, 0 broken." in lint(KEPT | permitted, "layers")[1]

    pairs = {(a, b) for a, b in product(PACKAGES, PACKAGES) if a != b and b not in below[a]}
    planted = {
        f"specledger/{ROOMS[package]}/planted.py": importing(b for a, b in sorted(pairs) if a == package)
        for package in PACKAGES
    }
    output = lint(KEPT | planted, "layers")[1]
    assert (
        set(re.findall(r"specledger\.(\w+)(?:\.laws)?\.planted -> specledger\.(\w+)(?:\.laws)?\.leaf", output)) == pairs
    )


def test_an_unlisted_package_breaks_exhaustiveness(lint):
    code, output = lint(KEPT | {"specledger/attic/__init__.py": ""}, "layers")
    assert f"{CONTRACTS['layers']['name']} BROKEN" in output
    assert "Contracts: 0 kept, 1 broken." in output
    assert "attic" in output
    assert code == 1
