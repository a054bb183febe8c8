"""HTTP servers of tests, each in a thread of its own."""

from __future__ import annotations

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
    """Run the server until the end of the block; nothing of it is left then."""
    thread = threading.Thread(target=server.serve_forever, args=(LOOKS_AGAIN,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
