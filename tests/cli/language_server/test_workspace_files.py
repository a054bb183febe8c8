"""Edits: every answer is that of a fresh analysis, and nothing fails."""

from __future__ import annotations

import pytest

from celadon.cli.language_server.text_positions import Position, Span
from celadon.cli.language_server.workspace_files import Workspace
from celadon.cli.linting.lint_config import LintConfig
from celadon.cli.linting.lint_setup import lint_setup
from tests.cli.language_server.policies_in_tests import POLICIES
from tests.cli.language_server.random_edits import FILE, run


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
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
