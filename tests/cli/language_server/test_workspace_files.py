"""Edits: every answer is that of a fresh analysis, and nothing fails."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cli.language_server.hovers import cost_hints
from celadon.cli.language_server.workspace_files import (
    Lines,
    Position,
    Span,
    Workspace,
    edited_file,
)
from celadon.cli.lint import LintConfig, lint_setup
from tests.cli.language_server.policies_in_tests import POLICIES
from tests.cli.language_server.random_edits import FILE, run
from tests.growth.counted_steps import LINEAR, growth


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.thorough
def test_random_edits(seed: int) -> None:
    run(POLICIES, 20, seed)


def test_definitions_of_other_files_count_and_line_ends_do_not() -> None:
    workspace = Workspace(lint_setup(LintConfig()))
    workspace.change(FILE, POLICIES.replace("\n", "\r\n"))
    assert [one.code for one in workspace.diagnoses()[FILE]] == []
    wrong = POLICIES.replace("spec.replicas", "spec.replicsa").replace("\n", "\r\n")
    workspace.change(FILE, wrong)
    (found,) = workspace.diagnoses()[FILE]
    assert found.span == Span(Position(14, 17), Position(14, 26))
    workspace.close(FILE)
    assert workspace.diagnoses() == {}


def test_what_cannot_be_read_is_told_where_it_is() -> None:
    workspace = Workspace(lint_setup(LintConfig()))
    workspace.change(FILE, "# admissionregistration.k8s.io\na: [")
    (found,) = workspace.diagnoses()[FILE]
    assert (found.code, found.span.start.line) == ("", 1)


WRONG = POLICIES.replace("spec.replicas", "spec.replicsa")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (WRONG, Position(14, 17)),
        (WRONG.replace("\n", "\r"), Position(14, 17)),
        ("\ufeff" + WRONG, Position(14, 17)),
        (WRONG.replace("object.spec.replicsa", "'e\u0301😀' == '' || object.spec.replicsa"), None),
        (WRONG.replace("    message: too", "\t"), Position(16, 0)),
    ],
    ids=["plain", "old line ends", "byte order mark", "composed characters", "a tab behind it"],
)
def test_places_are_those_of_the_editor(content: str, place: Position | None) -> None:
    workspace = Workspace(lint_setup(LintConfig()))
    workspace.change(FILE, content)
    found = workspace.diagnoses()[FILE]
    if place is None:
        units = len("      'e\u0301😀' == '' || object.spec".encode("utf-16-le")) // 2
        place = Position(14, units)
    assert place in [one.span.start for one in found]


CHART = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: "{{ .Release.Name }}"
  {{- include "labels" . | nindent 2 }}
spec:
  validations:
  - expression: objct.spec
"""


@pytest.mark.parametrize(
    "content",
    [
        CHART,
        CHART.replace('  {{- include "labels" . | nindent 2 }}\n', ""),
        "{{- if .Values.policies }}\n" + POLICIES + "{{- end }}\n",
        "name: tests\non: push\njobs: {}\n",
        "services:\n  a: [\n",
        "- one\n- two\n",
        "key: value: more\n",
    ],
)
def test_nothing_is_said_of_what_is_not_ours(content: str) -> None:
    workspace = Workspace(lint_setup(LintConfig()))
    workspace.change(FILE, content)
    assert workspace.diagnoses() == {FILE: []}


def test_an_expression_with_braces_is_no_template() -> None:
    workspace = Workspace(lint_setup(LintConfig()))
    wrong = "    messageExpression: \"string({'a': {'b': 1}}) + objct.x + '{{ x }}'\"\n"
    workspace.change(FILE, POLICIES.replace("    message: too many\n", wrong))
    assert any("objct" in one.message for one in workspace.diagnoses()[FILE])


@given(st.text("ä\U0001f600\n", max_size=9), st.integers(0, 9))
def test_places_are_found_in_texts_with_any_characters(text: str, column: int) -> None:
    lines = Lines(text)
    for offset in range(len(text) + 1):
        before = text[:offset].rpartition("\n")[2]
        place = Position(text.count("\n", 0, offset), len(before.encode("utf-16-le")) // 2)
        assert lines.position(offset) == place
        assert lines.offset(place) == offset
    for number, line in enumerate(text.split("\n")):
        units = line.encode("utf-16-le")
        whole = units[: column * 2].decode("utf-16-le", "ignore")
        is_cut = len(whole.encode("utf-16-le")) < min(column * 2, len(units))
        start = sum(len(earlier) + 1 for earlier in text.split("\n")[:number])
        assert lines.offset(Position(number, column)) == start + len(whole) + is_cut


def _policy(count: int, expression: str, *, variables: int = 0, rules: int = 1) -> str:
    """One that stands on one line."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
    spec = {
        "matchConstraints": {"resourceRules": [rule] * rules},
        "variables": [{"name": f"v{i}", "expression": "1"} for i in range(variables)],
        "validations": [{"expression": expression}] * count,
    }
    kind = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "many"},
    }
    return json.dumps({**kind, "spec": spec})


def _findings(count: int) -> Callable[[], object]:
    workspace = Workspace(lint_setup(LintConfig()))
    workspace.change(FILE, _policy(count, "object.spec.nodeNam == 'é😀'"))
    return workspace.diagnoses


def _costs(text: str) -> Callable[[], object]:
    file = edited_file(FILE, text)
    everywhere = Span(Position(0, 0), Position(1, 0))
    scopes = Workspace(lint_setup(LintConfig())).scopes()
    return lambda: cost_hints(file, everywhere, scopes, 1000)


@pytest.mark.parametrize(
    "work",
    [
        _findings,
        lambda count: _costs(_policy(count, "variables.v0 == 1", variables=count)),
        lambda count: _costs(_policy(count, "true", rules=count)),
    ],
    ids=["findings", "costs with variables", "costs with rules"],
)
def test_a_policy_of_many_parts_is_told_of_in_proportion(
    work: Callable[[int], Callable[[], object]],
) -> None:
    assert growth(work, 20) < LINEAR
