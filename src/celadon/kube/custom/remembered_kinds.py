"""The kinds that definitions define, compiled once as long as a definition's spec stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from celadon.kube import metadata
from celadon.kube.custom.custom_kinds import CustomKind, custom_kinds
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionKind


class RememberedKinds:
    """`version` is the release whose rules hold for the schemas."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._known: dict[str, tuple[JsonObject, dict[GroupVersionKind, CustomKind]]] = {}

    def of(self, definitions: Iterable[JsonObject]) -> Mapping[GroupVersionKind, CustomKind]:
        """Of all of them together; others are forgotten."""
        self._known = {metadata.name(one): self._kinds_of(one) for one in definitions}
        return {kind: found for _, kinds in self._known.values() for kind, found in kinds.items()}

    def _kinds_of(
        self, definition: JsonObject
    ) -> tuple[JsonObject, dict[GroupVersionKind, CustomKind]]:
        known = self._known.get(metadata.name(definition))
        spec = definition["spec"]
        if known is not None and known[0] == spec:
            return known
        return spec, custom_kinds(definition, self._version)
