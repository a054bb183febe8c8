"""What is changed in policies and bindings besides their expressions, and what stays right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.admission.registration import decode_object, validate_create
from celadon.cli.policytest.case_results import plain_document
from celadon.cli.policytest.mutants.policy_mutants import Alteration, alterations
from celadon.cli.reading.documents import Document, DocumentReader, Text, read_text
from tests.cli.files import Json, binding, policy

EXAMPLES = Path(__file__).parents[4] / "examples"
KINDS = frozenset({"AdmissionPolicy", "AdmissionPolicyBinding"})


def changed(document: Json) -> set[str]:
    """As `kind: field text`, without those of expressions."""
    return {
        f"{one.kind.value}: {one.field} {one.text}"
        for one in alterations([plain_document(document, "given")])
        if one.expression is None
    }


def rule(**fields: Any) -> Json:
    return {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
        **fields,
    }


AT = "spec.matchConstraints"
RULE = f"{AT}.resourceRules[0]"
ALWAYS = {
    "failure-policy: spec.failurePolicy nothing becomes `Ignore`",
    f"match-policy: {AT}.matchPolicy nothing becomes `Exact`",
}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"rules": [rule()]}, set(), id="what is always changed"),
        pytest.param(
            {"rules": [rule(operations=["CREATE", "UPDATE"])]},
            {
                f"operation: {RULE}.operations[0] `CREATE` is left out",
                f"operation: {RULE}.operations[1] `UPDATE` is left out",
            },
            id="operations",
        ),
        pytest.param(
            {"rules": [rule(), rule(resources=["services"])]},
            {
                f"rule: {RULE} is left out",
                f"rule: {AT}.resourceRules[1] is left out",
            },
            id="rules",
        ),
        pytest.param(
            {"rules": [rule(resourceNames=["a"], scope="Namespaced")]},
            {
                f"resource: {RULE}.resourceNames is left out",
                f"rule: {RULE}.scope `Namespaced` becomes `*`",
            },
            id="names and scope",
        ),
        pytest.param(
            {"rules": [rule()], "matchConditions": [{"name": "a", "expression": "x"}]},
            {"condition: spec.matchConditions[0] is left out"},
            id="the only condition",
        ),
        pytest.param(
            {"rules": [rule()], "validations": [{"expression": "x"}, {"expression": "y"}]},
            {f"validation: spec.validations[{i}] is left out" for i in (0, 1)},
            id="validations",
        ),
        pytest.param(
            {"rules": [rule()], "validations": [{"expression": "x", "messageExpression": "y"}]},
            {"message: spec.validations[0].messageExpression `y` is left out"},
            id="a message",
        ),
        pytest.param(
            {"rules": [rule()], "auditAnnotations": [{"key": "k", "valueExpression": "x"}]},
            {
                "validation: spec.validations[0] is left out",
                "annotation: spec.auditAnnotations[0] is left out",
            },
            id="an annotation makes the last validation superfluous",
        ),
    ],
)
def test_policies(spec: Json, expected: set[str]) -> None:
    assert changed(policy(**spec)) == expected | ALWAYS


def test_defaults_that_are_said() -> None:
    given = policy(failurePolicy="Ignore", rules=[rule()])
    given["spec"]["matchConstraints"]["matchPolicy"] = "Exact"
    assert changed(given) == {
        "failure-policy: spec.failurePolicy `Ignore` becomes `Fail`",
        f"match-policy: {AT}.matchPolicy `Exact` becomes `Equivalent`",
    }


GONE = "binding: ValidatingAdmissionPolicyBinding is left out"


@pytest.mark.parametrize(
    ("actions", "spec", "expected"),
    [
        ("Deny", {}, {"actions: spec.validationActions `Deny` becomes `Warn`"}),
        ("Warn", {}, {"actions: spec.validationActions `Warn` becomes `Deny`"}),
        ("Audit", {}, {"actions: spec.validationActions `Audit` becomes `Warn`"}),
        (
            "Deny Audit",
            {},
            {
                "actions: spec.validationActions `Deny, Audit` becomes `Audit`",
                "actions: spec.validationActions `Deny, Audit` becomes `Deny`",
                "actions: spec.validationActions `Deny, Audit` becomes `Warn, Audit`",
            },
        ),
        (
            "Warn",
            {"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}},
            {
                "actions: spec.validationActions `Warn` becomes `Deny`",
                "params: spec.paramRef.parameterNotFoundAction `Deny` becomes `Allow`",
            },
        ),
    ],
)
def test_bindings(actions: str, spec: Json, expected: set[str]) -> None:
    assert changed(binding(actions=actions, **spec)) == {GONE, *expected}


def test_selectors_are_widened_and_turned() -> None:
    selector = {
        "matchLabels": {"a": "1"},
        "matchExpressions": [{"key": "b", "operator": "In", "values": ["x", "y"]}],
    }
    at = "spec.matchResources.objectSelector"
    assert changed(binding(matchResources={"objectSelector": selector})) == {
        GONE,
        "actions: spec.validationActions `Deny` becomes `Warn`",
        f"selector: {at}.matchLabels.a `1` is left out",
        f"selector: {at}.matchExpressions[0] is left out",
        f"selector: {at}.matchExpressions[0].operator `In` becomes `NotIn`",
        f"selector: {at}.matchExpressions[0].values[0] `x` is left out",
        f"selector: {at}.matchExpressions[0].values[1] `y` is left out",
    }


def documents(file: Path) -> list[Document]:
    """The policies and bindings of an example."""
    text = read_text(str(file))
    assert isinstance(text, Text)
    found = [one for one in DocumentReader().read(text) if isinstance(one, Document)]
    return [one for one in found if any(one.value["kind"].endswith(kind) for kind in KINDS)]


FILES = [
    *sorted((EXAMPLES / "policies").glob("*.yaml")),
    *sorted((EXAMPLES / "mutating").glob("*")),
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_all_but_expressions_is_taken_by_the_server(file: Path) -> None:
    for one in alterations(documents(file)):
        if one.altered is not None and one.expression is None:
            kind = str(one.altered["kind"])
            decoded = decode_object(one.altered, kind)
            assert not decoded.unknown_fields
            assert not validate_create(decoded.value, "1.36"), one.text


def test_the_original_stays_as_it_was() -> None:
    document = plain_document(policy(failurePolicy="Fail"), "given")
    before = repr(document.value)
    made: list[Alteration] = list(alterations([document]))
    assert all(one.altered != document.value for one in made)
    assert repr(document.value) == before
