"""One mutation: what its expression has come to, put into the object.

    patch(value, live, data)      the object as it becomes, for the kinds to read

As k8s.io/apiserver `pkg/admission/plugin/policy/mutating/patch`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from celadon.admission.mutating.native_values import DataValues, configuration, require_type_names
from celadon.admission.mutating.patch_json import json_value
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.apply import MutatedKinds, MutationRefused, Patched
from celadon.kube.go import quote
from celadon.kube.library import PatchObject, PatchOperation, unwrapped
from celadon.kube.registry import JsonPatchError, apply_json_patch


def apply_configuration(
    value: PatchObject,
    live: JsonObject,
    data: DataValues,
    kinds: MutatedKinds,
    kind: GroupVersionKind,
    wanted: GroupVersionKind,
) -> Patched:
    """The object with a constructed configuration in it. MutationRefused."""
    config = kinds.fitting(value, kind)
    if config is not None:
        return Patched(kinds.merged(live, config, kind, wanted, fits=True))
    require_type_names(value)
    config = {**configuration(value, data), "apiVersion": kind.api_version, "kind": kind.kind}
    return Patched(kinds.merged(live, config, kind, wanted))


def apply_patch(
    value: Sequence[object],
    live: JsonObject,
    data: DataValues,
    kinds: MutatedKinds,
    kind: GroupVersionKind,
    wanted: GroupVersionKind,
) -> Patched:
    """The object with the operations applied; the same where a `test` does not hold.
    MutationRefused; StatusError (500) for a document that cannot be read."""
    operations = [_operation(one, data) for one in map(unwrapped, value)]
    try:
        document = apply_json_patch(live, operations, raw_nulls=True)
    except JsonPatchError as error:
        if error.is_test:
            return Patched(live)
        raise MutationRefused(f"JSON Patch: {error}") from None
    return kinds.patched(document, kind, wanted)


def _operation(value: object, data: DataValues) -> dict[str, Any]:
    assert isinstance(value, PatchOperation), "the checker knows the type of the items"
    made: dict[str, Any] = {}
    for name in ("op", "path", "from"):
        text = value[name]
        if (text or name != "from") and _is_json(text):
            made[name] = text
    if value.has_value:
        made["value"] = json_value(value["value"], data)
    return made


def _is_json(text: str) -> bool:
    """Whether the text can be read again as upstream writes it: with Go's escapes."""
    if text.isprintable():
        return True
    try:
        json.loads(quote(text), strict=False)
    except ValueError:
        return False
    return True
