"""What a run makes anew, and what it remembers."""

from __future__ import annotations

from celadon.admission.lint.lint_context import LintMemory
from celadon.admission.lint.linter import prepare
from tests.admission.lint.linting import SETTINGS, definition, policy


def test_rules_of_definitions_are_remembered() -> None:
    memory = LintMemory()
    first = prepare([definition("true")], SETTINGS, memory).rules
    assert len(first) == 1
    assert prepare([definition("true"), policy()], SETTINGS, memory).rules is first
    moved = prepare([policy(), definition("true")], SETTINGS, memory).rules
    assert [one.document for one in moved] == [1]
    changed = prepare([definition("false")], SETTINGS, memory).rules
    assert [one.expressions[0].text for one in changed] == ["false"]
