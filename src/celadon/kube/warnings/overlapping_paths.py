"""Files of one volume that would lie over each other.

A volume made of a ConfigMap, a Secret or the downward API, or of several of them, puts items at
paths: the same path twice, or one below another. As k8s.io/kubernetes `pkg/api/pod/warnings.go`,
`warningsForOverlappingVirtualPaths`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.records import dataclass

_CERTIFICATE_PATHS: Final = (
    ("certificateChainPath", "PodCertificate chain"),
    ("keyPath", "PodCertificate key"),
    ("credentialBundlePath", "PodCertificate credential bundle"),
)
_SOURCES: Final = (
    "secret",
    "downwardAPI",
    "configMap",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A path, and where it comes from if that is not clear."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


def overlapping_paths(volumes: Iterable[JsonObject]) -> Iterator[str]:
    """Of all volumes of a pod, in their order."""
    for volume in volumes:
        yield from _of_volume(volume, volume.get("name", ""))


def _of_volume(volume: JsonObject, name: str) -> Iterator[str]:
    maps, secret = volume.get("configMap"), volume.get("secret")
    if maps is not None:
        source = f"ConfigMap {quote(maps.get('name', ''))}"
        yield from _overlaps(_items(maps), name, source)
    if secret is not None:
        source = f"Secret {quote(secret.get('secretName', ''))}"
        yield from _overlaps(_items(secret), name, source)
    if volume.get("downwardAPI") is not None:
        yield from _overlaps(_items(volume["downwardAPI"]), name, "DownwardAPI")
    if volume.get("projected") is not None:
        yield from _of_projected(volume["projected"], name)


def _items(source: JsonObject, named: str = "") -> list[_Place]:
    return [_Place(item.get("path", ""), named) for item in source.get("items") or ()]


def _of_projected(projected: JsonObject, name: str) -> Iterator[str]:
    places: list[_Place] = []
    for source in projected.get("sources") or ():
        if any(source.get(kind) is not None for kind in _SOURCES):
            added = _projected_places(source)
            yield from _overlaps(added, name, "Projected", places)
        else:
            yield f"volume {quote(name)} (Projected) has no sources provided"


def _projected_places(source: JsonObject) -> list[_Place]:
    maps, secret = source.get("configMap"), source.get("secret")
    if maps is not None and maps.get("items"):
        return _items(maps, f"ConfigMap {quote(maps.get('name', ''))}")
    if secret is not None and secret.get("items"):
        return _items(secret, f"Secret {quote(secret.get('name', ''))}")
    if source.get("downwardAPI") is not None and source["downwardAPI"].get("items"):
        return _items(source["downwardAPI"], "DownwardAPI")
    token, bundle = source.get("serviceAccountToken"), source.get("clusterTrustBundle")
    if token is not None:
        return [_Place(token.get("path", ""), "ServiceAccountToken")]
    if bundle is not None:
        named = bundle.get("name") or bundle.get("signerName") or ""
        return [_Place(bundle.get("path", ""), f"ClusterTrustBundle {quote(named)}")]
    certificate = source.get("podCertificate") or {}
    return [
        _Place(certificate[field], what)
        for field, what in _CERTIFICATE_PATHS
        if certificate.get(field)
    ]


def _overlaps(
    added: Iterable[_Place], volume: str, source: str, places: list[_Place] | None = None
) -> Iterator[str]:
    """`places` are those that were there before; it gets the new ones, too."""
    places = [] if places is None else places
    for one in added:
        place = _Place(one.path.rstrip("/"), one.source)
        for other in places:
            if _meet(place.path, other.path):
                yield f"volume {quote(volume)} ({source}): overlapping paths: {place} with {other}"
        places.append(place)


def _meet(one: str, other: str) -> bool:
    if not one or not other:
        return False
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
