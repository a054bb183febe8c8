"""The types of `request`, `namespaceObject` and `variables`, as expressions are checked against.

They say what the checker knows; values are plain JSON and may differ: `namespaceObject.metadata`
declares `UID` while the data has `uid`, and timestamps are declared where strings are found. As
`BuildRequestType` and `BuildNamespaceType` in k8s.io/apiserver
`pkg/admission/plugin/cel/compile.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.cel.declarations import ObjectType
from celadon.cel.types import (
    BOOL,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    list_of,
    map_of,
    object_type,
)

VARIABLES_TYPE: Final = "kubernetes.variables"
REQUEST: Final = object_type("kubernetes.AdmissionRequest")
NAMESPACE: Final = object_type("kubernetes.Namespace")
VARIABLES: Final = object_type(VARIABLES_TYPE)

_KIND: Final = object_type("kubernetes.GroupVersionKind")
_RESOURCE: Final = object_type("kubernetes.GroupVersionResource")
_USER: Final = object_type("kubernetes.UserInfo")
_NAMESPACE_METADATA: Final = object_type("kubernetes.NamespaceMetadata")
_NAMESPACE_SPEC: Final = object_type("kubernetes.NamespaceSpec")
_NAMESPACE_STATUS: Final = object_type("kubernetes.NamespaceStatus")
_NAMESPACE_CONDITION: Final = object_type("kubernetes.NamespaceCondition")
_TEXT_MAP: Final = map_of(STRING, STRING)

OBJECT_TYPES: Final = (
    ObjectType(_KIND.name, {"group": STRING, "version": STRING, "kind": STRING}),
    ObjectType(_RESOURCE.name, {"group": STRING, "version": STRING, "resource": STRING}),
    ObjectType(
        _USER.name,
        {
            "username": STRING,
            "uid": STRING,
            "groups": list_of(STRING),
            "extra": map_of(STRING, list_of(STRING)),
        },
    ),
    ObjectType(
        REQUEST.name,
        {
            "kind": _KIND,
            "resource": _RESOURCE,
            "subResource": STRING,
            "requestKind": _KIND,
            "requestResource": _RESOURCE,
            "requestSubResource": STRING,
            "name": STRING,
            "namespace": STRING,
            "operation": STRING,
            "userInfo": _USER,
            "dryRun": BOOL,
            "options": DYN,
        },
    ),
    ObjectType(
        _NAMESPACE_METADATA.name,
        {
            "name": STRING,
            "generateName": STRING,
            "namespace": STRING,
            "labels": _TEXT_MAP,
            "annotations": _TEXT_MAP,
            "UID": STRING,
            "creationTimestamp": TIMESTAMP,
            "deletionTimestamp": TIMESTAMP,
            "deletionGracePeriodSeconds": INT,
            "generation": INT,
            "resourceVersion": STRING,
            "finalizers": list_of(STRING),
        },
    ),
    ObjectType(_NAMESPACE_SPEC.name, {"finalizers": list_of(STRING)}),
    ObjectType(
        _NAMESPACE_CONDITION.name,
        {
            "status": STRING,
            "type": STRING,
            "lastTransitionTime": TIMESTAMP,
            "message": STRING,
            "reason": STRING,
        },
    ),
    ObjectType(
        _NAMESPACE_STATUS.name,
        {"phase": STRING, "conditions": list_of(_NAMESPACE_CONDITION)},
    ),
    ObjectType(
        NAMESPACE.name,
        {
            "metadata": _NAMESPACE_METADATA,
            "spec": _NAMESPACE_SPEC,
            "status": _NAMESPACE_STATUS,
        },
    ),
)

_KEPT: Final = frozenset(
    {
        Kind.ANY,
        Kind.BOOL,
        Kind.BYTES,
        Kind.DOUBLE,
        Kind.DURATION,
        Kind.INT,
        Kind.NULL,
        Kind.STRING,
        Kind.TIMESTAMP,
        Kind.UINT,
    }
)


def variable_type(result: Type) -> Type:
    """The type under which a variable is known to later expressions."""
    if result.kind in _KEPT:
        return result
    if result.kind is Kind.LIST and len(result.params) == 1:
        return list_of(variable_type(result.params[0]))
    if result.kind is Kind.MAP and len(result.params) == 2:
        return map_of(*map(variable_type, result.params))
    return DYN


def variables_object(fields: Mapping[str, Type]) -> ObjectType:
    return ObjectType(VARIABLES_TYPE, dict(fields))
