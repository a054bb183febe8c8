"""What a request is about: verb, resource, namespace and name, read off its path and query.

As k8s.io/apiserver `pkg/endpoints/request/requestinfo.go`. Authorization, audit and routing all go
by this one reading.
"""

from __future__ import annotations

import urllib.parse
from typing import Final

from celadon.cel.value_functions import parse_duration
from celadon.kube import status
from celadon.kube.go import quote
from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.serve.http_messages import HttpRequest

VERBS: Final = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
COLLECTION_VERBS: Final = frozenset({"list", "watch", "deletecollection"})
SPECIAL_VERBS: Final = frozenset({"watch", "proxy"})
"""Words that may stand between the version and the resource; then they are the verb."""

NAMESPACE_SUBRESOURCES: Final = frozenset({"status", "finalize"})
LONG_RUNNING: Final = frozenset({"watch", "proxy"})
LONG_RUNNING_BELOW: Final = frozenset({"attach", "exec", "log", "portforward", "proxy"})
"""Verbs and subresources whose requests last as long as they like."""
_NUMBER: Final = late_pattern(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_UNIT: Final = late_pattern(r"[^0-9.]*")
_UNITS: Final = frozenset({"ns", "us", "µs", "μs", "ms", "s", "m", "h"})
_NAME_SELECTOR: Final = late_pattern(r"metadata\.name==?([^,=!\\]+)$")


class UnreadablePath(ValueError):
    """The path says neither which resource it means nor that it means none."""


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class RequestInfo:
    """Of a request that is not for a resource, only `verb` (the method in lower case) and `path`
    say anything. `path` has its percent-encoding resolved, `rest` is what follows a subresource."""

    verb: str
    path: str
    is_resource: bool = False
    prefix: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    rest: tuple[str, ...] = ()
    deprecated_watch: bool = False
    """The path has the word `watch` in it."""


def request_info(request: HttpRequest) -> RequestInfo:
    """Raises UnreadablePath for `/api/v1/watch` and its like."""
    path = urllib.parse.unquote(request.path)
    parts = path.strip("/").split("/")
    method = request.method
    if len(parts) < 3 or parts[0] not in ("api", "apis"):
        return RequestInfo(method.lower(), path)
    group = ""
    rest = parts[1:]
    if parts[0] == "apis":
        if len(parts) < 4:
            return RequestInfo(method.lower(), path)
        group, rest = parts[1], parts[2:]
    version, rest = rest[0], rest[1:]
    verb = VERBS.get(method, "")
    special = rest[0] in SPECIAL_VERBS
    if special:
        verb, rest = rest[0], rest[1:]
        if not rest:
            raise UnreadablePath(f"unable to determine kind and namespace from url, {path}")
    namespace, rest = _namespace(rest)
    resource, name, subresource = (*rest[:3], "", "", "")[:3]
    if not special and not name:
        verb, name = _collection_verb(verb, request)
    return RequestInfo(
        verb=verb,
        path=path,
        is_resource=True,
        prefix=parts[0],
        group=group,
        version=version,
        namespace=namespace,
        resource=resource,
        subresource=subresource,
        name=name,
        rest=tuple(rest[3:]),
        deprecated_watch=special and verb == "watch",
    )


def check_timeout(request: HttpRequest, info: RequestInfo) -> None:
    """The deadline that a request may set for itself has to be a duration; those that last
    (watches, connections) have none. Raises StatusError 400."""
    text = request.first("timeout")
    lasts = info.verb in LONG_RUNNING or info.subresource in LONG_RUNNING_BELOW
    if not text or lasts or parse_duration(text) is not None:
        return
    why = f"time: {_duration_fault(text)}"
    raise status.bad_request(f"invalid timeout specified in the request URL - {why}")


def _duration_fault(text: str) -> str:
    """What Go's `time.ParseDuration` says."""
    rest = text.lstrip("+-") if text[0] in "+-" else text
    while rest:
        number = _NUMBER.match(rest)
        if number is None:
            break
        unit = _UNIT.match(rest, number.end())
        assert unit is not None
        if not unit[0]:
            return f"missing unit in duration {quote(text)}"
        if unit[0] not in _UNITS:
            return f"unknown unit {quote(unit[0])} in duration {quote(text)}"
        rest = rest[unit.end() :]
    return f"invalid duration {quote(text)}"


def _namespace(parts: list[str]) -> tuple[str, list[str]]:
    """The namespace, and what is left when its two parts are taken away. The parts of a Namespace
    object itself stay; it counts as being in the namespace that it is."""
    if parts[0] != "namespaces":
        return "", parts
    namespace = parts[1] if len(parts) > 1 else ""
    inside = len(parts) > 2 and parts[2] not in NAMESPACE_SUBRESOURCES
    return namespace, parts[2:] if inside else parts


def _collection_verb(verb: str, request: HttpRequest) -> tuple[str, str]:
    """The verb of a request without a name, and the one name that a selector may leave."""
    if verb == "get":
        verb = "watch" if is_true(request, "watch") else "list"
    elif verb == "delete":
        verb = "deletecollection"
    name = ""
    if verb in ("list", "watch", "deletecollection"):
        name = selected_name(request.first("fieldSelector"))
    return verb, name


def selected_name(selector: str) -> str:
    """The name that a field selector demands of `metadata.name`; empty if it does not."""
    for term in dict.fromkeys(selector.split(",")):
        found = _NAME_SELECTOR.match(term)
        if found is not None and found[1] not in (".", "..") and not set("/%") & set(found[1]):
            return found[1]
    return ""


def is_true(request: HttpRequest, parameter: str) -> bool:
    """Go's reading of a boolean parameter: there, and neither `0` nor a form of `false`."""
    values = request.query.get(parameter, ())
    return bool(values) and values[0] != "0" and values[0].lower() != "false"
