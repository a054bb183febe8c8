"""A policy that refuses an object refuses it on every way to the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.http_messages import HttpAnswer
from tests.apiserver.asking import ask, make, read
from tests.apiserver.in_process import Running

POLICIES = "/apis/admissionregistration.k8s.io/v1"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
OLD_WIDGETS = "/apis/example.com/v1alpha1/namespaces/default/widgets"

FEW = "(has(object.spec.replicas) ? object.spec.replicas : 1) <= 3"
LIMITED = {
    "metadata": {"name": "few"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["apps"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": ["deployments", "deployments/scale"],
                },
                {
                    "apiGroups": ["example.com"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": ["widgets"],
                },
            ]
        },
        "validations": [{"expression": FEW, "message": "too many"}],
    },
}
SCHEMA = {
    "openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {"replicas": {"type": "integer", "default": 1}},
            },
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
}
DEFINITION = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": SCHEMA},
            {"name": "v1alpha1", "served": True, "storage": False, "schema": SCHEMA},
        ],
    },
}


def deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "c", "image": "i"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def widget(name: str, replicas: int, version: str = "v1") -> dict[str, Any]:
    return {
        "apiVersion": f"example.com/{version}",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"replicas": replicas},
    }


@pytest.fixture(scope="module")
def limited() -> Iterator[Running]:
    server = Running()
    make(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    server.settle()
    make(server, f"{POLICIES}/validatingadmissionpolicies", LIMITED)
    binding = {
        "metadata": {"name": "few"},
        "spec": {"policyName": "few", "validationActions": ["Deny"]},
    }
    make(server, f"{POLICIES}/validatingadmissionpolicybindings", binding)
    make(server, DEPLOYMENTS, deployment("few", 2))
    make(server, WIDGETS, widget("few", 2))
    yield server
    server.close()


def _yaml(obj: dict[str, Any]) -> bytes:
    spec = obj["spec"]
    text = (
        f"apiVersion: {obj['apiVersion']}\nkind: {obj['kind']}\n"
        f"metadata: {{name: {obj['metadata']['name']}}}\nspec: {{replicas: 0x9"
    )
    if "selector" in spec:
        text += (
            ", selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, "
            "spec: {containers: [{name: c, image: i}]}}"
        )
    return (text + "}\n").encode()


JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
MANY = {"spec": {"replicas": 9}}
WAYS: list[tuple[str, str, str, Any, str]] = [
    ("create", "POST", DEPLOYMENTS, deployment("x", 9), "application/json"),
    ("create as YAML", "POST", DEPLOYMENTS, _yaml(deployment("x", 9)), "application/yaml"),
    ("a dry run", "POST", f"{DEPLOYMENTS}?dryRun=All", deployment("x", 9), "application/json"),
    ("update", "PUT", f"{DEPLOYMENTS}/few", deployment("few", 9), "application/json"),
    ("merge patch", "PATCH", f"{DEPLOYMENTS}/few", MANY, MERGE),
    ("strategic merge patch", "PATCH", f"{DEPLOYMENTS}/few", MANY, STRATEGIC),
    (
        "JSON patch",
        "PATCH",
        f"{DEPLOYMENTS}/few",
        [{"op": "replace", "path": "/spec/replicas", "value": 9}],
        JSON_PATCH,
    ),
    (
        "apply to what is there",
        "PATCH",
        f"{DEPLOYMENTS}/few?fieldManager=m&force=true",
        deployment("few", 9),
        APPLY,
    ),
    ("apply anew", "PATCH", f"{DEPLOYMENTS}/y?fieldManager=m", deployment("y", 9), APPLY),
    (
        "scale",
        "PUT",
        f"{DEPLOYMENTS}/few/scale",
        {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "few"}, **MANY},
        "application/json",
    ),
    ("scale by patch", "PATCH", f"{DEPLOYMENTS}/few/scale", MANY, MERGE),
    ("a custom object", "POST", WIDGETS, widget("x", 9), "application/json"),
    ("a custom object as YAML", "POST", WIDGETS, _yaml(widget("x", 9)), "application/yaml"),
    ("another version", "POST", OLD_WIDGETS, widget("x", 9, "v1alpha1"), "application/json"),
    ("another version, patched", "PATCH", f"{OLD_WIDGETS}/few", MANY, MERGE),
    (
        "another version, applied",
        "PATCH",
        f"{OLD_WIDGETS}/z?fieldManager=m",
        widget("z", 9, "v1alpha1"),
        APPLY,
    ),
    (
        "a member named twice",
        "POST",
        f"{WIDGETS}?fieldValidation=Ignore",
        b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},'
        b'"spec":{"replicas":1},"spec":{"replicas":9}}',
        "application/json",
    ),
    (
        "a name that is made",
        "POST",
        WIDGETS,
        {**widget("", 9), "metadata": {"generateName": "x-"}},
        "application/json",
    ),
]


def _refused(answer: HttpAnswer) -> bool:
    return answer.code == 422 and "too many" in read(answer)["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "form"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS]
)
def test_no_way_around_a_policy(
    limited: Running, method: str, path: str, body: Any, form: str
) -> None:
    answer = ask(limited, method, path, body, content_type=form)
    assert _refused(answer), (answer.code, answer.body)


@pytest.mark.parametrize("path", [DEPLOYMENTS, WIDGETS])
def test_nothing_of_it_was_stored(limited: Running, path: str) -> None:
    for _, method, way, body, form in WAYS:
        ask(limited, method, way, body, content_type=form)
    kept = read(ask(limited, "GET", path))["items"]
    assert [(obj["metadata"]["name"], obj["spec"]["replicas"]) for obj in kept] == [("few", 2)]
