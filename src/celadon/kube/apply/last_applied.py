"""The annotation of kubectl's client-side apply, which its server-side apply takes over from.

As k8s.io/apimachinery `pkg/util/managedfields/internal/{lastapplied,lastappliedmanager,
lastappliedupdater}.go`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.apply.field_sets import FieldSet
from celadon.kube.apply.typed.comparisons import compared
from celadon.kube.apply.typed.conformity import misfits
from celadon.kube.apply.typed.merge_types import ItemError, MergeType
from celadon.kube.apply.typed.typed_sets import applied_set
from celadon.kube.go.go_text import json_text
from celadon.kube.json_types import JsonObject

KUBECTL: Final = "kubectl"
"""The only manager that this is done for."""

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps what it was given."""
MAX_ANNOTATIONS: Final = 256 * 1024
"""Bytes of all annotations, keys and values."""


def applied_configuration(live: JsonObject) -> dict[str, Any]:
    """What was applied to the object last; empty where no annotation says so."""
    try:
        config = json.loads(metadata.annotations(live).get(LAST_APPLIED, ""))
    except ValueError:
        return {}
    return config if isinstance(config, dict) else {}


def configured(config: JsonObject) -> dict[str, Any]:
    """The configuration as `kubectl apply` sends it: with itself in the annotation."""
    meta = metadata.metadata(config)
    annotations = {key: one for key, one in _annotations(meta).items() if key != LAST_APPLIED}
    text = _text_of({**config, "metadata": {**meta, "annotations": annotations}})
    return {**config, "metadata": {**meta, "annotations": {**annotations, LAST_APPLIED: text}}}


def last_applied_set(type_: MergeType, live: JsonObject, api_version: str) -> FieldSet | None:
    """What the annotation says and the object still has: what kubectl may change although others
    own it. None when there is no readable annotation of that version."""
    config = applied_configuration(live)
    if config.get("apiVersion") != api_version:
        return None
    if misfits(type_, config):
        return None
    try:
        changes = compared(type_, config, live)
    except ItemError:
        return None
    said = applied_set(type_, config)
    return said - changes.modified - changes.added - changes.removed


def with_last_applied(obj: JsonObject, config: JsonObject) -> dict[str, Any]:
    """The object with the annotation renewed, if it has it."""
    made = dict(obj)
    annotations = metadata.annotations(obj)
    if not annotations.get(LAST_APPLIED):
        return made
    annotations[LAST_APPLIED] = _text_of(config)
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MAX_ANNOTATIONS:
        del annotations[LAST_APPLIED]
    made["metadata"] = {**metadata.metadata(obj), "annotations": annotations}
    return made


def _annotations(meta: JsonObject) -> JsonObject:
    """As they are given, so that they can be refused for what they are."""
    found = meta.get("annotations")
    return found if isinstance(found, dict) else {}


def _text_of(config: JsonObject) -> str:
    """As kubectl writes it: sorted, without the annotation itself, with a line end."""
    meta = dict(metadata.metadata(config))
    if isinstance(meta.get("annotations"), dict):
        given = meta["annotations"]
        meta["annotations"] = {key: given[key] for key in given if key != LAST_APPLIED}
    return json_text(_sorted({**config, "metadata": meta})) + "\n"


def _sorted(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
