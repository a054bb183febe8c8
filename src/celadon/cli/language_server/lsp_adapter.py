"""The protocol: requests of an editor to calls of the functions beside, and answers back.

Nothing is decided here. All work is done in the order in which the editor asks, in one thread: an
answer is about the text as it was when it was asked for. Diagnostics follow a change at once, and
several changes that come faster than they can be made have them made once.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from celadon import __version__
from celadon.admission.lint import Severity, TypedScope
from celadon.cli.fmt import layout_config
from celadon.cli.language_server import hovers, workspace_files
from celadon.cli.language_server import hovers as margin_notes
from celadon.cli.language_server.completions import Sort, completions
from celadon.cli.lint import LintConfig, find_config, fix_edit, lint_setup
from celadon.cli.project_config import FILE_NAMES, ConfigError, find_project
from celadon.cli.reading.documents import EXTENSIONS
from celadon.records import dataclass

# --- Code actions ------------------------------------------------------------
#
# What can be done about findings: the safe fixes of the linter, and comments that silence them.


@dataclass(frozen=True, slots=True)
class CodeAction:
    """Offers a change that does something about a finding. `is_fix`: it puts something right, and
    does not only hide it."""

    title: str
    diagnosis: workspace_files.Diagnosis
    edit: workspace_files.TextEdit
    is_fix: bool


def code_actions(
    file: workspace_files.EditedFile,
    diagnoses: Sequence[workspace_files.Diagnosis],
    span: workspace_files.Span,
) -> list[CodeAction]:
    """Return the actions for the findings that a span touches."""
    actions: list[CodeAction] = []
    for diagnose in diagnoses:
        if diagnose.span.start <= span.end and span.start <= diagnose.span.end:
            actions += [*_fix(file, diagnose), *_silence(file, diagnose)]
    return actions


def _fix(
    file: workspace_files.EditedFile, diagnosis: workspace_files.Diagnosis
) -> Iterator[CodeAction]:
    finding = None if diagnosis.shown_finding is None else diagnosis.shown_finding.finding
    if finding is None or diagnosis.document is None:
        return
    replacement = fix_edit(file.text, diagnosis.document, finding)
    if replacement is not None:
        edit = workspace_files.TextEdit(
            file.text.file, file.lines.span(replacement.start, replacement.end), replacement.text
        )
        subject = f"replace it with `{replacement.text}`" if replacement.text else "take it out"
        yield CodeAction(f"{diagnosis.code}: {subject}", diagnosis, edit, is_fix=True)


def _silence(
    file: workspace_files.EditedFile, diagnosis: workspace_files.Diagnosis
) -> Iterator[CodeAction]:
    """Yield a comment above the field that the finding is in."""
    # JSON has no comments.
    if (
        diagnosis.document is None
        or diagnosis.shown_finding is None
        or diagnosis.document.chunk.is_json
    ):
        return
    finding = diagnosis.shown_finding.finding
    path = () if finding is None else finding.spot.path.steps
    line = diagnosis.document.line(path) - 1
    text = file.lines.line(line)
    indent = text[: len(text) - len(text.lstrip())]
    start = workspace_files.Position(line, 0)
    comment = f"{indent}# celadon: ignore[{diagnosis.code}]\n"
    edit = workspace_files.TextEdit(file.text.file, workspace_files.Span(start, start), comment)
    title = f"{diagnosis.code}: silence it here"
    yield CodeAction(title, diagnosis, edit, is_fix=False)


RUN_TESTS: Final = "celadon.runTests"
PAUSE: Final = 0.02
"""Seconds without a change after which diagnostics are made: changes that wait already are made
first, and share them."""
_SOURCE: Final = "celadon"
_SEVERITIES: Final = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}
_SORTS: Final = {
    Sort.FIELD: lsp.CompletionItemKind.Field,
    Sort.VARIABLE: lsp.CompletionItemKind.Variable,
    Sort.FUNCTION: lsp.CompletionItemKind.Function,
    Sort.MACRO: lsp.CompletionItemKind.Snippet,
    Sort.NAMESPACE: lsp.CompletionItemKind.Module,
    Sort.KEYWORD: lsp.CompletionItemKind.Keyword,
    Sort.TYPE: lsp.CompletionItemKind.Struct,
}

_OUTLINED: Final = {
    hovers.OutlineSort.OBJECT: lsp.SymbolKind.Class,
    hovers.OutlineSort.SECTION: lsp.SymbolKind.Array,
    hovers.OutlineSort.ITEM: lsp.SymbolKind.Function,
    hovers.OutlineSort.FIELD: lsp.SymbolKind.Field,
    hovers.OutlineSort.VARIABLE: lsp.SymbolKind.Variable,
}


@dataclass(frozen=True, slots=True)
class _UnreadableMessage:
    """Holds why a message is none of the protocol. `id` is that of a request."""

    id: object
    error: JsonRpcException


class Conversation(LanguageServerProtocol):
    """Reads and writes the messages of one editor. A request that cannot be read is answered, too:
    the editor would wait for ever. Nobody is told where in this package something failed."""

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - as pygls
        """Return a message as an object of its type."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            return _UnreadableMessage(data.get("id") if "method" in data else None, error)

    def handle_message(self, message: Any) -> None:  # noqa: ANN401 - whatever JSON says
        """Answer a message. Raises JsonRpcException if it is none, and nobody waits for an
        answer."""
        if isinstance(message, _UnreadableMessage):
            if not isinstance(message.id, (int, str)):
                raise message.error
            self._send_response(message.id, error=message.error.to_response_error())
        elif not hasattr(message, "jsonrpc"):
            raise JsonRpcInvalidRequest("what comes is no message of JSON-RPC")
        else:
            super().handle_message(message)

    def _send_response(
        self, msg_id: int | str, result: object = None, error: lsp.ResponseError | None = None
    ) -> None:
        if error is not None:
            error = lsp.ResponseError(error.code, error.message)
        super()._send_response(msg_id, result, error)


class CeladonServer(LanguageServer):
    """One editor's server. `folder` is the root of its workspace."""

    def __init__(self) -> None:
        super().__init__(
            "celadon",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            protocol_cls=Conversation,
        )
        self.folder = str(Path.cwd())
        self.files = _workspace(Path.cwd())
        self.diagnoses: dict[str, list[workspace_files.Diagnosis]] = {}
        self.published: dict[str, list[lsp.Diagnostic]] = {}
        self._pending: asyncio.TimerHandle | None = None

    def open_folder(self, folder: str) -> None:
        """Read a workspace."""
        self.folder = folder
        try:
            self.files = _workspace(Path(folder))
            self.files.load(folder, _lint_config(Path(folder)).exclude)
        except ConfigError as error:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, str(error)))

    def size(self) -> int:
        """Return the size of objects that costs are told for."""
        return self.files.setup.settings.large_object

    def spot(
        self, uri: str, position: lsp.Position
    ) -> tuple[workspace_files.EditedFile, workspace_files.ExpressionSpot] | None:
        """Return the expression at a place."""
        file = self.files.files.get(_path(uri))
        spot = None if file is None else workspace_files.expression_at(file, _inner(position))
        return None if file is None or spot is None else (file, spot)

    def scopes(self, spot: workspace_files.ExpressionSpot) -> list[TypedScope]:
        """Return what an expression may name."""
        return self.files.scopes().at(spot.document.value, spot.path)

    def publish_soon(self) -> None:
        """Show what is wrong, once there is a pause."""
        if self._pending is not None:
            self._pending.cancel()
        self._pending = asyncio.get_running_loop().call_later(PAUSE, self.publish)

    def diagnoses_of(self, path: str) -> list[workspace_files.Diagnosis]:
        """Return what is wrong with a file as it is now."""
        if self._pending is not None:
            self.publish()
        return self.diagnoses.get(path, [])

    def publish(self) -> None:
        """Show what is wrong, where that has changed."""
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
        self.diagnoses = self.files.diagnoses()
        # A file without findings has to be told, too: its old ones would stay.
        for path in self.published.keys() | self.diagnoses.keys():
            now = [_diagnostic(path, diagnose) for diagnose in self.diagnoses.get(path, [])]
            if now != self.published.get(path, []):
                self.text_document_publish_diagnostics(
                    lsp.PublishDiagnosticsParams(uri=_uri(path), diagnostics=now)
                )
            self.published[path] = now


def _workspace(folder: Path) -> workspace_files.Workspace:
    """Return an empty workspace with the configuration of a folder. Raises `ConfigError`."""
    return workspace_files.Workspace(lint_setup(_lint_config(folder)), layout_config(folder))


def _lint_config(folder: Path) -> LintConfig:
    """Return what `celadon lint` would use there. Raises `ConfigError`."""
    return find_config(folder, find_project(folder, reads_files=False))


def _path(uri: str) -> str:
    return uris.to_fs_path(uri) or uri


def _uri(path: str) -> str:
    return uris.from_fs_path(path) or path


def _inner(position: lsp.Position) -> workspace_files.Position:
    return workspace_files.Position(position.line, position.character)


def _span(lsp_range: lsp.Range) -> workspace_files.Span:
    return workspace_files.Span(_inner(lsp_range.start), _inner(lsp_range.end))


def _range(span: workspace_files.Span) -> lsp.Range:
    return lsp.Range(lsp.Position(*span.start), lsp.Position(*span.end))


def _diagnostic(path: str, diagnosis: workspace_files.Diagnosis) -> lsp.Diagnostic:
    place = lsp.Location(_uri(path), _range(diagnosis.span))
    helps = [lsp.DiagnosticRelatedInformation(place, diagnosis.help)] if diagnosis.help else None
    return lsp.Diagnostic(
        range=_range(diagnosis.span),
        message=diagnosis.message,
        related_information=helps,
        severity=_SEVERITIES[diagnosis.severity],
        code=diagnosis.code or None,
        source=_SOURCE,
    )


def _text_edits(edits: list[workspace_files.TextEdit]) -> list[lsp.TextEdit]:
    return [lsp.TextEdit(_range(edit.span), edit.text) for edit in edits]


def language_server() -> CeladonServer:
    """Return a server with all that it can do, not started yet."""
    server = CeladonServer()
    _follow_files(server)
    _complete(server)
    _answer_about_expressions(server)
    _answer_about_variables(server)
    _change_files(server)
    _annotate_files(server)
    _outline_files(server)
    _run_tests(server)
    return server


def _follow_files(server: CeladonServer) -> None:
    @server.feature(lsp.INITIALIZED)
    def begin(_: lsp.InitializedParams) -> None:
        folder = server.workspace.root_path
        if folder:
            server.open_folder(folder)
        for uri, document in server.workspace.text_documents.items():
            if _path(uri).endswith(EXTENSIONS):
                server.files.change(_path(uri), document.source)
        server.publish()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def edited(params: lsp.DidChangeTextDocumentParams) -> None:
        changed(params.text_document.uri)

    def changed(uri: str) -> None:
        if _path(uri).endswith(EXTENSIONS):
            server.files.change(_path(uri), server.workspace.get_text_document(uri).source)
            server.publish_soon()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.files.close(_path(params.text_document.uri))
        server.publish()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        reloaded([params.text_document.uri])

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        reloaded([change.uri for change in params.changes])

    def reloaded(changed_uris: list[str]) -> None:
        is_configured_anew = any(Path(_path(uri)).name in FILE_NAMES for uri in changed_uris)
        if is_configured_anew:
            server.open_folder(server.folder)
        for uri in changed_uris:
            if _path(uri).endswith(EXTENSIONS):
                server.files.reload(_path(uri))
        for uri, document in server.workspace.text_documents.items():
            if (is_configured_anew or uri in changed_uris) and _path(uri).endswith(EXTENSIONS):
                server.files.change(_path(uri), document.source)
        server.publish()


def _complete(server: CeladonServer) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "?", "{"])
    )
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        place = server.spot(params.text_document.uri, params.position)
        if place is None:
            return None
        _, spot = place
        offers = completions(spot.text, spot.offset, server.scopes(spot))
        if offers is None:
            return None
        typed = spot.offset - offers.start
        start = lsp.Position(params.position.line, params.position.character - typed)
        where = lsp.Range(start, params.position)
        items = [
            lsp.CompletionItem(
                offer.label,
                kind=_SORTS[offer.sort],
                detail=offer.detail or None,
                documentation=_markdown(offer.doc) if offer.doc else None,
                text_edit=lsp.TextEdit(where, offer.label),
            )
            for offer in offers.offers
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)


def _answer_about_expressions(server: CeladonServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        place = server.spot(params.text_document.uri, params.position)
        if place is None:
            return None
        file, spot = place
        text = hovers.hover(spot.text, spot.offset, server.scopes(spot), server.size())
        if text is None:
            return None
        placed = spot.span(text.start, text.end)
        where = None if placed is None else _range(file.lines.span(*placed))
        return lsp.Hover(_markdown(text.markdown), where)

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["(", ","])
    )
    def helped(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        spot = server.spot(params.text_document.uri, params.position)
        signatures = None
        if spot is not None:
            signatures = hovers.signatures(spot[1].text, spot[1].offset, server.scopes(spot[1]))
        if signatures is None:
            return None
        listed = [
            lsp.SignatureInformation(
                signature.label,
                documentation=signature.doc or None,
                parameters=[lsp.ParameterInformation(label) for label in signature.parameters],
            )
            for signature in signatures.signatures
        ]
        return lsp.SignatureHelp(listed, active_signature=0, active_parameter=signatures.argument)


def _markdown(text: str) -> lsp.MarkupContent:
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, text)


def _answer_about_variables(server: CeladonServer) -> None:
    def file_of(uri: str) -> workspace_files.EditedFile | None:
        return server.files.files.get(_path(uri))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def define(params: lsp.DefinitionParams) -> lsp.Location | None:
        file = file_of(params.text_document.uri)
        span = file and hovers.definition(file, _inner(params.position))
        return lsp.Location(params.text_document.uri, _range(span)) if span else None

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def refer(params: lsp.ReferenceParams) -> list[lsp.Location]:
        file = file_of(params.text_document.uri)
        spans = hovers.occurrences(file, _inner(params.position)) if file else []
        return [lsp.Location(params.text_document.uri, _range(span)) for span in spans]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        file = file_of(params.text_document.uri)
        variable = file and hovers.variable_at(file, _inner(params.position))
        return _range(variable.span) if variable else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        file = file_of(params.text_document.uri)
        if file is None:
            return None
        try:
            edits = hovers.renaming(file, _inner(params.position), params.new_name)
        except hovers.NoVariableName as error:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, str(error)))
            return None
        return lsp.WorkspaceEdit({params.text_document.uri: _text_edits(edits)})


def _change_files(server: CeladonServer) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def act(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        path = _path(params.text_document.uri)
        file = server.files.files.get(path)
        if file is None:
            return []
        actions = code_actions(file, server.diagnoses_of(path), _span(params.range))
        return [_action(params.text_document.uri, action) for action in actions]

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def lay_out(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        path = _path(params.text_document.uri)
        return _text_edits(server.files.layout_edits(path)) if path in server.files.files else []

    @server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    def lay_out_range(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
        path = _path(params.text_document.uri)
        if path not in server.files.files:
            return []
        return _text_edits(server.files.layout_edits(path, _span(params.range)))


def _annotate_files(server: CeladonServer) -> None:
    def file_of(uri: str) -> workspace_files.EditedFile | None:
        return server.files.files.get(_path(uri))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hint(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        file = file_of(params.text_document.uri)
        if file is None:
            return []
        scopes = server.files.scopes()
        hints = margin_notes.cost_hints(file, _span(params.range), scopes, server.size())
        return [
            lsp.InlayHint(lsp.Position(*hint.position), hint.text, padding_left=True)
            for hint in hints
        ]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        file = file_of(params.text_document.uri)
        tests = margin_notes.test_files(server.folder)
        lenses = margin_notes.test_lenses(file, tests) if file else []
        return [
            lsp.CodeLens(
                _range(workspace_files.Span(lens.position, lens.position)),
                lsp.Command(
                    f"run the tests of {lens.policy}", RUN_TESTS, arguments=list(lens.files)
                ),
            )
            for lens in lenses
        ]


def _outline_files(server: CeladonServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        file = server.files.files.get(_path(params.text_document.uri))
        return [] if file is None else [_symbol(part) for part in hovers.document_outline(file)]


def _symbol(outline_part: hovers.OutlinePart) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        outline_part.name,
        _OUTLINED[outline_part.sort],
        _range(outline_part.span),
        _range(outline_part.chosen),
        detail=outline_part.detail or None,
        children=[_symbol(part) for part in outline_part.parts],
    )


def _action(uri: str, action: CodeAction) -> lsp.CodeAction:
    return lsp.CodeAction(
        action.title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(_path(uri), action.diagnosis)],
        is_preferred=action.is_fix or None,
        edit=lsp.WorkspaceEdit({uri: _text_edits([action.edit])}),
    )


def _run_tests(server: CeladonServer) -> None:
    @server.command(RUN_TESTS)
    async def run(*files: str) -> dict[str, object]:
        """Another process runs them: its output is none of the protocol's."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "celadon", "test", "--no-color", "--", *files),
            cwd=server.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        text = output.decode("utf-8", "replace").rstrip()
        passed = process.returncode == 0
        sort = lsp.MessageType.Info if passed else lsp.MessageType.Error
        server.window_log_message(lsp.LogMessageParams(sort, text))
        last = text.rpartition("\n")[2]
        server.window_show_message(lsp.ShowMessageParams(sort, last))
        return {"exitCode": process.returncode, "output": text}
