"""The tree: one final class per expression kind, plus the parsed and the checked whole.

Every node has an id that is unique and positive within its tree. What later phases learn about a
node (its position, type, resolved overloads, cost) lives in tables keyed by that id, never in the
node. A leading dot of an identifier, function or message name is kept in the name (`.x`).

House rule 9: nodes are slotted and nobody assigns to them after construction, but they are not
`frozen=True`: a frozen dataclass takes about four times as long to construct (measured: 0.9 µs
against 0.24 µs), and compiling is mostly constructing nodes.

Operators are calls whose function names are the constants below (cel-go `common/operators`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.cel.errors import Source
    from celadon.cel.types import Type
    from celadon.cel.values.text import Uint

CONDITIONAL = "_?_:_"
LOGICAL_AND = "_&&_"
LOGICAL_OR = "_||_"
LOGICAL_NOT = "!_"
EQUALS = "_==_"
NOT_EQUALS = "_!=_"
LESS = "_<_"
LESS_EQUALS = "_<=_"
GREATER = "_>_"
GREATER_EQUALS = "_>=_"
ADD = "_+_"
SUBTRACT = "_-_"
MULTIPLY = "_*_"
DIVIDE = "_/_"
MODULO = "_%_"
NEGATE = "-_"
INDEX = "_[_]"
OPT_INDEX = "_[?_]"
OPT_SELECT = "_?._"
IN = "@in"
NOT_STRICTLY_FALSE = "@not_strictly_false"
MAP_INSERT = "cel.@mapInsert"
BLOCK = "cel.@block"
#: In unchecked trees, a call with a number of arguments that no overload has: of the function's
#: name and the arguments.
UNMATCHED = "@unmatched"

ACCUMULATOR = "@result"
UNUSED = "#unused"

LiteralValue: TypeAlias = "bool | int | Uint | float | str | bytes | None"


@dataclass(slots=True, eq=False)
class Literal:
    """Holds a constant as written: null, bool, int, uint, double, string or bytes."""

    id: int
    value: LiteralValue


@dataclass(slots=True, eq=False)
class Ident:
    """A name: a variable, or (resolved by the checker) a constant or a type."""

    id: int
    name: str


@dataclass(slots=True, eq=False)
class Select:
    """Is `operand.field`, or `has(operand.field)` when `test_only`."""

    id: int
    operand: Expr
    field: str
    test_only: bool = False


@dataclass(slots=True, eq=False)
class Call:
    """Is `function(args)`, or `target.function(args)`. Operators never have a target."""

    id: int
    function: str
    target: Expr | None
    args: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class ListLiteral:
    """Is `[a, ?b]`; `optional` holds the indices of the elements written with `?`."""

    id: int
    elements: tuple[Expr, ...]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class MapEntry:
    """Is `key: value`, or `?key: value`, which an absent optional leaves out."""

    id: int
    key: Expr
    value: Expr
    optional: bool = False


@dataclass(slots=True, eq=False)
class MapLiteral:
    """Is `{k: v, ...}`; which keys repeat is known when it runs."""

    id: int
    entries: tuple[MapEntry, ...]


@dataclass(slots=True, eq=False)
class StructField:
    """Is `name: value`, or `?name: value`, which an absent optional leaves unset."""

    id: int
    name: str
    value: Expr
    optional: bool = False


@dataclass(slots=True, eq=False)
class Struct:
    """Is `pkg.Type{field: value}`."""

    id: int
    type_name: str
    fields: tuple[StructField, ...]


@dataclass(slots=True, eq=False)
class Comprehension:
    """Holds what every iterating macro becomes. `iter_var2` is empty in the one-variable form."""

    id: int
    iter_range: Expr
    iter_var: str
    iter_var2: str
    accu_var: str
    accu_init: Expr
    condition: Expr
    step: Expr
    result: Expr


@dataclass(slots=True, eq=False)
class Unspecified:
    """Stands where the parser could not build an expression; such a tree always has issues."""

    id: int


Expr: TypeAlias = (
    Literal
    | Ident
    | Select
    | Call
    | ListLiteral
    | MapLiteral
    | Struct
    | Comprehension
    | Unspecified
)


@dataclass(slots=True, eq=False)
class Ast:
    """Holds a parsed tree. `positions` maps node ids (map entries and fields too) to code-point
    offsets.

    `macro_calls` maps the id of an expanded macro's node to the call as written, with arguments
    that are themselves expanded nodes; the unparser needs it.
    """

    root: Expr
    source: Source
    positions: dict[int, int]
    macro_calls: dict[int, Call] = field(default_factory=dict)


@dataclass(slots=True, eq=False, frozen=True)
class Reference:
    """Holds what the checker resolved a node to.

    For identifiers, struct names and qualified selects: `name` is the full name and `value` the
    constant, if it is one (enums). For calls: `overloads` are the ids of all candidates, in
    declaration order, and `name` is the resolved function name.
    """

    name: str
    overloads: tuple[str, ...] = ()
    value: object = None


@dataclass(slots=True, eq=False)
class CheckedAst:
    """Holds a checked tree: the parsed one (idents, qualified selects and namespaced calls
    rewritten to their resolved names) with its two side tables."""

    ast: Ast
    types: dict[int, Type]
    references: dict[int, Reference]
    _nodes: list[Expr] | None = None

    @property
    def nodes(self) -> Sequence[Expr]:
        """Return all nodes, as `walk` gives them: each pass over the tree asks for them."""
        if self._nodes is None:
            self._nodes = walk(self.ast.root)
        return self._nodes

    @property
    def root(self) -> Expr:
        """Return the outermost node."""
        return self.ast.root

    @property
    def type(self) -> Type:
        """Return the type of the whole expression."""
        return self.types[self.ast.root.id]


def children(node: Expr) -> tuple[Expr, ...]:
    """Return the direct sub-expressions, in source order."""
    match node:
        case Literal() | Ident() | Unspecified():
            return ()
        case Select():
            return (node.operand,)
        case Call():
            return node.args if node.target is None else (node.target, *node.args)
        case ListLiteral():
            return node.elements
        case MapLiteral():
            return tuple(part for entry in node.entries for part in (entry.key, entry.value))
        case Struct():
            return tuple(f.value for f in node.fields)
        case Comprehension():
            return (node.iter_range, node.accu_init, node.condition, node.step, node.result)


def walk(node: Expr) -> list[Expr]:
    """Return all nodes, children before parents, left to right (the order cel-go's validators
    use)."""
    result: list[Expr] = []
    stack = [node]
    while stack:
        top = stack.pop()
        result.append(top)
        if top.__class__ is Call:
            if top.target is not None:
                stack.append(top.target)
            stack += top.args
        elif top.__class__ is Select:
            stack.append(top.operand)
        elif top.__class__ is not Literal and top.__class__ is not Ident:
            stack += children(top)
    result.reverse()
    return result
