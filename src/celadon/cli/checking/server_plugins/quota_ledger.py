"""ResourceQuotas, and what the objects of a check take from them, one after the other.

A quota counts what there is in the cluster: what its own status says, or, if it has none, the
objects that were given with `-f` and `--old`. The objects that are to be admitted are charged in
their order, as if they were applied in that order; what a server would refuse for its quota is not
charged. What controllers would create is charged at the end, as many of each as are wanted at once,
so that it never takes the place of an object that is in a file.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from celadon.admission import Request
from celadon.admission.plugins import (
    RESOURCE_QUOTA,
    Fit,
    LimitedResource,
    fit,
    is_counted,
    recounted,
)
from celadon.cli.checking.check_report import ObjectResult, State
from celadon.kube import GroupResource, JsonObject, metadata
from celadon.kube.catalogue import known_resources
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Charge:
    """A request that was admitted so far, and the place of its result among all. `times` is how
    many objects like it are wanted; None for one that is in a file."""

    number: int
    request: Request
    times: int | None = None

    def behind(self, results: int) -> Charge:
        """The same, if so many results stand before its own."""
        return replace(self, number=self.number + results)


class QuotaLedger:
    """The quotas by namespace, as they are now. Nobody may use what is `limited` without one."""

    def __init__(
        self,
        quotas: Iterable[JsonObject],
        existing: Iterable[JsonObject],
        now: str,
        limited: Sequence[LimitedResource] = (),
    ) -> None:
        self._now = now
        self._limited = limited
        self._quotas: dict[str, list[JsonObject]] = {}
        for quota in quotas:
            self._quotas.setdefault(metadata.namespace(quota), []).append(quota)
        there = _by_place(existing) if self._quotas else {}
        for namespace, found in self._quotas.items():
            found[:] = [self._counting(one, there.get(namespace, {})) for one in found]

    def uncharged(self) -> QuotaLedger:
        """One that knows the same now, and of whose charges this one learns nothing."""
        found = copy.copy(self)
        found._quotas = {namespace: [*quotas] for namespace, quotas in self._quotas.items()}
        return found

    def concerns(self, request: Request) -> bool:
        """Whether a request may take something."""
        there = bool(self._limited) or request.namespace in self._quotas
        return there and is_counted(request)

    def settle(self, results: list[ObjectResult], charges: Iterable[Charge]) -> None:
        """Puts the refusals in the place of results that do not fit."""
        given = list(charges)
        for charge in (one for one in given if one.times is None):
            self._charge(results, charge, 1)
        for charge in given:
            if charge.times is not None and not self._fails_with_owner(results, charge):
                self._charge(results, charge, charge.times)

    def _fails_with_owner(self, results: list[ObjectResult], charge: Charge) -> bool:
        """What is refused creates nothing: neither does what was to be created by it. Objects of
        one kind do not wait for each other."""
        number = charge.number
        kind = results[number].kind
        while results[number].created_by is not None:
            number -= 1
            if results[number].is_refused and results[number].kind != kind:
                return True
        return False

    def _counting(
        self, quota: JsonObject, there: Mapping[GroupResource, Sequence[JsonObject]]
    ) -> JsonObject:
        """A quota whose status says what it counts."""
        if (quota.get("status") or {}).get("hard"):
            return quota
        told = recounted(quota, lambda resource: there.get(resource, ()), self._now)
        return {**quota, "status": told}

    def _charge(self, results: list[ObjectResult], charge: Charge, times: int) -> None:
        request = charge.request
        fits = self._most(request, times)
        if fits:
            self._take(request, self._fit(request, fits))
        if fits == times:
            return
        refusal = self._fit(request, 1).refusal
        assert refusal is not None, "it is one too many"
        status = refusal.status
        number = charge.number
        results[number] = replace(
            results[number],
            state=State.DENIED,
            code=status.code,
            sentence=status.message,
            status=status.to_json(),
            plugin=RESOURCE_QUOTA,
            ordinal=(fits + 1, times) if times > 1 else None,
        )

    def _most(self, request: Request, times: int) -> int:
        """How many of so many equal objects there is place for."""
        if not times or self._fit(request, times).refusal is None:
            return times
        least, most = 0, times
        while most - least > 1:
            middle = (least + most) // 2
            if self._fit(request, middle).refusal is None:
                least = middle
            else:
                most = middle
        return least

    def _fit(self, request: Request, times: int) -> Fit:
        quotas = self._quotas.get(request.namespace, ())
        return fit(quotas, request, self._now, self._limited, times)

    def _take(self, request: Request, found: Fit) -> None:
        if request.dry_run:
            return
        quotas = self._quotas.get(request.namespace, [])
        for i, quota in enumerate(quotas):
            charge = found.charges.get(metadata.name(quota))
            if charge is not None:
                status = {**quota["status"], "used": dict(charge.used)}
                quotas[i] = {**quota, "status": status}


def _by_place(
    objects: Iterable[JsonObject],
) -> Mapping[str, Mapping[GroupResource, Sequence[JsonObject]]]:
    """Objects by namespace and resource."""
    found: dict[str, dict[GroupResource, list[JsonObject]]] = {}
    for one in objects:
        resource = known_resources(all_versions=True).by_gvk(metadata.gvk(one))
        if resource is not None:
            space: Any = found.setdefault(metadata.namespace(one), {})
            space.setdefault(resource.gvr.group_resource, []).append(one)
    return found
