"""Examples that an API server would take: what validation misses in an object is put in.

What the solver finds fits the schema, and no more: a container without an image, a Deployment that
selects nothing. Each complaint of the validation is met with something plain, as long as what the
example shows still holds; whoever asked says so (`holds`).
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from celadon.kube import FieldError, GroupVersionKind, Json, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import create
from celadon.kube.schemas import DecodeError, Schema, resolved, schema_for
from celadon.kube.validation import validate_create, validate_update

_ATTEMPTS: Final = 40
"""Changes that are tried for one example."""

_MOST_FIELDS: Final = 100
"""Fields that are tried to be left out."""

Steps: TypeAlias = tuple[str | int, ...]

_NEEDED: Final[frozenset[Steps]] = frozenset(
    [("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace")]
)

_TEXT: Final = "a"
_TEXTS: Final = (_TEXT, "b", "c", "d", "e", "f")
_LABELS: Final = {"app": _TEXT}
_SELECTOR: Final[JsonObject] = {"matchLabels": _LABELS}
_CHOICES: Final[dict[str, tuple[Json, ...]]] = {
    "restartPolicy": ("Always", "Never"),
    "schedule": ("0 0 * * *",),
    "dnsPolicy": ("Default",),
}
"""Texts that fields must have which take no other, by the name of the field."""


@dataclass(frozen=True, slots=True)
class WrittenRequest:
    """The objects of a request as a client would write them."""

    object: JsonDict | None
    old_object: JsonDict | None
    complaint: str = ""
    """What validation still has against them."""


Holds = Callable[[JsonObject | None, JsonObject | None], bool]


def mended(
    kind: GroupVersionKind,
    new: JsonObject | None,
    old: JsonObject | None,
    holds: Holds,
    texts: Sequence[str] = (),
) -> WrittenRequest:
    """Return the same objects, made acceptable where that is possible. `texts` are those that
    policies name: an image may have to be one of them."""
    written = WrittenRequest(_copied(new), _copied(old))
    if written.object is not None and written.old_object is not None:
        alike = WrittenRequest(written.object, copy.deepcopy(written.object))
        other_images = _filled(kind, _with_other_images(alike), holds, (*_TEXTS, *texts))
        written = next((item for item in (alike, other_images) if _still(item, holds)), written)
    written = _filled(kind, written, holds, (*_TEXTS, *texts))
    written = _filled(kind, _shrunk(kind, written, holds), holds, (*_TEXTS, *texts))
    left = _errors(kind, written)
    return WrittenRequest(written.object, written.old_object, str(left[0]) if left else "")


def _with_other_images(written: WrittenRequest) -> WrittenRequest:
    """Return a request whose old object has other images: all that may change in a pod."""
    copied = copy.deepcopy(written)
    assert copied.old_object is not None
    spec = copied.old_object.get("spec")
    containers = spec.get("containers") if isinstance(spec, dict) else None
    for container in containers or ():
        container["image"] = "z"
    return copied


def _filled(
    kind: GroupVersionKind, written: WrittenRequest, holds: Holds, texts: Sequence[str]
) -> WrittenRequest:
    """Return a request with what validation misses filled in."""
    given_up: set[str] = set()
    tried = [written]
    for _ in range(_ATTEMPTS):
        error = next(
            (error for error in _errors(kind, written) if str(error) not in given_up), None
        )
        if error is None:
            break
        for proposal in _proposals(kind, written, error, texts):
            if proposal not in tried and _still(proposal, holds):
                written = proposal
                tried.append(written)
                break
        else:
            given_up.add(str(error))
    return written


def _shrunk(kind: GroupVersionKind, written: WrittenRequest, holds: Holds) -> WrittenRequest:
    """Return a request without the fields that nothing depends on."""
    errors = set(map(str, _errors(kind, written)))
    left = _MOST_FIELDS
    for path in sorted({*_paths(written.object), *_paths(written.old_object)}, key=_order):
        left -= 1
        if left < 0:
            break
        smaller = copy.deepcopy(written)
        for item in (smaller.object, smaller.old_object):
            if item is not None:
                _remove(item, path)
        if (
            smaller != written
            and _still(smaller, holds)
            and errors.issuperset(map(str, _errors(kind, smaller)))
        ):
            written = smaller
    return written


def _paths(value: Any, path: Steps = ()) -> Iterator[Steps]:  # noqa: ANN401 - JSON at any depth
    """Yield the places of all that may be left out."""
    if path and path not in _NEEDED:
        yield path
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _paths(inside, (*path, key))
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            yield from _paths(inside, (*path, number))


def _order(path: Steps) -> tuple[object, ...]:
    """Outer fields first, the last items of lists first."""
    return len(path), *((-item, "") if isinstance(item, int) else (0, item) for item in path)


def _remove(value: Any, path: Steps) -> None:  # noqa: ANN401 - JSON at any depth
    for step in path[:-1]:
        if not _has(value, step):
            return
        value = value[step]
    if _has(value, path[-1]):
        del value[path[-1]]


def _has(value: object, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _copied(value: JsonObject | None) -> JsonDict | None:
    return None if value is None else copy.deepcopy(dict(value))


def _still(written: WrittenRequest, holds: Holds) -> bool:
    try:
        return holds(written.object, written.old_object)
    except DecodeError:
        return False


def _errors(kind: GroupVersionKind, written: WrittenRequest) -> list[FieldError]:
    errors: list[FieldError] = []
    old, new = (
        None if item is None else create.admit_form(item, kind)
        for item in (written.old_object, written.object)
    )
    if old is not None:
        errors += validate_create(old, kind)
    if new is not None:
        errors += validate_create(new, kind) if old is None else validate_update(new, old, kind)
    return errors


def _proposals(
    kind: GroupVersionKind, written: WrittenRequest, error: FieldError, texts: Sequence[str]
) -> Iterator[WrittenRequest]:
    """Yield changes that may satisfy a complaint, the same in both objects."""
    steps = error.path.steps
    if steps[-1:] == ("selector",) or steps[-2:] == ("metadata", "labels"):
        yield _changed(written, ("spec", "selector"), _SELECTOR, ("spec", "template"))
        yield _changed(written, ("spec", "selector"), _LABELS, ("spec", "template"))
    if isinstance(error.value, str):
        yield _renamed(written, steps, error.value)
    if steps[-1:] == ("containers",):
        for text in texts:
            yield _changed(written, steps, [{"name": _TEXT, "image": text}])
    schema = _schema_at(schema_for(kind), steps)
    for value in (*_CHOICES.get(str(steps[-1]), ()), *_plain_values(schema, texts)):
        yield _changed(written, steps, value)
    if isinstance(error.value, str):
        # What begins or ends as a policy says may be no name: `kernel.`, `/web`.
        for longer in (error.value + _TEXT, _TEXT + error.value):
            changed = _changed(written, steps, longer)
            if _satisfies(kind, changed, error):
                yield changed


def _satisfies(kind: GroupVersionKind, written: WrittenRequest, error: FieldError) -> bool:
    """Return whether a complaint is gone. It may show a text in place of what is none, as it does
    of a whole `spec`: that can be made no longer."""
    try:
        return all(item.path != error.path for item in _errors(kind, written))
    except DecodeError:
        return False


def _changed(
    written: WrittenRequest, steps: tuple[Any, ...], value: Json, labelled: tuple[str, ...] = ()
) -> WrittenRequest:
    """Return a request with a value at a place; what is `labelled` gets the labels."""
    copied = copy.deepcopy(written)
    for item in (copied.object, copied.old_object):
        if item is not None:
            _put(item, steps, copy.deepcopy(value))
            if labelled:
                _put(item, (*labelled, "metadata", "labels"), dict(_LABELS))
    return copied


def _put(value: Any, steps: tuple[Any, ...], new: Json) -> None:  # noqa: ANN401 - JSON at any depth
    for step, following in itertools.pairwise(steps):
        if isinstance(value, dict):
            value = value.setdefault(step, [] if isinstance(following, int) else {})
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return
    if isinstance(value, dict) or (isinstance(value, list) and steps[-1] in range(len(value))):
        value[steps[-1]] = new


def _renamed(written: WrittenRequest, steps: tuple[Any, ...], key: str) -> WrittenRequest:
    """Return a request with plain keys for odd ones, where complaints are about keys of maps."""
    copied = copy.deepcopy(written)
    for value in (copied.object, copied.old_object):
        result: Any = value
        for step in steps:
            result = result.get(step) if isinstance(result, dict) else None
        if isinstance(result, dict) and key in result and _TEXT not in result:
            result[_TEXT] = result.pop(key)
    return copied


def _schema_at(schema: Schema | None, steps: tuple[Any, ...]) -> Schema | None:
    for step in steps:
        if schema is None:
            return None
        schema = resolved(schema)
        if isinstance(step, int):
            schema = schema.items
        else:
            schema = schema.properties.get(step) or schema.additional_properties
    return None if schema is None else resolved(schema)


def _plain_values(schema: Schema | None, texts: Sequence[str]) -> Iterator[Json]:
    if schema is None:
        return
    if schema.enum:
        yield from schema.enum
    elif schema.type == "string":
        yield from texts
    elif schema.type in ("integer", "number"):
        yield from (1, 0)
    elif schema.type == "array" and schema.items is not None:
        yield from ([plain_value] for plain_value in _plain_values(resolved(schema.items), texts))
    elif schema.type == "object":
        yield {
            name: next(_plain_values(resolved(schema.properties[name]), texts), None)
            for name in schema.required
            if name in schema.properties
        }
