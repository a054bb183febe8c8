"""AlwaysPullImages: nobody runs an image from a node's cache that they could not pull.

As k8s.io/kubernetes `plugin/pkg/admission/alwayspullimages`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.admission.plugins.plugin_answers import PODS, Behaviour, forbidden
from celadon.admission.plugins.pod_plugins.pod_references import containers
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube import FieldPath, JsonObject, StatusError, fieldpath, status
from celadon.kube.well_known_values import CONTAINER_LISTS

ALWAYS: Final = "Always"


def _mutate(pod: dict[str, Any], request: Request, _: World) -> StatusError | None:
    spec = pod["spec"]
    if _has_no_new_images(request, spec):
        return None
    for container in containers(spec):
        if isinstance(container, dict):
            container["imagePullPolicy"] = ALWAYS
    for volume in spec.get("volumes") or ():
        if volume.get("image") is not None:
            volume["image"]["pullPolicy"] = ALWAYS
    return None


def _validate(request: Request, _: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    if _has_no_new_images(request, spec):
        return None
    texts = [str(forbidden(request, text)) for text in _complaints(spec)]
    if not texts:
        return None
    return status.plain_error(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _complaints(spec: JsonObject) -> Iterator[str]:
    for field in CONTAINER_LISTS:
        for i, container in enumerate(spec.get(field) or ()):
            policy = container.get("imagePullPolicy", "")
            if policy != ALWAYS:
                path = FieldPath("spec").child(field).index(i).child("imagePullPolicy")
                yield str(fieldpath.not_supported(path, policy, (ALWAYS,)))


def _has_no_new_images(request: Request, spec: JsonObject) -> bool:
    """Whether an update leaves what is pulled as it is."""
    if request.operation is not Operation.UPDATE:
        return False
    old = _images((request.old_object or {}).get("spec") or {})
    return _images(spec) <= old


def _images(spec: JsonObject) -> set[str]:
    return {container.get("image", "") for container in containers(spec)}


IMAGE_PULLING: Final = Behaviour(mutate=_mutate, validate=_validate, resources=PODS)
