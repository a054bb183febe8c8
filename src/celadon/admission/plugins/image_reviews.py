"""ImagePolicyWebhook without the asking: what a backend is sent about a pod, and what follows.

As k8s.io/kubernetes `plugin/pkg/admission/imagepolicy`; the kinds are those of
k8s.io/api `imagepolicy/v1alpha1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from celadon.admission.plugins.plugin_answers import PODS, Opinion, forbidden
from celadon.admission.request import Operation, Request
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.well_known_values import EPHEMERAL_CONTAINERS
from celadon.records import dataclass

API_VERSION: Final = "imagepolicy.k8s.io/v1alpha1"
KIND: Final = "ImageReview"
PREFIX: Final = "imagepolicywebhook.image-policy.k8s.io/"
"""Of the keys of audit annotations."""

_TOLD: Final = ".image-policy.k8s.io/"
"""Annotations of a pod with this in their key are shown."""
_LISTS: Final = {
    "": ("containers", "initContainers"),
    EPHEMERAL_CONTAINERS: ("ephemeralContainers",),
}
_OPERATIONS: Final = frozenset({Operation.CREATE, Operation.UPDATE})


@dataclass(frozen=True, slots=True)
class ImageVerdict:
    """Holds what a backend has said about images."""

    allowed: bool = False
    reason: str = ""
    audit_annotations: Mapping[str, str] = field(default_factory=dict)


def image_review(request: Request) -> JsonObject | None:
    """Return what a backend is asked; None for requests that are not about images of pods."""
    if request.operation not in _OPERATIONS or request.object is None:
        return None
    lists = _LISTS.get(request.subresource)
    if lists is None or request.resource.group_resource not in PODS:
        return None
    pod = request.object
    spec = pod.get("spec") or {}
    every = (one for name in lists for one in spec.get(name) or ())
    asked: dict[str, Json] = {}
    containers = [{"image": one["image"]} if one.get("image") else {} for one in every]
    if containers:
        asked["containers"] = containers
    told = {key: text for key, text in metadata.annotations(pod).items() if _TOLD in key}
    if told:
        asked["annotations"] = dict(sorted(told.items()))
    if request.namespace:
        asked["namespace"] = request.namespace
    head = {"kind": KIND, "apiVersion": API_VERSION, "metadata": {}}
    return {**head, "spec": asked, "status": {"allowed": False}}


def image_opinion(request: Request, verdict: ImageVerdict) -> Opinion:
    """Return what follows from an answer."""
    told = {PREFIX + key: text for key, text in verdict.audit_annotations.items()}
    if verdict.allowed:
        return Opinion(audit_annotations=told)
    why = "one or more images rejected by webhook backend"
    if verdict.reason:
        why = f"image policy webhook backend denied one or more images: {verdict.reason}"
    return Opinion(forbidden(request, why), audit_annotations=told)


def unanswered_opinion(request: Request, why: str, *, allowed: bool) -> Opinion:
    """Return what follows from a failure; `allowed` is what the configuration says of it."""
    if allowed:
        return Opinion(audit_annotations={f"{PREFIX}failed-open": "true"})
    return Opinion(forbidden(request, why))
