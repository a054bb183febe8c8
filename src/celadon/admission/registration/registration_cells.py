"""The cells that tables show of registration objects; `celadon.kube.columns_of` has the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.admission.registration.registration_types import (
    MutatingAdmissionPolicy,
    ParamKind,
    ParamRef,
    ValidatingAdmissionPolicy,
    WebhookConfiguration,
)
from celadon.admission.registration.strategy import typed
from celadon.kube import metadata
from celadon.kube.catalogue import UNKNOWN_AGE, human_duration

UNSET = "<unset>"

JsonObject = Mapping[str, Any]


def cells(document: JsonObject, age_seconds: int | None) -> list[str | int]:
    """Of a decoded document, in the order of its columns; None for one that was never created."""
    age = UNKNOWN_AGE if age_seconds is None else human_duration(age_seconds)
    return [metadata.name(document), *_own_cells(document), age]


def _own_cells(document: JsonObject) -> list[str | int]:
    obj = typed(document)
    if isinstance(obj, WebhookConfiguration):
        return [len(obj.webhooks)]
    if isinstance(obj, ValidatingAdmissionPolicy):
        return [len(obj.spec.validations), _param_kind(obj.spec.param_kind)]
    if isinstance(obj, MutatingAdmissionPolicy):
        return [len(obj.spec.mutations), _param_kind(obj.spec.param_kind)]
    return [obj.spec.policy_name, _param_ref(obj.spec.param_ref)]


def _param_kind(kind: ParamKind | None) -> str:
    return UNSET if kind is None else f"{kind.api_version}/{kind.kind}"


def _param_ref(ref: ParamRef | None) -> str:
    if ref is None:
        return UNSET
    if ref.name:
        return f"{ref.namespace or '*'}/{ref.name}"
    return _selector(ref.selector or {})


def _selector(selector: JsonObject) -> str:
    """Go's debug text of a label selector."""
    given = selector.get("matchLabels", {})
    labels = "".join(f"{key}: {given[key]}," for key in sorted(given))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{e['key']},Operator:{e['operator']},"
        f"Values:[{' '.join(e.get('values', ()))}],}},"
        for e in selector.get("matchExpressions", ())
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
