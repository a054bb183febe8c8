"""Operations of OpenAPI: what a verb takes, accepts and answers, and how it is called.

As the routes of k8s.io/apiserver `pkg/endpoints/installer.go` look in OpenAPI. Clients go by
`x-kubernetes-action`, `x-kubernetes-group-version-kind` and the parameters: kubectl leaves the
checking of fields to servers whose PATCH has `fieldValidation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from celadon.kube import GroupVersion, GroupVersionKind
from celadon.kube.schemas import META_PREFIX
from celadon.records import dataclass
from celadon.serve.http_messages import JSON
from celadon.serve.publication.openapi_schemas import reference
from celadon.serve.requests.negotiation import PROTOBUF, YAML

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
CODES: Final = {
    "post": ("200", "201", "202"),
    "put": ("200", "201"),
    "patch": ("200", "201"),
    "delete": ("200", "202"),
}
"""Codes of success by action; of all others, 200."""

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
METHODS: Final = {
    "list": "get",
    "watch": "get",
    "watchlist": "get",
    "deletecollection": "delete",
}
"""The method of an action, where it is not called the same."""

BUILT_IN_PATCHES: Final = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
CUSTOM_PATCHES: Final = BUILT_IN_PATCHES[:3]


@dataclass(frozen=True, slots=True)
class Operation:
    """`subject` follows the verb in the operation's name (`NamespacedPodStatus`); `answers` and
    `takes` are OpenAPI names of types, `answers` empty for a text."""

    action: str
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

    def item(self, operations: Sequence[Operation], in_path: Iterable[str]) -> dict[str, Any]:
        """A path: what all of its operations take is said once. `in_path` are the parameters in
        the path itself."""
        path = {name: _path_parameter(name) for name in in_path}
        queries = [(*PARAMETERS.get(one.action, ()), *one.query) for one in operations]
        common = set(queries[0]).intersection(*queries[1:])
        made = {
            one.method or METHODS.get(one.action, one.action): self._operation(
                one, sorted(set(query) - common)
            )
            for one, query in zip(operations, queries, strict=True)
        }
        shared = [*path.items(), *((name, _query_parameter(name)) for name in common)]
        parameters = [one for _, one in sorted(shared, key=lambda pair: (pair[0], pair[1]["in"]))]
        return {**made, **({"parameters": parameters} if parameters else {})}

    def _operation(self, operation: Operation, query: list[str]) -> dict[str, Any]:
        kind = operation.kind
        return {
            "tags": [self.tag],
            "operationId": self.operation_id(_PREFIXES[operation.action], operation.subject),
            **({"parameters": [_query_parameter(name) for name in query]} if query else {}),
            **self._body(operation),
            "responses": {**self._answers(operation), "401": {}},
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": {
                "group": kind.group,
                "version": kind.version,
                "kind": kind.kind,
            },
        }

    def _body(self, operation: Operation) -> dict[str, Any]:
        if operation.action == "patch":
            types = CUSTOM_PATCHES if self.custom else BUILT_IN_PATCHES
            return _body(types, f"{META_PREFIX}Patch", required=True)
        if operation.action in ("delete", "deletecollection"):
            return _body(("*/*",), f"{META_PREFIX}DeleteOptions", required=False)
        return _body(("*/*",), operation.takes, required=True) if operation.takes else {}

    def _answers(self, operation: Operation) -> dict[str, Any]:
        types = [JSON, YAML] if self.custom else [JSON, PROTOBUF, YAML]
        if operation.action in ("list", "watch", "watchlist") and not self.custom:
            types += [f"{JSON};stream=watch", f"{PROTOBUF};stream=watch"]
        if operation.action == "connect":
            types = ["*/*"]
        elif operation.text:
            types.append("text/plain")
        schema = reference(operation.answers) if operation.answers else {"type": "string"}
        content = {one: {"schema": schema} for one in sorted(types)}
        return {code: {"content": content} for code in CODES.get(operation.action, ("200",))}

    def resources_item(self) -> dict[str, Any]:
        """The path of the group version itself."""
        types = (JSON, PROTOBUF, YAML)
        content = {one: {"schema": reference(f"{META_PREFIX}APIResourceList")} for one in types}
        return {
            "get": {
                "tags": [self.tag],
                "operationId": self.operation_id("get", "APIResources"),
                "responses": {"200": {"content": content}, "401": {}},
            }
        }

    @property
    def tag(self) -> str:
        """`rbacAuthorization_v1`."""
        return f"{_camel(self._group)}_{self.group_version.version}"

    def operation_id(self, verb: str, subject: str) -> str:
        """`listAppsV1NamespacedDeployment`."""
        return verb + _upper(_camel(self._group)) + _upper(self.group_version.version) + subject

    @property
    def _group(self) -> str:
        return (self.group_version.group or "core").removesuffix(".k8s.io")


def _camel(text: str) -> str:
    first, *rest = re.split(r"[^A-Za-z0-9_]+", text)
    return first + "".join(map(_upper, rest))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _body(types: Iterable[str], name: str, *, required: bool) -> dict[str, Any]:
    content = {one: {"schema": reference(name)} for one in types}
    return {"requestBody": {"content": content, **({"required": True} if required else {})}}


def _path_parameter(name: str) -> dict[str, Any]:
    schema = {"type": "string", "uniqueItems": True}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameter(name: str) -> dict[str, Any]:
    schema = {"type": QUERY.get(name, "string"), "uniqueItems": True}
    return {"name": name, "in": "query", "schema": schema}
