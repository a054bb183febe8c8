"""What Kyverno says of an object and a pattern: the oracle that translations are compared with.

Facts are those of Kyverno 1.15 `pkg/engine/validate` and `anchor`: anchors of a map come first, in
the order of their keys; a condition that is not met skips the rule, for items of a list only those
items; a rule with all items skipped is skipped.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

from celadon.kube import Json
from celadon.migrate.kyverno.patterns import (
    Anchor,
    AnchorKind,
    anchor_of,
    has_wildcards,
    ordinary_keys,
    scalar_matches,
    wildcard_match,
)


class Result(enum.Enum):
    """What a rule says of an object."""

    PASS = "pass"
    SKIP = "skip"
    SKIP_HERE = "skip here"
    """A condition of this very map is not met; outside of evaluation it is `SKIP`."""
    FAIL = "fail"

    @property
    def skips(self) -> bool:
        """Whether a condition was not met."""
        return self in (Result.SKIP, Result.SKIP_HERE)


def matched(value: Json, pattern: Json) -> Result:
    """Return what a pattern says of a whole object."""
    result = _element(value, pattern)
    return Result.SKIP if result.skips else result


def _element(value: Json, pattern: Json) -> Result:
    if isinstance(pattern, Mapping):
        return _map(value, pattern) if isinstance(value, Mapping) else Result.FAIL
    if _is_list(pattern):
        return _list(value, pattern) if _is_list(value) else Result.FAIL
    values: Sequence[Json] = value if _is_list(value) else [value]
    return _passed(all(scalar_matches(one, pattern) for one in values))


def _passed(is_so: object) -> Result:
    return Result.PASS if is_so else Result.FAIL


def _is_list(value: object) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _list(values: Sequence[Json], patterns: Sequence[Json]) -> Result:
    if not patterns:
        return Result.FAIL
    first = patterns[0]
    if isinstance(first, Mapping):
        return _of_items(_element(one, first) for one in values)
    if not _is_list(first):
        return _element(values, first)
    if len(values) < len(patterns):
        return Result.FAIL
    return _of_items(_element(one, of) for one, of in zip(values, patterns, strict=False))


def _of_items(results: Iterable[Result]) -> Result:
    skipped = passed = False
    for result in results:
        if result is Result.FAIL:
            return result
        skipped, passed = skipped or result.skips, passed or not result.skips
    return Result.SKIP if skipped and not passed else Result.PASS


def _map(value: Mapping[str, Json], pattern: Mapping[str, Json]) -> Result:
    pattern = _without_wildcards(pattern, value)
    results: list[Result] = []
    for key in sorted(key for key in pattern if key not in ordinary_keys(pattern)):
        anchor = anchor_of(key)
        assert anchor is not None
        result = _anchored(value, anchor, pattern[key])
        if result is Result.FAIL and Result.SKIP_HERE not in results:
            return result
        results.append(result)
    skipped = [one for one in results if one.skips]
    if skipped and (len(skipped) == len(results) or Result.SKIP_HERE in skipped):
        return Result.SKIP
    for key in ordinary_keys(pattern):
        result = _field(value.get(key), pattern[key])
        if result is not Result.PASS:
            return Result.SKIP if result.skips else result
    return Result.PASS


def _field(value: Json, pattern: Json) -> Result:
    return _passed(value is not None) if pattern == "*" else _element(value, pattern)


def _anchored(value: Mapping[str, Json], anchor: Anchor, pattern: Json) -> Result:
    is_there = anchor.key in value
    match anchor.kind:
        case AnchorKind.NEGATION:
            return _passed(not is_there)
        case AnchorKind.CONDITION | AnchorKind.GLOBAL:
            if not is_there:
                is_global = anchor.kind is AnchorKind.GLOBAL
                return Result.PASS if is_global else Result.SKIP_HERE
            result = _element(value[anchor.key], pattern)
            return result if result is Result.PASS else Result.SKIP_HERE
        case AnchorKind.EXISTENCE if is_there:
            return _exists(value[anchor.key], pattern)
        case AnchorKind.EQUALITY if is_there:
            result = _element(value[anchor.key], pattern)
            return Result.SKIP if result.skips else result
    return Result.PASS


def _exists(values: Json, patterns: Json) -> Result:
    if not isinstance(values, Sequence) or not isinstance(patterns, Sequence):
        return Result.FAIL
    return _passed(all(any(_element(one, of) is Result.PASS for one in values) for of in patterns))


def _without_wildcards(
    pattern: Mapping[str, Json], value: Mapping[str, Json]
) -> Mapping[str, Json]:
    """Return a pattern for an object whose keys of labels and annotations are keys of the object.
    Where several fit, Kyverno takes any of them; here the one comes first that fails."""
    found = _member(pattern, "metadata")
    metadata = value.get("metadata")
    if found is None or not isinstance(found[1], Mapping) or not isinstance(metadata, Mapping):
        return pattern
    expected = dict(found[1])
    for tag in ("labels", "annotations"):
        tagged, known = _member(expected, tag), metadata.get(tag)
        if tagged is not None and isinstance(tagged[1], Mapping) and isinstance(known, Mapping):
            texts = {key: one for key, one in tagged[1].items() if isinstance(one, str)}
            expected[tagged[0]] = dict(_expanded(key, one, known) for key, one in texts.items())
    return {**pattern, found[0]: expected}


def _member(pattern: Mapping[str, Json], name: str) -> tuple[str, Json] | None:
    for key, value in pattern.items():
        anchor = anchor_of(key)
        if key == name or (anchor is not None and anchor.key == name):
            return key, value
    return None


def _expanded(key: str, pattern: str, known: Mapping[str, Json]) -> tuple[str, Json]:
    anchor = anchor_of(key)
    name = anchor.key if anchor else key
    if not has_wildcards(key):
        return key, pattern
    fitting = sorted(one for one in known if wildcard_match(name, one))
    failing = [one for one in fitting if not scalar_matches(known[one], pattern)]
    chosen = next(iter([*failing, *fitting]), name)
    return (f"{anchor.kind.value}({chosen})" if anchor else chosen), pattern
