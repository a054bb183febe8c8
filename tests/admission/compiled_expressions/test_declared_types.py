"""The types that variables are known under, and what names expressions have."""

from __future__ import annotations

import pytest

from celadon.admission.compiled_expressions import (
    OBJECT_TYPES,
    VARIABLES_TYPE,
    variable_type,
    variable_types,
)
from celadon.cel import CompileError, types
from celadon.kube.library import environment

ENV = environment("1.36").extend(
    variable_types(types.DYN, params=None, authorizer=False), OBJECT_TYPES
)


@pytest.mark.parametrize(
    ("result", "known"),
    [
        (types.BOOL, types.BOOL),
        (types.STRING, types.STRING),
        (types.BYTES, types.BYTES),
        (types.INT, types.INT),
        (types.UINT, types.UINT),
        (types.DOUBLE, types.DOUBLE),
        (types.DURATION, types.DURATION),
        (types.TIMESTAMP, types.TIMESTAMP),
        (types.NULL, types.NULL),
        (types.DYN, types.DYN),
        (types.list_of(types.INT), types.list_of(types.INT)),
        (types.map_of(types.STRING, types.INT), types.map_of(types.STRING, types.INT)),
        (types.object_type("a.B"), types.DYN),
        (types.list_of(types.object_type("a.B")), types.list_of(types.DYN)),
        (
            types.map_of(types.STRING, types.list_of(types.object_type("a.B"))),
            types.map_of(types.STRING, types.list_of(types.DYN)),
        ),
    ],
)
def test_what_later_expressions_know_of_a_variable(result: types.Type, known: types.Type) -> None:
    assert variable_type(result) == known


@pytest.mark.parametrize("authorizer", [True, False])
@pytest.mark.parametrize("params", [None, types.DYN])
def test_names(params: types.Type | None, authorizer: bool) -> None:
    found = variable_types(types.DYN, params=params, authorizer=authorizer)
    always = {"object", "oldObject", "request", "namespaceObject"}
    asked = {"authorizer", "authorizer.requestResource"} if authorizer else set()
    assert found.keys() == always | asked | ({"params"} if params is not None else set())


def test_types_of_lists_in_lists_are_known_so_deep() -> None:
    deep = types.INT
    for _ in range(3000):
        deep = variable_type(types.list_of(deep))
    shown = str(deep)
    assert shown.startswith("list(list(list(")
    assert shown.rstrip(")").endswith("(dyn")
    assert 10 < shown.count("list") < 100


TEXTS = "list(string)"
TEXT_MAP = "map(string, string)"
KIND = "kubernetes.GroupVersionKind"
RESOURCE = "kubernetes.GroupVersionResource"
FIELDS = {
    "request": {
        "kind": KIND,
        "resource": RESOURCE,
        "subResource": "string",
        "requestKind": KIND,
        "requestResource": RESOURCE,
        "requestSubResource": "string",
        "name": "string",
        "namespace": "string",
        "operation": "string",
        "userInfo": "kubernetes.UserInfo",
        "dryRun": "bool",
        "options": "dyn",
    },
    "request.kind": dict.fromkeys(("group", "version", "kind"), "string"),
    "request.requestResource": dict.fromkeys(("group", "version", "resource"), "string"),
    "request.userInfo": {
        "username": "string",
        "uid": "string",
        "groups": TEXTS,
        "extra": "map(string, list(string))",
    },
    "namespaceObject": {
        "metadata": "kubernetes.NamespaceMetadata",
        "spec": "kubernetes.NamespaceSpec",
        "status": "kubernetes.NamespaceStatus",
    },
    "namespaceObject.metadata": {
        **dict.fromkeys(("name", "generateName", "namespace", "resourceVersion", "UID"), "string"),
        **dict.fromkeys(("labels", "annotations"), TEXT_MAP),
        "creationTimestamp": "google.protobuf.Timestamp",
        "deletionTimestamp": "google.protobuf.Timestamp",
        "deletionGracePeriodSeconds": "int",
        "generation": "int",
        "finalizers": TEXTS,
    },
    "namespaceObject.spec": {"finalizers": TEXTS},
    "namespaceObject.status": {
        "phase": "string",
        "conditions": "list(kubernetes.NamespaceCondition)",
    },
    "namespaceObject.status.conditions[0]": {
        **dict.fromkeys(("status", "type", "message", "reason"), "string"),
        "lastTransitionTime": "google.protobuf.Timestamp",
    },
}
"""What a server declares, by what has the fields."""


@pytest.mark.parametrize(
    ("path", "known"),
    [(f"{at}.{name}", known) for at, fields in FIELDS.items() for name, known in fields.items()],
)
def test_what_is_declared(path: str, known: str) -> None:
    assert str(ENV.compile(path).checked().type) == known


@pytest.mark.parametrize(
    "path",
    [
        "request.uid",
        "request.object",
        "request.kind.resource",
        "request.resource.kind",
        "request.userInfo.name",
        "namespaceObject.kind",
        *(f"namespaceObject.metadata.{f}" for f in ("uid", "managedFields", "ownerReferences")),
        "namespaceObject.status.conditions[0].observedGeneration",
    ],
)
def test_what_is_not(path: str) -> None:
    with pytest.raises(CompileError, match=f"undefined field '{path.rpartition('.')[2]}'"):
        ENV.compile(path).checked()


def test_names_of_the_types() -> None:
    names = [str(ENV.compile(one).checked().type) for one in ("request", "namespaceObject")]
    assert names == ["kubernetes.AdmissionRequest", "kubernetes.Namespace"]
    assert VARIABLES_TYPE == "kubernetes.variables"
