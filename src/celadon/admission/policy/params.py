"""From a binding's `paramRef` to the objects a policy is evaluated with.

As `CollectParams` in k8s.io/apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go`.
Params from a selector come in the order of namespace and name; upstream's is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission.registration.registration_types import DENY, ParamKind, ParamRef
from celadon.admission.world import World
from celadon.kube import (
    ApiVersionError,
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    metadata,
    parse_api_version,
)
from celadon.kube.catalogue import Catalog
from celadon.kube.selection import SelectorError, label_selector

_TYPE_MEMBERS: Final = ("apiVersion", "kind")


class ParamError(Exception):
    """The binding's params cannot be had: a configuration error."""


@dataclass(frozen=True, slots=True)
class ParamSource:
    """A resolved `paramKind`."""

    kind: ParamKind
    resource: GroupVersionResource
    namespaced: bool
    custom: bool = False


def resolve(kind: ParamKind, catalog: Catalog) -> ParamSource | None:
    """None when the `apiVersion` does not parse: such a policy is inert. ParamError when there is
    no such kind."""
    try:
        group, version = parse_api_version(kind.api_version)
    except ApiVersionError:
        return None
    gvk = GroupVersionKind(group, version, kind.kind)
    found = catalog.by_gvk(gvk)
    if found is None or not found.served:
        raise ParamError(f"failed to find resource referenced by paramKind: '{gvk}'")
    return ParamSource(kind, found.gvr, found.namespaced, found.custom)


def collect(
    source: ParamSource | None, ref: ParamRef | None, namespace: str, world: World
) -> Sequence[JsonObject | None]:
    """The params of one binding for a request in `namespace`; a single None where the policy is
    evaluated without. Empty when none was found and that is allowed. May raise ParamError."""
    if source is None or ref is None:
        return (None,)
    where = ""
    if source.namespaced:
        where = ref.namespace or namespace
        if not where:
            raise ParamError(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                "resources"
            )
    elif ref.namespace:
        raise ParamError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    found = _lookup(source, ref, where, world)
    if not found and ref.parameter_not_found_action == DENY:
        raise ParamError("no params found for policy binding with `Deny` parameterNotFoundAction")
    return found


def typed(param: JsonObject | None, source: ParamSource | None) -> JsonObject | None:
    """A param as validating policies see it: stored objects may lack their type, expressions see it
    all the same."""
    if param is None or source is None or ("apiVersion" in param and "kind" in param):
        return param
    return {"apiVersion": source.kind.api_version, "kind": source.kind.kind, **param}


def untyped(param: JsonObject | None, source: ParamSource | None) -> JsonObject | None:
    """The same for mutating policies: a built-in object does not say its type."""
    if param is None or source is None or source.custom:
        return param
    return {key: value for key, value in param.items() if key not in _TYPE_MEMBERS}


def _lookup(source: ParamSource, ref: ParamRef, where: str, world: World) -> Sequence[JsonObject]:
    if ref.name:
        if ref.selector is not None:
            raise ParamError("paramRef.name and paramRef.selector are mutually exclusive")
        obj = world.get(source.resource, where, ref.name)
        return () if obj is None else (obj,)
    if ref.selector is None:
        raise ParamError("one of name or selector must be provided")
    try:
        selector = label_selector(ref.selector)
    except SelectorError as error:
        raise ParamError(str(error)) from error
    listed = world.list(source.resource, where)
    return [obj for obj in listed if selector.matches(metadata.labels(obj))]


def param_name(obj: JsonObject | None) -> str:
    """How a decision names its param."""
    if obj is None:
        return ""
    namespace, name = metadata.namespace(obj), metadata.name(obj)
    return f"{namespace}/{name}" if namespace else name
