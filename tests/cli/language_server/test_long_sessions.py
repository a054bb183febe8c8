"""Sessions of a real client: files beside the one that is edited, keystrokes, tests, TCP."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.cli.language_server.client_sessions import Session

pytestmark = pytest.mark.thorough

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicy
metadata:
  name: colors
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [example.com]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [widgets]
  validations:
  - expression: "object.spec.color != '😀'"
    message: not that one
  - expression: isIP('1.2.3.4')
    message: never
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: colors
spec:
  policyName: colors
  validationActions: [Deny]
"""
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {color: {type: string}}
"""
TEST = """\
apiVersion: celadon.dev/v1
kind: PolicyTest
policies: [policy.yaml]
resources: [definition.yaml]
objects:
  red: {apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {color: red}}
defaults: {object: red, namespace: default}
kubernetesVersions: ["1.33"]
cases:
- name: red is fine
  expect: admit
- name: a face is not
  patch: {spec: {color: "😀"}}
  expect: {deny: not that one}
"""
IN_COLOR = lsp.Position(13, len('  - expression: "object.spec.'))
BEHIND = len("  - expression: \"object.spec.color != '😀'") + 1
"""The column behind that expression, in units of UTF-16."""


async def conversation(folder: Path) -> dict[str, Any]:
    it = Session(folder)
    await it.begin()
    it.open(POLICY)
    client, document = it.client, it.document
    try:
        answers: dict[str, Any] = {"first": await it.diagnostics()}
        head = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 40))
        answers["actions"] = await client.text_document_code_action_async(
            lsp.CodeActionParams(document, head, lsp.CodeActionContext([]))
        )
        answers["hover"] = await client.text_document_hover_async(
            lsp.HoverParams(document, lsp.Position(15, 18))
        )
        answers["saved"] = await completed(it)
        unsaved = DEFINITION.replace("color:", "colour:")
        uri = (folder / "definition.yaml").as_uri()
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "yaml", 1, unsaved))
        )
        answers["unsaved"] = await completed(it)
        answers["tests"] = await run_tests(it)
        answers["messages"] = list(it.messages)
        it.type_in(13, BEHIND, " && object.spec.colur == 'x'")
        answers["typed"] = await said(it, "colur")
        answers["ignored"] = await after_configuring(it)
        return answers
    finally:
        await it.end()


async def completed(it: Session) -> set[str]:
    params = lsp.CompletionParams(it.document, IN_COLOR)
    found = await it.client.text_document_completion_async(params)
    assert isinstance(found, lsp.CompletionList)
    return {one.label for one in found.items}


async def after_configuring(it: Session) -> list[str]:
    """The codes that are left when a rule is ignored by a file that has just been written."""
    file = it.folder / "celadon.toml"
    file.write_text('[lint]\nignore = ["CEL011"]\n', encoding="utf-8")
    event = lsp.FileEvent(file.as_uri(), lsp.FileChangeType.Created)
    it.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
    return [str(one.code) for one in await it.diagnostics()]


async def run_tests(it: Session) -> Any:
    lenses = await it.client.text_document_code_lens_async(lsp.CodeLensParams(it.document))
    assert lenses
    command = lenses[0].command
    assert command is not None
    return await it.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams(command.command, command.arguments)
    )


async def said(it: Session, text: str) -> list[lsp.Diagnostic]:
    """The first diagnostics with that in a message; those of keystrokes before may have come."""
    while True:
        found = [one for one in await it.diagnostics() if f"'{text}'" in one.message]
        if found:
            return found


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("widgets")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (folder / "definition.yaml").write_text(DEFINITION, encoding="utf-8")
    (folder / "colors.policytest.yaml").write_text(TEST, encoding="utf-8")
    (folder / "ci.yaml").write_text("on: push\n", encoding="utf-8")
    return asyncio.run(conversation(folder))


def test_a_fix_is_offered(answers: dict[str, Any]) -> None:
    fix = next(one for one in answers["actions"] if one.is_preferred)
    (edits,) = fix.edit.changes.values()
    assert [one.new_text for one in edits] == ["admissionregistration.k8s.io/v1"]
    assert edits[0].range == lsp.Range(lsp.Position(0, 12), lsp.Position(0, 48))
    assert fix.diagnostics[0].code in {one.code for one in answers["first"]}


def test_hover_says_since_when(answers: dict[str, Any]) -> None:
    assert "since Kubernetes 1.30" in answers["hover"].contents.value


def test_fields_of_definitions_that_are_not_saved(answers: dict[str, Any]) -> None:
    assert "color" in answers["saved"]
    assert "colour" in answers["unsaved"]
    assert "color" not in answers["unsaved"]


def test_the_tests_of_a_policy_are_run(answers: dict[str, Any]) -> None:
    outcome = answers["tests"]
    code = outcome["exitCode"] if isinstance(outcome, dict) else outcome.exitCode
    assert code == 0
    assert "2 passed" in answers["messages"][-1]


def test_keystrokes_behind_a_face(answers: dict[str, Any]) -> None:
    found = answers["typed"][-1]
    start = BEHIND + len(" && object.spec")
    assert found.range == lsp.Range(lsp.Position(13, start), lsp.Position(13, start + 6))


def test_configuration_is_read_again(answers: dict[str, Any]) -> None:
    assert answers["typed"][-1].code == "CEL011"
    assert "CEL011" not in answers["ignored"]


def test_over_tcp(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "celadon", "lsp", "--tcp", f"127.0.0.1:{port}"]
    with subprocess.Popen(command) as server:
        try:
            assert asyncio.run(over_tcp(tmp_path, port))
            assert server.wait(60) == 0
        finally:
            server.kill()


async def over_tcp(folder: Path, port: int) -> list[lsp.Diagnostic]:
    it = Session(folder)
    deadline = time.monotonic() + 300
    while True:
        try:
            await it.begin(port)
            break
        except OSError:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
    it.open(POLICY)
    try:
        return await it.diagnostics()
    finally:
        await it.end()
