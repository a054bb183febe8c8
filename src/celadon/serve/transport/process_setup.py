"""What a server process sets up once: its socket, its open files, its memory, its threads."""

from __future__ import annotations

import gc
import os
import resource
import socket
import sys
from typing import Final

from celadon.serve.transport.server_settings import Address, StartError
from celadon.serve.workers.worker_threads import SWITCH_SECONDS

GARBAGE: Final = 20_000
"""New containers before a collection looks at them: those of some dozens of requests."""


def open_listener(address: Address) -> socket.socket:
    """A socket that listens, for asyncio. Raises StartError."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen()
        listener.settimeout(0)
    except OSError as error:
        listener.close()
        where = f"{address.host}:{address.port}"
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise StartError(f"cannot listen on `{where}`: {why}") from None
    return listener


def allow_many_connections() -> None:
    """As many open files as the system allows, as programs in Go do."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def take_short_turns() -> None:
    """The event loop does not wait long for a worker to let it go on."""
    sys.setswitchinterval(SWITCH_SECONDS)


def settle_memory() -> None:
    """What has been loaded stays: it is not looked at again for what could be freed. A request
    leaves hundreds of objects behind, so that the usual 700 would mean a collection each."""
    gc.freeze()
    gc.set_threshold(GARBAGE, 20, 50)
    gc.enable()
