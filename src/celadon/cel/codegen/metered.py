"""The metered variant, exact in values, errors and costs; and the traced one, which reports them.

`Metered.value(node)` emits statements that compute the node and returns an atom (a local name or
a literal) that holds the value, which may be an `EvaluationError`: errors are values here, because
cel-go goes on evaluating (and charging) the other operand after one failed.

The cost is the local `c`; `L` is the limit. Steps that cost 1 are added up at compile time
(`_charge`) and written out before anything that can branch, loop, or charge a computed amount.
INVARIANT (cost of a cancelled evaluation): cel-go stops after the step that went over the limit.
Single steps can only go over by one, so crossing it between two computed charges reports
limit + 1; a computed charge reports the sum. Hence the two kinds of checks in `_flush` and `_add`.

Sources: cel-go `interpreter/runtimecost.go`, `interpreter/interpretable.go`; the reference of the
cost model is in the tests of the recorded corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Final, assert_never

from celadon.cel import syntax
from celadon.cel.analysis.tree_context import Context, Step, chain_of, is_conditional, terms
from celadon.cel.codegen import metered_constructs
from celadon.cel.codegen.emitter import Emitter, GeneratedModule
from celadon.cel.codegen.metered_constructs import LOGICAL, comprehension
from celadon.cel.cost import LIST_CREATE_COST, MAP_CREATE_COST
from celadon.cel.runtime import unbound
from celadon.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    Struct,
    Unspecified,
    walk,
)
from celadon.cel.values.text import Uint

METERED_PARAMETERS: Final = {
    "a": "the variables, by name",
    "c": "the cost so far",
    "L": "the limit of the cost",
}


def metered_module(context: Context) -> GeneratedModule:
    """Return the module whose function `metered(a, L)` returns the value or error, and the cost."""
    emitter = Emitter()
    Metered(context, emitter).write("metered")
    return emitter.finish(METERED_PARAMETERS)


class Metered:
    """Writes the metered variant of one expression into an emitter. `shared` are the parameters
    that all its functions have; one that `traces` takes no shortcuts (see `traced`)."""

    shared = "a, L"
    traces = False

    def __init__(self, context: Context, emitter: Emitter) -> None:
        self.context = context
        self.emitter = emitter
        self.locals: Mapping[str, str] = {}
        self.lazies: frozenset[str] = frozenset()
        self._pending = 0
        self._inputs: dict[str, tuple[str, int]] = {}

    # --- functions ----------------------------------------------------------------------------

    def write(self, name: str) -> None:
        """Write the function of that name and the shared parameters: (value or error, cost)."""
        e = self.emitter
        root = self.context.checked.root
        with e.function(f"def {name}({self.shared}):", root.id):
            e.emit("c = 0")
            self.locals = e.begin_unpaid_work(self.context)
            self._body(root)

    def _body(self, root: Expr, write: Callable[[Expr], str] | None = None) -> None:
        e = self.emitter
        outer, self._inputs = self._inputs, {}
        pending, self._pending = self._pending, 0
        with e.capture(levels=0) as captured:
            result = (write or self.value)(root)
            self.flush()
            e.emit(f"if c > L: raise {e.runtime('over_limit')}(L + 1)")
            e.emit(f"return {result}, c", root.id)
        for variable, (local, node) in self._inputs.items():
            key, missing = e.key(variable), e.bind(unbound(variable), "u")
            with e.block("try:", node):
                e.emit(f"{local} = a[{key}]")
            with e.block(f"except {e.runtime('KeyError')}:"):
                e.emit(f"{local} = a[{key}] if {key} in a else {missing}")
        e.splice(captured)
        self._inputs, self._pending = outer, pending

    def outlined(self, node: Expr, write: Callable[[Expr], str] | None = None) -> str:
        """Return the node computed by a function of its own, because the nesting is too deep here.
        `write` writes it, if not as a value."""
        e = self.emitter
        self.flush()
        name = e.name("f")
        names = ", ".join([self.shared, "c", *dict.fromkeys(self.locals.values())])
        with e.function(f"def {name}({names}):", node.id):
            self._body(node, write)
        result = e.name()
        e.emit(f"{result}, c = {name}({names})", node.id)
        return result

    def lazy(self, node: Expr) -> str:
        """Return a local that computes the node at its first use (see `runtime.Lazy`)."""
        e = self.emitter
        self.flush()
        compute, bound = e.name("g"), e.name("b")
        pending, self._pending = self._pending, 0
        with e.block(f"def {compute}(c):", node.id):
            result = self.value(node)
            self.flush()
            e.emit(f"return {result}, c")
        self._pending = pending
        e.emit(f"{bound} = {e.runtime('Lazy')}({compute})")
        return bound

    # --- charging -----------------------------------------------------------------------------

    def charge(self, units: int = 1) -> None:
        """Single steps; written out by the next `flush`."""
        self._pending += units

    def flush(self) -> None:
        """Write out the single steps charged so far: before anything that branches, loops, or
        charges a computed amount."""
        if self._pending:
            self.emitter.emit(f"c += {self._pending}")
            self._pending = 0

    def add(self, amount: str, node: int = 0) -> None:
        """Add a computed (or lumped) charge and, with it, the check of the limit."""
        e = self.emitter
        n = e.assign(amount, node)
        e.emit(f"c += {n} + {self._pending}" if self._pending else f"c += {n}", node)
        self._pending = 0
        e.emit(f"if c > L: raise {e.runtime('over_limit')}(L + 1 if c - {n} > L else c)", node)

    # --- for tracing: see `traced` ------------------------------------------------------------

    def terms(self, node: Call) -> list[Expr]:
        """Return what a run of logical operators is evaluated as."""
        return list(node.args) if self.traces else terms(node)

    def reached(self, node: Expr, atom: str) -> None:
        """Note that the atom holds the value of a node that is evaluated as part of a larger
        one."""

    def walked(self, base: str, run: Sequence[Step], walk: str) -> None:
        """Note that a run of constant keys was applied to a value, as that function of the runtime
        does."""

    @contextmanager
    def loop(self, header: str, node: Comprehension) -> Iterator[None]:
        """Begin the loop of a comprehension."""
        with self.emitter.loop(header, node.id):
            yield

    def round(self, node: Comprehension, names: Mapping[str, str]) -> None:
        """Begin a round of a loop, with its variables."""

    # --- errors -------------------------------------------------------------------------------

    def is_error(self, atom: str) -> str:
        """Return the source of a test: error values have exactly this class."""
        return f"{atom}.__class__ is {self.emitter.runtime('EvaluationError')}"

    # --- values -------------------------------------------------------------------------------

    def value(self, node: Expr, *, branch: bool = False) -> str:
        """`branch` marks the chosen branch of a conditional: cel-go makes the whole conditional
        one attribute, so that a branch's own attribute is not charged again."""
        if self.context.is_constant(node):
            return self.emitter.named(self.context.constant(node))
        if self.emitter.is_deep() and not isinstance(node, Ident):
            return self.outlined(node, partial(self.value, branch=branch))
        match node:
            case Ident():
                return self._ident(node, branch=branch)
            case Select():
                if node.test_only:
                    return self._has(node, part=branch)
                return self._chain(node, branch=branch)
            case Call(function=syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT):
                return self._chain(node, branch=branch)
            case Call():
                write = LOGICAL.get(node.function) or metered_constructs.writer(self.context, node)
                return write(self, node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return comprehension(self, node)
            case Struct():
                return metered_constructs.struct(self, node)
            case Literal() | Unspecified():
                raise AssertionError("literals are constants; unspecified nodes never check")
            case _:
                assert_never(node)

    @contextmanager
    def scope(self, names: Mapping[str, str], lazy: str | None = None) -> Iterator[None]:
        """Names visible inside; `lazy` is the one that is bound to a `Lazy`."""
        outer, self.locals = self.locals, {**self.locals, **names}
        lazies = self.lazies
        self.lazies = (lazies - names.keys()) | ({lazy} if lazy else frozenset())
        yield
        self.locals, self.lazies = outer, lazies

    @contextmanager
    def branch(self, header: str, node: int = 0) -> Iterator[None]:
        """Begin a block that may not run; pending charges stay on their own side."""
        self.flush()
        with self.emitter.block(header, node):
            yield
            self.flush()

    # --- names and chains -----------------------------------------------------------------------

    def _ident(self, node: Ident, *, branch: bool) -> str:
        if node.id in self.context.constants:
            return self.emitter.named(self.context.constants[node.id])
        name = self._name(node)
        if not branch:
            self.charge()
        return self.resolved(node, name)

    def resolved(self, node: Expr, atom: str) -> str:
        """Return the value of an attribute: an optional may not come out as it went in."""
        if not self.context.may_reopen(node):
            return atom
        e = self.emitter
        test = f"{atom}.__class__ is {e.runtime('Optional')}"
        return e.assign(f"{e.runtime('reopened')}({atom}) if {test} else {atom}", node.id)

    def _name(self, node: Ident) -> str:
        """Return the local of an identifier, nothing charged for the identifier itself."""
        local = self.locals.get(node.name)
        if local is None:
            return self._input(node)
        if node.name not in self.lazies:
            return local
        result = self.emitter.name()
        self.flush()
        self.emitter.emit(f"{result}, c = {local}.get(c)", node.id)
        return result

    def _input(self, node: Ident) -> str:
        name = node.name.removeprefix(".")
        if name not in self._inputs:
            self._inputs[name] = self.emitter.name("x"), node.id
        return self._inputs[name][0]

    def base(self, base: Expr) -> str:
        """Return the value that a chain starts from, nothing charged for an identifier."""
        if not isinstance(base, Ident) or self._is_constant_ident(base):
            return self.value(base)
        name = self._name(base)
        self.reached(base, name)
        return name

    def _is_constant_ident(self, node: Ident) -> bool:
        return node.id in self.context.constants

    def is_bound(self, node: Ident) -> bool:
        """Return whether it is a name of the expression's own rather than an input."""
        return node.name in self.locals or node.id in self.context.constants

    def _chain(self, node: Expr, *, branch: bool) -> str:
        """Write a chain. The attribute is charged 1 once all is applied, but for conditionals and
        their branches: what panics on the way is not followed by that charge."""
        chain = chain_of(node)
        result = self.steps(self.base(chain.base), chain.steps)
        if not branch and not is_conditional(chain.base):
            self.charge()
        return result

    def steps(self, base: str, steps: tuple[Step, ...], *, inner: bool = False) -> str:
        """Apply qualifiers to a value: constant runs at once, computed keys one by one. An Optional
        is unwrapped only where the chain begins, not further in (`inner`)."""
        if not inner and self._may_begin_with_optional(steps):
            return self._unwrapped(base, steps)
        if any(step.optional for step in steps):
            return self._optional_steps(base, steps, inner=inner)
        run: list[Step] = []
        for position, step in enumerate(steps):
            if step.expr is None:
                run.append(step)
                continue
            base = self._run(base, run, inner=inner) if run else base
            return self._computed(base, step, steps[position + 1 :])
        return self._run(base, run, inner=inner) if run else base

    def _may_begin_with_optional(self, steps: tuple[Step, ...]) -> bool:
        """May the chain begin with an Optional, and would its steps not see to that themselves?"""
        first = next((i for i, s in enumerate(steps) if s.optional or s.expr is not None), -1)
        if first < 0 or not self.context.may_be_optional(steps[0].operand):
            return False
        return first > 0 or any(step.expr is not None for step in steps)

    def _unwrapped(self, base: str, steps: tuple[Step, ...]) -> str:
        """Apply all steps to the value of an Optional, if that is there; else no key is even
        evaluated."""
        e = self.emitter
        self.flush()
        base = base if base.isidentifier() else e.assign(base)
        result = e.assign(base)
        with self.branch(f"if {base}.__class__ is not {e.runtime('Optional')}:", steps[0].node.id):
            e.emit(f"{result} = {self.steps(base, steps, inner=True)}")
        with self.branch(f"elif {base} is not {e.runtime('NONE')}:"):
            self._optional_keys(base, steps, result, inner=False)
        return result

    def _run(self, base: str, run: list[Step], *, inner: bool) -> str:
        """Write a run of constant keys: native subscripts, the slow walk where they fail."""
        e = self.emitter
        result, node = e.name(), run[-1].node.id
        names = "".join(f"{e.constant(step.key)}, " for step in run)
        function = e.runtime("walk_inner_v" if inner else "walk_v")
        walk = f"{function}({base}, ({names}))"
        if all(step.key.__class__ is str for step in run):
            self.charge(len(run))
            with e.block("try:", node):
                e.emit(f"{result} = {base}{''.join(f'[{e.key(step.key)}]' for step in run)}", node)
            with e.block(f"except {e.runtime('Exception')}:", node):
                self._walk(walk, result, len(run), node)
        else:
            count = e.name("n")
            if len(run) == 1 and run[0].key.__class__ is int and run[0].key >= 0:
                key = e.constant(run[0].key)
                test = f"{base}.__class__ is {e.runtime('list')} and {e.runtime('len')}({base})"
                walk = f"({base}[{key}], 1) if {test} > {key} else {walk}"
            e.emit(f"{result}, {count} = {walk}", node)
            self.flush()
            e.emit(f"c += {count}", node)
        self.walked(base, run, function)
        return result

    def _walk(self, walk: str, result: str, charged: int, node: int) -> None:
        e = self.emitter
        count = e.name("n")
        e.emit(f"{result}, {count} = {walk}", node)
        e.emit(f"c += {count} - {charged}", node)

    def _computed(self, base: str, step: Step, rest: tuple[Step, ...]) -> str:
        """One computed key and what follows it; nothing of it runs when the base failed."""
        e = self.emitter
        if not base.isidentifier():
            base = e.assign(base)
        result = e.name()
        with self.branch(f"if {self.is_error(base)}:", step.node.id):
            e.emit(f"{result} = {base}")
        with self.branch("else:"):
            key = metered_constructs.key(self, step.expr)
            self.flush()
            kinds = (
                f"{base}.__class__ is {e.runtime('dict')} and {key}.__class__ is {e.runtime('str')}"
            )
            slow = f"{e.runtime('index_v')}({base}, {key})"
            code = f"{base}[{key}] if {kinds} and {key} in {base} else {slow}"
            e.emit(f"{result} = {code}", step.node.id)
            self.charge()
            self.reached(step.node, result)
            if rest:
                e.emit(f"{result} = {self.steps(result, rest, inner=True)}", rest[-1].node.id)
        return result

    def _optional_steps(self, base: str, steps: tuple[Step, ...], *, inner: bool) -> str:
        e = self.emitter
        walk = self.context.presence("walk_optional_v")
        first = next(i for i, step in enumerate(steps) if step.optional)
        constant = all(step.expr is None and step.key.__class__ is str for step in steps)
        if first:
            base, inner = self.steps(base, steps[:first], inner=inner), True
        self.flush()
        result = e.assign(e.runtime("NONE"))
        if constant and walk == "walk_optional_v" and not self.traces:
            self._optional_maps(base, steps[first:], result, inner=inner)
            return result
        with e.block(f"if {self.is_error(base)}:"):
            e.emit(f"{result} = {base}")
        with e.block("else:"):
            self._optional_keys(base, steps[first:], result, inner=inner)
        return result

    def _optional_keys(
        self, operand: str, steps: tuple[Step, ...], result: str, *, inner: bool
    ) -> None:
        """Apply keys of any kind one after the other; a key behind an absent one is not even
        evaluated. `inner` as for `_optional_maps`."""
        e = self.emitter
        step, name, count = steps[0], e.name(), e.name("n")
        key = e.constant(step.key) if step.expr is None else metered_constructs.key(self, step.expr)
        self.flush()
        optional = e.runtime("Optional")
        walk = self.context.presence("walk_inner_optional_v" if inner else "walk_optional_v")
        keys = f"(({key}, True),)"
        e.emit(f"{name}, {count} = {e.runtime(walk)}({operand}, {keys})", step.node.id)
        e.emit(f"c += {count}")
        self.reached(step.node, name)
        if len(steps) == 1:
            e.emit(f"{result} = {name}")
            return
        present = f"{name}.__class__ is {optional} and {name} is not {e.runtime('NONE')}"
        with e.block(f"if {present}:"):
            self._optional_keys(f"{name}.value", steps[1:], result, inner=True)
        with e.block("else:"):
            e.emit(f"{result} = {name}")

    def _optional_maps(
        self, operand: str, steps: tuple[Step, ...], result: str, *, inner: bool
    ) -> None:
        """Look constant keys up one after the other while the operands are maps; `result` is the
        absent optional beforehand. An Optional is unwrapped only where the chain begins: further
        in (`inner`) the walk gets it inside another one."""
        e = self.emitter
        if not steps:
            e.emit(f"{result} = {e.runtime('Optional')}({operand})")
            return
        step, name = steps[0], e.name()
        with e.block(f"if {operand}.__class__ is {e.runtime('dict')}:", step.node.id):
            missing = e.runtime("MISSING")
            e.emit(f"{name} = {operand}.get({e.key(step.key)}, {missing})", step.node.id)
            with e.block(f"if {name} is not {missing}:"):
                e.emit("c += 1")
                self._optional_maps(name, steps[1:], result, inner=True)
        with e.block("else:"):
            keys = ", ".join(f"({e.constant(s.key)}, True)" for s in steps)
            walk = e.runtime("walk_inner_optional_v" if inner else "walk_optional_v")
            count = e.name("n")
            e.emit(f"{result}, {count} = {walk}({operand}, ({keys},))")
            e.emit(f"c += {count}")

    def _has(self, node: Select, *, part: bool) -> str:
        """Charged per key applied: nothing for the name, 1 for each select and the test. As a part
        of another attribute it may be an optional (see `Context.tests_optional`).

        cel-go charges the attribute and takes that back for the test. A conditional is not charged;
        that something is taken back all the same may bring the cost below zero, where it wraps
        around."""
        e = self.emitter
        chain = chain_of(node.operand)
        if isinstance(chain.base, Ident) and not self._is_constant_ident(chain.base):
            base = self._name(chain.base)
            self.reached(chain.base, base)
        else:
            base = self.value(chain.base)
        operand = self.steps(base, chain.steps) if chain.steps else base
        result, key = e.name(), e.key(node.field)
        may_unwrap = (
            not chain.steps
            or chain.is_optional
            or self.context.may_be_optional(chain.steps[0].operand)
            or self.context.switches.bad_presence_test_is_error
        )
        attribute = 0 if part else 1 - is_conditional(chain.base)
        taken_back = not (part or self.context.switches.presence_test_has_cost)
        self.charge(1 + attribute - taken_back)
        with e.block(f"if {operand}.__class__ is {e.runtime('dict')}:", node.id):
            e.emit(f"{result} = {key} in {operand}", node.id)
        with e.block("else:"):
            count = e.name("n")
            test = self.context.presence("tested_v" if part else "has_v")
            test = e.runtime(test if may_unwrap else "has_inner_v")
            e.emit(f"{result}, {count} = {test}({operand}, {key})", node.id)
            e.emit(f"c += {count} - 1", node.id)
        if attribute < taken_back:
            self.flush()
            e.emit(f"if c < 0: {e.runtime('below_zero')}(L)", node.id)
        return result

    # --- literals -------------------------------------------------------------------------------

    def _list(self, node: ListLiteral) -> str:
        e = self.emitter
        items, failed = self.sequence(node.elements)
        result = e.name()
        with self.unless(failed, result, node.id):
            code = f"[{', '.join(items)}]"
            if node.optional:
                build = e.runtime("list_with_optionals")
                code = f"{e.runtime('call2_v')}({build}, {code}, {e.bind(node.optional, 'k')})"
            e.emit(f"{result} = {code}", node.id)
        self.add(str(LIST_CREATE_COST), node.id)
        return result

    def _map(self, node: MapLiteral) -> str:
        e = self.emitter
        parts = [part for entry in node.entries for part in (entry.key, entry.value)]
        items, failed = self.sequence(parts, after=self._check_key)
        optional = frozenset(i for i, entry in enumerate(node.entries) if entry.optional)
        result = e.name()
        with self.unless(failed, result, node.id):
            pairs = zip(items[::2], items[1::2], strict=True)
            code = self._map_of(", ".join(f"({key}, {value})" for key, value in pairs), optional)
            e.emit(f"{result} = {code}", node.id)
        self.add(str(MAP_CREATE_COST), node.id)
        return result

    def _map_of(self, pairs: str, optional: frozenset[int]) -> str:
        """Return the source that builds a map from the source of pairs."""
        e = self.emitter
        if not optional:
            return f"{e.runtime('call1_v')}({e.runtime(self.context.map_maker)}, [{pairs}])"
        build = e.runtime(self.context.optional_map_maker)
        return f"{e.runtime('call2_v')}({build}, [{pairs}], {e.bind(optional, 'k')})"

    def _check_key(self, parts: Sequence[Expr], atoms: Sequence[str], failed: str) -> None:
        """End the evaluation after a map entry whose key Go cannot hash."""
        key = len(atoms) - 2
        if len(atoms) % 2 or self.context.certain(parts[key]) in _HASHABLE:
            return
        e = self.emitter
        with self.branch(f"if {failed} is None:") if failed else nullcontext():
            self.flush()
            e.emit(f"{e.runtime('refuse_unhashable')}({atoms[key]})", parts[key].id)

    def sequence(
        self,
        parts: Sequence[Expr],
        *,
        check_last: bool = True,
        after: Callable[[Sequence[Expr], Sequence[str], str], None] | None = None,
    ) -> tuple[list[str], str]:
        """Evaluate in order and stop at the first error: the atoms, and the local that holds that
        error or None (empty if no part can fail). Without `check_last` the last part's error is
        left to whoever uses the atoms. `after` writes what is done after each part, given the
        parts, the atoms so far and that local."""
        e = self.emitter
        fallible = [not self.never_fails(part) for part in parts]
        if not check_last:
            fallible[-1] = False
        atoms: list[str] = []
        failed = ""
        for part, may_fail in zip(parts, fallible, strict=True):
            with self.branch(f"if {failed} is None:", part.id) if failed else nullcontext():
                atom = self.value(part)
                atoms.append(atom)
                if may_fail:
                    failed = failed or e.assign("None")
                    e.emit(f"if {self.is_error(atom)}: {failed} = {atom}", part.id)
            if after is not None:
                after(parts, atoms, failed)
        return atoms, failed

    @contextmanager
    def unless(self, failed: str, result: str, node: int) -> Iterator[None]:
        """Begin a body that assigns `result` from the atoms of a `sequence`, unless that failed."""
        if not failed:
            yield
            return
        with self.branch(f"if {failed} is None:", node):
            yield
        with self.branch("else:", node):
            self.emitter.emit(f"{result} = {failed}")

    def never_fails(self, node: Expr) -> bool:
        """Is the node sure to be a value? Constants and loop variables are."""
        if self.context.is_constant(node):
            return True
        return isinstance(node, Ident) and node.name in self.locals.keys() - self.lazies


#: Classes of keys that Go can hash, as nearly all keys have.
_HASHABLE = frozenset({str, int, bool, float, Uint})


# --- The traced variant ------------------------------------------------------
#
# The traced variant: the metered one, and a recorder is told what every node came to.
#
# `traced(a, L, r)` is what `Metered` writes, with lines between that tell `r`, a
# `celadon.cel.tracing.Recorder`, the value of each node as soon as it is known, and what it cost.
# Two things differ, neither of which any expression can tell: operators of a run of `&&` or `||`
# are evaluated one by one, so that each has a value, and optional keys are applied through the
# runtime, one by one. Values on the way through a run of constant keys are read again.
#
# A node is evaluated in a loop, the innermost that it stands in (0: in none), once in each round. A
# name that is bound lazily belongs to the loop where it is bound, wherever it is read first.


def traced_module(context: Context) -> GeneratedModule:
    """Return the module whose function `traced(a, L, r)` returns the value or error, and the
    cost."""
    emitter = Emitter()
    _Traced(context, emitter).write("traced")
    return emitter.finish({**METERED_PARAMETERS, "r": "the recorder"})


class _Traced(Metered):
    shared = "a, L, r"
    traces = True

    def __init__(self, context: Context, emitter: Emitter) -> None:
        super().__init__(context, emitter)
        self._loop = 0

    def value(self, node: Expr, *, branch: bool = False) -> str:
        if self.context.is_constant(node):
            atom = super().value(node)
            self._constants(node)
            return atom
        before = self.emitter.assign(self._cost, node.id)
        atom = super().value(node, branch=branch)
        self._note(node, atom, f"{self._cost} - {before}")
        return atom

    def reached(self, node: Expr, atom: str) -> None:
        self._note(node, atom)

    def walked(self, base: str, run: Sequence[Step], walk: str) -> None:
        e = self.emitter
        keys = e.bind(tuple(step.key for step in run), "k")
        nodes = e.bind(tuple(step.node.id for step in run), "k")
        e.emit(f"r.walked({self._loop}, {nodes}, {e.runtime(walk)}, {base}, {keys})")

    @contextmanager
    def loop(self, header: str, node: Comprehension) -> Iterator[None]:
        self.emitter.emit(f"r.loop({self._loop}, {node.id})", node.id)
        outer, self._loop = self._loop, node.id
        with super().loop(header, node):
            yield
        self._loop = outer

    def round(self, node: Comprehension, names: Mapping[str, str]) -> None:
        self.emitter.emit(f"r.round({node.id}, {', '.join(names.values())})", node.id)

    @property
    def _cost(self) -> str:
        """The source of what has been charged so far."""
        return f"c + {self._pending}" if self._pending else "c"

    def _note(self, node: Expr, atom: str, cost: str = "None") -> None:
        self.emitter.emit(f"r.value({self._loop}, {node.id}, {atom}, {cost})", node.id)

    def _constants(self, node: Expr) -> None:
        """Note a node that was evaluated beforehand, and its parts; what stands in them as a
        literal needs no telling."""
        for part in walk(node):
            if part is node or (self.context.is_constant(part) and not isinstance(part, Literal)):
                atom = self.emitter.named(self.context.constant(part))
                self._note(part, atom, "0")
