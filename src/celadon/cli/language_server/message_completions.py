"""What may stand in messages: in `Object{…}` and `Object.spec{…}` of mutating policies, the fields
of the matched kind at that place; in `JSONPatch{…}`, and in any other type with fields, theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from celadon.admission.lint import TypedScope
from celadon.cel import Environment
from celadon.cel.unfinished import OpenMessage, TypingContext
from celadon.kube.schemas import SchemaType

_OBJECT: Final = "Object"
_JSON_PATCH: Final = "JSONPatch"
_OPERATIONS: Final = ("add", "copy", "move", "remove", "replace", "test")


class MessagePart(NamedTuple):
    """A field, the name of a type (`is_type`), or a value, with its type as it is displayed."""

    text: str
    type: str
    is_type: bool = False


def is_at_field(context: TypingContext) -> bool:
    """Whether the name of a field of a message is being written."""
    message = context.message
    return message is not None and bool(message.name) and message.field is None


def fields_at(message: OpenMessage, scope: TypedScope) -> Iterator[MessagePart]:
    """The fields that a message does not have yet."""
    for name, type_ in _fields(message.name, scope):
        if name not in message.fields:
            yield MessagePart(name, type_)


def values_at(context: TypingContext, scope: TypedScope) -> Iterator[MessagePart]:
    """What only messages of mutating policies have where a value begins: types to be built, and the
    operations of a patch."""
    if not _has(scope.environment, _OBJECT):
        return
    message = context.message
    if message is None or not message.name:
        for name in (_OBJECT, _JSON_PATCH):
            yield MessagePart(name, name, is_type=True)
    elif message.name == _JSON_PATCH and message.field == "op":
        for operation in _OPERATIONS:
            yield MessagePart(f'"{operation}"', "string")
    elif message.name == _JSON_PATCH and message.field == "value":
        yield MessagePart(_OBJECT, _OBJECT, is_type=True)
    elif message.field is not None:
        name = f"{message.name}.{message.field}"
        if _built(name, scope) is not None:
            yield MessagePart(name, name, is_type=True)


def types_behind(receiver: str, scope: TypedScope) -> Iterator[MessagePart]:
    """What may stand behind the dot of `Object.spec.`: fields whose values are built."""
    if not _is_built(receiver) or not _has(scope.environment, _OBJECT):
        return
    for field, _ in _fields(receiver, scope):
        name = f"{receiver}.{field}"
        if _built(name, scope) is not None:
            yield MessagePart(field, name, is_type=True)


def _has(environment: Environment, name: str) -> bool:
    return environment.declarations.find_object(name) is not None


def _is_built(name: str) -> bool:
    return name == _OBJECT or name.startswith(f"{_OBJECT}.")


def _fields(name: str, scope: TypedScope) -> list[tuple[str, str]]:
    """The names of the fields of a type, and their types."""
    if _is_built(name):
        built = _built(name, scope)
        return [] if built is None else [(one, _shown(it)) for one, it in built.fields.items()]
    known = scope.environment.declarations.find_object(name)
    fields = {} if known is None else known.fields
    return [(field, type_.display()) for field, type_ in fields.items()]


def _built(name: str, scope: TypedScope) -> SchemaType | None:
    """What `Object.a.b` builds: the object at `a.b`, that of each item or value where there are
    several; None if it has no fields there, or nobody knows."""
    found = scope.object_type
    for step in name.split(".")[1:]:
        if found is not None:
            found = _each(found.fields.get(step))
    return found if found is not None and found.fields else None


def _each(found: SchemaType | None) -> SchemaType | None:
    while found is not None and found.element is not None:
        found = found.element
    return found


def _shown(one: SchemaType) -> str:
    return one.type.display()
