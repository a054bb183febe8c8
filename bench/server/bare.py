"""What the HTTP server and the store cost alone: `python -m bench.server.bare --listen HOST:PORT`.

The same HTTP server as Celadon's, over TLS if there is a certificate, with a handler that knows no
Kubernetes. With `--file` it gives everybody the bytes of a file, with the headers that Celadon's
answers have. With `--data` it does the least that any server of JSON must do, in the same store:
what it is sent is decoded, gets an identity, is encoded, is kept, and is given back when it is safe
on disk; patches replace members of what is there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import ssl
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop

from celadon.apiserver.http.http_server import HttpServer
from celadon.apiserver.http_messages import JSON, HttpAnswer, HttpRequest
from celadon.storage import Outcome, Store, Transaction, create, delete, open_sqlite, update

Handler = Callable[[HttpRequest], Awaitable[HttpAnswer]]
_HEADERS = (("Audit-Id", "0" * 36), ("Cache-Control", "no-cache, private"))


def file_handler(file: Path) -> Handler:
    """Return what gives everybody the bytes of a file."""
    answer = HttpAnswer(200, JSON, file.read_bytes(), _HEADERS)

    async def handle(_: HttpRequest) -> HttpAnswer:
        return answer

    return handle


class StoreHandler:
    """A store of JSON objects by their paths."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, request: HttpRequest) -> HttpAnswer:
        """Answer a read or a write, which finds what it is about."""
        path, _, query = request.target.partition("?")
        match request.method:
            case "POST":
                obj = json.loads(request.body)
                obj["metadata"]["uid"] = str(uuid.uuid4())
                key = f"{path}/{obj['metadata']['name']}"
                return await self._written(key, obj, is_kept="dryRun=All" not in query)
            case "PUT" | "PATCH":
                return await self._changed(path, json.loads(request.body))
            case "DELETE":
                return await self._deleted(path)
        return _answer(200, self._read(path))

    def _read(self, path: str) -> bytes:
        found = self._store.get(path)
        if found is not None:
            return found.value
        items = b",".join(entry.value for entry in self._store.range(f"{path}/").entries)
        return b'{"items":[%b]}' % items

    async def _changed(self, path: str, change: Any) -> HttpAnswer:
        found = self._store.get(path)
        obj: dict[str, Any] = {"metadata": {}} if found is None else json.loads(found.value)
        if isinstance(change, dict):
            obj |= {name: value for name, value in change.items() if name != "metadata"}
        revision = 0 if found is None else found.mod_revision
        return await self._written(path, obj, is_kept=True, revision=revision)

    async def _written(
        self, key: str, obj: dict[str, Any], *, is_kept: bool, revision: int = 0
    ) -> HttpAnswer:
        text = json.dumps(obj, separators=(",", ":")).encode()
        if is_kept:
            await self._safe(update(key, text, revision) if revision else create(key, text))
        return _answer(200 if revision else 201, text)

    async def _deleted(self, path: str) -> HttpAnswer:
        found = self._store.get(path)
        assert found is not None, f"{path} is not there"
        await self._safe(delete(path, found.mod_revision))
        return _answer(200, found.value)

    async def _safe(self, transaction: Transaction) -> None:
        promise = _Promise()
        self._store.carry_out(transaction, promise)
        await promise


class _Promise(asyncio.Future[Outcome]):
    """What becomes of a write, told on the loop."""

    def set_running_or_notify_cancel(self) -> bool:
        return not self.cancelled()


def _answer(code: int, text: bytes) -> HttpAnswer:
    return HttpAnswer(code, JSON, text, _HEADERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--file", type=Path)
    what.add_argument("--data")
    parser.add_argument("--listen", required=True)
    parser.add_argument("--certificate", nargs=2, metavar=("FILE", "KEY"))
    options = parser.parse_args()
    host, _, port = options.listen.partition(":")
    listener = socket.create_server((host, int(port)), backlog=2048)
    context = None
    if options.certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.certificate)

    async def serve() -> None:
        if options.file is not None:
            handler: Handler = file_handler(options.file)
        else:
            loop = asyncio.get_running_loop()
            carry, soon = loop.call_soon_threadsafe, loop.call_soon
            store = open_sqlite(options.data, carry=carry, soon=soon)
            handler = StoreHandler(store)
        await HttpServer(handler, lambda: None, context).serve(sockets=[listener])

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())


if __name__ == "__main__":
    main()
