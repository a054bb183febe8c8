"""Objects of any kind for properties, made from the table of messages: what a reader gives back.

Such an object holds nothing that Go would not tell from an unset field: no zeros outside pointers,
no empty lists and maps. Lists, maps and recursion stay small.
"""

from __future__ import annotations

import base64
import datetime
from typing import Any

from hypothesis import strategies as st

from celadon.kube import GroupVersionKind
from celadon.kube.protobuf import MessageField, message_fields, message_of

Json = dict[str, Any]

_DEPTH = 6
_FIELDS = 5
"""At most so many of a message are set."""
_TEXT = st.text(max_size=6)
_MOMENTS = st.datetimes(
    min_value=datetime.datetime(2, 1, 1), max_value=datetime.datetime(9998, 12, 31)
)
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": _TEXT,
    "bytes": st.binary(max_size=5).map(lambda raw: base64.b64encode(raw).decode()),
    "bool": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1) | st.integers(0, 200),
    "int64": st.integers(-(2**63), 2**63 - 1) | st.integers(0, 200),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "apiextensions.v1.JSON": _JSON,
    "intstr.IntOrString": st.integers(-(2**31), 2**31 - 1) | _TEXT,
    "meta.v1.FieldsV1": st.dictionaries(_TEXT, _JSON, max_size=2),
    "meta.v1.MicroTime": _MOMENTS.map(lambda at: at.isoformat(timespec="microseconds") + "Z"),
    "meta.v1.Time": _MOMENTS.map(lambda at: at.isoformat(timespec="seconds") + "Z"),
    "resource.Quantity": st.sampled_from(["0", "1", "500m", "2Gi", "-3", "1e3"]),
    "runtime.RawExtension": _JSON,
}
_ZEROS: tuple[Any, ...] = ("", 0, False)
_WRAPPED = {
    *("authentication.v1.ExtraValue", "authorization.v1.ExtraValue", "certificates.v1.ExtraValue"),
    "meta.v1.Verbs",
}


def objects(gvk: GroupVersionKind) -> st.SearchStrategy[Json]:
    name = message_of(gvk)
    assert name is not None
    meta = {"apiVersion": gvk.api_version, "kind": gvk.kind}
    return messages(name, _DEPTH).map(lambda made: {**made, **meta})


def messages(name: str, depth: int) -> st.SearchStrategy[Json]:
    return st.deferred(lambda: _message(name, depth))


def with_field(field: MessageField, depth: int) -> st.SearchStrategy[Json]:
    """A part of an object that has this field, or nothing where its value would be unset."""
    if field.inline:
        return messages(field.type, depth)
    return _field_value(field, depth).map(
        lambda value: {} if _is_unset(value, field) else {field.name: value}
    )


@st.composite
def _message(draw: st.DrawFn, name: str, depth: int) -> Json:
    made: Json = {}
    fields = [field for field in message_fields(name) if depth or _is_simple(field)]
    for field in draw(st.lists(st.sampled_from(fields), max_size=_FIELDS)) if fields else ():
        if field.inline:
            made |= draw(messages(field.type, depth))
            continue
        value = draw(_field_value(field, depth - 1))
        is_pointer = field.optional and field.type != "bytes"  # which Go leaves out when empty
        if is_pointer or not _is_unset(value, field):
            made[field.name] = value
    return made


def _is_unset(value: Any, field: MessageField) -> bool:
    if field.type == "resource.Quantity" and value == "0":
        return True
    return value in ({}, []) or (value in _ZEROS and value.__class__ in (str, int, bool))


def _is_simple(field: MessageField) -> bool:
    return field.type in _VALUES


def _field_value(field: MessageField, depth: int) -> st.SearchStrategy[Any]:
    value = _value(field.type, depth)
    if field.repeated:
        return st.lists(value, min_size=1, max_size=2)
    if field.mapped:
        return st.dictionaries(_TEXT, value, min_size=1, max_size=2)
    return value


def _value(type_: str, depth: int) -> st.SearchStrategy[Any]:
    if type_ in _VALUES:
        return _VALUES[type_]
    if type_ in _WRAPPED:
        return st.lists(_TEXT, max_size=2)
    schemas = messages("apiextensions.v1.JSONSchemaProps", depth)
    if type_ == "apiextensions.v1.JSONSchemaPropsOrArray":
        return schemas | st.lists(schemas, min_size=1, max_size=2)
    if type_ == "apiextensions.v1.JSONSchemaPropsOrBool":
        return schemas | st.booleans()
    if type_ == "apiextensions.v1.JSONSchemaPropsOrStringArray":
        return schemas | st.lists(_TEXT, min_size=1, max_size=2)
    return messages(type_, depth)
