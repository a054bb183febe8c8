"""The document of OpenAPI version 2.

It is made of what the documents of version 3 are made of. As k8s.io/kube-openapi `pkg/builder`
and `pkg/handler`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from celadon.apiserver.discovery.openapi import METHODS, SECURITY
from celadon.apiserver.http_messages import JSON
from celadon.apiserver.negotiation import PROTOBUF, YAML
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.schemas import REFERENCE_PREFIX
from celadon.records import dataclass

# --- Swagger document --------------------------------------------------------
#
# All group versions in one document, made of the same paths and types as those of version 3.
#
# Clients that know version 3 do not ask for it. Parameters that many operations share stand
# once; upstream names them by a hash of all that it says of them, its texts included.


_DEFINITIONS: Final = "#/definitions/"
_PARAMETERS: Final = "#/parameters/"
_NOT_IN_VERSION_2: Final = frozenset({"default", "oneOf", "anyOf", "allOf", "not", "nullable"})

SHARED: Final[Mapping[str, str]] = {
    "allowWatchBookmarks": "HC2hJt-J",
    "command": "Py3eQybp",
    "container": "1GeXxFDC",
    "continue": "QfD61s0i",
    "fieldManager": "Qy4HdaTW",
    "fieldSelector": "xIcQKXFG",
    "follow": "9OIXh_2R",
    "force": "tOGGb0Yi",
    "gracePeriodSeconds": "-K5HaBOS",
    "ignoreStoreReadErrorWithClusterBreakingPotential": "QbNkfIqj",
    "insecureSkipTLSVerifyBackend": "gM00jVbe",
    "labelSelector": "5Zw57w4C",
    "limit": "1NfNmdNH",
    "limitBytes": "zwd1RXuc",
    "logpath": "Noq7euwC",
    "namespace": "vgWSWtn3",
    "orphanDependents": "uRB25kX5",
    "ports": "91KROJmm",
    "pretty": "tJGM1-ng",
    "previous": "1jxDPu3y",
    "propagationPolicy": "6jk3prlO",
    "resourceVersion": "5WAnf1kx",
    "resourceVersionMatch": "t8XhRHeC",
    "sendInitialEvents": "rLXlEK_k",
    "shardSelector": "Kgyki_3_",
    "sinceSeconds": "vE2NLdnP",
    "stream": "l-48cgXv",
    "tailLines": "9xQLWHMV",
    "timeoutSeconds": "yvYezaOC",
    "timestamps": "c17fW1w_",
    "watch": "XNNPZGbK",
}
"""The endings of the names of shared parameters."""
SHARED_BY: Final[Mapping[str, Mapping[str, str]]] = {
    "patch": {"body": "78PwaGsr", "fieldManager": "7c6nTn1T"},
    "delete": {"body": "2Y1dVQaQ"},
    "deletecollection": {"body": "2Y1dVQaQ"},
    "NodeProxyOptions": {"path": "rFDtV0x9"},
    "PodAttachOptions": {
        "container": "_Q-EJ3nR",
        "stderr": "26jJhFUR",
        "stdin": "sEFnN3IS",
        "stdout": "005YMKE6",
        "tty": "g7MlET_l",
    },
    "PodExecOptions": {
        "container": "i5dOmRiM",
        "stderr": "W_1TNlWc",
        "stdin": "PSzNhyUC",
        "stdout": "-EZLRwV1",
        "tty": "s0flW37O",
    },
    "PodProxyOptions": {"path": "oPbzgLUj"},
    "ServiceProxyOptions": {"path": "QCf0eosM"},
}
"""The same of those that have other texts in an action, or in the options of a connection."""
_OLD_TAIL_LINES: Final = "2fRTNzbP"
_PATH_BELOW: Final = "z6Ciiujn"
"""The ending for the path after `proxy/`."""

_CUSTOM_CONSUMED: Final = (JSON, YAML)
_PRODUCED: Final = ("text/plain", JSON, YAML, PROTOBUF)
_PATCHES: Final = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)


@dataclass(frozen=True, slots=True)
class Part:
    """Paths of version 3 with the types that they lead to. Those of custom resources take JSON and
    YAML, whatever the operation."""

    paths: JsonObject
    schemas: JsonObject
    custom: bool = False


def swagger(parts: Iterable[Part], info: JsonObject) -> JsonDict:
    """Returns one document of version 2."""
    paths: JsonDict = {}
    definitions: JsonDict = {}
    shared: JsonDict = {}
    for part in parts:
        writer = _ItemWriter(part.custom, shared)
        paths.update((path, writer.item(item)) for path, item in part.paths.items())
        for name, schema in part.schemas.items():
            if name not in definitions:
                definitions[name] = swagger_schema(schema)
    return {
        "swagger": "2.0",
        "info": info,
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
        "parameters": dict(sorted(shared.items())),
        "securityDefinitions": SECURITY,
        "security": [{"BearerToken": []}],
    }


def swagger_schema(schema: JsonObject) -> JsonDict:
    """A schema without what version 2 cannot say: mentions stand alone, alternatives become texts.
    Defaults are left out, too."""
    if "$ref" in schema:
        return {"$ref": _DEFINITIONS + schema["$ref"].removeprefix(REFERENCE_PREFIX)}
    mention = schema.get("allOf", ())
    if len(mention) == 1 and "$ref" in mention[0]:
        rest = {key: value for key, value in schema.items() if key not in _NOT_IN_VERSION_2}
        return {**swagger_schema(mention[0]), **rest}
    made = {key: value for key, value in schema.items() if key not in _NOT_IN_VERSION_2}
    if "oneOf" in schema and "type" not in made:
        made["type"] = "string"
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), Mapping):
            made[key] = swagger_schema(made[key])
    if "properties" in made:
        made["properties"] = {name: swagger_schema(one) for name, one in made["properties"].items()}
    return made


@dataclass(frozen=True, slots=True)
class _ItemWriter:
    """Writes paths; parameters that operations share are added to `shared`."""

    custom: bool
    shared: JsonDict

    def item(self, item: JsonObject) -> JsonDict:
        made: JsonDict = {one: self._operation(item[one]) for one in METHODS if one in item}
        if "parameters" in item:
            # what all operations of a path share, they share whatever the action
            any_of_them = next(item[one] for one in METHODS if one in item)
            made["parameters"] = [self._parameter(one, any_of_them) for one in item["parameters"]]
        return made

    def _operation(self, operation: JsonObject) -> JsonDict:
        given = [*_body(operation.get("requestBody"))]
        given += map(_plain_parameter, operation.get("parameters", ()))
        produced = operation["responses"].get("200", {}).get("content", {})
        return {
            "tags": operation["tags"],
            "operationId": operation["operationId"],
            **_listed("consumes", self._consumed(operation, produced)),
            **_listed("produces", _in_order(produced)),
            "schemes": ["https"],
            **_listed("parameters", [self._mention(one, operation) for one in given]),
            "responses": {code: _answer(one) for code, one in operation["responses"].items()},
            **{key: value for key, value in operation.items() if key.startswith("x-")},
        }

    def _consumed(self, operation: JsonObject, produced: JsonObject) -> list[str]:
        action = operation.get("x-kubernetes-action")
        if action == "patch":
            return [one for one in _PATCHES if one in operation["requestBody"]["content"]]
        if self.custom:
            return list(_CUSTOM_CONSUMED)
        if action is not None:
            return ["*/*"]
        is_object = any("$ref" in one["schema"] for one in produced.values())
        return _in_order(produced) if is_object else []

    def _parameter(self, parameter: JsonObject, operation: JsonObject) -> JsonDict:
        return self._mention(_plain_parameter(parameter), operation)

    def _mention(self, parameter: JsonDict, operation: JsonObject) -> JsonDict:
        ending = _ending(parameter, operation)
        if ending is None:
            return parameter
        name = f"{parameter['name']}-{ending}"
        self.shared[name] = parameter
        return {"$ref": _PARAMETERS + name}


def _ending(parameter: JsonObject, operation: JsonObject) -> str | None:
    """The ending of the shared name; None for a parameter that stands where it is used."""
    name, action = parameter["name"], operation.get("x-kubernetes-action", "")
    if name == "path" and parameter["in"] == "path":
        return _PATH_BELOW
    if name == "tailLines" and not is_since("1.32"):
        return _OLD_TAIL_LINES
    if action == "connect":
        action = operation["x-kubernetes-group-version-kind"]["kind"]
    return SHARED_BY.get(action, {}).get(name) or SHARED.get(name)


def _listed(key: str, values: list[Any]) -> JsonObject:
    return {key: values} if values else {}


def _in_order(types: Iterable[str]) -> list[str]:
    known = [one for one in _PRODUCED if one in types]
    return [*known, *sorted(set(types).difference(known))]


def _body(body: JsonObject | None) -> Iterable[JsonDict]:
    if body is None:
        return
    schema = swagger_schema(next(iter(body["content"].values()))["schema"])
    required = {"required": True} if body.get("required") else {}
    yield {"name": "body", "in": "body", **required, "schema": schema}


def _plain_parameter(parameter: JsonObject) -> JsonDict:
    given = {key: value for key, value in parameter.items() if key != "schema"}
    return {**given, **parameter["schema"]}


def _answer(answer: JsonObject) -> JsonDict:
    told = {"description": answer["description"]}
    content = answer.get("content")
    if not content:
        return told
    return {**told, "schema": swagger_schema(next(iter(content.values()))["schema"])}
