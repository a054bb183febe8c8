"""ResourceQuota: what an object needs is added to `status.used` of the quotas it falls under.

It is the last of the validating plugins, and the one that writes: a quota is updated only if nobody
else did in between, so that concurrent requests cannot both have the last place. As
k8s.io/apiserver `pkg/admission/plugin/resourcequota`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from celadon.admission import Request
from celadon.admission.plugins import Charge, LimitedResource, fit, given_back, is_counted
from celadon.apiserver.caches.store_informers import ChangeCount
from celadon.apiserver.object_store import ObjectStore, StoredObject, collection_prefix
from celadon.kube import GroupVersionResource, metadata
from celadon.kube.resources import known_resources

# --- Open charges ------------------------------------------------------------
#
# Namespaces in which something has been charged that is not stored yet.
#
# Who counts what is there must not do so meanwhile: they would take the charge back.

PATIENCE: Final = 1.0
"""Seconds that somebody waits for a namespace in which there is always something."""


class OpenCharges:
    """One per server, used in its event loop only."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._waiting: dict[str, asyncio.Event] = {}
        self._counted: dict[str, asyncio.Event] = {}

    @contextmanager
    def keep(self, namespace: str) -> Iterator[None]:
        """Keep a charge open: from before it is made until what it was for is stored, or is not."""
        self._open[namespace] += 1
        if namespace in self._counted:
            self._counted[namespace].set()
        try:
            yield
        finally:
            self._open[namespace] -= 1
            if not self._open[namespace]:
                del self._open[namespace]
                if namespace in self._waiting:
                    self._waiting.pop(namespace).set()

    @contextmanager
    def counting(self, namespace: str) -> Iterator[asyncio.Event]:
        """Give an event that is set when a charge is open at any time meanwhile: what is counted
        then may lack what the charge was for. There is one count of a namespace at a time."""
        self._counted[namespace] = disturbed = asyncio.Event()
        if self._open[namespace]:
            disturbed.set()
        try:
            yield disturbed
        finally:
            del self._counted[namespace]

    async def closed(self, namespace: str) -> bool:
        """Wait until there is no open charge, at most for PATIENCE; return whether there is none.
        Who waits comes to its turn a moment after the last one has closed, and there may be another
        by then."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while self._open[namespace]:
                    await self._waiting.setdefault(namespace, asyncio.Event()).wait()
        return not self._open[namespace]


QUOTAS: Final = GroupVersionResource("", "v1", "resourcequotas")

_REMEMBERED: Final = 1024
"""Namespaces."""


class QuotaCharging:
    """Charges of one server. `now` gives the time as objects have it. Nobody may use what is
    `limited` where no quota allows for it. Where it is not `enabled`, nothing is charged."""

    def __init__(
        self,
        objects: ObjectStore,
        now: Callable[[], str],
        charges: OpenCharges,
        limited: Sequence[LimitedResource] = (),
        *,
        enabled: bool,
    ) -> None:
        resource = known_resources().by_gvr(QUOTAS)
        assert resource is not None, "a catalogue without quotas"
        self._objects = objects
        self._resource = resource
        self._changes = ChangeCount(objects, collection_prefix(resource))
        self._quota_changes = self._changes.number()
        self._there: dict[str, bool] = {}
        """Whether namespaces have quotas: of those that were asked for since the last change."""
        self._now = now
        self._enabled = enabled
        self._open = charges
        self._limited = limited

    def are_in(self, namespace: str) -> bool:
        """Return whether there is anything to ask for."""
        if not self._enabled or not namespace:
            return False
        return bool(self._limited) or self._has_quotas(namespace)

    def _has_quotas(self, namespace: str) -> bool:
        number = self._changes.number()
        if number != self._quota_changes or len(self._there) >= _REMEMBERED:
            self._quota_changes, self._there = number, {}
        there = self._there.get(namespace)
        if there is None:
            there = self._there[namespace] = self._objects.has_any(self._resource, namespace)
        return there

    @contextlib.asynccontextmanager
    async def charged(self, request: Request, *, for_good: bool) -> AsyncIterator[None]:
        """Charge quotas for what is stored inside of this, and give that back when it fails. Raises
        StatusError for what does not fit. Unless it is `for_good`, nothing is written."""
        namespace, charges = request.namespace, dict[str, Charge]()
        with self._open.keep(namespace):
            try:
                if is_counted(request):
                    await self._take(request, charges, for_good=for_good)
                yield
            except BaseException:
                for name, charge in charges.items():
                    await self._give_back(namespace, name, charge)
                raise

    async def _take(self, request: Request, charges: dict[str, Charge], *, for_good: bool) -> None:
        """Quotas that somebody has written in between are asked again, and only they."""
        while True:
            quotas = {
                name: quota
                for quota in self._objects.page(self._resource, request.namespace).objects
                if (name := metadata.name(quota.object)) not in charges
            }
            documents = [quota.object for quota in quotas.values()]
            fitting = fit(documents, request, self._now(), () if charges else self._limited)
            if fitting.refusal is not None:
                raise fitting.refusal
            for name, charge in fitting.charges.items() if for_good else ():
                if await self._write(quotas[name], charge.used):
                    charges[name] = charge
            if not for_good or fitting.charges.keys() <= charges.keys():
                return

    async def _give_back(self, namespace: str, name: str, charge: Charge) -> None:
        while True:
            quota = self._objects.get(self._resource, namespace, name)
            if quota is None:
                return
            used = (quota.object.get("status") or {}).get("used") or {}
            if await self._write(quota, given_back(used, charge.charged_amounts)):
                return

    async def _write(self, quota: StoredObject, used: Mapping[str, str]) -> bool:
        """Write what is used; return False when somebody has written in between."""
        obj = quota.object
        changed = {**obj, "status": {**(obj.get("status") or {}), "used": dict(used)}}
        namespace, name = metadata.namespace(obj), metadata.name(obj)
        updated = await self._objects.update(
            self._resource, namespace, name, changed, quota.revision
        )
        return updated is not None
