"""The types of `request`, `namespaceObject` and `variables`, as expressions are checked against.

They say what the checker knows; values are plain JSON and may differ: `namespaceObject.metadata`
declares `UID` while the data has `uid`, and timestamps are declared where strings are found. As
`BuildRequestType` and `BuildNamespaceType` in k8s.io/apiserver
`pkg/admission/plugin/cel/compile.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.cel import types
from celadon.cel.extend import ObjectType
from celadon.kube.library import AUTHORIZER, RESOURCE_CHECK

VARIABLES_TYPE: Final = "kubernetes.variables"
REQUEST: Final = types.object_type("kubernetes.AdmissionRequest")
NAMESPACE: Final = types.object_type("kubernetes.Namespace")
VARIABLES: Final = types.object_type(VARIABLES_TYPE)

_KIND: Final = types.object_type("kubernetes.GroupVersionKind")
_RESOURCE: Final = types.object_type("kubernetes.GroupVersionResource")
_USER: Final = types.object_type("kubernetes.UserInfo")
_NAMESPACE_METADATA: Final = types.object_type("kubernetes.NamespaceMetadata")
_NAMESPACE_SPEC: Final = types.object_type("kubernetes.NamespaceSpec")
_NAMESPACE_STATUS: Final = types.object_type("kubernetes.NamespaceStatus")
_NAMESPACE_CONDITION: Final = types.object_type("kubernetes.NamespaceCondition")
_TEXT_MAP: Final = types.map_of(types.STRING, types.STRING)

OBJECT_TYPES: Final = (
    ObjectType(_KIND.name, {"group": types.STRING, "version": types.STRING, "kind": types.STRING}),
    ObjectType(
        _RESOURCE.name, {"group": types.STRING, "version": types.STRING, "resource": types.STRING}
    ),
    ObjectType(
        _USER.name,
        {
            "username": types.STRING,
            "uid": types.STRING,
            "groups": types.list_of(types.STRING),
            "extra": types.map_of(types.STRING, types.list_of(types.STRING)),
        },
    ),
    ObjectType(
        REQUEST.name,
        {
            "kind": _KIND,
            "resource": _RESOURCE,
            "subResource": types.STRING,
            "requestKind": _KIND,
            "requestResource": _RESOURCE,
            "requestSubResource": types.STRING,
            "name": types.STRING,
            "namespace": types.STRING,
            "operation": types.STRING,
            "userInfo": _USER,
            "dryRun": types.BOOL,
            "options": types.DYN,
        },
    ),
    ObjectType(
        _NAMESPACE_METADATA.name,
        {
            "name": types.STRING,
            "generateName": types.STRING,
            "namespace": types.STRING,
            "labels": _TEXT_MAP,
            "annotations": _TEXT_MAP,
            "UID": types.STRING,
            "creationTimestamp": types.TIMESTAMP,
            "deletionTimestamp": types.TIMESTAMP,
            "deletionGracePeriodSeconds": types.INT,
            "generation": types.INT,
            "resourceVersion": types.STRING,
            "finalizers": types.list_of(types.STRING),
        },
    ),
    ObjectType(_NAMESPACE_SPEC.name, {"finalizers": types.list_of(types.STRING)}),
    ObjectType(
        _NAMESPACE_CONDITION.name,
        {
            "status": types.STRING,
            "type": types.STRING,
            "lastTransitionTime": types.TIMESTAMP,
            "message": types.STRING,
            "reason": types.STRING,
        },
    ),
    ObjectType(
        _NAMESPACE_STATUS.name,
        {"phase": types.STRING, "conditions": types.list_of(_NAMESPACE_CONDITION)},
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
        types.Kind.ANY,
        types.Kind.BOOL,
        types.Kind.BYTES,
        types.Kind.DOUBLE,
        types.Kind.DURATION,
        types.Kind.INT,
        types.Kind.NULL,
        types.Kind.STRING,
        types.Kind.TIMESTAMP,
        types.Kind.UINT,
    }
)


_MOST_LEVELS: Final = 20
"""Lists in lists whose types a variable keeps. Of deeper ones, which only a chain of variables can
make, cel-go knows the whole type; what looks into types here would need too deep a stack."""


def variable_type(result: types.Type, levels: int = _MOST_LEVELS) -> types.Type:
    """The type under which a variable is known to later expressions."""
    if result.kind in _KEPT:
        return result
    if result.kind is types.Kind.LIST and levels:
        return types.list_of(variable_type(result.params[0], levels - 1))
    if result.kind is types.Kind.MAP and levels:
        key, value = (variable_type(one, levels - 1) for one in result.params)
        return types.map_of(key, value)
    return types.DYN


def variables_object(fields: Mapping[str, types.Type]) -> ObjectType:
    """Return what `variables` is; it grows with the fields that it is given."""
    return ObjectType(VARIABLES_TYPE, fields)


def variable_types(
    obj: types.Type, *, params: types.Type | None, authorizer: bool
) -> dict[str, types.Type]:
    """The variables of an expression about objects of that type, but for `variables`; without a
    type for params there are none."""
    names = {"object": obj, "oldObject": obj, "request": REQUEST, "namespaceObject": NAMESPACE}
    if params is not None:
        names["params"] = params
    if authorizer:
        names |= {"authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE_CHECK}
    return names
