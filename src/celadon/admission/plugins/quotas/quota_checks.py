"""Whether a request fits into the quotas of its namespace, and what they count afterwards.

As k8s.io/apiserver `pkg/admission/plugin/resourcequota/controller.go` (`CheckRequest`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from celadon.admission.plugins.plugin_answers import forbidden
from celadon.admission.plugins.quotas.limited_resources import LimitedResource, uncovered
from celadon.admission.plugins.quotas.object_usage import (
    DEVICE_CLAIM,
    POD,
    SERVICE,
    UNCOUNTED,
    VOLUME_CLAIM,
    matching,
    usage_of,
)
from celadon.admission.plugins.quotas.pod_usage import unsaid
from celadon.admission.plugins.quotas.quota_amounts import (
    ZERO,
    Amounts,
    added,
    amounts_of,
    growth,
    masked,
    multiplied,
    shown,
    texts_of,
)
from celadon.admission.plugins.quotas.quota_scopes import is_in_scope, is_terminating
from celadon.admission.request import Operation, Request
from celadon.kube import GroupResource, JsonObject, StatusError, metadata
from celadon.records import dataclass

_COUNTED_WHEN_UPDATED: Final = frozenset({SERVICE, VOLUME_CLAIM, DEVICE_CLAIM})
"""Resources whose objects can count for more after an update."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What a request takes from a quota, and what the quota counts afterwards."""

    taken: Mapping[str, str]
    used: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fit:
    """The refusal if a request does not fit; else its charges by the names of the quotas."""

    refusal: StatusError | None = None
    charges: Mapping[str, Charge] = field(default_factory=dict)


FITS: Final = Fit()


def is_counted(request: Request) -> bool:
    """Whether a request may change what a quota counts."""
    resource, new = request.resource.group_resource, request.object
    if not request.namespace or request.resource.resource == "namespaces" or new is None:
        return False
    if resource == POD and request.subresource == "resize":
        return request.operation is Operation.UPDATE
    if request.subresource or resource in UNCOUNTED:
        return False
    if request.operation is Operation.CREATE:
        return True
    if request.operation is not Operation.UPDATE:
        return False
    if resource == POD:
        return is_terminating(new) != is_terminating(request.old_object or {})
    return resource in _COUNTED_WHEN_UPDATED


def fit(
    quotas: Sequence[JsonObject],
    request: Request,
    now: str,
    limited: Sequence[LimitedResource] = (),
    times: int = 1,
) -> Fit:
    """`quotas` are those of the request's namespace, `now` is the time as objects have it; without
    a quota nobody may use what is `limited`. With `times`, so many new objects like this one are
    asked for at once."""
    resource, new = request.resource.group_resource, request.object
    if new is None:
        return FITS
    concerned: list[tuple[JsonObject, Sequence[str]]] = []
    for quota in quotas:
        names = matching(resource, _status(quota, "hard"))
        if not names or not is_in_scope(quota, resource, new):
            continue
        refusal = _incomplete(quota, names, resource, request)
        if refusal is not None:
            return Fit(refusal)
        concerned.append((quota, names))
    if not concerned and not limited:
        return FITS
    usage = usage_of(resource, new, now)
    why = uncovered(limited, resource, new, usage, concerned)
    if why:
        return Fit(forbidden(request, why))
    if times > 1:
        usage = multiplied(usage, times)
    return _charged([quota for quota, _ in concerned], request, usage, now)


def _status(quota: JsonObject, field: str) -> dict[str, str]:
    return (quota.get("status") or {}).get(field) or {}


def _incomplete(
    quota: JsonObject, names: Sequence[str], resource: GroupResource, request: Request
) -> StatusError | None:
    missing = unsaid(request.object or {}, names) if resource == POD else ""
    if missing:
        why = f"failed quota: {metadata.name(quota)}: must specify {missing}"
        return forbidden(request, why)
    used = _status(quota, "used")
    if any(name not in used for name in names):
        text = ",".join(names)
        why = f"status unknown for quota: {metadata.name(quota)}, resources: {text}"
        return forbidden(request, why)
    return None


def _charged(quotas: Sequence[JsonObject], request: Request, usage: Amounts, now: str) -> Fit:
    resource, old = request.resource.group_resource, request.old_object
    negative = sorted(name for name, amount in usage.items() if amount.sign < 0)
    if negative:
        why = f"quota usage is negative for resource(s): {','.join(negative)}"
        return Fit(forbidden(request, why))
    more = growth(usage, {} if old is None else usage_of(resource, old, now))
    found = {}
    for quota in quotas:
        was_counted = old is not None and is_in_scope(quota, resource, old)
        delta = more if was_counted or old is None else growth(usage, {})
        hard = amounts_of(_status(quota, "hard"))
        requested = masked(delta, hard)
        if not requested:
            continue
        used = amounts_of(_status(quota, "used"))
        after = added(used, requested)
        exceeded = [name for name in requested if after[name].compare(hard[name]) > 0]
        if exceeded:
            return Fit(_exceeded(quota, request, exceeded, (requested, used, hard)))
        found[metadata.name(quota)] = Charge(texts_of(requested), texts_of(after))
    return Fit(charges=found)


def given_back(used: Mapping[str, str], taken: Mapping[str, str]) -> dict[str, str]:
    """What a quota counts without a charge that came to nothing; never less than nothing."""
    present = amounts_of(used)
    rest = growth(present, amounts_of(taken))
    return texts_of({name: rest.get(name, ZERO) for name in present})


def _exceeded(
    quota: JsonObject,
    request: Request,
    names: Sequence[str],
    amounts: tuple[Amounts, Amounts, Amounts],
) -> StatusError:
    requested, used, hard = (shown(masked(one, names)) for one in amounts)
    return forbidden(
        request,
        f"exceeded quota: {metadata.name(quota)}, requested: {requested}, used: {used}, "
        f"limited: {hard}",
    )
