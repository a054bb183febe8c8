"""A session of a real client with `celadon lsp`: everything that it can do, in one process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from celadon.cli.lint import LintConfig, findings, lint_setup, read
from tests.cli.language_server.client_sessions import Session

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
COMPLETIONS = {
    "oldObject.": ({"metadata", "spec"}, {"object"}),
    "c.na": ({"name", "image", "resources"}, {"replicas"}),
    "  - expression: variables.": ({"containers"}, {"object"}),
    "  - expression: vari": ({"variables", "object", "size", "has"}, {"containers"}),
    "object.spec.template.spec.": ({"containers", "volumes"}, {"replicas"}),
}
"""What must be offered behind these texts, and what must not."""
TEST = """\
apiVersion: celadon.dev/v1
kind: PolicyTest
policies: [policy.yaml]
cases: []
"""


def at(before: str) -> lsp.Position:
    """The place behind a part of the policy."""
    head = POLICY[: POLICY.index(before) + len(before)]
    line = head.rpartition("\n")[2]
    return lsp.Position(head.count("\n"), len(line.encode("utf-16-le")) // 2)


def between(before: str, what: str) -> lsp.Range:
    return lsp.Range(at(before), at(before + what))


async def conversation(folder: Path) -> dict[str, Any]:
    """All answers, by what was asked."""
    it = Session(folder)
    await it.begin()
    it.open(POLICY)
    try:
        answers = {"diagnostics": await it.diagnostics()}
        answers |= await about_expressions(it)
        answers |= await about_variables(it)
        answers |= await about_the_file(it)
        it.change(POLICY.replace("replicsa", "replicas").replace("oldObject.", "oldObject"))
        answers["after a change"] = await it.diagnostics()
        return answers
    finally:
        await it.end()


async def about_expressions(it: Session) -> dict[str, Any]:
    client, document = it.client, it.document
    hover = lsp.HoverParams(document, at("c.image.startsW"))
    method = lsp.SignatureHelpParams(document, at("startsWith("))
    macro = lsp.SignatureHelpParams(document, at("all(c,"))
    offered = {
        before: await client.text_document_completion_async(
            lsp.CompletionParams(document, at(before))
        )
        for before in COMPLETIONS
    }
    return {
        "hover": await client.text_document_hover_async(hover),
        "method": await client.text_document_signature_help_async(method),
        "macro": await client.text_document_signature_help_async(macro),
        "completions": offered,
    }


async def about_variables(it: Session) -> dict[str, Any]:
    client, document, place = it.client, it.document, at("variables.cont")
    context = lsp.ReferenceContext(include_declaration=True)
    return {
        "definition": await client.text_document_definition_async(
            lsp.DefinitionParams(document, place)
        ),
        "references": await client.text_document_references_async(
            lsp.ReferenceParams(context, document, place)
        ),
        "renamed": await client.text_document_rename_async(
            lsp.RenameParams(document, place, "all_of_them")
        ),
        "refused": await client.text_document_rename_async(
            lsp.RenameParams(document, place, "no name")
        ),
        "messages": list(it.messages),
    }


async def about_the_file(it: Session) -> dict[str, Any]:
    client, document = it.client, it.document
    options = lsp.FormattingOptions(2, insert_spaces=True)
    head = lsp.Range(lsp.Position(0, 0), lsp.Position(5, 0))
    everything = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    actions = lsp.CodeActionParams(
        document, between("object.spec.rep", "licsa"), lsp.CodeActionContext([])
    )
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(document))
    assert lenses is not None
    command = lenses[0].command
    assert command is not None
    return {
        "actions": await client.text_document_code_action_async(actions),
        "layout": await client.text_document_formatting_async(
            lsp.DocumentFormattingParams(document, options)
        ),
        "layout of a part": await client.text_document_range_formatting_async(
            lsp.DocumentRangeFormattingParams(document, head, options)
        ),
        "hints": await client.text_document_inlay_hint_async(
            lsp.InlayHintParams(document, everything)
        ),
        "outline": await client.text_document_document_symbol_async(
            lsp.DocumentSymbolParams(document)
        ),
        "lenses": lenses,
        "tests": await client.workspace_execute_command_async(
            lsp.ExecuteCommandParams(command.command, command.arguments)
        ),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("policies")
    (made / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (made / "limit.policytest.yaml").write_text(TEST, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Any]:
    return asyncio.run(conversation(folder))


def test_diagnostics_are_those_of_lint(answers: dict[str, Any], folder: Path) -> None:
    shown, _ = findings(read([str(folder)]), lint_setup(LintConfig()))
    assert [(one.code, one.message) for one in answers["diagnostics"]] == [
        (one.located.code, one.located.message) for one in shown
    ]
    wrong = next(one for one in answers["diagnostics"] if "replicsa" in one.message)
    assert wrong.range.start == lsp.Position(
        at("object.spec.replicsa").line, len("  - expression: object.spec")
    )
    assert "replicsa" not in str(answers["after a change"])


def test_hover(answers: dict[str, Any]) -> None:
    found = answers["hover"]
    assert "<string>.startsWith(<string>) -> bool" in found.contents.value
    assert "the whole expression: cost" in found.contents.value
    assert found.range == between("c.image.", "startsWith")


@pytest.mark.parametrize("before", COMPLETIONS)
def test_completion(before: str, answers: dict[str, Any]) -> None:
    wanted, unwanted = COMPLETIONS[before]
    labels = {one.label for one in answers["completions"][before].items}
    assert wanted <= labels
    assert not unwanted & labels


def test_signatures(answers: dict[str, Any]) -> None:
    method, macro = answers["method"], answers["macro"]
    assert [one.label for one in method.signatures] == ["<string>.startsWith(<string>) -> bool"]
    assert [one.label for one in macro.signatures] == ["<range>.all(x, predicate)"]
    assert (method.active_parameter, macro.active_parameter) == (0, 1)


def test_definition_references_and_rename(answers: dict[str, Any]) -> None:
    name, use = between("- name: ", "containers"), between("variables.", "containers")
    assert answers["definition"].range == name
    assert [one.range for one in answers["references"]] == [name, use]
    (edits,) = answers["renamed"].changes.values()
    assert [(one.range, one.new_text) for one in edits] == [
        (name, "all_of_them"),
        (use, "all_of_them"),
    ]
    assert answers["refused"] is None
    assert answers["messages"] == ["`no name` is no name of a variable"]


def test_code_actions(answers: dict[str, Any]) -> None:
    silence = next(one for one in answers["actions"] if "silence" in one.title)
    (edits,) = silence.edit.changes.values()
    start = lsp.Position(at("object.spec.replicsa").line, 0)
    assert edits[0].range == lsp.Range(start, start)
    assert edits[0].new_text == "  # celadon: ignore[CEL011]\n"


def test_layout(answers: dict[str, Any]) -> None:
    (edit,) = answers["layout"]
    assert edit.new_text.lstrip().startswith("variables.containers.all(c, c.name != ")
    assert not answers["layout of a part"]


def test_costs_beside_expressions(answers: dict[str, Any]) -> None:
    assert [one.position.line for one in answers["hints"]] == [13, 15]
    assert all(one.label.startswith("cost ") for one in answers["hints"])


def test_the_outline(answers: dict[str, Any]) -> None:
    top = answers["outline"][0]
    assert (top.name, top.detail, top.kind) == (
        "limit",
        "ValidatingAdmissionPolicy",
        lsp.SymbolKind.Class,
    )
    assert {one.name for one in top.children} == {"variables", "validations"}


def test_the_tests_of_a_policy(answers: dict[str, Any]) -> None:
    assert [one.command.title for one in answers["lenses"]] == ["run the tests of limit"]
    outcome = answers["tests"]
    code = outcome["exitCode"] if isinstance(outcome, dict) else outcome.exitCode
    assert code == 2  # a file without cases
