"""What becomes of a folder of policies, as tables for a page: `python -m tools.migration_page
kyverno|mutate|gatekeeper FOLDER`; and what becomes of Kyverno's functions: `functions`.

Of Kyverno for each folder below: rules that validate and have tests, how many of them are
translated, and how many cases of their tests the translation decides otherwise; of Gatekeeper for
each template: the same of its constraints. Then why the others are not.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

from celadon.cli.migration.migration_run import Migration, RuleOutcome
from celadon.kube import JsonObject
from celadon.migrate.kyverno.jmespath_functions import FUNCTIONS, NO_EQUAL


def page(engine: str, folder: str = "") -> str:
    """The tables, Markdown."""
    if engine == "functions":
        return "\n".join([*functions(), ""])
    outcomes = [one for one in Migration.of([folder]).outcomes if one.cases]
    does = "mutate" if engine == "mutate" else "validate"
    rules = [one for one in outcomes if one.translation.origin.does == does]
    table = _templates(rules) if engine == "gatekeeper" else _table(folder, rules)
    return "\n".join([*table, "", *_reasons(rules), ""])


def functions() -> Iterator[str]:
    """Yield a table of the functions of JMESPath that Kyverno has."""
    yield "| function | what becomes of it |"
    yield "|---|---|"
    for name in sorted({*FUNCTIONS, *NO_EQUAL}):
        yield f"| `{name}` | {_LIMITS.get(name) or NO_EQUAL.get(name) or 'translated'} |"


_OF_NUMBERS: Final = "translated of numbers, not of quantities"
_LIMITS: Final = {
    "add": "translated of numbers, quantities and durations",
    "divide": "translated of numbers, and of quantities by quantities",
    "equal_fold": "translated beside a constant",
    "map": "translated of what no item lacks",
    "max_by": "translated of what no item lacks",
    "min_by": "translated of what no item lacks",
    "modulo": "translated of integers",
    "multiply": _OF_NUMBERS,
    "reverse": "translated of lists, not of texts",
    "round": "translated of integers",
    "semver_compare": "translated with a constant range without `x`; needs Kubernetes 1.33",
    "sort": "translated where the first, the last or any item is asked for",
    "sort_by": "translated where the first or any item is asked for",
    "subtract": "translated of numbers, quantities and durations",
    "sum": _OF_NUMBERS,
    "to_lower": "translated: of letters of ASCII",
    "to_string": "translated of single values",
    "to_upper": "translated: of letters of ASCII",
}


def _templates(rules: list[RuleOutcome]) -> Iterator[str]:
    yield "| template | says it in | constraints with tests | translated | cases | otherwise |"
    yield "|---|---|---:|---:|---:|---:|"
    names: dict[str, list[RuleOutcome]] = {}
    for one in rules:
        names.setdefault(one.translation.origin.policy, []).append(one)
    for name in sorted(names):
        template = names[name][0].home
        language = "CEL" if template is not None and _has_cel(template.value) else "Rego"
        yield _row(f"{name} | {language}", names[name])
    yield _row("**all** |", rules)


def _has_cel(template: JsonObject) -> bool:
    code = template["spec"]["targets"][0].get("code") or ()
    return any(one["engine"] == "K8sNativeValidation" for one in code)


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
    sys.stdout.write(page(*sys.argv[1:]))
