"""Objects of tests as requests: judged as they are written, without defaults, as the command lines
of other engines judge them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.admission import Operation, Request, default_options
from celadon.kube import GroupVersionKind, Json, JsonObject, User, metadata
from celadon.kube.resources import Catalog, guess_resource
from celadon.kube.schemas import DecodeError, round_trip

_NAMESPACE: Final = GroupVersionKind("", "v1", "Namespace")


def request_for(
    given: JsonObject,
    operation: Operation,
    user: User,
    catalog: Catalog,
    old: JsonObject | None = None,
    *,
    with_nulls: bool = True,
) -> Request:
    """Return the request that has an object. One whose test has no old object has what it is to
    become. What lives in namespaces and names none is in `default`. An API server writes some
    lists that are not given as null; gator does not, and judges objects that lack what they
    must have."""
    obj = dict(given)
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    gvk = GroupVersionKind(group, version, str(obj.get("kind", "")))
    known = catalog.by_gvk(gvk)
    name, namespace = metadata.name(obj), metadata.namespace(obj)
    if known is None or known.namespaced:
        namespace = namespace or "default"
        obj["metadata"] = {**(obj.get("metadata") or {}), "namespace": namespace}
    elif gvk == _NAMESPACE:
        namespace = name
    judged = _as_written(obj, gvk, with_nulls=with_nulls)
    before = judged if old is None else _as_written(old, gvk, with_nulls=with_nulls)
    return Request(
        operation,
        gvk,
        known.gvr if known else guess_resource(gvk),
        name=name,
        namespace=namespace,
        object=None if operation is Operation.DELETE else judged,
        old_object=None if operation is Operation.CREATE else before,
        user=user,
        options=default_options(operation),
    )


def _as_written(obj: JsonObject, gvk: GroupVersionKind, *, with_nulls: bool) -> JsonObject:
    try:
        read = round_trip(obj, gvk) or obj
    except DecodeError:
        return obj
    return read if with_nulls else {name: _without_nulls(one) for name, one in read.items()}


def _without_nulls(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def namespace_with(name: str, labels: Mapping[str, str]) -> JsonObject:
    """Return a namespace that has labels."""
    labels = {"kubernetes.io/metadata.name": name, **labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
