"""Copies of a commit, in which programs that change files work."""

import io
import subprocess
import sys
import tarfile
from pathlib import Path


def unpack(commit: str, folder: Path) -> None:
    """Copy a commit into a folder, and compile the engine there."""
    command = ["git", "archive", commit]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
        tree.extractall(folder, filter="data")
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder / "engine"], check=True)
