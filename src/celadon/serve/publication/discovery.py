"""Requests for discovery, answered: `/api`, `/apis` and what is below them.

Which of two forms `/api` and `/apis` have is decided by the Accept header: the aggregated document
for those who know it, else a list of groups. As k8s.io/apiserver
`pkg/endpoints/discovery/aggregated`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from celadon.kube import StatusError, status
from celadon.kube.go import json_text
from celadon.serve.answers import NOT_FOUND, object_answer, status_answer
from celadon.serve.http_messages import JSON, HttpAnswer, HttpRequest
from celadon.serve.publication.discovery_documents import (
    aggregated,
    api_group,
    api_group_list,
    api_resource_list,
    api_versions,
)
from celadon.serve.publication.published_apis import PublishedApis
from celadon.serve.requests.negotiation import (
    BUILT_IN_TYPES,
    PROTOBUF,
    Accepted,
    MediaClause,
    is_pretty,
    media_clauses,
    require_route,
)

AGGREGATED_TYPE: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_AGGREGATED: Final = {"as": "APIGroupDiscoveryList", "g": "apidiscovery.k8s.io", "v": "v2"}


def discovery_answer(
    request: HttpRequest, apis: PublishedApis, server_address: str
) -> HttpAnswer | None:
    """None for paths that discovery does not answer. `server_address` is host and port. Raises
    StatusError."""
    parts = request.path.strip("/").split("/")
    match parts:
        case ["api" | "apis"]:
            return _root(request, apis, parts[0], server_address)
        case ["api", version]:
            return _version(request, apis, "", version)
        case ["apis", name]:
            group = apis.group(name) if name else None
            return NOT_FOUND if group is None else _document(request, api_group(group))
        case ["apis", name, version]:
            return _version(request, apis, name, version)
        case _:
            return None


def _root(request: HttpRequest, apis: PublishedApis, root: str, address: str) -> HttpAnswer:
    """`/api` stands behind a router; `/apis/`, with a slash, knows no aggregated document."""
    if root == "api":
        require_route(request, BUILT_IN_TYPES)
    try:
        accepted = _accepted(request, allow_aggregated=request.path != "/apis/")
    except StatusError as error:
        return status_answer(error, Accepted())
    if accepted is None:
        return _aggregated_answer(request, apis, root)
    document = api_versions(address) if root == "api" else api_group_list(apis)
    return _written(document, accepted)


def _version(request: HttpRequest, apis: PublishedApis, name: str, version: str) -> HttpAnswer:
    """What there is not is said in one way of built-in groups and in another of custom ones: only
    the former stand behind a router. Raises StatusError."""
    group = apis.group(name)
    if group is None:
        return NOT_FOUND
    found = group.version(version)
    if found is None and group.custom:
        return NOT_FOUND
    if found is None:
        raise status.route_not_found()
    if not group.custom:
        if request.method != "GET":
            raise status.method_not_allowed()
        require_route(request, BUILT_IN_TYPES)
    return _document(request, api_resource_list(found))


def _document(request: HttpRequest, document: Mapping[str, Any]) -> HttpAnswer:
    try:
        accepted = _accepted(request, allow_aggregated=False)
    except StatusError as error:
        return status_answer(error, Accepted())
    assert accepted is not None
    return _written(document, accepted)


def _written(document: Mapping[str, Any], accepted: Accepted) -> HttpAnswer:
    if accepted.media_type == PROTOBUF:
        document = {"apiVersion": "v1", **document}
    return object_answer(200, document, accepted)


def _accepted(request: HttpRequest, *, allow_aggregated: bool) -> Accepted | None:
    """None where the aggregated form is wanted. Raises StatusError 406."""
    given = ", ".join(request.header_values("accept"))
    for clause in media_clauses(given) or [MediaClause("*", "*")]:
        for media_type in BUILT_IN_TYPES:
            if not clause.fits(media_type):
                continue
            if "as" not in clause.parameters:
                pretty = is_pretty(request, clause.parameters.get("pretty", ""))
                return Accepted(media_type, pretty=pretty)
            if allow_aggregated and media_type == JSON and _wants_aggregated(clause):
                return None
    raise status.not_acceptable(BUILT_IN_TYPES)


def _wants_aggregated(clause: MediaClause) -> bool:
    return _AGGREGATED.items() <= clause.parameters.items()


def _aggregated_answer(request: HttpRequest, apis: PublishedApis, root: str) -> HttpAnswer:
    body, etag = _aggregated_body(apis, root)
    headers = (("ETag", etag), ("Vary", "Accept"), ("Cache-Control", "public"))
    if request.header("if-none-match") == etag:
        return HttpAnswer(304, headers=headers)
    return HttpAnswer(200, AGGREGATED_TYPE, body, headers)


@lru_cache(maxsize=8)
def _aggregated_body(apis: PublishedApis, root: str) -> tuple[bytes, str]:
    """The document and its tag."""
    groups = (apis.core,) if root == "api" else apis.groups
    body = json_text(aggregated(groups)).encode() + b"\n"
    return body, f'"{hashlib.sha512(body).hexdigest().upper()}"'
