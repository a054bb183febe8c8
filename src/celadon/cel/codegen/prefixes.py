"""Chain prefixes that occur more than once, computed once at the head of their scope.

`has(object.spec.x) && object.spec.x > 1 && object.spec.y` reads `object.spec` three times. In the
plain variant a prefix is computed once, when at least one of its uses is certain to be evaluated
whenever its scope (the expression, or the body of the loop that binds its base) is: then computing
it first costs nothing that would not be spent, and if it fails the metered variant decides anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from celadon.cel import syntax
from celadon.cel.chains import Chain, Step, chain_of
from celadon.cel.shapes import Bind, classify
from celadon.cel.syntax import Call, Comprehension, Expr, Ident, Select, children

#: A prefix: the name it starts from, the scope that binds the name (the id of a comprehension, 0
#: for the expression itself) and the keys applied.
Key = tuple[str, int, tuple[str, ...]]


@dataclass(slots=True)
class _Use:
    base: Ident
    steps: tuple[Step, ...]
    count: int = 0
    certain: bool = False


@dataclass(slots=True)
class SharedPrefixes:
    """The plan of one expression, and which of its prefixes are available at this point."""

    plan: dict[int, list[tuple[Key, Ident, tuple[Step, ...]]]] = field(default_factory=dict)
    bound: dict[str, int] = field(default_factory=dict)
    available: dict[Key, str] = field(default_factory=dict)
    scopes: dict[int, dict[str, int]] = field(default_factory=dict)
    tested: dict[int, Key] = field(default_factory=dict)

    def for_scope(self, scope: Comprehension | None) -> list[tuple[Key, Ident, tuple[Step, ...]]]:
        return self.plan.get(scope.id if scope else 0, [])

    def share(self, key: Key, name: str) -> None:
        self.available[key] = name

    def release(self, keys: list[object]) -> None:
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
        for term in terms:
            key = self.tested.pop(term.id, None)
            if key is not None:
                self.available.pop(key, None)

    def _tested_key(self, node: Select) -> Key | None:
        chain = chain_of(node.operand)
        keys = chain.constant_keys()
        if not keys or not isinstance(chain.base, Ident):
            return None
        owner = self.scopes.get(chain.base.id, {}).get(chain.base.name, 0)
        return chain.base.name, owner, keys

    def longest(self, base: Expr, steps: tuple[Step, ...]) -> tuple[int, str | None]:
        """How many leading steps are already computed, and the local that holds the value."""
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
    uses: dict[Key, _Use] = {}
    shared = SharedPrefixes()
    _collect(root, {}, 0, True, uses, shared)
    chosen: dict[Key, _Use] = {}
    for key, use in sorted(uses.items(), key=lambda item: len(item[0][2])):
        if use.count > 1 and use.certain:
            chosen[key] = use
    for key, use in chosen.items():
        name, scope, keys = key
        longer = [
            other
            for other, its in chosen.items()
            if other[0] == name
            and other[1] == scope
            and len(other[2]) == len(keys) + 1
            and other[2][: len(keys)] == keys
            and its.count == use.count
        ]
        if not longer:
            shared.plan.setdefault(scope, []).append((key, use.base, use.steps))
    return shared


def _constant_keys(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """The leading constant string keys before any `?`."""
    keys: list[str] = []
    for step in steps:
        if step.expr is not None or step.optional or step.key.__class__ is not str:
            break
        keys.append(step.key)
    return tuple(keys)


def _collect(
    node: Expr,
    bound: dict[str, int],
    scope: int,
    certain: bool,
    uses: dict[Key, _Use],
    shared: SharedPrefixes,
) -> None:
    """Record the prefixes below `node`. `bound` maps loop variables to their comprehension,
    `scope` is the innermost loop, `certain` whether the node is evaluated whenever it is."""
    if isinstance(node, Select | Call) and (chain := _chain(node)) is not None and chain.steps:
        if isinstance(chain.base, Ident):
            _record(chain.base, chain.steps, bound, scope, certain, uses, shared)
        else:
            _collect(chain.base, bound, scope, certain, uses, shared)
        for step in chain.steps:
            if step.expr is not None:
                _collect(step.expr, bound, scope, certain, uses, shared)
        return
    if isinstance(node, Comprehension):
        _collect_loop(node, bound, scope, certain, uses, shared)
        return
    lazy = isinstance(node, Call) and node.function in _LAZY
    for position, child in enumerate(children(node)):
        _collect(child, bound, scope, certain and not (lazy and position), uses, shared)


_LAZY = {syntax.LOGICAL_AND, syntax.LOGICAL_OR, syntax.CONDITIONAL, "or", "orValue"}


def _chain(node: Select | Call) -> Chain | None:
    if isinstance(node, Select) and node.test_only:
        return chain_of(node.operand)
    return chain_of(node)


def _record(
    base: Ident,
    steps: tuple[Step, ...],
    bound: dict[str, int],
    scope: int,
    certain: bool,
    uses: dict[Key, _Use],
    shared: SharedPrefixes,
) -> None:
    if base.name.startswith("@index"):  # a slot of a block has no scope of its own
        return
    owner = bound.get(base.name, 0)
    shared.scopes[base.id] = bound
    keys = _constant_keys(steps)
    for length in range(1, len(keys) + 1):
        use = uses.setdefault((base.name, owner, keys[:length]), _Use(base, steps[:length]))
        use.count += 1
        use.certain = use.certain or (certain and owner == scope)


def _collect_loop(
    node: Comprehension,
    bound: dict[str, int],
    scope: int,
    certain: bool,
    uses: dict[Key, _Use],
    shared: SharedPrefixes,
) -> None:
    shape = classify(node)
    if isinstance(shape, Bind):
        _collect(shape.value, bound, scope, certain, uses, shared)
        inner = {**bound, shape.name: -node.id}
        _collect(shape.body, inner, scope, certain, uses, shared)
        return
    _collect(node.iter_range, bound, scope, certain, uses, shared)
    inner = {**bound, node.iter_var: node.id, node.accu_var: -node.id}
    if node.iter_var2:
        inner[node.iter_var2] = node.id
    parts = [
        part
        for name in ("predicate", "key", "element", "value")
        if (part := getattr(shape, name, None)) is not None
    ]
    for position, part in enumerate(parts):
        _collect(part, inner, node.id, position == 0, uses, shared)
