"""Passes objects through the Go struct of their kind: what decoding makes of them, and which fields
the struct does not have.

Policies and webhooks do not see the bytes that a client sent but the struct, encoded again. So
unknown fields are gone, null means absent, empty lists, empty maps and zero scalars vanish unless
the field says otherwise, quantities and times are in canonical form, and some fields are written
even when nobody set them.

`decode` does the first half, `complete` adds the fields that are always written; between the two,
defaulting runs (`defaulting/`). Types are compiled on first use into one `StructCodec` for each
component; its `fields` hold per field the class of a plain scalar, whether a zero stays, and a
converter for everything that is not a plain scalar (`value_decoding.py`).

INVARIANT (fresh containers): every dict and list that `decode` returns is new, except inside values
of free form, which nothing changes afterwards.
"""

from __future__ import annotations

import enum
import functools
import itertools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, TypeVar

from celadon.kube.errors import KubeError
from celadon.kube.fieldpath import MapKey
from celadon.kube.go.go_json import TOO_DEEP, Document, raw_json
from celadon.kube.go.go_text import quote, sorted_members
from celadon.kube.json_types import Json, JsonDict, JsonObject, SharedParts, fresh, shared_copy
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import per_release
from celadon.kube.schemas import schema_packs, value_decoding
from celadon.kube.schemas.value_decoding import (
    BYTES,
    DROPPED,
    INT_RANGES,
    SCALAR_CLASSES,
    ZEROS,
    Converter,
    DecodeError,
    Mismatch,
    integer,
    locate,
    nonzero_integer,
    refuse,
    scalar,
)

_Made = TypeVar("_Made")


class Reading(enum.Enum):
    """Says how a codec takes what it is given.

    `TOLERANT` passes over unknown fields. `EXACT` gives up at the first one: where none comes,
    nobody needs to look for them. It also gives up at an empty list, map or text of bytes: where
    none comes, what is read is what will be read back, and `empty_values` would find nothing.
    `STORED` leaves out all empty lists and maps of fields, which the wire format of the store
    cannot hold.
    """

    TOLERANT = enum.auto()
    EXACT = enum.auto()
    STORED = enum.auto()

    __hash__ = object.__hash__
    """Members are the same only as themselves; the enum's own hash is a call of Python."""


class Inexact(KubeError):
    """An exact reading has met a field that the kind does not have, or an empty value."""


def _json_schema(value: object) -> Json:
    try:
        return struct_codec(schema_packs.JSON_SCHEMA).decode(value)
    except Mismatch as mismatch:
        mismatch.leave_reader()
        raise


def _schema_or_bool(value: object) -> Any:
    if value.__class__ is bool:
        return value
    if value.__class__ is not dict:
        raise DecodeError("boolean or JSON schema expected")
    return _json_schema(value)


def _schema_or_list(value: object) -> Any:
    if value.__class__ is list:
        return _each_item(value, _json_schema, dict)
    # anything else is read as neither a schema nor schemas, without a complaint.
    return _json_schema(value) if value.__class__ is dict else None


def _schema_or_strings(value: object) -> Any:
    if value.__class__ is list:
        return _each_item(value, scalar("s"), str)
    return _json_schema(value) if value.__class__ is dict else None


def _nothing() -> None:
    """Return what a null item of most components becomes."""


SPECIAL: Final[Mapping[str, tuple[Converter, Callable[[], object]]]] = {
    schema_packs.QUANTITY: (value_decoding.quantity, value_decoding.null_quantity),
    schema_packs.INT_OR_STRING: (value_decoding.int_or_string, int),
    schema_packs.TIME: (value_decoding.time, _nothing),
    schema_packs.MICRO_TIME: (value_decoding.micro_time, _nothing),
    schema_packs.FIELDS_V1: (value_decoding.as_it_is, _nothing),
    schema_packs.RAW_EXTENSION: (raw_json, _nothing),
    schema_packs.JSON: (value_decoding.as_it_is, _nothing),
    schema_packs.SCHEMA_OR_BOOL: (_schema_or_bool, _nothing),
    schema_packs.SCHEMA_OR_LIST: (_schema_or_list, _nothing),
    schema_packs.SCHEMA_OR_STRINGS: (_schema_or_strings, _nothing),
}
"""Components with an encoding of their own: how to read a value, and what a null item becomes."""


def _list(node: Any, reading: Reading, *, keep: bool) -> Converter:
    item_node = node["items"]
    convert, zero = _item(item_node, reading)
    plain = SCALAR_CLASSES.get(item_node) if isinstance(item_node, str) else None
    is_exact = reading is Reading.EXACT

    def convert_list(value: object) -> object:
        if value.__class__ is not list:
            raise Mismatch(value, node)
        if not value:
            if is_exact:
                raise Inexact
            return [] if keep else DROPPED
        if plain is not None and all(item.__class__ is plain for item in value):
            return value[:]
        return _each_item(value, convert, zero)

    return convert_list


def _map(node: Any, reading: Reading, *, keep: bool) -> Converter:
    value_node = node["values"]
    convert, zero = _item(value_node, reading)
    plain = SCALAR_CLASSES.get(value_node) if isinstance(value_node, str) else None
    is_exact = reading is Reading.EXACT

    def convert_map(value: object) -> object:
        if value.__class__ is not dict:
            raise Mismatch(value, node)
        if not value:
            if is_exact:
                raise Inexact
            return {} if keep else DROPPED
        if plain is not None and all(item.__class__ is plain for item in value.values()):
            return value.copy()
        return _each_member(value, convert, zero)

    return convert_map


def _each_item(value: list[Json], convert: Converter, zero: Callable[[], object]) -> list[object]:
    result: list[Any] = []
    try:
        for item in value:
            result.append(zero() if item is None else convert(item))
    except (DecodeError, Mismatch) as error:
        locate(error, len(result))
        raise
    return result


def _each_member(value: dict[str, Json], convert: Converter, zero: Callable[[], Any]) -> JsonObject:
    result: dict[str, object] = {}
    key = ""
    try:
        for key, item in value.items():
            result[key] = zero() if item is None else convert(item)
    except (DecodeError, Mismatch) as error:
        locate(error, MapKey(key))
        raise
    return result


def _item(node: Any, reading: Reading) -> tuple[Converter, Callable[[], object]]:
    """Return how to read an item of a list or map, and what a null one becomes."""
    if isinstance(node, dict) and "ref" in node:
        name = node["ref"]
        if name in SPECIAL:
            return SPECIAL[name]
        codec = struct_codec(name, reading)
        return codec.decode, codec.empty
    if isinstance(node, dict) and "items" in node:
        return _list(node, reading, keep=True), lambda: None
    if isinstance(node, dict) and "values" in node:
        return _map(node, reading, keep=True), lambda: None
    letter = node if isinstance(node, str) else node["type"]
    zero = ZEROS[letter]
    return scalar(letter), lambda: zero


Field = tuple[type | None, bool, Converter | None]
_Complete = Callable[[Any, Container[int]], None]
Completion = tuple[str, _Complete]


class StructCodec:
    """Decoding and completing the objects of one component. Compiled when first used."""

    __slots__ = (
        "_always",
        "_completions",
        "_entered",
        "_entry",
        "_fields",
        "_reading",
        "_structs",
        "name",
    )

    def __init__(self, name: str, entry: JsonObject, reading: Reading = Reading.TOLERANT) -> None:
        self.name = name
        self._reading = reading
        self._entry = entry
        self._fields: dict[str, Field] | None = None
        self._structs: list[tuple[str, StructCodec]] = []
        self._always: list[tuple[str, Json]] = []
        self._completions: list[Completion] = []
        self._entered: Mapping[str, str] | None = None

    def _compile(self) -> dict[str, Field]:
        entry, nodes = self._entry, self.field_nodes
        always, pointers = entry.get("always", {}), frozenset(entry.get("ptr", ()))
        fields = {
            key: _field(node, self._reading, keep=key in pointers or _stays(always.get(key, 0)))
            for key, node in nodes.items()
        }
        for key in entry.get("byValue", ()):
            convert, _ = _item(nodes[key], self._reading)
            fields[key] = None, True, value_decoding.by_value(convert)
        for key, zero in always.items():
            if zero == {}:
                self._structs.append((key, struct_codec(nodes[key]["ref"], self._reading)))
            else:
                self._always.append((key, zero))
        for key, node in nodes.items():
            completion = _completion(node)
            if completion is not None:
                self._completions.append((key, completion))
        self._fields = fields
        return fields

    @property
    def field_nodes(self) -> JsonObject:
        """Return the fields as the schema pack describes them."""
        fields: JsonObject = self._entry.get("fields", {})
        return fields

    @property
    def unwritten_zeros(self) -> dict[str, object]:
        """Return the fields that are not written where they are zero, but have that for a
        default."""
        nodes = self.field_nodes
        return {key: ZEROS[nodes[key]] for key in self._entry.get("zeros", ())}

    @property
    def entered(self) -> Mapping[str, str]:
        """Return the fields that hold structs, or lists of structs, with their components."""
        if self._entered is None:
            field_nodes = ((key, _struct_component(node)) for key, node in self.field_nodes.items())
            self._entered = {key: component for key, component in field_nodes if component}
        return self._entered

    def empty(self) -> JsonDict:
        """Return the zero struct: only the structs that are always there."""
        if self._fields is None:
            self._compile()
        return {key: codec.empty() for key, codec in self._structs}

    def decode(self, value: object) -> JsonDict:
        """Return a new object; Mismatch or DecodeError where a value does not fit, Inexact if the
        reading is exact."""
        if value.__class__ is not dict:
            raise Mismatch(value, {"ref": self.name})
        fields = self._fields
        if fields is None:
            fields = self._compile()
        result: dict[str, object] = {}
        key = ""
        try:
            for key, item in value.items():
                field = fields.get(key)
                if field is None:
                    if self._reading is Reading.EXACT:
                        raise Inexact
                    continue
                if item is None:
                    continue
                plain, keep, convert = field
                if convert is not None:
                    converted = convert(item)
                    if converted is not DROPPED:
                        result[key] = converted
                elif item.__class__ is not plain:
                    refuse(item, self._entry["fields"][key])
                elif item or keep:
                    result[key] = item
        except Mismatch as mismatch:
            mismatch.at(self.name, key)
            locate(mismatch, key)
            raise
        except DecodeError as error:
            locate(error, key)
            raise
        for key, codec in self._structs:
            if key not in result:
                result[key] = codec.empty()
        return result

    def decode_changed(self, value: Any, before: JsonObject, shared: SharedParts) -> JsonDict:
        """Return what `decode` does of an object that was made of `before`, which is decoded and
        completed: parts that both have are copied, and noted as `shared`. Raises Inexact for an
        unknown field, else as `read_field`."""
        if value.__class__ is not dict:
            raise Mismatch(value, {"ref": self.name})
        fields, entered = self._fields or self._compile(), self.entered
        result: dict[str, object] = {}
        for key, item in value.items():
            former = before.get(key)
            if item is former and item:
                is_part = item.__class__ in _CONTAINERS
                result[key] = shared_copy(item, shared) if is_part else item
            elif key in entered and item.__class__ is former.__class__ and item is not None:
                codec = struct_codec(entered[key], self._reading)
                result[key] = _decoded_changed(codec, item, former, shared)
            elif key not in fields:
                raise Inexact
            elif (read := self.read_field(key, item)) is not DROPPED:
                result[key] = read
        for key, codec in self._structs:
            if key not in result:
                result[key] = codec.empty()
        return result

    def read_field(self, name: str, value: object) -> object:
        """Return what becomes of the value of one field; DROPPED for one that is left out. Mismatch
        or DecodeError where it does not fit, without their paths."""
        if value is None:
            return DROPPED
        plain, keep, convert = (self._fields or self._compile())[name]
        if convert is not None:
            return convert(value)
        if value.__class__ is not plain:
            refuse(value, self._entry["fields"][name])
        return value if value or keep else DROPPED

    def complete(self, obj: JsonDict, settled: Container[int] = frozenset()) -> None:
        """Add the fields that are always written, here and below, but not in the parts with these
        identities, which are complete. Changes `obj`. DecodeError for what is nested deeper than
        calls may be here."""
        try:
            self.complete_part(obj, settled)
        except RecursionError:
            raise DecodeError(TOO_DEEP) from None

    def complete_part(self, obj: dict[str, Json], settled: Container[int]) -> None:
        """Complete what stands inside of a larger whole: RecursionError for what is nested too
        deeply."""
        if self._fields is None:
            self._compile()
        for key, codec in self._structs:
            if key not in obj:
                obj[key] = codec.empty()
        for key, zero in self._always:
            if key not in obj:
                obj[key] = zero
        for key, completion in self._completions:
            if key in obj:
                completion(obj[key], settled)


_CONTAINERS: Final = frozenset({dict, list})


def _decoded_changed(
    codec: StructCodec, value: Any, before: Any, shared: SharedParts
) -> JsonDict | list[JsonDict]:
    """Return a struct, or a list of structs, decoded as `decode_changed` does."""
    if value.__class__ is not list:
        return codec.decode_changed(value, before, shared)
    if not value:
        raise Inexact
    pairs = itertools.zip_longest(value, before[: len(value)])
    return [
        shared_copy(item, shared)
        if item is former and item
        else codec.decode_changed(item, former or {}, shared)
        for item, former in pairs
    ]


def _stays(zero: object) -> bool:
    """Return whether what is always written may be empty and yet not be the zero value: a null
    list. An empty scalar is its zero value, so defaulting must not see it; it comes back in the
    end."""
    return zero is None or zero.__class__ in (dict, list)


def _struct_component(node: Json) -> str:
    if not isinstance(node, dict):
        return ""
    inner = node.get("items", node)
    name = inner.get("ref", "") if isinstance(inner, dict) else ""
    return "" if name in schema_packs.SPECIAL_COMPONENTS else name


def _field(node: Any, reading: Reading, *, keep: bool) -> Field:
    if isinstance(node, dict):
        keep_empty = keep and reading is not Reading.STORED
        if "items" in node:
            return None, keep, _list(node, reading, keep=keep_empty)
        if "values" in node:
            return None, keep, _map(node, reading, keep=keep_empty)
        if "ref" in node:
            convert, _ = _item(node, reading)
            return None, True, convert
        node = node["type"]
    if node in SCALAR_CLASSES:
        return SCALAR_CLASSES[node], keep, None
    if node in INT_RANGES:
        return None, keep, integer(node) if keep else nonzero_integer(node)
    convert = scalar(node)
    if reading is Reading.EXACT and node == BYTES:
        return None, keep, _some_bytes
    return None, keep, convert if keep else lambda value: convert(value) or DROPPED


def _some_bytes(value: object) -> object:
    return value_decoding.bytes_text(value) or _give_up()


def _give_up() -> NoReturn:
    raise Inexact


def _completion(node: object) -> _Complete | None:
    """Return what to do with a field's value when completing; None when nothing can be missing."""
    if not isinstance(node, dict):
        return None
    if "ref" in node:
        entry = schema_packs.load("schemas")[node["ref"]]
        if not entry.get("complete"):
            return None
        codec = struct_codec(node["ref"])

        def complete(value: Any, settled: Container[int]) -> None:
            if value.__class__ is dict and id(value) not in settled:
                codec.complete_part(value, settled)

        return complete
    inner = _completion(node.get("items") or node.get("values"))
    if inner is None:
        return None
    return functools.partial(_complete_each, inner)


def _complete_each(inner: _Complete, container: Any, settled: Container[int]) -> None:
    if container is None or id(container) in settled:
        return
    for value in container.values() if container.__class__ is dict else container:
        inner(value, settled)


@per_release()
def struct_codec(name: str, reading: Reading = Reading.TOLERANT) -> StructCodec:
    """Return the codec of a component, by its OpenAPI name; KeyError when there is none."""
    return StructCodec(name, schema_packs.load("schemas")[name], reading)


def codec_for(gvk: GroupVersionKind, reading: Reading = Reading.TOLERANT) -> StructCodec | None:
    """Return the codec of a built-in kind; None for kinds that only a CRD can define."""
    name = schema_packs.component_name(gvk)
    return None if name is None else struct_codec(name, reading)


def decode(codec: StructCodec, obj: object) -> JsonDict:
    """Work as `codec.decode`, with every failure as DecodeError."""
    try:
        return _complained(codec.decode, obj)
    except DecodeError:
        _complained(functools.partial(_read_specials, codec), obj)
        raise


def first_fault(codec: StructCodec, obj: object) -> DecodeError | None:
    """Return what is wrong with the first value, in the order of the object, that does not fit;
    unlike `decode`, whatever type it has."""
    try:
        _complained(codec.decode, obj)
    except DecodeError as error:
        return error
    return None


def _read_specials(codec: StructCodec, value: object) -> None:
    """Read the values below that have an encoding of their own. Raises what is wrong with the first
    of them: Go's decoder ends there, and forgets the values of wrong types before it, of which it
    would have told at the end."""
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        node = codec.field_nodes.get(key)
        try:
            _read_special(node, item)
        except Mismatch as mismatch:
            mismatch.at(codec.name, key)
            locate(mismatch, key)
            raise
        except DecodeError as error:
            locate(error, key)
            raise


def _read_special(node: Json, value: Json) -> None:
    if not isinstance(node, dict) or value is None:
        return
    if "ref" in node:
        name = node["ref"]
        if name in SPECIAL:
            SPECIAL[name][0](value)
        else:
            _read_specials(struct_codec(name), value)
    elif "items" in node and isinstance(value, list):
        _each_item(value, functools.partial(_read_special, node["items"]), lambda: None)
    elif "values" in node and isinstance(value, dict):
        _each_member(value, functools.partial(_read_special, node["values"]), lambda: None)


def decode_list(component: str, value: object) -> list[dict[str, Json]]:
    """Return a list of structs by their OpenAPI name, as an annotation may hold one: null items are
    zero structs, null is no item. DecodeError with what Go says of anything else."""
    if value is None:
        return []
    items = _list({"items": {"ref": component}}, Reading.TOLERANT, keep=True)
    return _complained(items, value)


def _complained(convert: Callable[[object], _Made], value: object) -> _Made:
    try:
        return convert(value)
    except Mismatch as mismatch:
        raise DecodeError(mismatch.message(), mismatch.path, mismatch.message_alone()) from mismatch
    except RecursionError:
        raise DecodeError(TOO_DEEP) from None


class EmptyValue(NamedTuple):
    """Names a list, a map or bytes that came empty, and that encoding leaves out."""

    path: tuple[str | int, ...]
    value: list[Any] | JsonDict | str


def empty_values(codec: StructCodec, value: object) -> tuple[EmptyValue, ...]:
    """Return the empty lists, maps and bytes that `decode` drops from an object, in their order.
    Go's structs hold them until they are encoded: validation tells them from absent ones."""
    return tuple(_empties_of_struct(codec, value, ()))


def _empties_of_struct(
    codec: StructCodec, value: object, path: tuple[str | int, ...]
) -> Iterator[EmptyValue]:
    if not isinstance(value, dict):
        return
    nodes = codec.field_nodes
    for key, item in value.items():
        if item is None or key not in nodes:
            continue
        node, place = nodes[key], (*path, key)
        if item:
            yield from _empties_below(node, item, place)
        elif isinstance(item, (list, dict)) and _is_container(node):
            yield EmptyValue(place, item.__class__())
        elif item == "" and node == BYTES:
            yield EmptyValue(place, "")


def _is_container(node: object) -> bool:
    return isinstance(node, dict) and ("items" in node or "values" in node)


def _empties_below(node: Json, value: object, path: tuple[str | int, ...]) -> Iterator[EmptyValue]:
    if not isinstance(node, dict):
        return
    if "ref" in node:
        name = schema_packs.JSON_SCHEMA if node["ref"] in schema_packs.SCHEMA_OR else node["ref"]
        if name not in SPECIAL:
            yield from _empties_of_struct(struct_codec(name), value, path)
    elif "items" in node and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _empties_below(node["items"], item, (*path, index))
    elif "values" in node and isinstance(value, dict):
        for key, item in value.items():
            yield from _empties_below(node["values"], item, (*path, key))


def with_empty_values(obj: JsonObject, empties: Iterable[EmptyValue]) -> JsonDict:
    """Return a copy of an object with those of the values whose fields it does not have."""
    result: dict[str, object] = fresh(obj)
    for path, value in empties:
        parent: object = result
        for step in path[:-1]:
            if isinstance(parent, dict):
                parent = parent.get(step)
            elif isinstance(parent, list) and isinstance(step, int) and step < len(parent):
                parent = parent[step]
            else:
                parent = None
        if isinstance(parent, dict):
            parent.setdefault(path[-1], value if value == "" else value.__class__())
    return result


def round_trip(obj: object, gvk: GroupVersionKind) -> JsonDict | None:
    """Return the object decoded and encoded again, without defaulting; None for kinds not built
    in."""
    codec = codec_for(gvk)
    if codec is None:
        return None
    result = decode(codec, obj)
    codec.complete(result)
    return result


def decode_kind(obj: object, gvk: GroupVersionKind) -> tuple[JsonDict, StructCodec, bool] | None:
    """Return the object decoded, without defaulting and completing, the codec of its kind, and
    whether no field of it is unknown, and none empty; None for kinds not built in."""
    codec, exact = codec_for(gvk), codec_for(gvk, Reading.EXACT)
    if codec is None or exact is None:
        return None
    try:
        return decode(exact, obj), codec, True
    except Inexact:
        return decode(codec, obj), codec, False


# --- Strict decoding ---------------------------------------------------------
#
# Strict decoding: the fields of a document that its kind does not have, or that come twice.
#
# In the order in which a reader meets them, each text once, no more than `MOST`. As
# sigs.k8s.io/json `UnmarshalStrict`: what stands inside an unknown field is not looked at, nor is
# its repetition another complaint.

MOST: Final = 100
"""Complaints that a decoder collects."""

LIKENESS: Final = 0.8
"""How much alike, from 0 to 1, a misspelt name is to the right one: one letter in five is wrong."""

Steps = tuple[str | int, ...]
"""The way to a value: keys of maps, indices of lists."""

_Place: TypeAlias = "tuple[_Place, str | int] | None"
"""The same while walking, from its end: one step costs the same at any depth."""
_ROOT: Final[_Place] = None


class StrayField(NamedTuple):
    """Names a field that its kind does not have or, if it `is_repeated`, that a document has twice.
    `known_fields` are the fields that there are in its place."""

    steps: Steps
    is_repeated: bool = False
    known_fields: Collection[str] = ()

    @property
    def path(self) -> str:
        """Return the path of the field: `spec.containers[0].imge`."""
        steps = (f".{step}" if step.__class__ is str else f"[{step}]" for step in self.steps)
        return "".join(steps).removeprefix(".")

    @property
    def likely(self) -> str:
        """Return the field that was probably meant; empty if none is much like it."""
        import difflib  # late: few documents have such fields

        names = {name.lower(): name for name in self.known_fields}
        word = str(self.steps[-1]).lower()
        get_close_matches = difflib.get_close_matches(word, names, n=1, cutoff=LIKENESS)
        return names[get_close_matches[0]] if get_close_matches else ""

    @property
    def text(self) -> str:
        """Return what a decoder says of it."""
        return f"{'duplicate' if self.is_repeated else 'unknown'} field {quote(self.path)}"


_Found = dict[str, StrayField]
"""By their texts: of two fields whose paths read alike the first one counts."""


def strict_field_errors(document: Document, gvk: GroupVersionKind) -> list[StrayField]:
    """Return the stray fields of documents whose values have the types of the kind; none for kinds
    not built in."""
    codec = codec_for(gvk)
    if codec is None:
        return []
    result: _Found = {}
    _walk(document, document.value, {"ref": codec.name}, _ROOT, result)
    return _most(result)


def _most(strays: _Found) -> list[StrayField]:
    return list(strays.values())[:MOST]


def struct_field_errors(obj: JsonObject, name: str, component: str) -> list[StrayField]:
    """Return the stray fields of one member alone, whose type is a component: for objects that have
    no other types, and are read from what was written of a map. Repeated fields are not complained
    about."""
    result: _Found = {}
    value = sorted_members(obj.get(name))
    _walk(Document(value), value, {"ref": component}, (_ROOT, name), result)
    return _most(result)


def repeated_fields(document: Document) -> list[StrayField]:
    """Return the members that occur more than once, whatever they are, in the order of the
    document."""
    result: _Found = {}
    if document.repeated:
        _find_repeated(document, document.value, _ROOT, result)
    return _most(result)


def _find_repeated(document: Document, value: object, place: _Place, strays: _Found) -> None:
    if isinstance(value, dict):
        seen: set[str] = set()
        for key, item in document.members(value):
            member_place = (place, key)
            if key in seen:
                _note(member_place, strays)
            seen.add(key)
            _find_repeated(document, item, member_place, strays)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _find_repeated(document, item, (place, i), strays)


def _note(place: _Place, strays: _Found, value: JsonObject | None = None) -> None:
    """Note a field that is not `value`, or else is repeated. Only the first ones are shown."""
    if len(strays) == MOST:
        return
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    path = tuple(reversed(steps))
    stray = (
        StrayField(path, is_repeated=True)
        if value is None
        else StrayField(path, known_fields=value)
    )
    strays.setdefault(stray.text, stray)


def _walk(document: Document, value: object, node: object, place: _Place, strays: _Found) -> None:
    if not isinstance(node, dict):
        return
    if isinstance(value, list) and "items" in node:
        for i, item in enumerate(value):
            _walk(document, item, node["items"], (place, i), strays)
    elif isinstance(value, dict) and "values" in node:
        _members(document, value, None, node["values"], place, strays)
    elif isinstance(value, dict) and "ref" in node and node["ref"] not in SPECIAL:
        _members(document, value, struct_codec(node["ref"]).field_nodes, None, place, strays)


def _members(
    document: Document,
    obj: JsonObject,
    fields: JsonObject | None,
    values: object,
    place: _Place,
    strays: _Found,
) -> None:
    """`fields` of a struct, or None for a map whose values are all of the node `values`."""
    seen: set[str] = set()
    for key, item in document.members(obj):
        member_place = (place, key)
        if fields is not None and key not in fields:
            _note(member_place, strays, fields)
            continue
        if key in seen:
            _note(member_place, strays)
        seen.add(key)
        _walk(document, item, values if fields is None else fields[key], member_place, strays)
