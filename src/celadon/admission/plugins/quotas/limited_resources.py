"""What nobody may use without a quota that allows for it, as an operator has said.

As k8s.io/apiserver `pkg/admission/plugin/resourcequota/controller.go` (`limitedByDefault`,
`getMatchedLimitedScopes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celadon.admission.plugins.quotas.quota_amounts import Amounts
from celadon.admission.plugins.quotas.quota_scopes import matched_selectors, selectors_of
from celadon.kube import GroupResource, JsonObject
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class LimitedResource:
    """`contains` are parts of the names of what is counted, `scopes` selectors as they stand in the
    scope selector of a quota."""

    resource: GroupResource
    contains: tuple[str, ...] = ()
    scopes: tuple[JsonObject, ...] = ()


def uncovered(
    limited: Iterable[LimitedResource],
    resource: GroupResource,
    obj: JsonObject,
    usage: Amounts,
    quotas: Sequence[tuple[JsonObject, Iterable[str]]],
) -> str:
    """What an object lacks, as the sentence says it; empty if nothing. `quotas` are those that the
    object falls under, each with the names of what it counts of it."""
    concerned = [one for one in limited if one.resource == resource]
    if not concerned:
        return ""
    parts = [part for one in concerned for part in one.contains]
    needed = {
        name
        for name, amount in usage.items()
        if amount.sign > 0 and any(part in name for part in parts)
    }
    lacking = needed.difference(*(names for _, names in quotas))
    if lacking:
        return f"insufficient quota to consume: {','.join(sorted(lacking))}"
    asked = [
        selector for one in concerned for selector in matched_selectors(one.scopes, resource, obj)
    ]
    covered = {
        selector.get("scopeName")
        for quota, _ in quotas
        for selector in matched_selectors(selectors_of(quota), resource, obj)
    }
    scopes = [_shown(one) for one in asked if one.get("scopeName") not in covered]
    return f"insufficient quota to match these scopes: [{' '.join(scopes)}]" if scopes else ""


def _shown(selector: JsonObject) -> str:
    """As Go prints the struct."""
    values = " ".join(selector.get("values") or ())
    return f"{{{selector.get('scopeName')} {selector.get('operator')} [{values}]}}"
