"""Completions of an expression: the fields, variables, functions and macros that may be written
next."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from celadon.admission.lint import TypedScope
from celadon.cel import RESERVED, Environment, types
from celadon.cel.completion import OpenMessage, TypingContext, type_in, typing_context
from celadon.cel.extend import Function, Overload
from celadon.kube.library import first_releases
from celadon.kube.schemas import SchemaType
from celadon.records import dataclass

# --- Function docs -----------------------------------------------------------
#
# What is said of functions and macros: signature, a line, examples, since when, what a call
# costs.
#
# Functions say it in their records; macros have none, so what they do stands here.


class MacroDoc(NamedTuple):
    """Describes a macro. `parameters` as they are written; `doc` is one sentence."""

    parameters: tuple[str, ...]
    doc: str


MACROS: Final[dict[str, MacroDoc]] = {
    "has": MacroDoc(("object.field",), "Whether the field is set."),
    "all": MacroDoc(
        ("x", "predicate"),
        "Whether the predicate holds for every item of a list, or every key of a map.",
    ),
    "exists": MacroDoc(
        ("x", "predicate"), "Whether the predicate holds for some item of a list, or key of a map."
    ),
    "exists_one": MacroDoc(
        ("x", "predicate"), "Whether the predicate holds for exactly one item, or key."
    ),
    "existsOne": MacroDoc(
        ("i", "x", "predicate"), "Whether the predicate holds for exactly one item, or entry."
    ),
    "map": MacroDoc(
        ("x", "result"),
        "A list with the result for every item; with a predicate before the result, of those for "
        "which it holds.",
    ),
    "filter": MacroDoc(
        ("x", "predicate"), "A list of the items, or keys, for which the predicate holds."
    ),
    "sortBy": MacroDoc(("x", "key"), "The list, sorted by a key of each item."),
    "transformList": MacroDoc(
        ("i", "x", "result"), "A list with the result for every index and item, or key and value."
    ),
    "transformMap": MacroDoc(
        ("k", "v", "result"), "A map with the same keys, and the result for every entry."
    ),
    "transformMapEntry": MacroDoc(
        ("k", "v", "entry"), "A map of the entries (maps with one key) made for every entry."
    ),
    "optMap": MacroDoc(
        ("x", "result"), "An optional with the result for the value; none where there is no value."
    ),
    "optFlatMap": MacroDoc(
        ("x", "result"), "The result, an optional, for the value; none where there is no value."
    ),
    "bind": MacroDoc(
        ("x", "value", "result"), "The result, in which the name stands for the value."
    ),
}
"""Those of Kubernetes, by name."""


def signature(name: str, overload: Overload) -> str:
    """`<string>.split(<string>) -> list(string)`."""
    params = [f"<{param.display()}>" for param in overload.params]
    receiver = f"{params.pop(0)}." if overload.member else ""
    return f"{receiver}{name}({', '.join(params)}) -> {overload.result.display()}"


def since(name: str) -> str:
    """`since Kubernetes 1.30`, of an overload by its id or a macro by its name; empty for what
    every release has."""
    release = first_releases().get(name)
    return f"since Kubernetes {release}" if release else ""


def function_doc(name: str, overloads: Iterable[Overload]) -> str:
    """Return the overloads as Markdown."""
    parts = []
    for overload in overloads:
        lines = [f"```cel\n{signature(name, overload)}\n```", overload.doc, since(overload.id)]
        lines += [f"`{example}` is `{result}`" for example, result in overload.examples[:2]]
        parts.append("\n\n".join(line for line in lines if line))
    return "\n\n---\n\n".join(parts)


def macro_signature(name: str) -> str:
    """`<range>.all(x, predicate)`."""
    receiver = {"has": "", "bind": "cel."}.get(name, "<range>.")
    return f"{receiver}{name}({', '.join(MACROS[name].parameters)})"


def macro_doc(name: str) -> str:
    """Return a macro as Markdown."""
    lines = [f"```cel\n{macro_signature(name)}\n```", MACROS[name].doc, since(name)]
    return "\n\n".join(line for line in lines if line)


def macros_of(environment: Environment) -> list[str]:
    """Return the macros that an environment has and that are told of here."""
    return sorted({macro.name for macro in environment.parse_options.macros} & MACROS.keys())


def functions_of(environment: Environment) -> list[Function]:
    """Return the functions that are called by a name."""
    view = environment.declarations.functions.values()
    return [item for item in view if item.name.replace(".", "").isidentifier()]


# --- Message completions -----------------------------------------------------
#
# What may stand in messages: in `Object{…}` and `Object.spec{…}` of mutating policies, the
# fields of the matched kind at that place; in `JSONPatch{…}`, and in any other type with
# fields, theirs.

_OBJECT: Final = "Object"
_JSON_PATCH: Final = "JSONPatch"
_OPERATIONS: Final = ("add", "copy", "move", "remove", "replace", "test")


class MessagePart(NamedTuple):
    """A field, the name of a type (`is_type`), or a value, with its type as it is displayed."""

    text: str
    type: str
    is_type: bool = False


def is_at_field(context: TypingContext) -> bool:
    """Return whether the name of a field of a message is being written."""
    message = context.message
    return message is not None and bool(message.name) and message.field is None


def fields_at(message: OpenMessage, scope: TypedScope) -> Iterator[MessagePart]:
    """Yield the fields that a message does not have yet."""
    for name, type_ in _message_completions_fields(message.name, scope):
        if name not in message.fields:
            yield MessagePart(name, type_)


def values_at(context: TypingContext, scope: TypedScope) -> Iterator[MessagePart]:
    """Yield what only messages of mutating policies have where a value begins: types to be built,
    and the operations of a patch."""
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
    """Yield what may stand behind the dot of `Object.spec.`: fields whose values are built."""
    if not _is_built(receiver) or not _has(scope.environment, _OBJECT):
        return
    for field, _ in _message_completions_fields(receiver, scope):
        name = f"{receiver}.{field}"
        if _built(name, scope) is not None:
            yield MessagePart(field, name, is_type=True)


def _has(environment: Environment, name: str) -> bool:
    return environment.declarations.find_object(name) is not None


def _is_built(name: str) -> bool:
    return name == _OBJECT or name.startswith(f"{_OBJECT}.")


def _message_completions_fields(name: str, scope: TypedScope) -> list[tuple[str, str]]:
    """Return the names of the fields of a type, and their types."""
    if _is_built(name):
        built = _built(name, scope)
        return (
            [] if built is None else [(key, _shown(field)) for key, field in built.fields.items()]
        )
    find_object = scope.environment.declarations.find_object(name)
    fields = {} if find_object is None else find_object.fields
    return [(field, type_.display()) for field, type_ in fields.items()]


def _built(name: str, scope: TypedScope) -> SchemaType | None:
    """Return what `Object.a.b` builds: the object at `a.b`, that of each item or value where there
    are several; None if it has no fields there, or nobody knows."""
    schema_type = scope.object_type
    for step in name.split(".")[1:]:
        if schema_type is not None:
            schema_type = _each(schema_type.fields.get(step))
    return schema_type if schema_type is not None and schema_type.fields else None


def _each(schema_type: SchemaType | None) -> SchemaType | None:
    while schema_type is not None and schema_type.element is not None:
        schema_type = schema_type.element
    return schema_type


def _shown(schema_type: SchemaType) -> str:
    return schema_type.type.display()


_GLOBAL_MACROS: Final = ("has",)
_NAMESPACED_MACROS: Final = {"bind": "cel"}
_OPTIONAL_MACROS: Final = ("optMap", "optFlatMap")
_KEYWORDS: Final = ("true", "false", "null")


class Sort(enum.Enum):
    """An offer is one of these."""

    FIELD = enum.auto()
    VARIABLE = enum.auto()
    FUNCTION = enum.auto()
    MACRO = enum.auto()
    NAMESPACE = enum.auto()
    KEYWORD = enum.auto()
    TYPE = enum.auto()


@dataclass(frozen=True, slots=True)
class Completion:
    """Offers one word for what is being typed. `label` takes the place of the word that is being
    typed; `detail` is its type or signature, `doc` Markdown."""

    label: str
    sort: Sort
    detail: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """Holds what may take the place of `text[start:offset]`, by name."""

    start: int
    offers: tuple[Completion, ...]


def completions(text: str, offset: int, scopes: Sequence[TypedScope]) -> Completions | None:
    """Return what may stand at a place; None in literals and comments."""
    result: dict[str, Completion] = {}
    start = offset
    for scope in scopes:
        context = typing_context(text, offset, scope.environment)
        if context is None:
            return None
        start = context.start
        for offer in _offered(context, scope):
            result.setdefault(offer.label, offer)
    return Completions(start, tuple(result[label] for label in sorted(result)))


def _offered(context: TypingContext, scope: TypedScope) -> Iterator[Completion]:
    if context.message is not None and is_at_field(context):
        for part in fields_at(context.message, scope):
            yield Completion(part.text, Sort.FIELD, part.type)
    elif context.receiver is not None:
        built = list(types_behind(context.receiver, scope))
        yield from (Completion(part.text, Sort.TYPE, part.type) for part in built)
        if not built:
            yield from _members(context)
    else:
        for part in values_at(context, scope):
            yield Completion(part.text, Sort.TYPE if part.is_type else Sort.KEYWORD, part.type)
        yield from _names(context.environment)


def _names(environment: Environment) -> Iterator[Completion]:
    """Yield what may begin an expression."""
    for name, type_ in environment.declarations.variables.items():
        if "." not in name:
            yield Completion(name, Sort.VARIABLE, type_.display())
    for function in functions_of(environment):
        space, dot, _ = function.name.partition(".")
        if dot:
            yield Completion(space, Sort.NAMESPACE)
            continue
        overloads = [overload for overload in function.overloads if not overload.member]
        if overloads:
            yield _function(function.name, overloads)
    for name in macros_of(environment):
        if name in _GLOBAL_MACROS:
            yield Completion(name, Sort.MACRO, macro_signature(name), macro_doc(name))
        elif name in _NAMESPACED_MACROS:
            yield Completion(_NAMESPACED_MACROS[name], Sort.NAMESPACE)
    for name in _KEYWORDS:
        yield Completion(name, Sort.KEYWORD)


def _function(name: str, overloads: Sequence[Overload]) -> Completion:
    return Completion(
        name, Sort.FUNCTION, signature(name, overloads[0]), function_doc(name, overloads)
    )


def _members(context: TypingContext) -> Iterator[Completion]:
    """Yield what may stand behind a dot."""
    environment, receiver = context.environment, context.receiver or ""
    prefix = f"{receiver}."
    for name, type_ in environment.declarations.variables.items():
        if name.startswith(prefix):
            yield Completion(name.removeprefix(prefix), Sort.VARIABLE, type_.display())
    is_namespace = False
    for function in functions_of(environment):
        if function.name.startswith(prefix):
            is_namespace = True
            yield _function(function.name.removeprefix(prefix), function.overloads)
    for name, space in _NAMESPACED_MACROS.items():
        if space == receiver and name in macros_of(environment):
            is_namespace = True
            yield Completion(name, Sort.MACRO, macro_signature(name), macro_doc(name))
    if not is_namespace:
        yield from _of_type(environment, type_in(environment, receiver))


def _of_type(environment: Environment, type_: types.Type) -> Iterator[Completion]:
    inner = type_.params[0] if types.is_optional(type_) else type_
    yield from _fields(environment, inner)
    for function in functions_of(environment):
        fitting = [
            overload
            for overload in function.overloads
            if overload.member and fits(overload.params[0], type_)
        ]
        if fitting:
            yield _function(function.name, fitting)
    for name in macros_of(environment):
        if name in _GLOBAL_MACROS or name in _NAMESPACED_MACROS:
            continue
        is_for_optionals = name in _OPTIONAL_MACROS
        is_range = type_.kind in (types.Kind.LIST, types.Kind.MAP)
        if types.is_dyn(type_) or (types.is_optional(type_) if is_for_optionals else is_range):
            yield Completion(name, Sort.MACRO, macro_signature(name), macro_doc(name))


def _fields(environment: Environment, type_: types.Type) -> Iterator[Completion]:
    record = (
        environment.declarations.find_object(type_.name)
        if type_.kind is types.Kind.OBJECT
        else None
    )
    for name, field in () if record is None else record.fields.items():
        plain = name.removeprefix("__").removesuffix("__")
        is_keyword = environment.declarations.keyword_fields and plain in RESERVED
        yield Completion(plain if is_keyword else name, Sort.FIELD, field.display())


def fits(parameter: types.Type, type_: types.Type) -> bool:
    """Return whether a value of a type may be the receiver."""
    if types.is_dyn(type_) or types.is_dyn(parameter) or parameter.kind is types.Kind.TYPE_PARAM:
        return True
    if parameter.kind is not type_.kind:
        return False
    is_named = type_.kind in (types.Kind.OBJECT, types.Kind.OPAQUE)
    if is_named and parameter.name != type_.name:
        return False
    inner = zip(parameter.params, type_.params, strict=False)
    return type_.kind is not types.Kind.LIST or all(fits(a, b) for a, b in inner)
