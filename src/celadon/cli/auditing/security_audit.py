"""PodSecurity, asked about objects that exist: would they be let into their namespace now?

Of the built-in plugins it is the one that an audit asks: what it says follows from an object and
the labels of its namespace. Pods are held against all three levels, workloads against those that
are warned of and noted.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.admission import Request, World
from celadon.admission.plugins import PluginChain
from celadon.cli.auditing.audit_findings import AUDIT, DENY, WARN
from celadon.kube import GroupResource, metadata
from celadon.kube.well_known_values import NAMESPACES

POD_SECURITY: Final = "PodSecurity"
LABEL_PREFIX: Final = "pod-security.kubernetes.io/"
_RESOURCES: Final = {
    "": ("pods", "podtemplates", "replicationcontrollers"),
    "apps": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "batch": ("cronjobs", "jobs"),
}


class SecurityFinding(NamedTuple):
    """What the plugin has against an object; `label` is that of the namespace that asks for it."""

    effect: str
    message: str
    label: str


class SecurityAudit:
    """Asks the plugin of a release; namespaces without its labels are passed over."""

    def __init__(self, version: str, world: World) -> None:
        self._chain = PluginChain({POD_SECURITY}, version)
        self._world = world
        self._namespaces = frozenset(
            metadata.name(one)
            for one in world.list(NAMESPACES, "")
            if any(label.startswith(LABEL_PREFIX) for label in metadata.labels(one))
        )

    def may_concern(self, resource: GroupResource) -> bool:
        """Whether there may be something to say of objects of a resource."""
        return bool(self._namespaces) and resource.resource in _RESOURCES.get(resource.group, ())

    def concerns(self, request: Request) -> bool:
        """Whether the plugin looks at the object of a request."""
        known = request.namespace in self._namespaces
        return known and self.may_concern(request.resource.group_resource)

    def finding(self, request: Request) -> SecurityFinding | None:
        """The strongest of what it says."""
        said = self._chain.validate(request, self._world)
        if said.refusal is not None:
            _, _, why = said.refusal.status.message.partition(" is forbidden: ")
            return SecurityFinding(DENY, why, f"{LABEL_PREFIX}enforce")
        if said.warnings:
            return SecurityFinding(WARN, said.warnings[0], f"{LABEL_PREFIX}warn")
        noted = said.audit_annotations.get(f"{LABEL_PREFIX}audit-violations")
        return None if noted is None else SecurityFinding(AUDIT, noted, f"{LABEL_PREFIX}audit")
