"""What the checker, its validators and the building of declarations say, one function per text.

Users read these through Kubernetes, so every text is cel-go's to the letter: `checker/errors.go`,
`cel/validator.go`, `common/decls/decls.go`. `{!s}` of a type below is always the checker's printer
(`Type.display`). The texts of the parser are in `parser.py` and `macros.py`, run-time texts with
the functions that raise them.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cel.types import Type

INVALID_DURATION = "invalid duration argument"
INVALID_TIMESTAMP = "invalid timestamp argument"
INVALID_MATCHES = "invalid matches argument"
NESTING_LIMIT = "comprehension exceeds nesting limit"

#: Ours, not cel-go's (Go grows its stack): the tree is deeper than Python lets us walk.
TOO_DEEP = "expression is nested too deeply to be checked"


def undeclared_reference(name: str, container: str) -> str:
    return f"undeclared reference to '{name}' (in container '{container}')"


def signature(arguments: Sequence[Type], *, member: bool) -> str:
    """`(int, string)`, or `string.(int)` for a member call."""
    shown = [argument.display() for argument in arguments]
    if member:
        return f"{shown[0]}.({', '.join(shown[1:])})"
    return f"({', '.join(shown)})"


def no_matching_overload(function: str, arguments: Sequence[Type], *, member: bool) -> str:
    applied = signature(arguments, member=member)
    return f"found no matching overload for '{function}' applied to '{applied}'"


def type_mismatch(expected: Type, actual: Type) -> str:
    return f"expected type '{expected.display()}' but found '{actual.display()}'"


def no_field_selection(operand: Type) -> str:
    return f"type '{operand.display()}' does not support field selection"


def undefined_field(field: str) -> str:
    return f"undefined field '{field}'"


def failed_resolution(type_name: str) -> str:
    return f"unexpected failed resolution of '{type_name}'"


def field_type_mismatch(field: str, expected: Type, actual: Type) -> str:
    return (
        f"expected type of field '{field}' is '{expected.display()}' "
        f"but provided type is '{actual.display()}'"
    )


def not_a_range(actual: Type) -> str:
    return (
        f"expression of type '{actual.display()}' cannot be range of a comprehension "
        "(must be list, map, or dynamic)"
    )


def not_a_type(name: str) -> str:
    return f"'{name}' is not a type"


def not_a_message_type(name: str) -> str:
    return f"'{name}' is not a message type"


def not_an_optional_selection(field: str) -> str:
    return f"unsupported optional field selection: {field}"


def unexpected_node(kind: str) -> str:
    return f"unexpected {kind} type: {kind}"


def overlapping_identifier(name: str) -> str:
    return f"overlapping identifier for name '{name}'"


def overlapping_macro(name: str, arg_count: int) -> str:
    return f"overlapping macro for name '{name}' with {arg_count} args"


def overload_collision(function: str, overload: str, other: str) -> str:
    return f"overload signature collision in function {function}: {overload} collides with {other}"


def overload_redefinition(function: str, overload: str) -> str:
    return f"overload redefinition in function. {function}: {overload} has multiple definitions"


def second_singleton(function: str) -> str:
    return f"function already has a singleton binding: {function}"
