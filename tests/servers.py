"""Servers of tests: nothing of them is left for the next test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import Final

LOOKS_AGAIN: Final = 0.01
"""Seconds until a server sees that it is to end. Half a second, which is usual, is paid by each
test that has a server."""


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Run the server in a thread until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, args=(LOOKS_AGAIN,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def stop_listening(server: asyncio.Server) -> None:
    """Close the server when nobody waits to be accepted any more: it takes some turns of the loop
    from such a connection to its transport, and asyncio never closes the socket of one whose server
    is closed in between."""
    for _ in range(5):
        await asyncio.sleep(0)
    server.close()
