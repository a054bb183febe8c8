"""Chain prefixes that occur more than once, computed once at the head of their scope.

`has(object.spec.x) && object.spec.x > 1 && object.spec.y` reads `object.spec` three times. In the
plain variant a prefix is computed once, when at least one of its uses is certain to be evaluated
whenever its scope (the expression, or the body of the loop that binds its base) is: then computing
it first costs nothing that would not be spent, and if it fails the metered variant decides anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from celadon.cel import syntax
from celadon.cel.analysis import tree_context
from celadon.cel.syntax import Call, Comprehension, Expr, Ident, Select, children
from celadon.records import dataclass, field

#: A prefix: the name it starts from, the scope that binds the name (the id of a comprehension, 0
#: for the expression itself) and the keys applied.
Key = tuple[str, int, tuple[str, ...]]


@dataclass(slots=True)
class _Use:
    base: Ident
    steps: tuple[tree_context.Step, ...]
    count: int = 0
    certain: bool = False


@dataclass(slots=True)
class SharedPrefixes:
    """The plan of one expression, and which of its prefixes are available at this point."""

    plan: dict[int, list[tuple[Key, Ident, tuple[tree_context.Step, ...]]]] = field(
        default_factory=dict
    )
    bound: dict[str, int] = field(default_factory=dict)
    available: dict[Key, str] = field(default_factory=dict)
    scopes: dict[int, dict[str, int]] = field(default_factory=dict)
    tested: dict[int, Key] = field(default_factory=dict)
    repeated: set[Key] = field(default_factory=set)

    def for_scope(
        self, scope: Comprehension | None
    ) -> list[tuple[Key, Ident, tuple[tree_context.Step, ...]]]:
        """Return what to compute at the head of a loop's body (None: of the expression): key, base,
        steps; shorter prefixes first."""
        return self.plan.get(scope.id if scope else 0, [])

    def share(self, key: Key, name: str) -> None:
        """From here on the local `name` holds the value of the prefix."""
        self.available[key] = name

    def repeated_key(self, base: Expr, steps: tuple[tree_context.Step, ...]) -> Key | None:
        """Return the key of a prefix that is worth keeping once it has been computed."""
        if not isinstance(base, Ident) or base.id not in self.scopes:
            return None
        keys = _constant_keys(steps)
        key = base.name, self.scopes[base.id].get(base.name, 0), keys
        return key if len(keys) == len(steps) and key in self.repeated else None

    def release(self, keys: list[object]) -> None:
        """Release the prefixes of a scope that ends: they are no longer at hand."""
        for key in keys:
            self.available.pop(key, None)  # type: ignore[call-overload]  # keys come from for_scope

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Inside a function of its own nothing is available."""
        saved, self.available = self.available, {}
        yield
        self.available = saved

    def remember_tested(self, node: Select, name: str) -> None:
        """`has(operand.field)` was just evaluated: its operand is in the local `name` for the
        terms that follow."""
        key = self._tested_key(node)
        if key is not None and key not in self.available:
            self.available[key] = name
            self.tested[node.id] = key

    def forget_tested(self, terms: list[Expr]) -> None:
        """After the last of these terms, what `remember_tested` noted for them holds no more."""
        for term in terms:
            key = self.tested.pop(term.id, None)
            if key is not None:
                self.available.pop(key, None)

    def _tested_key(self, node: Select) -> Key | None:
        chain = tree_context.chain_of(node.operand)
        keys = chain.constant_keys()
        if not keys or not isinstance(chain.base, Ident):
            return None
        owner = self.scopes.get(chain.base.id, {}).get(chain.base.name, 0)
        return chain.base.name, owner, keys

    def longest(self, base: Expr, steps: tuple[tree_context.Step, ...]) -> tuple[int, str | None]:
        """Return how many leading steps are already computed, and the local that holds the
        value."""
        if not self.available or not isinstance(base, Ident):
            return 0, None
        keys = _constant_keys(steps)
        owner = self.scopes.get(base.id, {}).get(base.name, 0)
        for length in range(len(keys), 0, -1):
            name = self.available.get((base.name, owner, keys[:length]))
            if name is not None:
                return length, name
        return 0, None


def shared_prefixes(root: Expr) -> SharedPrefixes:
    """Plan the sharing for one expression."""
    planner = _Planner()
    planner.collect(root, _Place({}, 0, certain=True, always=True))
    planner.choose()
    return planner.shared


class _Place(NamedTuple):
    """Says where a node stands: `bound` maps loop variables to their comprehension, `scope` is
    the innermost loop, `certain` whether the node is evaluated whenever that scope is, and `always`
    whether it is whenever the expression is, unless a loop has nothing to run over."""

    bound: dict[str, int]
    scope: int
    certain: bool
    always: bool

    def unsure(self) -> _Place:
        return self._replace(certain=False, always=False)


#: Calls that may leave operands after the first unevaluated.
_LAZY = frozenset({syntax.LOGICAL_AND, syntax.LOGICAL_OR, syntax.CONDITIONAL, "or", "orValue"})

#: How often a loop is thought to run.
_ROUNDS: Final = 2


class _Planner:
    """Counts the uses of prefixes, then chooses those worth a local."""

    def __init__(self) -> None:
        self.shared = SharedPrefixes()
        self.uses: dict[Key, _Use] = {}

    def choose(self) -> None:
        """Choose the prefixes worth computing first: those used once more than the next longer
        one."""
        several = {key: use for key, use in self.uses.items() if use.count > 1}
        self.shared.repeated = {key for key in several if not _is_covered(key, several)}
        chosen = {key: use for key, use in several.items() if use.certain}
        for key, use in sorted(chosen.items(), key=lambda item: len(item[0][2])):
            if not _is_covered(key, chosen):
                self.shared.plan.setdefault(key[1], []).append((key, use.base, use.steps))

    def collect(self, node: Expr, place: _Place) -> None:
        """Record the prefixes in and below a node."""
        if isinstance(node, Select | Call) and (chain := _chain(node)).steps:
            if isinstance(chain.base, Ident):
                self.record(chain.base, chain.steps, place)
            else:
                self.collect(chain.base, place)
            for step in chain.steps:
                if step.expr is not None:
                    self.collect(step.expr, place)
        elif isinstance(node, Comprehension):
            self.collect_loop(node, place)
        else:
            lazy = isinstance(node, Call) and node.function in _LAZY
            for position, child in enumerate(children(node)):
                self.collect(child, place.unsure() if lazy and position else place)

    def record(self, base: Ident, steps: tuple[tree_context.Step, ...], place: _Place) -> None:
        if base.name.startswith("@index"):  # a slot of a block has no scope of its own
            return
        owner = place.bound.get(base.name, 0)
        self.shared.scopes[base.id] = place.bound
        keys = _constant_keys(steps)
        for length in range(1, len(keys) + 1):
            key = base.name, owner, keys[:length]
            use = self.uses.setdefault(key, _Use(base, steps[:length]))
            use.count += 1 if owner == place.scope else _ROUNDS
            in_time = owner == place.scope if owner else place.always
            use.certain = use.certain or (place.certain and in_time)

    def collect_loop(self, node: Comprehension, place: _Place) -> None:
        shape = tree_context.classify(node)
        if isinstance(shape, tree_context.Bind):
            self.collect(shape.value, place)
            bound = {**place.bound, shape.name: -node.id}
            self.collect(shape.body, place._replace(bound=bound))
            return
        self.collect(node.iter_range, place)
        bound = {**place.bound, node.iter_var: node.id, node.accu_var: -node.id}
        if node.iter_var2:
            bound[node.iter_var2] = node.id
        inner = _Place(bound, node.id, certain=True, always=place.always)
        for position, part in enumerate(_parts(shape)):
            self.collect(part, inner.unsure() if position else inner)


def _is_covered(key: Key, uses: Mapping[Key, _Use]) -> bool:
    """Is a longer prefix used as often?"""
    keys = key[2]
    return any(
        other[:2] == key[:2]
        and len(other[2]) == len(keys) + 1
        and other[2][: len(keys)] == keys
        and its.count == uses[key].count
        for other, its in uses.items()
    )


def _parts(shape: tree_context.Shape) -> list[Expr]:
    """Return what a loop evaluates per round: only the first is evaluated in every round."""
    match shape:
        case tree_context.Quantified() | tree_context.ExistsOne():
            return [shape.predicate]
        case tree_context.Collect():
            return [part for part in (shape.predicate, shape.element) if part is not None]
        case tree_context.Insert():
            parts = (shape.predicate, shape.key, shape.value)
            return [part for part in parts if part is not None]
        case tree_context.Bind() | tree_context.Fold():
            return []


def _chain(node: Select | Call) -> tree_context.Chain:
    if isinstance(node, Select) and node.test_only:
        return tree_context.chain_of(node.operand)
    return tree_context.chain_of(node)


def _constant_keys(steps: tuple[tree_context.Step, ...]) -> tuple[str, ...]:
    """Return the leading constant string keys before any `?`."""
    keys: list[str] = []
    for step in steps:
        if step.expr is not None or step.optional or step.key.__class__ is not str:
            break
        keys.append(step.key)
    return tuple(keys)
