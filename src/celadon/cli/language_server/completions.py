"""What may be written next: fields, variables, functions, macros."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Final

from celadon.admission.lint import TypedScope
from celadon.cel import RESERVED, Environment, types
from celadon.cel.extend import Overload
from celadon.cel.unfinished import TypingContext, type_in, typing_context
from celadon.cli.language_server.function_docs import (
    function_doc,
    functions_of,
    macro_doc,
    macro_signature,
    macros_of,
    signature,
)
from celadon.cli.language_server.message_completions import (
    fields_at,
    is_at_field,
    types_behind,
    values_at,
)
from celadon.records import dataclass

_GLOBAL_MACROS: Final = ("has",)
_NAMESPACED_MACROS: Final = {"bind": "cel"}
_OPTIONAL_MACROS: Final = ("optMap", "optFlatMap")
_KEYWORDS: Final = ("true", "false", "null")


class Sort(enum.Enum):
    """What is offered."""

    FIELD = enum.auto()
    VARIABLE = enum.auto()
    FUNCTION = enum.auto()
    MACRO = enum.auto()
    NAMESPACE = enum.auto()
    KEYWORD = enum.auto()
    TYPE = enum.auto()


@dataclass(frozen=True, slots=True)
class Offer:
    """`label` takes the place of the word that is being typed; `detail` is its type or signature,
    `doc` Markdown."""

    label: str
    sort: Sort
    detail: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Offers:
    """What may take the place of `text[start:offset]`, by name."""

    start: int
    offers: tuple[Offer, ...]


def completions(text: str, offset: int, scopes: Sequence[TypedScope]) -> Offers | None:
    """What may stand at a place; None in literals and comments."""
    found: dict[str, Offer] = {}
    start = offset
    for scope in scopes:
        context = typing_context(text, offset, scope.environment)
        if context is None:
            return None
        start = context.start
        for one in _offered(context, scope):
            found.setdefault(one.label, one)
    return Offers(start, tuple(found[label] for label in sorted(found)))


def _offered(context: TypingContext, scope: TypedScope) -> Iterator[Offer]:
    if context.message is not None and is_at_field(context):
        for part in fields_at(context.message, scope):
            yield Offer(part.text, Sort.FIELD, part.type)
    elif context.receiver is not None:
        built = list(types_behind(context.receiver, scope))
        yield from (Offer(part.text, Sort.TYPE, part.type) for part in built)
        if not built:
            yield from _members(context)
    else:
        for part in values_at(context, scope):
            yield Offer(part.text, Sort.TYPE if part.is_type else Sort.KEYWORD, part.type)
        yield from _names(context.environment)


def _names(environment: Environment) -> Iterator[Offer]:
    """What may begin an expression."""
    for name, type_ in environment.declarations.variables.items():
        if "." not in name:
            yield Offer(name, Sort.VARIABLE, type_.display())
    for function in functions_of(environment):
        space, dot, _ = function.name.partition(".")
        if dot:
            yield Offer(space, Sort.NAMESPACE)
            continue
        overloads = [one for one in function.overloads if not one.member]
        if overloads:
            yield _function(function.name, overloads)
    for name in macros_of(environment):
        if name in _GLOBAL_MACROS:
            yield Offer(name, Sort.MACRO, macro_signature(name), macro_doc(name))
        elif name in _NAMESPACED_MACROS:
            yield Offer(_NAMESPACED_MACROS[name], Sort.NAMESPACE)
    for name in _KEYWORDS:
        yield Offer(name, Sort.KEYWORD)


def _function(name: str, overloads: Sequence[Overload]) -> Offer:
    return Offer(name, Sort.FUNCTION, signature(name, overloads[0]), function_doc(name, overloads))


def _members(context: TypingContext) -> Iterator[Offer]:
    """What may stand behind a dot."""
    environment, receiver = context.environment, context.receiver or ""
    prefix = f"{receiver}."
    for name, type_ in environment.declarations.variables.items():
        if name.startswith(prefix):
            yield Offer(name.removeprefix(prefix), Sort.VARIABLE, type_.display())
    is_namespace = False
    for function in functions_of(environment):
        if function.name.startswith(prefix):
            is_namespace = True
            yield _function(function.name.removeprefix(prefix), function.overloads)
    for name, space in _NAMESPACED_MACROS.items():
        if space == receiver and name in macros_of(environment):
            is_namespace = True
            yield Offer(name, Sort.MACRO, macro_signature(name), macro_doc(name))
    if not is_namespace:
        yield from _of_type(environment, type_in(environment, receiver))


def _of_type(environment: Environment, type_: types.Type) -> Iterator[Offer]:
    inner = type_.params[0] if types.is_optional(type_) else type_
    yield from _fields(environment, inner)
    for function in functions_of(environment):
        fitting = [one for one in function.overloads if one.member and fits(one.params[0], type_)]
        if fitting:
            yield _function(function.name, fitting)
    for name in macros_of(environment):
        if name in _GLOBAL_MACROS or name in _NAMESPACED_MACROS:
            continue
        is_for_optionals = name in _OPTIONAL_MACROS
        is_range = type_.kind in (types.Kind.LIST, types.Kind.MAP)
        if types.is_dyn(type_) or (types.is_optional(type_) if is_for_optionals else is_range):
            yield Offer(name, Sort.MACRO, macro_signature(name), macro_doc(name))


def _fields(environment: Environment, type_: types.Type) -> Iterator[Offer]:
    record = (
        environment.declarations.find_object(type_.name)
        if type_.kind is types.Kind.OBJECT
        else None
    )
    for name, field in () if record is None else record.fields.items():
        plain = name.removeprefix("__").removesuffix("__")
        is_keyword = environment.declarations.keyword_fields and plain in RESERVED
        yield Offer(plain if is_keyword else name, Sort.FIELD, field.display())


def fits(parameter: types.Type, type_: types.Type) -> bool:
    """Whether a value of a type may be the receiver."""
    if types.is_dyn(type_) or types.is_dyn(parameter) or parameter.kind is types.Kind.TYPE_PARAM:
        return True
    if parameter.kind is not type_.kind:
        return False
    is_named = type_.kind in (types.Kind.OBJECT, types.Kind.OPAQUE)
    if is_named and parameter.name != type_.name:
        return False
    inner = zip(parameter.params, type_.params, strict=False)
    return type_.kind is not types.Kind.LIST or all(fits(a, b) for a, b in inner)
