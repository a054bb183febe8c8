"""Whatever a client sends for a registration object, the answer is an object or a located error."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.admission.registration import registration_strategies
from celadon.admission.registration.decoding import KINDS
from celadon.apiserver.printers.tables import built_in_shape
from celadon.kube import GroupVersionKind, StatusError
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Surroundings, Target, create, update
from celadon.kube.registry.request_bodies import read_object
from celadon.kube.resources import known_resources
from tests.examples import examples

CONTEXT = DefaultingContext()
SURROUNDINGS = Surroundings()

RULE = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
    "resourceNames": ["a"],
    "scope": "*",
}
SELECTOR = {
    "matchLabels": {"a": "b"},
    "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}],
}
MATCH = {
    "resourceRules": [RULE],
    "excludeResourceRules": [RULE],
    "namespaceSelector": SELECTOR,
    "matchPolicy": "Exact",
}
CONDITIONS = [{"name": "c", "expression": "true"}]
POLICY = {
    "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    "matchConstraints": MATCH,
    "failurePolicy": "Fail",
    "matchConditions": CONDITIONS,
    "variables": [{"name": "v", "expression": "1"}],
    "validations": [{"expression": "true", "message": "m", "messageExpression": "'m'"}],
    "auditAnnotations": [{"key": "k", "valueExpression": "'v'"}],
    "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "1"}}],
    "reinvocationPolicy": "Never",
}
BINDING = {
    "policyName": "p",
    "paramRef": {"name": "n", "namespace": "s", "selector": SELECTOR},
    "matchResources": MATCH,
    "validationActions": ["Deny"],
}
HOOK = {
    "name": "a.b.c",
    "clientConfig": {
        "url": "https://a/b",
        "service": {"namespace": "n", "name": "s", "path": "/p", "port": 1},
        "caBundle": "YQ==",
    },
    "rules": [RULE],
    "matchConditions": CONDITIONS,
    "sideEffects": "None",
    "timeoutSeconds": 5,
    "admissionReviewVersions": ["v1"],
    "objectSelector": SELECTOR,
    "reinvocationPolicy": "Never",
}
DOCUMENT = {
    "metadata": {
        "name": "n",
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
        "finalizers": ["a.b/c"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
    },
    "spec": {**POLICY, **BINDING},
    "webhooks": [HOOK],
    "status": {"conditions": [{"type": "T"}]},
}
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 1e300, 2**70, "", " ", "*", "\ud800", "a\n", "\u2028"),
    *([], {}, [None], [[]], [{}], {"": None}, ["", ""], {"a": []}),
]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, item in members:
        found.append((*at, key))
        if isinstance(item, (dict, list)):
            found += places(item, (*at, key))
    return found


PLACES = places(DOCUMENT)


def holds(holder: Any, key: Any) -> bool:
    if isinstance(holder, dict):
        return key in holder
    return isinstance(holder, list) and isinstance(key, int) and key < len(holder)


def changed(changes: list[tuple[tuple[Any, ...], Any]]) -> dict[str, Any]:
    document: Any = copy.deepcopy(DOCUMENT)
    for path, value in changes:
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key] if holds(holder, key) else None
        if holds(holder, path[-1]):
            holder[path[-1]] = copy.deepcopy(value)
    made: dict[str, Any] = document
    return made


CHANGES = st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), max_size=4)


@pytest.mark.parametrize("kind", [entry.kind for entry in KINDS])
@settings(max_examples=examples(150), deadline=None)
@given(changes=CHANGES)
def test_only_located_errors(kind: str, changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    expected = GroupVersionKind("admissionregistration.k8s.io", "v1", kind)
    text = json.dumps(changed(changes)).encode()
    resource = known_resources().by_gvk(expected)
    assert resource is not None
    target = Target(resource)
    try:
        made = create.finish_create(
            create.begin_create(read_object(text, target, CONTEXT).draft, target)
        )
        read = read_object(text, target, CONTEXT)
    except StatusError:
        return
    errors = registration_strategies.create_errors(made, SURROUNDINGS)
    assert all(error.field for error in errors)
    again = update.finish_update(read.draft, made, target, registration_strategies.STRATEGIES)
    errors = registration_strategies.update_errors(again, made, SURROUNDINGS)
    errors += registration_strategies.status_errors(again, made, SURROUNDINGS)
    assert all(str(error) for error in errors)
    resource = known_resources().by_gvk(expected)
    assert resource is not None
    assert len(built_in_shape(resource.gvr).cells(made, 0)) >= 3
