"""The PersistentVolumeClaims that a StatefulSet has for its first pod, one for each template.

As k8s.io/kubernetes `pkg/controller/statefulset` (`getPersistentVolumeClaims`). They are created
before the pod, without an owner: whose they are by `persistentVolumeClaimRetentionPolicy` is
written into them later.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.json_copies import fresh
from celadon.kube.json_types import JsonObject

CLAIM: Final = "PersistentVolumeClaim"
"""The kind."""


def first_ordinal(stateful_set: JsonObject) -> int:
    """The number of the first pod."""
    found: int = ((stateful_set.get("spec") or {}).get("ordinals") or {}).get("start") or 0
    return found


def claim_name(template: JsonObject, pod: str) -> str:
    """The name of the claim that a pod has of a template."""
    return f"{metadata.name(template)}-{pod}"


def claims(stateful_set: JsonObject) -> Iterable[dict[str, Any]]:
    """In the order of their templates; upstream it is none in particular."""
    spec = stateful_set.get("spec") or {}
    pod = f"{metadata.name(stateful_set)}-{first_ordinal(stateful_set)}"
    chosen = (spec.get("selector") or {}).get("matchLabels") or {}
    for template in spec.get("volumeClaimTemplates") or ():
        claim: dict[str, Any] = {"apiVersion": "v1", "kind": CLAIM, **fresh(template)}
        meta = claim["metadata"] = dict(metadata.metadata(claim))
        meta["name"] = claim_name(template, pod)
        meta["namespace"] = metadata.namespace(stateful_set)
        labels = {**(meta.get("labels") or {}), **chosen}
        if labels:
            meta["labels"] = labels
        yield claim
