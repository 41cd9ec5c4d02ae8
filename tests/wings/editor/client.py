"""The client of an editor, by pygls."""

import asyncio

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path


class Editor(LanguageClient):
    """Opens files of a project, and waits for what the server says of them."""

    def __init__(self, project):
        super().__init__("a client of tests", "1")
        self.project = project
        self.findings: dict[str, list] = {}
        self._news = asyncio.Event()
        self._version = 0

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.findings[params.uri] = list(params.diagnostics)
            self._news.set()

    async def begin(self):
        await self.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=from_fs_path(str(self.project)))
        )
        self.initialized(lsp.InitializedParams())

    async def end(self):
        await self.shutdown_async(None)
        self.exit(None)
        await self.stop()

    def uri(self, name):
        return from_fs_path(str(self.project / name))

    def text(self, name):
        return (self.project / name).read_text(encoding="utf-8")

    async def open(self, name, text=None):
        """Open a file, and wait for its findings."""
        text = self.text(name) if text is None else text
        item = lsp.TextDocumentItem(uri=self.uri(name), language_id="yaml", version=0, text=text)
        return await self._after(name, lambda: self.text_document_did_open(lsp.DidOpenTextDocumentParams(item)))

    async def type(self, name, text):
        """Change a file that is open, and wait for its findings."""
        self._version += 1
        identifier = lsp.VersionedTextDocumentIdentifier(version=self._version, uri=self.uri(name))
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        params = lsp.DidChangeTextDocumentParams(identifier, [change])
        return await self._after(name, lambda: self.text_document_did_change(params))

    async def _after(self, name, send):
        self.findings.pop(self.uri(name), None)
        send()
        while self.uri(name) not in self.findings:
            self._news.clear()
            await self._news.wait()
        return self.findings[self.uri(name)]

    def at(self, name, text, words, offset=0):
        """Where a piece of a text is, as parameters of a request."""
        begin = text.index(words) + offset
        line = text.count("\n", 0, begin)
        return {
            "text_document": lsp.TextDocumentIdentifier(self.uri(name)),
            "position": lsp.Position(line, len(text[text.rfind("\n", 0, begin) + 1 : begin].encode("utf-16-le")) // 2),
        }
