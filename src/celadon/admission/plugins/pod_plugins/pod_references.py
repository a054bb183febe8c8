"""What a pod refers to by name: secrets and config maps of its namespace.

As k8s.io/kubernetes `pkg/api/pod` (`VisitPodSecretNames`, `VisitPodConfigmapNames`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.well_known_values import CONTAINER_LISTS

_SECRET_FIELDS: Final = (
    ("azureFile", "secretName"),
    ("secret", "secretName"),
)
"""Volume sources that hold the name itself."""
_SECRET_REFERENCES: Final = (
    ("cephfs", "secretRef"),
    ("cinder", "secretRef"),
    ("flexVolume", "secretRef"),
    ("rbd", "secretRef"),
    ("scaleIO", "secretRef"),
    ("iscsi", "secretRef"),
    ("storageos", "secretRef"),
    ("csi", "nodePublishSecretRef"),
)
"""Volume sources that hold a reference with a name."""


def containers(spec: JsonObject) -> Iterator[JsonObject]:
    """Of all three kinds, in the order in which upstream visits them."""
    for field in CONTAINER_LISTS:
        yield from spec.get(field) or ()


def secret_names(spec: JsonObject) -> Iterator[str]:
    """Every secret that a pod names, with repetitions."""
    for reference in spec.get("imagePullSecrets") or ():
        yield reference.get("name", "")
    yield from _named_in_containers(spec, "secretRef", "secretKeyRef")
    for volume in spec.get("volumes") or ():
        for source, field in _SECRET_FIELDS:
            if volume.get(source) is not None:
                yield volume[source].get(field, "")
        for source, field in _SECRET_REFERENCES:
            if (volume.get(source) or {}).get(field) is not None:
                yield volume[source][field].get("name", "")
        yield from _projected(volume, "secret")


def config_map_names(spec: JsonObject) -> Iterator[str]:
    """Every ConfigMap that a pod names, with repetitions."""
    yield from _named_in_containers(spec, "configMapRef", "configMapKeyRef")
    for volume in spec.get("volumes") or ():
        if volume.get("configMap") is not None:
            yield volume["configMap"].get("name", "")
        yield from _projected(volume, "configMap")


def projections(spec: JsonObject) -> Iterator[JsonObject]:
    """The sources of all projected volumes."""
    for volume in spec.get("volumes") or ():
        yield from (volume.get("projected") or {}).get("sources") or ()


def _named_in_containers(spec: JsonObject, all_keys: str, one_key: str) -> Iterator[str]:
    for container in containers(spec):
        for source in container.get("envFrom") or ():
            if source.get(all_keys) is not None:
                yield source[all_keys].get("name", "")
        for variable in container.get("env") or ():
            found = (variable.get("valueFrom") or {}).get(one_key)
            if found is not None:
                yield found.get("name", "")


def _projected(volume: JsonObject, kind: str) -> Iterator[str]:
    for source in (volume.get("projected") or {}).get("sources") or ():
        if source.get(kind) is not None:
            yield source[kind].get("name", "")
