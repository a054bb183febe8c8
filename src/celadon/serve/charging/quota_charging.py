"""ResourceQuota: what an object needs is added to `status.used` of the quotas it falls under.

It is the last of the validating plugins, and the one that writes: a quota is updated only if nobody
else did in between, so that concurrent requests cannot both have the last place. As
k8s.io/apiserver `pkg/admission/plugin/resourcequota`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from celadon.admission import Request
from celadon.admission.plugins import fit, is_counted
from celadon.kube import GroupVersionResource, JsonObject, StatusError, metadata
from celadon.kube.catalogue import known_resources
from celadon.serve.charging.open_charges import OpenCharges
from celadon.serve.objects.object_store import ObjectStore, StoredObject

RESOURCE_QUOTA: Final = "ResourceQuota"
"""The name of the plugin."""
QUOTAS: Final = GroupVersionResource("", "v1", "resourcequotas")


class QuotaCharging:
    """Charges of one server. `now` gives the time as objects have it. Where it is not `enabled`,
    nothing is charged."""

    def __init__(
        self, objects: ObjectStore, now: Callable[[], str], charges: OpenCharges, *, enabled: bool
    ) -> None:
        resource = known_resources().by_gvr(QUOTAS)
        assert resource is not None, "a catalogue without quotas"
        self._objects = objects
        self._resource = resource
        self._now = now
        self._enabled = enabled
        self.open = charges

    def are_in(self, namespace: str) -> bool:
        """Whether there is anything to ask for."""
        return self._enabled and bool(namespace) and bool(self._quotas(namespace))

    async def charge(self, request: Request, *, for_good: bool) -> StatusError | None:
        """The refusal of a request that does not fit; what fits is written if `for_good`."""
        if not is_counted(request):
            return None
        done: set[str] = set()
        while True:
            quotas = {
                name: one
                for one in self._quotas(request.namespace)
                if (name := metadata.name(one.object)) not in done
            }
            found = fit([one.object for one in quotas.values()], request, self._now())
            if found.refusal is not None:
                return found.refusal
            changes = found.used or {}
            if not for_good:
                return None
            for name, used in changes.items():
                if await self._write(quotas[name], dict(used)):
                    done.add(name)
            if changes.keys() <= done:
                return None

    async def _write(self, quota: StoredObject, used: JsonObject) -> bool:
        """False when somebody has written in between."""
        obj = quota.object
        changed = {**obj, "status": {**(obj.get("status") or {}), "used": used}}
        namespace, name = metadata.namespace(obj), metadata.name(obj)
        made = await self._objects.update(self._resource, namespace, name, changed, quota.revision)
        return made is not None

    def _quotas(self, namespace: str) -> tuple[StoredObject, ...]:
        return self._objects.page(self._resource, namespace).objects
