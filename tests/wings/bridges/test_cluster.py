"""A real Dask scheduler with two workers on the loopback interface gives the bytes of one process, whatever happens."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.toys import CLIMB, SMALL
from tests.toys.bundles import files_of

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
LOOP = "127.0.0.1"
SUITE = {
    "spec": "suite/v1",
    "name": "heights",
    "runs": {"long": {"scenarios": ["climb"], "seeds": list(range(16)), "set": {"episodes": 200}}},
    "figures": {"arrives": {"rate": "success"}},
    "checks": [{"id": "some", "require": "arrives.of > 0", "opportunities": "arrives.of"}],
}


class Cluster:
    """A scheduler and workers, each a process that ends with the test."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.processes = folder, environment, []
        file = folder / "scheduler.json"
        words = ["scheduler", "--host", LOOP, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        self.scheduler = self.start(*words)
        self.address = self.wait_for(
            lambda: file.exists() and file.read_text() and json.loads(file.read_text())["address"]
        )

    def start(self, *words, **environment):
        quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        command = [sys.executable, "-m", "dask", *words]
        process = subprocess.Popen(command, env=self.environment | environment, cwd=self.folder, **quiet)
        self.processes.append(process)
        return process

    def worker(self, **environment):
        words = [
            "--host",
            LOOP,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--local-directory",
            str(self.folder),
        ]
        return self.start("worker", self.address, *words, **environment)

    @staticmethod
    def wait_for(condition, seconds=60):
        for _ in range(seconds * 20):
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise TimeoutError

    def close(self):
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path, interruptible):
    """A scheduler without workers."""
    made = Cluster(tmp_path, interruptible)
    yield made
    made.close()


@pytest.fixture
def toys(tmp_path):
    """A folder with the toys and a suite of one."""
    shutil.copytree(CLIMB, tmp_path / "toys")
    shutil.copytree(SMALL, tmp_path / "toys", dirs_exist_ok=True)
    (tmp_path / "toys" / "heights.yaml").write_text(json.dumps(SUITE))
    return tmp_path / "toys"


@pytest.fixture
def spec(toys, interruptible):
    """Run `spec WORDS...` in the folder of the toys; with `wait=False` the process."""

    def run(*words, wait=True):
        pipes: dict[str, Any] = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "stdin": subprocess.DEVNULL,
            "text": True,
        }
        process = subprocess.Popen([sys.executable, "-m", "specledger", *words], env=interruptible, cwd=toys, **pipes)
        return ended(process) if wait else process

    return run


def ended(process):
    out, err = process.communicate(timeout=150)
    assert "Traceback" not in err
    return process.returncode, out, err


def some_finished(toys):
    """Whether a run of a suite at `out` is finished and others are not."""
    return lambda: list(toys.glob(".out.*.partial/new/runs/long*/manifest.json"))


@pytest.fixture
def expected(toys, spec):
    """The bytes of the suite made by one process."""
    assert spec("run", "heights.yaml", "--out=alone", "--workers=1")[0] == 0
    return files_of(toys / "alone")


def test_the_bytes_are_those_of_one_process(cluster, spec, toys):
    cluster.worker()
    cluster.worker()
    there = f"--cluster={cluster.address}"
    for name, command in (("heights", "run"), ("climb", "run"), ("small", "discover")):
        change = ["--set=episodes=8000"] if name == "climb" else []  # worth several processes
        assert spec(command, f"{name}.yaml", *change, f"--out={name}-1", "--workers=1")[0] == 0
        assert spec(command, f"{name}.yaml", *change, f"--out={name}-2", there)[0] == 0
        assert files_of(toys / f"{name}-1") == files_of(toys / f"{name}-2")
        assert spec("verify", f"{name}-2", there)[1] == spec("verify", f"{name}-2", "--workers=1")[1]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "slow"])
def test_a_worker_that_is(cluster, spec, toys, expected, sign):
    victim, _ = cluster.worker(), cluster.worker()
    process = spec("run", "heights.yaml", "--out=out", f"--cluster={cluster.address}", wait=False)
    cluster.wait_for(some_finished(toys))
    victim.send_signal(sign)
    if sign == signal.SIGSTOP:
        threading.Timer(3, victim.send_signal, [signal.SIGCONT]).start()
    assert ended(process)[0] == 0
    assert files_of(toys / "out") == expected


def test_a_worker_with_another_engine_is_given_no_work(cluster, spec, toys, tmp_path, expected):
    shutil.copytree(ROOT / "engine", tmp_path / "other", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("specs", "schemas"):
        os.symlink(ROOT / folder, tmp_path / folder)
    with (tmp_path / "other/specledger/run/loop.py").open("a") as file:
        file.write("# another one\n")
    cluster.worker(PYTHONPATH=str(tmp_path / "other"))
    there = f"--cluster={cluster.address}"
    status, _, err = spec("run", "heights.yaml", "--out=out", there)
    assert (status, "E_CLUSTER_ENGINE" in err) == (2, True)
    assert not (toys / "out").exists()
    cluster.worker()
    status, _, err = spec("run", "heights.yaml", "--out=out", there)
    assert status == 0
    assert files_of(toys / "out") == expected
    assert err == "" or "W_CLUSTER_ENGINE" in err


def test_a_scheduler_that_is_lost(cluster, spec, toys, expected):
    cluster.worker()
    process = spec("run", "heights.yaml", "--out=out", f"--cluster={cluster.address}", wait=False)
    cluster.wait_for(some_finished(toys))
    cluster.scheduler.kill()
    status, _, err = ended(process)
    assert (status, "E_CLUSTER_LOST" in err) == (2, True)
    assert not (toys / "out").exists()
    assert spec("run", "heights.yaml", "--out=out", "--workers=1", "--resume")[0] == 0
    assert files_of(toys / "out") == expected


def test_no_scheduler_and_no_worker_are_said_in_one_line(cluster, spec):
    for address in ("tcp://127.0.0.1:1", cluster.address, "localhost", "local:0"):
        status, _, err = spec("run", "heights.yaml", f"--cluster={address}")
        assert (status, "E_CLUSTER_ADDRESS" in err) == (2, True)


def test_a_missing_package_is_said_in_one_line(spec, toys, interruptible):
    program = "import sys; sys.modules['distributed'] = None; from specledger.cli.main import main; main()"
    command = [sys.executable, "-c", program, "run", "heights.yaml", "--cluster=local:1"]
    done = subprocess.run(command, env=interruptible, cwd=toys, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install 'specledger[cluster]'" in done.stderr


@pytest.mark.parametrize("name", ["suite/gridworld-mutants", "suite/pursuit-mutants", "discovery/kinetic"])
def test_shipped_specs_on_a_cluster_have_the_bytes_of_one_process(tmp_path, interruptible, name):
    """Two suites and a discovery by `--cluster local:2` and by one process; both verify, each where it was not made."""
    alone, cluster = "--workers=1", "--cluster=local:2"

    def spec(*words):
        command = [sys.executable, "-m", "specledger", *words]
        done = subprocess.run(
            command, env=interruptible, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout.replace(str(tmp_path / "near"), "OUT").replace(str(tmp_path / "far"), "OUT")

    file = f"specs/{name}.yaml"
    near, far = (
        spec("run", file, where, f"--out={tmp_path / out}") for where, out in ((alone, "near"), (cluster, "far"))
    )
    assert near == far
    assert near[0] == 0
    assert files_of(tmp_path / "near") == files_of(tmp_path / "far")
    verified = spec("verify", str(tmp_path / "far"), alone)
    assert verified == spec("verify", str(tmp_path / "near"), cluster)
    assert verified[0] == 0
