"""A project of `spec init`, and an editor's client that speaks to `spec lsp` over its standard input and output."""

from __future__ import annotations

import asyncio
import sys

import pytest

from specledger.pipeline.project import write_project


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path)
    return tmp_path


@pytest.fixture
def editor(project):
    """Runs a conversation `(Editor) -> awaitable` with a server that works in the project."""
    pytest.importorskip("pygls", reason="the extra `lsp`")
    from tests.wings.editor.client import Editor

    def converse(talk):
        async def session():
            client = Editor(project)
            await client.start_io(sys.executable, "-m", "specledger", "lsp", cwd=str(project))
            await client.begin()
            try:
                return await asyncio.wait_for(talk(client), 60)
            finally:
                await client.end()

        return asyncio.run(session())

    return converse
