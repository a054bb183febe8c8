"""The macros, by the library that brings them.

Which expansion each has is a fact of cel-go (`parser/macro.go`, `cel/library.go`, `ext/*.go`):
node for node the same, because costs are charged per node. The error texts are cel-go's as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from celadon.cel import syntax
from celadon.cel.errors import Source
from celadon.cel.syntax import (
    ACCUMULATOR,
    UNUSED,
    Ast,
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

# --- Expansion ---------------------------------------------------------------
#
# What a macro is, and how its expansion is built.
#
# A macro looks like a call and is replaced by another tree while parsing, before anything is
# resolved. The parser finds it by name, number of arguments, and whether there is a receiver
# (cel-go `parser/macro.go`). Its expander may
#
# * return an expression: that replaces the call; * return None: not meant, the call stays a
# call; * raise `MacroError` (through `Expansion.fail`): reported at the blamed node.
#
# Generated nodes have fresh ids and the position of the call's `(`. Arguments are used as they
# are, with their ids; what is needed twice must be copied.

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

    __slots__ = ("copy_limit", "last_id", "macro_calls", "older_texts", "originals", "positions")

    def __init__(self, copy_limit: int, *, older_texts: bool = False) -> None:
        self.older_texts = older_texts
        self.last_id = 0
        self.positions: dict[int, int] = {}
        self.macro_calls: dict[int, Call] = {}
        self.originals: dict[int, int] = {}
        self.copy_limit = copy_limit

    def tree(self, root: Expr, source: Source, *, older_optionals: bool) -> Ast:
        """Return the tree, which knows its copies where they have to be of one type."""
        originals = self.originals if older_optionals else {}
        return Ast(root, source, self.positions, self.macro_calls, originals)

    def new_id(self, offset: int) -> int:
        """Return the next node id, for a node at that code-point offset."""
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

    @property
    def may_shadow_accumulators(self) -> bool:
        """Return whether a variable may be called as accumulators once were."""
        return self._nodes.older_texts

    def literal(self, value: LiteralValue) -> Literal:
        """Return a literal, with an id of its own at the place of the macro's call. So have all
        nodes made here."""
        return Literal(self._nodes.new_id(self._offset), value)

    def ident(self, name: str) -> Ident:
        """Return a name that is not looked up: hidden variables begin with `@`."""
        return Ident(self._nodes.new_id(self._offset), name)

    def select(self, operand: Expr, field: str) -> Select:
        """Make the node of `operand.field`."""
        return Select(self._nodes.new_id(self._offset), operand, field)

    def presence_test(self, operand: Expr, field: str) -> Select:
        """Make the node of `has(operand.field)`."""
        return Select(self._nodes.new_id(self._offset), operand, field, test_only=True)

    def call(self, function: str, *args: Expr) -> Call:
        """`function(args)`, operators included."""
        return Call(self._nodes.new_id(self._offset), function, None, args)

    def member_call(self, target: Expr, function: str, *args: Expr) -> Call:
        """`target.function(args)`."""
        return Call(self._nodes.new_id(self._offset), function, target, args)

    def list(self, *elements: Expr) -> ListLiteral:
        """Make the node of `[elements]`."""
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
        """Return the same expression with fresh ids at the same positions."""
        return _copy(self._nodes, node)

    def fail(self, message: str, node: Expr | None = None) -> NoReturn:
        """Blames the node, or the call itself."""
        raise MacroError(message, self.call_id if node is None else node.id)


Expander: TypeAlias = Callable[[Expansion, Expr | None, Sequence[Expr]], Expr | None]


class Macro(NamedTuple):
    """Records a macro: its name, its arguments and its expansion. `arg_count` may be `ANY_COUNT`;
    `member` macros have a receiver."""

    name: str
    arg_count: int
    member: bool
    expander: Expander


#: Macros by name, then by number of arguments and whether there is a receiver.
MacroTable: TypeAlias = dict[str, dict[tuple[int, bool], Macro]]


def find_macro(table: MacroTable, function: str, args: int, *, member: bool) -> Macro | None:
    """Return the macro that takes a call of that form, one for any number of arguments last; None
    if the call stays a call."""
    by_shape = table.get(function)
    if by_shape is None:
        return None
    return by_shape.get((args, member)) or by_shape.get((ANY_COUNT, member))


def expand(nodes: Nodes, macro: Macro, call: Call, *, keep_call: bool) -> Expr | None:
    """Return what the call becomes, or None if it stays. Raises `MacroError`,
    `CopyLimitExceeded`."""
    expanded = macro.expander(Expansion(nodes, call.id), call.target, call.args)
    if expanded is not None and keep_call:
        nodes.macro_calls[expanded.id] = call
    return expanded


def _copy(nodes: Nodes, root: Expr) -> Expr:
    """Copy a tree without recursion: expansions of nested macros may be very deep."""
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
    if len(nodes.originals) >= nodes.copy_limit:
        raise CopyLimitExceeded
    new_id = nodes.new_id(nodes.positions[node_id])
    nodes.originals[new_id] = nodes.originals.get(node_id, node_id)
    return new_id


def _rebuild(nodes: Nodes, node: Expr, copies: dict[int, Expr]) -> Expr:
    """Return a copy of one node whose children have copies already."""
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


#: Iteration variables may not have these names.
_ACCUMULATORS = (ACCUMULATOR, "__result__")

NOT_A_SIMPLE_NAME = "argument must be a simple name"
NOT_AN_IDENTIFIER = "argument is not an identifier"
OVERWRITES_ACCUMULATOR = "iteration variable overwrites accumulator variable"
INVALID_HAS = "invalid argument to has() macro"
INVALID_EXTENSION = "invalid extension field"
NOT_SORTABLE = (
    "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
)


class _Loop(NamedTuple):
    """The parts of a comprehension that differ between iterating macros."""

    accu_init: Expr
    condition: Expr
    step: Expr
    result: Expr


def _variable(x: Expansion, node: Expr, message: str) -> str:
    """Return the name of an iteration variable."""
    if not isinstance(node, Ident):
        x.fail(message, node)
    return node.name


def _refuse_accumulator(x: Expansion, name: str, node: Expr) -> None:
    if name in _ACCUMULATORS:
        x.fail(OVERWRITES_ACCUMULATOR, node)


def _one_variable(x: Expansion, args: Sequence[Expr], message: str) -> tuple[str, str]:
    name = _variable(x, args[0], message)
    if not x.may_shadow_accumulators:
        _refuse_accumulator(x, name, args[0])
    return name, ""


def _two_variables(x: Expansion, args: Sequence[Expr]) -> tuple[str, str]:
    first, second = (_variable(x, node, NOT_A_SIMPLE_NAME) for node in args[:2])
    if first == second:
        x.fail(f"duplicate variable name: {first}", args[1])
    for name, node in zip((first, second), args, strict=False):
        _refuse_accumulator(x, name, node)
    return first, second


def _iterate(
    x: Expansion, target: Expr | None, variables: tuple[str, str], loop: _Loop
) -> Expr | None:
    if target is None:
        return None
    accu = (ACCUMULATOR, loop.accu_init)
    return x.comprehension(target, variables, accu, loop.condition, loop.step, loop.result)


def _accumulator(x: Expansion) -> Expr:
    return x.ident(ACCUMULATOR)


def _all_loop(x: Expansion, predicate: Expr) -> _Loop:
    return _Loop(
        x.literal(True),
        x.call(syntax.NOT_STRICTLY_FALSE, _accumulator(x)),
        x.call(syntax.LOGICAL_AND, _accumulator(x), predicate),
        _accumulator(x),
    )


def _exists_loop(x: Expansion, predicate: Expr) -> _Loop:
    negated = x.call(syntax.LOGICAL_NOT, _accumulator(x))
    return _Loop(
        x.literal(False),
        x.call(syntax.NOT_STRICTLY_FALSE, negated),
        x.call(syntax.LOGICAL_OR, _accumulator(x), predicate),
        _accumulator(x),
    )


def _exists_one_loop(x: Expansion, predicate: Expr) -> _Loop:
    incremented = x.call(syntax.ADD, _accumulator(x), x.literal(1))
    return _Loop(
        x.literal(0),
        x.literal(True),
        x.call(syntax.CONDITIONAL, predicate, incremented, _accumulator(x)),
        x.call(syntax.EQUALS, _accumulator(x), x.literal(1)),
    )


def _collect_loop(x: Expansion, init: Expr, step: Expr, predicate: Expr | None) -> _Loop:
    """Add to an aggregate in every step, or in those where the predicate holds."""
    if predicate is not None:
        step = x.call(syntax.CONDITIONAL, predicate, step, _accumulator(x))
    return _Loop(init, x.literal(True), step, _accumulator(x))


def _append(x: Expansion, element: Expr) -> Expr:
    return x.call(syntax.ADD, _accumulator(x), x.list(element))


def _has(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    operand = args[0]
    if not isinstance(operand, Select):
        x.fail(INVALID_HAS, operand)
    return x.presence_test(operand.operand, operand.field)


def _all(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _one_variable(x, args, NOT_A_SIMPLE_NAME)
    return _iterate(x, target, variables, _all_loop(x, args[1]))


def _exists(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _one_variable(x, args, NOT_A_SIMPLE_NAME)
    return _iterate(x, target, variables, _exists_loop(x, args[1]))


def _exists_one(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _one_variable(x, args, NOT_A_SIMPLE_NAME)
    return _iterate(x, target, variables, _exists_one_loop(x, args[1]))


def _map(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _one_variable(x, args, NOT_AN_IDENTIFIER)
    predicate = args[1] if len(args) == 3 else None
    loop = _collect_loop(x, x.list(), _append(x, args[-1]), predicate)
    return _iterate(x, target, variables, loop)


def _filter(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _one_variable(x, args, NOT_AN_IDENTIFIER)
    loop = _collect_loop(x, x.list(), _append(x, args[0]), args[1])
    return _iterate(x, target, variables, loop)


def _all2(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _two_variables(x, args)
    return _iterate(x, target, variables, _all_loop(x, args[2]))


def _exists2(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _two_variables(x, args)
    return _iterate(x, target, variables, _exists_loop(x, args[2]))


def _exists_one2(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _two_variables(x, args)
    return _iterate(x, target, variables, _exists_one_loop(x, args[2]))


def _transform_list(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _two_variables(x, args)
    predicate = args[2] if len(args) == 4 else None
    loop = _collect_loop(x, x.list(), _append(x, args[-1]), predicate)
    return _iterate(x, target, variables, loop)


def _transform_map(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _two_variables(x, args)
    predicate = args[2] if len(args) == 4 else None
    step = x.call(syntax.MAP_INSERT, _accumulator(x), args[0], args[-1])
    return _iterate(x, target, variables, _collect_loop(x, x.empty_map(), step, predicate))


def _transform_map_entry(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    variables = _two_variables(x, args)
    predicate = args[2] if len(args) == 4 else None
    step = x.call(syntax.MAP_INSERT, _accumulator(x), args[-1])
    return _iterate(x, target, variables, _collect_loop(x, x.empty_map(), step, predicate))


def _bind_value(
    x: Expansion, name: str, value: Expr, result: Expr, nothing: Expr | None = None
) -> Expr:
    """Return `result` with a name for a value: a loop over nothing whose accumulator is the
    name."""
    nothing = nothing or x.list()
    return x.comprehension(
        nothing, (UNUSED, ""), (name, value), x.literal(False), x.ident(name), result
    )


def _optional_fold(
    x: Expansion, target: Expr, args: Sequence[Expr], macro: str
) -> tuple[Expr, Expr]:
    """Return the condition that the target has a value, and the second argument with the value
    bound."""
    variable = args[0]
    if not isinstance(variable, Ident):
        x.fail(f"{macro}() variable name must be a simple identifier", variable)
    has_value, nothing = x.member_call(target, "hasValue"), x.list()
    value = x.member_call(x.copy(target), "value")
    return has_value, _bind_value(x, variable.name, value, args[1], nothing)


def _opt_map(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    if target is None:
        return None
    has_value, fold = _optional_fold(x, target, args, "optMap")
    some = x.call("optional.of", fold)
    return x.call(syntax.CONDITIONAL, has_value, some, x.call("optional.none"))


def _opt_flat_map(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    if target is None:
        return None
    has_value, fold = _optional_fold(x, target, args, "optFlatMap")
    return x.call(syntax.CONDITIONAL, has_value, fold, x.call("optional.none"))


_SORT_INPUT = "@__sortBy_input__"
_SORTABLE = (syntax.ListLiteral, Select, Ident, syntax.Comprehension, Call)


def _sort_by(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    if target is None:
        return None
    if not isinstance(target, _SORTABLE):
        x.fail(NOT_SORTABLE, target)
    keys = _map(x, x.ident(_SORT_INPUT), args)
    if keys is None:
        return None
    result = x.member_call(x.ident(_SORT_INPUT), "@sortByAssociatedKeys", keys)
    return _bind_value(x, _SORT_INPUT, target, result)


def _is_namespace(target: Expr | None, name: str) -> bool:
    return isinstance(target, Ident) and target.name == name


def _bind(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    if not _is_namespace(target, "cel"):
        return None
    variable = args[0]
    if not isinstance(variable, Ident):
        x.fail("cel.bind() variable names must be simple identifiers", variable)
    return _bind_value(x, variable.name, args[1], args[2])


def _block(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    if not _is_namespace(target, "cel"):
        return None
    if not isinstance(args[0], syntax.ListLiteral):
        x.fail("cel.block requires the first arg to be a list literal", args[0])
    return x.call(syntax.BLOCK, *args)


def _block_index(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
    if not _is_namespace(target, "cel"):
        return None
    index = _natural(args[0])
    if index is None:
        x.fail("cel.index requires a single non-negative int constant arg", args[0])
    return x.ident(f"@index{index}")


def _block_variable(macro: str, prefix: str) -> Expander:
    def expand(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
        if not _is_namespace(target, "cel"):
            return None
        depth, unique = _natural(args[0]), _natural(args[1])
        if depth is None or unique is None:
            blamed = args[0] if depth is None else args[1]
            x.fail(f"{macro} requires two non-negative int constant args", blamed)
        return x.ident(f"{prefix}:{depth}:{unique}")

    return expand


def _natural(node: Expr) -> int | None:
    """Return the value of a literal int that is not negative."""
    if isinstance(node, Literal) and node.value.__class__ is int and node.value >= 0:
        return node.value
    return None


def _proto_extension(*, presence: bool) -> Expander:
    def expand(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
        if not _is_namespace(target, "proto"):
            return None
        name = _qualified_name(args[1])
        if name is None:
            x.fail(INVALID_EXTENSION, args[1])
        return x.presence_test(args[0], name) if presence else x.select(args[0], name)

    return expand


def _qualified_name(node: Expr) -> str | None:
    """`a.b.c` of one or more selections that start at an identifier."""
    if not isinstance(node, Select):
        return None
    fields: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        fields.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    return ".".join((node.name, *reversed(fields)))


def _extremum(macro: str, function: str) -> Expander:
    def expand(x: Expansion, target: Expr | None, args: Sequence[Expr]) -> Expr | None:
        if not _is_namespace(target, "math"):
            return None
        if not args:
            x.fail(f"{macro}() requires at least one argument")
        if len(args) == 1:
            if not _may_be_numbers(args[0]):
                x.fail(f"{macro}() invalid single argument value", args[0])
            return x.call(function, args[0])
        for arg in args:
            if not _may_be_number(arg):
                x.fail(f"{macro}() simple literal arguments must be numeric", arg)
        return x.call(function, *args) if len(args) == 2 else x.call(function, x.list(*args))

    return expand


def _may_be_number(node: Expr) -> bool:
    match node:
        case Literal():
            return isinstance(node.value, int | float) and not isinstance(node.value, bool)
        case syntax.ListLiteral() | syntax.MapLiteral() | syntax.Struct():
            return False
        case _:
            return True


def _may_be_numbers(node: Expr) -> bool:
    """Return whether a single argument may be a number or a list of numbers."""
    if isinstance(node, syntax.ListLiteral):
        return bool(node.elements) and all(_may_be_number(e) for e in node.elements)
    return _may_be_number(node)


STANDARD_MACROS: tuple[Macro, ...] = (
    Macro("has", 1, member=False, expander=_has),
    Macro("all", 2, member=True, expander=_all),
    Macro("exists", 2, member=True, expander=_exists),
    Macro("exists_one", 2, member=True, expander=_exists_one),
    Macro("map", 2, member=True, expander=_map),
    Macro("map", 3, member=True, expander=_map),
    Macro("filter", 2, member=True, expander=_filter),
)

OPTIONAL_MACROS: tuple[Macro, ...] = (
    Macro("optMap", 2, member=True, expander=_opt_map),
    Macro("optFlatMap", 2, member=True, expander=_opt_flat_map),
)

TWO_VARIABLE_MACROS: tuple[Macro, ...] = (
    Macro("all", 3, member=True, expander=_all2),
    Macro("exists", 3, member=True, expander=_exists2),
    Macro("existsOne", 3, member=True, expander=_exists_one2),
    Macro("exists_one", 3, member=True, expander=_exists_one2),
    Macro("transformList", 3, member=True, expander=_transform_list),
    Macro("transformList", 4, member=True, expander=_transform_list),
    Macro("transformMap", 3, member=True, expander=_transform_map),
    Macro("transformMap", 4, member=True, expander=_transform_map),
    Macro("transformMapEntry", 3, member=True, expander=_transform_map_entry),
    Macro("transformMapEntry", 4, member=True, expander=_transform_map_entry),
)

LISTS_MACROS: tuple[Macro, ...] = (Macro("sortBy", 2, member=True, expander=_sort_by),)

MATH_MACROS: tuple[Macro, ...] = (
    Macro("least", ANY_COUNT, member=True, expander=_extremum("math.least", "math.@min")),
    Macro("greatest", ANY_COUNT, member=True, expander=_extremum("math.greatest", "math.@max")),
)

BINDINGS_MACROS: tuple[Macro, ...] = (Macro("bind", 3, member=True, expander=_bind),)

#: Only test harnesses have these; `cel.@block` itself is made by optimizers.
BLOCK_MACROS: tuple[Macro, ...] = (
    Macro("block", 2, member=True, expander=_block),
    Macro("index", 1, member=True, expander=_block_index),
    Macro("iterVar", 2, member=True, expander=_block_variable("cel.iterVar", "@it")),
    Macro("accuVar", 2, member=True, expander=_block_variable("cel.accuVar", "@ac")),
)

PROTOS_MACROS: tuple[Macro, ...] = (
    Macro("getExt", 2, member=True, expander=_proto_extension(presence=False)),
    Macro("hasExt", 2, member=True, expander=_proto_extension(presence=True)),
)
