"""A real client of `celadon lsp`, and what the server has told it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient


class Session:
    """A client, the server it has started, and what that has told so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uri = (folder / "policy.yaml").as_uri()
        self.client = LanguageClient("tests", "1")
        self.told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda it: self.told.put_nowait(it)
        )
        self.client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda it: self.messages.append(it.message))
        self.client.feature(lsp.WINDOW_LOG_MESSAGE)(lambda it: None)

    async def begin(self, port: int | None = None) -> None:
        """With a server of its own, or the one that listens at a port."""
        if port is None:
            await self.client.start_io(sys.executable, "-m", "celadon", "lsp")
        else:
            await self.client.start_tcp("127.0.0.1", port)
        folder = lsp.WorkspaceFolder(self.folder.as_uri(), "policies")
        await self.client.initialize_async(
            lsp.InitializeParams(
                capabilities=lsp.ClientCapabilities(),
                root_uri=self.folder.as_uri(),
                workspace_folders=[folder],
            )
        )
        self.client.initialized(lsp.InitializedParams())

    def open(self, text: str) -> None:
        item = lsp.TextDocumentItem(self.uri, "yaml", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def type_in(self, line: int, column: int, text: str) -> None:
        """One keystroke after the other, each told as an editor does."""
        for number, one in enumerate(text):
            place = lsp.Position(line, column + number)
            part = lsp.TextDocumentContentChangePartial(lsp.Range(place, place), one)
            self.tell(part)

    def change(self, text: str) -> None:
        self.tell(lsp.TextDocumentContentChangeWholeDocument(text))

    def tell(self, change: lsp.TextDocumentContentChangeEvent) -> None:
        document = lsp.VersionedTextDocumentIdentifier(version=2, uri=self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        while True:
            told = await asyncio.wait_for(self.told.get(), 60)
            if told.uri == self.uri:
                return list(told.diagnostics)

    @property
    def document(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)

    async def end(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()  # type: ignore[no-untyped-call]
