"""One mutation: what its expression has come to, put into the object.

    patch(value, live, data)      the object as it becomes, for the kinds to read

As k8s.io/apiserver `pkg/admission/plugin/policy/mutating/patch`.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from celadon.cel import value_functions
from celadon.cel.extend import NONE, Duration, Opaque, Optional, Timestamp, Uint, types
from celadon.kube import GroupVersionKind, Json, JsonObject, StatusError
from celadon.kube.fieldmanager import (
    NIL_LIST,
    ForeignValue,
    MutatedKinds,
    MutationRefused,
    Patched,
)
from celadon.kube.go import ADDRESS, MONTHS, go_json, quote, sorted_members
from celadon.kube.json_types import JsonDict
from celadon.kube.library import (
    CIDR,
    IP,
    NamedFormat,
    PatchObject,
    PatchOperation,
    Semver,
    unwrapped,
)
from celadon.kube.protobuf import in_message_order
from celadon.kube.registry import JsonPatchError, apply_json_patch, patch

# --- Go values ---------------------------------------------------------------
#
# Values that JSON does not have, as Go prints what upstream takes for them.
#
# An apply configuration with one of them fits no schema; the text that says so shows the value.

NULL: Final = ForeignValue("structpb.NullValue", "NULL_VALUE", "0")
"""A null of an expression; one that is in the data of a request is JSON's."""

_SECONDS_PER_DAY: Final = 86_400
_EMBEDDED: Final = {
    "cel.CIDR": "Prefix",
    "cel.IP": "Addr",
    "cel.Quantity": "Quantity",
    "cel.Semver": "Version",
    "cel.URL": "URL",
}
"""The field in which a type of Go holds what it is."""
_POINTERS: Final = {
    "kubernetes.NamedFormat": "*apiservercel.Format",
    "kubernetes.Quantity": "*resource.Quantity",
    "kubernetes.URL": "*url.URL",
}


def foreign(value: object) -> ForeignValue:
    """Return what stands for a value that is neither JSON's nor an object of a patch."""
    match value:
        case None:
            return NULL
        case Uint():
            return ForeignValue("uint64", str(int(value)), hex(value), value)
        case bytes():
            return ForeignValue(
                "[]uint8", value_functions.display(value), f"[]uint8{_octets(value)}", value
            )
        case Duration():
            return ForeignValue(
                "time.Duration", value_functions.display(value), str(value.nanoseconds)
            )
        case Timestamp():
            return ForeignValue("time.Time", value_functions.display(value), _written_time(value))
        case Opaque():
            type_, written = _opaque(value)
            return ForeignValue(type_, value.display(), written)
        case list():
            shown = f"[{' '.join(map(_shown, value))}]"
            items = ", ".join(map(_inside, value))
            return ForeignValue("[]ref.Val", shown, f"[]ref.Val{{{items}}}")
    entries = value if isinstance(value, Mapping) else {}
    pairs = sorted(f"{_shown(key)}:{_shown(entry)}" for key, entry in entries.items())
    members = ", ".join(f"{_inside(key)}:{_inside(entry)}" for key, entry in entries.items())
    return ForeignValue(
        "map[ref.Val]ref.Val", f"map[{' '.join(pairs)}]", f"map[ref.Val]ref.Val{{{members}}}"
    )


def _shown(value: object) -> str:
    """Print a value of the language that is inside of a list or map as `%v` does: lists and maps
    further inside print themselves."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{_shown(key)}: {_shown(member)}" for key, member in value.items())
        return f"{{{', '.join(pairs)}}}"
    return value_functions.display(value)


def _inside(value: object) -> str:
    """Print a value of the language that is inside of a list or map as `%#v` does."""
    match value:
        case str():
            return quote(value)
        case Uint():
            return hex(value)
        case bytes():
            return f"types.Bytes{_octets(value)}"
        case Duration():
            return f"types.Duration{{Duration:{value.nanoseconds}}}"
        case Timestamp():
            return _written_time(value)
        case list():
            return f"(*types.baseList)({ADDRESS})"
        case Mapping():
            return f"(*types.baseMap)({ADDRESS})"
        case types.Type():
            return f"(*types.Type)({ADDRESS})"
        case Optional():
            return f"(*types.Optional)({ADDRESS})"
        case Opaque():
            written, field = _opaque(value)[1], _EMBEDDED.get(value.go_name)
            return f"{value.go_name}{{{field}:{written}}}" if field else written
    return value_functions.display(value)


def _opaque(value: Opaque) -> tuple[str, str]:
    """Return the type that upstream takes for an opaque value, and the value as `%#v` prints it."""
    match value:
        case IP():
            return "netip.Addr", _written_address(value.addr)
        case CIDR():
            ip, bits = _written_address(value.prefix.addr), hex(value.prefix.length + 1)
            return "netip.Prefix", f"netip.Prefix{{ip:{ip}, bitsPlusOne:{bits}}}"
        case Semver():
            return "semver.Version", _written_version(value)
        case NamedFormat():
            function = f"(func(string) []string)({ADDRESS})"
            size = value.regex_size
            return (
                "*apiservercel.Format",
                f"cel.Format{{Name:{quote(value.rule.title)}, ValidateFunc:{function}, "
                f"MaxRegexSize:{size}}}",
            )
    type_ = _POINTERS.get(value.cel_type.name, value.go_name)
    return type_, f"({type_})({ADDRESS})"


def _octets(value: bytes) -> str:
    return f"{{{', '.join(map(hex, value))}}}"


def _written_version(value: Semver) -> str:
    version = value.version
    numbers = f"Major:{version.major:#x}, Minor:{version.minor:#x}, Patch:{version.patch:#x}"
    words = [
        f'semver.PRVersion{{VersionStr:"", VersionNum:{word:#x}, IsNum:true}}'
        if isinstance(word, int)
        else f"semver.PRVersion{{VersionStr:{quote(word)}, VersionNum:0x0, IsNum:false}}"
        for word in version.prerelease
    ]
    prerelease = f"{{{', '.join(words)}}}" if words else "(nil)"
    build = f"{{{', '.join(map(quote, version.build))}}}" if version.build else "(nil)"
    return f"semver.Version{{{numbers}, Pre:[]semver.PRVersion{prerelease}, Build:[]string{build}}}"


def _written_time(time: Timestamp) -> str:
    days, of_day = divmod(time.seconds + time.offset_minutes * 60, _SECONDS_PER_DAY)
    year, month, day = value_functions.civil_from_days(days)
    hour, rest = divmod(of_day, 3600)
    minute, second = divmod(rest, 60)
    zone = "time.UTC" if time.offset_minutes == 0 else 'time.Location("")'
    date = f"{year}, time.{MONTHS[month - 1]}, {day}"
    return f"time.Date({date}, {hour}, {minute}, {second}, {time.nanos}, {zone})"


def _written_address(address: value_functions.netaddr.Addr) -> str:
    number = address.value
    if address.is_v4:
        number |= 0xFFFF << 32
    high, low = number >> 64, number & (1 << 64) - 1
    detail = f"unique.Handle[net/netip.addrDetail]{{value:(*netip.addrDetail)({ADDRESS})}}"
    return f"netip.Addr{{addr:netip.uint128{{hi:{hex(high)}, lo:{hex(low)}}}, z:{detail}}}"


# --- Native values -----------------------------------------------------------
#
# Objects that expressions construct, as the configurations that are merged.
#
# Upstream takes the fields of an `Object{…}` apart one by one: texts, numbers and booleans,
# objects inside, lists and maps of these. A list or a map that a literal has made inside
# another list or map stays what it is in the language, and fits no schema; one that comes out
# of the data of the request is JSON, at any depth. So it matters where a list comes from, which
# is known by its identity.
#
# As k8s.io/apiserver `pkg/cel/mutation/dynamic/objects.go`.

_SCALARS = frozenset({str, bool, int, float})
_JSON = _SCALARS | {dict, list}


class DataValues:
    """The lists and maps that come out of the data of a request. They are looked for when somebody
    asks first: most configurations have nothing of the kind. `text_lists` are the fields, by type,
    of lists that Go holds as texts."""

    __slots__ = ("_ids", "_roots", "text_lists")

    def __init__(
        self, roots: Iterable[object], text_lists: Collection[tuple[str, str]] = ()
    ) -> None:
        self.text_lists = text_lists
        self._roots = tuple(roots)
        self._ids: set[int] | None = None

    def __contains__(self, value: object) -> bool:
        if self._ids is None:
            self._ids = {id(container) for root in self._roots for container in _containers(root)}
        return id(value) in self._ids


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
    """Raise MutationRefused unless the types of all objects inside are named after their paths."""
    wrong = list(_wrong_names(value, value.cel_type.name))
    if wrong:
        raise MutationRefused("type mismatch: " + "\n".join(wrong))


def _wrong_names(value: object, path: str) -> Iterator[str]:
    """Yield what is wrong with names of types. Items of a list and values of a map have the path of
    the list or map."""
    if isinstance(value, PatchObject):
        name = value.cel_type.name
        if name != path:
            yield (
                f"unexpected type name {quote(name)}, expected {quote(path)}, "
                "which matches field name path from root Object type"
            )
        for field, member in value.fields.items():
            if member.__class__ not in _SCALARS:
                yield from _wrong_names(member, f"{path}.{field}")
    elif isinstance(value, list):
        for item in value:
            yield from _wrong_names(item, path)
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _wrong_names(member, path)


class _BadKey(MutationRefused):
    """Says which field of an object is a map with a key that is no text."""


def configuration(value: PatchObject, data: DataValues) -> JsonObject:
    """Return the fields of an object; values that JSON does not have are foreign.
    MutationRefused."""
    try:
        return _fields(value, data)
    except _BadKey:
        raise MutationRefused("invalid return type: *dynamic.ObjectVal") from None


def _fields(value: PatchObject, data: DataValues) -> JsonObject:
    """Return the same; _BadKey tells of the field."""
    result: JsonDict = {}
    for field, member in value.fields.items():
        if data.text_lists and (value.cel_type.name, field) in data.text_lists:
            result[field] = _text_list(member)
            continue
        try:
            result[field] = _field(member, data)
        except _BadKey as error:
            raise _BadKey(f"fail to convert field {quote(field)}: {error}") from None
    return result


def _text_list(value: object) -> object:
    texts = unwrapped(value)
    if not isinstance(texts, list):
        return NULL
    written = f"{{{', '.join(map(quote, texts))}}}" if texts else "(nil)"
    return ForeignValue("[]string", f"[{' '.join(texts)}]", f"[]string{written}")


def _field(value: object, data: DataValues) -> object:
    """Return the value of a field as JSON. Lists and maps are taken apart, once."""
    value = unwrapped(value)
    shape = value.__class__
    if shape in _SCALARS:
        return value
    if isinstance(value, list):
        if not value:
            return value if value in data else NIL_LIST
        if _is_plain(value) or (_may_be_data(value) and value in data):
            return value
        return [_inner(item, data) for item in value]
    if isinstance(value, Mapping):
        is_plain = _is_plain(value)
        if is_plain and shape is dict and _is_plain(value.values()):
            return value
        if _may_be_data(value.values()) and value in data:
            return value
        return {_field_key(key): _inner(member, data) for key, member in value.items()}
    return _inner(value, data)


def _field_key(key: object) -> str:
    """Return the key of a member in a field. _BadKey for what is neither a text nor a type."""
    value = unwrapped(key)
    if isinstance(value, types.Type):
        return value.name
    if isinstance(value, str):
        return value
    name = value_functions.go_name(key)
    raise _BadKey(f"map key {_quoted_key(key, name)} is of type {name}, not string")


def _quoted_key(key: object, name: str) -> str:
    """Print a key as `%q` does: integers are characters, and what has a text is quoted."""
    match key:
        case bool() | float():
            return f"%!q({name}={value_functions.display(key)})"
        case None | int():
            code = key or 0
            char = chr(code) if 0 <= code <= sys.maxunicode else "\ufffd"
            return f"'{_IN_APOSTROPHES.get(char) or quote(char)[1:-1]}'"
    return quote(_shown(key))


_IN_APOSTROPHES: Final[Mapping[str, str]] = {"'": "\\'", '"': '"'}


def _is_plain(values: Iterable[object]) -> bool:
    """Return whether all values are texts."""
    return all(value.__class__ is str for value in values)


def _may_be_data(values: Iterable[object]) -> bool:
    """Tell, cheaper than by looking into them, whether values may be JSON: not if there is anything
    among them that JSON does not have."""
    return all(value is None or value.__class__ in _JSON for value in values)


def _inner(value: object, data: DataValues) -> object:
    value = unwrapped(value)
    if value.__class__ in _SCALARS:
        return value
    if isinstance(value, PatchObject):
        try:
            return _fields(value, data)
        except _BadKey as error:
            return ForeignValue("*types.Err", str(error), f"(*types.Err)({ADDRESS})")
    if isinstance(value, types.Type):
        return value.name
    if value is NONE or value in data:
        return None if value is NONE else value
    return foreign(value)


# --- Patch json --------------------------------------------------------------
#
# Values of the language as JSON: what a JSON patch writes.
#
# As the conversions to `structpb.Value` in cel-go `common/types`, which know no integers beyond
# those that a double holds exactly (they become texts), and the encoding of that.

LARGEST_EXACT: Final = (1 << 53) - 1
_EXPONENT_FROM: Final = 1e21
_NO_JSON: Final = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "
_TARGET: Final = "*structpb.Value"


def json_value(value: object, data: DataValues) -> Json:
    """Return a JSON value. MutationRefused for what is none."""
    if isinstance(value, PatchObject):
        require_type_names(value)
    try:
        return _converted(value, data)
    except MutationRefused as error:
        raise MutationRefused(f"{_NO_JSON}{error}") from None


def _converted(value: object, data: DataValues) -> Json:
    match value:
        case None | bool() | str():
            return value
        case Uint() | int():
            number = int(value)
            return number if abs(number) <= LARGEST_EXACT else str(number)
        case float():
            return _number(value)
        case bytes():
            return base64.b64encode(value).decode()
        case list():
            return [_converted(item, data) for item in value]
        case Mapping():
            return {_key(key): _converted(member, data) for key, member in value.items()}
        case Timestamp():
            return value_functions.format_timestamp(value)
        case Duration():
            return value_functions.duration_to_string(value)
        case PatchObject():
            return _in_doubles(_fields(value, data))
        case PatchOperation():
            raise MutationRefused(f"cannot convert to native type: {_TARGET}")
        case types.Type():
            raise MutationRefused("type conversion not supported for 'type'")
        case Opaque():
            raise MutationRefused(
                f"type conversion error from '{_opaque_name(value)}' to '{_TARGET}'"
            )
    if value is NONE:
        raise MutationRefused("optional.none() dereference")
    return _converted(unwrapped(value), data)


def _opaque_name(value: Opaque) -> str:
    """Return the name of a type in errors: those of authorizers have their package with them."""
    name = value.cel_type.name
    return name if name.startswith(_AUTHORIZATION) else name.rpartition(".")[2]


_AUTHORIZATION: Final = "kubernetes.authorization."


def _number(value: float) -> int | float:
    """Return the number as it is read again: without a fraction it is an integer."""
    if math.isnan(value) or math.isinf(value):
        text = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise MutationRefused(
            f"json: error calling MarshalJSON for type {_TARGET}: proto:\u00a0"
            f"google.protobuf.Value.number_value: invalid {text} value"
        )
    return int(value) if value.is_integer() and abs(value) < _EXPONENT_FROM else value


def _key(key: object) -> str:
    """Return the key of a member; values of Kubernetes' own types are texts then.
    MutationRefused."""
    if isinstance(key, str):
        return key
    value = unwrapped(key)
    if isinstance(value, Opaque):
        return _text_of(value)
    if value is NONE:
        raise MutationRefused("optional.none() dereference")
    raise MutationRefused(_no_key(value))


def _text_of(value: Opaque) -> str:
    name = _opaque_name(value)
    if name.startswith(_AUTHORIZATION) or isinstance(value, NamedFormat):
        raise MutationRefused(f"type conversion error from '{name}' to 'string'")
    return value.display()


def _no_key(key: object) -> str:
    """Return why a key is no text: each type of cel-go has words of its own."""
    if isinstance(key, types.Type):
        return "type conversion not supported for 'type'"
    if isinstance(key, int) and not isinstance(key, bool):
        name = "uint" if isinstance(key, Uint) else "int"
        return f"unsupported type conversion from '{name}' to string"
    return f"type conversion error from {_NO_KEYS.get(key.__class__, 'map')} to 'string'"


_NO_KEYS: Final[Mapping[type, str]] = {
    bool: "bool",
    float: "Double",
    list: "list",
    type(None): "'null_type'",
    Duration: "'Duration'",
    Timestamp: "'Timestamp'",
}


def _in_doubles(value: object) -> Json:
    """Return the fields of an object, whose numbers lose what a double does not hold."""
    match value:
        case dict():
            return {key: _in_doubles(member) for key, member in value.items()}
        case list():
            return [_in_doubles(item) for item in value]
        case None | bool() | str():
            return value
        case int() | float():
            return _number(float(value))
        case ForeignValue(value=Uint() as number):
            return _number(float(number))
        case ForeignValue(value=bytes() as content):
            return base64.b64encode(content).decode()
        case ForeignValue():
            raise MutationRefused(f"proto:\u00a0invalid type: {value.go_type}")
    raise AssertionError("a configuration is JSON but for foreign values")


def apply_configuration(
    value: PatchObject,
    live: JsonObject,
    data: DataValues,
    kinds: MutatedKinds,
    kind: GroupVersionKind,
    expected: GroupVersionKind,
) -> Patched:
    """Return the object with a constructed configuration in it. MutationRefused."""
    _refuse_large([value])
    config = None if data.text_lists else kinds.fitting(value, kind)
    if config is not None:
        return Patched(kinds.merged(live, config, kind, expected, fits=True))
    require_type_names(value)
    config = {**configuration(value, data), "apiVersion": kind.api_version, "kind": kind.kind}
    return Patched(kinds.merged(live, config, kind, expected))


def apply_patch(
    value: Sequence[object],
    live: JsonObject,
    data: DataValues,
    kinds: MutatedKinds,
    kind: GroupVersionKind,
    expected: GroupVersionKind,
) -> Patched:
    """Return the object with the operations applied; the same where a `test` does not hold.
    MutationRefused; StatusError (500) for a document that cannot be read."""
    made = [unwrapped(operation) for operation in value]
    _refuse_large([operation["value"] for operation in made if operation.has_value])
    operations = [_operation(operation, data) for operation in made]
    try:
        try:
            document: Json = apply_json_patch(live, operations, raw_nulls=True)
            document = patch.with_raw_patched(live, document, lambda: _as_written(operations))
            return kinds.patched(document, kind, expected)
        except StatusError:  # which names members as Go has written them
            written = [sorted_members(operation) for operation in operations]
            ordered = in_message_order(live)
            document = apply_json_patch(ordered, written, raw_nulls=True, as_written=True)
            return kinds.patched(document, kind, expected)
    except JsonPatchError as error:
        if error.is_test:
            return Patched(live)
        raise MutationRefused(f"JSON Patch: {error}") from None


MOST_WRITTEN: Final = 64 << 20
"""Characters, and parts of some characters each, that one mutation writes: no store takes more."""
_PART: Final = 8


def _refuse_large(values: Iterable[object]) -> None:
    """Raise MutationRefused for what is small as long as it is shared, and larger than memory once
    it is written."""
    left = MOST_WRITTEN
    pending = list(values)
    while pending:
        part = unwrapped(pending.pop())
        if isinstance(part, PatchObject):
            pending += part.fields.values()
        elif isinstance(part, str):
            left -= len(part)
        elif isinstance(part, list | Mapping):
            left -= _PART * len(part)
            if left >= 0:
                pending += part if isinstance(part, list) else part.values()
        if left < 0:
            raise MutationRefused(f"more than {MOST_WRITTEN} characters would be written")


def _operation(value: object, data: DataValues) -> JsonObject:
    assert isinstance(value, PatchOperation), "the checker knows the type of the items"
    result: dict[str, Json] = {}
    for name in ("op", "path", "from"):
        text = value[name]
        if (text or name != "from") and _is_json(text):
            result[name] = text
    if value.has_value:
        result["value"] = json_value(value["value"], data)
    return result


def _as_written(operations: Sequence[JsonObject]) -> list[JsonObject]:
    """Return operations with their values as Go's JSON has them."""
    return [
        {**operation, "value": sorted_members(go_json.as_written(operation["value"]))}
        if "value" in operation
        else operation
        for operation in operations
    ]


def _is_json(text: str) -> bool:
    """Return whether the text can be read again as upstream writes it: with Go's escapes."""
    if text.isprintable():
        return True
    try:
        json.loads(quote(text), strict=False)
    except ValueError:
        return False
    return True
