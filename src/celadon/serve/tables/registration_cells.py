"""The cells of admission policies, their bindings, and webhook configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.serve.tables.cell_texts import UNSET, Cell, CellsOf, age, at, items, size, text


def _validating_policy(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), size(obj, "spec", "validations"), _param_kind(obj), age(obj, now)]


def _mutating_policy(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), size(obj, "spec", "mutations"), _param_kind(obj), age(obj, now)]


def _binding(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "spec", "policyName"), _param_ref(obj), age(obj, now)]


def _webhooks(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), size(obj, "webhooks"), age(obj, now)]


def _param_kind(obj: JsonObject) -> str:
    kind = at(obj, "spec", "paramKind")
    return UNSET if kind is None else f"{text(kind, 'apiVersion')}/{text(kind, 'kind')}"


def _param_ref(obj: JsonObject) -> str:
    ref = at(obj, "spec", "paramRef")
    name, selector = text(ref, "name"), at(ref, "selector")
    if name:
        return f"{text(ref, 'namespace') or '*'}/{name}"
    return UNSET if selector is None else _debug_text(selector)


def _debug_text(selector: JsonObject) -> str:
    """Go's debug text of a label selector."""
    given = at(selector, "matchLabels") or {}
    labels = "".join(f"{key}: {given[key]}," for key in sorted(given))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{text(one, 'key')},Operator:{text(one, 'operator')},"
        f"Values:[{' '.join(items(one, 'values'))}],}},"
        for one in items(selector, "matchExpressions")
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


REGISTRATIONS: Final[Mapping[str, CellsOf]] = {
    f"mutatingadmissionpolicies.{ADMISSION_REGISTRATION}": _mutating_policy,
    f"mutatingadmissionpolicybindings.{ADMISSION_REGISTRATION}": _binding,
    f"mutatingwebhookconfigurations.{ADMISSION_REGISTRATION}": _webhooks,
    f"validatingadmissionpolicies.{ADMISSION_REGISTRATION}": _validating_policy,
    f"validatingadmissionpolicybindings.{ADMISSION_REGISTRATION}": _binding,
    f"validatingwebhookconfigurations.{ADMISSION_REGISTRATION}": _webhooks,
}
"""By the resource's name with its group."""
