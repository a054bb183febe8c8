"""Documents of OpenAPI version 2 of several servers as one document.

What another server says of its own paths is added with the types that they lead to. Types and
parameters that have the name of others get another name, unless they are the same. As
k8s.io/kube-openapi `pkg/aggregator`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.kube.json_types import JsonDict, JsonObject

DEFINITIONS: Final = "#/definitions/"
PARAMETERS: Final = "#/parameters/"
KINDS: Final = "x-kubernetes-group-version-kind"
"""The member of a schema that lists the kinds it describes."""
_SECTIONS: Final = ("paths", "definitions", "parameters")
DEEPEST: Final = 100
"""Levels within a document: more than any has, and fewer than could not be walked."""


def of_paths(document: JsonObject, prefix: str) -> JsonDict:
    """Return the document with paths below a prefix only, and without types that nothing leads to
    any more. Raises ValueError for what is no such document."""
    sections = {key: document.get(key) or {} for key in _SECTIONS}
    for section in sections.values():
        if not isinstance(section, Mapping) or not all(
            isinstance(member, Mapping) for member in section.values()
        ):
            raise ValueError("no document of OpenAPI version 2")
    if _is_deeper(sections, DEEPEST):
        raise ValueError(f"a document that nests more than {DEEPEST} levels")
    result = {path: member for path, member in sections["paths"].items() if path.startswith(prefix)}
    return _with_paths(sections, result)


def _is_deeper(value: object, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        inner: list[object] = []
        for item in level:
            if isinstance(item, Mapping):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = inner
    return any(isinstance(element, (Mapping, list)) for element in level)


def _with_paths(document: JsonObject, paths: JsonObject) -> JsonDict:
    """Return the document with these paths of it. Types that nothing has led to stay."""
    definitions = document["definitions"]
    before, after = _used(document["paths"], definitions), _used(paths, definitions)
    left = {
        name: definition
        for name, definition in definitions.items()
        if name in after or name not in before
    }
    return {**document, "paths": paths, "definitions": left}


def _used(paths: JsonObject, definitions: JsonObject) -> set[str]:
    """Return the names of the types that paths lead to."""
    result: set[str] = set()
    waiting: list[Any] = [paths]
    while waiting:
        for name in _mentioned(waiting.pop()):
            if name not in result:
                result.add(name)
                waiting.append(definitions.get(name))
    return result


def _mentioned(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            mention = node.get("$ref")
            if isinstance(mention, str) and mention.startswith(DEFINITIONS):
                yield mention.removeprefix(DEFINITIONS)
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def merged(document: JsonObject, others: Iterable[JsonObject]) -> JsonDict:
    """Return the document with what others say; paths that it has itself stay its own."""
    result: JsonDict = {**document, **{key: {**document[key]} for key in _SECTIONS}}
    for other in others:
        paths = {
            path: member for path, member in other["paths"].items() if path not in result["paths"]
        }
        if paths:
            addition = other if len(paths) == len(other["paths"]) else _with_paths(other, paths)
            _add(result, addition)
    for key in _SECTIONS:
        result[key] = dict(sorted(result[key].items()))
    return result


def _add(document: JsonDict, other: JsonObject) -> None:
    names = {
        DEFINITIONS: _names(document["definitions"], other["definitions"]),
        PARAMETERS: _names(document["parameters"], other["parameters"]),
    }
    for key, of_others in zip(_SECTIONS[1:], names.values(), strict=True):
        for name, member in other[key].items():
            renamed = _renamed(member, names)
            former = document[key].setdefault(of_others.get(name, name), renamed)
            if former is not renamed:
                document[key][of_others.get(name, name)] = _of_all_kinds(former, renamed)
    document["paths"].update(
        (path, _renamed(value, names)) for path, value in other["paths"].items()
    )


def _names(mine: JsonObject, others: JsonObject) -> dict[str, str]:
    """Return the names that those get whose names are taken by something else."""
    names: dict[str, str] = {}
    used = set(others)
    for name in sorted(others):
        free_name, number, content = name, 1, _without_kinds(others[name])
        while free_name in mine and _without_kinds(mine[free_name]) != content:
            number += 1
            free_name = f"{name}_v{number}"
        while free_name != name and free_name not in mine and free_name in used:
            number += 1
            free_name = f"{name}_v{number}"
        if free_name != name:
            names[name] = free_name
            used.add(free_name)
    return names


def _without_kinds(item: JsonObject) -> JsonDict:
    """Return a type without the kinds that it is of, by which two types that are the same may
    differ."""
    return {key: value for key, value in item.items() if key != KINDS}


def _renamed(value: Any, names: Mapping[str, Mapping[str, str]]) -> Any:  # noqa: ANN401 - JSON
    """Return a part of a document with other names where it mentions those."""
    if not any(names.values()):
        return value
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if not isinstance(value, Mapping):
        return value
    result = {key: _renamed(member, names) for key, member in value.items()}
    mention = value.get("$ref")
    if isinstance(mention, str):
        for prefix, of_others in names.items():
            name = mention.removeprefix(prefix)
            if mention.startswith(prefix) and name in of_others:
                result["$ref"] = prefix + of_others[name]
    return result


def _of_all_kinds(mine: JsonObject, other: JsonObject) -> JsonObject:
    """Return a type with the kinds that both name."""
    kinds, others = mine.get(KINDS), other.get(KINDS)
    if not isinstance(others, list) or not (kinds is None or isinstance(kinds, list)):
        return mine
    both = {_kind_text(item): item for item in (*others, *(kinds or ()))}
    if len(both) == len(kinds or ()):
        return mine
    return {**mine, KINDS: others if kinds is None else [both[key] for key in sorted(both)]}


def _kind_text(kind: object) -> str:
    if not isinstance(kind, Mapping):
        return str(kind)
    return f"{kind.get('group')}/{kind.get('version')}.{kind.get('kind')}"
