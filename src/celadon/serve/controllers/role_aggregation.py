"""ClusterRoles with an aggregation rule have the rules of the roles that it selects.

As k8s.io/kubernetes `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celadon.kube import JsonObject, metadata
from celadon.kube.roles import role_selectors
from celadon.serve.controllers.controller_loops import Change, Stale
from celadon.serve.controllers.status_writes import StatusWrites


def aggregated_rules(role: JsonObject, roles: Iterable[JsonObject]) -> list[JsonObject] | None:
    """The rules the role should have, each once, in the order of selectors and of the names of the
    roles; None for a role that says its rules itself."""
    selectors = role_selectors(role)
    if not selectors:
        return None
    others = sorted(
        (one for one in roles if metadata.name(one) != metadata.name(role)), key=metadata.name
    )
    found: list[JsonObject] = []
    for selector in selectors:
        for other in others:
            if selector.matches(metadata.labels(other)):
                found += [one for one in other.get("rules") or () if one not in found]
    return found


class RoleAggregation:
    """There is one item: all roles, as each may concern any other."""

    urgent = False

    def __init__(self, roles: StatusWrites) -> None:
        self._roles = roles

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._roles.prefix,)

    def concerned(self, change: Change) -> Iterable[str]:
        return ("",)

    async def reconcile(self, item: str) -> None:
        roles = self._roles.all()
        for role in roles:
            wanted = aggregated_rules(role, roles)
            if wanted is None or wanted == (role.get("rules") or []):
                continue
            stored = self._roles.get(metadata.name(role))
            if stored is None or stored.object is not role:
                raise Stale
            await self._roles.replace(stored, {**role, "rules": wanted})
