"""The language server: the messages of an editor, answered by what the other modules know. Needs the extra `lsp`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from specledger import __version__
from specledger.core.diagnostics import Diagnostic, Rejected, Severity
from specledger.core.spans import Span
from specledger.load.library import SUFFIXES
from specledger.pipeline.formatting import format_text
from specledger.wings.editor.completion import complete, kind_in
from specledger.wings.editor.hover import hover
from specledger.wings.editor.navigation import definition, rename, renamed_at
from specledger.wings.editor.project import Workspace

_SOURCE: Final = "specledger"
_PAUSE: Final = 0.15
"""Seconds without a key after which a text is checked."""
_SORTS: Final = {
    "key": lsp.CompletionItemKind.Property,
    "name": lsp.CompletionItemKind.Reference,
    "value": lsp.CompletionItemKind.EnumMember,
}


class SpecServer(LanguageServer):
    """A language server with the texts that its editor has open."""

    def __init__(self) -> None:
        """Begin with nothing open."""
        super().__init__(_SOURCE, __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.texts = Workspace()
        self._shown: dict[Path, set[Path]] = {}

    def offset(self, file: Path, position: lsp.Position) -> int:
        """The offset of a position, which counts as the client does."""
        lines = _lines(self.texts.text(file))
        at = self.workspace.position_codec.position_from_client_units(lines, position)
        return sum(map(len, lines[: at.line])) + at.character

    def range(self, file: Path, span: Span) -> lsp.Range:
        """The range of a span, as the client counts."""
        lines = _lines(self.texts.text(file))
        start, end = (lsp.Position(max(at.line - 1, 0), max(at.column - 1, 0)) for at in (span.start, span.end))
        return self.workspace.position_codec.range_to_client_units(lines, lsp.Range(start, end))

    def examine(self, file: Path) -> None:
        """Check a file, and show the findings in it and in what refers to it."""
        if kind_in(self.texts.text(file)) is None and file.resolve() not in self._shown:
            return  # YAML that is no spec
        findings = self.texts.check(file).by_file
        before = self._shown.get(file.resolve(), set())
        for path in {*findings, *before}:
            shown = [self._shown_finding(path, diagnostic) for diagnostic in findings.get(path, [])]
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=_uri(path), diagnostics=shown))
        self._shown[file.resolve()] = {path for path, listed in findings.items() if listed} | {file.resolve()}

    def forget(self, file: Path) -> None:
        """Show no more findings of a file that was closed."""
        self.texts.drop(file)
        for path in self._shown.pop(file.resolve(), set()):
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=_uri(path), diagnostics=[]))

    def _shown_finding(self, file: Path, diagnostic: Diagnostic) -> lsp.Diagnostic:
        notes = (("expected", diagnostic.expected), ("found", diagnostic.found), ("hint", diagnostic.hint))
        lines = [diagnostic.message, *(f"{label}: {text}" for label, text in notes if text is not None)]
        start = lsp.Position(0, 0)
        return lsp.Diagnostic(
            range=lsp.Range(start, start) if diagnostic.span is None else self.range(file, diagnostic.span),
            message="\n".join(lines),
            severity=lsp.DiagnosticSeverity.Error
            if diagnostic.severity is Severity.ERROR
            else lsp.DiagnosticSeverity.Warning,
            code=diagnostic.code,
            source=_SOURCE,
            related_information=[
                lsp.DiagnosticRelatedInformation(
                    location=lsp.Location(_uri(Path(span.file)), self.range(Path(span.file), span)), message=text
                )
                for text, span in diagnostic.related
            ],
        )


def make_server() -> SpecServer:
    """A language server with all its features."""
    server = SpecServer()
    server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(_opened)
    server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(_changed)
    server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)(_saved)
    server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(_closed)
    triggers = lsp.CompletionOptions(trigger_characters=[" ", "{", "[", ","])
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, triggers)(_completion)
    server.feature(lsp.TEXT_DOCUMENT_HOVER)(_hover)
    server.feature(lsp.TEXT_DOCUMENT_DEFINITION)(_definition)
    server.feature(lsp.TEXT_DOCUMENT_REFERENCES)(_references)
    server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))(_rename)
    server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)(_prepare_rename)
    server.feature(lsp.TEXT_DOCUMENT_FORMATTING)(_formatting)
    return server


def _opened(server: SpecServer, params: lsp.DidOpenTextDocumentParams) -> None:
    _take(server, params.text_document.uri, params.text_document.text)


async def _changed(server: SpecServer, params: lsp.DidChangeTextDocumentParams) -> None:
    file = _file(params.text_document.uri)
    if file is not None:
        text = params.content_changes[-1].text
        server.texts.put(file, text)
        await asyncio.sleep(_PAUSE)
        if server.texts.text(file) == text:  # nobody typed on
            server.examine(file)


def _saved(server: SpecServer, params: lsp.DidSaveTextDocumentParams) -> None:
    file = _file(params.text_document.uri)
    if file is not None:
        server.texts.forget_references()
        _take(server, params.text_document.uri, server.texts.text(file))


def _closed(server: SpecServer, params: lsp.DidCloseTextDocumentParams) -> None:
    file = _file(params.text_document.uri)
    if file is not None:
        server.forget(file)


def _completion(server: SpecServer, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    file = _file(params.text_document.uri)
    if file is None:
        return []
    text = server.texts.text(file)
    lines = _lines(text)
    at = server.workspace.position_codec.position_from_client_units(lines, params.position)
    proposals = complete(text, at.line, at.character, server.texts.search(file))
    return [
        lsp.CompletionItem(
            label=proposal.label,
            kind=_SORTS[proposal.sort],
            documentation=proposal.doc or None,
            insert_text=proposal.text,
            sort_text=f"{number:04}",
        )
        for number, proposal in enumerate(proposals)
    ]


def _hover(server: SpecServer, params: lsp.HoverParams) -> lsp.Hover | None:
    file = _file(params.text_document.uri)
    text = None if file is None else hover(server.texts, file, server.offset(file, params.position))
    return None if text is None else lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text))


def _definition(server: SpecServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    file = _file(params.text_document.uri)
    where = None if file is None else definition(server.texts, file, server.offset(file, params.position))
    return None if where is None else lsp.Location(_uri(where[0]), server.range(*where))


def _references(server: SpecServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
    file = _file(params.text_document.uri)
    named = None if file is None else renamed_at(server.texts, file, server.offset(file, params.position))
    if file is None or named is None:
        return []
    uses = server.texts.references(file).to(named[0])
    return [lsp.Location(_uri(use.file), server.range(use.file, use.text_span)) for use in uses]


def _prepare_rename(server: SpecServer, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    file = _file(params.text_document.uri)
    named = None if file is None else renamed_at(server.texts, file, server.offset(file, params.position))
    return None if file is None or named is None else server.range(file, named[1])


def _rename(server: SpecServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    file = _file(params.text_document.uri)
    try:
        if file is None:
            raise Rejected(())
        change = rename(server.texts, file, server.offset(file, params.position), params.new_name)
    except Rejected as refused:
        raise JsonRpcInvalidParams(str(refused)) from None
    edits: dict[Path, list[lsp.TextEdit | lsp.AnnotatedTextEdit | lsp.SnippetTextEdit]] = {}
    for path, span, text in change.edits:
        edits.setdefault(path, []).append(lsp.TextEdit(server.range(path, span), text))
    texts = [
        lsp.TextDocumentEdit(lsp.OptionalVersionedTextDocumentIdentifier(_uri(path)), list(changes))
        for path, changes in edits.items()
    ]
    return lsp.WorkspaceEdit(document_changes=[*texts, lsp.RenameFile(_uri(change.before), _uri(change.after))])


def _formatting(server: SpecServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    file = _file(params.text_document.uri)
    before = "" if file is None else server.texts.text(file)
    after = None if file is None else format_text(before, file.name)
    if after is None or after == before:
        return []
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(before.count("\n") + 1, 0))
    return [lsp.TextEdit(whole, after)]


def _take(server: SpecServer, uri: str, text: str) -> None:
    file = _file(uri)
    if file is not None:
        server.texts.put(file, text)
        server.examine(file)


def _lines(text: str) -> list[str]:
    """The lines of a text, also the empty one after its last newline, in which a cursor may be."""
    return [*text.splitlines(keepends=True), ""]


def _file(uri: str) -> Path | None:
    """The YAML file of an address; None of anything else."""
    path = to_fs_path(uri)
    return Path(path) if path is not None and path.endswith(SUFFIXES) else None


def _uri(file: Path) -> str:
    return from_fs_path(str(file.absolute())) or ""
