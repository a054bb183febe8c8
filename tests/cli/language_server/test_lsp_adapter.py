"""Sessions of a real client with `celadon lsp`, one for each thing that it can do."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from celadon.cli.linting.lint_config import LintConfig
from celadon.cli.linting.lint_run import findings, read
from celadon.cli.linting.lint_setup import lint_setup

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: limit
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [deployments]
  variables:
  - name: containers
    expression: object.spec.template.spec.containers
  validations:
  - expression: variables.containers.all(c,c.name != '😀' && c.image.startsWith('x'))
    message: from elsewhere
  - expression: object.spec.replicsa <= 5
    message: too many
  - expression: object.spec.paused == oldObject.
    message: being typed
"""
TEST = """\
apiVersion: celadon.dev/v1
kind: PolicyTest
policies: [policy.yaml]
cases: []
"""
Outcome = TypeVar("Outcome")


class Session:
    """A client, the server it has started, and what that has told so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uri = (folder / "policy.yaml").as_uri()
        self.client = LanguageClient("tests", "1")
        self.told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda it: self.told.put_nowait(it))
        self.client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda it: self.messages.append(it.message))
        self.client.feature(lsp.WINDOW_LOG_MESSAGE)(lambda it: None)

    async def begin(self) -> None:
        await self.client.start_io(sys.executable, "-m", "celadon", "lsp")
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

    def change(self, text: str) -> None:
        document = lsp.VersionedTextDocumentIdentifier(version=2, uri=self.uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

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
        await self.client.stop()


def session(folder: Path, talk: Callable[[Session], Awaitable[Outcome]]) -> Outcome:
    """What comes out of a conversation about a folder with the policy and its test."""
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (folder / "limit.policytest.yaml").write_text(TEST, encoding="utf-8")

    async def whole() -> Outcome:
        it = Session(folder)
        await it.begin()
        it.open(POLICY)
        try:
            return await talk(it)
        finally:
            await it.end()

    return asyncio.run(whole())


def at(before: str, text: str = POLICY) -> lsp.Position:
    """The place behind a part of the text."""
    head = text[: text.index(before) + len(before)]
    line = head.rpartition("\n")[2]
    return lsp.Position(head.count("\n"), len(line.encode("utf-16-le")) // 2)


def between(before: str, what: str) -> lsp.Range:
    return lsp.Range(at(before), at(before + what))


def test_diagnostics_are_those_of_lint(tmp_path: Path) -> None:
    async def talk(it: Session) -> tuple[list[lsp.Diagnostic], list[lsp.Diagnostic]]:
        first = await it.diagnostics()
        it.change(POLICY.replace("replicsa", "replicas").replace("oldObject.", "oldObject"))
        return first, await it.diagnostics()

    told, after = session(tmp_path, talk)
    given = read([str(tmp_path)])
    shown, _ = findings(given, lint_setup(LintConfig()))
    assert [(one.code, one.message) for one in told] == [
        (one.located.code, one.located.message) for one in shown
    ]
    wrong = next(one for one in told if "replicsa" in one.message)
    assert wrong.range == between("object.spec", ".")
    assert not any("replicsa" in one.message for one in after)


def test_hover(tmp_path: Path) -> None:
    async def talk(it: Session) -> lsp.Hover | None:
        place = at("c.image.startsW")
        return await it.client.text_document_hover_async(lsp.HoverParams(it.document, place))

    found = session(tmp_path, talk)
    assert found is not None
    assert isinstance(found.contents, lsp.MarkupContent)
    assert "<string>.startsWith(<string>) -> bool" in found.contents.value
    assert "the whole expression: cost" in found.contents.value
    assert found.range == between("c.image.", "startsWith")


@pytest.mark.parametrize(
    ("before", "wanted", "unwanted"),
    [
        ("oldObject.", {"metadata", "spec"}, {"object"}),
        ("c.na", {"name", "image", "resources"}, {"replicas"}),
        ("  - expression: variables.", {"containers"}, {"object"}),
        ("  - expression: vari", {"variables", "object", "size", "has"}, {"containers"}),
        ("object.spec.template.spec.", {"containers", "volumes"}, {"replicas"}),
    ],
)
def test_completion(before: str, wanted: set[str], unwanted: set[str], tmp_path: Path) -> None:
    async def talk(it: Session) -> Any:
        params = lsp.CompletionParams(it.document, at(before))
        return await it.client.text_document_completion_async(params)

    found = session(tmp_path, talk)
    labels = {one.label for one in found.items}
    assert wanted <= labels
    assert not unwanted & labels


def test_signatures(tmp_path: Path) -> None:
    async def talk(it: Session) -> tuple[Any, Any]:
        ask = it.client.text_document_signature_help_async
        method = lsp.SignatureHelpParams(it.document, at("startsWith("))
        macro = lsp.SignatureHelpParams(it.document, at("all(c,"))
        return await ask(method), await ask(macro)

    method, macro = session(tmp_path, talk)
    assert [one.label for one in method.signatures] == ["<string>.startsWith(<string>) -> bool"]
    assert [one.label for one in macro.signatures] == ["<range>.all(x, predicate)"]
    assert (method.active_parameter, macro.active_parameter) == (0, 1)


def test_definition_references_and_rename(tmp_path: Path) -> None:
    async def talk(it: Session) -> tuple[Any, Any, Any, Any]:
        place = at("variables.cont")
        client = it.client
        defined = await client.text_document_definition_async(
            lsp.DefinitionParams(it.document, place)
        )
        used = await client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(True), it.document, place)
        )
        renamed = await client.text_document_rename_async(
            lsp.RenameParams(it.document, place, "all_of_them")
        )
        refused = await client.text_document_rename_async(
            lsp.RenameParams(it.document, place, "no name")
        )
        return defined, used, renamed, (refused, it.messages)

    defined, used, renamed, refused = session(tmp_path, talk)
    name, use = between("- name: ", "containers"), between("variables.", "containers")
    assert defined.range == name
    assert [one.range for one in used] == [name, use]
    (edits,) = renamed.changes.values()
    assert [(one.range, one.new_text) for one in edits] == [
        (name, "all_of_them"),
        (use, "all_of_them"),
    ]
    assert refused == (None, ["`no name` is no name of a variable"])


def test_code_actions(tmp_path: Path) -> None:
    async def talk(it: Session) -> Any:
        await it.diagnostics()
        where = between("object.spec", ".replicsa")
        context = lsp.CodeActionContext([])
        params = lsp.CodeActionParams(it.document, where, context)
        return await it.client.text_document_code_action_async(params)

    found = session(tmp_path, talk)
    silence = next(one for one in found if "silence" in one.title)
    (edits,) = silence.edit.changes.values()
    line = at("- expression: object.spec.replicsa").line
    assert edits[0].range == lsp.Range(lsp.Position(line, 0), lsp.Position(line, 0))
    assert edits[0].new_text == "  # celadon: ignore[CEL011]\n"


def test_layout(tmp_path: Path) -> None:
    async def talk(it: Session) -> tuple[Any, Any]:
        options = lsp.FormattingOptions(2, insert_spaces=True)
        whole = await it.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(it.document, options)
        )
        head = lsp.Range(lsp.Position(0, 0), lsp.Position(5, 0))
        part = await it.client.text_document_range_formatting_async(
            lsp.DocumentRangeFormattingParams(it.document, head, options)
        )
        return whole, part

    whole, part = session(tmp_path, talk)
    assert len(whole) == 1
    assert "all(c,\n" in whole[0].new_text
    assert part == []


def test_costs_beside_expressions(tmp_path: Path) -> None:
    async def talk(it: Session) -> Any:
        everything = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        return await it.client.text_document_inlay_hint_async(
            lsp.InlayHintParams(it.document, everything)
        )

    found = session(tmp_path, talk)
    assert [one.position.line for one in found] == [13, 15]
    assert all(one.label.startswith("cost ") for one in found)


def test_the_tests_of_a_policy(tmp_path: Path) -> None:
    async def talk(it: Session) -> tuple[Any, Any]:
        lenses = await it.client.text_document_code_lens_async(lsp.CodeLensParams(it.document))
        command = lenses[0].command
        params = lsp.ExecuteCommandParams(command.command, command.arguments)
        return lenses, await it.client.workspace_execute_command_async(params)

    lenses, outcome = session(tmp_path, talk)
    assert [one.command.title for one in lenses] == ["run the tests of limit"]
    assert isinstance(outcome, dict) or outcome.exitCode is not None
