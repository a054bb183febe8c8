"""The readable sources of the data packs: the folders below `data/`, one JSON file per API group.

`data/README.md` describes what the files say. Their text has one form, which `text_of` writes: two
spaces per level, one line per field, rule or column; so a change shows as the lines it changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

Json = Any

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ROOT / "data"

_OPEN_LEVELS: Final = 3
"""Below so many levels everything stands on one line."""
_LEVELS: Final = {"feature_gates": 2, "releases": 5}
"""The same for some files, and for those in some folders."""
_WORDS: Final = {
    "s": "string",
    "y": "bytes",
    "i": "int32",
    "l": "int64",
    "d": "double",
    "b": "boolean",
}
"""The scalar types of fields: the letters of the packs, the words of the sources."""
_LETTERS: Final = {word: letter for letter, word in _WORDS.items()}

COLUMNS: Final = frozenset(
    {
        *("number", "message", "byValue", "embeds"),
        *("internal", "rules", "immutable"),
        *("since", "until", "gate"),
    }
)
"""What types and fields have beside their structure, for other packs than `schemas`."""

DETAILS: Final = ("zeros", "undescribed", "union")
"""What types have besides for the documents of servers."""

_FIRST: Final = frozenset({"number"})
"""Columns that stand before the type of a field."""

FILES: Final = ("groups", "columns", "defaulting", "texts")
FOLDERS: Final = ("resources", "defaults", "schemas", "unpublished", "messages")

Sources = dict[str, Json]
"""What the sources say of one release: by file, or by folder and file."""

Order = Callable[[Iterable[str]], list[str]]


def read(folder: Path) -> Iterator[tuple[str, Json]]:
    """The files of one folder: what each is called without its ending, and what it says."""
    for path in sorted(folder.glob("*.json")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def every_source(folder: Path = SOURCES) -> Sources:
    """All that the sources say, by the names of files and folders; those of other releases are not
    among them."""
    made: Sources = {name: {} for name in FOLDERS}
    made.update((name, value) for name, value in read(folder) if name in FILES)
    made.update((name, dict(read(folder / name))) for name in FOLDERS)
    return made


def levels_of(path: Path) -> int:
    """So many levels of a source stand on lines of their own."""
    return _LEVELS.get(path.stem) or _LEVELS.get(path.parent.name) or _OPEN_LEVELS


def text_of(value: Json, levels: int = _OPEN_LEVELS) -> str:
    """The one form in which a source is written."""
    return "\n".join(_lines(value, levels)) + "\n"


def _lines(value: Json, levels: int) -> Iterator[str]:
    if not value or levels == 0 or not _is_open(value):
        yield json.dumps(value, ensure_ascii=False)
        return
    is_object = isinstance(value, dict)
    members = value.items() if is_object else enumerate(value)
    yield "{" if is_object else "["
    for i, (key, member) in enumerate(members):
        first, *more = _lines(member, levels - 1)
        named = f"{json.dumps(key, ensure_ascii=False)}: {first}" if is_object else first
        shown = ["  " + line for line in (named, *more)]
        shown[-1] += "," if i + 1 < len(value) else ""
        yield from shown
    yield "}" if is_object else "]"


def _is_open(value: Json) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict) for one in value)
    )


def published_details(documents: Iterable[Json]) -> dict[str, dict[str, Json]]:
    """By type, what OpenAPI documents say that no pack is made of: fields with a zero value as
    their default (`zeros`; those that Go writes anyway are among them), fields without a text
    (`undescribed`), and fields that exclude each other (`union`, the one that tells first)."""
    found: dict[str, dict[str, Json]] = {}
    for document in documents:
        for name, schema in document["components"].get("schemas", {}).items():
            fields = schema.get("properties", {})
            details = {
                "zeros": [one for one in fields if _is_zero(fields[one].get("default"))],
                "undescribed": [one for one in fields if "$ref" in fields[one]],
                "union": _union(schema.get("x-kubernetes-unions", ())),
            }
            found[name] = {key: value for key, value in details.items() if value}
    return found


def _union(unions: Json) -> list[str]:
    return [
        name
        for union in unions
        for name in (union.get("discriminator", ""), *union["fields-to-discriminateBy"])
    ]


def _is_zero(default: Json) -> bool:
    return default is not None and default != {} and not default


def with_details(entry: dict[str, Json], details: Mapping[str, Json]) -> dict[str, Json]:
    """A type of the sources with its `published_details`, without what follows from `always`: of a
    pointer, whose empty value is null there, nothing does."""
    always = entry.get("always", {})
    zeros = [one for one in details.get("zeros", ()) if always.get(one) is None]
    made = {**entry, **details, "zeros": zeros}
    return {key: value for key, value in made.items() if key not in DETAILS or value}


def with_words(entry: Mapping[str, Json]) -> Json:
    """A type of the schema pack with the types of its fields in words."""
    return _translated(entry, _WORDS)


def with_columns(entry: Mapping[str, Json], known: Mapping[str, Json]) -> Json:
    """A type out of an OpenAPI document, with the columns and the order that are known of it, which
    is that of what is always written, too. New fields come last, without columns."""
    fields, known_fields = entry.get("fields", {}), known.get("fields", {})
    names = [name for name in known_fields if name in fields]
    names += [name for name in fields if name not in known_fields]
    made = dict(entry)
    if fields:
        made["fields"] = {
            name: _field_with_columns(fields[name], known_fields.get(name, {})) for name in names
        }
    if "always" in entry:
        zeros = entry["always"]
        made["always"] = {name: zeros[name] for name in sorted(zeros, key=names.index)}
    return {**made, **{key: value for key, value in known.items() if key in COLUMNS}}


def _field_with_columns(field: Json, known: Json) -> Json:
    if isinstance(known, str) or COLUMNS.isdisjoint(known):
        return field
    node = {"type": field} if isinstance(field, str) else field
    return {
        **{key: value for key, value in known.items() if key in _FIRST},
        **node,
        **{key: value for key, value in known.items() if key in COLUMNS and key not in _FIRST},
    }


def structure(entry: Mapping[str, Json]) -> Json:
    """A type as the schema pack has it: fields by name, scalars as letters, and none of the columns
    of which other packs are made. Fields that Go holds by value are named beside the others."""
    made = _translated(entry, _LETTERS, sorted)
    held = [
        name
        for name, field in entry.get("fields", {}).items()
        if isinstance(field, dict) and "byValue" in field
    ]
    return {**made, "byValue": held} if held else made


def _translated(node: Json, names: Mapping[str, str], order: Order = list) -> Json:
    if isinstance(node, str):
        return names[node]
    made = {key: value for key, value in node.items() if key not in COLUMNS}
    if "type" in made:
        made["type"] = names[made["type"]]
    for key in ("items", "values"):
        if key in made:
            made[key] = _translated(made[key], names, order)
    if "fields" in made:
        fields = made["fields"]
        made["fields"] = {name: _translated(fields[name], names, order) for name in order(fields)}
    return made["type"] if list(made) == ["type"] else made
