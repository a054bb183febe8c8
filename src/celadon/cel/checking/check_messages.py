"""The messages of the checker, of its validators and of declarations, one function per text.

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
#: Ours: cel-go never ends, or has no memory left.
TOO_LARGE = "types of the expression are too large to be checked"


def undeclared_reference(name: str, container: str) -> str:
    """No variable, constant or type has the name in the container, or the function does not
    exist."""
    return f"undeclared reference to '{name}' (in container '{container}')"


def signature(arguments: Sequence[Type], *, member: bool) -> str:
    """`(int, string)`, or `string.(int)` for a member call."""
    type_names = [argument.display() for argument in arguments]
    if member:
        return f"{type_names[0]}.({', '.join(type_names[1:])})"
    return f"({', '.join(type_names)})"


def no_matching_overload(function: str, arguments: Sequence[Type], *, member: bool) -> str:
    """No overload takes arguments of these types; the receiver of a member call is the first."""
    applied = signature(arguments, member=member)
    return f"found no matching overload for '{function}' applied to '{applied}'"


def type_mismatch(expected: Type, actual: Type) -> str:
    """Say that a part must have one type (a condition bool, a list's elements the first one's) and
    has another."""
    return f"expected type '{expected.display()}' but found '{actual.display()}'"


def no_field_selection(operand: Type) -> str:
    """`operand.field` on what is neither map, message nor dyn."""
    return f"type '{operand.display()}' does not support field selection"


def undefined_field(field: str) -> str:
    """Say that a message type has no such field."""
    return f"undefined field '{field}'"


def failed_resolution(type_name: str) -> str:
    """Say that the type of a message's value is unknown to the environment."""
    return f"unexpected failed resolution of '{type_name}'"


def field_type_mismatch(field: str, expected: Type, actual: Type) -> str:
    """Say that a message literal gives a field a value of another type."""
    return (
        f"expected type of field '{field}' is '{expected.display()}' "
        f"but provided type is '{actual.display()}'"
    )


def not_a_range(actual: Type) -> str:
    """Say that a macro iterates over something that is no list, map or dyn."""
    return (
        f"expression of type '{actual.display()}' cannot be range of a comprehension "
        "(must be list, map, or dynamic)"
    )


def not_a_type(name: str) -> str:
    """Say that a literal is of what is no type, but has one."""
    return f"'{name}' is not a type"


def not_a_message_type(name: str) -> str:
    """Say that the name before `{` is that of a type without fields."""
    return f"'{name}' is not a message type"


def not_an_optional_selection(field: str) -> str:
    """Say that the key behind `.?` is no constant string (hand-built trees)."""
    return f"unsupported optional field selection: {field}"


def unexpected_node(kind: str) -> str:
    """Say that the tree has a node that parsing never gives."""
    return f"unexpected {kind} type: {kind}"


def overlapping_identifier(name: str) -> str:
    """Two variables of an environment have one name."""
    return f"overlapping identifier for name '{name}'"


def overlapping_macro(name: str, arg_count: int) -> str:
    """Say that a function could never be called, because a macro with that many arguments takes its
    calls."""
    return f"overlapping macro for name '{name}' with {arg_count} args"


def overload_collision(function: str, overload: str, other: str) -> str:
    """Two overloads of a function take the same arguments."""
    return f"overload signature collision in function {function}: {overload} collides with {other}"


def overload_redefinition(function: str, overload: str) -> str:
    """Two different overloads of a function have one id."""
    return f"overload redefinition in function. {function}: {overload} has multiple definitions"


def second_singleton(function: str) -> str:
    """Say that a function got an implementation for all its overloads twice."""
    return f"function already has a singleton binding: {function}"
