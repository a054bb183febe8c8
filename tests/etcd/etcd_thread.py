"""An etcd store with a loop and a thread of its own, for tests that have none."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from celadon.storage import Retention
from celadon.storage.etcd import EtcdSettings, EtcdStore, open_etcd


@contextlib.contextmanager
def etcd_store(settings: EtcdSettings, retention: Retention | None = None) -> Iterator[EtcdStore]:
    """Open; closed at the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="etcd-store")
    thread.start()
    try:
        store = asyncio.run_coroutine_threadsafe(open_etcd(settings, retention), loop).result()
        try:
            yield store
        finally:
            asyncio.run_coroutine_threadsafe(store.aclose(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
