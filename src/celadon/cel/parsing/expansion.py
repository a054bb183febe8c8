"""What a macro is, and how its expansion is built.

A macro looks like a call and is replaced by another tree while parsing, before anything is
resolved. The parser finds it by name, number of arguments, and whether there is a receiver
(cel-go `parser/macro.go`). Its expander may

* return an expression: that replaces the call;
* return None: not meant, the call stays a call;
* raise `MacroError` (through `Expansion.fail`): reported at the blamed node.

Generated nodes have fresh ids and the position of the call's `(`. Arguments are used as they are,
with their ids; what is needed twice must be copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from celadon.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    LiteralValue,
    MapEntry,
    MapLiteral,
    Select,
    Struct,
    StructField,
    Unspecified,
    children,
)

#: `Macro.arg_count` of a macro that takes any number of arguments.
ANY_COUNT = -1


class MacroError(Exception):
    """The call is a macro's, its arguments are not. `node` is the id of the node to blame."""

    def __init__(self, message: str, node: int) -> None:
        super().__init__(message)
        self.message = message
        self.node = node


class CopyLimitExceeded(Exception):
    """Macros copied more nodes than `ParseLimits.copied_nodes`."""


class Nodes:
    """Ids, positions and recorded macro calls of the tree being built."""

    __slots__ = ("copied", "copy_limit", "last_id", "macro_calls", "positions")

    def __init__(self, copy_limit: int) -> None:
        self.last_id = 0
        self.positions: dict[int, int] = {}
        self.macro_calls: dict[int, Call] = {}
        self.copied = 0
        self.copy_limit = copy_limit

    def new_id(self, offset: int) -> int:
        """The next node id, for a node at that code-point offset."""
        self.last_id = node_id = self.last_id + 1
        self.positions[node_id] = offset
        return node_id


class Expansion:
    """Builds the nodes of one macro's expansion."""

    __slots__ = ("_nodes", "_offset", "call_id")

    def __init__(self, nodes: Nodes, call_id: int) -> None:
        self._nodes = nodes
        self._offset = nodes.positions[call_id]
        self.call_id = call_id

    def literal(self, value: LiteralValue) -> Literal:
        """A literal, with an id of its own at the place of the macro's call. So have all nodes made
        here."""
        return Literal(self._nodes.new_id(self._offset), value)

    def ident(self, name: str) -> Ident:
        """A name, not looked up: hidden variables begin with `@`."""
        return Ident(self._nodes.new_id(self._offset), name)

    def select(self, operand: Expr, field: str) -> Select:
        """`operand.field`."""
        return Select(self._nodes.new_id(self._offset), operand, field)

    def presence_test(self, operand: Expr, field: str) -> Select:
        """`has(operand.field)`."""
        return Select(self._nodes.new_id(self._offset), operand, field, test_only=True)

    def call(self, function: str, *args: Expr) -> Call:
        """`function(args)`, operators included."""
        return Call(self._nodes.new_id(self._offset), function, None, args)

    def member_call(self, target: Expr, function: str, *args: Expr) -> Call:
        """`target.function(args)`."""
        return Call(self._nodes.new_id(self._offset), function, target, args)

    def list(self, *elements: Expr) -> ListLiteral:
        """`[elements]`."""
        return ListLiteral(self._nodes.new_id(self._offset), elements)

    def empty_map(self) -> MapLiteral:
        """`{}`, which maps are built up from."""
        return MapLiteral(self._nodes.new_id(self._offset), ())

    def comprehension(
        self,
        iter_range: Expr,
        variables: tuple[str, str],
        accu: tuple[str, Expr],
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> Comprehension:
        """`variables` are one or two names (the second empty); `accu` is name and initial value."""
        node_id = self._nodes.new_id(self._offset)
        return Comprehension(node_id, iter_range, *variables, *accu, condition, step, result)

    def copy(self, node: Expr) -> Expr:
        """The same expression with fresh ids at the same positions."""
        return _copy(self._nodes, node)

    def fail(self, message: str, node: Expr | None = None) -> NoReturn:
        """Blames the node, or the call itself."""
        raise MacroError(message, self.call_id if node is None else node.id)


Expander: TypeAlias = Callable[[Expansion, Expr | None, Sequence[Expr]], Expr | None]


class Macro(NamedTuple):
    """`arg_count` may be `ANY_COUNT`; `member` macros have a receiver."""

    name: str
    arg_count: int
    member: bool
    expander: Expander


#: Macros by name, then by number of arguments and whether there is a receiver.
MacroTable: TypeAlias = dict[str, dict[tuple[int, bool], Macro]]


def find_macro(table: MacroTable, function: str, args: int, *, member: bool) -> Macro | None:
    """The macro that takes a call of that form, one for any number of arguments last; None if the
    call stays a call."""
    by_shape = table.get(function)
    if by_shape is None:
        return None
    return by_shape.get((args, member)) or by_shape.get((ANY_COUNT, member))


def expand(nodes: Nodes, macro: Macro, call: Call, *, keep_call: bool) -> Expr | None:
    """What the call becomes, or None if it stays. Raises `MacroError`, `CopyLimitExceeded`."""
    expanded = macro.expander(Expansion(nodes, call.id), call.target, call.args)
    if expanded is not None and keep_call:
        nodes.macro_calls[expanded.id] = call
    return expanded


def _copy(nodes: Nodes, root: Expr) -> Expr:
    """Without recursion: expansions of nested macros may be very deep."""
    copies: dict[int, Expr] = {}
    pending: list[tuple[Expr, bool]] = [(root, False)]
    while pending:
        node, parts_are_copied = pending.pop()
        if node.id in copies:
            continue
        if parts_are_copied:
            copies[node.id] = _rebuild(nodes, node, copies)
            continue
        pending.append((node, True))
        pending.extend((child, False) for child in children(node))
        call = nodes.macro_calls.get(node.id)
        if call is not None:
            pending.append((call, False))
    for node_id in list(copies):
        call = nodes.macro_calls.get(node_id)
        if call is not None:
            call_copy = copies[call.id]
            assert isinstance(call_copy, Call)
            nodes.macro_calls[copies[node_id].id] = call_copy
    return copies[root.id]


def _copy_id(nodes: Nodes, node_id: int) -> int:
    nodes.copied += 1
    if nodes.copied > nodes.copy_limit:
        raise CopyLimitExceeded
    return nodes.new_id(nodes.positions[node_id])


def _rebuild(nodes: Nodes, node: Expr, copies: dict[int, Expr]) -> Expr:
    """A copy of one node whose children have copies already."""
    new_id = _copy_id(nodes, node.id)
    match node:
        case Call():
            target = None if node.target is None else copies[node.target.id]
            return Call(new_id, node.function, target, tuple(copies[a.id] for a in node.args))
        case Comprehension():
            return _rebuild_comprehension(new_id, node, copies)
        case Select():
            return Select(new_id, copies[node.operand.id], node.field, node.test_only)
        case ListLiteral():
            elements = tuple(copies[element.id] for element in node.elements)
            return ListLiteral(new_id, elements, node.optional)
        case MapLiteral():
            return MapLiteral(new_id, tuple(_rebuild_entry(nodes, e, copies) for e in node.entries))
        case Struct():
            fields = tuple(_rebuild_field(nodes, field, copies) for field in node.fields)
            return Struct(new_id, node.type_name, fields)
        case Ident():
            return Ident(new_id, node.name)
        case Literal():
            return Literal(new_id, node.value)
        case Unspecified():
            return Unspecified(new_id)


def _rebuild_entry(nodes: Nodes, entry: MapEntry, copies: dict[int, Expr]) -> MapEntry:
    entry_id = _copy_id(nodes, entry.id)
    return MapEntry(entry_id, copies[entry.key.id], copies[entry.value.id], entry.optional)


def _rebuild_field(nodes: Nodes, field: StructField, copies: dict[int, Expr]) -> StructField:
    field_id = _copy_id(nodes, field.id)
    return StructField(field_id, field.name, copies[field.value.id], field.optional)


def _rebuild_comprehension(
    new_id: int, node: Comprehension, copies: dict[int, Expr]
) -> Comprehension:
    return Comprehension(
        new_id,
        copies[node.iter_range.id],
        node.iter_var,
        node.iter_var2,
        node.accu_var,
        copies[node.accu_init.id],
        copies[node.condition.id],
        copies[node.step.id],
        copies[node.result.id],
    )
