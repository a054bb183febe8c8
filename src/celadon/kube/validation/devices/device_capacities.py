"""How much of a device a claim can ask for.

As k8s.io/kubernetes `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.quantity import Quantity
from celadon.kube.quantities.resource_amounts import parse
from celadon.kube.validation.devices.device_parts import distinct
from celadon.kube.validation.field_checks import Errors

MAX_OPTIONS: Final = 10


def capacity(path: FieldPath, given: JsonObject, *, shared: bool) -> Errors:
    """Of a device; `shared`: more than one claim may have a part of it."""
    policy, at = given.get("requestPolicy"), path.child("requestPolicy")
    if policy is None:
        return
    if not shared:
        yield fieldpath.forbidden(at, "allowMultipleAllocations must be true")
        return
    values, bounds = policy.get("validValues") or (), policy.get("validRange")
    if values and bounds is not None:
        why = (
            'exactly one policy can be specified, cannot specify "validValues" and "validRange" at '
            "the same time"
        )
        yield fieldpath.forbidden(at, why)
        return
    kind = "validValues" if values else "validRange" if bounds is not None else ""
    if kind and policy.get("default") is None:
        yield fieldpath.required(at.child("default"), f"required when {kind} is defined")
    elif kind:
        rule = _valid_values if values else _valid_range
        whole = parse(given.get("value") or "0")
        yield from rule(at.child(kind), policy, parse(policy["default"]), whole)


def _valid_values(
    path: FieldPath, policy: JsonObject, default: Quantity, whole: Quantity
) -> Errors:
    values = [parse(one) for one in policy["validValues"]]
    for index, (one, following) in enumerate(itertools.pairwise(values)):
        if one.compare(following) > 0:
            why = "values must be sorted in ascending order"
            yield fieldpath.invalid(path.index(index + 1), str(following), why)

    def fits(at: FieldPath, one: Quantity) -> Errors:
        if one.compare(whole) > 0:
            why = f"option is larger than capacity value: {whole}"
            yield fieldpath.invalid(at, str(one), why)

    yield from distinct(path, values, MAX_OPTIONS, fits, lambda one: str(_rounded(one)))
    if all(one.compare(default) for one in values):
        why = "default value is not valid according to the requestPolicy"
        yield fieldpath.invalid(path, str(default), why)


def _rounded(amount: Quantity) -> int:
    """As Go's `Value`: up to the next integer."""
    exact = amount.as_decimal()
    return int(exact.to_integral_value("ROUND_CEILING"))


def _valid_range(path: FieldPath, policy: JsonObject, default: Quantity, whole: Quantity) -> Errors:
    bounds: Any = policy["validRange"]
    if bounds.get("min") is None:
        yield fieldpath.required(path.child("min"), "required when validRange is defined")
        return
    low = parse(bounds["min"])
    high = None if bounds.get("max") is None else parse(bounds["max"])
    if low.compare(whole) > 0:
        why = f"min is larger than capacity value: {whole}"
        yield fieldpath.invalid(path.child("min"), str(low), why)
    if default.compare(low) < 0:
        yield fieldpath.invalid(path.child("min"), str(default), f"default is less than min: {low}")
    if high is not None:
        at = path.child("max")
        if low.compare(high) > 0:
            yield fieldpath.invalid(at, str(low), f"min is larger than max: {high}")
        if high.compare(whole) > 0:
            yield fieldpath.invalid(at, str(high), f"max is larger than capacity value: {whole}")
        if default.compare(high) > 0:
            yield fieldpath.invalid(at, str(default), f"default is more than max: {high}")
    if bounds.get("step") is not None:
        ends = [default] if high is None else [default, high]
        yield from _steps(path.child("step"), parse(bounds["step"]), low, ends, whole)


def _steps(
    path: FieldPath, step: Quantity, low: Quantity, ends: list[Quantity], whole: Quantity
) -> Errors:
    first = low.add(step)
    if first.compare(whole) > 0:
        why = f"one step {first} is larger than capacity value: {whole}"
        yield fieldpath.invalid(path, str(step), why)
    size = _rounded(step)
    for end in ends:
        if size and (_rounded(end) - _rounded(low)) % size:
            why = f"value is not a multiple of a given step ({step}) from ({low})"
            yield fieldpath.invalid(path, str(end), why)
