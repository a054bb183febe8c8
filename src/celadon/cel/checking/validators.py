"""Checks on checked trees that are not typing: literal durations, regexes, mixed literals.

`run` gives each `Validator`, in order, one `ValidationContext` per checked tree; they run only when
the checker found nothing. Libraries bring their own (`string_format`).

Nodes are visited children first, left to right; that order decides which of several issues at one
position is shown first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cel import re2
from celadon.cel.checking import check_messages
from celadon.cel.declarations import ValidationContext, Validator
from celadon.cel.errors import EvaluationError, IssueKind, Issues
from celadon.cel.syntax import (
    Call,
    CheckedAst,
    Comprehension,
    Expr,
    ListLiteral,
    Literal,
    LiteralValue,
    MapLiteral,
)
from celadon.cel.types import Kind, Type, is_optional
from celadon.cel.values.timestamps import parse_duration, parse_timestamp, timestamp_at

_NANOSECONDS = 1_000_000_000


def run(checked: CheckedAst, validators: Sequence[Validator]) -> Issues:
    """Return what the validators, in that order, find wrong with a tree that checked."""
    exempt = frozenset().union(*(validator.exempt_functions for validator in validators))
    context = ValidationContext(checked, exempt)
    for validator in validators:
        validator.check(context)
    issues = Issues(checked.ast.source)
    for issue in context.reported:
        issues.append(issue)
    return issues


def _mismatch(
    context: ValidationContext, literal: Expr, node: Expr, expected: Type, actual: Type
) -> None:
    """Note that a node is of another type than others of its literal, which may be exempt."""
    if not _is_exempt(context, literal):
        message = check_messages.type_mismatch(expected, actual)
        context.report(node.id, message, IssueKind.TYPE_MISMATCH, (expected, actual))


def comprehension_nesting_limit(limit: int) -> Validator:
    """At most `limit` comprehensions inside each other; those over an empty list do not count."""

    def check(context: ValidationContext) -> None:
        loops = context.of_class(Comprehension)
        if len(loops) <= limit:
            return
        for node in loops:
            depth = sum(map(_iterates, (node, *context.ancestors(node))))
            if depth > limit:
                context.report(node.id, check_messages.NESTING_LIMIT)

    return Validator("cel.validator.comprehension_nesting_limit", check)


def _iterates(node: Expr) -> bool:
    if not isinstance(node, Comprehension):
        return False
    over = node.iter_range
    return not isinstance(over, ListLiteral) or bool(over.elements)


def _literal_argument(
    function: str, is_valid: Callable[[LiteralValue], bool], message: str
) -> Callable[[ValidationContext], None]:
    """Return a check of the first argument of calls of one function, where that is a literal."""

    def check(context: ValidationContext) -> None:
        for node in context.of_class(Call):
            if node.function == function and node.args:
                argument = node.args[0]
                if isinstance(argument, Literal) and not is_valid(argument.value):
                    context.report(argument.id, message)

    return check


def _is_duration(value: LiteralValue) -> bool:
    """Return whether a value is a duration. An int has an overload too, which always fails."""
    try:
        return isinstance(value, str) and parse_duration(value) is not None
    except EvaluationError:
        return False


def _is_timestamp(value: LiteralValue) -> bool:
    try:
        if value.__class__ is int:
            return timestamp_at(value * _NANOSECONDS) is not None
        return isinstance(value, str) and parse_timestamp(value) is not None
    except EvaluationError:
        return False


def _is_regex(value: LiteralValue) -> bool:
    """Return whether the value is a regular expression; for `matches(text, pattern)` this looks at
    the text, as cel-go does."""
    try:
        return isinstance(value, str) and re2.compile(value) is not None
    except re2.RegexError:
        return False


def _check_homogeneous(context: ValidationContext) -> None:
    """All lists first, then all maps. A list stops at its first mismatch, a map does not."""
    for literal in context.of_class(ListLiteral):
        if len(literal.elements) > 1:
            _check_elements(context, literal)
    for mapping in context.of_class(MapLiteral):
        if len(mapping.entries) > 1:
            _check_entries(context, mapping)


def _is_exempt(context: ValidationContext, node: Expr) -> bool:
    exempt = context.exempt_functions
    return any(
        isinstance(above, Call) and above.function in exempt for above in context.ancestors(node)
    )


def _check_elements(context: ValidationContext, node: ListLiteral) -> None:
    types = [
        _value_type(context, element, optional=position in node.optional)
        for position, element in enumerate(node.elements)
    ]
    for element, t in zip(node.elements, types, strict=True):
        if not _equivalent(types[0], t):
            _mismatch(context, node, element, types[0], t)
            return


def _check_entries(context: ValidationContext, node: MapLiteral) -> None:
    first = node.entries[0]
    key_type = _value_type(context, first.key, optional=False)
    value_type = _value_type(context, first.value, optional=first.optional)
    for entry in node.entries:
        key = _value_type(context, entry.key, optional=False)
        value = _value_type(context, entry.value, optional=entry.optional)
        if not _equivalent(key_type, key):
            _mismatch(context, node, entry.key, key_type, key)
        if not _equivalent(value_type, value):
            _mismatch(context, node, entry.value, value_type, value)


def _value_type(context: ValidationContext, node: Expr, *, optional: bool) -> Type:
    t = context.checked.types[node.id]
    return t.params[0] if optional and is_optional(t) else t


def _equivalent(a: Type, b: Type) -> bool:
    """Equal, except that a wrapper is what it wraps."""
    if a is b:
        return True
    same_kind = a.kind is b.kind or Kind.WRAPPER in (a.kind, b.kind)
    if not same_kind or a.name != b.name or len(a.params) != len(b.params):
        return False
    return all(map(_equivalent, a.params, b.params))


DURATION = Validator(
    "cel.validator.duration",
    _literal_argument("duration", _is_duration, check_messages.INVALID_DURATION),
)
TIMESTAMP = Validator(
    "cel.validator.timestamp",
    _literal_argument("timestamp", _is_timestamp, check_messages.INVALID_TIMESTAMP),
)
MATCHES = Validator(
    "cel.validator.matches", _literal_argument("matches", _is_regex, check_messages.INVALID_MATCHES)
)
HOMOGENEOUS_LITERALS = Validator("cel.validator.homogeneous_literals", _check_homogeneous)
