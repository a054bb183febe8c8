"""What claims, classes and slices share: names of devices, selectors, taints, configuration.

As k8s.io/kubernetes `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.devices.device_expressions import selector_errors
from celadon.kube.validation.field_checks import (
    HIDDEN_VALUE,
    Errors,
    at_most,
    dns_subdomain,
    driver_name,
    each,
    required_choice,
    supported,
)
from celadon.kube.validation.label_rules import label_name

POOL_NAME_BYTES: Final = 253
IDENTIFIER_BYTES: Final = 32
EXPRESSION_BYTES: Final = 10 * 1024
PARAMETER_BYTES: Final = 10 * 1024
MAX_ITEMS: Final = 32
"""Of requests, constraints, selectors and configurations each."""
MAX_BINDING_CONDITIONS: Final = 4
TAINT_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
TOLERATION_OPERATORS: Final = ("Equal", "Exists")
_NEED: Final = "are required to use"

Item = Callable[[FieldPath, Any], Errors]


def limited(path: FieldPath, given: Sequence[Any] | None, limit: int, rule: Item) -> Errors:
    """The rule for each item, unless there are too many of them."""
    if len(given or ()) > limit:
        yield from at_most(path, given, limit)
        return
    for index, item in enumerate(given or ()):
        yield from rule(path.index(index), item)


def distinct(
    path: FieldPath,
    given: Sequence[Any] | None,
    limit: int,
    rule: Item,
    key: Callable[[Any], Hashable] = lambda item: item,
) -> Errors:
    """The same of items that must not repeat what they are told apart by."""
    yield from limited(path, given, limit, rule)
    if len(given or ()) <= limit:
        yield from repeated(path, map(key, given or ()))


def repeated(path: FieldPath, keys: Iterable[Hashable]) -> Errors:
    """Each but the first of equal keys."""
    seen: set[Hashable] = set()
    for index, key in enumerate(keys):
        if key in seen:
            yield fieldpath.duplicate(path.index(index), key)
        seen.add(key)


def name_of(item: JsonObject) -> str:
    """By which most items are told apart."""
    name: str = item.get("name") or ""
    return name


def pool_name(path: FieldPath, name: str) -> Errors:
    """Subdomains with slashes between them."""
    if not name:
        yield fieldpath.required(path)
        return
    if len(name.encode()) > POOL_NAME_BYTES:
        yield fieldpath.too_long(path, POOL_NAME_BYTES)
    for part in name.split("/"):
        yield from dns_subdomain(path, part)


def qualified_identifier(path: FieldPath, name: str) -> Errors:
    """Of an attribute or a capacity: an identifier, with a domain or without. Upstream has nothing
    to say about several slashes."""
    domain, slash, rest = name.partition("/")
    if not slash:
        yield from _identifier(path, name)
    elif "/" not in rest:
        if domain:
            yield from driver_name(path, domain)
        else:
            yield fieldpath.invalid(path, "", "the domain must not be empty")
        if rest:
            yield from _identifier(path, rest)
        else:
            yield fieldpath.invalid(path, "", "the name must not be empty")


def fully_qualified(path: FieldPath, name: str) -> Errors:
    """The same with a domain."""
    yield from qualified_identifier(path, name)
    if "/" not in name:
        why = "a fully qualified name must be a domain and a name separated by a slash"
        yield fieldpath.invalid(path, name, why)


def _identifier(path: FieldPath, name: str) -> Errors:
    if len(name.encode()) > IDENTIFIER_BYTES:
        yield fieldpath.too_long(path, IDENTIFIER_BYTES)
    yield from each(path, name, text_rules.c_identifier(name))


def class_name(path: FieldPath, name: str) -> Errors:
    """Of a DeviceClass."""
    if name:
        yield from dns_subdomain(path, name)
    else:
        yield fieldpath.required(path)


def selectors(
    path: FieldPath, given: Sequence[JsonObject] | None, *, is_stored: bool = False
) -> Errors:
    """Expressions that choose devices; `is_stored`: all of them were there before."""
    return limited(path, given, MAX_ITEMS, functools.partial(_selector, is_stored=is_stored))


def _selector(path: FieldPath, selector: JsonObject, *, is_stored: bool) -> Errors:
    at, cel = path.child("cel"), selector.get("cel")
    if cel is None:
        yield fieldpath.required(at)
        return
    text, at = cel.get("expression") or "", at.child("expression")
    if len(text.encode()) > EXPRESSION_BYTES:
        yield fieldpath.too_long(at, EXPRESSION_BYTES)
    else:
        yield from selector_errors(at, text, is_stored=is_stored)


def configuration(path: FieldPath, given: JsonObject, *, is_stored: bool = False) -> Errors:
    """What a driver is told, as it stands; what was there before may be longer."""
    opaque, at = given.get("opaque"), path.child("opaque")
    if opaque is None:
        yield fieldpath.required(at)
        return
    yield from driver_name(at.child("driver"), opaque.get("driver") or "")
    yield from raw_object(at.child("parameters"), opaque.get("parameters"), is_stored=is_stored)


def raw_object(path: FieldPath, value: object, *, is_stored: bool = False) -> Errors:
    """Any JSON object that is not too long."""
    if value is None:
        yield fieldpath.required(path)
    elif (
        not is_stored
        and len(json.dumps(value, separators=(",", ":"), ensure_ascii=False)) > PARAMETER_BYTES
    ):
        yield fieldpath.too_long(path, PARAMETER_BYTES)
    elif not isinstance(value, dict):
        yield fieldpath.invalid(path, HIDDEN_VALUE, "must be a valid JSON object")


def tolerations(path: FieldPath, given: Sequence[JsonObject] | None) -> Errors:
    """Taints that are put up with, any number of them."""
    for index, one in enumerate(given or ()):
        yield from _toleration(path.index(index), one)


def _toleration(path: FieldPath, toleration: JsonObject) -> Errors:
    if toleration.get("key"):
        yield from label_name(path.child("key"), toleration["key"])
    operator, value = toleration.get("operator") or "", toleration.get("value") or ""
    if operator == "Exists":
        if value:
            yield fieldpath.invalid(
                path.child("value"), value, "must be empty for operator `Exists`"
            )
    elif operator == "Equal":
        yield from each(path.child("value"), value, name_rules.label_value(value))
    else:
        yield from required_choice(path.child("operator"), operator, TOLERATION_OPERATORS)
    if toleration.get("effect"):
        yield from supported(path.child("effect"), toleration["effect"], TAINT_EFFECTS)


def taint(path: FieldPath, given: JsonObject, before: JsonObject | None = None) -> Errors:
    """Of a device; an effect that stays is not looked at again."""
    yield from label_name(path.child("key"), given.get("key") or "")
    if given.get("value"):
        yield from each(path.child("value"), given["value"], name_rules.label_value(given["value"]))
    if before is None or given.get("effect") != before.get("effect"):
        yield from required_choice(path.child("effect"), given.get("effect"), TAINT_EFFECTS)


def binding_conditions(path: FieldPath, given: JsonObject) -> Errors:
    """What must become true before a device is bound, and what must not: both or neither."""
    good, bad = (list(given.get(field) or ()) for field in _BINDING)
    for field, found in zip(_BINDING, (good, bad), strict=True):
        yield from limited(path.child(field), found, MAX_BINDING_CONDITIONS, label_name)
    yield from repeated(path.child(_BINDING[0]), good)
    at = path.child(_BINDING[1])
    seen, wanted = set[str](), set(good)
    for index, one in enumerate(bad):
        if one in seen:
            yield fieldpath.duplicate(at.index(index), one)
        seen.add(one)
        if one in wanted:
            why = "bindingFailureConditions must not overlap with bindingConditions"
            yield fieldpath.invalid(at.index(index), one, why)
    for missing, other in (_BINDING, _BINDING[::-1]):
        if given.get(other) and not given.get(missing):
            why = f"{missing} {_NEED} {other}"
            yield fieldpath.invalid(path.child(missing), given.get(missing), why)


_BINDING: Final = ("bindingConditions", "bindingFailureConditions")
"""Conditions for and against binding."""
