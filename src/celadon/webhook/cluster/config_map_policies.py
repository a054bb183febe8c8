"""Policies and bindings in ConfigMaps, for clusters that are too old to know the kinds.

A ConfigMap with the label `celadon.dev/policies` in the webhook's own namespace holds files: each
of its values is YAML or JSON with any number of documents. What else is in them is a problem, and
so is a file that cannot be read, or a policy that an API server with the kind would not take:
nobody else has looked at it. Then the ConfigMap counts as it last was without problems; if it never
was, what is good in it counts. Only the webhook's own namespace is looked at: whoever may write
there decides for the whole cluster.
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
    RegistrationError,
    decode_object,
    validate_create,
    validate_object_meta,
)
from celadon.goyaml import UnreadableError, read_yaml
from celadon.kube import GroupKind, JsonObject, metadata, status
from celadon.kube.registry import request_bodies
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
    """Remembers what each ConfigMap last could be read as. `version` is the release whose policies
    they are."""

    version: str
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
        documents, problems = _documents(name, config_map.get("data") or {}, self.version)
        if problems and before is not None:
            documents = before.documents
        return _Known(revision, documents, tuple(problems))


def _documents(name: str, files: JsonObject, version: str) -> tuple[Documents, list[str]]:
    found: dict[str, list[JsonObject]] = {kind: [] for kind in KINDS}
    problems: list[str] = []
    for file in sorted(files):
        place = f"configmap `{name}`, `{file}`"
        try:
            for line, value in read_yaml(str(files[file])):
                if value is None:
                    continue
                kind = _kind(value)
                known = kind in found
                wrong = (
                    _refusal(value, kind, version) if known else "neither a policy nor a binding"
                )
                if wrong:
                    problems.append(f"{place}, line {line}: {wrong}")
                else:
                    found[kind].append(value)
        except UnreadableError as error:
            problems.append(f"{place}, line {error.line}: {error.message}")
    return found, problems


def _refusal(value: JsonObject, kind: str, version: str) -> str:
    """Why an API server would not take it; empty if it would."""
    served = str(value["apiVersion"]).partition("/")[2]
    try:
        decoded = decode_object(value, kind, served)
    except RegistrationError as error:
        return str(error)
    if decoded.unknown_fields:
        return request_bodies.strict_decoding_error([one.text for one in decoded.unknown_fields])
    obj = decoded.value
    errors = [*validate_object_meta(obj.metadata), *validate_create(obj, version)]
    if not errors:
        return ""
    about = GroupKind(ADMISSION_REGISTRATION, kind)
    return str(status.invalid(about, metadata.name(value), errors).status.message)


def _kind(value: object) -> str:
    """Empty for what is no object of the group, or has no name."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return ""
    group = str(value.get("apiVersion")).partition("/")[0]
    named = bool(value["metadata"].get("name"))
    return str(value.get("kind")) if group == ADMISSION_REGISTRATION and named else ""
