"""Every rule: its code, its words, and the examples that it has in the documentation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from celadon.admission.lint.lint_context import Rule
from celadon.admission.lint.linter import RULES
from tests.admission.lint.linting import SETTINGS, documents, found
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
OLDER = replace(SETTINGS, further_releases=("1.30", "1.32"))


def ids(rule: Rule) -> str:
    return f"{rule.code}-{rule.name}"


def test_codes_are_in_order_and_names_are_unique() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=ids)
def test_words(rule: Rule) -> None:
    assert rule.doc.endswith(".")
    assert "\n" not in rule.doc
    assert rule.name == rule.name.lower()


@pytest.mark.parametrize("rule", RULES, ids=ids)
def test_the_documentation_says_the_same(rule: Rule) -> None:
    assert f"| {rule.name} | {rule.severity.value} |\n" in PAGE
    assert f"\n## {rule.code} {rule.name}\n\n{rule.doc}\n\nBad:\n\n```yaml\n{rule.bad}" in PAGE
    assert f"```\n\nGood:\n\n```yaml\n{rule.good}```\n" in PAGE


@pytest.mark.parametrize("rule", RULES, ids=ids)
def test_the_bad_example_makes_the_rule_speak(rule: Rule) -> None:
    settings = OLDER if rule.code == "CEL005" else SETTINGS
    findings = found(rule.code, *documents(rule.bad), settings=settings)
    assert findings
    for finding in findings:
        assert finding.message
        assert "\n" not in finding.message
        assert not finding.message.endswith(".")


@pytest.mark.parametrize("rule", RULES, ids=ids)
def test_the_good_example_does_not(rule: Rule) -> None:
    settings = OLDER if rule.code == "CEL005" else SETTINGS
    assert found(rule.code, *documents(rule.good), settings=settings) == []
