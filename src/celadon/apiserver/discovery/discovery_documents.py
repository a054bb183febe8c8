"""Requests for discovery, answered: `/api`, `/apis` and what is below them.

Which of two forms `/api` and `/apis` have is decided by the Accept header: the aggregated document
for those who know it, else a list of groups. As k8s.io/apiserver
`pkg/endpoints/discovery/aggregated`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

from celadon.apiserver import negotiation
from celadon.apiserver.bootstrap_objects import APIREGISTRATION, local_priorities
from celadon.apiserver.discovery.health_and_version import HealthCheck
from celadon.apiserver.http_messages import JSON, HttpAnswer, HttpRequest
from celadon.kube import GroupVersion, GroupVersionKind, StatusError, status
from celadon.kube.go import json_text
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import is_since
from celadon.kube.resources import Catalog, Resource, Subresource, api_groups
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Published apis ----------------------------------------------------------
#
# The groups, versions and resources that a server offers, in the order in which it lists them.
#
# The order matters: of two kinds with one short name, clients take the first. Built-in groups
# have theirs from the catalogue; those of custom resources come after them, by name. Versions
# of a group are listed with the preferred one first.

_VERSION: Final = late_pattern(r"v([0-9]{1,18})(?:(alpha|beta)([0-9]{1,18}))?")
_STAGES: Final = {"": 2, "beta": 1, "alpha": 0}


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """A version of a group, with its resources by name."""

    group_version: GroupVersion
    resources: tuple[Resource, ...]

    @property
    def path(self) -> str:
        """Return the path of the group version: `api/v1`, `apis/apps/v1`."""
        return f"apis/{self.group_version}" if self.group_version.group else "api/v1"

    @property
    def custom(self) -> bool:
        """Return whether only CustomResourceDefinitions define its kinds."""
        return all(resource.custom for resource in self.resources)


@dataclass(frozen=True, slots=True)
class PublishedGroup:
    """A group with its versions, the preferred one first. `custom`: only CRDs define its kinds."""

    name: str
    versions: tuple[PublishedVersion, ...]
    custom: bool

    def version(self, name: str) -> PublishedVersion | None:
        """Return the version of that name, if it is offered."""
        return next(
            (version for version in self.versions if version.group_version.version == name), None
        )


@dataclass(frozen=True, slots=True)
class RemoteVersion:
    """A version of a group that another server serves. `document` is its part of the aggregated
    document, None as long as it is not known, `openapi` where its document in OpenAPI v3 is, if
    there is one, `swagger` what its document in OpenAPI v2 says of the version."""

    group_version: GroupVersion
    group_priority: int
    version_priority: int
    document: JsonObject | None
    openapi: str = ""
    swagger: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group with its versions of this and of other servers, the preferred one first."""

    name: str
    versions: tuple[PublishedVersion | RemoteVersion, ...]


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True, eq=False)
class PublishedApis:
    """Holds what a catalogue and other servers offer. There is one object for each state of them;
    what is made of it is kept with the object."""

    catalog: Catalog
    remote: Sequence[RemoteVersion] = ()

    @cached_property
    def groups(self) -> tuple[PublishedGroup, ...]:
        """Return the named groups, in the order of discovery."""
        by_group: dict[str, list[Resource]] = {}
        for resource in self.catalog:
            if resource.served and resource.gvr.group:
                by_group.setdefault(resource.gvr.group, []).append(resource)
        order = {group.name: group.versions for group in api_groups()}
        built_in = [name for name in order if name in by_group]
        custom = sorted(by_group.keys() - order.keys())
        return (
            *(_group(name, order[name], by_group[name]) for name in built_in),
            *(_group(name, (), by_group[name]) for name in custom),
        )

    @cached_property
    def core(self) -> PublishedGroup:
        """Return the group without a name."""
        return _group(
            "", ("v1",), [resource for resource in self.catalog if not resource.gvr.group]
        )

    @cached_property
    def versions(self) -> tuple[PublishedVersion, ...]:
        """Return the versions of all groups, the core first."""
        return tuple(version for group in (self.core, *self.groups) for version in group.versions)

    @cached_property
    def listed(self) -> tuple[ListedGroup, ...]:
        """Return the named groups of all servers, in the order of discovery."""
        if not self.remote:
            return tuple(ListedGroup(group.name, group.versions) for group in self.groups)
        result: dict[str, dict[str, _Ranked]] = {}
        for group in self.groups:
            for item in group.versions:
                ranks = local_priorities(*item.group_version)
                result.setdefault(group.name, {})[item.group_version.version] = (*ranks, item)
        for other in self.remote:
            name, version = other.group_version
            ranks = other.group_priority, other.version_priority
            result.setdefault(name, {})[version] = (*ranks, other)
        result.pop("", None)
        order = {name: max(value[0] for value in each.values()) for name, each in result.items()}
        return tuple(
            ListedGroup(name, _by_priority(result[name]))
            for name in sorted(result, key=lambda name: (-order[name], name))
        )

    def group(self, name: str) -> PublishedGroup | None:
        """Return the group of that name, if this server offers it."""
        return next((group for group in (self.core, *self.groups) if group.name == name), None)


_Ranked = tuple[int, int, PublishedVersion | RemoteVersion]
"""The priorities of a group and of a version, and the version."""


def _by_priority(versions: Mapping[str, _Ranked]) -> tuple[PublishedVersion | RemoteVersion, ...]:
    names = sorted(versions, key=lambda name: (-versions[name][1], version_rank(name)))
    return tuple(versions[name][2] for name in names)


def _group(name: str, order: tuple[str, ...], resources: list[Resource]) -> PublishedGroup:
    """Versions of custom resources that `order` does not know come after the others."""
    offered: dict[str, list[Resource]] = {}
    for resource in sorted(resources, key=lambda resource: resource.gvr.resource):
        offered.setdefault(resource.gvr.version, []).append(resource)
    preferred = [version for version in order if version in offered]
    versions = [*preferred, *sorted(offered.keys() - set(preferred), key=version_rank)]
    custom = all(resource.custom for resource in resources)
    published = (
        PublishedVersion(GroupVersion(name, version), tuple(offered[version]))
        for version in versions
    )
    return PublishedGroup(name, tuple(published), custom)


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Sorts `v2, v1, v1beta1, v1alpha1, other`: as k8s.io/apimachinery `pkg/version`."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return 1, 0, 0, version
    stage = _STAGES[match[2] or ""]
    return 0, -stage, -int(match[1]) * 10**6 - int(match[3] or 0), ""


def storage_version_hash(resource: Resource) -> str:
    """Return the hash by which clients notice when objects begin to be stored in another version;
    empty for what is not stored."""
    if not resource.custom:
        return resource.storage_version_hash
    kind = f"{resource.gvr.group}/{resource.storage_version}/{resource.gvk.kind}"
    return base64.b64encode(hashlib.sha256(kind.encode()).digest()[:8]).decode()


# --- Discovery documents -----------------------------------------------------
#
# The documents of discovery: lists of groups and resources, and the aggregated one.
#
# As k8s.io/apiserver `pkg/endpoints/discovery`, with members in the order in which Go writes
# them.

AGGREGATED_API: Final = "apidiscovery.k8s.io/v2"


def api_versions(server_address: str) -> JsonDict:
    """Return the document at `/api`. It has no `apiVersion`."""
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def api_group_list(apis: PublishedApis) -> JsonDict:
    """Return the document at `/apis`."""
    groups = [_group_entry(group) for group in apis.listed]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(group: ListedGroup) -> JsonDict:
    """Return the document at `/apis/GROUP`."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_entry(group)}


def _group_entry(group: ListedGroup) -> JsonDict:
    versions = [
        {"groupVersion": str(version.group_version), "version": version.group_version.version}
        for version in group.versions
    ]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def api_resource_list(version: PublishedVersion) -> JsonDict:
    """`/api/v1`, `/apis/GROUP/VERSION`. That of the core group has no `apiVersion`."""
    named = {"apiVersion": "v1"} if version.group_version.group else {}
    entries = [entry for resource in version.resources for entry in _resource_entries(resource)]
    return {
        "kind": "APIResourceList",
        **named,
        "groupVersion": str(version.group_version),
        "resources": entries,
    }


def _resource_entries(resource: Resource) -> Iterable[JsonDict]:
    """Yield the entries of a resource and of what is below it."""
    group_version = resource.gvr.group_version
    stored = storage_version_hash(resource)
    yield {
        "name": resource.gvr.resource,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.gvk.kind,
        "verbs": list(resource.verbs),
        **({"shortNames": list(resource.short_names)} if resource.short_names else {}),
        **({"categories": list(resource.categories)} if resource.categories else {}),
        **({"storageVersionHash": stored} if stored else {}),
    }
    for subresource in resource.subresources:
        yield {
            "name": f"{resource.gvr.resource}/{subresource.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **_foreign(subresource.gvk, group_version),
            "kind": subresource.gvk.kind,
            "verbs": list(subresource.verbs),
        }


def _foreign(kind: GroupVersionKind, group_version: GroupVersion) -> JsonDict:
    """Group and version of a kind that has others than the list it is in."""
    if kind.group_version == group_version:
        return {}
    return {"group": kind.group, "version": kind.version}


def aggregated(groups: Iterable[PublishedGroup | ListedGroup]) -> JsonDict:
    """Return all groups with all their resources in one document."""
    group_items = [
        aggregated_group
        for group in groups
        if (aggregated_group := _aggregated_group(group))["versions"]
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": AGGREGATED_API,
        "metadata": {},
        "items": group_items,
    }


def _aggregated_group(group: PublishedGroup | ListedGroup) -> JsonDict:
    versions = (_aggregated_version(version) for version in group.versions)
    name = {"name": group.name} if group.name else {}
    no_time = {} if is_since("1.34") else {"creationTimestamp": None}
    return {
        "metadata": {**name, **no_time},
        "versions": [version for version in versions if version is not None],
    }


def _aggregated_version(published_version: PublishedVersion | RemoteVersion) -> JsonObject | None:
    if isinstance(published_version, RemoteVersion):
        return published_version.document
    return {
        "version": published_version.group_version.version,
        "resources": [_aggregated_resource(resource) for resource in published_version.resources],
        "freshness": "Current",
    }


def _aggregated_resource(resource: Resource) -> JsonDict:
    below = [
        _aggregated_subresource(subresource, resource) for subresource in resource.subresources
    ]
    return {
        "resource": resource.gvr.resource,
        "responseKind": _response_kind(resource.gvk, resource),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
        **({"shortNames": list(resource.short_names)} if resource.short_names else {}),
        **({"categories": list(resource.categories)} if resource.categories else {}),
        **({"subresources": below} if below else {}),
    }


def _aggregated_subresource(subresource: Subresource, parent: Resource) -> JsonDict:
    return {
        "subresource": subresource.name,
        "responseKind": _response_kind(subresource.gvk, parent),
        "verbs": list(subresource.verbs),
    }


def _response_kind(kind: GroupVersionKind, resource: Resource) -> JsonDict:
    """Return the kind as aggregated discovery names it: of built-in resources, group and version
    are only said where they differ."""
    same = kind.group_version == resource.gvr.group_version and not resource.custom
    group, version = ("", "") if same else kind.group_version
    return {"group": group, "version": version, "kind": kind.kind}


DISCOVERY: Final = "apidiscovery.k8s.io"
_BETA: Final = "v2beta1"
_AGGREGATED: Final = {"as": "APIGroupDiscoveryList", "g": DISCOVERY}


def discovery_answer(
    request: HttpRequest, apis: PublishedApis, server_address: str
) -> HttpAnswer | None:
    """Answer a request for discovery; return None for paths that discovery does not answer.
    `server_address` is host and port. Raises StatusError."""
    if request.path.startswith("/apis//"):
        return negotiation.NOT_FOUND
    parts = request.path.strip("/").split("/")
    match parts:
        case ["api" | "apis"]:
            return _root(request, apis, parts[0], server_address)
        case ["api", version]:
            return _version(request, apis, "", version)
        case ["apis", name]:
            group = next((group for group in apis.listed if group.name == name), None)
            return negotiation.NOT_FOUND if group is None else _group_answer(request, apis, group)
        case ["apis", name, version]:
            return _version(request, apis, name, version)
        case _:
            return None


def _root(request: HttpRequest, apis: PublishedApis, root: str, address: str) -> HttpAnswer:
    """Answer at the root: `/api` stands behind a router; `/apis/`, with a slash, knows no
    aggregated document."""
    if root == "api":
        _require_get(request)
    try:
        accepted, version = _accepted(request, allow_aggregated=request.path != "/apis/")
    except StatusError as error:
        return negotiation.status_answer(error, negotiation.RAW)
    if version:
        return _aggregated_answer(request, apis, root, accepted, version)
    document = api_versions(address) if root == "api" else api_group_list(apis)
    return _written(document, accepted)


def _group_answer(request: HttpRequest, apis: PublishedApis, group: ListedGroup) -> HttpAnswer:
    """Answer for a group. The aggregator does so whatever the method, but for its own group, and
    for no path that has more than one slash behind the name: there a router does. Raises
    StatusError."""
    published_group = apis.group(group.name)
    is_routed = group.name == APIREGISTRATION or request.path.endswith("//")
    if is_routed and published_group is not None and not published_group.custom:
        _require_get(request)
    return _document(request, api_group(group))


def _require_get(request: HttpRequest) -> None:
    """Refuse other methods, and media types that discovery does not have. Raises StatusError."""
    if request.method != "GET":
        raise status.method_not_allowed()
    negotiation.require_route(request, negotiation.BUILT_IN_TYPES)


def _version(request: HttpRequest, apis: PublishedApis, name: str, version: str) -> HttpAnswer:
    """Answer for one group version. That there is none is said in one way of built-in groups and in
    another of custom ones: only the former stand behind a router. Raises StatusError."""
    group = apis.group(name)
    if group is None:
        return negotiation.NOT_FOUND
    published_version = group.version(version)
    if published_version is None and group.custom:
        return negotiation.NOT_FOUND
    if published_version is None:
        raise status.route_not_found()
    if not group.custom:
        _require_get(request)
    return _document(request, api_resource_list(published_version))


def _document(request: HttpRequest, document: JsonObject) -> HttpAnswer:
    try:
        accepted, _ = _accepted(request, allow_aggregated=False)
    except StatusError as error:
        return negotiation.status_answer(error, negotiation.RAW)
    return _written(document, accepted)


def _written(document: JsonObject, accepted: negotiation.Accepted) -> HttpAnswer:
    if accepted.media_type == negotiation.PROTOBUF:
        document = {"apiVersion": "", **document}
    return negotiation.object_answer(200, document, accepted)


def _accepted(request: HttpRequest, *, allow_aggregated: bool) -> tuple[negotiation.Accepted, str]:
    """Return with it the version of the aggregated document, where that is wanted. Raises
    StatusError 406."""
    header = negotiation.accept_header(request)
    for clause in negotiation.media_clauses(header):
        for media_type in negotiation.BUILT_IN_TYPES:
            if not clause.fits(media_type) or clause.version:
                continue
            pretty = clause.is_pretty or negotiation.is_pretty(request)
            accepted = negotiation.Accepted(media_type, pretty=pretty)
            if clause.is_plain_in(media_type):
                return accepted, ""
            if allow_aggregated and _wants_aggregated(clause):
                return accepted, clause.parameters["v"]
    raise status.not_acceptable(negotiation.BUILT_IN_TYPES)


def _wants_aggregated(clause: negotiation.MediaClause) -> bool:
    """Tell whether the client asks for the aggregated document; `v2beta1` of it is served before
    1.33."""
    version = clause.parameters.get("v")
    is_served = version == "v2" or (version == _BETA and not is_since("1.33"))
    return is_served and _AGGREGATED.items() <= clause.parameters.items()


def _aggregated_answer(
    request: HttpRequest,
    apis: PublishedApis,
    root: str,
    accepted: negotiation.Accepted,
    version: str,
) -> HttpAnswer:
    body, etag = _aggregated_body(apis, root, accepted, version)
    headers = (("ETag", etag), ("Vary", "Accept"), ("Cache-Control", "public"))
    if request.header("if-none-match") == etag:
        return HttpAnswer(304, headers=headers)
    form = f"g={DISCOVERY};v={version};as=APIGroupDiscoveryList"
    return HttpAnswer(200, f"{accepted.media_type};{form}", body, headers)


@lru_cache(maxsize=8)
def _aggregated_body(
    apis: PublishedApis, root: str, accepted: negotiation.Accepted, version: str
) -> tuple[bytes, str]:
    """Return the document, and its tag: that of what all forms have."""
    groups = (apis.core,) if root == "api" else apis.listed
    document = {**aggregated(groups), "apiVersion": f"{DISCOVERY}/{version}"}
    common = {key: value for key, value in document.items() if key not in TYPE_FIELDS}
    tag = hashlib.sha512(json_text(common).encode()).hexdigest().upper()
    return negotiation.written(document, accepted), f'"{tag}"'


# --- Root paths --------------------------------------------------------------
#
# `/`: the paths that a server knows, sorted.

ALWAYS: Final = (
    "/api",
    "/apis",
    "/apis/",
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/version",
)


def root_answer(paths: Sequence[str]) -> HttpAnswer:
    """Return the list of paths as an answer."""
    return HttpAnswer(200, JSON, json.dumps({"paths": list(paths)}, indent=2).encode())


def root_paths(
    apis: PublishedApis, health: Mapping[str, Sequence[HealthCheck]], more_paths: Iterable[str]
) -> list[str]:
    """Return all paths, sorted. `health` has the checks below each of `healthz`, `livez`
    and `readyz`; `more_paths` are those that only some servers have."""
    return sorted({*ALWAYS, *more_paths, *_api_paths(apis), *_health_paths(health)})


def _api_paths(apis: PublishedApis) -> Iterable[str]:
    yield from (f"/apis/{group.name}" for group in apis.listed)
    yield from (f"/{version.path}" for version in apis.versions)
    yield from (
        f"/apis/{version.group_version}" for version in apis.remote if version.group_version.group
    )


def _health_paths(health: Mapping[str, Sequence[HealthCheck]]) -> Iterable[str]:
    for root, checks in health.items():
        yield f"/{root}"
        yield from (f"/{root}/{check.name}" for check in checks if not check.silent)
