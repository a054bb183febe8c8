"""`string.format`, and the check of calls whose format string and argument list are literals."""

from __future__ import annotations

from typing import Any

from celadon.cel.errors import EvaluationError
from celadon.cel.library.texts.format_styles import LEGACY, MAX_NUMBER, PLAIN, Style, refusal
from celadon.cel.pricing.growth import Argument, Polynomial
from celadon.cel.syntax import Call, Expr, ListLiteral, Literal, MapLiteral, children
from celadon.cel.types import DYN, Kind, Type, is_dyn
from celadon.cel.validator import ValidationContext, Validator
from celadon.cel.values.exchange.format_clauses import Broken, Clause, parse
from celadon.cel.values.text import MAX_LENGTH, too_long

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


def legacy_format(text: str, args: list[Any]) -> str:
    return _format(LEGACY, text, args)


def plain_format(text: str, args: list[Any]) -> str:
    return _format(PLAIN, text, args)


def _format(style: Style, text: str, args: list[Any]) -> str:
    try:
        return _interpolate(style, text, args)
    except RecursionError as error:
        raise EvaluationError("internal error: a value is nested too deeply") from error


def _interpolate(style: Style, text: str, args: list[Any]) -> str:
    """The formatted string; unused arguments are no error."""
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
    """How long a formatted text is at most: quoted characters grow most, and what a precision asks
    for is written in full."""
    written = text.size + args.size * _LONGEST_SCALAR
    if text.is_constant and text.value.__class__ is str:
        clauses = [piece for piece in parse(text.value) if isinstance(piece, Clause)]
        return written + sum(min(clause.precision or 0, MAX_NUMBER) for clause in clauses)
    return written + text.size * MAX_NUMBER


def _out_of_range(index: int) -> str:
    return f"index {index} out of range"


def validator(style: Style) -> Validator:
    """Runs the clauses of literal calls over their arguments' types."""

    def check(context: ValidationContext) -> None:
        for node in context.nodes:
            match node:
                case Call(
                    function="format",
                    target=Literal(value=str(text)),
                    args=(ListLiteral(elements=elements),),
                ):
                    _check_call(context, style, node, text, elements)
                case _:
                    pass

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
            given = _type_of(context, wrong).name
            context.report(wrong.id, refusal(style.refusals, piece.verb, given))
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
    """The argument, or the part of a literal one, that the verb does not take."""
    found = _type_of(context, argument)
    if verb != "s":
        return None if is_dyn(found) or found.kind in style.accepted[verb] else argument
    if not (is_dyn(found) or found.kind in _RENDERABLE):
        return argument
    if isinstance(argument, (ListLiteral, MapLiteral)):
        for part in children(argument):
            wrong = _first_wrong(context, style, verb, part)
            if wrong is not None:
                return wrong
    return None


LEGACY_VALIDATOR = validator(LEGACY)
PLAIN_VALIDATOR = validator(PLAIN)
