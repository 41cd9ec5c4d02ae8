"""What the language server does when a document is saved and closed, and offsets in it, without a client."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from specledger.wings.editor.server import SpecServer, _closed, _saved, _uri


@pytest.fixture
def done():
    return []


@pytest.fixture
def server(done):
    """A server that writes down what it is asked for; the text of every file is `text`."""
    texts = SimpleNamespace(
        text=lambda file: "text",
        put=lambda file, text: done.append(("put", file.name, text)),
        forget_references=lambda: done.append(("forget references",)),
    )
    examine, forget = (lambda file, word=word: done.append((word, file.name)) for word in ("examine", "forget"))
    return SimpleNamespace(texts=texts, examine=examine, forget=forget)


def about(uri) -> Any:
    return SimpleNamespace(text_document=SimpleNamespace(uri=uri))


def test_a_saved_spec_is_examined_again_with_all_references(server, done, tmp_path):
    _saved(server, about(_uri(tmp_path / "a.yaml")))
    assert done == [("forget references",), ("put", "a.yaml", "text"), ("examine", "a.yaml")]


def test_a_closed_spec_is_forgotten(server, done, tmp_path):
    _closed(server, about(_uri(tmp_path / "a.yaml")))
    assert done == [("forget", "a.yaml")]


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "http://a/b.yaml"])
def test_what_is_no_file_is_left_alone(server, done, uri):
    _saved(server, about(uri))
    _closed(server, about(uri))
    assert done == []


@pytest.mark.parametrize(
    ("text", "line", "character", "offset"),
    [
        ("", 0, 0, 0),
        ("ab\ncd\n", 1, 1, 4),
        ("ab\ncd\n", 0, 2, 2),
        ("\U0001f600b\nc", 0, 2, 1),
        ("\U0001f600b\nc", 1, 1, 4),
    ],
)
def test_an_offset_counts_as_the_client_does(text, line, character, offset):
    stub: Any = SimpleNamespace(
        texts=SimpleNamespace(text=lambda file: text),
        workspace=SimpleNamespace(position_codec=PositionCodec(lsp.PositionEncodingKind.Utf16)),
    )
    assert SpecServer.offset(stub, Path("a.yaml"), lsp.Position(line, character)) == offset
