"""Where a kind keeps the counts that its `scale` shows."""

from __future__ import annotations

from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where the counts are, as names of members; no `selector` when there is none."""

    wanted: tuple[str, ...] = ("spec", "replicas")
    counted: tuple[str, ...] = ("status", "replicas")
    selector: tuple[str, ...] = ()


def scale_paths(given: object) -> ScalePaths | None:
    """From `subresources.scale` of a version of a CustomResourceDefinition, if it has one."""
    if not isinstance(given, dict):
        return None
    fields = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
    return ScalePaths(*(_names(given.get(field)) for field in fields))


def _names(path: object) -> tuple[str, ...]:
    return tuple(path.removeprefix(".").split(".")) if isinstance(path, str) and path else ()
