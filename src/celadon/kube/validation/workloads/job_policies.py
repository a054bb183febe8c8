"""When a Job has failed or succeeded: `podFailurePolicy` and `successPolicy`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import OMITTED, FieldPath, NamedText
from celadon.kube.go.go_strconv import parse_int
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import (
    Errors,
    items,
    not_negative,
    qualified_name,
    supported,
)
from celadon.kube.well_known_values import CONDITION_STATUSES

ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS: Final = ("In", "NotIn")
MAX_RULES: Final = 20
MAX_EXIT_CODES: Final = 255
MAX_INDEXES_BYTES: Final = 64 * 1024


class IndexesError(MalformedText):
    """A list of indexes that cannot be read."""


def failure_policy(path: FieldPath, spec: JsonObject) -> Errors:
    policy, pod = spec["podFailurePolicy"], (spec.get("template") or {}).get("spec") or {}
    rules = policy.get("rules") or ()
    if len(rules) > MAX_RULES:
        yield fieldpath.too_many(path.child("rules"), len(rules), MAX_RULES)
    names = {
        one.get("name")
        for field in ("containers", "initContainers")
        for one in pod.get(field) or ()
    }
    for at, rule in items(policy, "rules", path):
        yield from _action(at.child("action"), rule.get("action") or "", spec)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            yield from _exit_codes(at.child("onExitCodes"), codes, names)
        if conditions:
            yield from _conditions(at, rule)
        if codes is not None and conditions:
            detail = "specifying both OnExitCodes and OnPodConditions is not supported"
            yield fieldpath.invalid(at, OMITTED, detail)
        if codes is None and not conditions:
            detail = "specifying one of OnExitCodes and OnPodConditions is required"
            yield fieldpath.invalid(at, OMITTED, detail)


def _choice(path: FieldPath, value: str, choices: Sequence[str]) -> Errors:
    if value:
        yield from supported(path, value, choices)
    else:
        listed = " ".join(map(quote, choices))
        yield fieldpath.required(path, f"valid values: [{listed}]")


def _action(path: FieldPath, action: str, spec: JsonObject) -> Errors:
    yield from _choice(path, action, ACTIONS)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        detail = "requires the backoffLimitPerIndex to be set"
        yield fieldpath.invalid(path, NamedText(action), detail)


def _conditions(path: FieldPath, rule: JsonObject) -> Errors:
    patterns = rule["onPodConditions"]
    if len(patterns) > MAX_RULES:
        yield fieldpath.too_many(path.child("onPodConditions"), len(patterns), MAX_RULES)
    for at, pattern in items(rule, "onPodConditions", path):
        yield from qualified_name(at.child("type"), pattern.get("type") or "")
        yield from _choice(at.child("status"), pattern.get("status") or "", CONDITION_STATUSES)


def _exit_codes(path: FieldPath, given: JsonObject, names: set[str]) -> Errors:
    operator, values = given.get("operator") or "", given.get("values") or []
    yield from _choice(path.child("operator"), operator, OPERATORS)
    name = given.get("containerName")
    if name is not None and name not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        yield fieldpath.invalid(path.child("containerName"), name, detail)
    at = path.child("values")
    if not values:
        yield fieldpath.invalid(at, given.get("values"), "at least one value is required")
    elif len(values) > MAX_EXIT_CODES:
        yield fieldpath.too_many(at, len(values), MAX_EXIT_CODES)
    seen = set[int]()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            detail = "must not be 0 for the In operator"
            yield fieldpath.invalid(at.index(index), value, detail)
        if value in seen:
            yield fieldpath.duplicate(at.index(index), value)
        seen.add(value)
    if sorted(values) != list(values):
        yield fieldpath.invalid(at, list(values), "must be ordered")


def success_policy(path: FieldPath, spec: JsonObject) -> Errors:
    """Of an indexed Job."""
    policy, completions = spec["successPolicy"], spec.get("completions") or 0
    rules, at = policy.get("rules") or (), path.child("rules")
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        yield fieldpath.required(at, detail)
    if len(rules) > MAX_RULES:
        yield fieldpath.too_many(at, len(rules), MAX_RULES)
    for where, rule in items(policy, "rules", path):
        yield from _success_rule(where, rule, completions)


def _success_rule(path: FieldPath, rule: JsonObject, completions: int) -> Errors:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        detail = "at least one of succeededCount or succeededIndexes must be specified"
        yield fieldpath.required(path, detail)
    total = 0
    if indexes is not None:
        at = path.child("succeededIndexes")
        if len(indexes) > MAX_INDEXES_BYTES:
            yield fieldpath.too_long(at, MAX_INDEXES_BYTES)
        try:
            total = count_indexes(indexes, completions)
        except IndexesError as error:
            detail = f"error parsing succeededIndexes: {error}"
            yield fieldpath.invalid(at, indexes, detail)
    if count is None:
        return
    at = path.child("succeededCount")
    yield from not_negative(rule, path, "succeededCount")
    limit = "must be less than or equal to"
    if count > completions:
        detail = f"{limit} {completions} (the number of specified completions)"
        yield fieldpath.invalid(at, count, detail)
    if indexes is not None and count > total:
        where = "the number of indexes in the specified succeededIndexes field"
        yield fieldpath.invalid(at, count, f"{limit} {total} ({where})")


def count_indexes(text: str, completions: int) -> int:
    """How many indexes `1,3-5` names; they must go up and stay below the completions."""
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        start, end = _interval(interval, completions)
        if start <= last:
            raise IndexesError(f"non-increasing order, previous: {last}, current: {start}")
        total, last = total + end - start + 1, end
    return total


def intervals(text: str, completions: int) -> list[tuple[int, int]]:
    """The first and last index of each interval that is one; others are left out."""
    found: list[tuple[int, int]] = []
    for one in text.split(",") if text else ():
        with contextlib.suppress(IndexesError):
            found.append(_interval(one, completions))
    return found


def _interval(text: str, completions: int) -> tuple[int, int]:
    limits = text.split("-")
    if len(limits) > 2:
        raise IndexesError(
            f"the fragment {quote(text)} violates the requirement that an index interval can have "
            "at most two parts separated by '-'"
        )
    start, *rest = (_index(limit) for limit in limits)
    if start >= completions:
        raise IndexesError(f"too large index: {quote(limits[0])}")
    if not rest:
        return start, start
    if rest[0] >= completions:
        raise IndexesError(f"too large index: {quote(limits[1])}")
    if start >= rest[0]:
        raise IndexesError(f"non-increasing order, previous: {start}, current: {rest[0]}")
    return start, rest[0]


def _index(text: str) -> int:
    try:
        return parse_int(text)
    except ValueError:
        why = f"cannot convert string to integer for index: {quote(text)}"
        raise IndexesError(why) from None
