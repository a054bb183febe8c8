"""Old updates are forgotten one by one: at most ten managers that update are told apart.

As k8s.io/apimachinery `pkg/util/managedfields/internal/capmanagers.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.apply.managed_fields import UPDATE, ManagerId, Managers, manager_id

MAX_UPDATERS: Final = 10
ANCIENT: Final = "ancient-changes"
"""The manager that the oldest become."""


def limit_updaters(managers: Managers) -> None:
    """Merges the oldest updaters of each version into one, until there are few enough."""
    updaters = [manager for manager in managers.owned if manager.operation == UPDATE]
    count = len(updaters)
    if count <= MAX_UPDATERS:
        return
    updaters.sort(key=lambda manager: (managers.times.get(manager, ""), manager.sort_text()))
    first_of: dict[str, ManagerId] = {}
    for manager in updaters:
        if count <= MAX_UPDATERS:
            return
        version = managers.owned[manager].api_version
        first = first_of.setdefault(version, manager)
        if first == manager:
            continue
        bucket = manager_id(ANCIENT, UPDATE, version)
        if bucket not in managers.owned:
            managers.owned[bucket] = managers.owned.pop(first)
        fields = managers.owned.pop(manager).fields | managers.owned[bucket].fields
        managers.keep(bucket, fields, version)
        managers.times[bucket] = managers.times.get(manager, "")
        count -= 1
