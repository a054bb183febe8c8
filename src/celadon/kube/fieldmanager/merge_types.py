"""Schemas as server-side apply sees them: how the fields of a value are owned and merged.

A `MergeType` says for each shape that a value may have, scalar, map or list, what holds for it.
What a schema leaves open has all three (`DEDUCED`): the value decides. Types are made from schemas
when they are first met. As k8s.io/kube-openapi `pkg/schemaconv` and structured-merge-diff `schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from celadon.kube.crd.custom_kinds import CustomKind
from celadon.kube.errors import KubeError
from celadon.kube.fieldmanager import field_sets
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import is_since, per_release
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.definition_schemas import published_schema
from celadon.kube.schemas.schema_packs import ABSENT, Schema, component, component_name, resolved
from celadon.kube.schemas.struct_decoding import StructCodec, struct_codec
from celadon.records import dataclass

# --- Values of foreign types -------------------------------------------------
#
# Values of a configuration that JSON does not have: what a mutating policy may put into an
# object.
#
# They never fit a schema; all there is to know of one is how Go prints it.


@dataclass(frozen=True, slots=True, eq=False)
class ForeignValue:
    """Stands for a value that has no form in JSON, as Go prints it. `go_type` is what `%T` prints,
    `plain` what `%v` does, `written` what `%#v` does; `value` is whatever it was made of."""

    go_type: str
    plain: str
    text: str
    value: object = None

    def __str__(self) -> str:
        return self.plain


NIL_LIST: Final[list[Any]] = []
"""Stands for an empty list that an expression has made: Go holds none, which is null in JSON.
Nobody changes it."""


# --- Types, as they are merged -----------------------------------------------

STRING: Final = "string"
NUMERIC: Final = "numeric"
BOOLEAN: Final = "boolean"
UNTYPED: Final = "untyped"
"""Any scalar."""

_PLAIN_FORMATS: Final = frozenset({"", "byte"})


class ItemError(KubeError):
    """An item that cannot be identified in its list."""


class UnshownVersion(KubeError):
    """Says that an object cannot be shown in a version in which somebody owns fields of it."""


Members: TypeAlias = "tuple[tuple[str, str, MergeType], ...]"
REMEMBERED: Final = 256
"""Sets of members, for each rule; clients can invent any number."""


class MapRule:
    """The rule of structs and maps. An `atomic` one is owned as a whole; undeclared members are of
    the type `element`, or not allowed."""

    __slots__ = (
        *("_children", "_keeps_unknown", "_orders", "_properties", "_wholes"),
        *("atomic", "element"),
    )

    def __init__(
        self,
        properties: Mapping[str, Schema],
        element: MergeType | None,
        *,
        atomic: bool,
        keeps_unknown: bool = False,
    ) -> None:
        self.atomic = atomic
        self.element = element
        self._properties = properties
        self._keeps_unknown = keeps_unknown
        self._children: dict[str, MergeType] = {}
        self._orders: dict[tuple[str, ...], Members] = {}
        self._wholes: dict[tuple[str, ...], tuple[field_sets.FieldsV1, Members]] = {}

    def declares(self, name: str) -> bool:
        """Return whether it is a field of the struct, not a key of a map."""
        return name in self._properties

    def child(self, name: str) -> MergeType | None:
        """Return the type of a member; None when there may be none of that name."""
        child = self._children.get(name)
        if child is None:
            schema = self._properties.get(name)
            if schema is None:
                return self.element
            child = self._children[name] = made_type(schema, keeps_unknown=self._keeps_unknown)
        return child

    def in_order(self, names: Iterable[str]) -> Members:
        """Members sorted by their names, each with its element and its type. Objects of a kind
        mostly have the same few, so they are remembered: it is a third of what a new object's
        owner takes."""
        keys = tuple(names)
        order = self._orders.get(keys)
        if order is None:
            order = tuple((n, field_sets.FIELD + n, self.child(n) or DEDUCED) for n in sorted(keys))
            if len(self._orders) < REMEMBERED:
                self._orders[keys] = order
        return order

    def whole(self, names: Iterable[str]) -> tuple[field_sets.FieldsV1, Members]:
        """Return the FieldsV1 of a map that is owned with all of its members, as far as their names
        tell it, and those members that may have more below them. It is shared: copy it to add
        that. Most maps have nothing but texts and numbers, so that this is all."""
        keys = tuple(names)
        whole = self._wholes.get(keys)
        if whole is None:
            members = self.in_order(keys)
            fields: field_sets.FieldsV1 = {field_sets.SELF: {}}
            fields.update({element: {} for _, element, _ in members})
            whole = fields, tuple(member for member in members if _has_fields(member[2]))
            if len(self._wholes) < REMEMBERED:
                self._wholes[keys] = whole
        return whole


def _has_fields(type_: MergeType) -> bool:
    """Return whether something below a value of the type can be owned."""
    return any(rule is not None and not rule.atomic for rule in (type_.map, type_.list))


class ListRule:
    """The rule of lists: atomic ones, sets (without `keys`), and those whose items have keys."""

    __slots__ = ("_defaults", "_item", "_keeps_unknown", "_schema", "atomic", "keys")

    def __init__(
        self,
        schema: Schema | None,
        *,
        atomic: bool = True,
        keys: tuple[str, ...] = (),
        keeps_unknown: bool = False,
    ) -> None:
        self.atomic = atomic
        self.keys = keys
        self._schema = schema
        self._keeps_unknown = keeps_unknown
        self._item: MergeType | None = None
        self._defaults: JsonObject | None = None

    @property
    def item(self) -> MergeType:
        """Return the type of the items."""
        if self._item is None:
            schema = self._schema
            self._item = (
                UNTYPED_ATOMIC
                if schema is None
                else made_type(schema, keeps_unknown=self._keeps_unknown)
            )
        return self._item

    def elements(self, items: Iterable[object]) -> list[str]:
        """Return what identifies each of them. ItemError."""
        if not self.keys:
            return list(map(_set_element, items))
        if len(self.keys) > 1:
            ordered = tuple(sorted(self.keys))
            return [
                field_sets.plain_key_element(ordered, tuple(map(item.get, ordered)))
                or self._keyed_element(item)
                if item.__class__ is dict
                else self._keyed_element(item)
                for item in items
            ]
        (key,) = self.keys
        return [
            field_sets.text_key_element(key, value)
            if item.__class__ is dict and (value := item.get(key)).__class__ is str
            else self._keyed_element(item)
            for item in items
        ]

    def element(self, item: object) -> str:
        """Return what identifies an item. ItemError when nothing does."""
        return self.elements((item,))[0]

    def _keyed_element(self, item: object) -> str:
        keys = self.keys
        if item.__class__ is not dict:
            wrong = "have a null element" if item is None else "have non-map elements"
            raise ItemError(f"associative list with keys may not {wrong}")
        defaults = self._key_defaults()
        result = {
            key: item[key] if key in item else defaults[key]
            for key in keys
            if key in item or key in defaults
        }
        missing = [key for key in keys if key not in result]
        if missing and not is_since("1.34"):
            raise ItemError(
                f"associative list with keys has an element that omits key field "
                f"{quote(missing[0])} (and doesn't have default value)"
            )
        if not result:
            listed = " ".join(map(quote, keys))
            raise ItemError(
                f"associative list with keys has an element that omits all key fields [{listed}] "
                "(and doesn't have default values for any key fields)"
            )
        return field_sets.key_element(
            {
                key: str(member) if isinstance(member, ForeignValue) else member
                for key, member in result.items()
            }
        )

    def _key_defaults(self) -> JsonObject:
        if self._defaults is None:
            assert self._schema is not None, "only lists with items have keys"
            self._defaults = _defaults_of(resolved(self._schema), self.keys)
        return self._defaults


def _set_element(item: object) -> str:
    if item.__class__ is dict:
        raise ItemError("associative list without keys has an element that's a map type")
    if item.__class__ is list:
        raise ItemError("not supported: associative list with lists as elements")
    if item is None:
        raise ItemError("associative list without keys has an element that's an explicit null")
    return (
        field_sets.UNDEFINED if isinstance(item, ForeignValue) else field_sets.value_element(item)
    )


def _defaults_of(item: Schema, keys: tuple[str, ...]) -> dict[str, object]:
    """Return the defaults of absent keys: the default, and for Go's types the zero of members that
    are always written or have it for a default."""
    result: dict[str, object] = {}
    if item.name:
        codec = struct_codec(item.name)
        zero: JsonDict = {**codec.empty(), **codec.unwritten_zeros}
        codec.complete(zero)
        result = {key: zero[key] for key in keys if zero.get(key) is not None}
    for key in keys:
        schema = item.properties.get(key)
        if schema is not None and schema.default is not ABSENT and schema.default is not None:
            result[key] = schema.default
    return result


class MergeType:
    """Describes how values of a kind are owned and merged. `codec` reads structs of Go's types,
    which custom kinds have none of."""

    __slots__ = ("codec", "list", "map", "scalar")

    def __init__(
        self,
        scalar: str = "",
        map_rule: MapRule | None = None,
        list_rule: ListRule | None = None,
        *,
        codec: StructCodec | None = None,
    ) -> None:
        self.scalar = scalar
        self.map = map_rule
        self.list = list_rule
        self.codec = codec


UNTYPED_ATOMIC: Final = MergeType(UNTYPED)
"""Of any shape, and owned as a whole."""
UNTYPED_ATOMIC.map = MapRule({}, UNTYPED_ATOMIC, atomic=True)
UNTYPED_ATOMIC.list = ListRule(None)

DEDUCED: Final = MergeType(UNTYPED)
"""Of any shape: maps by their keys, lists as a whole."""
DEDUCED.map = MapRule({}, DEDUCED, atomic=False)
DEDUCED.list = ListRule(None)


def made_type(schema: Schema, *, keeps_unknown: bool = False) -> MergeType:
    """Return the type of a schema, built-in or published; `keeps_unknown` when a schema above it
    preserves unknown fields."""
    if schema.ref:
        return _component_type(schema.ref, schema.map_type)
    keeps_unknown = keeps_unknown or schema.preserve_unknown
    if schema.int_or_string or not schema.type:
        return MergeType(
            UNTYPED,
            _map_rule(schema, keeps_unknown=keeps_unknown),
            _list_rule(schema, keeps_unknown=keeps_unknown),
        )
    match schema.type:
        case "object":
            return MergeType(map_rule=_map_rule(schema, keeps_unknown=keeps_unknown))
        case "array":
            return MergeType(list_rule=_list_rule(schema, keeps_unknown=keeps_unknown))
        case "integer" | "number":
            return _NUMERIC
        case "boolean":
            return _BOOLEAN
        case "string" if schema.format in _PLAIN_FORMATS:
            return _STRING
    return _UNTYPED


_NUMERIC: Final = MergeType(NUMERIC)
_BOOLEAN: Final = MergeType(BOOLEAN)
_STRING: Final = MergeType(STRING)
_UNTYPED: Final = MergeType(UNTYPED)


@per_release()
def _component_type(name: str, map_type: str) -> MergeType:
    """Return the type of a built-in component; a mention may say something else about it than it
    says itself."""
    if name == schema_packs.QUANTITY:
        return _UNTYPED
    if name == schema_packs.INT_OR_STRING:
        return DEDUCED
    if name in schema_packs.SCALAR_COMPONENTS:
        return _UNTYPED
    if name in schema_packs.ANY_COMPONENTS:
        return DEDUCED
    if name == schema_packs.RAW_EXTENSION:
        return UNTYPED_ATOMIC
    if name in schema_packs.OPEN_COMPONENTS:
        return MergeType(map_rule=MapRule({}, DEDUCED, atomic=False))
    schema = component(name)
    atomic = (map_type or schema.map_type) == "atomic"
    element = None if schema.properties else DEDUCED  # a struct without fields declares nothing
    return MergeType(
        map_rule=MapRule(schema.properties, element, atomic=atomic), codec=struct_codec(name)
    )


def _map_rule(schema: Schema, *, keeps_unknown: bool) -> MapRule:
    element: MergeType | None = None
    if schema.additional_properties is not None:
        element = made_type(schema.additional_properties, keeps_unknown=keeps_unknown)
    elif schema.open_values or keeps_unknown or not schema.properties:
        element = DEDUCED
    atomic = schema.map_type == "atomic"
    return MapRule(schema.properties, element, atomic=atomic, keeps_unknown=keeps_unknown)


def _list_rule(schema: Schema, *, keeps_unknown: bool) -> ListRule:
    kind = schema.list_type
    return ListRule(
        schema.items,
        atomic=kind not in ("set", "map"),
        keys=schema.list_map_keys if kind == "map" else (),
        keeps_unknown=keeps_unknown,
    )


def built_in_type(gvk: GroupVersionKind) -> MergeType | None:
    """Return the type of a built-in kind; None for kinds that only a CRD can define."""
    name = component_name(gvk)
    return None if name is None else _component_type(name, "")


# --- Kind types --------------------------------------------------------------
#
# How the objects of a kind are merged: the type of a built-in kind, or of one of a definition.


class _Same:
    """A custom kind as a key: it is the same only as itself."""

    __slots__ = ("kind",)

    def __init__(self, kind: CustomKind) -> None:
        self.kind = kind

    def __hash__(self) -> int:
        return id(self.kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.kind is self.kind


@per_release(maxsize=1024)
def _custom_type(kind: _Same) -> MergeType:
    return made_type(published_schema(kind.kind.schema, kind.kind.gvk))


def merge_type(kind: GroupVersionKind, custom: Schema | None) -> MergeType | None:
    """Return the same by the schema of a custom kind; None for a kind that nobody knows."""
    if custom is not None:
        return made_type(published_schema(custom, kind))
    return built_in_type(kind)


def type_of(kind: GroupVersionKind, custom: CustomKind | None) -> MergeType:
    """Return the type of a kind, which is built in, or `custom` is what its definition says."""
    if custom is not None:
        return _custom_type(_Same(custom))
    merge_type = built_in_type(kind)
    assert merge_type is not None, f"{kind} has a schema"
    return merge_type
