"""A server with what every new cluster has, and its keys.

The first server of a process makes its namespaces and roles and lets its controllers finish. Later
ones begin with what the first one then had in its store. The uids and times of those objects are
the same in all servers of a process, their revisions too. Keys, tokens and certificates are made
once for all of them.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Final

from celadon.cli.policy_test_door import VERSIONS
from celadon.kube import User
from celadon.records import dataclass
from celadon.serve import AccessSettings, ApiServer, Settings, SignerOnDemand, TokenFile
from celadon.serve.transport import (
    Address,
    CredentialsFolder,
    TlsSettings,
    server_tls,
)
from celadon.store import Page, open_memory

LOOPBACK: Final = "127.0.0.1"

_BEGINNINGS: Final[dict[tuple[str, bool], Page]] = {}
"""What new servers have, by release and whether all versions are served."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server for tests differs from any other.

    `version` is the Kubernetes release whose behaviour is served, `all_versions` whether the alpha
    and beta versions of kinds are, too. Without `tls` the server speaks HTTP, to which kubectl
    sends no token. Without `controllers` nothing happens but what requests do: namespaces do not
    end, dependents stay. With them, namespaces end at once. Raises ValueError for a release that
    is not known.
    """

    version: str = "1.36"
    all_versions: bool = False
    tls: bool = True
    controllers: bool = True

    def __post_init__(self) -> None:
        if self.version not in VERSIONS:
            known = f"expected {VERSIONS[0]} to {VERSIONS[-1]}"
            raise ValueError(f"unknown version `{self.version}`, {known}")


@dataclass(frozen=True, slots=True)
class LoopbackTls:
    """A server's side, and the certificate (PEM) that its clients should trust."""

    context: ssl.SSLContext | None
    trusted: bytes


@cache
def credentials() -> CredentialsFolder:
    """Keys and certificates, in memory only."""
    return CredentialsFolder(None)


@cache
def loopback_tls() -> LoopbackTls:
    """For all servers on loopback."""
    address, now = Address(LOOPBACK, 0), datetime.now(UTC)
    tls = server_tls(TlsSettings(), address, credentials(), now)
    assert tls is not None, "without TLS only when it is asked for"
    return LoopbackTls(tls.context, tls.trusted)


@cache
def signer() -> SignerOnDemand:
    """Of service account tokens."""
    return credentials().signer()


def new_token() -> str:
    """One that nobody has yet."""
    return secrets.token_urlsafe(16)


async def fresh_server(options: ServerOptions, users: Mapping[str, User], port: int) -> ApiServer:
    """A server that has started, in the running loop. `users` by their tokens, for as long as the
    server runs; `port` is where its clients will find it."""
    key = (options.version, options.all_versions)
    if key not in _BEGINNINGS:
        first = await _started(options, {}, port, None)
        await first.controllers.settled()
        _BEGINNINGS[key] = first.objects.store.range("")
        await first.stop()
    return await _started(options, users, port, _BEGINNINGS[key])


async def _started(
    options: ServerOptions, users: Mapping[str, User], port: int, beginning: Page | None
) -> ApiServer:
    loop = asyncio.get_running_loop()
    server = ApiServer(
        open_memory(carry=loop.call_soon_threadsafe, beginning=beginning),
        AccessSettings(signer(), TokenFile(users)),
        Settings(
            options.version,
            options.all_versions,
            f"{LOOPBACK}:{port}",
            controllers=options.controllers or beginning is None,
            namespace_grace=0,
            collection_lag=0,
        ),
    )
    await server.start()
    return server
