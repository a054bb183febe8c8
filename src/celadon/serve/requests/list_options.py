"""The options of reads: what a query asks of a list or a watch, and what is wrong with it.

All options are read before any is judged, and only then do the fields of a selector have to be
fields of the resource. As k8s.io/apiserver `pkg/endpoints/handlers/get.go` (`listOpts`) and
k8s.io/apimachinery `pkg/apis/meta/internalversion/{defaults,validation}`.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Final

from celadon.kube import FieldError, FieldPath, fieldpath, status
from celadon.kube.catalogue import Resource
from celadon.kube.go import parse_int, quote
from celadon.kube.registry import request_options
from celadon.kube.selection import (
    FieldSelector,
    FieldTerm,
    LabelSelector,
    SelectorError,
    parse_field_selector,
    parse_label_selector,
    resolve_fields,
)
from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.serve.http_messages import HttpRequest
from celadon.serve.requests.request_info import is_true

LIST_OPTIONS: Final = "ListOptions"
EXACT: Final = "Exact"
NOT_OLDER_THAN: Final = "NotOlderThan"
MAX_REVISION: Final = (1 << 64) - 1
_DIGITS: Final = late_pattern(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class ListOptions:
    """`limit` 0 is none; `timeout_seconds` and `send_initial_events` are None where not given."""

    labels: LabelSelector = field(default_factory=lambda: parse_label_selector(""))
    fields: FieldSelector = field(default_factory=lambda: parse_field_selector(""))
    has_selector: bool = False
    resource_version: str = ""
    match: str = ""
    limit: int = 0
    continue_token: str = ""
    timeout_seconds: int | None = None
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None

    def of_one(self, name: str) -> ListOptions:
        """The same for the one object of this name."""
        terms = (*self.fields.terms, FieldTerm("metadata.name", name))
        return replace(self, fields=FieldSelector(terms), has_selector=True)


def list_options(request: HttpRequest, resource: Resource) -> ListOptions:
    """Raises StatusError: 400 for what cannot be read, then 422 for what does not go together, then
    400 for fields that the resource does not have."""
    options = _read(request)
    watch = is_true(request, "watch")  # of any verb: deletions may say it, `/watch/` need not
    if watch:
        options = _with_watch_defaults(options)
    errors = _watch_errors(options) if watch else _list_errors(options)
    if errors:
        raise request_options.invalid_options(LIST_OPTIONS, errors)
    try:
        return replace(options, fields=resolve_fields(options.fields, resource))
    except SelectorError as error:
        raise status.bad_request(str(error)) from None


def _read(request: HttpRequest) -> ListOptions:
    """Numbers first, then selectors, whose fields are as they were given. Raises StatusError 400.

    The query becomes a struct of texts and numbers, and that becomes the one with selectors."""
    seconds = integer(request, "timeoutSeconds")
    limit = integer(request, "limit") or 0
    try:
        labels = parse_label_selector(request.first("labelSelector"))
        fields = parse_field_selector(request.first("fieldSelector"))
    except SelectorError as error:
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
    """A number in the query; None where it is absent. Raises StatusError 400."""
    if parameter not in request.query:
        return None
    try:
        return parse_int(request.first(parameter))
    except ValueError as error:
        raise status.bad_request(str(error)) from None


def revision_of(text: str) -> int:
    """A `resourceVersion`; empty reads as 0. Raises ValueError with what upstream says of it."""
    if not text:
        return 0
    if _DIGITS.fullmatch(text) is None:
        why = "invalid syntax"
    elif int(text) > MAX_REVISION:
        why = "value out of range"
    else:
        return int(text)
    error = fieldpath.invalid(
        FieldPath("resourceVersion"), text, f"strconv.ParseUint: parsing {quote(text)}: {why}"
    )
    raise ValueError(str(error))


def _with_watch_defaults(options: ListOptions) -> ListOptions:
    """A watch that says nothing of initial events, from no version in particular, gets them."""
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
            why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            errors.append(fieldpath.forbidden(_match_path(), why))
        if options.continue_token:
            why = "resourceVersionMatch is forbidden when continue is provided"
            errors.append(fieldpath.forbidden(_match_path(), why))
        if options.match not in (EXACT, NOT_OLDER_THAN):
            known = (EXACT, NOT_OLDER_THAN, "")
            errors.append(fieldpath.not_supported(_match_path(), options.match, known))
        if options.match == EXACT and options.resource_version == "0":
            why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            errors.append(fieldpath.forbidden(_match_path(), why))
    if options.send_initial_events is not None:
        why = "sendInitialEvents is forbidden for list"
        errors.append(fieldpath.forbidden(FieldPath("sendInitialEvents"), why))
    return errors


def _watch_errors(options: ListOptions) -> list[FieldError]:
    errors = []
    initial = options.send_initial_events is not None
    if initial and options.match != NOT_OLDER_THAN:
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(fieldpath.forbidden(_match_path(), why))
    if not options.match:
        return errors
    if not initial:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        errors.append(fieldpath.forbidden(_match_path(), why))
    if options.match != NOT_OLDER_THAN:
        errors.append(fieldpath.not_supported(_match_path(), options.match, (NOT_OLDER_THAN,)))
    if options.continue_token:
        why = "resourceVersionMatch is forbidden when continue is provided"
        errors.append(fieldpath.forbidden(_match_path(), why))
    return errors
