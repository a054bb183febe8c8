"""Objects as the API server has them inside, and the differences in which that shows.

Inside, fields have their Go names and an order of their own, nothing is left out, and a few stand
elsewhere than in `v1`. The types stand in the columns `internal` of `data/schemas`, of which the
pack `internals` is made: by the name of a type (`core.v1.PodSpec`), each field as its name, its
name in JSON, and its type: `s` (text), `n` (number), `b` (boolean), `q` (quantity), `x` (anything,
as it is), `l` (label selector) or the name of another type; `*T` may be null, `[]T` and `{}T` are
null when empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from celadon.kube.go.go_cmp import reported_difference
from celadon.kube.go.go_text import GoValue
from celadon.kube.go.go_types import embedded_struct, type_name
from celadon.kube.go.go_values import (
    GoData,
    Kind,
    go_list,
    go_map,
    go_number,
    go_pointer,
    go_struct,
    go_text,
)
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.protobuf.message_table import ordered_message
from celadon.kube.quantity import (
    EXACT,
    MILLI,
    NANO,
    Format,
    Quantity,
    QuantityError,
    parse_amounts,
    parse_sent,
    quantities_of_store,
)
from celadon.kube.releases import is_since, per_release
from celadon.kube.schemas import schema_packs
from celadon.kube.validation.format_checks import printed_selector
from celadon.kube.well_known_values import ZERO_TIME

OF_POD: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields that a pod has in `v1` and its security context inside."""

CLAIM_SPEC: Final = "core.v1.PersistentVolumeClaimSpec"
_TEMPLATE: Final = "volumeClaimTemplate"
_ZEROS: Final[JsonObject] = {"s": "", "n": 0, "b": False, "q": "0", "x": 0}


class Field(NamedTuple):
    """A member of a type: what it is called inside and in `v1`, and its type."""

    name: str
    key: str
    type: str


@per_release()
def fields_of(type_: str) -> tuple[Field, ...]:
    """Return the members of a type, in order."""
    return tuple(
        Field(*text.split()) for text in schema_packs.of_type("internals", type_).split(";")
    )


def internal_pod_spec(spec: JsonObject) -> JsonDict:
    """Return a spec of `v1` as it is inside."""
    return internal_value(with_host_fields_inside(spec), "core.v1.PodSpec")


def with_host_fields_inside(spec: JsonObject) -> JsonObject:
    """Return a spec of `v1` whose security context holds what it holds inside."""
    host = {field: spec[field] for field in OF_POD if field in spec}
    context = {**(spec.get("securityContext") or {}), **host}
    return {**spec, "securityContext": context}


def internal_template(template: JsonObject) -> JsonDict:
    """Return a template of pods as it is inside: its metadata is the same outside, and lies
    open."""
    spec = internal_pod_spec(template.get("spec") or {})
    return {**internal_metadata(template), "Spec": spec}


def internal_metadata(obj: JsonObject) -> JsonDict:
    """Return the metadata of an object or a template as Go writes them: structs in their own order,
    maps by their keys."""
    meta = ordered_message(obj.get("metadata") or {}, "meta.v1.ObjectMeta")
    for field in ("labels", "annotations"):
        if field in meta:
            meta[field] = dict(sorted(meta[field].items()))
    return {field: value for field, value in meta.items() if value not in ([], {})}


def internal_value(obj: JsonObject, type_: str) -> JsonDict:
    """Return a part of an object as it is inside; `type_` is a key of the pack."""
    return {
        field.name: _claim_template(obj.get(field.key))
        if field.key == _TEMPLATE
        else _value(obj.get(field.key), field.type)
        for field in fields_of(type_)
    }


def _claim_template(template: JsonObject | None) -> JsonDict | None:
    """Return a template of claims, whose metadata lies open as that of pods does."""
    if template is None:
        return None
    spec = internal_value(template.get("spec") or {}, CLAIM_SPEC)
    return {**internal_metadata(template), "Spec": spec}


def _value(value: Any, kind: str) -> Any:
    if kind.startswith("*"):
        return None if value is None else _value(value, kind[1:])
    inner = kind[2:]
    if kind.startswith("[]"):
        return None if value is None else [_value(item, inner) for item in value]
    if kind.startswith("{}"):
        return None if value is None else {key: _value(value[key], inner) for key in sorted(value)}
    if kind == "l":
        return printed_selector(value)
    if kind in _ZEROS:
        return _ZEROS[kind] if value is None else value
    return internal_value(value or {}, kind)


# --- With the types of Go ----------------------------------------------------
#
# Specs as the API server has them inside, with the types and embedded structs of Go.
#
# The fields are those of the section before; what is embedded, and which types have a name, says
# `celadon.kube.go.go_types`.


def internal_go_struct(obj: JsonObject, type_: str) -> GoData:
    """Return a part of an object as a struct of the inside; `type_` is a key of the pack
    `internals`."""
    package, _, struct = type_.partition(".v1.")
    members: dict[str, GoData] = {}
    embedded: dict[str, dict[str, GoData]] = {}
    for field in fields_of(type_):
        outer = embedded_struct(struct, field.key)
        value = _member(obj.get(field.key), field, package, struct)
        if not outer:
            members[field.name] = value
            continue
        inner = embedded.setdefault(outer, {})
        inner[field.name] = value
        members[outer] = go_struct(f"{package}.{outer}", inner)
    return go_struct(f"{package}.{struct}", members)


def go_pod_spec(spec: JsonObject) -> GoData:
    """Return a spec of a pod as Go prints it."""
    return internal_go_struct(with_host_fields_inside(spec), "core.v1.PodSpec")


def shown_template(template: JsonObject) -> GoValue:
    """Return a template of pods, for those who complain of it."""
    printed = internal_template(template)
    return GoValue(printed, data=None if is_since("1.34") else _go_template(template))


def _go_template(template: JsonObject) -> GoData:
    spec = go_pod_spec(template.get("spec") or {})
    members = {"ObjectMeta": _go_metadata(template.get("metadata") or {}), "Spec": spec}
    return go_struct("core.PodTemplateSpec", members)


def _go_metadata(meta: JsonObject) -> GoData:
    """Metadata of a template, where nothing of it is refused."""
    owners, managers = meta.get("ownerReferences"), meta.get("managedFields")
    members = {
        "Name": go_text(meta.get("name") or ""),
        "GenerateName": go_text(meta.get("generateName") or ""),
        "Namespace": go_text(meta.get("namespace") or ""),
        "SelfLink": go_text(meta.get("selfLink") or ""),
        "UID": go_text(meta.get("uid") or ""),
        "ResourceVersion": go_text(meta.get("resourceVersion") or ""),
        "Generation": go_number(meta.get("generation") or 0, "int64"),
        "CreationTimestamp": _time(meta.get("creationTimestamp")),
        "DeletionTimestamp": _time_pointer(meta.get("deletionTimestamp")),
        "DeletionGracePeriodSeconds": _go_value(meta.get("deletionGracePeriodSeconds"), "*n"),
        "Labels": _go_value(meta.get("labels"), "{}s"),
        "Annotations": _go_value(meta.get("annotations"), "{}s"),
        "OwnerReferences": _go_structs(owners, _owner, "v1.OwnerReference"),
        "Finalizers": _go_value(meta.get("finalizers"), "[]s"),
        "ManagedFields": _go_structs(managers, _manager, "v1.ManagedFieldsEntry"),
    }
    return go_struct("v1.ObjectMeta", members)


def _go_structs(
    items: Sequence[JsonObject] | None, struct: Callable[[JsonObject], GoData], type_: str
) -> GoData:
    return go_list(None if items is None else [struct(item) for item in items], type_)


def _owner(owner: JsonObject) -> GoData:
    members = {
        "APIVersion": go_text(owner.get("apiVersion") or ""),
        "Kind": go_text(owner.get("kind") or ""),
        "Name": go_text(owner.get("name") or ""),
        "UID": go_text(owner.get("uid") or ""),
        "Controller": _go_value(owner.get("controller"), "*b"),
        "BlockOwnerDeletion": _go_value(owner.get("blockOwnerDeletion"), "*b"),
    }
    return go_struct("v1.OwnerReference", members)


def _manager(entry: JsonObject) -> GoData:
    fields = entry.get("fieldsV1")
    members = {
        "Manager": go_text(entry.get("manager") or ""),
        "Operation": go_text(entry.get("operation") or ""),
        "APIVersion": go_text(entry.get("apiVersion") or ""),
        "Time": _time_pointer(entry.get("time")),
        "FieldsType": go_text(entry.get("fieldsType") or ""),
        "FieldsV1": go_pointer(None if fields is None else go_struct("", {}), "v1.FieldsV1"),
        "Subresource": go_text(entry.get("subresource") or ""),
    }
    return go_struct("v1.ManagedFieldsEntry", members)


def _time_pointer(value: Any) -> GoData:
    return go_pointer(None if value is None else _time(value), "v1.Time")


def go_volume_source(spec: JsonObject) -> GoData:
    """Return the source of a PersistentVolume with this spec."""
    members = internal_go_struct(spec, "core.v1.PersistentVolumeSpec").members or {}
    return members["PersistentVolumeSource"]


def internal_go_list(items: Sequence[JsonObject], type_: str) -> GoData:
    """Return a list of parts as they are inside."""
    return go_list([internal_go_struct(item, type_) for item in items], type_.replace(".v1.", "."))


def _member(value: Any, field: Field, package: str, struct: str) -> GoData:
    special = _SPECIAL.get(field.key) if field.type.strip("*") == "x" else None
    if special is not None:
        return special(value)
    named = type_name(struct, field.key)
    mark, name = (named[:2], named[2:]) if named[:2] in ("{}", "[]") else ("", named)
    of_type = f"{package}.{name}" if name else ""
    if field.type in _SCALAR_POINTERS:
        target = None if value is None else _go_value(value, field.type[1:])
        return go_pointer(target, of_type or _scalar_type(field, package, struct))
    return _go_value(value, field.type, mark, of_type)


_SCALAR_POINTERS: Final = ("*s", "*n", "*b")


def _scalar_type(field: Field, package: str, struct: str) -> str:
    """Return the type of a scalar without a name."""
    if field.type == "*n":
        fields = schema_packs.of_type("schemas", f"io.k8s.api.{package}.v1.{struct}")["fields"]
        if fields.get(field.key) == "i":
            return "int32"
    return _NAMES[field.type[1:]]


def _go_value(value: Any, kind: str, mark: str = "", named: str = "") -> GoData:
    """`named` is the name of the type, or that of its items; `mark` tells which."""
    inner = kind[2:]
    if kind.startswith("*"):
        target = None if value is None else _go_value(value, kind[1:])
        return go_pointer(target, _NAMES.get(kind[1:]) or kind[1:].replace(".v1.", "."))
    if kind.startswith("[]"):
        items = None if value is None else [_go_value(item, inner) for item in value]
        return go_list(items, named or _NAMES.get(inner) or inner.replace(".v1.", "."))
    if kind.startswith("{}"):
        member = _listed_quantity if inner == "q" else partial(_go_value, kind=inner)
        entries = None if value is None else {key: member(value[key]) for key in value}
        if mark == "{}":
            return go_map(entries, named, names_keys=True)
        return go_map(entries, f"map[string]{_NAMES[inner]}")
    if named == "core.ResourceName" and not mark:
        return GoData(named, Kind.TEXT, text=value or "", string=value or "")
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    return internal_go_struct(value or {}, kind)


def _quantity(value: Any) -> GoData:
    """Return an amount, which knows by itself whether it is equal to another."""
    written = _canonical(value)
    amount = parse_sent(written) if written else _NO_AMOUNT
    return _go_amount(amount, written, -NANO if amount.sign else 0)


def _listed_quantity(value: Any) -> GoData:
    """Return an amount of a resource list, where defaults rounded it up to a thousandth."""
    written = _canonical(value)
    amount = parse_sent(written) if written else _NO_AMOUNT
    return _go_amount(amount.round_up(MILLI), written, -MILLI)


_NO_AMOUNT: Final = Quantity(0, format=Format.NONE)


def _go_amount(amount: Quantity, written: str, places: int) -> GoData:
    """Return what Go holds of an amount: its number and its power of ten or, where no int64 does, a
    decimal with so many places; its format; and its text, if that is surely in canonical form."""
    exact = amount.exact
    small = go_struct(
        "resource.int64Amount",
        {
            "value": go_number(amount.mantissa, "int64"),
            "scale": go_number(amount.scale, "resource.Scale"),
        },
    )
    decimal = None if exact is None else go_struct("inf.Dec", {})
    members = {
        "i": small,
        "d": GoData(
            "resource.infDecAmount",
            Kind.STRUCT,
            {"Dec": go_pointer(decimal, "inf.Dec")},
            string=None if exact is None else f"{exact:.{places}f}",
        ),
        "s": go_text(amount.text),
        "Format": go_text(amount.format.value),
    }
    return GoData(
        "resource.Quantity",
        Kind.STRUCT,
        members,
        text=str(EXACT.normalize(amount.as_decimal())),
        shown_by_pointer=written,
        compares=True,
    )


def _canonical(value: Any) -> str:
    """Return an amount as it is stored; empty for none."""
    try:
        return "" if value is None else str(parse_amounts(str(value)))
    except QuantityError:
        return ""


def _selector(value: JsonObject) -> GoData:
    labels: Mapping[str, str] = value.get("matchLabels") or {}
    requirements = value.get("matchExpressions") or []
    members = {
        "MatchLabels": _go_value(value.get("matchLabels"), "{}s"),
        "MatchExpressions": go_list(
            [_requirement(requirement) for requirement in requirements] if requirements else None,
            "v1.LabelSelectorRequirement",
        ),
    }
    printed = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    of_requirements = "".join(
        f"LabelSelectorRequirement{{Key:{requirement.get('key') or ''},"
        f"Operator:{requirement.get('operator') or ''},"
        f"Values:[{' '.join(requirement.get('values') or ())}],}},"
        for requirement in requirements
    )
    text = (
        f"&LabelSelector{{MatchLabels:map[string]string{{{printed}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{of_requirements}}},}}"
    )
    return GoData("v1.LabelSelector", Kind.STRUCT, members, shown_by_pointer=text)


def _requirement(value: JsonObject) -> GoData:
    members = {
        "Key": go_text(value.get("key") or ""),
        "Operator": go_text(value.get("operator") or ""),
        "Values": _go_value(value.get("values"), "[]s"),
    }
    return go_struct("v1.LabelSelectorRequirement", members)


def _int_or_string(value: Any) -> GoData:
    is_text = isinstance(value, str)
    members = {
        "Type": go_number(int(is_text), "intstr.Type"),
        "IntVal": go_number(0 if is_text else value or 0, "int32"),
        "StrVal": go_text(value if is_text else ""),
    }
    return go_struct("intstr.IntOrString", members)


def _time(value: Any) -> GoData:
    """`2001-01-01 00:00:00 +0000 UTC`, which it says by itself."""
    timestamp = str(value or ZERO_TIME)
    message = f"{timestamp.removesuffix('Z').replace('T', ' ')} +0000 UTC"
    text = "" if value is None else timestamp
    inner = GoData(
        "time.Time", Kind.STRUCT, _marked(text), text=text, string=message, compares=True
    )
    return GoData("v1.Time", Kind.STRUCT, {"Time": inner}, string=message)


def _marked(text: str) -> Mapping[str, GoData]:
    return {"ext": go_text(text)}


def _go_claim_template(value: JsonObject | None) -> GoData:
    type_ = "core.PersistentVolumeClaimTemplate"
    if value is None:
        return go_pointer(None, type_)
    meta = value.get("metadata") or {}
    of_meta = {
        "CreationTimestamp": _time(None),
        "Labels": _go_value(meta.get("labels"), "{}s"),
        "Annotations": _go_value(meta.get("annotations"), "{}s"),
    }
    members = {
        "ObjectMeta": go_struct("v1.ObjectMeta", of_meta),
        "Spec": internal_go_struct(value.get("spec") or {}, CLAIM_SPEC),
    }
    template = GoData(type_, Kind.STRUCT, members, shown_by_pointer=_SHOWN_METADATA)
    return go_pointer(template, type_)


_SHOWN_METADATA: Final = (
    "&ObjectMeta{Name:,GenerateName:,Namespace:,SelfLink:,UID:,ResourceVersion:,Generation:0,"
    "CreationTimestamp:0001-01-01 00:00:00 +0000 UTC,DeletionTimestamp:<nil>,"
)
"""What a template says of itself, as the metadata that it embeds; reports cut it before this ends.
"""
_NAMES: Final = {
    "s": "string",
    "n": "int64",
    "b": "bool",
    "q": "resource.Quantity",
    "l": "v1.LabelSelector",
}
_SCALARS: Final[Mapping[str, Callable[[Any], GoData]]] = {
    "s": lambda value: go_text(value or ""),
    "n": lambda value: go_number(value or 0, "int64"),
    "b": lambda value: GoData("bool", Kind.PLAIN, text=str(bool(value)).lower()),
    "q": _quantity,
    "l": _selector,
    "x": lambda value: go_text(str(value or "")),
}
_SPECIAL: Final[Mapping[str, Callable[[Any], GoData]]] = {
    "lastTransitionTime": _time,
    "lastUpdateTime": _time,
    "port": _int_or_string,
    "volumeClaimTemplate": _go_claim_template,
}
"""Fields that the pack takes as they are."""


# --- Differences -------------------------------------------------------------
#
# The difference of two specs, as an API server prints it where one may not change.
#
# As k8s.io/apimachinery `pkg/util/diff`: both as indented JSON, compared line by line. Before 1.34
# it is what github.com/google/go-cmp reports (`celadon.kube.go.go_cmp`).

MOST_COMPARED: Final = 10_000
"""Lines that are compared each with each, to say what has changed."""
_HTML: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_HEADERS: Final = 2
"""Lines with the names of the files, which there are none of."""
_EPHEMERAL: Final = "core.v1.EphemeralContainer"
_SIGNING: Final = "certificates.v1.CertificateSigningRequestCondition"
_POD_SPEC: Final = "core.v1.PodSpec"
_VOLUME: Final = "core.v1.PersistentVolumeSpec"


def _as_stored(obj: JsonObject, type_: str) -> JsonDict:
    """Return a part of an object that was stored: lists and maps that were empty are none.
    Validation may have been shown what came empty on both sides, where that counts as equal."""
    kinds = {field.key: field.type for field in fields_of(type_)}
    return {key: _stored(value, kinds.get(key, "x")) for key, value in obj.items()}


def _stored(value: Any, kind: str) -> Any:
    if not value:
        return None if kind.startswith(("[]", "{}")) else value
    if kind.startswith("*"):
        return _stored(value, kind[1:])
    if kind.startswith("[]"):
        return [_stored(item, kind[2:]) for item in value]
    if kind.startswith("{}"):
        return {key: _stored(member, kind[2:]) for key, member in value.items()}
    return value if kind == "l" or kind in _ZEROS else _as_stored(value, kind)


def is_same_pod_spec(value: JsonObject, other: JsonObject) -> bool:
    """Return whether two specs of `v1` are the same inside, where empty and none are equal."""
    first, second = (internal_pod_spec(_as_stored(spec, _POD_SPEC)) for spec in (value, other))
    return first == second


def _with_requests(spec: JsonObject) -> JsonObject:
    """Return a new spec as its defaults leave it: where limits are an empty map, requests are one,
    too, which JSON does not show."""
    result = dict(spec)
    for field in ("containers", "initContainers"):
        result[field] = [_with_own_requests(item) for item in spec.get(field) or ()] or spec.get(
            field
        )
    return result


def _with_own_requests(container: JsonObject) -> JsonObject:
    resources = container.get("resources") or {}
    if resources.get("limits") != {} or resources.get("requests") is not None:
        return container
    return {**container, "resources": {**resources, "requests": {}}}


def pod_spec_diff(old: JsonObject, new: JsonObject) -> str:
    """Return the difference of two specs as hunks with three lines around each change; empty if
    nothing changes."""
    old, new = _as_stored(old, _POD_SPEC), _with_requests(new)
    return _reported(go_pod_spec, old, new) or _diff(internal_pod_spec(old), internal_pod_spec(new))


def claim_spec_diff(old: JsonObject, new: JsonObject) -> str:
    """Return the difference of two specs of PersistentVolumeClaims as Go prints it."""
    old = _as_stored(old, CLAIM_SPEC)
    return _reported(lambda value: internal_go_struct(value, CLAIM_SPEC), old, new) or _diff(
        internal_value(old, CLAIM_SPEC), internal_value(new, CLAIM_SPEC)
    )


def volume_source_diff(old: JsonObject, new: JsonObject) -> str:
    """Return the difference of what PersistentVolumes are made of; empty if that is the same."""
    old = _as_stored(old, _VOLUME)
    before, after = (
        {
            field.name: _value(spec.get(field.key), field.type)
            for field in fields_of(_VOLUME)
            if embedded_struct("PersistentVolumeSpec", field.key)
        }
        for spec in (old, new)
    )
    if before == after:
        return ""
    return _reported(go_volume_source, old, new) or _diff(before, after)


def ephemeral_container_diff(old: JsonObject, new: JsonObject) -> str:
    """Return the difference of two ephemeral containers as Go prints it."""
    old = _as_stored(old, _EPHEMERAL)
    return _reported(lambda value: internal_go_struct(value, _EPHEMERAL), old, new) or _diff(
        internal_value(old, _EPHEMERAL), internal_value(new, _EPHEMERAL)
    )


def signing_conditions_diff(old: Sequence[JsonObject], new: Sequence[JsonObject]) -> str:
    """Return the difference of conditions of requests for certificates."""
    before, after = (
        [internal_value(item, _SIGNING) for item in each] or None for each in (old, new)
    )
    return _reported(lambda condition: internal_go_list(condition, _SIGNING), old, new) or _diff(
        before, after
    )


T = TypeVar("T")


def _reported(inside: Callable[[T], GoData], old: T, new: T) -> str:
    """Return what releases before 1.34 say of a difference; empty for later ones."""
    if is_since("1.34"):
        return ""
    with quantities_of_store():
        before = inside(old)
    return reported_difference(before, inside(new))


def _diff(old: object, new: object) -> str:
    before, after = _lines(old), _lines(new)
    if len(before) + len(after) > MOST_COMPARED:
        return "".join(_coarse_diff(before, after))
    import difflib  # late: few updates change what may not change

    return "".join([*difflib.unified_diff(before, after)][_HEADERS:])


def _coarse_diff(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Show one hunk with everything between the first and the last line that differ."""
    least = min(len(before), len(after))
    start = next((index for index in range(least) if before[index] != after[index]), least)
    rest = least - start
    same = next((index for index in range(rest) if before[~index] != after[~index]), rest)
    removed, added = before[start : len(before) - same], after[start : len(after) - same]
    if removed or added:
        yield f"@@ -{start + 1},{len(removed)} +{start + 1},{len(added)} @@\n"
        yield from (f"-{line}" for line in removed)
        yield from (f"+{line}" for line in added)


def _lines(value: object) -> list[str]:
    text = json.dumps(value, indent=1, ensure_ascii=False).translate(_HTML)
    return [f"{line}\n" for line in text.split("\n")]
