"""What the status of a namespace says while its content is being deleted.

As k8s.io/kubernetes `pkg/controller/namespace/deletion/status_condition_utils.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from celadon.kube import GroupResource, JsonObject
from celadon.records import dataclass
from celadon.serve.controllers.conditions import condition, with_condition

_CONTENT_FAILURE: Final = "NamespaceDeletionContentFailure"
_CONTENT_REMAINING: Final = "NamespaceContentRemaining"
_FINALIZERS_REMAINING: Final = "NamespaceFinalizersRemaining"
_GOOD: Final = (
    condition(
        "NamespaceDeletionDiscoveryFailure",
        "False",
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    condition(
        "NamespaceDeletionGroupVersionParsingFailure",
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    condition(
        _CONTENT_FAILURE,
        "False",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    condition(_CONTENT_REMAINING, "False", "ContentRemoved", "All content successfully removed"),
    condition(
        _FINALIZERS_REMAINING,
        "False",
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
)


@dataclass(frozen=True, slots=True)
class Remains:
    """What is left after an attempt: objects by resource, objects by finalizer, and problems."""

    objects: Mapping[GroupResource, int] = field(default_factory=dict)
    finalizers: Mapping[str, int] = field(default_factory=dict)
    failures: Sequence[str] = ()


def deletion_conditions(
    conditions: Sequence[JsonObject] | None, remains: Remains, now: str
) -> list[JsonObject]:
    """All five, in the order in which they came."""
    bad = {one["type"]: one for one in _bad(remains)}
    made = list(conditions or ())
    for good in _GOOD:
        made = with_condition(made, bad.get(good["type"], good), now)
    return made


def _bad(remains: Remains) -> list[JsonObject]:
    found: list[JsonObject] = []
    if remains.failures:
        text = (
            f"Failed to delete all resource types, {len(remains.failures)} remaining: "
            + ", ".join(sorted(remains.failures))
        )
        found.append(condition(_CONTENT_FAILURE, "True", "ContentDeletionFailed", text))
    if remains.objects:
        left = sorted(
            f"{one.resource}.{one.group} has {number} resource instances"
            for one, number in remains.objects.items()
        )
        text = "Some resources are remaining: " + ", ".join(left)
        found.append(condition(_CONTENT_REMAINING, "True", "SomeResourcesRemain", text))
    if remains.finalizers:
        held = sorted(
            f"{one} in {number} resource instances" for one, number in remains.finalizers.items()
        )
        text = "Some content in the namespace has finalizers remaining: " + ", ".join(held)
        found.append(condition(_FINALIZERS_REMAINING, "True", "SomeFinalizersRemain", text))
    return found
