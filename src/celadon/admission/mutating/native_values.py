"""Objects that expressions construct, as the configurations that are merged.

Upstream takes the fields of an `Object{…}` apart one by one: texts, numbers and booleans, objects
inside, lists and maps of these. A list or a map that a literal has made inside another list or map
stays what it is in the language, and fits no schema; one that comes out of the data of the request
is JSON, at any depth. So it matters where a list comes from, which is known by its identity.

As k8s.io/apiserver `pkg/cel/mutation/dynamic/objects.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from celadon.admission.mutating.go_values import foreign
from celadon.cel.extend import NONE, types
from celadon.kube import JsonObject
from celadon.kube.apply import MutationRefused
from celadon.kube.go import quote
from celadon.kube.library import PatchObject, unwrapped

_SCALARS = frozenset({str, bool, int, float})
_JSON = _SCALARS | {dict, list}


class DataValues:
    """Which lists and maps come out of the data of a request. They are looked for when somebody
    asks first: most configurations have nothing of the kind."""

    __slots__ = ("_known", "_roots")

    def __init__(self, roots: Iterable[object]) -> None:
        self._roots = tuple(roots)
        self._known: set[int] | None = None

    def __contains__(self, value: object) -> bool:
        if self._known is None:
            self._known = {id(one) for root in self._roots for one in _containers(root)}
        return id(value) in self._known


def _containers(root: object) -> Iterator[object]:
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending += value.values()
        elif isinstance(value, list):
            yield value
            pending += value


def require_type_names(value: PatchObject) -> None:
    """MutationRefused unless the types of all objects inside are named after their paths."""
    wrong = list(_wrong_names(value, value.cel_type.name))
    if wrong:
        raise MutationRefused("type mismatch: " + "\n".join(wrong))


def _wrong_names(value: object, path: str) -> Iterator[str]:
    """Items of a list and values of a map have the path of the list or map."""
    if isinstance(value, PatchObject):
        name = value.cel_type.name
        if name != path:
            yield (
                f"unexpected type name {quote(name)}, expected {quote(path)}, "
                "which matches field name path from root Object type"
            )
        for field, one in value.fields.items():
            if one.__class__ not in _SCALARS:
                yield from _wrong_names(one, f"{path}.{field}")
    elif isinstance(value, list):
        for item in value:
            yield from _wrong_names(item, path)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _wrong_names(one, path)


def configuration(value: PatchObject, data: DataValues) -> JsonObject:
    """The fields of an object; values that JSON does not have are foreign. MutationRefused."""
    return {field: _field(one, data) for field, one in value.fields.items()}


def _field(value: object, data: DataValues) -> Any:  # noqa: ANN401 - any JSON
    """Lists and maps are taken apart, once."""
    value = unwrapped(value)
    shape = value.__class__
    if shape in _SCALARS:
        return value
    if isinstance(value, list):
        if _is_plain(value) or (_may_be_data(value) and value in data):
            return value
        return [_inner(one, data) for one in value]
    if isinstance(value, Mapping):
        is_plain = _is_plain(value)
        if is_plain and shape is dict and _is_plain(value.values()):
            return value
        if _may_be_data(value.values()) and value in data:
            return value
        if not is_plain:
            raise MutationRefused("invalid return type: *dynamic.ObjectVal")
        return {key: _inner(one, data) for key, one in value.items()}
    return _inner(value, data)


def _is_plain(values: Iterable[object]) -> bool:
    """Whether all are texts."""
    return all(one.__class__ is str for one in values)


def _may_be_data(values: Iterable[object]) -> bool:
    """No if there is anything among them that JSON does not have. Cheaper than to look."""
    return all(one is None or one.__class__ in _JSON for one in values)


def _inner(value: object, data: DataValues) -> Any:  # noqa: ANN401 - any JSON
    value = unwrapped(value)
    if value.__class__ in _SCALARS:
        return value
    if isinstance(value, PatchObject):
        return configuration(value, data)
    if isinstance(value, types.Type):
        return value.name
    if value is NONE or value in data:
        return None if value is NONE else value
    return foreign(value)
