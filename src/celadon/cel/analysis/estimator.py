"""The estimated cost: what an evaluation can cost at least and at most, from the tree alone.

Interval arithmetic over the checked tree as in cel-go `checker/cost.go`, before any folding. What
a call costs is in its overload's `CostRule`; this module knows the rest: names, selects, logic,
loops, and where sizes come from:

* literals have exact sizes, scalars size 1;
* a rule may tell the size of its result;
* anything else is asked of `Sizes` by its path (`("self", "items", "@items", "name")`), which is
  how schemas bring in their limits; unknown is [0, 2**64 - 1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, assert_never

from celadon.cel.analysis.comprehension_shapes import Bind, classify
from celadon.cel.declarations import Contents, Function, Overload
from celadon.cel.pricing.cost_rules import (
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
from celadon.cel.switches import Switches
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
from celadon.cel.types import DYN, STRING, Kind, Type, is_optional
from celadon.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str, ...]

ITEMS = "@items"
KEYS = "@keys"
VALUES = "@values"

_SCALARS = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})
_STEPS = {Contents.ITEM: ITEMS, Contents.VALUE: VALUES}
_CHARGED_SELECTS = frozenset({Kind.MAP, Kind.OBJECT, Kind.TYPE_PARAM})


class Sizes(Protocol):
    """What is known of the sizes of inputs."""

    def size(self, path: Path, type_: Type) -> Range | None:
        """The size of the value at a path, or None where nothing is known."""


def estimate(
    checked: CheckedAst,
    functions: Mapping[str, Function],
    sizes: Sizes | None,
    switches: Switches,
) -> Range:
    """The cost range of a whole expression; anything at all if it is nested too deeply."""
    try:
        return _Estimator(checked, functions, sizes, switches).cost(checked.root)
    except RecursionError:
        return UNKNOWN


@dataclass(slots=True)
class _Local:
    """What a comprehension variable stands for: a path, or an expression's sizes."""

    path: Path
    sized: Sized | None


class _Estimator:
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
        self.entries: dict[int, tuple[Sized | None, Sized | None]] = {}

    # --- costs ----------------------------------------------------------------------------------

    def cost(self, node: Expr) -> Range:
        match node:
            case Literal() | Unspecified():
                return ZERO
            case Ident():
                local = self.locals.get(node.name)
                self.paths[node.id] = local.path if local else (node.name,)
                if local is not None and local.sized is not None:
                    self._adopt(node, local.sized)
                return ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._sum(node.elements, LIST_CREATE_COST)
            case MapLiteral():
                parts = [part for entry in node.entries for part in (entry.key, entry.value)]
                return self._sum(parts, MAP_CREATE_COST)
            case Struct():
                return self._sum([f.value for f in node.fields], STRUCT_CREATE_COST)
            case Comprehension():
                return self._comprehension(node)
            case _:
                assert_never(node)

    def _sum(self, parts: Sequence[Expr], start: int) -> Range:
        total = fixed(start)
        for part in parts:
            total = total.plus(self.cost(part))
        return total

    def _select(self, node: Select) -> Range:
        cost = self.cost(node.operand)
        if node.test_only:
            return cost.plus(ONE) if self.switches.presence_test_has_cost else cost
        self.paths[node.id] = (*self.paths.get(node.operand.id, ()), node.field)
        kind = self.checked.types[node.operand.id].kind
        return cost.plus(ONE) if kind in _CHARGED_SELECTS else cost

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            cost = self.cost(node.args[0])
            self._adopt(node, self.sized(node.args[0]))
            return ONE.plus(cost)
        costs = [self.cost(arg) for arg in node.args]
        target = ZERO if node.target is None else self.cost(node.target)
        args = node.args if node.target is None else (node.target, *node.args)
        reference = self.checked.references.get(node.id)
        overloads = reference.overloads if reference else ()
        if not overloads:
            return ZERO
        sized = [self.sized(arg) for arg in args]
        total, size = self._overloads(node, overloads, costs, sized)
        if size is not None:
            self.computed[node.id] = size
        return target.plus(total)

    def _overloads(
        self, node: Call, overloads: Sequence[str], costs: list[Range], sized: list[Sized]
    ) -> tuple[Range, Range | None]:
        """The union over all candidate overloads, arguments included."""
        total: Range | None = None
        size: Range | None = None
        function = self.functions.get(node.function)
        for name in overloads:
            overload = _named(function, name)
            one = _called(function, overload, costs, sized)
            total = one.cost if total is None else total.union(one.cost)
            if one.size is not None:
                size = one.size if size is None else size.union(one.size)
            if overload is not None and overload.contents is not None:
                self._hold(node, overload.contents, sized)
        assert total is not None, "there is at least one overload"
        return total, size

    def _hold(self, node: Call, contents: Contents, sized: list[Sized]) -> None:
        """Give a call what is known of what it returns a part of."""
        if contents is Contents.JOINED:
            elements = [s.element for s in sized if s.element is not None]
            if elements:
                self.entries[node.id] = _union(elements), None
            return
        self.paths[node.id] = (*self.paths.get(node.args[0].id, ()), _STEPS[contents])
        if sized[0].element is not None:
            self._adopt(node, sized[0].element)

    # --- comprehensions ---------------------------------------------------------------------------

    def _comprehension(self, node: Comprehension) -> Range:
        total = self.cost(node.iter_range).plus(self.cost(node.accu_init))
        accumulator = _Local((), self.sized(node.accu_init))
        if isinstance(classify(node), Bind):
            accumulator = _Local(self.paths.get(node.accu_init.id, ()), accumulator.sized)
            with self._scope({node.accu_var: accumulator}):
                total = total.plus(self.cost(node.result))
                self._adopt(node, self.sized(node.result))
            return total
        with self._scope({node.accu_var: accumulator}):
            with self._scope(self._variables(node)):
                per_round = self.cost(node.condition).plus(self.cost(node.step))
            total = total.plus(self.cost(node.result))
        rounds = self.sized(node.iter_range).size
        match node.accu_init:
            case Literal():
                self.computed[node.id] = ONE
            case ListLiteral() | MapLiteral():
                self.computed[node.id] = rounds
                if node.step.id in self.entries:
                    self.entries[node.id] = self.entries[node.step.id]
            case _:
                pass
        return total.plus(rounds.times(per_round))

    def _variables(self, node: Comprehension) -> dict[str, _Local]:
        path = self.paths.get(node.iter_range.id, ())
        over = self.sized(node.iter_range)
        is_map = self.checked.types[node.iter_range.id].kind is Kind.MAP
        if not node.iter_var2:
            return {node.iter_var: _Local((*path, KEYS if is_map else ITEMS), self._first(over))}
        if is_map:
            return {
                node.iter_var: _Local((*path, KEYS), over.key),
                node.iter_var2: _Local((*path, VALUES), over.element),
            }
        return {
            node.iter_var: _Local((), None),
            node.iter_var2: _Local((*path, ITEMS), over.element),
        }

    @staticmethod
    def _first(over: Sized) -> Sized | None:
        return over.key if over.type.kind is Kind.MAP else over.element

    @contextmanager
    def _scope(self, names: Mapping[str, _Local]) -> Iterator[None]:
        outer, self.locals = self.locals, {**self.locals, **names}
        yield
        self.locals = outer

    # --- sizes ------------------------------------------------------------------------------------

    def sized(self, node: Expr) -> Sized:
        """The node as an argument of a rule."""
        element, key = self._entry_sizes(node)
        size = self._size(node)
        return Sized(node, self._type(node), size or UNKNOWN, element, key)

    def _type(self, node: Expr) -> Type:
        """The checked type; the field name of `a.?b` is a literal that the checker skips."""
        return self.checked.types.get(node.id, STRING)

    def _size(self, node: Expr) -> Range | None:
        if node.id in self.computed:
            return self.computed[node.id]
        exact = _literal_size(node)
        if exact is not None:
            return fixed(exact)
        type_ = self._type(node)
        if self.sizes is not None and node.id in self.paths:
            known = self.sizes.size(self.paths[node.id], type_)
            if known is not None:
                return known
        return ONE if _is_scalar(type_) else None

    def _entry_sizes(self, node: Expr) -> tuple[Sized | None, Sized | None]:
        """The sizes of one element (or map value) and of one map key."""
        if node.id in self.entries:
            return self.entries[node.id]
        if isinstance(node, ListLiteral):
            return _union([self.sized(element) for element in node.elements]), None
        if isinstance(node, MapLiteral):
            values = _union([self.sized(entry.value) for entry in node.entries])
            return values, _union([self.sized(entry.key) for entry in node.entries])
        path, type_ = self.paths.get(node.id), self._type(node)
        if self.sizes is None or path is None or not type_.params:
            return None, None
        part = ITEMS if type_.kind is Kind.LIST else VALUES
        element = self.sizes.size((*path, part), type_.params[-1])
        key = self.sizes.size((*path, KEYS), type_.params[0]) if part is VALUES else None
        return (
            Sized(node, type_.params[-1], element) if element else None,
            Sized(node, type_.params[0], key) if key else None,
        )

    def _adopt(self, node: Expr, sized: Sized) -> None:
        """Give a node the sizes of the expression it stands for."""
        if sized.size != UNKNOWN:
            self.computed[node.id] = sized.size
        if sized.element is not None or sized.key is not None:
            self.entries[node.id] = sized.element, sized.key


def _named(function: Function | None, name: str) -> Overload | None:
    overloads = () if function is None else function.overloads
    return next((one for one in overloads if one.id == name), None)


def _called(
    function: Function | None, overload: Overload | None, costs: list[Range], sized: list[Sized]
) -> CallEstimate:
    """One overload: its operands, and what it costs itself."""
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


def _union(parts: list[Sized]) -> Sized:
    if not parts:
        return _NOTHING
    size = parts[0].size
    for part in parts[1:]:
        size = size.union(part.size)
    return Sized(parts[0].node, parts[0].type, size, parts[0].element, parts[0].key)


#: What an empty list literal contains.
_NOTHING = Sized(Literal(0, None), DYN, ZERO)


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
