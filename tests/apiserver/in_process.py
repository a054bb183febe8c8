"""The server without a network, for tests: requests are handed to its handler.

`Running` keeps an event loop in a thread, so that tests and the replaying tool can wait for answers
and read streams like any client.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator
from typing import Any

from celadon.apiserver.api_settings import AccessSettings, Settings
from celadon.apiserver.assembly import ApiServer
from celadon.apiserver.authn.authentication import read_token_file
from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.server_core import Sources
from celadon.records import replace
from celadon.storage import Store, open_memory
from celadon.storage.etcd import EtcdSettings, EtcdStore, open_etcd

TOKENS = """\
admin-token,admin,admin-uid,system:masters
alice-token,alice,alice-uid,devs
bob-token,bob,bob-uid,"ops,qa"
"""
SIGNER = SignerOnDemand(new_elliptic_key)


class Running:
    """A server with an empty store, in memory or in etcd, in a thread of its own."""

    def __init__(
        self,
        settings: Settings | None = None,
        etcd: EtcdSettings | None = None,
        sources: Sources | None = None,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._etcd: EtcdStore | None = None
        self.server = self._call(self._start(settings, etcd, sources))

    async def _start(
        self, settings: Settings | None, etcd: EtcdSettings | None, sources: Sources | None
    ) -> ApiServer:
        store: Store
        if etcd is None:
            store = open_memory(carry=self._loop.call_soon_threadsafe)
        else:
            store = self._etcd = await open_etcd(etcd)
        access = AccessSettings(SIGNER, read_token_file(TOKENS, "tokens.csv"))
        server = ApiServer(store, access, settings, sources)
        await server.start()
        return server

    def _call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def answer(self, request: HttpRequest) -> HttpAnswer:
        """As a client gets it: to HEAD without a body."""
        found: HttpAnswer = self._call(self.server.handle(request))
        return replace(found, body=b"") if request.method == "HEAD" else found

    def wait_for(self, coroutine: Any) -> Any:
        """What becomes of it in the server's loop."""
        return self._call(coroutine)

    def settle(self) -> None:
        """Wait until the controllers have nothing to do."""
        self._call(self.server.controllers.settled())

    def lines(self, stream: AsyncGenerator[bytes, None]) -> Lines:
        """What a stream sends, line by line."""
        return Lines(stream, self._loop)

    def close(self) -> None:
        self._call(self.server.stop())
        if self._etcd is not None:
            self._call(self._etcd.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Lines:
    """A stream that is read in the loop; `get` waits for the next line, None is the end."""

    def __init__(
        self, stream: AsyncGenerator[bytes, None], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._task = asyncio.run_coroutine_threadsafe(self._read(stream), loop)

    async def _read(self, stream: AsyncGenerator[bytes, None]) -> None:
        try:
            async for line in stream:
                self._lines.put(line)
        finally:
            await stream.aclose()
            self._lines.put(None)

    def readline(self) -> bytes:
        """As a file: empty at the end."""
        return self._lines.get() or b""

    def close(self) -> None:
        self._task.cancel()
