"""The paths of a group version in OpenAPI, with the operations of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.apiserver.discovery.discovery_documents import PublishedVersion
from celadon.apiserver.http_messages import JSON
from celadon.apiserver.negotiation import PROTOBUF, YAML
from celadon.kube import GroupVersion, GroupVersionKind, JsonObject
from celadon.kube.go import go_json, sorted_members
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import delete
from celadon.kube.releases import is_since, per_release
from celadon.kube.resources import Resource, Subresource, document_text
from celadon.kube.schemas import ABSENT, META_PREFIX, REFERENCE_PREFIX, Schema, built_in, component
from celadon.records import dataclass

# --- Openapi schemas ---------------------------------------------------------
#
# Schemas of built-in types in the form of OpenAPI v3, as clients read them from `/openapi/v3`.
#
# Clients look for kinds (`x-kubernetes-group-version-kind`), for how patches merge lists and
# maps, and for the names and types of fields. A field that is a struct and no pointer has the
# default `{}`, one that is always written has its zero value.

SECURITY: Final = {
    "BearerToken": {
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    }
}
"""How clients say who they are."""
_TIME: Final = {"type": "string", "format": "date-time"}
_SPECIAL: Final[Mapping[str, JsonObject]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "oneOf": [{"type": "string"}, {"type": "number"}]
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
    f"{META_PREFIX}Time": _TIME,
    f"{META_PREFIX}MicroTime": _TIME,
    f"{META_PREFIX}FieldsV1": {"type": "object"},
    f"{META_PREFIX}Patch": {"type": "object"},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
}
_ANYTHING: Final = frozenset(
    {"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}
)
_WITHOUT_ZERO: Final = frozenset(
    {
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        f"{META_PREFIX}Time",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
    }
)
_ZERO: Final = {"string": "", "integer": 0, "number": 0, "boolean": False}


_IN_GO_ORDER: Final = (
    *("description", "type", "nullable", "format", "title", "default"),
    *("maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength"),
    *("pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "enum", "maxProperties"),
    *("minProperties", "required", "items", "allOf", "oneOf", "anyOf", "not", "properties"),
    *("additionalProperties", "externalDocs", "example", "$ref"),
)
"""The members of a schema as they stand in the structs of k8s.io/kube-openapi; all others, its
extensions, come behind them by name."""


def in_go_order(schema: JsonObject) -> JsonDict:
    """Return a schema with its members, and those of all schemas in it, as Go writes them."""
    extensions = sorted(schema.keys() - _IN_GO_ORDER)
    return {
        key: _member_in_go_order(key, schema[key])
        for key in (*_IN_GO_ORDER, *extensions)
        if key in schema
    }


def _member_in_go_order(key: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    if key in ("items", "additionalProperties", "not") and isinstance(value, Mapping):
        return in_go_order(value)
    if key == "properties":
        return {name: in_go_order(inner) for name, inner in sorted(value.items())}
    if key in ("allOf", "anyOf", "oneOf"):
        return list(map(in_go_order, value))
    return sorted_members(go_json.as_written(value))


def reference(name: str) -> dict[str, str]:
    """Return the mention of a type."""
    return {"$ref": REFERENCE_PREFIX + name}


@per_release()
def built_in_schema(name: str) -> JsonObject:
    """Return a type under its OpenAPI name, without the kinds it stands for."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    if name.rpartition(".")[2] in _ANYTHING:
        return {}
    return type_with_fields(component(name), _encodings().get(name, {}))


@per_release()
def _encodings() -> JsonObject:
    return built_in().encodings()


def type_with_fields(schema: Schema, encoding: JsonObject) -> JsonDict:
    """Return the document's form of a type. `encoding` is what its pack entry says beside the
    structure: fields that are `always` written, those with a default that only documents tell
    (`zeros`) and those without a text (`undescribed`), and which fields exclude each other."""
    always = {**encoding.get("always", {}), **_zeros(schema, encoding)}
    undescribed = encoding.get("undescribed", ())
    properties = {
        key: _property(field, always.get(key, ABSENT), described=key not in undescribed)
        for key, field in sorted(schema.properties.items())
    }
    return {
        "type": "object",
        **({"required": list(schema.required)} if schema.required else {}),
        **({"properties": properties} if properties else {}),
        **({"x-kubernetes-map-type": schema.map_type} if schema.map_type else {}),
        **_unions(encoding.get("union")),
    }


def _zeros(schema: Schema, encoding: JsonObject) -> JsonDict:
    return {key: _ZERO[schema.properties[key].type] for key in encoding.get("zeros", ())}


def _unions(union: Sequence[str] | None) -> JsonDict:
    """`union` names the field that tells which of the others is set, empty if none does."""
    if union is None:
        return {}
    discriminator, *fields = union
    discriminators = {"discriminator": discriminator} if discriminator else {}
    names = {field: upper_first(field) for field in fields}
    return {"x-kubernetes-unions": [{**discriminators, "fields-to-discriminateBy": names}]}


def _property(field: Schema, written: object, *, described: bool) -> JsonDict:
    if field.ref and not described:
        return reference(field.ref)
    node = _node(field)
    default = field.default
    if default is ABSENT:
        default = _zero(field, written)
    return node if default is ABSENT else {"default": default, **node}


def _zero(field: Schema, written: object) -> Any:  # noqa: ANN401 - any JSON
    """Return what Go writes of a field that is not set, if it is of use as a default."""
    zero = {} if field.ref else _ZERO.get(field.type, ABSENT)
    return zero if written is not ABSENT and written == zero else ABSENT


def _node(field: Schema) -> JsonDict:
    if field.ref:
        return {"allOf": [reference(field.ref)], **_extensions(field)}
    return {
        **({"type": field.type} if field.type else {}),
        **({"format": field.format} if field.format else {}),
        **({"enum": list(field.enum)} if field.enum else {}),
        **({"items": _inner(field.items)} if field.items else {}),
        **(
            {"additionalProperties": _inner(field.additional_properties)}
            if field.additional_properties
            else {}
        ),
        **_extensions(field),
    }


def _inner(field: Schema) -> JsonDict:
    """Describe items and values. Before 1.36 their zero value was their default, but for types that
    write themselves."""
    has_default = not is_since("1.36") and field.format != "byte"
    if not field.ref:
        zero = _ZERO.get(field.type, ABSENT) if has_default else ABSENT
        return {**_node(field), **({} if zero is ABSENT else {"default": zero})}
    if not has_default or field.ref in _WITHOUT_ZERO:
        return reference(field.ref)
    return {"default": {}, "allOf": [reference(field.ref)]}


def _extensions(field: Schema) -> JsonDict:
    data = {
        "list-map-keys": list(field.list_map_keys),
        "list-type": field.list_type,
        "map-type": field.map_type,
        "patch-merge-key": field.merge_key,
        "patch-strategy": field.patch_strategy,
    }
    return {f"x-kubernetes-{name}": value for name, value in data.items() if value}


# --- Openapi operations ------------------------------------------------------
#
# Operations of OpenAPI: what a verb takes, accepts and answers, and how it is called.
#
# As the routes of k8s.io/apiserver `pkg/endpoints/installer.go` look in OpenAPI. Clients go by
# `x-kubernetes-action`, `x-kubernetes-group-version-kind` and the parameters: kubectl leaves
# the checking of fields to servers whose PATCH has `fieldValidation`.

QUERY: Final = {
    **dict.fromkeys(("allowWatchBookmarks", "follow", "force"), "boolean"),
    **dict.fromkeys(
        ("ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents"), "boolean"
    ),
    **dict.fromkeys(("insecureSkipTLSVerifyBackend", "previous", "sendInitialEvents"), "boolean"),
    **dict.fromkeys(("stderr", "stdin", "stdout", "timestamps", "tty", "watch"), "boolean"),
    **dict.fromkeys(("gracePeriodSeconds", "limit", "limitBytes", "ports"), "integer"),
    **dict.fromkeys(("sinceSeconds", "tailLines", "timeoutSeconds"), "integer"),
}
"""Query parameters that are no texts."""

_SELECTION: Final = (
    *("continue", "fieldSelector", "labelSelector", "limit", "resourceVersion"),
    *("resourceVersionMatch", "sendInitialEvents", "shardSelector", "timeoutSeconds"),
)
_DELETION: Final = (
    *("dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential"),
    *("orphanDependents", "propagationPolicy"),
)
_WRITE: Final = ("dryRun", "fieldManager", "fieldValidation")
PARAMETERS: Final = {
    "list": ("pretty", "allowWatchBookmarks", "watch", *_SELECTION),
    "watch": ("pretty", "allowWatchBookmarks", "watch", *_SELECTION),
    "watchlist": ("pretty", "allowWatchBookmarks", "watch", *_SELECTION),
    "get": ("pretty",),
    "post": ("pretty", *_WRITE),
    "put": ("pretty", *_WRITE),
    "patch": ("pretty", *_WRITE, "force"),
    "delete": ("pretty", *_DELETION),
    "deletecollection": ("pretty", *_SELECTION, *_DELETION),
}
"""Query parameters by action."""
CUSTOM_PARAMETERS: Final = {
    **PARAMETERS,
    "get": ("pretty", "resourceVersion"),
    "deletecollection": PARAMETERS["list"],
}
"""The same for custom resources."""

QUERY_SINCE: Final = {
    "ignoreStoreReadErrorWithClusterBreakingPotential": "1.32",
    "shardSelector": "1.36",
    "stream": "1.32",
}
"""The releases since which there are query parameters that 1.30 does not have."""

CONNECT_PARAMETERS: Final = {
    "NodeProxyOptions": ("path",),
    "PodAttachOptions": ("container", "stderr", "stdin", "stdout", "tty"),
    "PodExecOptions": ("command", "container", "stderr", "stdin", "stdout", "tty"),
    "PodPortForwardOptions": ("ports",),
    "PodProxyOptions": ("path",),
    "ServiceProxyOptions": ("path",),
}
LOG_PARAMETERS: Final = (
    *("container", "follow", "insecureSkipTLSVerifyBackend", "limitBytes", "previous"),
    *("sinceSeconds", "stream", "tailLines", "timestamps"),
)
_OK: Final = ("200",)
CODES: Final[Mapping[str, tuple[str, ...]]] = {
    "post": ("200", "201", "202"),
    "put": ("200", "201"),
    "patch": ("200", "201"),
    "delete": ("200", "202"),
}
"""Codes of success by action; of all others, 200."""
ANSWERS: Final = {"200": "OK", "201": "Created", "202": "Accepted"}
UNAUTHORIZED: Final = {"description": "Unauthorized"}
"""The answer to whoever does not say who they are."""

_PREFIXES: Final = {
    "list": "list",
    "watch": "watch",
    "watchlist": "watch",
    "get": "read",
    "post": "create",
    "put": "replace",
    "patch": "patch",
    "delete": "delete",
    "deletecollection": "delete",
    "connect": "connect",
}
OPERATION_METHODS: Final = {
    "list": "get",
    "watch": "get",
    "watchlist": "get",
    "deletecollection": "delete",
}
"""The method of an action, where it is not called the same."""

_INSTEAD: Final = "deprecated: use the 'watch' parameter with a list operation instead"
_ABOUT: Final = {
    "get": "read{of} the specified {kind}",
    "post": "create{of}{article}{kind}",
    "put": "replace{of} the specified {kind}",
    "patch": "partially update{of} the specified {kind}",
    "delete": "delete{article}{kind}",
    "deletecollection": "delete collection of {kind}",
    "watch": "watch changes to an object of kind {kind}. "
    f"{_INSTEAD}, filtered to a single item with the 'fieldSelector' parameter.",
    "watchlist": f"watch individual changes to a list of {{kind}}. {_INSTEAD}.",
}
"""What actions do. `of` names the part of the object, if it is one."""


def _about(action: str, kind: str, part: str = "") -> str:
    """Say what an operation does, as its description."""
    # as GetArticleForNoun of k8s.io/apiserver `pkg/endpoints/installer.go`: plurals have none
    is_plural = kind.endswith("s") and not kind.endswith("ss")
    article = "" if is_plural else "an " if kind[:1] in "aeiouAEIOU" else "a "
    of = f" {part} of" if part else ""
    return _ABOUT[action].format(kind=kind, of=of, article=f" {article}")


BUILT_IN_PATCHES: Final = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
CUSTOM_PATCHES: Final = BUILT_IN_PATCHES[:3]


@dataclass(frozen=True, slots=True)
class Operation:
    """Describes an operation of a path in OpenAPI, `about` in words. `subject` follows the verb in
    the operation's name (`NamespacedPodStatus`); `answers` and `takes` are OpenAPI names of types,
    `answers` empty for a text."""

    action: str
    about: str
    subject: str
    kind: GroupVersionKind
    answers: str
    takes: str = ""
    method: str = ""
    query: tuple[str, ...] = ()
    text: bool = False


@dataclass(frozen=True, slots=True)
class OperationWriter:
    """Writes the operations of one group version."""

    group_version: GroupVersion
    custom: bool = False

    def item(self, operations: Sequence[Operation], in_path: Iterable[str]) -> JsonDict:
        """Return the item of a path: what all of its operations take is said once. `in_path` are
        the parameters in the path itself."""
        first = operations[0]
        path = {name: path_parameter(name, _of_path(name, first.kind)) for name in in_path}
        custom_parameters = CUSTOM_PARAMETERS if self.custom else PARAMETERS
        queries = [
            _known((*custom_parameters.get(operation.action, ()), *operation.query))
            for operation in operations
        ]
        common = set(queries[0]).intersection(*queries[1:])
        result = {
            operation.method
            or OPERATION_METHODS.get(operation.action, operation.action): self._operation(
                operation, sorted(set(query) - common)
            )
            for operation, query in zip(operations, queries, strict=True)
        }
        shared = [*path.items(), *((name, _query_parameter(name, first)) for name in common)]
        parameters = [item for _, item in sorted(shared, key=lambda pair: (pair[0], pair[1]["in"]))]
        return {**result, **({"parameters": parameters} if parameters else {})}

    def _operation(self, operation: Operation, query: list[str]) -> JsonDict:
        kind = operation.kind
        return {
            "tags": [self.tag],
            "description": operation.about,
            "operationId": self.operation_id(_PREFIXES[operation.action], operation.subject),
            **_listed("parameters", [_query_parameter(name, operation) for name in query]),
            **self._body(operation),
            "responses": {**self._answers(operation), "401": UNAUTHORIZED},
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": {
                "group": kind.group,
                "version": kind.version,
                "kind": kind.kind,
            },
        }

    def _body(self, operation: Operation) -> JsonDict:
        if operation.action == "patch":
            patches = CUSTOM_PATCHES if self.custom else BUILT_IN_PATCHES
            return _body(patches, f"{META_PREFIX}Patch", required=True)
        types = (JSON, YAML) if self.custom else ("*/*",)
        if operation.action == "delete" or (
            operation.action == "deletecollection" and not self.custom
        ):
            return _body(types, f"{META_PREFIX}DeleteOptions", required=False)
        return _body(types, operation.takes, required=True) if operation.takes else {}

    def _answers(self, operation: Operation) -> JsonDict:
        types = [JSON, YAML] if self.custom else [JSON, PROTOBUF, YAML]
        if operation.action in ("list", "watch", "watchlist") and not self.custom:
            types += [f"{JSON};stream=watch", f"{PROTOBUF};stream=watch"]
        if operation.action == "connect":
            types = ["*/*"]
        elif operation.text:
            types.append("text/plain")
        schema = reference(operation.answers) if operation.answers else {"type": "string"}
        content = {type_: {"schema": schema} for type_ in sorted(types)}
        codes: tuple[str, ...] = CODES.get(operation.action, _OK)
        if self.custom and operation.action == "patch":
            codes = _OK
        return {code: {"description": ANSWERS[code], "content": content} for code in codes}

    def resources_item(self) -> JsonDict:
        """Return the path of the group version itself."""
        operation_id = self.operation_id("get", "APIResources")
        about = "get available resources"
        return plain_item(self.tag, about, operation_id, f"{META_PREFIX}APIResourceList")

    @property
    def tag(self) -> str:
        """Return the tag of operations: `rbacAuthorization_v1`."""
        return f"{group_tag(self.group_version.group)}_{self.group_version.version}"

    def operation_id(self, verb: str, subject: str) -> str:
        """Return the name of an operation: `listAppsV1NamespacedDeployment`."""
        group, version = group_tag(self.group_version.group), self.group_version.version
        return verb + upper_first(group) + upper_first(version) + subject


def group_tag(group: str) -> str:
    """Return `rbacAuthorization` of `rbac.authorization.k8s.io`."""
    return _camel((group or "core").removesuffix(".k8s.io"))


def plain_item(
    tag: str,
    about: str,
    operation_id: str,
    answers: str,
    types: Sequence[str] = (JSON, PROTOBUF, YAML),
) -> JsonDict:
    """Return a path that is only read; `about` says what, `answers` is empty for a text."""
    schema = reference(answers) if answers else {"type": "string"}
    content = {type_: {"schema": schema} for type_ in types}
    ok = {"description": ANSWERS["200"], "content": content}
    responses = {"200": ok, "401": UNAUTHORIZED}
    operation = {
        "tags": [tag],
        "description": about,
        "operationId": operation_id,
        "responses": responses,
    }
    return {"get": operation}


def _listed(key: str, values: list[JsonObject]) -> JsonDict:
    return {key: values} if values else {}


def _known(query: Iterable[str]) -> list[str]:
    return [name for name in query if is_since(QUERY_SINCE.get(name, "1.30"))]


def _camel(text: str) -> str:
    first, *rest = re.split(r"[^A-Za-z0-9_]+", text)
    return first + "".join(map(upper_first, rest))


def upper_first(text: str) -> str:
    """Turn `apps` into `Apps`."""
    return text[:1].upper() + text[1:]


def _body(types: Iterable[str], name: str, *, required: bool) -> JsonDict:
    content = {type_: {"schema": reference(name)} for type_ in types}
    return {"requestBody": {"content": content, **({"required": True} if required else {})}}


def _of_path(name: str, kind: GroupVersionKind) -> str:
    return f"name of the {kind.kind}" if name == "name" else document_text(name)


def path_parameter(name: str, about: str) -> JsonDict:
    """Return a parameter in the path itself."""
    schema = {"type": "string", "uniqueItems": True}
    return {"name": name, "in": "path", "description": about, "required": True, "schema": schema}


def _query_parameter(name: str, operation: Operation) -> JsonObject:
    is_connection = operation.action == "connect"
    return _parameter_of(name, operation.kind.kind if is_connection else operation.action)


@per_release()
def _parameter_of(name: str, owner: str) -> JsonObject:
    schema = {"type": QUERY.get(name, "string"), "uniqueItems": True}
    about = document_text(name, owner)
    return {"name": name, "in": "query", "description": about, "schema": schema}


def returned_when_deleted(resource: Resource) -> bool:
    """Return whether the documents say that the DELETE of a resource answers with the object. Of
    namespaces they say otherwise than the server does."""
    return delete.is_shown_when_gone(resource) and resource.gvk.kind != "Namespace"


_ACTIONS: Final = {
    "get": "get",
    "create": "post",
    "update": "put",
    "patch": "patch",
    "delete": "delete",
}
"""The action of a verb, in the order in which the operations of a path stand."""

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_CONNECT_METHODS: Final = {"get": "get", "create": "post"}
TypeName = Callable[[GroupVersionKind], str]
"""The OpenAPI name of a kind's type."""


def paths(version: PublishedVersion, type_name: TypeName) -> dict[str, JsonDict]:
    """Return all paths of a group version, sorted."""
    writer = OperationWriter(version.group_version, version.custom)
    result: dict[str, JsonDict] = {}
    if not version.custom:
        result[f"/{version.path}/"] = writer.resources_item()
    for resource in version.resources:
        result.update(_ResourcePaths(resource, f"/{version.path}", writer, type_name).items())
    return dict(sorted(result.items()))


@dataclass(frozen=True, slots=True)
class _ResourcePaths:
    resource: Resource
    root: str
    writer: OperationWriter
    type_name: TypeName

    def items(self) -> Iterable[tuple[str, JsonDict]]:
        resource = self.resource
        namespace = ("namespace",) if resource.namespaced else ()
        inside = "namespaces/{namespace}/" if resource.namespaced else ""
        plural, scope = resource.gvr.resource, "Namespaced" if resource.namespaced else ""
        subject = f"{scope}{resource.gvk.kind}"
        collection = f"{inside}{plural}"
        yield from self._path(collection, list(self._collection(subject)), namespace)
        named = f"{collection}/{{name}}"
        yield from self._path(named, list(self._named(subject)), ("name", *namespace))
        if resource.namespaced and "list" in resource.verbs:
            yield from self._path(plural, [self._list(f"{resource.gvk.kind}ForAllNamespaces")], ())
        yield from self._watches(subject, collection, namespace)
        for subresource in resource.subresources:
            yield from self._below(subresource, subject, named, ("name", *namespace))

    def _path(
        self, path: str, operations: list[Operation], in_path: Iterable[str]
    ) -> Iterable[tuple[str, JsonDict]]:
        if operations:
            yield f"{self.root}/{path}", self.writer.item(operations, in_path)

    def _list(self, subject: str) -> Operation:
        resource, kind = self.resource, self.resource.gvk
        listed = self.type_name(kind._replace(kind=resource.list_kind))
        watched = " or watch" if "watch" in resource.verbs and not resource.custom else ""
        about = f"list{watched} objects of kind {kind.kind}"
        return Operation("list", about, subject, kind, listed)

    def _collection(self, subject: str) -> Iterable[Operation]:
        kind, verbs = self.resource.gvk, self.resource.verbs
        name = self.type_name(kind)
        if "list" in verbs:
            yield self._list(subject)
        if "create" in verbs:
            yield Operation("post", _about("post", kind.kind), subject, kind, name, name)
        if "deletecollection" in verbs:
            about = _about("deletecollection", kind.kind)
            yield Operation(
                "deletecollection", about, f"Collection{subject}", kind, f"{META_PREFIX}Status"
            )

    def _named(self, subject: str) -> Iterable[Operation]:
        kind = self.resource.gvk
        name = self.type_name(kind)
        returned = returned_when_deleted(self.resource)
        for verb in ("get", "update", "delete", "patch"):
            if verb not in self.resource.verbs:
                continue
            answers = f"{META_PREFIX}Status" if verb == "delete" and not returned else name
            takes = name if verb == "update" else ""
            about = _about(_ACTIONS[verb], kind.kind)
            yield Operation(_ACTIONS[verb], about, subject, kind, answers, takes)

    def _watches(
        self, subject: str, collection: str, namespace: tuple[str, ...]
    ) -> Iterable[tuple[str, JsonDict]]:
        """Yield the deprecated paths, which custom resources do not say."""
        resource = self.resource
        if "watch" not in resource.verbs or resource.custom:
            return
        watched = [(f"{subject}List", "watchlist", collection, namespace)]
        if "get" in resource.verbs:
            watched.append((subject, "watch", f"{collection}/{{name}}", ("name", *namespace)))
        if resource.namespaced:
            everywhere = f"{resource.gvk.kind}ListForAllNamespaces"
            watched.append((everywhere, "watchlist", resource.gvr.resource, ()))
        for name, action, path, in_path in watched:
            about = _about(action, resource.gvk.kind)
            operation = Operation(action, about, name, resource.gvk, f"{META_PREFIX}WatchEvent")
            yield from self._path(f"watch/{path}", [operation], in_path)

    def _below(
        self, subresource: Subresource, subject: str, named: str, in_path: tuple[str, ...]
    ) -> Iterable[tuple[str, JsonDict]]:
        path = f"{named}/{subresource.name}"
        subject += "".join(_subject_part(subresource))
        if subresource.connect:
            yield from self._connected(subresource, subject, path, in_path)
            return
        is_log = subresource.name == "log"
        name = "" if is_log else self.type_name(subresource.gvk)
        kind = self.resource.gvk if self.resource.custom else subresource.gvk
        operations = [
            Operation(
                _ACTIONS[verb],
                _about(_ACTIONS[verb], self.resource.gvk.kind, subresource.name),
                subject,
                kind,
                name,
                name if verb in ("create", "update") else "",
                query=LOG_PARAMETERS if is_log else (),
                text=is_log,
            )
            for verb in _ACTIONS
            if verb in subresource.verbs
        ]
        yield from self._path(path, operations, in_path)

    def _connected(
        self, subresource: Subresource, subject: str, path: str, in_path: tuple[str, ...]
    ) -> Iterable[tuple[str, JsonDict]]:
        kind, part = subresource.gvk, f"{subresource.name} of {self.resource.gvk.kind}"
        is_proxy = subresource.name == "proxy"
        verbs = [_CONNECT_METHODS[item] for item in ("get", "create")]
        methods = METHODS if is_proxy else verbs
        query = CONNECT_PARAMETERS[kind.kind]

        def operations(suffix: str) -> list[Operation]:
            return [
                Operation(
                    "connect",
                    f"connect {method.upper()} requests to {part}",
                    f"{method.capitalize()}{subject}{suffix}",
                    kind,
                    "",
                    "",
                    method,
                    query,
                )
                for method in methods
            ]

        yield from self._path(path, operations(""), in_path)
        if is_proxy:
            below = (*in_path, "path")
            yield from self._path(f"{path}/{{path}}", operations("WithPath"), below)


_SUBJECTS: Final = {
    "ephemeralcontainers": "Ephemeralcontainers",
    "portforward": "Portforward",
}


def _subject_part(subresource: Subresource) -> Iterable[str]:
    yield _SUBJECTS.get(subresource.name, subresource.name.capitalize())
