"""`string.format`, and the check of calls whose format string and argument list are literals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from celadon.cel.declarations import ValidationContext, Validator
from celadon.cel.errors import EvaluationError
from celadon.cel.size_growth import Argument, Polynomial
from celadon.cel.syntax import Call, Expr, ListLiteral, Literal, MapLiteral, children
from celadon.cel.types import DYN, Kind, Type, is_dyn
from celadon.cel.values import Value
from celadon.cel.values.conversions import INVALID_UTF8, duration_to_string
from celadon.cel.values.maps import is_map
from celadon.cel.values.runtime_types import is_list, type_name
from celadon.cel.values.text import (
    MAX_LENGTH,
    MAX_WRITTEN,
    Broken,
    Clause,
    Uint,
    go_float,
    go_plain_float,
    go_quote,
    parse,
    too_long,
    utf8,
    written,
)
from celadon.cel.values.timestamps import Duration, Timestamp, format_timestamp
from celadon.records import dataclass

# --- Format styles -----------------------------------------------------------
#
# How `string.format` renders values: the legacy style and the plain style.
#
# * `LEGACY` (strings library 1 to 3, what Kubernetes uses) writes `%f` with English thousands
#   separators and `%e` as `1.500000×10⁰⁰`. The precision of `%e` is a minimum width, because cel-go
#   hands `%<precision>e` to its printer. Values inside lists and maps look like CEL literals.
# * `PLAIN` (version 4) writes numbers the way C does, and strings inside lists and maps unquoted.
#
# Facts: cel-go `ext/formatting.go` and `ext/formatting_v2.go`. Doubles are rounded from their
# exact value, ties to even, which Python's own formatting does as well.

Renderer: TypeAlias = Callable[[Any, int | None], str]
_Known: TypeAlias = dict[int, str]
"""Lists and maps that are written, by identity."""
_Part: TypeAlias = Callable[[Any, _Known], str]

_DEFAULT_PRECISION = 6
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
#: A double has at most this many fraction digits; more are zeros.
_MAX_FRACTION_DIGITS = 1074
#: Larger numbers in a clause are not recognised by Go's printers.
MAX_NUMBER = 1_000_000
_NUMBER_TEXTS = frozenset({"NaN", "Infinity", "-Infinity"})
_INTEGERS = frozenset({int, Uint})
_STRING_CLAUSE = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
    "durations, and timestamps"
)


@dataclass(frozen=True, slots=True)
class Style:
    """Per verb: how a value is rendered, the text for one that is not, and, for the validator,
    the kinds of type that are (`s` is checked in depth and is not in `accepted`)."""

    renderers: Mapping[str, Renderer]
    refusals: Mapping[str, str]
    accepted: Mapping[str, frozenset[Kind]]


def refusal(refusals: Mapping[str, str], verb: str, name: str) -> str:
    """`error during formatting: octal clause can only be used on integers, was given string`."""
    return f"error during formatting: {refusals[verb]}, was given {name}"


def _refuse(refusals: Mapping[str, str], verb: str, value: object) -> EvaluationError:
    return EvaluationError(refusal(refusals, verb, type_name(value)))


def _failed(message: str) -> EvaluationError:
    return EvaluationError(f"error during formatting: {message}")


_LEGACY_REFUSALS = {
    "s": _STRING_CLAUSE,
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "X": "only integers, byte buffers, and strings can be formatted as hex",
    "o": "octal clause can only be used on integers",
}
_PLAIN_REFUSALS = {
    "s": _STRING_CLAUSE,
    "d": "decimal clause can only be used on ints, uints, and doubles",
    "f": "fixed-point clause can only be used on ints, uints, and doubles",
    "e": "scientific clause can only be used on ints, uints, and doubles",
    "b": "only ints, uints, and bools can be formatted as binary",
    "x": "only ints, uints, bytes, and strings can be formatted as hex",
    "X": "only ints, uints, bytes, and strings can be formatted as hex",
    "o": "octal clause can only be used on ints and uints",
}


def _text(b: bytes) -> str:
    try:
        return b.decode()
    except UnicodeDecodeError as error:
        raise _failed(f"could not convert argument {go_quote(INVALID_UTF8)} to string") from error


# The legacy style


def _legacy_string(value: Any, precision: int | None) -> str:
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is bytes:
        return _text(value)
    if kind is float:
        return go_float(value)
    if kind is Timestamp:
        return format_timestamp(value)
    if kind is Duration:
        return duration_to_string(value)
    rendered = _simple(value) or _legacy_container(value, {})
    if rendered is None:
        raise _refuse(_LEGACY_REFUSALS, "s", value)
    return rendered


def _simple(value: Any) -> str | None:
    """Return what looks the same everywhere: integers, bools, null, types."""
    kind = value.__class__
    if kind in _INTEGERS:
        return str(int(value))
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    return str(value.name) if kind is Type else None


def _legacy_container(value: Value, memo: _Known) -> str | None:
    return _container(value, memo, _legacy_key, _legacy_element, ":")


def _container(value: object, memo: _Known, key: _Part, element: _Part, colon: str) -> str | None:
    """Write a list, or a map by its written keys; return None for anything else. Each object is
    written once: values that share structure are small, and would take time without end."""
    text = memo.get(id(value))
    if text is None:
        if is_list(value):
            text = f"[{written(element(item, memo) for item in value)}]"
        elif is_map(value):
            pairs = sorted(_entries(value, memo, key, element), key=_written_key)
            text = f"{{{written(f'{k}{colon}{v}' for k, v in pairs)}}}"
        else:
            return None
        memo[id(value)] = text
    return text


def _entries(value: Any, memo: _Known, key: _Part, element: _Part) -> Iterator[tuple[str, str]]:
    left = MAX_WRITTEN
    for k, v in value.items():
        pair = key(k, memo), element(v, memo)
        left -= len(pair[1])
        if left < 0:
            raise too_long()
        yield pair


def _written_key(entry: tuple[str, str]) -> str:
    return entry[0]


def _legacy_element(value: Any, memo: _Known) -> str:
    """Write a value inside a list or map: like a literal, doubles with six decimals."""
    kind = value.__class__
    if kind is str:
        return go_quote(value)
    if kind is bytes:
        return "b" + go_quote(_text(value))
    if kind is float:
        return f"{value:.6f}" if math.isfinite(value) else f'"{go_float(value)}"'
    if kind is Timestamp:
        return f'timestamp("{format_timestamp(value)}")'
    if kind is Duration:
        return f'duration("{duration_to_string(value)}")'
    rendered = _simple(value) or _legacy_container(value, memo)
    if rendered is None:
        raise _failed(f"no formatting function for {type_name(value)}")
    return rendered


def _legacy_key(key: Any, memo: _Known) -> str:
    kind = key.__class__
    if kind is str:
        return go_quote(key)
    rendered = _simple(key) if kind is bool or kind in _INTEGERS else None
    if rendered is None:
        raise _failed(f"no formatting function for map key of type {type_name(key)}")
    return rendered


def _legacy_double(verb: str, value: object) -> float:
    if value.__class__ is float:
        return float(value)
    if value.__class__ is str and value in _NUMBER_TEXTS:
        return float(value)
    raise _refuse(_LEGACY_REFUSALS, verb, value)


def _legacy_non_finite(value: float) -> str:
    return "NaN" if value != value else "∞" if value > 0 else "-∞"


def _legacy_fixed(value: object, precision: int | None) -> str:
    number = _legacy_double("f", value)
    if not math.isfinite(number):
        return _legacy_non_finite(number)
    default_precision = _DEFAULT_PRECISION if precision is None else precision
    if default_precision > MAX_NUMBER:
        default_precision = 0
    # the printer keeps the least number of fraction digits in eight bits
    digits = min(default_precision, _MAX_FRACTION_DIGITS)
    rendered = f"{number or 0.0:,.{digits}f}"
    if default_precision <= 255:
        return rendered
    whole, _, fraction = rendered.partition(".")
    fraction = fraction.rstrip("0").ljust(default_precision & 255, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _legacy_scientific(value: object, precision: int | None) -> str:
    number = _legacy_double("e", value)
    width = _DEFAULT_PRECISION if precision is None else precision
    if math.isfinite(number):
        mantissa, _, exponent = f"{number or 0.0:.6e}".partition("e")
        sign = "-" if exponent[0] == "-" else ""
        rendered = f"{mantissa}×10{(sign + exponent[1:]).translate(_SUPERSCRIPTS)}"
    else:
        rendered = _legacy_non_finite(number)
    return rendered.rjust(width) if width <= MAX_NUMBER else rendered


def _legacy_decimal(value: object, precision: int | None) -> str:
    if value.__class__ not in _INTEGERS:
        raise _refuse(_LEGACY_REFUSALS, "d", value)
    return str(int(value))


def _integral(refusals: Mapping[str, str], verb: str) -> Renderer:
    """`b`, `x`, `X` and `o` of integers, the same in both styles."""

    def render(value: Any, precision: int | None) -> str:
        kind = value.__class__
        if kind in _INTEGERS:
            return format(int(value), verb)
        if kind is bool and verb == "b":
            return "1" if value else "0"
        if verb in "xX" and (kind is str or kind is bytes):
            digits = (utf8(value) if kind is str else value).hex()
            return str(digits.upper() if verb == "X" else digits)
        raise _refuse(refusals, verb, value)

    return render


# The plain style


def _plain_string(value: Value, precision: int | None) -> str:
    return _plain_part(value, {})


def _plain_part(value: Any, memo: _Known) -> str:
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is float:
        return _plain_number(value)
    if kind is bytes:
        return str(value.decode(errors="replace"))
    if kind is Timestamp:
        return format_timestamp(Timestamp(value.seconds, value.nanos))
    if kind is Duration:
        return duration_to_string(value)
    rendered = _simple(value) or _container(value, memo, _plain_part, _plain_part, ": ")
    if rendered is None:
        raise _refuse(_PLAIN_REFUSALS, "s", value)
    return rendered


def _plain_non_finite(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _plain_number(value: float) -> str:
    return go_plain_float(value) if math.isfinite(value) else _plain_non_finite(value)


def _plain_decimal(value: object, precision: int | None) -> str:
    if value.__class__ in _INTEGERS:
        return str(int(value))
    if value.__class__ is float:
        return _plain_number(value)
    raise _refuse(_PLAIN_REFUSALS, "d", value)


def _plain_float(verb: str) -> Renderer:
    def render(value: object, precision: int | None) -> str:
        if value.__class__ is not float and value.__class__ not in _INTEGERS:
            raise _refuse(_PLAIN_REFUSALS, verb, value)
        number = float(value)
        if not math.isfinite(number):
            return _plain_non_finite(number)
        default_precision = _DEFAULT_PRECISION if precision is None else precision
        return f"{number:.{min(default_precision, MAX_NUMBER)}{verb}}"

    return render


_NUMERIC = frozenset({Kind.INT, Kind.UINT, Kind.DOUBLE})
_INTEGRAL = frozenset({Kind.INT, Kind.UINT})
_HEXABLE = _INTEGRAL | {Kind.STRING, Kind.BYTES}
_DOUBLE_OR_TEXT = frozenset({Kind.DOUBLE, Kind.STRING})

LEGACY = Style(
    {
        "s": _legacy_string,
        "d": _legacy_decimal,
        "f": _legacy_fixed,
        "e": _legacy_scientific,
        **{verb: _integral(_LEGACY_REFUSALS, verb) for verb in "bxXo"},
    },
    _LEGACY_REFUSALS,
    {
        "d": _INTEGRAL,
        "f": _DOUBLE_OR_TEXT,
        "e": _DOUBLE_OR_TEXT,
        "b": _INTEGRAL | {Kind.BOOL},
        "x": _HEXABLE,
        "X": _HEXABLE,
        "o": _INTEGRAL,
    },
)
PLAIN = Style(
    {
        "s": _plain_string,
        "d": _plain_decimal,
        "f": _plain_float("f"),
        "e": _plain_float("e"),
        **{verb: _integral(_PLAIN_REFUSALS, verb) for verb in "bxXo"},
    },
    _PLAIN_REFUSALS,
    {
        "d": _NUMERIC,
        "f": _NUMERIC,
        "e": _NUMERIC,
        "b": _INTEGRAL | {Kind.BOOL},
        "x": _HEXABLE,
        "X": _HEXABLE,
        "o": _INTEGRAL,
    },
)

_RENDERABLE = frozenset(
    {
        Kind.LIST,
        Kind.MAP,
        Kind.INT,
        Kind.UINT,
        Kind.DOUBLE,
        Kind.BOOL,
        Kind.STRING,
        Kind.TIMESTAMP,
        Kind.BYTES,
        Kind.DURATION,
        Kind.TYPE,
        Kind.NULL,
    }
)


def legacy_format(text: str, args: list[Value]) -> str:
    return _format(LEGACY, text, args)


def plain_format(text: str, args: list[Value]) -> str:
    return _format(PLAIN, text, args)


def _format(style: Style, text: str, args: list[Value]) -> str:
    try:
        return _interpolate(style, text, args)
    except RecursionError as error:
        raise EvaluationError("internal error: a value is nested too deeply") from error


def _interpolate(style: Style, text: str, args: list[Value]) -> str:
    """Return the formatted string; unused arguments are no error."""
    parts: list[str] = []
    index = length = 0
    for piece in parse(text):
        if isinstance(piece, str):
            parts.append(piece)
            continue
        if index >= len(args):
            raise EvaluationError(_out_of_range(index))
        if isinstance(piece, Broken):
            raise EvaluationError(piece.message)
        arg = args[index]
        if arg.__class__ is str and piece.verb == "s":
            part = arg
        else:
            part = style.renderers[piece.verb](arg, piece.precision)
        length += len(part)
        if length > MAX_LENGTH:
            raise too_long()
        parts.append(part)
        index += 1
    return "".join(parts)


#: No number, time or type needs more characters, with the default precision.
_LONGEST_SCALAR = 400


def formatted_size(text: Argument, args: Argument) -> Polynomial:
    """Return how long a formatted text is at most: quoted characters grow most, and what a
    precision asks for is written in full."""
    written = text.size + args.size * _LONGEST_SCALAR
    if text.is_constant and text.value.__class__ is str:
        clauses = [piece for piece in parse(text.value) if isinstance(piece, Clause)]
        return written + sum(min(clause.precision or 0, MAX_NUMBER) for clause in clauses)
    return written + text.size * MAX_NUMBER


def _out_of_range(index: int) -> str:
    return f"index {index} out of range"


def validator(style: Style) -> Validator:
    """Return what runs the clauses of literal calls over their arguments' types."""

    def check(context: ValidationContext) -> None:
        for node in context.of_class(Call):
            if node.function != "format" or len(node.args) != 1:
                continue
            text, args = node.target, node.args[0]
            if (
                isinstance(text, Literal)
                and isinstance(text.value, str)
                and isinstance(args, ListLiteral)
            ):
                _check_call(context, style, node, text.value, args.elements)

    return Validator("cel.validator.string_format", check, frozenset({"format"}))


def _check_call(
    context: ValidationContext, style: Style, call: Call, text: str, args: tuple[Expr, ...]
) -> None:
    index = 0
    for piece in parse(text):
        if isinstance(piece, str):
            continue
        if isinstance(piece, Broken) and (piece.at_end or index < len(args)):
            context.report(call.id, piece.message)
            return
        if isinstance(piece, Broken) or index >= len(args):
            context.report(call.id, _out_of_range(index))
            return
        wrong = _first_wrong(context, style, piece.verb, args[index])
        if wrong is not None:
            name = _type_of(context, wrong).name
            context.report(wrong.id, refusal(style.refusals, piece.verb, name))
            return
        index += 1
    if len(args) > index:
        context.report(
            call.id,
            f"too many arguments supplied to string.format (expected {index}, got {len(args)})",
        )


def _type_of(context: ValidationContext, node: Expr) -> Type:
    return context.checked.types.get(node.id, DYN)


def _first_wrong(
    context: ValidationContext, style: Style, verb: str, argument: Expr
) -> Expr | None:
    """Return the argument, or the part of a literal one, that the verb does not take."""
    type_ = _type_of(context, argument)
    if verb != "s":
        return None if is_dyn(type_) or type_.kind in style.accepted[verb] else argument
    if not (is_dyn(type_) or type_.kind in _RENDERABLE):
        return argument
    if isinstance(argument, (ListLiteral, MapLiteral)):
        for part in children(argument):
            wrong = _first_wrong(context, style, verb, part)
            if wrong is not None:
                return wrong
    return None


LEGACY_VALIDATOR = validator(LEGACY)
PLAIN_VALIDATOR = validator(PLAIN)


def _find_nothing(context: ValidationContext) -> None:
    pass


EXEMPTION = Validator(
    "cel.validator.string_format", _find_nothing, LEGACY_VALIDATOR.exempt_functions
)
"""Lets the arguments of `format` be of different types, and does not look at them."""
