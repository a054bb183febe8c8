"""Labels, and the selectors that choose by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.selection.label_selectors import LabelSelector, SelectorError, label_selector
from celadon.kube.validation.field_checks import Errors, each, immutable, items


def labels(path: FieldPath, given: Mapping[str, str] | None) -> Errors:
    """Keys and values of a map of labels; also of a node selector."""
    for key, value in sorted((given or {}).items()):
        messages = name_rules.qualified_name(key)
        if messages:
            yield from each(path, key, messages)
        messages = name_rules.label_value(value)
        if messages:
            yield from each(path, value, messages)


def label_name(path: FieldPath, key: str) -> Errors:
    """A key of labels, as `ValidateLabelName`."""
    return each(path, key, name_rules.qualified_name(key))


def selector(path: FieldPath, given: JsonObject | None) -> Errors:
    """A LabelSelector. None is fine here; who needs one says so."""
    if given is None:
        return
    yield from labels(path.child("matchLabels"), given.get("matchLabels"))
    for at, requirement in items(given, "matchExpressions", path):
        yield from _requirement(at, requirement)


def _requirement(path: FieldPath, requirement: JsonObject) -> Errors:
    operator, values = requirement.get("operator") or "", requirement.get("values") or ()
    if operator in {"In", "NotIn"}:
        if not values:
            detail = "must be specified when `operator` is 'In' or 'NotIn'"
            yield fieldpath.required(path.child("values"), detail)
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield fieldpath.forbidden(path.child("values"), detail)
    else:
        at = path.child("operator")
        yield fieldpath.invalid(at, NamedText(operator), "not a valid selector operator")
    yield from label_name(path.child("key"), requirement.get("key") or "")
    for at, value in items(requirement, "values", path):
        yield from each(at, value, name_rules.label_value(value))


def same_selector(path: FieldPath, new: JsonObject | None, old: JsonObject | None) -> Errors:
    """A selector that an update may not change."""
    shown, was = (None if one is None else printed_selector(one) for one in (new, old))
    return immutable(path, shown, was)


def printed_selector(given: JsonObject) -> dict[str, Any]:
    """A selector as an error shows it: Go's order, and nothing that is empty but keys and
    operators."""
    shown: dict[str, Any] = {}
    if given.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(given["matchLabels"].items()))
    if given.get("matchExpressions"):
        shown["matchExpressions"] = [
            {
                "key": one.get("key") or "",
                "operator": one.get("operator") or "",
                **({"values": one["values"]} if one.get("values") else {}),
            }
            for one in given["matchExpressions"]
        ]
    return shown


def understood(given: JsonObject | None) -> LabelSelector | None:
    """The selector as it selects; None when it cannot be understood."""
    try:
        return label_selector(given)
    except SelectorError:
        return None


def is_empty(given: Mapping[str, Any]) -> bool:
    return not given.get("matchLabels") and not given.get("matchExpressions")
