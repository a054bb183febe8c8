"""The interface of a plugin (`Behaviour`), and the answers that it may give.

A plugin has up to two halves. The first sees an object that is still on its way in and may change
it in place; the second sees what would be stored. Both are functions of the request and the world,
and say nothing where they have nothing against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from celadon.admission.cluster_lookups import World
from celadon.admission.request import Operation, Request, error_name
from celadon.kube import GroupResource, StatusError, status
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Opinion:
    """Holds what a plugin says about an object: a refusal, texts for Warning headers, and
    annotations of the audit event, which are kept of refused requests, too."""

    refusal: StatusError | None = None
    warnings: tuple[str, ...] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)


FINE: Final = Opinion()

Mutate = Callable[[JsonDict, Request, World], StatusError | None]
"""Changes the object, or refuses it. What it is given is empty when there is no object."""
Validate = Callable[[Request, World], StatusError | None]
Advise = Callable[[Request, World], Opinion]
"""As `Validate`, of those who have more to say than a refusal."""

MAIN: Final = frozenset({""})
"""The subresources of plugins that look at none."""
CREATE: Final = frozenset({Operation.CREATE})
WRITES: Final = frozenset({Operation.CREATE, Operation.UPDATE})
CHANGES: Final = frozenset({Operation.CREATE, Operation.UPDATE, Operation.DELETE})
EVERYTHING: Final = frozenset(Operation)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Holds what a plugin does beside what the rules of `celadon.kube.defaulting` say of it, and
    for which requests it is asked. `resources` and `subresources` are None for any. `rules_on` are
    the operations on which those rules hold."""

    mutate: Mutate | None = None
    validate: Validate | None = None
    advise: Advise | None = None
    resources: frozenset[GroupResource] | None = None
    subresources: frozenset[str] | None = MAIN
    operations: frozenset[Operation] = WRITES
    rules_on: frozenset[Operation] = CREATE

    def concerns(self, request: Request) -> bool:
        """Return whether the plugin is asked about a request like this one."""
        if request.operation not in self.operations:
            return False
        if self.subresources is not None and request.subresource not in self.subresources:
            return False
        return self.resources is None or request.resource.group_resource in self.resources


def forbidden(request: Request, reason: str) -> StatusError:
    """Return a refusal (403) of the request, as k8s.io/apiserver `pkg/admission/errors.go`
    (`NewForbidden`)."""
    return status.forbidden(request.resource.group_resource, error_name(request), reason)


def core(*resources: str) -> frozenset[GroupResource]:
    """Return the resources of the group without a name."""
    return frozenset(GroupResource("", resource) for resource in resources)


PODS: Final = core("pods")
