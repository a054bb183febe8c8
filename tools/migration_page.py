"""What becomes of a folder of policies, as a page: `python -m tools.migration_page FOLDER`.

For each folder below: rules that validate and have tests, how many of them are translated, and how
many cases of their tests the translation decides otherwise; then why the others are not.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator

from celadon.cli.migration import Migration, RuleOutcome


def page(folder: str) -> str:
    """The page, Markdown."""
    outcomes = [one for one in Migration.of([folder]).outcomes if one.cases]
    rules = [one for one in outcomes if one.translation.origin.does == "validate"]
    return "\n".join([*_table(folder, rules), "", *_reasons(rules), ""])


def _table(folder: str, rules: list[RuleOutcome]) -> Iterator[str]:
    yield "| folder | rules with tests | translated | cases | otherwise |"
    yield "|---|---:|---:|---:|---:|"
    names = [os.path.relpath(one.document.file, folder).split(os.sep)[0] for one in rules]
    for name in sorted(set(names)):
        yield _row(name, [one for one, of in zip(rules, names, strict=True) if of == name])
    yield _row("**all**", rules)


def _row(name: str, rules: list[RuleOutcome]) -> str:
    translated = [one for one in rules if not one.translation.reason]
    cases = sum(one.cases for one in translated)
    otherwise = sum(len(one.differences) for one in translated)
    return f"| {name} | {len(rules)} | {len(translated)} | {cases} | {otherwise} |"


def _reasons(rules: list[RuleOutcome]) -> Iterator[str]:
    yield "| rules | why they are not translated |"
    yield "|---:|---|"
    reasons = Counter(one.translation.reason for one in rules if one.translation.reason)
    for reason, count in sorted(reasons.items(), key=lambda one: (-one[1], one[0])):
        yield f"| {count} | {reason} |"


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1]))
