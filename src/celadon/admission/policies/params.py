"""Resolves the `paramRef` of a binding to the objects that a policy is evaluated with.

As `CollectParams` in k8s.io/apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go`.
Params from a selector come in the order of namespace and name; upstream's is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon import kube
from celadon.admission import policy_limits
from celadon.admission.cluster_lookups import World
from celadon.admission.registration.registration_types import DENY, ParamKind, ParamRef
from celadon.kube.resources import Catalog, Resource, guess_resource
from celadon.kube.selectors import LabelSelector, SelectorError, label_selector
from celadon.records import dataclass

_TYPE_MEMBERS: Final = ("apiVersion", "kind")


class ParamError(Exception):
    """The binding's params cannot be had: a configuration error."""


@dataclass(frozen=True, slots=True)
class ParamSource:
    """A resolved `paramKind`. One that is not `listed` never has any params."""

    kind: ParamKind
    resource: kube.GroupVersionResource
    namespaced: bool
    custom: bool = False
    listed: bool = True


def resolve(kind: ParamKind, catalog: Catalog) -> ParamSource | None:
    """Return where params come from; None when the `apiVersion` does not parse: such a policy is
    inert. Raises ParamError when there is no such kind."""
    try:
        group, version = kube.parse_api_version(kind.api_version)
    except kube.ApiVersionError:
        return None
    gvk = kube.GroupVersionKind(group, version, kind.kind)
    resource = catalog.by_gvk(gvk)
    if resource is not None and resource.served:
        return _source(kind, resource)
    return _mapped(kind, gvk, catalog)


def _source(kind: ParamKind, resource: Resource) -> ParamSource:
    is_listed = "list" in resource.verbs
    return ParamSource(kind, resource.gvr, resource.namespaced, resource.custom, is_listed)


def _mapped(kind: ParamKind, gvk: kube.GroupVersionKind, catalog: Catalog) -> ParamSource:
    """Return what client-go's `NewDiscoveryRESTMapper` has besides the kinds themselves: each in
    lower case, too, and its list, whose resource is guessed and not there. ParamError."""
    version = kube.GroupVersion(gvk.group, gvk.version)
    item = gvk.kind.removesuffix("List")
    is_list = gvk.kind == "List"
    for resource in catalog:
        if not resource.served or resource.gvk.group_version != version:
            continue
        if resource.gvk.kind.lower() == gvk.kind:
            return _source(kind, resource)
        if is_list or (resource.gvk.kind == item and item != gvk.kind):
            guess = guess_resource(gvk)
            return ParamSource(kind, guess, resource.namespaced and not is_list, listed=False)
    raise ParamError(f"failed to find resource referenced by paramKind: '{gvk}'")


class ParamFinder:
    """Finds what the `paramRef` of a binding names, one request after the other. What a selector
    takes of a list is remembered for as long as the world gives the same list."""

    __slots__ = ("_ref", "_selected", "_selector", "_source")

    def __init__(self, source: ParamSource | None, ref: ParamRef | None) -> None:
        self._source = source
        self._ref = ref
        self._selector: LabelSelector | None = None
        self._selected: dict[str, tuple[Sequence[kube.JsonObject], Sequence[kube.JsonObject]]] = {}

    @property
    def looks_up(self) -> bool:
        """Return whether anything is looked up: no for policies that are evaluated without
        params."""
        return self._source is not None and self._ref is not None

    def collect(self, namespace: str, world: World) -> Sequence[kube.JsonObject | None]:
        """Return the params for a request in `namespace`; a single None where the policy is
        evaluated without. Empty when none was found and that is allowed. May raise ParamError."""
        source, ref = self._source, self._ref
        if source is None or ref is None:
            return (None,)
        where = looked_in(source, ref, namespace)
        lookup = self._lookup(source, ref, where, world)
        if not lookup and ref.parameter_not_found_action == DENY:
            raise ParamError(
                "no params found for policy binding with `Deny` parameterNotFoundAction"
            )
        return lookup

    def _lookup(
        self, source: ParamSource, ref: ParamRef, where: str, world: World
    ) -> Sequence[kube.JsonObject]:
        if ref.name:
            if ref.selector is not None:
                raise ParamError("paramRef.name and paramRef.selector are mutually exclusive")
            obj = world.get(source.resource, where, ref.name)
            return () if obj is None else (obj,)
        if ref.selector is None:
            raise ParamError("one of name or selector must be provided")
        if self._selector is None:
            self._selector = _compiled(ref.selector)
        return self._select(self._selector, where, world.list(source.resource, where))

    def _select(
        self, selector: LabelSelector, where: str, listed: Sequence[kube.JsonObject]
    ) -> Sequence[kube.JsonObject]:
        selected = self._selected.get(where)
        if selected is not None and selected[0] is listed:
            return selected[1]
        result = tuple(obj for obj in listed if selector.matches(kube.metadata.labels(obj)))
        if len(self._selected) >= policy_limits.PARAM_SELECTION_ENTRIES:
            self._selected.clear()
        self._selected[where] = (listed, result)
        return result


def looked_in(source: ParamSource, ref: ParamRef, namespace: str) -> str:
    """Return the namespace where a request in `namespace` finds its params, empty for params that
    are in none. ParamError."""
    if source.namespaced:
        params_namespace = ref.namespace or namespace
        if not params_namespace:
            raise ParamError(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                "resources"
            )
    else:
        params_namespace = ""
    if not source.listed:
        shown = f"&ParamKind{{APIVersion:{source.kind.api_version},Kind:{source.kind.kind},}}"
        raise ParamError(f"paramKind kind `{shown}` not yet synced to use for admission")
    if not source.namespaced and ref.namespace:
        raise ParamError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    return params_namespace


def _compiled(selector: kube.JsonObject) -> LabelSelector:
    try:
        return label_selector(selector)
    except SelectorError as error:
        raise ParamError(str(error)) from error


def typed(param: kube.JsonObject | None, source: ParamSource | None) -> kube.JsonObject | None:
    """Return a param as validating policies see it: stored objects may lack their type, expressions
    see it all the same. A built-in object has the kind as the policy writes it."""
    if param is None or source is None:
        return param
    if "apiVersion" not in param or "kind" not in param:
        return {"apiVersion": source.kind.api_version, "kind": source.kind.kind, **param}
    if source.custom or source.kind.kind != str(param["kind"]).lower():
        return param
    return {**param, "kind": source.kind.kind}


def untyped(param: kube.JsonObject | None, source: ParamSource | None) -> kube.JsonObject | None:
    """Return the param as a mutating policy sees it: a built-in object does not say its type."""
    if param is None or source is None or source.custom:
        return param
    return {key: value for key, value in param.items() if key not in _TYPE_MEMBERS}


def param_name(obj: kube.JsonObject | None) -> str:
    """Return how a decision names its param."""
    if obj is None:
        return ""
    namespace, name = kube.metadata.namespace(obj), kube.metadata.name(obj)
    return f"{namespace}/{name}" if namespace else name
