"""The search finds what a policy admits, and what each validation refuses."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.policytest import case_search
from celadon.cli.policytest.case_results import plain_document
from celadon.cli.policytest.case_search import MOST_TRIALS, search
from tests.cli.files import Json, binding, policy

PODS = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["pods"],
    }
]


@pytest.fixture(autouse=True)
def without_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the solver proposes depends on all that it was asked before."""
    monkeypatch.setattr(case_search, "solved_requests", lambda *_: iter(()))


def found(*documents: Json) -> Any:
    given = [plain_document(one, "p") for one in documents]
    return search(given, documents[0]["metadata"]["name"], "1.36")


@pytest.mark.parametrize("text", ["--5", "9" * 5000, "²"])
def test_texts_that_are_no_numbers(text: str) -> None:
    number = policy(expression=f"string(object.spec.replicas) != '{text}'", rules=WORKLOADS[1:])
    assert found(number)


SOLVED: dict[str, Json] = {
    "a text": policy(expression="object.data.x == 'ok'"),
    "a number": policy(expression="size(object.data.x) > 3 && object.data.x.endsWith('yes!')"),
    "a label": policy(expression="'team' in object.metadata.?labels.orValue({})"),
    "has": policy(expression="has(object.data) && has(object.data.a)"),
    "items of a list": policy(
        expression="object.spec.containers.all(c, c.image.startsWith('example.org/'))", rules=PODS
    ),
    "a variable": policy(
        variables=[{"name": "images", "expression": "object.spec.containers.map(c, c.image)"}],
        expression="variables.images.all(i, i.contains('@sha256:'))",
        rules=PODS,
    ),
    "two validations": policy(
        validations=[
            {"expression": "object.data.x == 'a' || object.data.x == 'b'"},
            {"expression": "!(object.data.x == 'b')"},
        ]
    ),
    "an update": policy(expression="object.data.x == oldObject.data.x"),
    "params": policy(
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        expression="object.data.x == params.data.x",
    ),
    "a condition on users": policy(
        matchConditions=[
            {"name": "people", "expression": "!('system:masters' in request.userInfo.groups)"}
        ],
        expression="object.data.x == 'ok'",
    ),
    "labels of the Namespace": policy(
        expression="namespaceObject.metadata.?labels['env'].orValue('') == 'prod'"
    ),
    "labels that selectors want": policy(
        expression="namespaceObject.metadata.labels.env == 'prod' && object.data.x == 'ok'"
    ),
}
WORKLOADS = [
    *PODS,
    {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["deployments"],
    },
    {
        "apiGroups": ["batch"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["jobs", "cronjobs"],
    },
]
_SPEC = "object.spec"
_TEMPLATE = f"{_SPEC}.template.spec"
SOLVED |= {
    "a privileged container, wherever it is": policy(
        variables=[
            {
                "name": "containers",
                "expression": f"object.kind == 'Pod' ? {_SPEC}.containers : "
                f"object.kind == 'Deployment' ? {_TEMPLATE}.containers + "
                f"(has({_TEMPLATE}.initContainers) ? {_TEMPLATE}.initContainers : []) : []",
            }
        ],
        expression="variables.containers.all(c, !has(c.securityContext) || "
        "!has(c.securityContext.privileged) || c.securityContext.privileged != true)",
        rules=WORKLOADS,
    ),
    "a kind of its own": policy(
        expression="object.kind != 'CronJob' || object.spec.suspend == true", rules=WORKLOADS
    ),
    "the host's network": policy(
        expression="!has(object.spec.hostNetwork) || !object.spec.hostNetwork", rules=PODS
    ),
    "what a filter leaves": policy(
        variables=[
            {
                "name": "bad",
                "expression": "object.spec.?volumes.orValue([]).filter(v, has(v.hostPath))",
            }
        ],
        expression="variables.bad.size() == 0",
        rules=PODS,
    ),
    "a definition": policy(
        expression="object.spec.group.endsWith('.com') || has(object.metadata.annotations)",
        rules=[
            {
                "apiGroups": ["apiextensions.k8s.io"],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["*"],
            }
        ],
    ),
}
SOLVED["labels that selectors want"]["spec"]["matchConstraints"] |= {
    "namespaceSelector": {"matchLabels": {"env": "prod"}},
    "objectSelector": {"matchLabels": {"app": "x"}},
}


@pytest.mark.parametrize("name", SOLVED)
def test_solved(name: str) -> None:
    more: Json = {}
    if name == "params":
        more = {"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}}
    result = found(SOLVED[name], binding(**more))
    assert result.is_complete
    assert result.trials <= MOST_TRIALS


def test_unsolved() -> None:
    """What is always true, or always false, is said; and the search ends."""
    always = {"expression": "object.metadata.name != ''"}
    result = found(policy(validations=[always, {"expression": "object.data.x == 'a'"}]), binding())
    assert (result.unsolved, result.admitted is None) == ([0], False)
    result = found(policy(expression="object.metadata.name == ''"), binding())
    assert (result.unsolved, result.admitted) == ([], None)


def test_each_of_several_validations_lets_something_pass() -> None:
    """The refused request with one place changed; not what is admitted anyway."""
    rules = [
        {"expression": "object.data.x == 'a' || object.data.x == 'b'"},
        {"expression": "object.data.?y.orValue('') != 'b'"},
    ]
    result = found(policy(validations=rules), binding())
    assert sorted(result.against) == sorted(result.passing) == [0, 1]
    for index, name in enumerate("xy"):
        before, after = result.against[index].trial_request.object, result.passing[index].object
        assert before["data"].get(name) != after["data"].get(name)
        assert after != result.admitted.object


def test_what_is_admitted_passes_all() -> None:
    """Nothing else does here."""
    assert found(SOLVED["two validations"], binding()).passing == {}


MUTATING: dict[str, tuple[str, str]] = {
    "a label": ("applyConfiguration", "Object{metadata: Object.metadata{labels: {'team': 'a'}}}"),
    "a label, by a patch": (
        "jsonPatch",
        "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}]",
    ),
    "where a field says so": (
        "jsonPatch",
        "object.data.x == 'a' ? [JSONPatch{op: 'replace', path: '/data/x', value: 'b'}] : []",
    ),
}


def mutating(name: str) -> list[Json]:
    kind, expression = MUTATING[name]
    spec = policy()["spec"]
    mutation = {"patchType": kind[0].upper() + kind[1:], kind: {"expression": expression}}
    mutation["patchType"] = {"jsonPatch": "JSONPatch"}.get(kind, "ApplyConfiguration")
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "limit"}}
    return [
        {
            **head,
            "kind": "MutatingAdmissionPolicy",
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            **spec["matchConstraints"]["resourceRules"][0],
                            "operations": ["CREATE", "UPDATE"],
                        }
                    ]
                },
                "reinvocationPolicy": "Never",
                "mutations": [mutation],
            },
        },
        {**head, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "limit"}},
    ]


@pytest.mark.parametrize("name", MUTATING)
def test_mutations(name: str) -> None:
    result = found(*mutating(name))
    assert result.is_complete
    assert result.against[0].patch


DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "shops.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "shops", "singular": "shop", "kind": "Shop", "listKind": "ShopList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size", "kind", "doors", "open", "name", "place"],
                                "properties": {
                                    "size": {"type": "integer", "minimum": 3},
                                    "kind": {"type": "string", "enum": ["big", "small"]},
                                    "doors": {
                                        "type": "array",
                                        "minItems": 1,
                                        "items": {"type": "string", "minLength": 2},
                                    },
                                    "open": {"type": "boolean"},
                                    "name": {"type": "string", "default": "a"},
                                    "place": {"type": "object"},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


def test_custom_kinds() -> None:
    rules = [
        {
            "apiGroups": ["example.com"],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["shops"],
        }
    ]
    given = [policy(rules=rules, expression="object.spec.size <= 7"), binding()]
    documents = [plain_document(one, "p") for one in given]
    assert not search(documents, "limit", "1.36").is_complete
    result = search(documents, "limit", "1.36", [plain_document(DEFINITION, "crd")])
    assert result.is_complete
    assert result.admitted is not None
    assert result.admitted.object["spec"] == {
        "size": 3,
        "kind": "big",
        "doors": ["xx"],
        "open": False,
        "name": "a",
        "place": {},
    }
    assert result.against[0].trial_request.object["spec"]["size"] == 8
