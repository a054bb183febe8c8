"""The documents of OpenAPI version 3: one for each group version, and small ones for other paths.

A document has its paths, and every type that they lead to. Those of custom resources are made as
k8s.io/apiextensions-apiserver `pkg/controller/openapi/builder` makes them, all others as
k8s.io/apiserver does: what `/api`, `/apis` and each group answer has a document, too, and so have
`/version` and the OpenID documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from celadon.apiserver.discovery import openapi_paths
from celadon.apiserver.discovery.discovery_documents import PublishedApis, PublishedVersion
from celadon.apiserver.discovery.health_and_version import CONFIGURATION, KEY_SET, KEYS
from celadon.apiserver.discovery.merged_openapi import KINDS
from celadon.apiserver.discovery.openapi_descriptions import Descriptions, with_texts
from celadon.apiserver.http_messages import JSON
from celadon.kube import GroupVersion, GroupVersionKind, JsonObject, parse_api_version
from celadon.kube.crd import EITHER, EMBEDDED, INT_OR_STRING, PRESERVE
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import current_release, is_since, per_release
from celadon.kube.resources import Resource, document_text, known_resources
from celadon.kube.schemas import (
    META_PREFIX,
    REFERENCE_PREFIX,
    Schema,
    SchemaPack,
    component,
    component_name,
)
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Custom resources --------------------------------------------------------
#
# What servers publish of custom resources: the types of a CustomResourceDefinition in OpenAPI.
#
# As k8s.io/apiextensions-apiserver `pkg/controller/openapi/builder` and
# `pkg/controller/openapi/v2`. The schema of a definition is published with the members that every
# object has; so is each embedded resource in it. Version 3 shows all of it. Version 2 leaves out
# what clients of that version take for a mistake in an object: alternatives, nullable fields, and
# fields beside those that are kept unknown.

_LIST: Final = "customList"
_EMBEDDED: Final = "embeddedResource"
_ALTERNATIVES: Final = ("allOf", "anyOf", "oneOf", "not")
_SELECTABLE_SINCE: Final = "1.31"
"""The release since which selectable fields are there by default."""
_EXAMPLES: Final = ("example", "externalDocs")
"""What was lost of a schema before 1.36."""

Types = dict[str, JsonObject]
"""Schemas by their OpenAPI names."""


def custom_type_name(kind: GroupVersionKind) -> str:
    """Return `io.example.v1.Widget` of `Widget` in `example.io/v1`."""
    return ".".join((*reversed(kind.group.split(".")), kind.version, kind.kind))


def version_3_types(resource: Resource, definition: JsonObject) -> Types:
    """Return the types of a custom resource and of its lists, as version 3 has them."""
    version = _version_of(resource, definition)
    schema = _schema_of(version)
    published: JsonObject = {"type": "object"}
    if schema is not None:
        published = _with_resource_members(_with_embedded(_unfolded(schema), _is_embedded))
    return _types(resource, version, published)


def version_2_types(resource: Resource, definition: JsonObject) -> Types:
    """Return the same as version 2 has them."""
    version = _version_of(resource, definition)
    schema = _schema_of(version)
    is_open = bool(definition["spec"].get("preserveUnknownFields"))
    published: JsonObject = {"type": "object"}
    if schema is not None and not is_open and not schema.get(PRESERVE):
        published = _with_resource_members(
            _with_embedded(_version_2_form(schema), _is_closed_embedded)
        )
    return _types(resource, version, published)


def _version_of(resource: Resource, definition: JsonObject) -> JsonObject:
    versions = definition["spec"].get("versions") or ()
    name = resource.gvr.version
    return next((version for version in versions if version["name"] == name), {})


def _schema_of(version: JsonObject) -> JsonObject | None:
    schema: JsonObject | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema if schema is None or is_since("1.36") else _without_examples(schema)


def _types(resource: Resource, version: JsonObject, published: JsonObject) -> Types:
    kind, list_kind = resource.gvk, resource.gvk._replace(kind=resource.list_kind)
    name = custom_type_name(kind)
    more = _selectable_fields(version)
    listed = {
        "description": f"{resource.list_kind} is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {
                "description": document_text("items", _LIST).format(plural=resource.gvr.resource),
                "type": "array",
                "items": openapi_paths.reference(name),
            },
            **_common_members(_LIST, "ListMeta"),
        },
    }
    return {
        name: {**published, KINDS: listed_kinds(kind), **more},
        custom_type_name(list_kind): {**listed, KINDS: listed_kinds(list_kind), **more},
    }


def listed_kinds(kind: GroupVersionKind) -> list[JsonObject]:
    """Return the kind as the only one in the list that a schema has of its kinds."""
    return [{"group": kind.group, "kind": kind.kind, "version": kind.version}]


def _selectable_fields(version: JsonObject) -> JsonObject:
    """Return them where there are any; 1.32 said so where there are none, too."""
    fields = version.get("selectableFields") if is_since(_SELECTABLE_SINCE) else None
    paths = [{"fieldPath": field["jsonPath"].removeprefix(".")} for field in fields or ()]
    shows_none = is_since("1.32") and not is_since("1.33")
    return {"x-kubernetes-selectable-fields": paths} if paths or shows_none else {}


def _with_resource_members(schema: JsonObject, owner: str = "") -> JsonObject:
    members = _common_members(owner, "ObjectMeta")
    return {**schema, "properties": {**schema.get("properties", {}), **members}}


def _common_members(owner: str, metadata: str) -> JsonDict:
    """Return the members that objects of every kind have, with what they are to their `owner`."""
    types: JsonObject = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"allOf": [openapi_paths.reference(f"{META_PREFIX}{metadata}")]},
    }
    return {
        name: {"description": document_text(name, owner), **schema}
        for name, schema in types.items()
    }


# --- Schemas inside of schemas -----------------------------------------------


def _below(schema: JsonObject, changed: Callable[[JsonObject], JsonObject]) -> JsonDict:
    """Return the schema with those directly below it changed."""
    result = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), Mapping):
            result[key] = changed(result[key])
    if "properties" in result:
        result["properties"] = {
            name: changed(member) for name, member in result["properties"].items()
        }
    return result


def _without_examples(schema: JsonObject) -> JsonObject:
    """Return the schema as it was published before 1.36."""
    below = _below(schema, _without_examples)
    for key in _ALTERNATIVES:
        value = schema.get(key)
        if isinstance(value, Mapping):
            below[key] = _without_examples(value)
        elif value:
            below[key] = list(map(_without_examples, value))
    _drop(below, *_EXAMPLES)
    return below


def _unfolded(schema: JsonObject) -> JsonObject:
    """Return the schema in words that all clients know: an integer or a string says that it is."""
    below = _below(schema, _unfolded)
    if not schema.get(INT_OR_STRING):
        return below
    alternatives = schema.get("anyOf")
    parts = schema.get("allOf") or ()
    if alternatives == EITHER or (parts and parts[0].get("anyOf") == EITHER):
        return below
    if not alternatives:
        return {**below, "anyOf": EITHER}
    return {**below, "allOf": [{"anyOf": EITHER}, *parts]}


def _with_embedded(schema: JsonObject, is_shown: Callable[[JsonObject], bool]) -> JsonObject:
    """Embedded resources have the members of one."""

    def visit(node: JsonObject) -> JsonObject:
        below = _below(node, visit)
        if not is_shown(node):
            return below
        required = list(below.get("required", ()))
        required += [name for name in ("kind", "apiVersion") if name not in required]
        return {**_with_resource_members(below, _EMBEDDED), "required": required}

    return visit(schema)


def _is_embedded(schema: JsonObject) -> bool:
    return bool(schema.get(EMBEDDED))


def _is_closed_embedded(schema: JsonObject) -> bool:
    return bool(schema.get(EMBEDDED)) and not schema.get(PRESERVE)


def _version_2_form(schema: JsonObject) -> JsonObject:
    """Return a schema without what clients of version 2 would refuse objects for."""
    result: JsonDict = {key: member for key, member in schema.items() if key not in _ALTERNATIVES}
    required = _required_in_version_2(schema)
    result.pop("required", None)
    if required:
        result["required"] = required
    is_open = bool(result.get(PRESERVE))
    if result.pop("nullable", False):
        _drop(result, "type", "items", "properties")
    if is_open:
        _drop(result, "items", "properties")
    if "items" not in result and result.get("type") == "array":
        _drop(result, "type")
    if is_open and result.get("type") == "object":
        _drop(result, "type")
    return _below(result, _version_2_form)


def _required_in_version_2(schema: JsonObject) -> list[str]:
    """Return the required members without those that may be null."""
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping) and values.get("nullable"):
        return []
    if schema.get("nullable") or schema.get(PRESERVE):
        return list(schema.get("required", ()))
    properties = schema.get("properties", {})
    nullable = {name for name, member in properties.items() if member.get("nullable")}
    return [name for name in schema.get("required", ()) if name not in nullable]


def _drop(schema: JsonDict, *keys: str) -> None:
    for key in keys:
        schema.pop(key, None)


CUSTOM_INFO: Final = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
"""What documents of custom resources say of themselves."""

IN_EVERY_VERSION: Final = frozenset({f"{META_PREFIX}DeleteOptions", f"{META_PREFIX}WatchEvent"})
"""Kinds that belong to every group version."""

_META_TYPES: Final = frozenset({f"{META_PREFIX}ObjectMeta", f"{META_PREFIX}ListMeta"})
"""What custom resources and their lists mention; definitions cannot mention anything."""

_MENTION: Final = late_pattern(f'"{REFERENCE_PREFIX}([^"]+)"')


def info(release: str) -> JsonObject:
    """Return what documents say of the server (`ServerVersion.of_documents`)."""
    return {"title": "Kubernetes", "version": release}


# --- Documents of group versions ---------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """Holds what a document is made of. `definitions` are the CustomResourceDefinitions by the name
    of their resource with its group; `release` is what they say of the server (`1.36`),
    `descriptions` has the texts of built-in types."""

    version: PublishedVersion
    definitions: Mapping[str, JsonObject]
    release: str
    descriptions: Descriptions | None = None

    def content(self) -> JsonDict:
        """Return the document of version 3."""
        result, schemas = self._made(version_3_types, _everywhere(self.version))
        if self.version.custom:
            components: JsonObject = {"schemas": schemas}
        else:
            components = {"schemas": schemas, "securitySchemes": openapi_paths.SECURITY}
        return {
            "openapi": "3.0.0",
            "info": CUSTOM_INFO if self.version.custom else info(self.release),
            "paths": result,
            "components": components,
        }

    def version_2(self) -> tuple[JsonObject, JsonObject]:
        """Return what the document of version 2 has of this one: paths, and the types they lead
        to."""
        return self._made(version_2_types, known_versions())

    def _made(
        self, types: Callable[..., Types], everywhere: Sequence[GroupVersion]
    ) -> tuple[JsonObject, JsonObject]:
        """`types` gives those of a custom resource and its definition."""
        custom_types = self._custom_types(types)
        kinds = {
            GroupVersionKind(**member[KINDS][0]): name for name, member in custom_types.items()
        }

        def type_name(kind: GroupVersionKind) -> str:
            result = kinds.get(kind) or component_name(kind)
            assert result is not None, kind
            return result

        paths = openapi_paths.paths(self.version, type_name)
        texts = self.descriptions
        schema = partial(_built_in_type, everywhere=everywhere, descriptions=texts)
        return paths, reached(paths, custom_types, schema)

    def _custom_types(self, types: Callable[..., Types]) -> Types:
        result: Types = {}
        for resource in self.version.resources:
            definition = self.definitions.get(str(resource.gvr.group_resource))
            if definition is not None and resource.custom:
                result.update(types(resource, definition))
        return result


def reached(
    root: JsonObject, own_types: Mapping[str, JsonObject], schema: Callable[[str], JsonObject]
) -> JsonDict:
    """Return all types that the paths mention, and those that these mention, sorted. `schema` gives
    those that are not `own_types`."""
    result: JsonDict = {}
    waiting = _mentioned(root)
    while waiting:
        name = waiting.pop()
        if name in own_types:
            result[name] = openapi_paths.in_go_order(own_types[name])
            mentioned = _META_TYPES
        else:
            result[name] = openapi_paths.in_go_order(schema(name))
            mentioned = _mentioned_by(name)
        waiting |= mentioned - result.keys()
    return dict(sorted(result.items()))


@per_release()
def _mentioned_by(name: str) -> frozenset[str]:
    return frozenset(_mentioned(_schema(name)))


def _mentioned(value: JsonObject) -> set[str]:
    """Return the types that a document mentions. It must hold no texts of users."""
    return set(_MENTION.findall(json.dumps(value)))


# --- The kinds of a type -----------------------------------------------------
#
# Some kinds belong to every group version. Since 1.36 a document of version 3 tells of the group
# version of the kind and of its own. All others tell of every one that a scheme knows, served or
# not: those of custom resources of the scheme of client-go, which lacks some groups.

_NEVER_SERVED: Final = (
    *("admission.k8s.io/v1", "admission.k8s.io/v1beta1", "apiextensions.k8s.io/v1beta1"),
    *("apiregistration.k8s.io/v1beta1", "apps/v1beta1", "apps/v1beta2"),
    *("authentication.k8s.io/v1alpha1", "authentication.k8s.io/v1beta1"),
    "authorization.k8s.io/v1beta1",
    *("batch/v1beta1", "certificates.k8s.io/v1beta1", "coordination.k8s.io/v1beta1"),
    *("discovery.k8s.io/v1beta1", "events.k8s.io/v1beta1", "extensions/v1beta1"),
    *("flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2"),
    *("flowcontrol.apiserver.k8s.io/v1beta3", "imagepolicy.k8s.io/v1alpha1"),
    *("networking.k8s.io/v1beta1", "node.k8s.io/v1alpha1", "node.k8s.io/v1beta1"),
    *("policy/v1beta1", "rbac.authorization.k8s.io/v1alpha1"),
    *("rbac.authorization.k8s.io/v1beta1", "scheduling.k8s.io/v1beta1"),
    *("storage.k8s.io/v1alpha1", "storage.k8s.io/v1beta1"),
)
"""Group versions that schemes of 1.30 and later know, whether or not there are resources of
them."""
_KNOWN_BEFORE: Final = {
    "1.34": ("networking.k8s.io/v1alpha1",),
    "1.36": ("autoscaling/v2beta1", "autoscaling/v2beta2", "scheduling.k8s.io/v1alpha1"),
}
_KNOWN_SINCE: Final = {"1.36": ("scheduling.k8s.io/v1alpha2",)}
_NOT_OF_CLIENTS: Final = frozenset(
    {"admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"}
)
"""Groups that the scheme of client-go lacks."""


def _everywhere(version: PublishedVersion) -> list[GroupVersion]:
    """Return the group versions of a kind that every version has, in the document of one."""
    if version.custom:
        return [
            known_version
            for known_version in known_versions()
            if known_version.group not in _NOT_OF_CLIENTS
        ]
    if is_since("1.36"):
        return sorted({GroupVersion("", "v1"), version.group_version})
    return known_versions()


def _built_in_type(
    name: str, everywhere: Sequence[GroupVersion], descriptions: Descriptions | None
) -> JsonObject:
    """Return a built-in type with its texts and kinds; `everywhere` are the versions of kinds that
    belong to every one."""
    schema = with_texts(name, _schema(name), descriptions)
    kind = _built_in_kind(name)
    if kind is None:
        return schema
    kinds = listed_kinds(kind)
    if name in IN_EVERY_VERSION:
        every = (GroupVersionKind(*version, kind.kind) for version in everywhere)
        kinds = [listed for item in every for listed in listed_kinds(item)]
    elif name == f"{META_PREFIX}Status" and current_release() == "1.30":
        # that release registers the kind once more, in a group that never uses it
        kinds += listed_kinds(GroupVersionKind("resource.k8s.io", "v1alpha2", kind.kind))
    return {**schema, KINDS: kinds}


@per_release()
def known_versions() -> list[GroupVersion]:
    """Return the group versions that the scheme of the current release knows, sorted."""
    served = {resource.gvr.group_version for resource in known_resources(all_versions=True)}
    never_served = set(_NEVER_SERVED)
    for release, versions in _KNOWN_BEFORE.items():
        never_served.update(() if is_since(release) else versions)
    for release, versions in _KNOWN_SINCE.items():
        never_served.update(versions if is_since(release) else ())
    return sorted(served | {parse_api_version(text) for text in never_served})


def _built_in_kind(name: str) -> GroupVersionKind | None:
    if name in IN_EVERY_VERSION:
        return GroupVersionKind("", "v1", name.removeprefix(META_PREFIX))
    try:
        return _type(name).gvk
    except KeyError:
        return None


# --- Documents of other paths ------------------------------------------------

_VERSION_TYPE: Final = "io.k8s.apimachinery.pkg.version.Info"
_ADDRESSES: Final = {
    "items": {"ref": f"{META_PREFIX}ServerAddressByClientCIDR"},
    "list": "atomic",
}
_OF_A_KIND: Final = {"apiVersion": "s", "kind": "s"}
_BUILD: Final = (
    *("major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion"),
    *("compiler", "platform"),
)
_EFFECTIVE: Final = (
    *("emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"),
)
_EFFECTIVE_SINCE: Final = "1.33"
"""The release since which a server says what it emulates."""


def _written(*fields: str) -> JsonObject:
    """Describe a type of texts that are always written."""
    return {
        "fields": dict.fromkeys(fields, "s"),
        "required": fields,
        "always": dict.fromkeys(fields, ""),
    }


_ROOT_TYPES: Final[JsonObject] = {
    f"{META_PREFIX}APIGroup": {
        "fields": {
            **_OF_A_KIND,
            "name": "s",
            "preferredVersion": {"ref": f"{META_PREFIX}GroupVersionForDiscovery"},
            "serverAddressByClientCIDRs": _ADDRESSES,
            "versions": {
                "items": {"ref": f"{META_PREFIX}GroupVersionForDiscovery"},
                "list": "atomic",
            },
        },
        "required": ["name", "versions"],
        "always": {"name": "", "preferredVersion": {}},
        "gvk": ["", "v1", "APIGroup"],
    },
    f"{META_PREFIX}APIGroupList": {
        "fields": {
            **_OF_A_KIND,
            "groups": {"items": {"ref": f"{META_PREFIX}APIGroup"}, "list": "atomic"},
        },
        "required": ["groups"],
        "gvk": ["", "v1", "APIGroupList"],
    },
    f"{META_PREFIX}APIVersions": {
        "fields": {
            **_OF_A_KIND,
            "serverAddressByClientCIDRs": _ADDRESSES,
            "versions": {"items": "s", "list": "atomic"},
        },
        "required": ["versions", "serverAddressByClientCIDRs"],
        "gvk": ["", "v1", "APIVersions"],
    },
    f"{META_PREFIX}GroupVersionForDiscovery": _written("groupVersion", "version"),
    f"{META_PREFIX}ServerAddressByClientCIDR": _written("clientCIDR", "serverAddress"),
    _VERSION_TYPE: _written(*_BUILD),
}
"""Types that only these documents have, in the form of schema packs."""


@per_release()
def _root_types() -> SchemaPack:
    if not is_since(_EFFECTIVE_SINCE):
        return SchemaPack(_ROOT_TYPES)
    entry = _ROOT_TYPES[_VERSION_TYPE]
    fields = {**entry["fields"], **dict.fromkeys(_EFFECTIVE, "s")}
    return SchemaPack({**_ROOT_TYPES, _VERSION_TYPE: {**entry, "fields": fields}})


def _type(name: str) -> Schema:
    return _root_types().component(name) if name in _ROOT_TYPES else component(name)


def _schema(name: str) -> JsonObject:
    if name not in _ROOT_TYPES:
        return dict(openapi_paths.built_in_schema(name))
    return openapi_paths.type_with_fields(_type(name), _ROOT_TYPES[name])


def root_documents(
    apis: PublishedApis,
    open_id: Iterable[str],
    release: str,
    descriptions: Descriptions | None = None,
) -> JsonObject:
    """Return the documents of paths that are not of a group version, by those paths; `open_id` are
    the paths of the OpenID documents that there are."""
    result: dict[str, JsonObject] = {
        "api": openapi_paths.plain_item(
            "core", _ABOUT_VERSIONS, "getCoreAPIVersions", f"{META_PREFIX}APIVersions"
        ),
        "apis": openapi_paths.plain_item(
            "apis", _ABOUT_VERSIONS, "getAPIVersions", f"{META_PREFIX}APIGroupList"
        ),
        "version": openapi_paths.plain_item(
            "version",
            _ABOUT_VERSION if is_since("1.33") else "get the code version",
            "getCodeVersion",
            _VERSION_TYPE,
            (JSON,),
        ),
    }
    for group in apis.groups:
        if not group.custom:
            tag = openapi_paths.group_tag(group.name)
            operation = f"get{openapi_paths.upper_first(tag)}APIGroup"
            result[f"apis/{group.name}"] = openapi_paths.plain_item(
                tag, "get information of a group", operation, f"{META_PREFIX}APIGroup"
            )
    result |= {path.strip("/"): _OPEN_ID[path] for path in open_id}
    documents: dict[str, JsonObject] = {path: {f"/{path}/": item} for path, item in result.items()}
    if not is_since("1.31"):
        documents["logs"] = _LOGS
    return {
        path: _root_document(member, release, descriptions) for path, member in documents.items()
    }


_ABOUT_VERSION: Final = "get the version information for this server"
_ABOUT_VERSIONS: Final = "get available API versions"
_OPEN_ID: Final = {
    CONFIGURATION: openapi_paths.plain_item(
        "WellKnown",
        "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
        "getServiceAccountIssuerOpenIDConfiguration",
        "",
        (JSON,),
    ),
    KEYS: openapi_paths.plain_item(
        "openid",
        "get service account issuer OpenID JSON Web Key Set (contains public token verification "
        "keys)",
        "getServiceAccountIssuerOpenIDKeyset",
        "",
        (KEY_SET,),
    ),
}
_LOG_PATH: Final = openapi_paths.path_parameter("logpath", "path to the log")


def _log_item(operation_id: str) -> JsonDict:
    responses = {"401": openapi_paths.UNAUTHORIZED}
    return {"get": {"tags": ["logs"], "operationId": operation_id, "responses": responses}}


_LOGS: Final = {
    "/logs/": _log_item("logFileListHandler"),
    "/logs/{logpath}": {**_log_item("logFileHandler"), "parameters": [_LOG_PATH]},
}
"""Files of the server's machine, which 1.30 still offered."""


def _root_document(
    paths: JsonObject, release: str, descriptions: Descriptions | None
) -> JsonObject:
    schema = partial(_built_in_type, everywhere=(), descriptions=descriptions)
    schemas = reached(paths, {}, schema)
    return {
        "openapi": "3.0.0",
        "info": info(release),
        "paths": paths,
        "components": {
            **({"schemas": schemas} if schemas else {}),
            "securitySchemes": openapi_paths.SECURITY,
        },
    }
