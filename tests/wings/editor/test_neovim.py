"""Neovim itself, started without a window with the settings that `spec init` writes: a finding and a hover arrive."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NEOVIM = shutil.which("nvim")
LOOK = """
vim.cmd("edit .nvim.lua")
vim.secure.trust({ action = "allow", bufnr = 0 })
dofile(".nvim.lua")
vim.cmd("edit specs/governor/careful.yaml")
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 100)
for _, found in ipairs(vim.diagnostic.get(0)) do
  print(string.format("%d:%d %s", found.lnum + 1, found.col + 1, found.code))
end
local place = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 1, character = 2 } }
local hover = vim.lsp.get_clients()[1]:request_sync("textDocument/hover", place, 60000, 0)
print(hover.result.contents.value)
vim.cmd("qa!")
"""


@pytest.mark.slow
@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_the_settings_that_are_written_start_the_server(spec, tmp_path):
    project = tmp_path / "project"
    assert spec("init", str(project), "--editor", "neovim").status == 0
    file = project / "specs" / "governor" / "careful.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("next.level > LIMIT", "next.level > LIMITED"), encoding="utf-8")
    (tmp_path / "look.lua").write_text(LOOK, encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(
        [str(NEOVIM), "--headless", "-i", "NONE", "-c", f"luafile {tmp_path / 'look.lua'}"],
        cwd=project,
        env=own,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "E_EXPR_UNKNOWN_NAME" in said
    assert "The kind and the version of the document" in said
