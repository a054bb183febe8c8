"""Documents in, findings out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celadon.admission.lint.model.corrections import written_finding
from celadon.admission.lint.model.findings import Finding
from celadon.admission.lint.model.lint_memory import LintMemory
from celadon.admission.lint.model.lint_rule import Rule
from celadon.admission.lint.model.subjects import Settings
from celadon.admission.lint.preparation import prepare
from celadon.admission.lint.rules.rule_table import RULES


def lint(
    documents: Sequence[Mapping[str, Any]],
    settings: Settings,
    rules: Sequence[Rule] = RULES,
    memory: LintMemory | None = None,
) -> list[Finding]:
    """What the rules have against the documents, which have `apiVersion` and `kind`; those of other
    groups are looked up. In the order of the documents, fields and positions. `memory` makes a run
    over nearly the same documents cheap."""
    bundle = prepare(documents, settings, memory)
    found = [finding for rule in rules for finding in rule.findings(bundle)]
    renamed = {one.document: one.renamed for one in bundle.registered if one.renamed}
    found = [written_finding(one, renamed.get(one.spot.document, ())) for one in found]
    return sorted(dict.fromkeys(found), key=_place)


def _place(finding: Finding) -> tuple[int, str, int, str]:
    offset = finding.spot.offset
    return finding.spot.document, finding.spot.field, -1 if offset is None else offset, finding.code


def chosen(
    select: Sequence[str], ignore: Sequence[str], rules: Sequence[Rule] = RULES
) -> list[Rule]:
    """The rules whose code or name begins with one of `select` (none: all) and none of `ignore`."""
    return [
        rule for rule in rules if (not select or _named(rule, select)) and not _named(rule, ignore)
    ]


def _named(rule: Rule, prefixes: Sequence[str]) -> bool:
    return any(rule.code.startswith(one) or rule.name == one for one in prefixes)
