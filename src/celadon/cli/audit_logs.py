"""Files of audit logs to requests: JSON lines, lists of events, sets of rotated files, with gzip;
and the request that an event tells of.

A log that is rotated has the newest events in `audit.log` and older ones in files whose names have
their date, or a number that grows with their age. Lines are read one at a time, and so are
documents over several lines; there are limits to each.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import enum
import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, BinaryIO, Final, cast
from urllib.parse import parse_qs, urlsplit

from celadon.admission import Operation, Request, default_options
from celadon.admission.partial_decisions import Missing
from celadon.admission.webhooks import MUTATION
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.reading.documents import (
    MAX_LIST_CHARACTERS,
    STDIN,
    STDIN_CLOSED,
    STDIN_NAME,
    Document,
    Problem,
    expand_paths,
    unread,
)
from celadon.cli.reading.json_text import read_written
from celadon.goyaml import UnreadableError
from celadon.kube import GroupVersionKind, GroupVersionResource, Json, JsonObject, User, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Catalog
from celadon.kube.well_known_values import NAMESPACES
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Cloud wrappers ----------------------------------------------------------
#
# Audit events, however they are packed.
#
# A server writes `Event`s (audit.k8s.io/v1), or an `EventList`. EKS sends them to CloudWatch,
# whose exports have each as the text of a `message`, and whose subscriptions hand on such texts
# packed with gzip in base64. AKS writes diagnostics with the text in `properties.log`, or a
# table whose columns are the members of events. GKE writes entries of Cloud Logging with an
# `AuditLog` (`protoPayload`), which is another form of the same: it has no groups of users, no
# HTTP code, and names the resource in a path. What is in it becomes an Event, and what is not
# is missing.
#
# The forms are those that the clouds document: Amazon EKS "control plane logging" and
# CloudWatch Logs (`filter-log-events`, subscriptions to Lambda, Kinesis and Firehose, exports,
# Insights), Azure "monitor AKS" (`kube-audit` in storage accounts, event hubs and Log
# Analytics; the tables AKSAudit and AKSAuditAdmin), Google Cloud "audit logs for GKE" and
# `google.cloud.audit.AuditLog`.

_LISTS: Final = (
    *("items", "events", "logEvents", "records", "Records", "entries", "value", "results"),
)
"""Members of what packs several."""
_HOLDERS: Final = ("awslogs", "kinesis")
"""Members of what packs one."""
_TEXTS: Final = ("message", "@message", "log", "log_s", "Log", "data")
"""Members that have an event as a text."""
_PACKED: Final = "H4sI"
"""How gzip in base64 begins."""
_AUDIT_LOG: Final = "type.googleapis.com/google.cloud.audit.AuditLog"
_DEPTH: Final = 8
"""Packings within packings."""
_COLUMNS: Final = {
    "AuditId": "auditID",
    "Verb": "verb",
    "Level": "level",
    "Stage": "stage",
    "RequestUri": "requestURI",
    "RequestReceivedTime": "requestReceivedTimestamp",
    "StageReceivedTime": "stageTimestamp",
    "UserAgent": "userAgent",
    "User": "user",
    "ObjectRef": "objectRef",
    "ResponseStatus": "responseStatus",
    "RequestObject": "requestObject",
    "ResponseObject": "responseObject",
    "Annotations": "annotations",
}
"""Of the tables of AKS. What a query prints has objects as texts."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An Event, as audit.k8s.io/v1 has it; `knows_groups` is whether the user's groups are all."""

    value: JsonObject
    knows_groups: bool = True


def events_in(value: object, depth: int = _DEPTH) -> Iterator[LoggedEvent]:
    """Yield the events in what a line, or a file, says."""
    if depth == 0:
        return
    if isinstance(value, list):
        fields = {
            element["field"]: element.get("value")
            for element in value
            if isinstance(element, dict) and isinstance(element.get("field"), str)
        }
        if "@message" in fields:  # a row of CloudWatch Logs Insights
            yield from events_in(fields, depth - 1)
            return
        for item in value:
            yield from events_in(item, depth - 1)
    elif isinstance(value, dict):
        yield from _in_object(value, depth)


def _in_object(value: JsonObject, depth: int) -> Iterator[LoggedEvent]:
    if "auditID" in value and "verb" in value:
        yield LoggedEvent(value)
        return
    if "AuditId" in value and "Verb" in value:
        yield LoggedEvent(_from_columns(value))
        return
    payload = value.get("protoPayload")
    if isinstance(payload, dict):
        event = _from_audit_log(value, payload)
        if event is not None:
            yield LoggedEvent(event, knows_groups=False)
        return
    for inner in _packings(value):
        if isinstance(inner, dict | list):
            yield from events_in(inner, depth - 1)
            return


def _packings(value: JsonObject) -> Iterator[object]:
    """Everything in which an object may have events; the first that is one has them."""
    for name in _LISTS:
        if isinstance(value.get(name), list):
            yield value[name]
    if isinstance(value.get("tables"), list):  # of a query's answer
        yield [row for table in value["tables"] for row in _rows(table)]
    properties = value.get("properties")
    if isinstance(properties, str):
        properties = _parsed(properties)
    for holder in (value, properties):
        if isinstance(holder, dict):
            yield from (holder.get(name) for name in _HOLDERS)
            for name in _TEXTS:
                text = holder.get(name)
                yield _parsed(text) if isinstance(text, str) else text


def _rows(table: Json) -> Iterator[dict[str, object]]:
    """Rows of a table by the names of its columns."""
    if isinstance(table, dict) and isinstance(table.get("columns"), list):
        names = [str(mapping(column).get("name")) for column in table["columns"]]
        for row in table.get("rows") or ():
            if isinstance(row, list):
                yield dict(zip(names, row, strict=False))


def _from_columns(row: JsonObject) -> JsonObject:
    columns = ((ours, row.get(name)) for name, ours in _COLUMNS.items())
    return {
        name: _parsed(value, value) if isinstance(value, str) else value
        for name, value in columns
        if value not in (None, "")
    }


def _parsed(text: str, otherwise: object = None) -> Any:  # noqa: ANN401 - any JSON
    """Return what a text holds, packed or not; other texts of the same log hold nothing."""
    if text.startswith(_PACKED):
        text = _unpacked(text)
    if not text.lstrip().startswith(("{", "[")):
        return otherwise
    try:
        return read_written(text)
    except UnreadableError:
        return otherwise


def _unpacked(text: str) -> str:
    """Unpack gzip in base64; empty for what is none, or would be larger than any input may be."""
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        # The bound is given to zlib, since a kilobyte may unpack to a gigabyte.
        unpacked = unpacking.decompress(base64.b64decode(text), MAX_LIST_CHARACTERS)
        return "" if unpacking.unconsumed_tail else unpacked.decode()
    except (binascii.Error, zlib.error, ValueError):
        return ""


def _from_audit_log(entry: JsonObject, payload: JsonObject) -> JsonObject | None:
    """Return the Event that an AuditLog of Google's tells of; None for other services' logs."""
    if payload.get("serviceName") != "k8s.io" or payload.get("@type", _AUDIT_LOG) != _AUDIT_LOG:
        return None
    method = str(payload.get("methodName") or "")
    request, response = _typed(payload.get("request")), _typed(payload.get("response"))
    request_metadata = mapping(payload.get("requestMetadata"))
    identity = mapping(payload.get("authenticationInfo"))
    reference = _reference(str(payload.get("resourceName") or ""))
    # Google's entries do not say their level.
    level = "Metadata" if request is None and response is None else "RequestResponse"
    timestamp = entry.get("timestamp")
    event: dict[str, object] = {
        "level": level,
        "auditID": entry.get("insertId") or "",
        # An AuditLog is written once the request is answered.
        "stage": "ResponseComplete",
        "verb": method.rpartition(".")[2],
        "user": {"username": identity.get("principalEmail") or ""},
        "userAgent": request_metadata.get("callerSuppliedUserAgent") or "",
        "objectRef": reference,
        "requestReceivedTimestamp": timestamp,
        "stageTimestamp": timestamp,
        "annotations": mapping(entry.get("labels")),
        "responseStatus": _status(mapping(payload.get("status")), response),
    }
    if request is not None:
        event["requestObject"] = request
    if response is not None:
        event["responseObject"] = response
    return event


def _typed(value: object) -> dict[str, Json] | None:
    """Return the value without the name of the type that Google adds."""
    if not isinstance(value, dict) or not value:
        return None
    return {key: member for key, member in value.items() if key != "@type"}


def _status(status: JsonObject, response: JsonObject | None) -> JsonObject:
    """Return the answer's own Status where there is one: Google's codes are those of gRPC, so of a
    success it is not known which one it was."""
    if response is not None and response.get("kind") == "Status":
        return dict(response)
    return {"code": 500 if status.get("code") else 0, "message": status.get("message") or ""}


def _reference(path: str) -> JsonDict:
    """`apps/v1/namespaces/shop/deployments/web/status`; the core group is `core`."""
    group, _, rest = path.partition("/")
    version, _, rest = rest.partition("/")
    steps = [step for step in rest.split("/") if step]
    result = {"apiGroup": "" if group == "core" else group, "apiVersion": version}
    # `namespaces/shop/status` is the Namespace itself, `namespaces/shop/pods` something in it.
    if len(steps) > 2 and steps[0] == "namespaces" and steps[2] not in _OF_NAMESPACES:
        result["namespace"] = steps[1]
        steps = steps[2:]
    return result | dict(_named(steps))


def _named(steps: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from zip(("resource", "name", "subresource"), steps, strict=False)


_OF_NAMESPACES: Final = ("finalize", "status")
"""Subresources of namespaces themselves."""

_GZIP: Final = b"\x1f\x8b"
_NAMES: Final = (".log", ".json", ".jsonl", ".ndjson", ".gz", ".txt")
_DATED: Final = late_pattern(r"\d{4}-?\d\d-?\d\d")
_NUMBERED: Final = late_pattern(r"\.log\.(\d+)(?:\.gz)?$")
"""What logrotate and others put behind the name, a date perhaps."""
_BEGIN: Final = late_pattern(r"\S")
_STAMP: Final = late_pattern(rb"^[0-9T:.Z+\- ]{10,40} (?=\{)")
_LEAST_READ: Final = 1 << 20
_MOST_READ: Final = 16 << 20
"""What exports of CloudWatch put before each line."""


@dataclass(frozen=True, slots=True)
class LoggedLine:
    """An event and where it stands. `read_bytes` of all files come before it."""

    file: str
    line: int
    event: LoggedEvent | None
    read_bytes: int = 0


def log_files(arguments: Sequence[str]) -> list[str | Problem]:
    """Return the files that are meant, the oldest of a rotated set first."""
    result: list[str | Problem] = []
    for argument in arguments:
        if os.path.isdir(argument):
            files = list(_below(argument))
            result += files or [Problem(argument, 0, "no log in this folder")]
        else:
            paths = list(expand_paths([argument]))
            result += _by_age(path for path in paths if isinstance(path, str))
            result += (path for path in paths if isinstance(path, Problem))
    return result


def _below(folder: str) -> Iterator[str | Problem]:
    """Yield the logs of a folder, then those of folders in it: clouds export to one for each
    hour."""
    closed: list[OSError] = []
    for path, folders, names in os.walk(folder, onerror=closed.append):
        folders.sort()
        files = (os.path.join(path, name) for name in names if _is_log(name))
        yield from _by_age(file for file in files if os.path.isfile(file))
    yield from (unread(error.filename, error) for error in closed)


def _by_age(files: Iterable[str]) -> list[str]:
    return sorted(files, key=_age)


def _age(path: str) -> tuple[int, str]:
    """Dated ones by their date, or by their number, before the one that is written to."""
    name = os.path.basename(path)
    if _DATED.search(name):
        return -sys.maxsize, name
    numbered = _NUMBERED.search(name)
    return -int(numbered[1]) if numbered else 1, name


def _is_log(name: str) -> bool:
    return name.endswith(_NAMES) or _NUMBERED.search(name) is not None


def total_bytes(files: Sequence[str | Problem]) -> int:
    """Return the size of the files as they lie on the disk, as far as that is known."""
    names = (file for file in files if isinstance(file, str))
    return sum(os.path.getsize(name) for name in names if os.path.isfile(name))


def read_events(files: Sequence[str | Problem]) -> Iterator[LoggedLine | Problem]:
    """Yield all events, file by file. What is no event has none."""
    before = 0
    for file in files:
        if isinstance(file, Problem):
            yield file
            continue
        try:
            yield from _events(file, before)
        except (OSError, EOFError, zlib.error, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            yield Problem(file, 0, f"cannot be read: {reason.lower()}")
        before += total_bytes([file])


def _events(file: str, before: int) -> Iterator[LoggedLine | Problem]:
    if file == STDIN and sys.stdin is None:
        yield STDIN_CLOSED
        return
    if file == STDIN:
        yield from _stream(STDIN_NAME, sys.stdin.buffer, sys.stdin.buffer, before)
        return
    with open(file, "rb") as raw:
        packed = raw.peek(len(_GZIP)).startswith(_GZIP)
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        yield from _stream(file, stream, raw, before)


def _stream(
    file: str, stream: BinaryIO, raw: BinaryIO, before: int
) -> Iterator[LoggedLine | Problem]:
    """Yield a document a line or, if the first line is none, documents over several lines."""
    number = 0
    while line := stream.readline(MAX_LIST_CHARACTERS):
        number += 1
        text = _STAMP.sub(b"", line.strip())
        if not text:
            continue
        documents = list(_documents(text)) or [None]
        index = before + (raw.tell() if raw.seekable() else 0)
        torn = text.endswith(b"}")  # a rotated file may begin in the middle of a line
        if documents[0] is None and number == 1 and not torn:
            yield from _whole(file, line, stream)
            return
        for item in documents:
            yield from _found(file, number, item, index)


def _whole(file: str, begin: bytes, stream: BinaryIO) -> Iterator[LoggedLine | Problem]:
    """Yield documents over several lines. No more is held than one of them, and what is read at
    once; the more there is of it, the more is read before it is tried again."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    content = decoder.decode(begin)
    while len(content) <= MAX_LIST_CHARACTERS:
        index = 0
        while document := _document_at(content, index):
            yield from _found(file, 1, _value(content[document].encode()), 0)
            index = document.stop
        content = content[index:]
        more = stream.read(min(max(len(content), _LEAST_READ), _MOST_READ))
        if not more:
            if content.strip():
                yield from _found(file, 1, None, 0)
            return
        content += decoder.decode(more)
    limit = MAX_LIST_CHARACTERS >> 20
    yield Problem(file, 0, f"a document is larger than {limit} MiB", "give it as JSON lines")


def _value(text: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a line; None for what is no JSON."""
    try:
        return read_written(text.decode())
    except (UnreadableError, UnicodeDecodeError):
        return None


def _documents(text: bytes) -> Iterator[object]:
    """Yield the document, or several in a row: Firehose puts them behind each other without a line
    end. None is for what is none."""
    value = _value(text)
    if value is not None:
        yield value
        return
    content, index = text.decode(errors="replace"), 0
    while document := _document_at(content, index):
        yield _value(content[document].encode())
        index = document.stop
    if content[index:].strip():
        yield None


def _document_at(content: str, index: int) -> slice | None:
    """Return where a document stands that begins there, or behind white space; None for half of
    one, and for what is no JSON."""
    start = _BEGIN.search(content, index)
    if start is None:
        return None
    try:
        return slice(start.start(), json.JSONDecoder().raw_decode(content, start.start())[1])
    except (ValueError, RecursionError):
        return None


def _found(file: str, line: int, value: Any, index: int) -> Iterator[LoggedLine | Problem]:  # noqa: ANN401
    if value is None:
        yield Problem(file, line, "this is no JSON")
        return
    empty = True
    for event in events_in(value):
        empty = False
        yield LoggedLine(file, line, event, index)
    if empty:
        yield LoggedLine(file, line, None, index)


# --- Requests ----------------------------------------------------------------
#
# An event to the request that it tells of, or why that cannot be told.
#
# Admission sees an object as it is stored: that is the answer's, where the event has it. Where it
# only has the request's, it is filled in as `celadon check` does it. The old object is in no
# event. What an event does not have is never made up: such a request is undecidable, and counted
# with the reason.

_TRUNCATED: Final = "audit.k8s.io/truncated"
_WITH_OBJECTS: Final = frozenset({"Request", "RequestResponse"})
_CONNECTIONS: Final = ("exec", "attach", "portforward", "proxy")
_OPERATIONS: Final = {
    "create": Operation.CREATE,
    "update": Operation.UPDATE,
    "patch": Operation.UPDATE,
    "delete": Operation.DELETE,
    "deletecollection": Operation.DELETE,
}
_CREATED: Final = 201
_REFUSED: Final = 400
_TOO_LARGE: Final = "skipped-too-big-size-object"
"""What AKS has instead of an object."""
_OTHER_FORMS: Final = "meta.k8s.io/"
"""Of answers that are not the object: tables, and metadata alone."""
_CLOCKS: Final = timedelta(minutes=1)
"""By which those of two machines may differ."""


class Undecidable(enum.Enum):
    """Says why nothing can be said about a request that a policy may be about."""

    METADATA = "the log has no objects of it (level Metadata)"
    TRUNCATED = "its objects were too large for the log"
    NO_OBJECT = "the log does not have its object"
    PATCH = "a patch, whose object is not in the log (level Request)"
    APPLIED = "a patch that may have created its object: the log has no HTTP code"
    MUTATED = "a webhook has changed its object, and the log has it as it was sent"
    COLLECTION = "it deletes a collection, whose objects are not in the log"
    CONNECTION = "it opens a connection, whose options are not in the log"
    KIND = "nobody knows the kind of its resource"
    UNUSABLE = "its object cannot be read"
    MISSING = "it depends on what is not in the log (the old object, the user's groups, the roles)"


@dataclass(frozen=True, slots=True)
class Logged:
    """Holds what an event says of its request without its objects."""

    event: JsonObject
    operation: Operation
    resource: GroupVersionResource
    subresource: str
    namespace: str
    name: str
    user: User
    missing: tuple[Missing, ...]
    may_create: bool = False
    """Whether an update may have been a creation just as well."""

    @property
    def code(self) -> int:
        """Return the HTTP code of the answer; 0 where there is none."""
        code = mapping(self.event.get("responseStatus")).get("code")
        return code if isinstance(code, int) else 0

    @property
    def time(self) -> str:
        """Return when the request came."""
        event = self.event
        return text(event.get("requestReceivedTimestamp") or event.get("stageTimestamp"))

    @property
    def dry_run(self) -> bool:
        """Return whether nothing was to happen."""
        query = parse_qs(urlsplit(text(self.event.get("requestURI"))).query)
        return "All" in query.get("dryRun", ())


def mapping(value: object) -> JsonObject:
    """Return the value if it is a map, else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """Return the value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def logged(logged_event: LoggedEvent) -> Logged | None:
    """Return what is written, or connected to; None for what only reads."""
    event = logged_event.value
    reference = mapping(event.get("objectRef"))
    subresource = text(reference.get("subresource"))
    verb = text(event.get("verb"))
    operation = _OPERATIONS.get(verb)
    # Whatever their verb is: clients open them by GET and by POST.
    if subresource in _CONNECTIONS:
        operation = Operation.CONNECT
    if operation is None or not reference.get("resource"):
        return None
    code = mapping(event.get("responseStatus")).get("code")
    if operation is Operation.UPDATE and code == _CREATED:
        operation = Operation.CREATE  # what was applied, or put, was not there
    missing = [] if logged_event.knows_groups else [Missing.GROUPS]
    if operation in (Operation.UPDATE, Operation.DELETE):
        missing.append(Missing.OLD_OBJECT)
    resource = GroupVersionResource(
        text(reference.get("apiGroup")),
        text(reference.get("apiVersion")),
        text(reference.get("resource")),
    )
    name = text(reference.get("name"))
    namespace = text(reference.get("namespace"))
    if resource == NAMESPACES:
        namespace = name
    # Admission sees whom the request is made for, not who makes it.
    user = _user(mapping(event.get("impersonatedUser")) or mapping(event.get("user")))
    may_create = verb == "patch" and not subresource and _may_create(event, code)
    lacks = tuple(missing)
    return Logged(event, operation, resource, subresource, namespace, name, user, lacks, may_create)


def _may_create(event: JsonObject, code: object) -> bool:
    """Return whether a patch (what is applied is one) may have created its object: of one that was
    refused nobody knows, of others the code tells, or that the object is much older."""
    if isinstance(code, int) and code:
        return code >= _REFUSED
    about = mapping(mapping(event.get("responseObject")).get("metadata"))
    try:
        # Times of objects are those of the API server that wrote them, times of events of the one
        # that was asked.
        begun = datetime.fromisoformat(text(about.get("creationTimestamp")))
        return begun + _CLOCKS > datetime.fromisoformat(text(event.get("stageTimestamp")))
    except (ValueError, TypeError):
        return True


def _user(value: JsonObject) -> User:
    groups, extra = value.get("groups"), value.get("extra")
    return User(
        text(value.get("username")),
        tuple(filter(None, map(text, groups))) if isinstance(groups, list) else (),
        text(value.get("uid")),
        {
            key: tuple(map(text, values))
            for key, values in mapping(extra).items()
            if isinstance(values, list)
        },
    )


def kind_of(record: Logged, catalog: Catalog) -> GroupVersionKind | None:
    """Return what admission sees there: as the catalogue knows it, or as the objects of the event
    say."""
    catalog_kind = catalog.kind_of(record.resource, record.subresource)
    if catalog_kind is not None:
        return catalog_kind
    # The answer first: the request of a patch has no kind.
    for name in ("responseObject", "requestObject"):
        kind = metadata.gvk(record.event.get(name))
        if kind.kind not in ("", "Status", "DeleteOptions") and kind.version:
            return kind
    return None


def target_requests(record: Logged, kind: GroupVersionKind) -> Iterator[Request]:
    """Yield what the request may be, without objects: enough to know which policies may be about
    it."""
    yield _target_request(record, kind, record.operation)
    if record.may_create:
        yield _target_request(record, kind, Operation.CREATE)


def _target_request(record: Logged, kind: GroupVersionKind, operation: Operation) -> Request:
    return Request(
        operation=operation,
        kind=kind,
        resource=record.resource,
        subresource=record.subresource,
        name=record.name,
        namespace=record.namespace,
        user=record.user,
        dry_run=record.dry_run,
        options=default_options(operation, dry_run=record.dry_run),
    )


def request_of_event(
    record: Logged, kind: GroupVersionKind, prepare: Prepare
) -> Request | Undecidable:
    """Return the request as admission has seen it, as far as the event tells."""
    event = record.event
    request = _target_request(record, kind, record.operation)
    if record.operation is Operation.DELETE:
        collection = event.get("verb") == "deletecollection" or not record.name
        return Undecidable.COLLECTION if collection else request
    if record.operation is Operation.CONNECT:
        return Undecidable.CONNECTION
    value = _object(record, kind, prepare)
    if isinstance(value, Undecidable):
        return value
    request.object = value
    request.name = record.name or metadata.name(value)
    if record.resource == NAMESPACES:
        request.namespace = request.name
    return request


def _object(record: Logged, kind: GroupVersionKind, prepare: Prepare) -> JsonDict | Undecidable:
    event = record.event
    if mapping(event.get("annotations")).get(_TRUNCATED) == "true":
        return Undecidable.TRUNCATED
    if event.get("level") not in _WITH_OBJECTS:
        return Undecidable.METADATA
    answer, request_object = event.get("responseObject"), event.get("requestObject")
    if _TOO_LARGE in (answer, request_object):
        return Undecidable.TRUNCATED
    if isinstance(answer, dict) and answer and not _is_other(answer):
        if record.may_create:
            return Undecidable.APPLIED
        return {"apiVersion": kind.api_version, "kind": kind.kind, **answer}
    if event.get("verb") == "patch":
        return Undecidable.PATCH
    if not isinstance(request_object, dict) or not request_object:
        return Undecidable.NO_OBJECT
    if _is_mutated(event):
        return Undecidable.MUTATED
    return _filled_in(
        {"apiVersion": kind.api_version, "kind": kind.kind, **request_object}, record, prepare
    )


def _is_other(answer: JsonObject) -> bool:
    """Return whether an answer is not the object, whatever the resource."""
    version = text(answer.get("apiVersion"))
    return answer.get("kind") == "Status" or version.startswith(_OTHER_FORMS)


def _is_mutated(event: JsonObject) -> bool:
    """Return whether a mutating webhook says so in the annotations."""
    return any(
        key.startswith(MUTATION) and '"mutated":true' in text(value)
        for key, value in mapping(event.get("annotations")).items()
    )


def _filled_in(
    value: dict[str, object], record: Logged, prepare: Prepare
) -> JsonDict | Undecidable:
    """Return the object with its defaults, as if it were created now; what goes to a subresource is
    as it is."""
    if record.subresource:
        return value
    namespace = "" if record.resource == NAMESPACES else record.namespace
    document = Document.of_value(value)
    target = prepare.target(metadata.gvk(value), namespace)
    created = prepare.created(document, target)
    if isinstance(created, Problem):
        return Undecidable.UNUSABLE
    return created.value
