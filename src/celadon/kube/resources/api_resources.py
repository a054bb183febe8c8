"""The table of resources a server knows: scope, verbs, kinds, subresources, equivalents, columns;
and until when it knows them.

`Catalog` is frozen: `known_resources()` gives the built-in ones, `with_crds` a larger one with what
CustomResourceDefinitions add. Two resources are equivalent when they store the same objects; this
is what `matchPolicy: Equivalent` goes by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, Protocol

from celadon.kube import metadata
from celadon.kube.json_types import Json, JsonObject
from celadon.kube.names import (
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    parse_api_version,
)
from celadon.kube.releases import DEFAULT, emulated_release, is_since, per_release
from celadon.kube.resources.feature_gates import is_gate_on
from celadon.kube.schemas import schema_packs
from celadon.kube.well_known_values import (
    ADMISSION_REGISTRATION,
    DYNAMIC_RESOURCES,
    FLOW_CONTROL_GROUP,
)
from celadon.records import dataclass

_GATED: Final[Mapping[GroupResource, str]] = {
    GroupResource("certificates.k8s.io", "clustertrustbundles"): "ClusterTrustBundle",
    GroupResource("certificates.k8s.io", "podcertificaterequests"): "PodCertificateRequest",
    GroupResource("scheduling.k8s.io", "podgroups"): "GenericWorkload",
    GroupResource("scheduling.k8s.io", "workloads"): "GenericWorkload",
    GroupResource("storagemigration.k8s.io", "storageversionmigrations"): "StorageVersionMigrator",
}
"""The feature gates, off by default, without which resources are not there in any version."""

CUSTOM_VERBS: Final = (
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
)
"""The verbs of every custom resource, in the order of discovery."""

SCALE: Final = GroupVersionKind("autoscaling", "v1", "Scale")

ESTABLISHED: Final = "Established"
"""The condition of a CustomResourceDefinition whose resources are served."""


@dataclass(frozen=True, slots=True)
class Subresource:
    """Describes a subresource. `gvk` is the kind that admission sees: for `connect` ones that of
    the options; it is only there while the `gate` is on."""

    name: str
    gvk: GroupVersionKind
    verbs: tuple[str, ...]
    connect: bool = False
    gate: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """Describes one resource in one version.

    `by_default` says whether a server offers it without being told to. `served` is false only for
    the unserved versions of a CRD, which still take part in equivalence. `list_kind`, `categories`
    and `storage_version_hash` are for discovery (`APIResource` of meta/v1) and lists; admission
    does not ask for them.
    """

    gvr: GroupVersionResource
    gvk: GroupVersionKind
    namespaced: bool
    verbs: tuple[str, ...]
    singular: str
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    by_default: bool = True
    served: bool = True
    custom: bool = False
    by_webhook: bool = False
    """Whether a conversion webhook makes one version of its objects of another."""
    storage_version: str = ""
    storage_version_hash: str = ""
    equivalents: tuple[GroupVersion, ...] = ()
    """Where the same objects are. It may name the resource's own version, so that the versions of
    a definition share one tuple: thousands of them would need gigabytes otherwise."""
    subresources: tuple[Subresource, ...] = ()
    field_labels: tuple[str, ...] = ()
    """The fields that a field selector may name."""

    @property
    def gate(self) -> str:
        """Return the feature gate without which it is not there in any version; empty for most."""
        return _GATED.get(self.gvr.group_resource, "")

    def subresource(self, name: str) -> Subresource | None:
        """Return the subresource of a name (`status`); None when there is none."""
        return next(
            (subresource for subresource in self.subresources if subresource.name == name), None
        )

    def kind_of(self, subresource: str) -> GroupVersionKind | None:
        """Return the kind that admission sees for the resource itself (`""`) or one below it."""
        if not subresource:
            return self.gvk
        served = self.subresource(subresource)
        return None if served is None else served.gvk


@dataclass(frozen=True, slots=True)
class ApiGroup:
    """Describes a group as discovery shows it: its versions in that order, and the `preferred`
    one."""

    name: str
    versions: tuple[str, ...]
    preferred: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """Resources in the order in which a server registers them."""

    resources: tuple[Resource, ...]
    _by_gvr: Mapping[GroupVersionResource, Resource] = field(init=False, repr=False, compare=False)
    _by_gvk: Mapping[GroupVersionKind, Resource] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_gvr = {resource.gvr: resource for resource in self.resources}
        by_gvk: dict[GroupVersionKind, Resource] = {}
        for resource in self.resources:
            by_gvk.setdefault(resource.gvk, resource)
        object.__setattr__(self, "_by_gvr", by_gvr)
        object.__setattr__(self, "_by_gvk", by_gvk)

    def __iter__(self) -> Iterator[Resource]:
        return iter(self.resources)

    def by_gvr(self, gvr: GroupVersionResource) -> Resource | None:
        """Return the resource; None when nobody serves it."""
        return self._by_gvr.get(gvr)

    def by_gvk(self, gvk: GroupVersionKind) -> Resource | None:
        """Return the resource whose objects are of this kind; not found by kinds of
        subresources."""
        return self._by_gvk.get(gvk)

    def kind_of(self, gvr: GroupVersionResource, subresource: str = "") -> GroupVersionKind | None:
        """Return the kind that admission sees there; None when there is no such endpoint."""
        resource = self._by_gvr.get(gvr)
        return None if resource is None else resource.kind_of(subresource)

    def equivalents(
        self, gvr: GroupVersionResource, subresource: str = ""
    ) -> tuple[tuple[GroupVersionResource, GroupVersionKind], ...]:
        """Return the other endpoints that show the same objects, with the kind of each."""
        resource = self._by_gvr.get(gvr)
        if resource is None:
            return ()
        result = []
        for group, version in resource.equivalents:
            if group == gvr.group and version == gvr.version:
                continue
            other = self._by_gvr.get(GroupVersionResource(group, version, gvr.resource))
            kind = None if other is None else other.kind_of(subresource)
            if other is not None and kind is not None:
                result.append((other.gvr, kind))
        return tuple(result)

    def with_crds(self, definitions: Iterable[JsonObject]) -> Catalog:
        """Return the catalog with the resources that these CustomResourceDefinition objects
        define."""
        return self.with_resources(
            [resource for crd in definitions for resource in custom_resources(crd)]
        )

    def with_resources(self, added: Sequence[Resource]) -> Catalog:
        """Return the catalog with these resources in place of those that have the same names."""
        replaced = {resource.gvr for resource in added}
        resources = (resource for resource in self.resources if resource.gvr not in replaced)
        return Catalog((*resources, *added))


def _names(entry: JsonObject, key: str) -> tuple[str, ...]:
    return tuple(entry.get(key) or ())


def _subresource(parent: GroupVersion, entry: JsonObject) -> Subresource:
    named = entry.get("groupVersion")
    group, version = parse_api_version(named) if named else parent
    kind = GroupVersionKind(group, version, entry["kind"])
    return Subresource(
        entry["name"],
        kind,
        _names(entry, "verbs"),
        connect=entry.get("connect", False),
        gate=entry.get("gate", ""),
    )


def _resource(entry: JsonObject) -> Resource:
    group_version = GroupVersion(entry["group"], entry["version"])
    return Resource(
        gvr=GroupVersionResource(*group_version, entry["resource"]),
        gvk=GroupVersionKind(*group_version, entry["kind"]),
        namespaced=entry["namespaced"],
        verbs=_names(entry, "verbs"),
        singular=entry["singular"],
        list_kind=f"{entry['kind']}List",
        short_names=_names(entry, "shortNames"),
        categories=_names(entry, "categories"),
        by_default=entry["default"],
        storage_version=entry.get("storageVersion", ""),
        storage_version_hash=entry.get("storageVersionHash", ""),
        equivalents=tuple(map(parse_api_version, entry.get("equivalent", ()))),
        subresources=tuple(
            _subresource(group_version, subresource)
            for subresource in entry.get("subresources", ())
        ),
        field_labels=_names(entry, "fieldSelectors"),
    )


@per_release()
def known_resources(*, all_versions: bool = False, behind_gates: bool = True) -> Catalog:
    """Return the built-in resources: those served by default, or those of every version; with or
    without those `behind_gates` that are off by default."""
    every = map(_resource, schema_packs.load("resources")["resources"])
    resources = (resource for resource in every if all_versions or resource.by_default)
    release = emulated_release()
    return Catalog(
        tuple(
            resource
            for resource in resources
            if behind_gates or not resource.gate or is_gate_on(resource.gate, release)
        )
    )


@per_release()
def api_groups() -> tuple[ApiGroup, ...]:
    """Return the named groups in the order of discovery; the core group is not among them."""
    return tuple(
        ApiGroup(group["name"], tuple(group["versions"]), group["preferred"])
        for group in schema_packs.load("resources")["groups"]
    )


def _custom_subresources(gvk: GroupVersionKind, version: JsonObject) -> tuple[Subresource, ...]:
    offered = version.get("subresources") or {}
    verbs = ("get", "patch", "update")
    result = []
    if offered.get("status") is not None:
        result.append(Subresource("status", gvk, verbs))
    if offered.get("scale") is not None:
        result.append(Subresource("scale", SCALE, verbs))
    return tuple(result)


def custom_resources(definition: JsonObject) -> tuple[Resource, ...]:
    """Return one resource per version of a CustomResourceDefinition, in the order of
    `spec.versions`."""
    spec = definition["spec"]
    names, group = spec["names"], spec["group"]
    namespaced = spec.get("scope") == "Namespaced"
    versions = spec.get("versions") or ()
    storage = next((version["name"] for version in versions if version.get("storage")), "")
    base = Resource(
        gvr=GroupVersionResource(group, "", names["plural"]),
        gvk=GroupVersionKind(group, "", names["kind"]),
        namespaced=namespaced,
        verbs=CUSTOM_VERBS,
        singular=names.get("singular") or names["kind"].lower(),
        list_kind=names.get("listKind") or f"{names['kind']}List",
        short_names=_names(names, "shortNames"),
        categories=_names(names, "categories"),
        custom=True,
        by_webhook=(spec.get("conversion") or {}).get("strategy") == "Webhook",
        storage_version=storage,
        equivalents=tuple(GroupVersion(group, version["name"]) for version in versions),
    )
    return tuple(_custom_version(base, version) for version in versions)


def is_established(definition: JsonObject) -> bool:
    """Return whether a definition's resources are served."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(
        condition.get("type") == ESTABLISHED and condition.get("status") == "True"
        for condition in conditions
    )


def _custom_version(base: Resource, version: JsonObject) -> Resource:
    name = version["name"]
    gvk = base.gvk._replace(version=name)
    selectable = version.get("selectableFields") or ()
    standard = ("metadata.name", "metadata.namespace") if base.namespaced else ("metadata.name",)
    return replace(
        base,
        gvr=base.gvr._replace(version=name),
        gvk=gvk,
        served=bool(version.get("served")),
        subresources=_custom_subresources(gvk, version),
        field_labels=(*standard, *(item["jsonPath"].removeprefix(".") for item in selectable)),
    )


def guessed_resource(gvk: GroupVersionKind) -> Resource:
    """Return a resource for a kind nobody has defined: a custom one, with objects in namespaces."""
    return Resource(
        gvr=guess_resource(gvk),
        gvk=gvk,
        namespaced=True,
        verbs=CUSTOM_VERBS,
        singular=gvk.kind.lower(),
        list_kind=f"{gvk.kind}List",
        custom=True,
        storage_version=gvk.version,
    )


def guess_resource(gvk: GroupVersionKind) -> GroupVersionResource:
    """Return the usual plural of a kind nobody has defined, as upstream's
    `UnsafeGuessKindToResource`."""
    singular = gvk.kind.lower()
    if singular.endswith("endpoints"):
        plural = singular
    elif singular.endswith("s"):
        plural = f"{singular}es"
    elif singular.endswith("y"):
        plural = f"{singular[:-1]}ies"
    else:
        plural = f"{singular}s" if singular else ""
    return GroupVersionResource(gvk.group, gvk.version, plural)


# --- Lookups -----------------------------------------------------------------
#
# What may be looked up of a cluster while something is decided about a request.
#
# `Lookups` is what admission plugins, validation and policies read from: whoever asks them
# brings one, over its store, its cache or a handful of files. `ObjectIndex` is one made of
# plain objects. Nothing that is read through it may be changed.

Space = tuple[str, str, str]
"""Group, resource and namespace; the namespace is empty for what is cluster-scoped."""

DEFAULT_NAMESPACE: Final = "default"
"""Where an object is that does not say, if its kind lives in namespaces."""

NAMESPACES: Final[Space] = ("", "namespaces", "")


class Lookups(Protocol):
    """Read-only, and the same for the length of one request."""

    def namespace(self, name: str) -> JsonObject | None:
        """Return the Namespace object; None when it does not exist."""
        ...

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """Return one object; `namespace` is empty for a cluster-scoped resource."""
        ...

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """Return the objects of a namespace, or all cluster-scoped ones, by name."""
        ...


class ObjectIndex:
    """Finds objects by resource, namespace and name. Objects of kinds that the catalogue does not
    know are left out; versions are as given."""

    __slots__ = ("_catalog", "_spaces")

    def __init__(self, objects: Iterable[JsonObject] = (), catalog: Catalog | None = None) -> None:
        self._catalog = catalog
        self._spaces: dict[Space, dict[str, JsonObject]] = {}
        for obj in objects:
            space = self.space_of(obj)
            if space is not None:
                self._spaces.setdefault(space, {})[metadata.name(obj)] = obj

    @property
    def catalog(self) -> Catalog:
        return known_resources() if self._catalog is None else self._catalog

    def space_of(self, obj: JsonObject) -> Space | None:
        """Return where an object belongs; None when there is no resource for its kind."""
        kind = metadata.gvk(obj)
        resource = self.catalog.by_gvk(kind)
        if resource is None:
            return None
        namespace = (metadata.namespace(obj) or DEFAULT_NAMESPACE) if resource.namespaced else ""
        return kind.group, resource.gvr.resource, namespace

    def changed(
        self, added: Iterable[JsonObject], removed: Iterable[JsonObject] = ()
    ) -> ObjectIndex:
        """Return another index with and without these; the catalogue stays. What did not change is
        shared."""
        index = ObjectIndex((), self._catalog)
        index._spaces = dict(self._spaces)
        for obj, stays in (*((item, False) for item in removed), *((item, True) for item in added)):
            space = self.space_of(obj)
            if space is None:
                continue
            members = dict(index._spaces.get(space, {}))
            members.pop(metadata.name(obj), None)
            if stays:
                members[metadata.name(obj)] = obj
            index._spaces[space] = members
        return index

    @property
    def objects(self) -> Sequence[JsonObject]:
        return tuple(obj for members in self._spaces.values() for obj in members.values())

    def namespace(self, name: str) -> JsonObject | None:
        return self._spaces.get(NAMESPACES, {}).get(name)

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        space = (resource.group, resource.resource, namespace)
        return self._spaces.get(space, {}).get(name)

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        members = self._spaces.get((resource.group, resource.resource, namespace))
        return [members[name] for name in sorted(members)] if members else ()


# --- Scale paths -------------------------------------------------------------
#
# Where a kind keeps the counts that its `scale` shows.


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Says where the counts are, as names of members; no `selector` when there is none."""

    spec_replicas: tuple[str, ...] = ("spec", "replicas")
    status_replicas: tuple[str, ...] = ("status", "replicas")
    selector: tuple[str, ...] = ()


def scale_paths(value: object) -> ScalePaths | None:
    """Return the paths of `subresources.scale` of a version of a CustomResourceDefinition, if it
    has one."""
    if not isinstance(value, dict):
        return None
    fields = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
    return ScalePaths(*(_scale_paths_names(value.get(field)) for field in fields))


def _scale_paths_names(path: object) -> tuple[str, ...]:
    return tuple(path.removeprefix(".").split(".")) if isinstance(path, str) and path else ()


# --- Columns -----------------------------------------------------------------
#
# The columns in which a server shows resources as a table.
#
# What is known of a column stands in `data/resources` and `data/columns.json`: its head, the
# words that explain it, and in `cell` what it shows, in the small language of the server's
# printers. Who shows no tables never loads it.


@dataclass(frozen=True, slots=True)
class Column:
    """Describes a column of a table. `priority` 1 is shown only in wide output; `hidden` cells have
    no column of their own."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""
    cell: Json = ""
    hidden: bool = False


def _column(entry: JsonObject) -> Column:
    return Column(
        name=entry["name"],
        type=entry["type"],
        format=entry.get("format", ""),
        priority=entry.get("priority", 0),
        description=entry.get("description", every_description(entry["name"])),
        cell=entry["cell"],
    )


def every_description(name: str) -> str:
    """Return what a column of this name means where its resource does not say more; maybe
    nothing."""
    description: str = schema_packs.load("columns")["every"].get(name, "")
    return description


@per_release()
def columns_of(gvr: GroupVersionResource) -> tuple[Column, ...]:
    """Return the columns in the order of the table; those of name and time of creation for
    resources without any."""
    pack = schema_packs.load("columns")
    entry = pack["resources"].get("/".join(gvr))
    if entry is None:
        return tuple(map(_column, pack["unprinted"]))
    hidden = (Column(name="", cell=cell, hidden=True) for cell in entry.get("extraCells", ()))
    return *map(_column, entry["columns"]), *hidden


@per_release()
def scale_columns() -> tuple[Column, ...]:
    """Return the columns of the subresource `scale`."""
    return tuple(map(_column, schema_packs.load("columns")["scale"]))


def document_text(name: str, owner: str = "") -> str:
    """Return what documents say of a parameter of requests, or of a member that objects of every
    kind have. Some mean something else to their `owner`: the action of a request, the kind of its
    options, `customList` or `embeddedResource`."""
    pack = schema_packs.load("texts")
    text: str = pack["of"].get(owner, {}).get(name) or pack["every"][name]
    return text


# --- Ages --------------------------------------------------------------------
#
# How long ago, as tables show it: `5s`, `3m20s`, `47h`, `2y30d`.
#
# As `HumanDuration` in k8s.io/apimachinery `pkg/util/duration`: the further back, the coarser.

UNKNOWN: Final = "<unknown>"
"""The age of what has no time of creation."""

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
YEAR: Final = 365 * DAY


def human_duration(seconds: int) -> str:
    """Whole seconds, rounded towards zero; a clock that is a second behind is forgiven."""
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    if seconds < 2 * MINUTE:
        return f"{seconds}s"
    if seconds < 10 * MINUTE:
        return _two(seconds, MINUTE, "m", 1, "s")
    if seconds < 3 * HOUR:
        return f"{seconds // MINUTE}m"
    if seconds < 8 * HOUR:
        return _two(seconds, HOUR, "h", MINUTE, "m")
    if seconds < 2 * DAY:
        return f"{seconds // HOUR}h"
    if seconds < 8 * DAY:
        return _two(seconds, DAY, "d", HOUR, "h")
    if seconds < 2 * YEAR:
        return f"{seconds // DAY}d"
    if seconds < 8 * YEAR:
        return _two(seconds, YEAR, "y", DAY, "d")
    return f"{seconds // YEAR}y"


def _two(seconds: int, unit: int, letter: str, small_unit: int, small_letter: str) -> str:
    """Return a duration in two units; the second is left out when it is zero."""
    whole, rest = divmod(seconds, unit)
    small = rest // small_unit
    return f"{whole}{letter}" + (f"{small}{small_letter}" if small else "")


# --- Deprecated kinds --------------------------------------------------------
#
# Built-in kinds that are deprecated in a release from 1.30 on or soon after, and since when; and
# those that releases do not know any more.
#
# As the `prerelease-lifecycle-gen` marks in k8s.io/api `types.go`: without marks of its own a beta
# or alpha version is deprecated three releases after it came, and gone after three more. What a
# server does not serve any more it can still read where it is stored, until the version is not
# registered any more (k8s.io/api `register.go`).


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Says when a version is deprecated, and when it goes. `since` is the first release in which it
    is deprecated, `until` the first without it; empty where it stays, or nobody was warned.
    `forgotten` is the first release that cannot read it where it is stored."""

    since: str = ""
    until: str = ""
    replacement: GroupVersionKind | None = None
    forgotten: str = ""

    @property
    def is_forgotten(self) -> bool:
        """Return whether the current release cannot read what is stored in this version."""
        return bool(self.forgotten) and is_since(self.forgotten)

    @property
    def is_noted(self) -> bool:
        """Return whether the audit log notes it. The recorded server of 1.36 already notes what
        1.37 deprecates."""
        return bool(self.since) and (is_since(self.since) or is_since(DEFAULT))

    def warning(self, gvk: GroupVersionKind) -> str:
        """Return the text of a Warning header (k8s.io/apiserver `pkg/endpoints/deprecation`); empty
        for what a later release deprecates, which the audit log of the recorded server notes
        alone."""
        if not self.since or not is_since(self.since):
            return ""
        text = f"{gvk.api_version} {gvk.kind} is deprecated in v{self.since}+"
        if self.until:
            text += f", unavailable in v{self.until}+"
        if self.replacement is not None:
            text += f"; use {self.replacement.api_version} {self.replacement.kind}"
        return text


_POLICY: Final = "MutatingAdmissionPolicy"
_BINDING: Final = "MutatingAdmissionPolicyBinding"
_BUNDLE: Final = GroupVersionKind("certificates.k8s.io", "v1alpha1", "ClusterTrustBundle")
_OLDER_ATTRIBUTES: Final = GroupVersionKind("storage.k8s.io", "v1alpha1", "VolumeAttributesClass")
_ATTRIBUTES: Final = "VolumeAttributesClass"
_REVIEW: Final = "SelfSubjectReview"
_RESOURCE_KINDS: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
_SCALER: Final = "HorizontalPodAutoscaler"

DEPRECATED: Final[Mapping[GroupVersionKind, Deprecation]] = {
    GroupVersionKind("", "v1", "ComponentStatus"): Deprecation("1.19"),
    GroupVersionKind("", "v1", "Endpoints"): Deprecation(
        "1.33", replacement=GroupVersionKind("discovery.k8s.io", "v1", "EndpointSlice")
    ),
    GroupVersionKind(ADMISSION_REGISTRATION, "v1alpha1", _POLICY): Deprecation("1.35", "1.38"),
    GroupVersionKind(ADMISSION_REGISTRATION, "v1alpha1", _BINDING): Deprecation("1.35", "1.38"),
    GroupVersionKind(ADMISSION_REGISTRATION, "v1beta1", _BINDING): Deprecation(
        "1.37", "1.40", GroupVersionKind(ADMISSION_REGISTRATION, "v1", _BINDING)
    ),
    **{
        GroupVersionKind(ADMISSION_REGISTRATION, "v1beta1", kind): Deprecation("1.31", "1.34")
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    },
    GroupVersionKind("authentication.k8s.io", "v1alpha1", _REVIEW): Deprecation("1.29", "1.32"),
    GroupVersionKind("authentication.k8s.io", "v1beta1", _REVIEW): Deprecation("1.30", "1.33"),
    _BUNDLE: Deprecation("1.34", "1.37"),
    **{
        GroupVersionKind(FLOW_CONTROL_GROUP, "v1beta3", kind): Deprecation(
            "1.29", "1.32", GroupVersionKind(FLOW_CONTROL_GROUP, "v1", kind)
        )
        for kind in ("FlowSchema", "PriorityLevelConfiguration")
    },
    **{
        GroupVersionKind("networking.k8s.io", "v1alpha1", kind): Deprecation(
            "1.30", "1.33", forgotten="1.34"
        )
        for kind in ("IPAddress", "ServiceCIDR")
    },
    _OLDER_ATTRIBUTES: Deprecation(
        "1.32", "1.35", GroupVersionKind("storage.k8s.io", "v1", _ATTRIBUTES)
    ),
    GroupVersionKind("storagemigration.k8s.io", "v1alpha1", "StorageVersionMigration"): (
        Deprecation("1.33", "1.36", forgotten="1.35")
    ),
    GroupVersionKind("coordination.k8s.io", "v1alpha2", "LeaseCandidate"): Deprecation(
        "1.35", "1.38"
    ),
    GroupVersionKind("coordination.k8s.io", "v1beta1", "LeaseCandidate"): Deprecation(
        "1.36", "1.39"
    ),
    GroupVersionKind("networking.k8s.io", "v1beta1", "IPAddress"): Deprecation("1.34", "1.37"),
    GroupVersionKind("networking.k8s.io", "v1beta1", "ServiceCIDR"): Deprecation("1.34", "1.37"),
    GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha3", "DeviceTaintRule"): Deprecation("1.36", "1.39"),
    GroupVersionKind("storage.k8s.io", "v1beta1", _ATTRIBUTES): Deprecation(
        "1.34", "1.37", GroupVersionKind("storage.k8s.io", "v1", _ATTRIBUTES)
    ),
    **{
        GroupVersionKind(DYNAMIC_RESOURCES, version, kind): Deprecation(since, until)
        for version, since, until in (("v1beta1", "1.35", "1.38"), ("v1beta2", "1.36", "1.39"))
        for kind in _RESOURCE_KINDS
    },
    GroupVersionKind("coordination.k8s.io", "v1alpha1", "LeaseCandidate"): Deprecation(
        forgotten="1.32"
    ),
    **{
        GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha2", kind): Deprecation(forgotten="1.31")
        for kind in (
            *("PodSchedulingContext", "ResourceClaim", "ResourceClaimParameters"),
            *("ResourceClaimTemplate", "ResourceClass", "ResourceClassParameters"),
            "ResourceSlice",
        )
    },
    GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha3", "PodSchedulingContext"): Deprecation(
        forgotten="1.32"
    ),
    **{
        GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha3", kind): Deprecation(forgotten="1.34")
        for kind in _RESOURCE_KINDS
    },
    GroupVersionKind("certificates.k8s.io", "v1alpha1", "PodCertificateRequest"): Deprecation(
        forgotten="1.35"
    ),
    **{
        GroupVersionKind("autoscaling", version, _SCALER): Deprecation(
            replacement=GroupVersionKind("autoscaling", "v2", _SCALER), forgotten="1.36"
        )
        for version in ("v2beta1", "v2beta2")
    },
    **{
        GroupVersionKind("scheduling.k8s.io", "v1alpha1", kind): Deprecation(forgotten="1.36")
        for kind in ("PriorityClass", "Workload")
    },
}
"""Kinds that a server warns about: since which release, what replaces them."""

_EARLIER: Final[Mapping[GroupVersionKind, tuple[str, Deprecation]]] = {
    _BUNDLE: ("1.32", Deprecation("1.29", "1.32")),
    _OLDER_ATTRIBUTES: ("1.34", Deprecation("1.32", "1.35")),
}
"""What releases before that one say of a kind."""


def deprecation_of(gvk: GroupVersionKind) -> Deprecation | None:
    """Return what the current release says of a kind; None for one that is not deprecated."""
    changed, earlier = _EARLIER.get(gvk, ("", None))
    return DEPRECATED.get(gvk) if earlier is None or is_since(changed) else earlier
