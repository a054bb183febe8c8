"""The estimated cost: what an evaluation can cost at least and at most, from the tree alone.

Interval arithmetic over the checked tree as in cel-go `checker/cost.go`, before any folding. What
a call costs is in its overload's `CostRule`; this module knows the rest: names, selects, logic,
loops, and where sizes come from:

* literals have exact sizes, scalars size 1;
* a rule may tell the size of its result;
* anything else is asked of `Sizes` by its path (`("self", "items", "@items", "name")`), which is
  how schemas bring in their limits; unknown is [0, 2**64 - 1];
* what an expression makes itself has entries of known sizes, one level deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, assert_never

from celadon.cel.analysis.tree_context import Bind, classify
from celadon.cel.cost import (
    LIST_CREATE_COST,
    MAP_CREATE_COST,
    ONE,
    STRUCT_CREATE_COST,
    UNKNOWN,
    ZERO,
    CallEstimate,
    Range,
    Sized,
    fixed,
)
from celadon.cel.declarations import Contents, Function, Overload, Switches
from celadon.cel.syntax import (
    Call,
    CheckedAst,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    Struct,
    Unspecified,
)
from celadon.cel.types import STRING, Kind, Type, is_optional
from celadon.records import dataclass

Path = tuple[str, ...]

ITEMS = "@items"
KEYS = "@keys"
VALUES = "@values"

_SCALARS = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})
_STEPS: Mapping[Contents | None, str] = {Contents.ITEM: ITEMS, Contents.VALUE: VALUES}
_RUNS_OVER: Mapping[Kind, str] = {Kind.LIST: ITEMS, Kind.MAP: KEYS}
_PARTS = {
    (True, True): "@indices",
    (True, False): ITEMS,
    (False, True): KEYS,
    (False, False): VALUES,
}
"""The step from a list (or not) to a key (or not)."""
_CHARGED_SELECTS = frozenset({Kind.MAP, Kind.OBJECT, Kind.TYPE_PARAM})


class Sizes(Protocol):
    """Holds what is known of the sizes of inputs."""

    def size(self, path: Path, type_: Type) -> Range | None:
        """Return the size of the value at a path, or None where nothing is known."""


def estimate(
    checked: CheckedAst, functions: Mapping[str, Function], sizes: Sizes | None, switches: Switches
) -> Range:
    """Return the cost range of a whole expression; anything at all if it is nested too deeply."""
    estimator = _OlderEstimator if switches.older_sizes else _Estimator
    try:
        return estimator(checked, functions, sizes, switches).cost(checked.root)
    except RecursionError:
        return UNKNOWN


class _Entry(NamedTuple):
    """The sizes of one key (or index) and of one value (or element) of a map or list."""

    kind: Kind
    key: Range
    value: Range


def _either(left: _Entry | None, right: _Entry | None) -> _Entry | None:
    """Return what is known of either: only what is known of both."""
    if left is None or right is None:
        return None
    return _Entry(left.kind, left.key.union(right.key), left.value.union(right.value))


@dataclass(slots=True)
class _Local:
    """Holds what a comprehension variable stands for: a path, and what else is known of its
    size."""

    path: Path
    size: Range | None = None
    entry: _Entry | None = None


class _Estimator:
    """cel-go's `coster`. The order in which it looks for a size is part of the result: a schema
    knows better than a type, and both better than what a variable was bound to."""

    def __init__(
        self,
        checked: CheckedAst,
        functions: Mapping[str, Function],
        sizes: Sizes | None,
        switches: Switches,
    ) -> None:
        self.checked = checked
        self.functions = functions
        self.sizes = sizes
        self.switches = switches
        self.locals: dict[str, _Local] = {}
        self.paths: dict[int, Path] = {}
        self.computed: dict[int, Range] = {}
        self.entries: dict[int, _Entry] = {}

    # --- costs ----------------------------------------------------------------------------------

    def cost(self, node: Expr) -> Range:
        match node:
            case Literal() | Unspecified():
                return ZERO
            case Ident():
                self.paths[node.id] = self._path(node) if node.name in self.locals else (node.name,)
                return ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                cost, (item,) = self._parts(node.elements, 1, LIST_CREATE_COST)
                self.entries[node.id] = _Entry(Kind.LIST, ONE, item)
                return cost
            case MapLiteral():
                parts = [part for entry in node.entries for part in (entry.key, entry.value)]
                cost, (key, value) = self._parts(parts, 2, MAP_CREATE_COST)
                self.entries[node.id] = _Entry(Kind.MAP, key, value)
                return cost
            case Struct():
                fields = [field.value for field in node.fields]
                return self._parts(fields, 1, STRUCT_CREATE_COST)[0]
            case Comprehension():
                return self._comprehension(node)
            case _:
                assert_never(node)

    def _parts(
        self, parts: Sequence[Expr], kinds: int, start: int
    ) -> tuple[Range, tuple[Range, ...]]:
        """Return what all cost, and the sizes of those of each kind, which take turns."""
        total = fixed(start)
        sizes: list[Range | None] = [None] * kinds
        for position, part in enumerate(parts):
            total = total.plus(self.cost(part))
            size, before = self._size(part) or UNKNOWN, sizes[position % kinds]
            sizes[position % kinds] = size if before is None else before.union(size)
        return total, tuple(ZERO if size is None else size for size in sizes)

    def _select(self, node: Select) -> Range:
        cost = self.cost(node.operand)
        if node.test_only:
            return cost.plus(ONE) if self.switches.presence_test_has_cost else cost
        self.paths[node.id] = (*self._path(node.operand), node.field)
        kind = self.checked.types[node.operand.id].kind
        return cost.plus(ONE) if kind in _CHARGED_SELECTS else cost

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            cost = self.cost(node.args[0])
            self._adopt(node, node.args[0])
            return ONE.plus(cost)
        return self._overloaded(node)

    def _overloaded(self, node: Call) -> Range:
        costs: list[Range] = []
        sized: list[Sized] = []
        for arg in node.args:
            costs.append(self.cost(arg))
            sized.append(self.sized(arg))
        reference = self.checked.references.get(node.id)
        overloads = reference.overloads if reference else ()
        if not overloads:
            return ZERO
        target = ZERO
        if node.target is not None:
            target = self.cost(node.target)
            sized.insert(0, self.sized(node.target))
        total, size = self._overloads(node, overloads, costs, sized)
        if size is not None:
            self.computed[node.id] = size
        return target.plus(total)

    def _overloads(
        self, node: Call, overloads: Sequence[str], costs: list[Range], sized: list[Sized]
    ) -> tuple[Range, Range | None]:
        """Return the union over all candidate overloads, arguments included; the size of an index
        of what is only known when it runs is that of its last overload."""
        total: Range | None = None
        size: Range | None = None
        function = self.functions.get(node.function)
        for name in overloads:
            overload = _named(function, name)
            called = _called(function, overload, costs, sized)
            total = called.cost if total is None else total.union(called.cost)
            if called.size is not None:
                size = called.size if size is None else size.union(called.size)
            size = self._result(node, overload, size)
        assert total is not None, "there is at least one overload"
        return total, size

    def _result(self, node: Call, overload: Overload | None, size: Range | None) -> Range | None:
        """Note what the result of a call holds, and return its size, which is `size` unless the
        overload or the type says better."""
        contents = None if overload is None else overload.contents
        if contents in _STEPS:
            entry = self._entry(node.args[0])
            size = None if entry is None else entry.value
            self.paths[node.id] = (*self._path(node.args[0]), _STEPS[contents])
        elif contents is not None:
            self._hold(node, node.args[1:] if contents is Contents.CHOSEN else node.args)
        return self._size(node) if size is None else size

    def _hold(self, node: Call, parts: Sequence[Expr]) -> None:
        """Give a call the elements of its operands."""
        left, right = parts
        entry = _either(self._entry(left), self._entry(right))
        if entry is not None:
            self.entries[node.id] = entry

    # --- comprehensions ---------------------------------------------------------------------------

    def _comprehension(self, node: Comprehension) -> Range:
        total = self.cost(node.iter_range).plus(self.cost(node.accu_init))
        outer = self.locals
        self._bind(node.accu_var, self._local(node.accu_init))
        if isinstance(classify(node), Bind):
            total = total.plus(self.cost(node.result))
            self.locals = outer
            self._adopt(node, node.result)
            return total
        accumulating = self.locals
        self._bind_variables(node)
        per_round = self.cost(node.condition).plus(self.cost(node.step))
        self.locals = accumulating
        total = total.plus(self.cost(node.result))
        self.locals = outer
        rounds = self._size(node.iter_range) or UNKNOWN
        match node.accu_init:
            case Literal():
                self.computed[node.id] = self._size(node.accu_init) or UNKNOWN
            case ListLiteral() | MapLiteral():
                self.computed[node.id] = rounds
                if (entry := self._entry(node.step)) is not None:
                    self.entries[node.id] = entry
            case _:
                pass
        return total.plus(rounds.times(per_round))

    def _local(self, node: Expr) -> _Local:
        return _Local(self._path(node), self._size(node), self._entry(node))

    def _bind(self, name: str, local: _Local) -> None:
        self.locals = {**self.locals, name: local}

    def _bind_variables(self, node: Comprehension) -> None:
        """Bind the variables. The second is looked for where the first may hide what both run
        over."""
        if node.iter_var2:
            self._bind(node.iter_var, self._part_of(node.iter_range, is_key=True))
            self._bind(node.iter_var2, self._part_of(node.iter_range, is_key=False))
            return
        entry = self._entry(node.iter_range)
        kind = self._type(node.iter_range).kind if entry is None else entry.kind
        self._bind(node.iter_var, self._part_of(node.iter_range, is_key=kind is not Kind.LIST))

    def _part_of(self, over: Expr, *, is_key: bool) -> _Local:
        entry = self._entry(over)
        is_list = (self._type(over).kind if entry is None else entry.kind) is Kind.LIST
        step = _PARTS[is_list, is_key]
        size = None if entry is None else entry.key if is_key else entry.value
        return _Local((*self._path(over), step), size)

    # --- sizes ------------------------------------------------------------------------------------

    def sized(self, node: Expr) -> Sized:
        """Return the node as an argument of a rule."""
        size, type_ = self._size(node), self._type(node)
        path, items = self._path(node), None
        if self.sizes is not None and path and type_.params:
            items = self.sizes.size((*path, ITEMS), type_.params[0])
        return Sized(node, type_, size or UNKNOWN, items or UNKNOWN, is_known=size is not None)

    def _type(self, node: Expr) -> Type:
        """Return the checked type; the field name of `a.?b` is a literal that the checker skips."""
        return self.checked.types.get(node.id, STRING)

    def _path(self, node: Expr) -> Path:
        if isinstance(node, Ident) and (local := self.locals.get(node.name)) is not None:
            return local.path
        return self.paths.get(node.id, ())

    def _size(self, node: Expr) -> Range | None:
        if node.id in self.computed:
            return self.computed[node.id]
        exact = _literal_size(node)
        if exact is not None:
            return fixed(exact)
        type_ = self._type(node)
        if self.sizes is not None and (path := self._path(node)):
            size = self.sizes.size(path, type_)
            if size is not None:
                self.computed[node.id] = size
                return size
        if self._is_single(type_):
            return ONE
        local = self.locals.get(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.size

    def _is_single(self, type_: Type) -> bool:
        return _is_scalar(type_)

    def _entry(self, node: Expr) -> _Entry | None:
        if node.id in self.entries:
            return self.entries[node.id]
        local = self.locals.get(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.entry

    def _adopt(self, node: Expr, source: Expr) -> None:
        """Give a node the sizes of the expression it stands for."""
        size, entry = self._size(source), self._entry(source)
        if size is not None:
            self.computed[node.id] = size
        if entry is not None:
            self.entries[node.id] = entry


class _OlderEstimator(_Estimator):
    """cel-go's `coster` before 0.23. It knows what a loop's variable runs over, and the size of
    what calls make, but not what lists and maps hold; and whatever a loop makes is said to be as
    large as what it runs over. A schema knows better than a type here, too."""

    def _call(self, node: Call) -> Range:
        return self._overloaded(node)

    def _result(self, node: Call, overload: Overload | None, size: Range | None) -> Range | None:
        contents = None if overload is None else overload.contents
        if contents in _STEPS:
            self.paths[node.id] = (*self._path(node.args[0]), _STEPS[contents])
        return size

    def _comprehension(self, node: Comprehension) -> Range:
        total = self.cost(node.iter_range).plus(self.cost(node.accu_init))
        outer = self.locals
        step = _RUNS_OVER.get(self._type(node.iter_range).kind)
        path = () if step is None else (*self._path(node.iter_range), step)
        self._bind(node.accu_var, _Local(()))
        self._bind(node.iter_var, _Local(path))
        per_round = self.cost(node.condition).plus(self.cost(node.step))
        self.locals = outer
        self._bind(node.accu_var, _Local(()))
        total = total.plus(self.cost(node.result))
        self.locals = outer
        rounds = self._size(node.iter_range) or UNKNOWN
        self.computed[node.id] = rounds
        return total.plus(rounds.times(per_round))

    def _entry(self, node: Expr) -> _Entry | None:
        return None

    def _is_single(self, type_: Type) -> bool:
        return type_.kind in _SCALARS


def _named(function: Function | None, name: str) -> Overload | None:
    overloads = () if function is None else function.overloads
    return next((overload for overload in overloads if overload.id == name), None)


def _called(
    function: Function | None, overload: Overload | None, costs: list[Range], sized: list[Sized]
) -> CallEstimate:
    """Return the cost of one overload: its operands, and what it costs itself."""
    if overload is not None and overload.lazily is not None:
        return overload.lazily(costs, sized)
    arguments = ZERO
    for cost in costs:
        arguments = arguments.plus(cost)
    rule = None if overload is None else overload.cost
    if rule is None and function is not None:
        rule = function.cost
    if rule is None:
        return CallEstimate(arguments.plus(ONE))
    estimated = rule.estimated(sized)
    return CallEstimate(arguments.plus(estimated.cost), estimated.size)


def _is_scalar(t: Type) -> bool:
    return t.kind in _SCALARS or (is_optional(t) and all(map(_is_scalar, t.params)))


def _literal_size(node: Expr) -> int | None:
    match node:
        case Literal(value=str() | bytes()):
            return len(node.value)  # type: ignore[arg-type]  # matched just now
        case Literal():
            return 1
        case ListLiteral():
            return len(node.elements)
        case MapLiteral():
            return len(node.entries)
        case _:
            return None
