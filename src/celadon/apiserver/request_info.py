"""`RequestInfo`: verb, resource, namespace and name of a request, read off its path and query.

As k8s.io/apiserver `pkg/endpoints/request/requestinfo.go`. Authorization, audit and routing all go
by this one reading.
"""

from __future__ import annotations

import base64
import functools
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from celadon.apiserver.http_messages import HttpRequest
from celadon.kube import FieldError, FieldPath, fieldpath, selectors, status
from celadon.kube.go import (
    DurationError,
    JsonSyntaxError,
    json_text,
    parse_go_duration,
    parse_int,
    parse_uint,
    read_json,
)
from celadon.kube.json_types import JsonDict, misfit
from celadon.kube.registry import request_bodies
from celadon.kube.releases import emulated_release
from celadon.kube.resources import Resource, gates_of
from celadon.kube.schemas import json_kind
from celadon.late_patterns import late_pattern
from celadon.memoization import LONGEST, remembered
from celadon.records import dataclass, field, replace

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
_NAME_SELECTOR: Final = late_pattern(r"metadata\.name==?([^,=!\\]+)$")

_NEED_NO_ENCODING: Final = "/$&+,:;=@!'()*~"
"""In paths, beside letters and digits."""


class UnreadablePath(ValueError):
    """The path says neither which resource it means nor that it means none."""


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class RequestInfo:
    """Says what a request is about. Of one that is not for a resource, only `verb` (the method in
    lower case) and `path` say anything. `path` has its percent-encoding resolved, `rest` is what
    follows a subresource, as one text: there may be a hundred thousand parts."""

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
    rest: str = ""
    deprecated_watch: bool = False
    """The path has the word `watch` in it."""


def request_info(request: HttpRequest) -> RequestInfo:
    """Read what a request is about. Raises UnreadablePath for `/api/v1/watch` and its like."""
    target = request.target
    return _short_info(request.method, target) if len(target) <= LONGEST else _read_info(request)


@functools.lru_cache(maxsize=1024)  # a twentieth of the instructions of a get
def _short_info(method: str, target: str) -> RequestInfo:
    return _read_info(HttpRequest(method, target))


def _read_info(request: HttpRequest) -> RequestInfo:
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
            reason = f"unable to determine kind and namespace from url, {request.target}"
            raise UnreadablePath(reason)
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
        rest="/".join(rest[3:]),
        deprecated_watch=special and verb == "watch",
    )


def plainly_asked(request: HttpRequest, info: RequestInfo) -> HttpRequest:
    """Return the same request with a path that is encoded where it has to be: `/%76ersion` is
    looked for as `/version`, for which the right was asked."""
    if "%" not in request.path:
        return request
    _, mark, query = request.target.partition("?")
    path = urllib.parse.quote(info.path, safe=_NEED_NO_ENCODING)
    return replace(request, target=f"{path}{mark}{query}")


def check_timeout(request: HttpRequest, info: RequestInfo) -> None:
    """Check the deadline that a request may set for itself: it has to be a duration; those that
    last (watches, connections) have none. Raises StatusError 400."""
    text = request.first("timeout")
    lasts = info.verb in LONG_RUNNING or info.subresource in LONG_RUNNING_BELOW
    if not text or lasts:
        return
    try:
        parse_go_duration(text)
    except DurationError as error:
        reason = f"invalid timeout specified in the request URL - {error}"
        raise status.bad_request(reason) from None


def _namespace(parts: list[str]) -> tuple[str, list[str]]:
    """Return the namespace, and what is left when its two parts are taken away. The parts of a
    Namespace object itself stay; it counts as being in the namespace that it is."""
    if parts[0] != "namespaces":
        return "", parts
    namespace = parts[1] if len(parts) > 1 else ""
    inside = len(parts) > 2 and parts[2] not in NAMESPACE_SUBRESOURCES
    return namespace, parts[2:] if inside else parts


def _collection_verb(verb: str, request: HttpRequest) -> tuple[str, str]:
    """Return the verb of a request without a name, and the one name that a selector may leave."""
    if verb == "get":
        verb = "watch" if is_true(request, "watch") else "list"
    elif verb == "delete":
        verb = "deletecollection"
    name = ""
    if verb in ("list", "watch", "deletecollection"):
        name = selected_name(request.first("fieldSelector"))
    return verb, name


def selected_name(selector: str) -> str:
    """Return the name that a field selector demands of `metadata.name`; empty if it does not."""
    for term in dict.fromkeys(selector.split(",")):
        match = _NAME_SELECTOR.match(term)
        if match is not None and match[1] not in (".", "..") and not set("/%") & set(match[1]):
            return match[1]
    return ""


def is_true(request: HttpRequest, parameter: str) -> bool:
    """Go's reading of a boolean parameter: there, and neither `0` nor a form of `false`."""
    values = request.query.get(parameter, ())
    return bool(values) and values[0] != "0" and values[0].lower() != "false"


# --- List options ------------------------------------------------------------
#
# The options of reads: what a query asks of a list or a watch, and what is wrong with it.
#
# All options are read before any is judged, and only then do the fields of a selector have to
# be fields of the resource. As k8s.io/apiserver `pkg/endpoints/handlers/get.go` (`listOpts`)
# and k8s.io/apimachinery `pkg/apis/meta/internalversion/{defaults,validation}`.

LIST_OPTIONS: Final = "ListOptions"
EXACT: Final = "Exact"
NOT_OLDER_THAN: Final = "NotOlderThan"


# House rule 9: without slots, because `remembered` needs the instance dictionary.
@dataclass(frozen=True)
class ListOptions:
    """Holds the options of a list. `limit` 0 is none; `timeout_seconds` and `send_initial_events`
    are None where not given."""

    labels: selectors.LabelSelector = field(
        default_factory=lambda: selectors.parse_label_selector("")
    )
    fields: selectors.FieldSelector = field(
        default_factory=lambda: selectors.parse_field_selector("")
    )
    has_selector: bool = False
    resource_version: str = ""
    match: str = ""
    limit: int = 0
    continue_token: str = ""
    timeout_seconds: int | None = None
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None

    @remembered
    def conditions(self) -> tuple[selectors.KeyConditions, selectors.KeyConditions]:
        """Return what labels and fields have to be. Megabytes of terms take their time once: where
        they are read, before somebody matches with them."""
        return self.labels.conditions(), self.fields.conditions()

    def of_one(self, name: str) -> ListOptions:
        """Return options that select the one object of this name."""
        terms = (*self.fields.terms, selectors.FieldTerm("metadata.name", name))
        return replace(self, fields=selectors.FieldSelector(terms), has_selector=True)


def list_options(request: HttpRequest, resource: Resource) -> ListOptions:
    """Read the options of a list or watch. Raises StatusError: 400 for what cannot be read, then
    422 for what does not go together, then 400 for fields that the resource does not have."""
    options = consistent_options(request)
    try:
        return replace(options, fields=selectors.resolve_fields(options.fields, resource))
    except selectors.SelectorError as error:
        raise status.bad_request(str(error)) from None


def consistent_options(request: HttpRequest) -> ListOptions:
    """Read the options, whatever fields the resource has."""
    options = _read(request)
    watch = is_true(request, "watch")  # of any verb: deletions may say it, `/watch/` need not
    if watch:
        options = _with_watch_defaults(options)
    errors = _watch_errors(options) if watch else _list_errors(options)
    if errors:
        raise request_bodies.invalid_options(LIST_OPTIONS, errors)
    return options


def _read(request: HttpRequest) -> ListOptions:
    """Numbers first, then selectors, whose fields are as they were given. Raises StatusError 400.

    The query becomes a struct of texts and numbers, and that becomes the one with selectors."""
    seconds = integer(request, "timeoutSeconds")
    limit = integer(request, "limit") or 0
    try:
        labels = selectors.parse_label_selector(request.first("labelSelector"))
        fields = selectors.parse_field_selector(request.first("fieldSelector"))
    except selectors.SelectorError as error:
        raise status.bad_request(str(error)) from None
    events = is_true(request, "sendInitialEvents") if "sendInitialEvents" in request.query else None
    return ListOptions(
        labels=labels,
        fields=fields,
        has_selector=bool(fields.terms) or not labels.is_everything,
        resource_version=request.first("resourceVersion"),
        match=request.first("resourceVersionMatch"),
        limit=max(limit, 0),
        continue_token=request.first("continue"),
        timeout_seconds=seconds,
        allow_bookmarks=is_true(request, "allowWatchBookmarks"),
        send_initial_events=events,
    )


def integer(request: HttpRequest, parameter: str) -> int | None:
    """Return a number in the query; None where it is absent. Raises StatusError 400."""
    if parameter not in request.query:
        return None
    try:
        return parse_int(request.first(parameter))
    except ValueError as error:
        raise status.bad_request(str(error)) from None


def revision_of(text: str) -> int:
    """Return the revision of a `resourceVersion`; empty reads as 0. Raises ValueError with what
    upstream says of it."""
    if not text:
        return 0
    try:
        return parse_uint(text)
    except ValueError as error:
        wrong = fieldpath.invalid(FieldPath("resourceVersion"), text, str(error))
        raise ValueError(str(wrong)) from None


def _with_watch_defaults(options: ListOptions) -> ListOptions:
    """Return the options of a watch: one that says nothing of initial events, from no version in
    particular, gets them."""
    if not gates_of(emulated_release())[WATCH_LIST].on:
        return options
    unsaid = options.send_initial_events is None and not options.match
    if unsaid and options.resource_version in ("", "0"):
        return replace(options, send_initial_events=True, match=NOT_OLDER_THAN)
    return options


def _match_path() -> FieldPath:
    return FieldPath("resourceVersionMatch")


def _list_errors(options: ListOptions) -> list[FieldError]:
    errors = []
    if options.match:
        if not options.resource_version:
            reason = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            errors.append(fieldpath.forbidden(_match_path(), reason))
        if options.continue_token:
            reason = "resourceVersionMatch is forbidden when continue is provided"
            errors.append(fieldpath.forbidden(_match_path(), reason))
        if options.match not in (EXACT, NOT_OLDER_THAN):
            choices = (EXACT, NOT_OLDER_THAN, "")
            errors.append(fieldpath.not_supported(_match_path(), options.match, choices))
        if options.match == EXACT and options.resource_version == "0":
            reason = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            errors.append(fieldpath.forbidden(_match_path(), reason))
    if options.send_initial_events is not None:
        reason = "sendInitialEvents is forbidden for list"
        errors.append(fieldpath.forbidden(FieldPath("sendInitialEvents"), reason))
    return errors


WATCH_LIST: Final = "WatchList"
"""The feature gate of watches that begin with what is there."""


def _watch_errors(options: ListOptions) -> list[FieldError]:
    errors = []
    initial = options.send_initial_events is not None
    if initial and options.match != NOT_OLDER_THAN:
        reason = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(fieldpath.forbidden(_match_path(), reason))
    if initial and not gates_of(emulated_release())[WATCH_LIST].on:
        reason = (
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
        )
        errors.append(fieldpath.forbidden(FieldPath("sendInitialEvents"), reason))
    if not options.match:
        return errors
    if not initial:
        reason = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        errors.append(fieldpath.forbidden(_match_path(), reason))
    if options.match != NOT_OLDER_THAN:
        errors.append(fieldpath.not_supported(_match_path(), options.match, (NOT_OLDER_THAN,)))
    if options.continue_token:
        reason = "resourceVersionMatch is forbidden when continue is provided"
        errors.append(fieldpath.forbidden(_match_path(), reason))
    return errors


# --- Continue tokens ---------------------------------------------------------
#
# The token with which a client asks for the next page of a list.
#
# As k8s.io/apiserver `pkg/storage/continue.go`: the revision the pages are read at, and the key
# to go on from, relative to the prefix of the list.

VERSION: Final = "meta.k8s.io/v1"
_STRANGE: Final = late_pattern(r"[^A-Za-z0-9_\-\r\n]")
_KINDS: Final = {"v": str, "rv": int, "start": str}
_GO_TYPES: Final[Mapping[type, str]] = {str: "string", int: "int64"}
LATEST: Final = -1
"""The revision of a token that goes on with whatever is there now: an inconsistent list. So does
any other that is negative."""


class ContinueToken(NamedTuple):
    """Holds what a continue token says. `start` is relative to the prefix of the list."""

    revision: int
    start: str

    def text(self) -> str:
        """Return the token as it goes to the client."""
        value = {"v": VERSION, "rv": self.revision, "start": self.start}
        return base64.urlsafe_b64encode(json_text(value).encode()).decode().rstrip("=")


class ContinueTokenError(ValueError):
    """The token is not one of ours; the text is upstream's."""


def read_continue_token(text: str) -> ContinueToken:
    """Read a token. Raises ContinueTokenError."""
    data = _decoded(text)
    try:
        value: Any = read_json(data.decode("utf-8", "replace"), data=data).value
    except JsonSyntaxError as error:
        raise _invalid(str(error)) from None
    members = _members(value)
    if members.get("v") != VERSION:
        raise _invalid(f"server does not recognize this encoded version {members.get('v') or ''}")
    revision, start = members.get("rv") or 0, members.get("start") or ""
    if revision == 0:
        raise _invalid(f"incorrect encoded start resourceVersion (version {VERSION})")
    if not start:
        raise _invalid(f"encoded start key empty (version {VERSION})")
    path = start.removeprefix("/")
    if path and any(part in ("", ".", "..") for part in path.split("/")):
        raise _invalid(start)
    return ContinueToken(revision, path)


def _members(value: Any) -> JsonDict:  # noqa: ANN401 - any JSON
    """Return the members of a token, as Go reads them into a structure: named in any case, of
    several the last."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        reason = f"{json_kind(value)} into Go value of type storage.continueToken"
        raise _invalid(f"json: cannot unmarshal {reason}")
    members = {}
    for written, member in value.items():
        name = written.casefold()
        kind = _KINDS.get(name)
        if kind is None or member is None:
            continue
        if misfit(member, kind) is not None:
            subject, go_type = json_kind(member, exact=kind is int), _GO_TYPES[kind]
            reason = f"{subject} into Go struct field continueToken.{name} of type {go_type}"
            raise _invalid(f"json: cannot unmarshal {reason}")
        members[name] = member
    return members


def _decoded(text: str) -> bytes:
    """Base64 without padding, complained about as Go does."""
    bare = text.replace("\r", "").replace("\n", "")
    strange = _STRANGE.search(text)
    if strange is not None:
        raise _invalid(f"illegal base64 data at input byte {strange.start()}")
    if len(bare) % 4 == 1:
        raise _invalid(f"illegal base64 data at input byte {len(text) - 1}")
    return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))


def _invalid(reason: str) -> ContinueTokenError:
    return ContinueTokenError(f"continue key is not valid: {reason}")
