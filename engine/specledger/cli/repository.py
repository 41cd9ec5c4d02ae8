"""The git repository of a project: a private key is kept out of its commits, and changed files are known from it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from specledger.cli.codes import E_CHANGED, E_KEY_TRACKED
from specledger.core.diagnostics import Diagnostic, Rejected

_IGNORED: Final = ".gitignore"
_LONGEST_S: Final = 20


def ignore_private(file: Path) -> Path | None:
    """Add a file that will hold a private key to the `.gitignore` of its repository.

    Returns:
        The `.gitignore` that was changed; None outside a repository, or where the file is ignored already.

    Raises:
        Rejected: E_KEY_TRACKED: git tracks files of its folder, or would not ignore it.
        OSError: The `.gitignore` cannot be written.
    """
    path = file.parent.resolve() / file.name
    root = next((folder for folder in path.parents if (folder / ".git").exists()), None)
    if root is None:
        return None
    git = shutil.which("git")
    if git is None:
        raise _tracked(f"{root} is a git repository, and git is not installed, so that nothing shows what it ignores")
    if _git(git, root, "check-ignore", "-q", str(path)).returncode == 0:
        return None
    if path.parent != root and _git(git, root, "ls-files", "--", str(path.parent)).stdout:
        raise _tracked(f"git tracks files of {path.parent}")
    ignored = root / _IGNORED
    before = ignored.read_text(encoding="utf-8") if ignored.exists() else ""
    gap = "" if before.endswith("\n") or not before else "\n"
    ignored.write_text(f"{before}{gap}/{path.relative_to(root).as_posix()}\n", encoding="utf-8")
    if _git(git, root, "check-ignore", "-q", str(path)).returncode != 0:
        ignored.write_text(before, encoding="utf-8")
        raise _tracked(f"{ignored} cannot make git ignore {path}")
    return ignored


def changed_files(ref: str) -> set[Path]:
    """The files of the repository of the working folder that differ from a commit, untracked and deleted ones too.

    Raises:
        Rejected: E_CHANGED: there is no repository, no git, or no such commit.
    """
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    git = shutil.which("git")
    if root is None or git is None:
        message = "git is not installed" if git is None else f"{here} is in no git repository"
        raise Rejected([Diagnostic(E_CHANGED, message, hint="name what is to be run, without --changed")])
    asked = _git(git, root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if asked.returncode != 0:
        message, hint = f"git knows no commit {ref}", "name a commit, a branch or a tag, such as main"
        raise Rejected([Diagnostic(E_CHANGED, message, hint=hint)])
    commit = asked.stdout.decode("ascii").strip()
    differing = _git(git, root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit, "--")
    untracked = _git(git, root, "ls-files", "--others", "--exclude-standard", "-z")
    if differing.returncode or untracked.returncode:
        raise Rejected([Diagnostic(E_CHANGED, "git does not say what changed")])
    names = (differing.stdout + untracked.stdout).split(b"\0")
    return {(root / os.fsdecode(name)).resolve() for name in names if name}


def _git(git: str, root: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Ask git about a repository; neither its configuration nor the environment starts another program."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = [git, "-c", "core.fsmonitor=false", "-C", str(root), *words]
    return subprocess.run(command, env=environment, capture_output=True, timeout=_LONGEST_S, check=False)  # noqa: S603


def _tracked(message: str) -> Rejected:
    hint = "name a file outside the repository, such as ~/keys/key.pem"
    return Rejected([Diagnostic(E_KEY_TRACKED, message, hint=hint)])
