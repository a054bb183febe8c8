"""Resolves a request to the resource that it means, and checks that the resource offers what is
requested.

As the routes that k8s.io/apiserver `pkg/endpoints/installer.go` registers, and for custom resources
`pkg/apiserver/customresource_handler.go` of k8s.io/apiextensions-apiserver: what a path cannot be
is said in different ways by the two.
"""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType
from typing import Final

from celadon import kube
from celadon.apiserver.negotiation import BUILT_IN_TYPES, CUSTOM_TYPES
from celadon.apiserver.request_info import COLLECTION_VERBS, SPECIAL_VERBS, RequestInfo
from celadon.kube.protobuf import has_message
from celadon.kube.releases import is_since
from celadon.kube.resources import Catalog, Resource, Subresource
from celadon.records import dataclass, field, replace

NAMED_VERBS: Final = frozenset({"get", "update", "patch", "delete"})
"""Verbs that are about one object."""

ACROSS_NAMESPACES: Final = frozenset({"list", "watch"})
"""Verbs that a namespaced resource has without a namespace."""

PROXY: Final = "proxy"
"""The subresource that passes requests on, with any method and any path."""

_STATUS_WITHOUT_TABLE: Final = frozenset(
    {
        kube.GroupResource("apiextensions.k8s.io", "customresourcedefinitions"),
        kube.GroupResource("apiregistration.k8s.io", "apiservices"),
        kube.GroupResource("resource.k8s.io", "devicetaintrules"),
        kube.GroupResource("resource.k8s.io", "resourceclaims"),
        kube.GroupResource("resource.k8s.io", "resourcepoolstatusrequests"),
        kube.GroupResource("scheduling.k8s.io", "podgroups"),
    }
)
"""Resources whose status has no `ConvertToTable` (k8s.io/kubernetes `pkg/registry`)."""

_EMPTY_NAMESPACE: Final = "/namespaces//"
"""In a path: it is one for what is in namespaces, and names none."""

_OF_ONE: Final = MappingProxyType({"list": "get", "watch": "get", "deletecollection": "delete"})
"""The verbs of methods where they are about one object, by those about collections."""

_ALL_OF_CUSTOM: Final = COLLECTION_VERBS | NAMED_VERBS | {"create"}

TERMINATING: Final = "Terminating"
"""The condition of a definition that is being deleted."""


class NoSuchPath(Exception):
    """Says that no API group of the server has this path. It is not answered with a Status."""


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long. What follows from the fields is worked out at once, as in
# `Target`.
@dataclass(slots=True)
class Endpoint:
    """A resource, or one of its subresources; `name` is empty for the collection. `kind` is what
    its objects are, `body_types` are the media types in which they are sent, `answer_types` those
    among which a client may choose. A few kinds of alpha and beta versions have no message in our
    table (`celadon.kube.protobuf`); who knows protobuf takes JSON, too."""

    resource: Resource
    subresource: Subresource | None
    namespace: str
    name: str
    verb: str
    kind: kube.GroupVersionKind = field(init=False, repr=False, compare=False)
    body_types: tuple[str, ...] = field(init=False, repr=False, compare=False)
    answer_types: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.kind = self.resource.gvk if self.subresource is None else self.subresource.gvk
        if self.resource.custom:
            self.body_types, self.answer_types = CUSTOM_TYPES, BUILT_IN_TYPES
        else:
            built_in_types = BUILT_IN_TYPES if has_message(self.kind) else CUSTOM_TYPES
            self.body_types = self.answer_types = built_in_types

    @property
    def connects(self) -> bool:
        """Return whether it is a way to something behind the server."""
        return self.subresource is not None and self.subresource.connect

    @property
    def knows_head(self) -> bool:
        """Return whether HEAD is answered: custom resources have no routes, and proxies pass it
        on."""
        below = self.subresource
        return self.resource.custom or (below is not None and below.name == PROXY)

    @property
    def is_untyped(self) -> bool:
        """Return whether its objects have no Go type: custom resources, but not their scales."""
        below = self.subresource
        return self.resource.custom and (below is None or below.name != "scale")

    @property
    def is_collection(self) -> bool:
        """Return whether the path is one for lists and watches; a selector may give it a name,
        too."""
        return self.verb in ACROSS_NAMESPACES

    @property
    def has_tables(self) -> bool:
        """Return whether objects of the endpoint can be shown as tables: not those of most
        subresources, nor of kinds that nobody can list."""
        if self.resource.custom:
            return True
        if self.subresource is None:
            return "list" in self.resource.verbs
        if self.subresource.name == "status":
            return self.resource.gvr.group_resource not in _STATUS_WITHOUT_TABLE
        return self.subresource.name == "scale"


def find_endpoint(info: RequestInfo, catalog: Catalog, groups: Collection[str]) -> Endpoint:
    """Return the endpoint of a request. `groups` are those of built-in resources. Raises NoSuchPath
    or StatusError."""
    if info.prefix == "apis" and not info.group:
        raise NoSuchPath(info.path)
    gvr = kube.GroupVersionResource(info.group, info.version, info.resource)
    resource = catalog.by_gvr(gvr)
    if resource is None or not resource.served or not _fits_scope(info, resource):
        if info.group not in groups:
            raise NoSuchPath(info.path)
        raise kube.status.route_not_found()
    return _custom(info, resource) if resource.custom else _built_in(info, resource)


def _custom(info: RequestInfo, resource: Resource) -> Endpoint:
    """There are no routes: what is behind the subresource in a path does not matter, nor does a
    name where none is needed."""
    subresource = resource.subresource(info.subresource) if info.subresource else None
    group_resource, verb = resource.gvr.group_resource, info.verb
    if resource.namespaced and not info.namespace and verb not in ACROSS_NAMESPACES:
        raise NoSuchPath(info.path)
    if info.subresource and subresource is None:
        raise kube.status.not_found(group_resource, info.name)
    if verb not in (_ALL_OF_CUSTOM if subresource is None else subresource.verbs):
        raise kube.status.verb_not_supported(group_resource, verb)
    if verb in NAMED_VERBS and not info.name:
        raise kube.status.bad_request("name must be provided")
    name = "" if verb == "create" else info.name
    return Endpoint(resource, subresource, _namespace(info, resource), name, verb)


def require_lasting(endpoint: Endpoint, definition: kube.JsonObject | None) -> None:
    """Nothing is created whose definition is on its way out; `definition` is that of a custom
    resource. Since 1.34 this is for admission to say. Raises StatusError 405."""
    if endpoint.verb == "create" and is_terminating(definition) and not is_since("1.34"):
        refused = kube.status.verb_not_supported(
            endpoint.resource.gvr.group_resource, endpoint.verb
        )
        message = f"{endpoint.verb} not allowed while custom resource definition is terminating"
        raise kube.StatusError(replace(refused.status, message=message))


def is_terminating(definition: kube.JsonObject | None) -> bool:
    """Return whether a definition is on its way out."""
    conditions = ((definition or {}).get("status") or {}).get("conditions") or ()
    return any(
        condition["type"] == TERMINATING and condition["status"] == "True"
        for condition in conditions
    )


def _built_in(info: RequestInfo, resource: Resource) -> Endpoint:
    if info.verb == PROXY or (info.deprecated_watch and info.subresource):
        raise kube.status.route_not_found()
    if info.rest and not _may_have_rest(resource, info):
        raise kube.status.route_not_found()
    if _is_broken(info) or _has_no_route(info, resource):
        raise kube.status.route_not_found()
    is_named = _is_named(info)
    subresource = resource.subresource(info.subresource) if info.subresource else None
    if info.subresource and subresource is None:
        raise kube.status.route_not_found()
    endpoint = Endpoint(resource, subresource, _namespace(info, resource), info.name, info.verb)
    if subresource is not None and not info.name:
        raise _without_name(subresource, info)
    _check_verb(endpoint, info)
    # Who looks for the object, or reads a body before, misses the namespace later.
    is_early = info.verb not in NAMED_VERBS and (subresource is None or info.verb != "create")
    if is_early and is_named and resource.namespaced and not info.namespace:
        raise kube.status.namespace_required()
    return endpoint


def _without_name(subresource: Subresource, info: RequestInfo) -> kube.StatusError:
    """Return the error about a subresource of nothing. A method that has a name elsewhere counts as
    one of a collection here."""
    verb = _OF_ONE.get(info.verb, info.verb)
    if verb and verb not in subresource.verbs:
        return kube.status.method_not_allowed()
    return kube.status.bad_request("name must be provided")


def _is_broken(info: RequestInfo) -> bool:
    """Return whether there is nothing between two slashes where a word must stand. A namespace may
    be empty: then it is none, and all of them are meant. So may the name before a subresource,
    which is refused later."""
    path = info.path.strip("/")
    if info.subresource and not info.name:
        path = path.removesuffix(f"//{info.subresource}")
    if info.rest or "//" not in path:
        return False
    before, _, behind = path.partition(_EMPTY_NAMESPACE)
    return "//" in before or "//" in behind or not behind


def _is_named(info: RequestInfo) -> bool:
    """Return whether the path has a name in it; one may also come from a selector of a
    collection."""
    return not info.path.strip("/").endswith(f"/{info.resource}")


def _has_no_route(info: RequestInfo, resource: Resource) -> bool:
    """Tell whether a path has no route. Of what cannot be watched there is none below `/watch`, of
    what can only be created none with a name; without a namespace, what is in namespaces can only
    be listed."""
    if info.deprecated_watch and "watch" not in resource.verbs:
        return True
    if _is_named(info) and not info.subresource and NAMED_VERBS.isdisjoint(resource.verbs):
        return True
    if not resource.namespaced or info.namespace or _names_no_namespace(info):
        return False
    return _is_named(info) or "list" not in resource.verbs


def _names_no_namespace(info: RequestInfo) -> bool:
    """Return whether the place of the namespace is in the path, and empty."""
    before, separator, _ = info.path.strip("/").partition(_EMPTY_NAMESPACE)
    if not separator:
        return False
    root = [part for part in (info.prefix, info.group, info.version) if part]
    parts = before.split("/")
    return parts == root or (parts[:-1] == root and parts[-1] in SPECIAL_VERBS)


def _fits_scope(info: RequestInfo, resource: Resource) -> bool:
    """Return whether a resource is where the path says. A cluster-scoped one is not found inside a
    namespace, even one without a name."""
    if resource.namespaced or resource.gvr.resource == "namespaces":
        return True
    return not info.namespace and (resource.custom or not _names_no_namespace(info))


def _namespace(info: RequestInfo, resource: Resource) -> str:
    return info.namespace if resource.namespaced else ""


def _may_have_rest(resource: Resource, info: RequestInfo) -> bool:
    return info.subresource == PROXY and resource.subresource(PROXY) is not None


def _check_verb(endpoint: Endpoint, info: RequestInfo) -> None:
    resource, subresource, verb = endpoint.resource, endpoint.subresource, endpoint.verb
    offered = resource.verbs if subresource is None else subresource.verbs
    if subresource is not None and subresource.name == PROXY and not verb:
        return  # OPTIONS: what is behind it may know more methods
    is_inside = bool(endpoint.namespace) or _names_no_namespace(info)
    selects_all = resource.namespaced and not is_inside
    misplaced = selects_all and not (verb in ACROSS_NAMESPACES or info.deprecated_watch)
    named = bool(info.name) and verb not in COLLECTION_VERBS
    if verb in NAMED_VERBS and not info.name:
        raise kube.status.method_not_allowed()
    if verb in offered and not misplaced and (verb != "create" or not named or subresource):
        return
    if verb == "watch" and "list" in offered:
        return  # the path is there; that nothing can be watched is said later
    raise kube.status.method_not_allowed()
