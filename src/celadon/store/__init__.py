"""Where objects live: keys and values with one revision for all, transactions, watches, history.

Read `contract` first (what every store promises: etcd's model, in one Protocol and its data), then
`local_store` (how a local store keeps the promise) and `keyspace` (how it remembers). There are two
stores, and one suite of tests for both:

- `open_memory()` lives as long as the process;
- `open_sqlite(path)` lives in a file, and keeps what it has acknowledged.

Nothing here knows what a Kubernetes object is, and nothing imports another room.
"""

from celadon.store.contract import (
    Committed,
    Condition,
    Conflict,
    Delete,
    Delivery,
    Entry,
    Event,
    Outcome,
    Page,
    Put,
    Store,
    Transaction,
    Watch,
    create,
    delete,
    put,
    update,
)
from celadon.store.errors import (
    Compacted,
    FileError,
    FutureRevision,
    RevisionError,
    StoreClosed,
    StoreError,
    WatchEnded,
    WatchOverflow,
)
from celadon.store.memory import open_memory
from celadon.store.retention import Retention
from celadon.store.sqlite import open_sqlite

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
    "Put",
    "Retention",
    "RevisionError",
    "Store",
    "StoreClosed",
    "StoreError",
    "Transaction",
    "Watch",
    "WatchEnded",
    "WatchOverflow",
    "create",
    "delete",
    "open_memory",
    "open_sqlite",
    "put",
    "update",
]
