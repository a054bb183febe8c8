"""Optional values (cel-go `cel.OptionalTypes`), versions 0 to 2. Kubernetes loads the latest.

`or` and `orValue` have implementations for completeness, but the code generator writes them out:
the right side is evaluated only if the left is absent. The same holds for `.?`, `[?]` and indexing
an optional, whose whole chain is one lookup.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from celadon.cel import syntax
from celadon.cel.codegen import inline_operators
from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.errors import EvaluationError
from celadon.cel.parsing.macros import OPTIONAL_MACROS
from celadon.cel.size_growth import first as first_of
from celadon.cel.size_growth import single, together
from celadon.cel.types import BOOL, DYN, INT, STRING, Type, list_of, map_of, optional_of, type_param
from celadon.cel.values import Value
from celadon.cel.values.container_access import paid_again
from celadon.cel.values.maps import MixedMap
from celadon.cel.values.runtime_types import NONE, OPTIONAL, Opaque, Optional, display
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import MIN_SECONDS, Duration, Timestamp
from celadon.cel.values.typed_lists import LIST_CLASSES

LATEST = 2
_K = type_param("K")
_V = type_param("V")
_OPTIONAL = optional_of(_V)
_LIST = list_of(_V)
_MAP = map_of(_K, _V)

_EMPTY_IS_ZERO = frozenset({str, bytes, dict, MixedMap, bool, int, Uint, float}) | LIST_CLASSES


def is_zero(value: object) -> bool:
    """Return whether `optional.ofNonZeroValue` drops the value: zero, empty, null, the year 1."""
    if value.__class__ in _EMPTY_IS_ZERO:
        return not value
    if value.__class__ is Duration:
        return bool(value.nanoseconds == 0)
    if value.__class__ is Timestamp:
        return bool(value.seconds == MIN_SECONDS and value.nanos == 0)
    if isinstance(value, Opaque):
        return value.is_zero
    return value is None or (isinstance(value, dict) and not value)


def of_non_zero(value: object) -> Optional:
    return NONE if is_zero(value) else Optional(value)


def none() -> Optional:
    return NONE


def value_of(optional: Optional) -> Value:
    return optional.get()


def has_value(optional: Optional) -> bool:
    return optional is not NONE


def or_optional(optional: object, other: object) -> Value:
    return other if optional is NONE else optional


def or_value(optional: object, default: object) -> Value:
    if optional is NONE:
        return default
    return optional.value if optional.__class__ is Optional else optional


def first(elements: list[Value]) -> Optional:
    return Optional(elements[0]) if elements else NONE


def last(elements: list[Value]) -> Optional:
    return Optional(elements[-1]) if elements else NONE


def unwrap(optionals: list[Any]) -> list[Any]:
    """Return the values of those that are present."""
    for optional in optionals:
        if optional.__class__ is not Optional:
            raise EvaluationError(f"value {display(optional)} is not optional")
    return [optional.value for optional in optionals if optional is not NONE]


_one = partial(Function.single, growth=together)
"""No result is larger than all arguments in one value."""


def _step(id: str, operand: Type, key: Type, doc: str, *examples: tuple[str, str]) -> Overload:
    return Overload(id, (operand, key), _OPTIONAL, doc=doc, examples=examples, growth=first_of)


_FUNCTIONS = (
    _one(
        "optional.of",
        "optional_of",
        (_V,),
        _OPTIONAL,
        Optional,
        "A present value, null included.",
        ("optional.of(1).value()", "1"),
    ),
    _one(
        "optional.ofNonZeroValue",
        "optional_ofNonZeroValue",
        (_V,),
        _OPTIONAL,
        of_non_zero,
        "A present value, unless it is zero, empty or null.",
        ("optional.ofNonZeroValue('').hasValue()", "false"),
        ("optional.ofNonZeroValue(1).hasValue()", "true"),
    ),
    _one(
        "optional.none",
        "optional_none",
        (),
        _OPTIONAL,
        none,
        "The absent value.",
        ("optional.none().hasValue()", "false"),
    ),
    _one(
        "value",
        "optional_value",
        (_OPTIONAL,),
        _V,
        value_of,
        "The value; an error if absent.",
        ("optional.of(1).value()", "1"),
        member=True,
    ),
    _one(
        "hasValue",
        "optional_hasValue",
        (_OPTIONAL,),
        BOOL,
        has_value,
        "Whether it is present.",
        ("optional.of(1).hasValue()", "true"),
        growth=single,
        inline=inline_operators.HAS_VALUE,
        member=True,
    ),
    _one(
        "or",
        "optional_or_optional",
        (_OPTIONAL, _OPTIONAL),
        _OPTIONAL,
        or_optional,
        "This if present, else the other.",
        ("optional.none().or(optional.of(1)).value()", "1"),
        inline=inline_operators.OR,
        member=True,
    ),
    _one(
        "orValue",
        "optional_orValue_value",
        (_OPTIONAL, _V),
        _V,
        or_value,
        "The value if present, else the argument.",
        ("{'a': 1}.?b.orValue(2)", "2"),
        inline=inline_operators.OR_VALUE,
        member=True,
    ),
    Function(
        syntax.OPT_SELECT,
        (
            _step(
                "select_optional_field",
                DYN,
                STRING,
                "The field if present.",
                ("{'a': 1}.?a.value()", "1"),
            ),
        ),
    ),
    Function(
        syntax.OPT_INDEX,
        (
            _step(
                "list_optindex_optional_int",
                _LIST,
                INT,
                "The element if there is one.",
                ("[1][?1].hasValue()", "false"),
            ),
            _step(
                "optional_list_optindex_optional_int",
                optional_of(_LIST),
                INT,
                "The element if there is one.",
                ("optional.of([1])[?0].value()", "1"),
            ),
            _step(
                "map_optindex_optional_value",
                _MAP,
                _K,
                "The value if the key is present.",
                ("{'a': 1}[?'a'].value()", "1"),
            ),
            _step(
                "optional_map_optindex_optional_value",
                optional_of(_MAP),
                _K,
                "The value if the key is present.",
                ("optional.of({'a': 1})[?'b'].hasValue()", "false"),
            ),
        ),
    ),
    Function(
        syntax.INDEX,
        (
            _step(
                "optional_list_index_int",
                optional_of(_LIST),
                INT,
                "The element if there is one.",
                ("optional.of([1])[0].value()", "1"),
            ),
            _step(
                "optional_map_index_value",
                optional_of(_MAP),
                _K,
                "The value if the key is present.",
                ("optional.of({'a': 1})['a'].value()", "1"),
            ),
        ),
    ),
)

_VERSION_2 = (
    _one(
        "first",
        "list_first",
        (_LIST,),
        _OPTIONAL,
        first,
        "The first element, absent for an empty list.",
        ("[1, 2].first().value()", "1"),
        member=True,
    ),
    _one(
        "last",
        "list_last",
        (_LIST,),
        _OPTIONAL,
        last,
        "The last element, absent for an empty list.",
        ("[1, 2].last().value()", "2"),
        member=True,
    ),
    _one(
        "optional.unwrap",
        "optional_unwrap",
        (list_of(_OPTIONAL),),
        _LIST,
        unwrap,
        "The values of those that are present.",
        ("optional.unwrap([optional.of(1), optional.none()])", "[1]"),
    )._replace(unpaid=paid_again),
    _one(
        "unwrapOpt",
        "optional_unwrapOpt",
        (list_of(_OPTIONAL),),
        _LIST,
        unwrap,
        "The values of those that are present.",
        ("[optional.of(1), optional.none()].unwrapOpt()", "[1]"),
        member=True,
    )._replace(unpaid=paid_again),
)


def library(version: int = LATEST) -> Library:
    """Version 1 adds `optFlatMap`; 2 adds `first`, `last` and unwrapping."""
    macros = OPTIONAL_MACROS if version >= 1 else OPTIONAL_MACROS[:1]
    return Library(
        f"optionals/{version}",
        functions=_FUNCTIONS + (_VERSION_2 if version >= 2 else ()),
        types=(OPTIONAL,),
        macros=macros,
    )
