"""The table of messages as descriptors of Google's protobuf library, for an independent check."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from celadon.kube.protobuf import MessageField, kinds, message_fields

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _Field.TYPE_BYTES,  # Go does not look whether strings are UTF-8
    "bytes": _Field.TYPE_BYTES,
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "double": _Field.TYPE_DOUBLE,
}
_TIME = [MessageField(1, "seconds", "int64"), MessageField(2, "nanos", "int32")]
_RAW = [MessageField(1, "raw", "bytes", optional=True)]
_NOT_IN_TABLE = {
    "apiextensions.v1.JSON": _RAW,
    "intstr.IntOrString": [
        MessageField(1, "type", "int64"),
        MessageField(2, "intVal", "int32"),
        MessageField(3, "strVal", "string"),
    ],
    "meta.v1.FieldsV1": _RAW,
    "meta.v1.MicroTime": _TIME,
    "meta.v1.Time": _TIME,
    "resource.Quantity": [MessageField(1, "string", "string")],
    "runtime.RawExtension": _RAW,
}


def _fields(name: str) -> list[MessageField]:
    return _NOT_IN_TABLE.get(name) or list(message_fields(name))


def _names() -> Iterator[str]:
    waiting, seen = list(kinds().values()), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield name
        waiting.extend(field.type for field in _fields(name) if field.type not in _SCALARS)


@cache
def message_class(name: str) -> type[Any]:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"k.{_flat(name)}"))


def _flat(name: str) -> str:
    return name.replace(".", "_")


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="k.proto", package="k", syntax="proto2")
    for name in sorted(_names()):
        message = file.message_type.add(name=_flat(name))
        for field in _fields(name):
            _add(message, field, name)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add(message: descriptor_pb2.DescriptorProto, field: MessageField, owner: str) -> None:
    added = message.field.add(name=f"f{field.number}", number=field.number)
    added.label = _Field.LABEL_REPEATED if field.repeated else _Field.LABEL_OPTIONAL
    if not field.mapped:
        _set_type(added, field.type)
        return
    added.label = _Field.LABEL_REPEATED
    entry = message.nested_type.add(name=f"F{field.number}Entry")
    entry.options.map_entry = True
    _set_type(entry.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL), "bytes")
    entry.field[0].type = _Field.TYPE_STRING
    _set_type(entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), field.type)
    added.type = _Field.TYPE_MESSAGE
    added.type_name = f".k.{_flat(owner)}.{entry.name}"


def _set_type(added: descriptor_pb2.FieldDescriptorProto, type_: str) -> None:
    if type_ in _SCALARS:
        added.type = _SCALARS[type_]
    else:
        added.type = _Field.TYPE_MESSAGE
        added.type_name = f".k.{_flat(type_)}"
