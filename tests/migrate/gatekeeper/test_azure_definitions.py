"""Definitions, initiatives and assignments of Azure Policy as constraints."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate import (
    AzurePolicies,
    NotTranslated,
    azure_documents,
    constraint_of,
    embedded_template,
    is_template_of,
    template_url,
    without_template,
)
from celadon.migrate.gatekeeper.azure_definitions import AzureUse, azure_document

URL = "https://store.example.net/kubernetes/no-privilege/v2/template.yaml"
ID = "/providers/Microsoft.Authorization/policyDefinitions/"
NUMBER = "95edb821-ddaf-4404-9732-666045e056b4"
SYSTEM = ["kube-system", "gatekeeper-system", "azure-arc"]


def definition(
    details: JsonObject | None = None,
    effect: str = "[parameters('effect')]",
    name: str = "no-privilege",
    **parameters: Json,
) -> dict[str, Any]:
    """A definition, read; the effect is a parameter with the value `Audit`."""
    given: JsonObject = {
        "effect": {"type": "String", "defaultValue": "Audit"},
        **{key: {"defaultValue": value} for key, value in parameters.items()},
    }
    info: JsonObject = {"templateInfo": {"sourceType": "PublicURL", "url": URL}}
    then: JsonObject = {"effect": effect, "details": {**info, **(details or {})}}
    properties: JsonObject = {
        "mode": "Microsoft.Kubernetes.Data",
        "displayName": "No privilege",
        "parameters": given,
        "policyRule": {"if": {}, "then": then},
    }
    return read({"name": name, "properties": properties})


def read(value: JsonObject) -> dict[str, Any]:
    found = azure_document(dict(value))
    assert found is not None
    return found


def initiative(*members: JsonObject, **parameters: Json) -> dict[str, Any]:
    given: JsonObject = {key: {"defaultValue": value} for key, value in parameters.items()}
    return read({
        "name": "baseline", "properties": {"parameters": given, "policyDefinitions": list(members)}
    })  # fmt: skip


def assignment(of: str, name: str = "ours", mode: str = "Default", **values: Json) -> JsonObject:
    given: JsonObject = {key: {"value": value} for key, value in values.items()}
    properties: JsonObject = {
        "policyDefinitionId": ID + of, "parameters": given, "enforcementMode": mode
    }  # fmt: skip
    return read({"name": name, "properties": properties})


def uses(*documents: JsonObject) -> list[AzureUse]:
    """How the first of the documents is used."""
    policies = AzurePolicies()
    for one in documents:
        policies.add(one)
    return list(policies.uses(documents[0]))


def spec(document: JsonObject, **values: Json) -> Any:
    return constraint_of(AzureUse(document, "x", values), "Demand")["spec"]


@pytest.mark.parametrize(
    ("effect", "more", "action"),
    [
        ("Audit", {}, "dryrun"),
        ("audit", {"warn": True}, "warn"),
        ("Deny", {"warn": True}, "deny"),
        ("deny", {}, "deny"),
        ("EnforceOPAConstraint", {}, "deny"),
    ],
)
def test_effects(effect: str, more: JsonObject, action: str) -> None:
    assert spec(definition(more, effect))["enforcementAction"] == action


def test_what_a_constraint_has() -> None:
    details: JsonObject = {
        "apiGroups": ["", "apps"],
        "kinds": ["Pod"],
        "namespaces": "[parameters('only')]",
        "excludedNamespaces": ["a", "kube-system"],
        "labelSelector": {"matchLabels": {"a": "b"}},
        "source": "Original",
        "values": {
            "ranges": "[parameters('Ranges').of.users]",
            "text": "[[b]",
            "list": ["[parameters('one')]"],
        },
    }
    given = definition(details, ranges={"of": {"users": [1]}}, only=["shop"])
    found = constraint_of(AzureUse(given, "Pods & more", {"one": 2}), "Demand")
    assert found["kind"] == "Demand"
    assert found["metadata"]["name"] == "pods-more"
    assert found["spec"]["match"] == {
        "excludedNamespaces": ["a", *SYSTEM],
        "kinds": [{"apiGroups": ["", "apps"], "kinds": ["Pod"]}],
        "namespaces": ["shop"],
        "labelSelector": {"matchLabels": {"a": "b"}},
        "source": "Original",
    }
    assert found["spec"]["parameters"] == {"ranges": [1], "text": "[b]", "list": [2]}


def test_system_namespaces_are_always_excluded() -> None:
    assert spec(definition({"excludedNamespaces": []}))["match"] == {"excludedNamespaces": SYSTEM}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (definition(effect="Disabled"), "a definition whose effect is `Disabled`"),
        (definition(effect="Modify"), "the effect `modify`"),
        (
            definition({"values": {"a": "[parameters('most')]"}}),
            "a parameter without a value (`most`)",
        ),
        (
            definition({"values": {"a": "[parameters('most').cpu]"}}, most={"memory": 1}),
            "a parameter without a value (`most.cpu`)",
        ),
        (
            definition({"values": {"a": "[concat('a', 'b')]"}}),
            "an expression of Azure (`[concat('a', 'b')]`)",
        ),
        (
            definition({"constraint": "https://x/constraint.yaml"}),
            "a definition with a text for its constraint (`constraint`)",
        ),
    ],
)
def test_what_is_not_translated(given: JsonObject, reason: str) -> None:
    with pytest.raises(NotTranslated) as found:
        spec(given)
    assert found.value.reason == reason


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({}, f"a definition without its template ({URL})"),
        ({"templateInfo": {}}, "a definition that names no template"),
        ({"mutationInfo": {"url": "x"}}, "it mutates objects"),
    ],
)
def test_definitions_without_a_template(details: JsonObject, reason: str) -> None:
    found = without_template(definition(details))
    assert (found.origin.policy, found.reason) == ("no-privilege", reason)


def test_names_that_are_numbers_are_not_shown() -> None:
    assert without_template(definition(name=NUMBER)).origin.policy == "No privilege"


def test_a_definition_alone_has_its_defaults() -> None:
    (found,) = uses(definition())
    assert (found.name, found.values, found.is_enforced) == ("no-privilege", {}, True)


def test_assignments_of_a_definition() -> None:
    first = assignment("no-privilege", effect="Deny")
    second = assignment("NO-PRIVILEGE", "theirs", "DoNotEnforce", effect="Deny")
    found = uses(definition(), first, second, assignment("other"))
    assert [(one.name, one.is_enforced) for one in found] == [("ours", True), ("theirs", False)]
    actions = [constraint_of(one, "X")["spec"]["enforcementAction"] for one in found]
    assert actions == ["deny", "dryrun"]


def test_where_there_are_assignments_the_rest_is_not_in_force() -> None:
    assert uses(definition(), assignment("other")) == []
    member = {"policyDefinitionId": f"{ID}no-privilege"}
    assert uses(definition(), initiative(member), assignment("other")) == []


def test_members_of_initiatives() -> None:
    member: JsonObject = {
        "policyDefinitionId": f"{ID}no-privilege",
        "policyDefinitionReferenceId": "NoPrivilege",
        "parameters": {
            "effect": {"value": "[parameters('effect')]"},
            "unknown": {"value": "[parameters('none')]"},
        },
    }
    group = initiative(member, effect="Deny")
    (alone,) = uses(definition(), group)
    assert (alone.name, alone.values) == ("NoPrivilege", {"effect": "Deny"})
    (assigned,) = uses(definition(), group, assignment("baseline", effect="Disabled"))
    assert assigned.values == {"effect": "Disabled"}
    both = [assignment("baseline"), assignment("baseline", "theirs")]
    names = [one.name for one in uses(definition(), group, *both)]
    assert names == ["ours-NoPrivilege", "theirs-NoPrivilege"]


def test_templates_in_definitions() -> None:
    assert embedded_template(definition()) is None
    assert template_url(definition()) == URL
    content = base64.b64encode(b"kind: X").decode()
    assert embedded_template(definition({"templateInfo": {"content": content}})) == b"kind: X"
    with pytest.raises(NotTranslated, match="no Base64"):
        embedded_template(definition({"templateInfo": {"content": "%"}}))


@pytest.mark.parametrize(
    ("file", "kind", "is_it"),
    [
        ("a/no-privilege/v2/template.yaml", "X", True),
        ("no-privilege/v2/template.yaml", "X", True),
        ("a/no-privilege/v1/template.yaml", "K8sAzureV2NoPrivilege", False),
        ("a/no-privilege/template.yaml", "K8sAzureV2NoPrivilege", True),
        ("a/no-privilege/template.yaml", "K8sAzureV1NoPrivilege", False),
        ("a/privilege/v2/template.yaml", "K8sAzureV2NoPrivilege", False),
        ("template.yaml", "K8sAzureV2NoPrivilege", False),
    ],
)
def test_files_of_templates(file: str, kind: str, is_it: bool) -> None:
    assert is_template_of(URL, file, kind) is is_it


def test_documents_of_azure_in_files() -> None:
    flat = {"name": "a", "mode": "Microsoft.Kubernetes.Data", "policyRule": {"then": {}}}
    other = {**flat, "mode": "Indexed"}
    assert [path for path, _ in azure_documents(flat)] == [()]
    assert [path for path, _ in azure_documents([other, flat])] == [(1,)]
    assert [path for path, _ in azure_documents({"value": [flat]})] == [("value", 0)]
    assert list(azure_documents({"apiVersion": "v1", "policyDefinitionId": "x"})) == []
    assert list(azure_documents("text")) == []
