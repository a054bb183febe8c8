"""One of several replicas leads: an election on the Leases of a server, ours or another."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final, Protocol

from celadon.apiserver.controllers.controller_loops import Reply, ServerRequests
from celadon.apiserver.operation.log_lines import LIFE, say, warn
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict

__all__ = ["LeaderElection", "LeaseError", "LeaseRefused", "leases_path"]


# --- Leader election ---------------------------------------------------------
#
# One of several replicas leads: who holds a Lease and renews it.
#
# A replica that does not lead looks at the Lease every `RETRY` seconds. It takes one that
# nobody holds, or whose holder has not renewed it for as long as the Lease says, as measured
# from when the replica itself saw it change: clocks of machines are not compared. The leader
# renews it as often; one that cannot for `RENEW_WITHIN` seconds leads no longer, before anybody
# else could. Who ends lets go. Two writes at once are told apart by the resource version.
# Failures are logged when there were several in a row: one can be a write that came second. As
# k8s.io/client-go `tools/leaderelection`.

LEASE_SECONDS: Final = 15
RENEW_WITHIN: Final = 10.0
RETRY: Final = 2.0
"""As the components of Kubernetes do by default."""
JITTER: Final = 1.2
"""A replica that waits for its turn waits up to so many times longer."""
TOLD_FAILURES: Final = 3
"""So many in a row are told."""


class LeaseError(Exception):
    """Says that a request failed in a way that leaves open whether it had its effect."""


class LeaseRefused(LeaseError):
    """Says that a request had no effect: somebody else was faster, or it is not allowed."""


class Leases(Protocol):
    """Leases of an API server, by path. All methods raise LeaseError."""

    async def get(self, path: str) -> JsonObject | None:
        """Return the object at a path, or None if there is none."""

    async def create(self, collection: str, lease: JsonObject) -> JsonObject: ...

    async def update(self, path: str, lease: JsonObject) -> JsonObject:
        """Write the lease if it is still the version that its metadata tells of."""


class LeaderElection:
    """Campaigns for the lead among replicas. `collection` is the path of the Leases of a namespace;
    `identity` is nobody else's. `clock` is Unix time, `monotonic` what waiting is measured by."""

    def __init__(
        self,
        leases: Leases,
        collection: str,
        name: str,
        identity: str,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._leases = leases
        self._collection = collection
        self._name = name
        self._identity = identity
        self._clock = clock
        self._monotonic = monotonic
        self._last_lease: JsonObject = {}
        self._seen_at = 0.0
        self._failures = 0
        self.leads = False

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """`work` whenever this replica leads; it is cancelled when it no longer does. Until it is
        cancelled."""
        try:
            while True:
                while not await self.attempt():
                    await asyncio.sleep(RETRY * random.uniform(1, 1 + JITTER))
                await self._lead(work)
        finally:
            if self.leads:
                await self._release()

    async def _lead(self, work: Callable[[], Awaitable[None]]) -> None:
        say(LIFE, "this replica leads", {"lease": self._name, "identity": self._identity})
        working = asyncio.ensure_future(work())
        try:
            renewed = self._monotonic()
            while self._monotonic() - renewed < RENEW_WITHIN and not working.done():
                await asyncio.wait([working], timeout=RETRY)
                if await self.attempt():
                    renewed = self._monotonic()
            if working.done():
                working.result()
            self.leads = False
            say(LIFE, "this replica no longer leads", {"lease": self._name})
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def attempt(self) -> bool:
        """Acquire or renew the Lease; whether this replica holds it now."""
        try:
            self.leads = await self._attempted()
        except LeaseRefused as error:
            self.leads = False
            self._failed(error)
            return False
        except LeaseError as error:
            self._failed(error)
            return False  # the Lease may still be ours
        if self._failures >= TOLD_FAILURES:
            say(LIFE, "the lease answers again", {"lease": self._name})
        self._failures = 0
        return self.leads

    def _failed(self, error: LeaseError) -> None:
        self._failures += 1
        if self._failures == TOLD_FAILURES:
            about = {"lease": self._name, "identity": self._identity, "err": str(error)}
            warn("the election of a leader fails", about)

    async def _attempted(self) -> bool:
        """Try to get or to keep the lease; return whether we have it. Raises LeaseError."""
        lease = await self._leases.get(self._path)
        if lease is None:
            await self._leases.create(self._collection, self._lease(self._spec({}), {}))
            return True
        spec = lease.get("spec") or {}
        if spec != self._last_lease:
            self._last_lease, self._seen_at = spec, self._monotonic()
        holder = spec.get("holderIdentity") or ""
        lasts = float(spec.get("leaseDurationSeconds") or 0)
        if holder and holder != self._identity and self._seen_at + lasts > self._monotonic():
            return False
        await self._write(lease, self._spec(spec))
        return True

    async def _write(self, lease: JsonObject, spec: JsonDict) -> None:
        written = await self._leases.update(
            self._path, self._lease(spec, lease.get("metadata") or {})
        )
        self._last_lease, self._seen_at = written.get("spec") or {}, self._monotonic()

    def _spec(self, before: JsonObject) -> JsonDict:
        now = _micro_time(self._clock())
        is_ours = before.get("holderIdentity") == self._identity
        transitions = int(before.get("leaseTransitions") or 0)
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": LEASE_SECONDS,
            "acquireTime": before.get("acquireTime") or now if is_ours else now,
            "renewTime": now,
            "leaseTransitions": transitions if is_ours or not before else transitions + 1,
        }

    async def _release(self) -> None:
        """Let others have it at once. Whatever fails then ends by itself, with the Lease."""
        with contextlib.suppress(LeaseError):
            lease = await self._leases.get(self._path) or {}
            spec = dict(lease.get("spec") or {})
            if spec.get("holderIdentity") == self._identity:
                now = _micro_time(self._clock())
                spec |= {"holderIdentity": "", "leaseDurationSeconds": 1}
                spec |= {"acquireTime": now, "renewTime": now}
                await self._write(lease, spec)

    @property
    def _path(self) -> str:
        return f"{self._collection}/{self._name}"

    def _lease(self, spec: JsonDict, metadata: JsonObject) -> JsonDict:
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {**metadata, "name": self._name},
            "spec": spec,
        }


def leases_path(namespace: str) -> str:
    """Return the collection of a namespace."""
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"


def _micro_time(seconds: float) -> str:
    """Return a time as meta/v1 `MicroTime` writes it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


# --- Served leases -----------------------------------------------------------
#
# The Leases of this server, for an election among those that look at the same store.


class ServedLeases:
    """`leader_election.Leases`, by requests of the server's own."""

    def __init__(self, requests: ServerRequests) -> None:
        self._requests = requests

    async def get(self, path: str) -> JsonObject | None:
        reply = await self._requests.call("GET", path)
        return None if reply.code == 404 else _body(reply)

    async def create(self, collection: str, lease: JsonObject) -> JsonObject:
        return _body(await self._requests.call("POST", collection, lease))

    async def update(self, path: str, lease: JsonObject) -> JsonObject:
        return _body(await self._requests.call("PUT", path, lease))


def _body(reply: Reply) -> JsonObject:
    """Return the object of a reply. Raises LeaseError."""
    if reply.code >= 500:
        raise LeaseError(reply.message)
    if reply.code >= 400:
        raise LeaseRefused(reply.message)
    return reply.body
