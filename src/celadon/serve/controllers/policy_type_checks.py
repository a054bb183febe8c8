"""The status of ValidatingAdmissionPolicies: which generation was seen, and what is wrong with its
expressions for the kinds that it matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from celadon.admission import TypeChecker
from celadon.admission.registration import RegistrationError, decode_policy
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.catalogue import Catalog
from celadon.kube.schemas import Schema, custom_schemas
from celadon.serve.controllers.controller_loops import Change
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.views.served_resources import Served


class PolicyTypeChecks:
    """Items are names of policies. `version` is the release whose CEL they are written in, `number`
    gives what names of types end with."""

    urgent = False

    def __init__(
        self,
        policies: StatusWrites,
        served: Callable[[], Served],
        version: str,
        number: Callable[[], int],
    ) -> None:
        self._policies = policies
        self._served = served
        self._version = version
        self._number = number
        self._for: Served | None = None
        self._checker: TypeChecker | None = None

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._policies.prefix,)

    def concerned(self, change: Change) -> Iterable[str]:
        new = change.new
        return () if new is None or _is_current(new) else (metadata.name(new),)

    async def reconcile(self, item: str) -> None:
        stored = self._policies.get(item)
        if stored is None or _is_current(stored.object):
            return
        try:
            policy = decode_policy(stored.object).value
        except RegistrationError:
            return
        found = self._type_checker().status(policy, self._number())
        former = stored.object.get("status") or {}
        await self._policies.write(stored, {**former, **found})

    def _type_checker(self) -> TypeChecker:
        """Made anew when other kinds are served."""
        served = self._served()
        if self._checker is None or served is not self._for:
            self._for = served
            self._checker = TypeChecker(_by_default(served), _schemas(served), self._version)
        return self._checker


def _is_current(policy: JsonObject) -> bool:
    seen = (policy.get("status") or {}).get("observedGeneration") or 0
    return bool(metadata.generation(policy) <= seen)


def _by_default(served: Served) -> Catalog:
    return Catalog(tuple(one for one in served.catalog if one.by_default))


def _schemas(served: Served) -> dict[GroupVersionKind, Schema]:
    found: dict[GroupVersionKind, Schema] = {}
    for definition in served.definitions:
        found.update(custom_schemas(definition))
    return found
