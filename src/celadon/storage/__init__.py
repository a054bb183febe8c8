"""Storage of objects: keys and values with one revision for all, transactions, watches, history.

Read `contract` first (what every store promises: etcd's model, in one Protocol and its data), then
`local_store` (how a local store keeps the promise) and `keyspace` (how it remembers). There are
three stores, and one suite of tests for all:

- `open_memory()` lives as long as the process;
- `open_sqlite(path)` lives in a file, and keeps what it has acknowledged;
- `celadon.storage.etcd`, a door of its own, is on a cluster of etcd, which several processes share.

`celadon.storage.sqlite_file`, another door, makes and checks copies of files, also while they are
open.

Nothing here knows what a Kubernetes object is, and nothing imports another room.
"""

from celadon.storage.contract import (
    Committed,
    Compacted,
    Condition,
    Conflict,
    Delete,
    Delivery,
    Entry,
    Event,
    FileError,
    FutureRevision,
    Outcome,
    Page,
    Promise,
    Put,
    RevisionError,
    ServiceError,
    Store,
    StoreClosed,
    StoreError,
    Transaction,
    Watch,
    WatchLost,
    WatchOverflow,
    create,
    delete,
    put,
    update,
)
from celadon.storage.keyspace import Retention
from celadon.storage.local_store import open_memory
from celadon.storage.sqlite import open_sqlite

__all__ = [
    "Committed",
    "Compacted",
    "Condition",
    "Conflict",
    "Delete",
    "Delivery",
    "Entry",
    "Event",
    "FileError",
    "FutureRevision",
    "Outcome",
    "Page",
    "Promise",
    "Put",
    "Retention",
    "RevisionError",
    "ServiceError",
    "Store",
    "StoreClosed",
    "StoreError",
    "Transaction",
    "Watch",
    "WatchLost",
    "WatchOverflow",
    "create",
    "delete",
    "open_memory",
    "open_sqlite",
    "put",
    "update",
]
