"""The messages of the checker, of its validators and of declarations, one function per text.

Users read these through Kubernetes, so every text is cel-go's to the letter: `checker/errors.go`,
`cel/validator.go`, `common/decls/decls.go`. `{!s}` of a type below is always the checker's printer
(`Type.display`). The texts of the parser are in `parser.py` and `macros.py`, run-time texts with
the functions that raise them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from celadon.cel import syntax
from celadon.cel.types import Type
from celadon.cel.values.text import Uint

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


def other_type(node: str, first: Type, second: Type) -> str:
    """One node, which a macro has put into the tree twice, is of two types."""
    return f"incompatible type already exists for expression: {node} old:{first}, new:{second}"


_ADDRESS: Final = hex(0xC0 << 32)
"""Where a node is; cel-go prints the address, which differs from run to run."""


def shown_node(node: syntax.Expr, originals: Mapping[int, int], *, as_protobuf: bool) -> str:
    """Return a node as messages print it, with the ids that nodes have where nothing is copied."""
    copied = sorted(originals)

    def number(node_id: int) -> int:
        return node_id - bisect_left(copied, node_id)

    own_id = number(node.id)
    if as_protobuf:
        return f"{_protobuf_text(node, number)}({own_id})"
    return f"&{{{own_id} {_ADDRESS}}}({own_id})"


def _protobuf_text(node: syntax.Expr, number: Callable[[int], int]) -> str:
    """Return a node as protobuf's text of it."""

    def inner(name: str, part: syntax.Expr | None) -> str:
        return "" if part is None else f" {name}:{{{_protobuf_text(part, number)}}}"

    match node:
        case syntax.Ident():
            body = f"ident_expr:{{name:{_quoted(node.name)}}}"
        case syntax.Literal():
            body = f"const_expr:{{{_constant(node.value)}}}"
        case syntax.Select():
            field = f" field:{_quoted(node.field)}{' test_only:true' if node.test_only else ''}"
            body = f"select_expr:{{{inner('operand', node.operand)[1:]}{field}}}"
        case syntax.Call():
            args = "".join(inner("args", arg) for arg in node.args)
            function = f" function:{_quoted(node.function)}"
            body = f"call_expr:{{{(inner('target', node.target) + function + args)[1:]}}}"
        case syntax.ListLiteral():
            elements = "".join(inner("elements", element) for element in node.elements)
            optional = "".join(f" optional_indices:{index}" for index in node.optional)
            body = f"list_expr:{{{(elements + optional)[1:]}}}"
        case syntax.MapLiteral():
            entries = (
                f"entries:{{id:{number(entry.id)}{inner('map_key', entry.key)}"
                f"{inner('value', entry.value)}{' optional_entry:true' if entry.optional else ''}}}"
                for entry in node.entries
            )
            body = f"struct_expr:{{{' '.join(entries)}}}"
        case syntax.Comprehension():
            parts = (
                f"iter_var:{_quoted(node.iter_var)}{inner('iter_range', node.iter_range)}",
                f"accu_var:{_quoted(node.accu_var)}{inner('accu_init', node.accu_init)}",
                inner("loop_condition", node.condition)[1:],
                inner("loop_step", node.step)[1:],
                inner("result", node.result)[1:],
            )
            body = f"comprehension_expr:{{{' '.join(parts)}}}"
        case _:
            body = "struct_expr:{}"
    return f"id:{number(node.id)} {body}"


def _quoted(text: str) -> str:
    import json  # late: only errors of 1.30 ask for it

    return json.dumps(text, ensure_ascii=False)


def _constant(value: syntax.LiteralValue) -> str:
    match value:
        case bool():
            return f"bool_value:{str(value).lower()}"
        case Uint():
            return f"uint64_value:{int(value)}"
        case int():
            return f"int64_value:{value}"
        case str():
            return f"string_value:{_quoted(value)}"
        case bytes():
            return f"bytes_value:{_quoted(value.decode('latin-1'))}"
        case None:
            return "null_value:NULL_VALUE"
    return f"double_value:{value}"


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
