"""The standard library: what every CEL environment has.

The tables are spread over `operators`, `conversion_functions` and `time_functions`; this module
adds the functions on strings and sizes and puts everything together, in cel-go's order.
"""

from __future__ import annotations

from celadon.cel import re2
from celadon.cel.codegen.inline_forms import container_forms, text_forms
from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.library.standard import conversion_functions, operators, time_functions
from celadon.cel.library.standard import standard_costs as costs
from celadon.cel.parsing.macros import STANDARD_MACROS
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    LIST,
    MAP,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
    type_param,
)
from celadon.cel.values.operations import container_access
from celadon.cel.values.operations.equality import refusal

_LIST = list_of(type_param("A"))
_MAP = map_of(type_param("A"), type_param("B"))
_STRING_ONLY = frozenset({str})


def contains(text: object, part: object) -> bool:
    if text.__class__ is str and part.__class__ is str:
        return part in text
    raise no_such_overload()


def starts_with(text: object, prefix: object) -> bool:
    if text.__class__ is str and prefix.__class__ is str:
        return bool(text.startswith(prefix))
    raise no_such_overload()


def ends_with(text: object, suffix: object) -> bool:
    if text.__class__ is str and suffix.__class__ is str:
        return bool(text.endswith(suffix))
    raise no_such_overload()


def matches(text: object, pattern: object) -> bool:
    """Whether the pattern is found anywhere in the text (RE2 syntax)."""
    if text.__class__ is not str:
        raise refusal("matches", text, _STRING_ONLY)
    if pattern.__class__ is not str:
        raise no_such_overload()
    try:
        return re2.compile(pattern).search(text)
    except re2.RegexError as error:
        raise EvaluationError(str(error)) from error


def _sizes(name: str, type_: Type, example: str, count: int, doc: str) -> tuple[Overload, ...]:
    return (
        Overload(
            f"size_{name}", (type_,), INT, doc=doc, examples=((f"size({example})", str(count)),)
        ),
        Overload(
            f"{name}_size",
            (type_,),
            INT,
            member=True,
            doc=doc,
            examples=((f"{example}.size()", str(count)),),
        ),
    )


_SIZE = Function(
    "size",
    (
        *_sizes("bytes", BYTES, "b'é'", 2, "The number of bytes."),
        *_sizes("list", _LIST, "[1, 2, 3]", 3, "The number of elements."),
        *_sizes("map", _MAP, "{'a': 1}", 1, "The number of entries."),
        *_sizes("string", STRING, "'é'", 1, "The number of code points."),
    ),
    container_access.size,
).with_each(inline=container_forms.SIZE)

_STRINGS = (
    Function(
        "contains",
        (
            Overload(
                "contains_string",
                (STRING, STRING),
                BOOL,
                contains,
                member=True,
                cost=costs.CONTAINS,
                doc="Whether the argument occurs in the string.",
                examples=(("'hello'.contains('ell')", "true"),),
                inline=text_forms.CONTAINS,
            ),
        ),
        contains,
    ),
    Function(
        "endsWith",
        (
            Overload(
                "ends_with_string",
                (STRING, STRING),
                BOOL,
                ends_with,
                member=True,
                cost=costs.AFFIX,
                doc="Whether the string ends with the argument.",
                examples=(("'hello'.endsWith('lo')", "true"),),
                inline=text_forms.ENDS_WITH,
            ),
        ),
        ends_with,
    ),
    Function(
        "startsWith",
        (
            Overload(
                "starts_with_string",
                (STRING, STRING),
                BOOL,
                starts_with,
                member=True,
                cost=costs.AFFIX,
                doc="Whether the string starts with the argument.",
                examples=(("'hello'.startsWith('he')", "true"),),
                inline=text_forms.STARTS_WITH,
            ),
        ),
        starts_with,
    ),
    Function(
        "matches",
        (
            Overload(
                "matches",
                (STRING, STRING),
                BOOL,
                doc="Whether a regular expression (RE2) matches anywhere in the string.",
                examples=(("matches('hello', 'l+')", "true"),),
            ),
            Overload(
                "matches_string",
                (STRING, STRING),
                BOOL,
                None,
                member=True,
                cost=costs.MATCHES,
                doc="Whether a regular expression (RE2) matches anywhere in the string.",
                examples=(("'hello'.matches('^h.*o$')", "true"),),
            ),
        ),
        matches,
        pattern=1,
    ).with_each(inline=text_forms.MATCHES),
)


def _library(name: str, time: tuple[Function, ...]) -> Library:
    return Library(
        name,
        functions=(
            *operators.FUNCTIONS,
            _SIZE,
            *conversion_functions.FUNCTIONS,
            *_STRINGS,
            *time,
        ),
        types=(BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT),
        macros=STANDARD_MACROS,
    )


LIBRARY = _library("standard", time_functions.FUNCTIONS)

#: The standard library as the specification has it where cel-go differs.
SPECIFIED = _library("standard, as specified", time_functions.SPECIFIED)
