"""Policies and bindings in ConfigMaps, for clusters that are too old to know the kinds.

A ConfigMap with the label `celadon.dev/policies` in the webhook's own namespace holds files: each
of its values is YAML or JSON with any number of documents. What else is in them is a problem, and
so is a file that cannot be read; then the ConfigMap counts as it last could be read. Only the
webhook's own namespace is looked at: whoever may write there decides for the whole cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final

from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
)
from celadon.goyaml import UnreadableError, read_yaml
from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass

Documents = Mapping[str, Sequence[JsonObject]]
"""By kind, in order; each of KINDS is there."""

KINDS: Final = (POLICY_KIND, BINDING_KIND, MUTATING_POLICY_KIND, MUTATING_BINDING_KIND)
"""What may be in a file."""


@dataclass(frozen=True, slots=True)
class _Known:
    revision: str
    documents: Documents
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class ConfigMapPolicies:
    """Remembers what each ConfigMap last could be read as."""

    _known: dict[str, _Known] = field(default_factory=dict)

    def documents(self, config_maps: Iterable[JsonObject]) -> Documents:
        """Of all of them; of two documents with one name, that of the first ConfigMap (by name)
        counts, and the other one is a problem."""
        found = {metadata.name(one): self._read(one) for one in config_maps}
        self._known = {name: found[name] for name in sorted(found)}
        return {
            kind: [doc for one in self._known.values() for doc in one.documents[kind]]
            for kind in KINDS
        }

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the newest version of something is not in use, each with its place."""
        return tuple(text for one in self._known.values() for text in one.problems)

    def _read(self, config_map: JsonObject) -> _Known:
        name = metadata.name(config_map)
        revision = str(metadata.metadata(config_map).get("resourceVersion") or "")
        before = self._known.get(name)
        if before is not None and before.revision == revision:
            return before
        documents, problems = _documents(name, config_map.get("data") or {})
        if problems and before is not None:
            documents = before.documents
        return _Known(revision, documents, tuple(problems))


def _documents(name: str, files: JsonObject) -> tuple[Documents, list[str]]:
    found: dict[str, list[JsonObject]] = {kind: [] for kind in KINDS}
    problems: list[str] = []
    for file in sorted(files):
        place = f"configmap `{name}`, `{file}`"
        try:
            for line, value in read_yaml(str(files[file])):
                if value is None:
                    continue
                kind = _kind(value)
                if kind in found:
                    found[kind].append(value)
                else:
                    problems.append(f"{place}, line {line}: neither a policy nor a binding")
        except UnreadableError as error:
            problems.append(f"{place}, line {error.line}: {error.message}")
    return found, problems


def _kind(value: object) -> str:
    """Empty for what is no object of the group, or has no name."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return ""
    group = str(value.get("apiVersion")).partition("/")[0]
    named = bool(value["metadata"].get("name"))
    return str(value.get("kind")) if group == ADMISSION_REGISTRATION and named else ""
