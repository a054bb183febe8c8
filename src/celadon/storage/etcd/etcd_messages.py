"""etcd's messages: bytes of requests from values, values from bytes of answers.

The table has the names and field numbers of those that are used (etcd `api/etcdserverpb/rpc.proto`,
`api/mvccpb/kv.proto`; the same in 3.4, 3.5 and 3.6); the protobuf library makes classes of it when
this module is imported. Nothing but this module sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import FUTURE_REVISION
from celadon.records import dataclass, field
from celadon.storage.contract import Entry, ServiceError, ServiceFull, ServiceUnavailable, TooLarge

MESSAGES: Final = {
    "ResponseHeader": "cluster_id 1 uint64, member_id 2 uint64, revision 3 int64",
    "KeyValue": "key 1 bytes, create_revision 2 int64, mod_revision 3 int64, "
    "version 4 int64, value 5 bytes",
    "Event": "type 1 int32, kv 2 KeyValue",
    "RangeRequest": "key 1 bytes, range_end 2 bytes, limit 3 int64, revision 4 int64, "
    "count_only 9 bool",
    "RangeResponse": "header 1 ResponseHeader, kvs 2 KeyValue*, more 3 bool",
    "PutRequest": "key 1 bytes, value 2 bytes, lease 3 int64",
    "DeleteRangeRequest": "key 1 bytes",
    "DeleteRangeResponse": "deleted 2 int64",
    "RequestOp": "request_range 1 RangeRequest, request_put 2 PutRequest, "
    "request_delete_range 3 DeleteRangeRequest",
    "ResponseOp": "response_range 1 RangeResponse, response_delete_range 3 DeleteRangeResponse",
    "Compare": "result 1 int32, target 2 int32, key 3 bytes, version 4 int64, mod_revision 6 int64",
    "TxnRequest": "compare 1 Compare*, success 2 RequestOp*, failure 3 RequestOp*",
    "TxnResponse": "header 1 ResponseHeader, succeeded 2 bool, responses 3 ResponseOp*",
    "LeaseGrantRequest": "TTL 1 int64",
    "LeaseGrantResponse": "header 1 ResponseHeader, ID 2 int64",
    "CompactionRequest": "revision 1 int64",
    "WatchCreateRequest": "key 1 bytes, range_end 2 bytes, start_revision 3 int64, fragment 8 bool",
    "WatchRequest": "create_request 1 WatchCreateRequest",
    "WatchResponse": "header 1 ResponseHeader, canceled 4 bool, compact_revision 5 int64, "
    "cancel_reason 6 string, fragment 7 bool, events 11 Event*",
}

_PACKAGE: Final = "celadon.etcd"
_VERSION: Final = 0
_MOD: Final = 2
"""What a `Compare` looks at: how often the key has been written, or its `mod_revision`; and it is
for equality unless told otherwise."""

_DELETED: Final = 1
EVERYTHING: Final = b"\0"
"""As a key: the first there is; as the end of a range: none."""


def _classes() -> JsonDict:
    file = FileDescriptorProto(name="celadon/etcd.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields.split(", "):
            _add_field(message.field, *text.split())
    pool = DescriptorPool()
    pool.Add(file)
    return {
        name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in MESSAGES
    }


def _add_field(fields: Any, name: str, number: str, type_name: str) -> None:  # noqa: ANN401
    field = fields.add(name=name, number=int(number))
    element = type_name.removesuffix("*")
    field.label = (
        FieldDescriptorProto.LABEL_OPTIONAL
        if element == type_name
        else FieldDescriptorProto.LABEL_REPEATED
    )
    if element in MESSAGES:
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{element}"
    else:
        field.type = FieldDescriptorProto.Type.Value(f"TYPE_{element.upper()}")


_CLASS: Final = _classes()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares a key's `mod_revision`, or the number of its writes if that is given; 0: no such
    key."""

    key: bytes
    mod_revision: int = 0
    version: int | None = None


@dataclass(frozen=True, slots=True)
class EtcdTransaction:
    """If all comparisons hold, all operations (a key and its value; None: delete it); otherwise
    what is there under each key of `else_read`. What is written under the keys of `leases` goes
    with these leases."""

    comparisons: Sequence[Comparison]
    operations: Sequence[tuple[bytes, bytes | None]]
    else_read: Sequence[bytes]
    leases: Mapping[bytes, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TransactionAnswer:
    """Holds the answer to a transaction. `changed`: for each operation, whether it did something.
    `key_values`: for each key that was to be read in the other case, what is there. One of them is
    empty."""

    revision: int
    succeeded: bool
    changed: tuple[bool, ...]
    key_values: tuple[KeyValue | None, ...]


@dataclass(frozen=True, slots=True)
class KeyValue:
    """Holds a key and its value. `value` is None for a key that has been deleted; `version` counts
    how often it was written since it was created."""

    key: bytes
    value: bytes | None
    create_revision: int
    mod_revision: int
    version: int

    def entry(self, key: str) -> Entry | None:
        """Return the entry under the key by which the store knows it."""
        if self.value is None:
            return None
        return Entry(key, self.value, self.create_revision, self.mod_revision)


@dataclass(frozen=True, slots=True)
class RangeAnswer:
    """Holds the answer to a range. `revision` is the current one, whichever was read."""

    revision: int
    key_values: tuple[KeyValue, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class WatchAnswer:
    """Changes in order. `is_part`: more of the last revision follow. `refusal`: the watch has
    ended; `compacted` is the oldest revision then, if that is why."""

    changes: tuple[KeyValue, ...]
    is_part: bool
    compacted: int
    refusal: str | None


def range_request(
    first: bytes, end: bytes = b"", *, limit: int = 0, revision: int = 0, count_only: bool = False
) -> bytes:
    """Ask for one key, or for all keys from it to before `end`."""
    return _bytes(
        "RangeRequest",
        key=first,
        range_end=end,
        limit=limit,
        revision=revision,
        count_only=count_only,
    )


def range_answer(answer: bytes) -> RangeAnswer:
    """Read the answer to `range_request`. Raises Malformed."""
    read = _read("RangeResponse", answer)
    return RangeAnswer(read.header.revision, tuple(map(_key_value, read.kvs)), read.more)


def transaction_request(transaction: EtcdTransaction) -> bytes:
    """Return a put, or a deletion of one key, for each operation."""
    result = _CLASS["TxnRequest"]()  # filled in place: half the price of building the parts
    for comparison in transaction.comparisons:
        if comparison.version is not None:
            result.compare.add(target=_VERSION, key=comparison.key, version=comparison.version)
        else:
            result.compare.add(
                target=_MOD, key=comparison.key, mod_revision=comparison.mod_revision
            )
    for key, value in transaction.operations:
        operation = result.success.add()
        if value is None:
            operation.request_delete_range.key = key
        else:
            put = operation.request_put
            put.key, put.value = key, value
            if key in transaction.leases:
                put.lease = transaction.leases[key]
    for key in transaction.else_read:
        result.failure.add().request_range.key = key
    written: bytes = result.SerializeToString()
    return written


def transaction_answer(answer: bytes, transaction: EtcdTransaction) -> TransactionAnswer:
    """Read the answer to the request of that transaction. Raises Malformed."""
    read = _read("TxnResponse", answer)
    requests = transaction.operations if read.succeeded else transaction.else_read
    if len(read.responses) != len(requests):
        raise Malformed(f"{len(requests)} responses are expected, there are {len(read.responses)}")
    changed: tuple[bool, ...] = ()
    key_values: tuple[KeyValue | None, ...] = ()
    if read.succeeded:
        pairs = zip(transaction.operations, read.responses, strict=True)
        changed = tuple(
            [
                value is not None or pair.response_delete_range.deleted > 0
                for (_, value), pair in pairs
            ]
        )
    else:
        key_values = tuple([_first(response.response_range.kvs) for response in read.responses])
    return TransactionAnswer(read.header.revision, read.succeeded, changed, key_values)


def _first(pairs: Iterable[Any]) -> KeyValue | None:
    return next(map(_key_value, pairs), None)


def lease_request(seconds: int) -> bytes:
    """Return the request for a lease that lasts so long."""
    return _bytes("LeaseGrantRequest", TTL=seconds)


def lease_answer(answer: bytes) -> int:
    """Read the number of the lease. Raises Malformed."""
    read = _read("LeaseGrantResponse", answer)
    return int(read.ID)


def compaction_request(revision: int) -> bytes:
    return _bytes("CompactionRequest", revision=revision)


def watch_request(start: int) -> bytes:
    """Return the request for all changes from that revision on; large answers come in parts."""
    create = {
        "key": EVERYTHING,
        "range_end": EVERYTHING,
        "start_revision": start,
        "fragment": True,
    }
    return _bytes("WatchRequest", create_request=create)


def watch_answer(answer: bytes) -> WatchAnswer:
    """Read one answer of many to `watch_request`; the first has no changes. Raises Malformed."""
    read = _read("WatchResponse", answer)
    return WatchAnswer(
        tuple([_change(event) for event in read.events]),
        read.fragment,
        read.compact_revision,
        read.cancel_reason if read.canceled else None,
    )


def _change(event: Any) -> KeyValue:  # noqa: ANN401
    kv = event.kv
    if event.type == _DELETED:
        return KeyValue(kv.key, None, 0, kv.mod_revision, 0)
    return _key_value(kv)


def _key_value(kv: Any) -> KeyValue:  # noqa: ANN401
    return KeyValue(kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version)


def _bytes(name: str, **fields: Any) -> bytes:  # noqa: ANN401
    written: bytes = _CLASS[name](**fields).SerializeToString()
    return written


def _read(name: str, answer: bytes) -> Any:  # noqa: ANN401
    try:
        return _CLASS[name].FromString(answer)
    except DecodeError:
        raise Malformed(f"no {name}") from None


# --- Etcd refusals -----------------------------------------------------------
#
# What etcd refuses, as errors of the store.
#
# Its servers say a status code of gRPC and a text (etcd `api/v3rpc/rpctypes/error.go`); the
# texts of our errors are etcd's, because that is what an API server passes on to its clients.

COMPACTED: Final = "etcdserver: mvcc: required revision has been compacted"
_FULL: Final = "etcdserver: mvcc: database space exceeded"
_TOO_LARGE: Final = (
    "etcdserver: request is too large",
    "larger than max",  # what gRPC says on either side, with numbers
)
_NOT_BEGUN: Final = ("etcdserver: no leader", "etcdserver: too many requests")
"""Nothing has happened, and nothing will."""

CODES: Final = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"),
    *("ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"),
    *("ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
    "UNAUTHENTICATED",
)
"""Of gRPC, by their numbers."""

_TRANSIENT: Final = frozenset(
    {
        "ABORTED",
        "CANCELLED",
        "DEADLINE_EXCEEDED",
        "INTERNAL",
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
        "UNKNOWN",
    }
)


class NotBegun(ServiceUnavailable):
    """Says that nobody has taken the request: it may be sent again, to anyone."""


class Malformed(ServiceUnavailable):
    """Says that a member answers as no etcd does: whether it has done anything is not known."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the member of etcd sends what cannot be read: {reason}")


class RevisionRefused(ServiceError):
    """Says that a revision is compacted, or in the future (`is_future`)."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.is_future = message == FUTURE_REVISION


def refusal(code: int, text: str) -> ServiceError:
    """Return the error that says the same; without a text it says the name of the code."""
    name = CODES[code] if code < len(CODES) else "UNKNOWN"
    text = text or name
    if text in (COMPACTED, FUTURE_REVISION):
        return RevisionRefused(text)
    if text == _FULL:
        return ServiceFull(text)
    if any(item in text for item in _TOO_LARGE):
        return TooLarge(text)
    if text in _NOT_BEGUN:
        return NotBegun(text)
    return ServiceUnavailable(text) if name in _TRANSIENT else ServiceError(text)
