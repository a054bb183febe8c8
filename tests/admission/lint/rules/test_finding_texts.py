"""What each rule says about its own bad example, word for word.

`tests/cases/lint/findings.txt` has it all, rewritten by `pytest --update-golden` and then read like
code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.admission.lint.findings import Finding, Removal
from celadon.admission.lint.lint_context import Rule, Settings
from celadon.admission.lint.linter import RULES
from tests.admission.lint.linting import binding, documents, found, policy

SETTINGS = Settings(version="1.36", further_releases=("1.29",))
GOLDEN = Path(__file__).resolve().parents[3] / "cases" / "lint" / "findings.txt"


def test_every_text(request: pytest.FixtureRequest) -> None:
    said = "\n".join(map(_section, RULES))
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(said, encoding="utf-8")
    for now, known in zip(said.split("\n\n"), _golden().split("\n\n"), strict=True):
        assert now == known


def _golden() -> str:
    return GOLDEN.read_text(encoding="utf-8")


def _section(rule: Rule) -> str:
    lines = [f"# {rule.code} {rule.name}"]
    for one in found(rule.code, *documents(rule.bad), settings=SETTINGS):
        lines += _lines(one)
    return "\n".join(lines) + "\n"


def _lines(finding: Finding) -> list[str]:
    spot = finding.spot
    at = "" if spot.offset is None else f" at {spot.offset}"
    lines = [f"{finding.severity.value} in document {spot.document}, {spot.field or 'all'}{at}:"]
    lines += [f"  {line}" for line in finding.message.splitlines()]
    if finding.help:
        lines.append(f"  help: {finding.help}")
    if isinstance(finding.fix, Removal):
        lines.append(f"  fix: remove {finding.fix.spot.field}")
    elif finding.fix is not None:
        lines.append(f"  fix: {finding.fix.old!r} to {finding.fix.text!r}")
    return lines


COMPARISONS = [
    ("object.spec.replicas == '1'", "this is always false: int is never equal to string", ""),
    ("object.spec.replicas != '1'", "this is always true: int is never equal to string", ""),
    (
        "object.spec.replicas == null",
        "this is always false: int is never equal to null",
        "test with `has(...)` whether the field is there",
    ),
    (
        "object.spec.replicas in ['x']",
        "this is always false: list(string) never contains int",
        "",
    ),
    (
        "request.operation == 'DELETE'",
        "this is always false: the policy matches CREATE and UPDATE",
        "",
    ),
    (
        "request.kind.kind in ['Pod', 'Job']",
        "this is always false: the policy does not match Job or Pod",
        "",
    ),
]


@pytest.mark.parametrize(("text", "message", "help"), COMPARISONS)
def test_comparisons(text: str, message: str, help: str) -> None:
    (one,) = found("CEL030", policy(validations=[{"expression": text}]))
    assert (one.message, one.help) == (message, help)


CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}


def limits(namespace: str = "", **labels: str) -> dict[str, Any]:
    meta = {"name": "limits", "labels": labels}
    return {**CONFIG_MAPS, "metadata": {**meta, "namespace": namespace} if namespace else meta}


@pytest.mark.parametrize(
    ("ref", "param", "message"),
    [
        ({"name": "limits"}, limits(), ""),
        ({"name": "other"}, limits(), "there is no ConfigMap `other`"),
        ({"name": "limits", "namespace": "a"}, limits("a"), ""),
        ({"name": "limits", "namespace": "a"}, limits(), ""),
        ({"name": "limits", "namespace": "a"}, limits("b"), "there is no ConfigMap `limits`"),
        ({"selector": {"matchLabels": {"x": "y"}}}, limits(x="y"), ""),
        (
            {"selector": {"matchLabels": {"x": "y"}}},
            limits(x="z"),
            "there is no ConfigMap with these labels",
        ),
        ({"selector": {"matchLabels": {"not a key": "y"}}}, limits(), ""),
    ],
)
def test_params(ref: dict[str, Any], param: dict[str, Any], message: str) -> None:
    given = policy(paramKind=CONFIG_MAPS, validations=[{"expression": "true"}])
    bound = binding(paramRef={**ref, "parameterNotFoundAction": "Deny"})
    assert [one.message for one in found("CEL052", given, bound, param)] == [message][
        : bool(message)
    ]


@pytest.mark.parametrize(
    ("expression", "what"),
    [("a\n  == b", "several lines"), ("true || " * 20 + "true", "164 characters"), ("true", "")],
)
def test_messages_that_are_missing(expression: str, what: str) -> None:
    given = policy(validations=[{"expression": expression}])
    text = f"without a message the user is shown this expression of {what}"
    assert [one.message for one in found("CEL041", given)] == ([text] if what else [])
    told = policy(validations=[{"expression": expression, "message": "no"}])
    assert found("CEL041", told) == []


def test_the_index_of_a_variable() -> None:
    names = ["fine", "a__dash__b"]
    variables = [{"name": name, "expression": "1"} for name in names]
    (one,) = found("CEL042", policy(variables=variables, validations=[{"expression": "true"}]))
    assert one.spot.field == "spec.variables[1].name"
