"""The schemas that `celadon schema` shows: the built-in kinds or those of a pack, and CRDs.

A kind may be asked for by kind, plural or short name, in any case: `Deployment`, `deploy`,
`apps/v1/Deployment`, `v1/Pod`; fields follow after dots, `deploy.spec.template`. Lists and maps
stand for their items, as in `kubectl explain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any, Final

from celadon.kube import GroupVersionKind
from celadon.kube.catalogue import Resource, custom_resources, known_resources
from celadon.kube.go import json_text
from celadon.kube.schemas import ABSENT, Schema, SchemaPack, custom_schemas
from celadon.patterns import late_pattern
from celadon.records import dataclass

_VERSION: Final = late_pattern(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STAGES: Final = {"alpha": 0, "beta": 1, None: 2}


class UnknownName(Exception):
    """A kind or field that does not exist; `choices` are those that do."""

    def __init__(self, message: str, word: str, choices: Iterable[str]) -> None:
        super().__init__(message)
        self.word = word
        self.choices = tuple(choices)


@dataclass(frozen=True, slots=True)
class Found:
    """A schema and the way to it: a kind, and the fields that were followed."""

    gvk: GroupVersionKind
    schema: Schema
    fields: tuple[str, ...] = ()


@dataclass(slots=True)
class Schemas:
    """Schemas by kind, and the resources that give kinds other names."""

    pack: SchemaPack
    custom: dict[GroupVersionKind, Schema] = field(default_factory=dict)
    resources: list[Resource] = field(default_factory=lambda: list(known_resources()))

    def add(self, definition: dict[str, Any]) -> None:
        """The served versions of a CustomResourceDefinition."""
        self.custom.update(custom_schemas(definition))
        self.resources += custom_resources(definition)

    def kinds(self) -> list[GroupVersionKind]:
        """Every kind: by group and kind, the preferred version first."""
        return sorted({*self.pack.kinds, *self.custom}, key=_order)

    def find(self, text: str) -> Found:
        """What a user means; `UnknownName` when it is nothing."""
        prefix, slash, last = text.rpartition("/")
        words = last.split(".")
        kind = self._kind(prefix + slash, words[0])
        schema = self.custom.get(kind) or self.pack.component(self.pack.kinds[kind])
        fields: tuple[str, ...] = ()
        for word in words[1:]:
            schema, fields = self._field(schema, word), (*fields, word)
        return Found(kind, schema, fields)

    def _kind(self, api_version: str, word: str) -> GroupVersionKind:
        kinds = self.kinds()
        names = {word.lower()}
        for resource in self.resources:
            if word.lower() in {resource.gvr.resource, resource.singular, *resource.short_names}:
                names.add(resource.gvk.kind.lower())
        wanted = api_version.removesuffix("/").lower()
        for kind in kinds:
            if kind.kind.lower() in names and wanted in {"", kind.group, kind.api_version}:
                return kind
        raise UnknownName(f"no kind `{api_version}{word}`", word, (kind.kind for kind in kinds))

    def _field(self, schema: Schema, word: str) -> Schema:
        members = element(schema, self.pack).properties
        if word not in members:
            raise UnknownName(f"no field `{word}`", word, members)
        return members[word]


def element(schema: Schema, pack: SchemaPack) -> Schema:
    """What a list or map holds at last; references followed."""
    schema = pack.resolve(schema)
    while (inner := schema.items or schema.additional_properties) is not None:
        schema = pack.resolve(inner)
    return schema


def type_name(schema: Schema, pack: SchemaPack) -> str:
    """`string`, `[]Container`, `map[string]Quantity`, as `kubectl explain` writes it."""
    if schema.ref:
        return schema.ref.rpartition(".")[2]
    if schema.items is not None:
        return f"[]{type_name(schema.items, pack)}"
    if schema.additional_properties is not None:
        return f"map[string]{type_name(schema.additional_properties, pack)}"
    if schema.int_or_string:
        return "IntOrString"
    if schema.name:
        return schema.name.rpartition(".")[2]
    return schema.type.capitalize() if schema.type == "object" else schema.type or "any"


def document(schema: Schema, pack: SchemaPack, open_: frozenset[str] = frozenset()) -> Any:  # noqa: ANN401 - any JSON
    """The schema as OpenAPI, references followed; a type inside itself is an object of any
    content."""
    if schema.ref:
        if schema.ref in open_:
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {**document(pack.resolve(schema), pack, open_), **_own(schema)}
    if schema.name:
        open_ |= {schema.name}
    made: dict[str, Any] = {}
    if schema.int_or_string:
        made["x-kubernetes-int-or-string"] = True
    elif schema.type:
        made["type"] = schema.type
        if schema.format:
            made["format"] = schema.format
    if schema.properties:
        members = sorted(schema.properties.items())
        made["properties"] = {key: document(one, pack, open_) for key, one in members}
    if schema.items is not None:
        made["items"] = document(schema.items, pack, open_)
    if schema.additional_properties is not None:
        made["additionalProperties"] = document(schema.additional_properties, pack, open_)
    return {**made, **_own(schema)}


def _own(schema: Schema) -> dict[str, Any]:
    said = {
        "required": list(schema.required),
        "enum": list(schema.enum),
        "default": None if schema.default is ABSENT else schema.default,
        "nullable": schema.nullable,
        "x-kubernetes-list-type": schema.list_type,
        "x-kubernetes-list-map-keys": list(schema.list_map_keys),
        "x-kubernetes-map-type": schema.map_type,
        "x-kubernetes-patch-merge-key": schema.merge_key,
        "x-kubernetes-patch-strategy": schema.patch_strategy,
        "x-kubernetes-preserve-unknown-fields": schema.preserve_unknown or schema.open_values,
    }
    return {key: value for key, value in said.items() if value not in ([], "", False, None)}


@dataclass(frozen=True, slots=True)
class Row:
    """A field in the human listing; `notes` are what `kubectl explain` puts behind the type."""

    depth: int
    name: str
    type: str
    notes: str


def rows(schema: Schema, pack: SchemaPack, *, recursive: bool) -> Iterator[Row]:
    """The fields of a schema or of what it holds; with `recursive`, theirs below them."""
    yield from _rows(schema, pack, frozenset(), 0, recursive=recursive)


def _rows(
    schema: Schema, pack: SchemaPack, open_: frozenset[str], depth: int, *, recursive: bool
) -> Iterator[Row]:
    held = element(schema, pack)
    if held.name and held.name in open_:
        return
    for name, member in sorted(held.properties.items()):
        yield Row(depth, name, type_name(member, pack), _notes(name, member, held))
        if recursive:
            yield from _rows(member, pack, open_ | {held.name}, depth + 1, recursive=recursive)


def _notes(name: str, member: Schema, owner: Schema) -> str:
    notes = ["required"] if name in owner.required else []
    if member.enum:
        notes.append("one of " + ", ".join(map(_shown, member.enum)))
    if member.default is not ABSENT:
        notes.append(f"default {_shown(member.default)}")
    if member.list_type in ("set", "map"):
        keys = ", ".join(member.list_map_keys)
        notes.append(f"unique by {keys}" if keys else "unique")
    if member.nullable:
        notes.append("nullable")
    if member.preserve_unknown or member.open_values:
        notes.append("keeps unknown fields")
    return "; ".join(notes)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json_text(value)


def _order(kind: GroupVersionKind) -> tuple[str, str, tuple[int, int, int], str]:
    """Stable versions before beta before alpha, later before earlier."""
    found = _VERSION.fullmatch(kind.version)
    if found is None:
        return kind.group, kind.kind, (1, 0, 0), kind.version
    stage = _STAGES[found[2]]
    return kind.group, kind.kind, (-stage, -int(found[1]), -int(found[3] or 0)), kind.version
