"""The wheel is whole: it carries the shipped specs and schemas, and works where there is no checkout."""

import email
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.toys import CLIMB

pytestmark = pytest.mark.slow

EXAMPLES = (
    *("river-crossing", "vault-run", "thermostat", "pursuit"),
    *("cycle-turn", "cycle-gone-stays-gone", "cycle-borders-never-rise"),
)
"""Examples that `spec run NAME` runs and that end as expected: scenarios, suites, laws."""
POLICY_RUNS = ("hazard", "river-crossing", "thermostat", "vault-run")

SPEC = "from specledger.cli.main import main; main()"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, root, run_python):
    """The wheel that the checkout builds, made with the installed backend and no network."""
    folder = tmp_path_factory.mktemp("wheel")
    done = run_python("-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder), cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def spec(tmp_path_factory, wheel, run_python):
    """Run `spec ARGUMENTS` as the installed wheel does, far from the checkout."""
    site, elsewhere = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("elsewhere")
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index")
    done = run_python(*pip, "--target", str(site), str(wheel), cwd=elsewhere)
    assert done.returncode == 0, done.stdout + done.stderr

    def run(*arguments, program=SPEC):
        return run_python("-c", program, *arguments, cwd=elsewhere, PYTHONPATH=str(site))

    imported = run(program="import specledger; print(specledger.__file__)").stdout
    assert Path(imported.strip()).is_relative_to(site), "the checkout was imported, not the wheel"
    return run


def test_the_wheel_carries_the_package_and_its_data(wheel, root):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    package = [
        path for path in root.glob("engine/specledger/**/*") if path.is_file() and "__pycache__" not in path.parts
    ]
    expected = {path.relative_to(root / "engine").as_posix(): path.read_bytes() for path in package}
    for kind in ("specs", "schemas", "docs"):
        data = [path for path in root.glob(f"{kind}/**/*") if path.is_file() and path.parent.name != "pictures"]
        assert data, f"there are no {kind} to ship"
        expected |= {f"specledger/_data/{path.relative_to(root).as_posix()}": path.read_bytes() for path in data}
    assert sorted(packed) == sorted(expected)
    assert packed == expected


def test_the_wheel_says_what_it_is(wheel, project):
    with zipfile.ZipFile(wheel) as archive:
        (folder,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = email.message_from_bytes(archive.read(f"{folder}/METADATA"))
        scripts = archive.read(f"{folder}/entry_points.txt").decode()
        licence = archive.read(f"{folder}/licenses/LICENSE").decode()
    assert (metadata["Name"], metadata["Version"]) == ("specledger", project["project"]["version"])
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Apache License" in licence
    assert "spec = specledger.__main__:main" in scripts
    assert "[pytest11]\nspecledger = specledger.pytest_plugin\n" in scripts


def test_an_installed_wheel_finds_the_shipped_specs(spec, root, run_python):
    shown = spec("show", "--resolved", "hazard")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert shown.stdout.strip()
    assert shown.stdout == run_python("-c", SPEC, "show", "--resolved", "hazard", cwd=root).stdout


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_run_untouched(spec, tmp_path, name):
    done = spec("run", name, "--out", str(tmp_path / name))
    assert done.returncode == 0, done.stdout + done.stderr
    verified = spec("verify", str(tmp_path / name))
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_the_policy_of_a_company_judges_what_was_run(spec, tmp_path):
    places = [str(tmp_path / name) for name in POLICY_RUNS]
    for name, place in zip(POLICY_RUNS, places, strict=True):
        assert spec("run", name, "--out", place).returncode == 0
    done = spec("report", *places, "--profile", "company-policy", "--replay")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("# `company-policy`: PASS (replayed)\n")


def test_an_installed_wheel_is_a_pytest_plugin(spec, tmp_path):
    shutil.copytree(CLIMB, tmp_path / "specs")
    (tmp_path / "pytest.ini").write_text("[pytest]\nspecledger_specs = specs/climb.yaml\n", encoding="utf-8")
    done = spec(str(tmp_path), "-p", "no:cacheprovider", "-v", program="import pytest; raise SystemExit(pytest.main())")
    assert "specs/climb.yaml::climb PASSED" in done.stdout, done.stdout + done.stderr
    assert "plugins: specledger-" in done.stdout or ", specledger-" in done.stdout
