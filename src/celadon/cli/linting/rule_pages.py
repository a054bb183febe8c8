"""The rules as documentation: `--explain`, `--list-rules`, docs/lint.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from celadon.admission.lint import Rule
from celadon.cli.linting.comment_rule import EVERY_RULE

_HEAD: Final = """\
# The rules of celadon lint

Made from the table of rules: `python -m celadon.cli.linting.rule_pages > docs/lint.md`.

| code | name | severity |
|---|---|---|
"""
_FRAGMENTS: Final = """
Examples without a `kind` are the `spec` of a policy about Deployments that are created or updated.
CEL005, CEL021, CEL025, CEL026, CEL030 to CEL032, CEL035 and CEL041 speak about the rules of
CustomResourceDefinitions (`x-kubernetes-validations`), too.
How to choose rules, silence findings and fix them: [the commands](cli.md#celadon-lint).
"""


def explanation(wanted: str) -> str:
    """What a rule is about, by code or name; empty if there is none."""
    rule = next((one for one in EVERY_RULE if wanted in (one.code, one.name)), None)
    if rule is None:
        return ""
    head = f"{rule.code} {rule.name} ({rule.severity.value})"
    return f"{head}\n\n{rule.doc}\n\nbad:\n{_indented(rule.bad)}\ngood:\n{_indented(rule.good)}"


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def overview() -> str:
    """A line per rule."""
    width = max(len(rule.name) for rule in EVERY_RULE)
    return "".join(
        f"{rule.code}  {rule.name:{width}}  {rule.severity.value}\n" for rule in EVERY_RULE
    )


def page() -> str:
    """All rules, as Markdown."""
    table = "".join(f"| {_link(one)} | {one.name} | {one.severity.value} |\n" for one in EVERY_RULE)
    return _HEAD + table + _FRAGMENTS + "".join(_sections())


def _link(rule: Rule) -> str:
    return f"[{rule.code}](#{rule.code.lower()}-{rule.name})"


def _sections() -> Iterator[str]:
    for rule in EVERY_RULE:
        yield f"\n## {rule.code} {rule.name}\n\n{rule.doc}\n"
        yield f"\nBad:\n\n```yaml\n{rule.bad}```\n\nGood:\n\n```yaml\n{rule.good}```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
