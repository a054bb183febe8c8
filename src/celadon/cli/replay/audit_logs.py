"""Files of audit logs to events: JSON lines, lists of events, sets of rotated files, with gzip.

A log that is rotated has the newest events in `audit.log` and older ones in files whose names have
their date, or a number that grows with their age. Lines are read one at a time; a file that is one
JSON document is read as a whole, within limits.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, cast

from celadon.cli.reading.json_text import read_written
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import (
    MAX_FILE_BYTES,
    MAX_LIST_CHARACTERS,
    STDIN,
    STDIN_CLOSED,
    STDIN_NAME,
    expand,
)
from celadon.goyaml import UnreadableError
from celadon.kube import Json, JsonObject
from celadon.patterns import late_pattern
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
    """The events in what a line, or a file, says."""
    if depth == 0:
        return
    if isinstance(value, list):
        fields = {
            one["field"]: one.get("value")
            for one in value
            if isinstance(one, dict) and isinstance(one.get("field"), str)
        }
        if "@message" in fields:  # a row of CloudWatch Logs Insights
            yield from events_in(fields, depth - 1)
            return
        for one in value:
            yield from events_in(one, depth - 1)
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
        found = _from_audit_log(value, payload)
        if found is not None:
            yield LoggedEvent(found, knows_groups=False)
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
        names = [str(_mapping(column).get("name")) for column in table["columns"]]
        for row in table.get("rows") or ():
            if isinstance(row, list):
                yield dict(zip(names, row, strict=False))


def _from_columns(row: JsonObject) -> JsonObject:
    given = ((ours, row.get(name)) for name, ours in _COLUMNS.items())
    return {
        name: _parsed(value, value) if isinstance(value, str) else value
        for name, value in given
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
        found = unpacking.decompress(base64.b64decode(text), MAX_LIST_CHARACTERS)
        return "" if unpacking.unconsumed_tail else found.decode()
    except (binascii.Error, zlib.error, ValueError):
        return ""


def _from_audit_log(entry: JsonObject, payload: JsonObject) -> JsonObject | None:
    """The Event that an AuditLog of Google's tells of; None for other services' logs."""
    if payload.get("serviceName") != "k8s.io" or payload.get("@type", _AUDIT_LOG) != _AUDIT_LOG:
        return None
    method = str(payload.get("methodName") or "")
    request, response = _typed(payload.get("request")), _typed(payload.get("response"))
    told = _mapping(payload.get("requestMetadata"))
    identity = _mapping(payload.get("authenticationInfo"))
    reference = _reference(str(payload.get("resourceName") or ""))
    level = "Metadata" if request is None and response is None else "RequestResponse"
    at = entry.get("timestamp")
    event: dict[str, object] = {
        "level": level,
        "auditID": entry.get("insertId") or "",
        "stage": "ResponseComplete",
        "verb": method.rpartition(".")[2],
        "user": {"username": identity.get("principalEmail") or ""},
        "userAgent": told.get("callerSuppliedUserAgent") or "",
        "objectRef": reference,
        "requestReceivedTimestamp": at,
        "stageTimestamp": at,
        "annotations": _mapping(entry.get("labels")),
        "responseStatus": _status(_mapping(payload.get("status")), response),
    }
    if request is not None:
        event["requestObject"] = request
    if response is not None:
        event["responseObject"] = response
    return event


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _typed(value: object) -> dict[str, Json] | None:
    """Without the name of the type that Google adds."""
    if not isinstance(value, dict) or not value:
        return None
    return {key: one for key, one in value.items() if key != "@type"}


def _status(status: JsonObject, response: JsonObject | None) -> JsonObject:
    """The answer's own Status where there is one: Google's codes are those of gRPC, so of a success
    it is not known which one it was."""
    if response is not None and response.get("kind") == "Status":
        return dict(response)
    return {"code": 500 if status.get("code") else 0, "message": status.get("message") or ""}


def _reference(path: str) -> dict[str, Any]:
    """`apps/v1/namespaces/shop/deployments/web/status`; the core group is `core`."""
    group, _, rest = path.partition("/")
    version, _, rest = rest.partition("/")
    steps = [step for step in rest.split("/") if step]
    found = {"apiGroup": "" if group == "core" else group, "apiVersion": version}
    if len(steps) > 2 and steps[0] == "namespaces" and steps[2] not in _OF_NAMESPACES:
        found["namespace"] = steps[1]
        steps = steps[2:]
    return found | dict(_named(steps))


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
"""What exports of CloudWatch put before each line."""


@dataclass(frozen=True, slots=True)
class Read:
    """An event and where it stands. `read_bytes` of all files come before it."""

    file: str
    line: int
    event: LoggedEvent | None
    read_bytes: int = 0


def log_files(arguments: Sequence[str]) -> list[str | Problem]:
    """The files that are meant, the oldest of a rotated set first."""
    found: list[str | Problem] = []
    for argument in arguments:
        if os.path.isdir(argument):
            files = list(_below(argument))
            found += files or [Problem(argument, 0, "no log in this folder")]
        else:
            paths = list(expand([argument]))
            found += _by_age(one for one in paths if isinstance(one, str))
            found += (one for one in paths if isinstance(one, Problem))
    return found


def _below(folder: str) -> Iterator[str]:
    """The logs of a folder, then those of folders in it: clouds export to one for each hour."""
    for path, folders, names in os.walk(folder):
        folders.sort()
        files = (os.path.join(path, name) for name in names if _is_log(name))
        yield from _by_age(one for one in files if os.path.isfile(one))


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
    names = (one for one in files if isinstance(one, str))
    return sum(os.path.getsize(one) for one in names if os.path.isfile(one))


def read_events(files: Sequence[str | Problem]) -> Iterator[Read | Problem]:
    """All events, file by file. What is no event has none."""
    before = 0
    for file in files:
        if isinstance(file, Problem):
            yield file
            continue
        try:
            yield from _events(file, before)
        except (OSError, EOFError, zlib.error, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            yield Problem(file, 0, f"cannot be read: {why.lower()}")
        before += total_bytes([file])


def _events(file: str, before: int) -> Iterator[Read | Problem]:
    if file == STDIN and sys.stdin is None:
        yield STDIN_CLOSED
        return
    if file == STDIN:
        yield from _stream(STDIN_NAME, sys.stdin.buffer, sys.stdin.buffer, before)
        return
    with open(file, "rb") as raw:
        packed = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        yield from _stream(file, stream, raw, before)


def _stream(file: str, stream: BinaryIO, raw: BinaryIO, before: int) -> Iterator[Read | Problem]:
    """One document a line, or, where the first line is none, documents over several lines."""
    number = 0
    while line := stream.readline(MAX_LIST_CHARACTERS):
        number += 1
        text = _STAMP.sub(b"", line.strip())
        if not text:
            continue
        found = list(_documents(text)) or [None]
        at = before + (raw.tell() if raw.seekable() else 0)
        torn = text.endswith(b"}")  # a rotated file may begin in the middle of a line
        if found[0] is None and number == 1 and not torn:
            yield from _whole(file, line, stream)
            return
        for one in found:
            yield from _found(file, number, one, at)


def _whole(file: str, begin: bytes, stream: BinaryIO) -> Iterator[Read | Problem]:
    data = begin + stream.read(MAX_FILE_BYTES)
    if len(data) >= MAX_FILE_BYTES:
        yield Problem(file, 0, f"larger than {MAX_FILE_BYTES >> 20} MiB", "give it as JSON lines")
        return
    for one in _documents(data):
        yield from _found(file, 1, one, 0)


def _value(text: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a line; None for what is no JSON."""
    try:
        return read_written(text.decode())
    except (UnreadableError, UnicodeDecodeError):
        return None


def _documents(text: bytes) -> Iterator[object]:
    """The document, or several in a row: Firehose puts them behind each other without a line end.
    None for what is none."""
    value = _value(text)
    if value is not None:
        yield value
        return
    given, decoder, at = text.decode(errors="replace"), json.JSONDecoder(), 0
    while (start := _BEGIN.search(given, at)) is not None:
        try:
            _, at = decoder.raw_decode(given, start.start())
        except (ValueError, RecursionError):
            yield None
            return
        yield _value(given[start.start() : at].encode())


def _found(file: str, line: int, value: Any, at: int) -> Iterator[Read | Problem]:  # noqa: ANN401
    if value is None:
        yield Problem(file, line, "this is no JSON")
        return
    empty = True
    for event in events_in(value):
        empty = False
        yield Read(file, line, event, at)
    if empty:
        yield Read(file, line, None, at)
