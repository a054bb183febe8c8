"""The counted variant: the plain one that also adds up what it costs.

`counted(a, L)` returns the value and the cost. It is optimistic, as the plain variant is: where an
error comes up, or the cost goes over the limit, it drops its work and calls the metered variant,
which decides. So it needs no error values, and may charge in any order what is charged in any case:
steps that cost something known are added up when the function is written, those of a loop whose
rounds cost the same once for all rounds. But it evaluates in CEL's order, and nothing that CEL does
not evaluate: what inputs compute when they are read may be charged, too.

INVARIANT (counted agrees): a value and a cost from the counted function are those of the metered
one. The limit is looked at in every round of a loop in which more than known steps are charged, and
where a value was made that may be larger than its parts, so that no work goes far beyond it.

`celadon.cel.codegen.counted_calls` writes the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple, NoReturn, assert_never

from celadon.cel import syntax
from celadon.cel.analysis import tree_context
from celadon.cel.codegen import counted_calls
from celadon.cel.codegen.emitter import Emitter, GeneratedModule
from celadon.cel.codegen.metered import METERED_PARAMETERS, Metered
from celadon.cel.codegen.metered_constructs import ACCUMULATOR, CALL, CONDITION
from celadon.cel.codegen.plain import MAX_EXPRESSION
from celadon.cel.codegen.shared_prefixes import SharedPrefixes, shared_prefixes
from celadon.cel.cost import LIST_CREATE_COST, MAP_CREATE_COST, MAX_UINT64
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
)
from celadon.cel.types import DYN, Kind

_PARAMETERS: Final = {
    **METERED_PARAMETERS,
    "exact": "the metered variant, which decides where this one gives up",
}

_ABSTRACT: Final = (Kind.NULL, Kind.TIMESTAMP, Kind.DURATION, Kind.OPAQUE, Kind.OBJECT)
#: Kinds of values that are never larger than what they are made of.
_SMALL_KINDS: Final = frozenset(
    {*tree_context.SCALAR_CLASSES, *_ABSTRACT} - {Kind.STRING, Kind.BYTES}
)


class Uncounted(Exception):
    """The counted variant cannot express this node; the metered one serves alone."""


def counted_module(context: tree_context.Context) -> GeneratedModule | None:
    """Return the module whose function `counted(a, L)` returns the value and the cost, or what
    `exact(a, L)` gives, a name that whoever loads it defines. None for what the counted variant
    cannot express."""
    emitter = Emitter()
    try:
        Counted(context, emitter, shared_prefixes(context.checked.root)).write("counted")
    except (Uncounted, RecursionError):
        return None
    return emitter.finish(_PARAMETERS)


class _Rounds(NamedTuple):
    """The costs of a loop's rounds: so much each, besides what was written out in them, which
    `is_open` where a part of it is computed."""

    units: int
    is_open: bool


class Counted(Metered):
    """Writes the counted variant of one expression into an emitter."""

    def __init__(
        self, context: tree_context.Context, emitter: Emitter, prefixes: SharedPrefixes
    ) -> None:
        super().__init__(context, emitter)
        self.prefixes = prefixes
        if context.boxes_optionals:
            raise Uncounted
        #: Atoms of the nodes that were written, for forms that look at parts of their operands.
        self.atoms: dict[int, str] = {}
        self._is_counting = False
        self._changes = 0
        self._sums = 0

    # --- functions ----------------------------------------------------------------------------

    def write(self, name: str) -> None:
        """Write the whole function, with the metered variant behind everything."""
        e = self.emitter
        root = self.context.checked.root
        with e.function(f"def {name}(a, L={MAX_UINT64}):", root.id):
            self.locals = e.begin_unpaid_work(self.context)
            with e.block("try:"), self._inputs_first():
                result = self.value(root)
                if self._is_counting:
                    self.flush()
                cost = "c" if self._is_counting else str(self._pending)
                e.emit(f"if {cost} <= L: return {result}, {cost}", root.id)
            with e.block(f"except {e.runtime('Exception')}:"):
                e.emit("pass")
            e.emit("return exact(a, L)")

    @contextmanager
    def _inputs_first(self) -> Iterator[None]:
        """Variables are read at the head of a function."""
        e = self.emitter
        outer, self._inputs = self._inputs, {}
        with e.capture(levels=0) as captured:
            yield
        for variable, (local, node) in self._inputs.items():
            e.emit(f"{local} = a[{e.key(variable)}]", node)
        e.splice(captured)
        self._inputs = outer

    def _body(self, root: Expr, write: Callable[[Expr], str] | None = None) -> None:
        """Write the body of a function of its own, which gets `c` and returns it."""
        with self._inputs_first(), self.prefixes.hidden():
            pending, self._pending = self._pending, 0
            result = (write or self.value)(root)
            self.flush()
            self.emitter.emit(f"return {result}, c", root.id)
            self._pending = pending

    def outlined(self, node: Expr, write: Callable[[Expr], str] | None = None) -> str:
        """Return the node computed by a function of its own, because the nesting is too deep
        here."""
        result = super().outlined(node, write)
        self._changes += 1
        self._sums += 1
        return result

    def lazy(self, node: Expr) -> str:
        """Return a local that computes the node at its first use."""
        with self._own_prefixes():
            return super().lazy(node)

    # --- charging -----------------------------------------------------------------------------

    def flush(self) -> None:
        """Write out the single steps charged so far, or begin to count."""
        if not self._is_counting:
            self._is_counting = True
            self.emitter.emit(f"c = {self._pending}")
        elif self._pending:
            self.emitter.emit(f"c += {self._pending}")
            self._changes += 1
        self._pending = 0

    def add(self, amount: str, node: int = 0) -> None:
        """Add a computed charge and, if the value of that node may be large, a look at the
        limit."""
        if amount.isdigit():
            self.charge(int(amount))
            return
        e = self.emitter
        total = f"{self._pending} + ({amount})" if self._pending else amount
        e.emit(f"c {'+=' if self._is_counting else '='} {total}", node)
        self._is_counting, self._pending = True, 0
        self._changes += 1
        self._sums += 1
        if node and self.context.checked.types.get(node, DYN).kind not in _SMALL_KINDS:
            self._look_at_limit()

    def _look_at_limit(self) -> None:
        e = self.emitter
        e.emit(f"if c > L: raise {e.runtime('over_limit')}(c)")

    # --- values -------------------------------------------------------------------------------

    def value(self, node: Expr, *, branch: bool = False) -> str:
        """Return a name or literal for the node's value; `branch` as in the metered variant."""
        if self.context.is_constant(node):
            return self.emitter.named(self.context.constant(node))
        if self.emitter.is_deep() and not isinstance(node, Ident):
            return self.outlined(node, partial(self.value, branch=branch))
        atom = self.atoms[node.id] = self._write(node, branch=branch)
        return atom

    def _write(self, node: Expr, *, branch: bool) -> str:
        match node:
            case Ident():
                return self._ident(node, branch=branch)
            case Select():
                if node.test_only:
                    return self._has(node, part=branch)
                return self._chain(node, branch=branch)
            case Call(function=syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT):
                return self._chain(node, branch=branch)
            case Call(function=syntax.LOGICAL_AND | syntax.LOGICAL_OR):
                return self._logic(node)
            case Call(function=syntax.CONDITIONAL):
                return self._conditional(node)
            case Call():
                return counted_calls.call(self, node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
            case Struct():
                raise Uncounted
            case Literal() | Unspecified():
                raise AssertionError("literals are constants; unspecified nodes never check")
            case _:
                assert_never(node)

    def boolean(self, node: Expr) -> str:
        """Return a name for the value, which is a bool; anything else gives up."""
        atom = self.value(node)
        if self.context.certain(node) is not bool:
            e = self.emitter
            e.emit(f"if {atom}.__class__ is not {e.runtime('bool')}: {e.runtime('not_bool')}()")
        return atom

    def is_error(self, atom: str) -> NoReturn:
        """Refuse: here no value is an error."""
        raise AssertionError("errors are exceptions in this variant")

    def never_fails(self, node: Expr) -> bool:
        """Return True: an error ends the function."""
        return True

    def resolved(self, node: Expr, atom: str) -> str:
        """Return the value of an attribute; gives up on an optional that would not come out as it
        was."""
        if not self.context.may_reopen(node):
            return atom
        return self.emitter.assign(f"{self.emitter.runtime('settled_optional')}({atom})", node.id)

    @contextmanager
    def branch(self, header: str, node: int = 0) -> Iterator[None]:
        """Write the lines of a block that may not run."""
        with super().branch(header, node), self._own_prefixes():
            yield

    @contextmanager
    def _own_prefixes(self) -> Iterator[None]:
        """Forget afterwards which prefixes were read in here first: these lines may not have
        run."""
        available = dict(self.prefixes.available)
        yield
        self.prefixes.available = available

    # --- names and chains -----------------------------------------------------------------------

    def _name(self, node: Ident) -> str:
        if node.name in self.lazies:
            self._changes += 1
            self._sums += 1
        return super()._name(node)

    def _chain(self, node: Expr, *, branch: bool) -> str:
        chain = tree_context.chain_of(node)
        if chain.is_optional:
            result = self._optional(node, self.found(chain.base, chain.steps))
        else:
            result = self._applied(chain.base, chain.steps)
        if not branch and not tree_context.is_conditional(chain.base):
            self.charge()
        return result

    def _optional(self, node: Expr, text: str) -> str:
        """Return the optional of what was found."""
        e = self.emitter
        missing, none = e.runtime("MISSING"), e.runtime("NONE")
        present = f"{e.runtime('Optional')}({text})"
        return e.assign(f"{none} if {text} is {missing} else {present}", node.id)

    def _applied(self, base: Expr, steps: tuple[tree_context.Step, ...]) -> str:
        """Return a name for what the keys lead to, each of them charged."""
        if not steps:
            return self.base(base)
        if self.context.may_be_optional(steps[0].operand):
            raise Uncounted
        self.charge(len(steps))
        begin, shared = self.prefixes.longest(base, steps)
        code = self.base(base) if shared is None else shared
        for position, step in enumerate(steps[begin:], begin + 1):
            code = self._step(code, step)
            key = self.prefixes.repeated_key(base, steps[:position])
            if key is not None or len(code) > MAX_EXPRESSION:
                code = self.emitter.assign(code, step.node.id)
                if key is not None:
                    self.prefixes.share(key, code)
        return code if code.isidentifier() else self.emitter.assign(code, steps[-1].node.id)

    def _step(self, code: str, step: tree_context.Step) -> str:
        e = self.emitter
        if step.expr is not None:
            operand = code if code.isidentifier() else e.assign(code, step.node.id)
            key = self.value(step.expr, branch=True)
            subscript, index = f"{operand}[{key}]", f"{e.runtime('index')}({operand}, {key})"
            certain = self.context.certain(step.expr)
            if certain is None:
                test = f"{key}.__class__ is {e.runtime('str')}"
                return e.assign(f"{subscript} if {test} else {index}", step.node.id)
            return subscript if certain is str else index
        key = e.key(step.key)
        if step.key.__class__ is str:
            return f"{code}[{key}]"
        index = f"{e.runtime('index')}({code}, {key})"
        if step.key.__class__ is int and step.key >= 0:
            operand = code if code.isidentifier() else e.assign(code, step.node.id)
            test = f"{operand}.__class__ is {e.runtime('list')}"
            index = f"{e.runtime('index')}({operand}, {key})"
            return e.assign(f"{operand}[{key}] if {test} else {index}", step.node.id)
        return index

    def found(self, base: Expr, steps: tuple[tree_context.Step, ...]) -> str:
        """Return a name for what an optional chain finds, or for MISSING. A base that is an
        optional itself gives up."""
        e = self.emitter
        first = next(i for i, step in enumerate(steps) if step.optional)
        if self.context.may_be_optional(steps[0].operand):
            raise Uncounted
        operand = self._applied(base, steps[:first])
        result = e.assign(e.runtime("MISSING"))
        self._look(operand, steps[first:], result)
        return result

    def _look(self, operand: str, steps: tuple[tree_context.Step, ...], result: str) -> None:
        e = self.emitter
        step, missing = steps[0], e.runtime("MISSING")
        key = e.key(step.key) if step.expr is None else self.value(step.expr, branch=True)
        code = f"{e.runtime(self.context.presence('find_unwrapped'))}({operand}, {key})"
        if step.expr is None and step.key.__class__ is str:
            test = f"{operand}.__class__ is {e.runtime('dict')}"
            code = f"{operand}.get({key}, {missing}) if {test} else {code}"
        if len(steps) == 1:
            member = result
            e.emit(f"{result} = {code}", step.node.id)
        else:
            member = e.assign(code, step.node.id)
        with self.branch(f"if {member} is not {missing}:", step.node.id):
            self.charge()
            if len(steps) > 1:
                self._look(member, steps[1:], result)

    def _has(self, node: Select, *, part: bool) -> str:
        e, c = self.emitter, self.context
        chain = tree_context.chain_of(node.operand)
        attribute = 0 if part else 1 - tree_context.is_conditional(chain.base)
        taken_back = not (part or c.switches.presence_test_has_cost)
        if attribute < taken_back or (part and c.tests_optional(node)):
            raise Uncounted
        self.charge(attribute - taken_back)
        key, dicts = e.key(node.field), e.runtime("dict")
        if chain.is_optional:
            operand = self.found(chain.base, chain.steps)
            test = e.runtime(c.presence("has_field"))
            condition = f"({key} in {operand} if {operand}.__class__ is {dicts}"
            condition = f"{condition} else {test}({operand}, {key}))"
            result = e.assign(f"{operand} is not {e.runtime('MISSING')} and {condition}", node.id)
            with self.branch(f"if {result}:"):
                self.charge()
            return result
        if c.may_be_optional(node.operand):
            raise Uncounted
        operand = self._applied(chain.base, chain.steps)
        test = e.runtime(c.presence("has_unwrapped"))
        self.charge()
        condition = f"{key} in {operand} if {operand}.__class__ is {dicts}"
        return e.assign(f"{condition} else {test}({operand}, {key})", node.id)

    # --- literals -----------------------------------------------------------------------------

    def _list(self, node: ListLiteral) -> str:
        e = self.emitter
        items = f"[{', '.join([self.value(element) for element in node.elements])}]"
        if node.optional:
            build = e.runtime("list_with_optionals")
            items = f"{build}({items}, {e.bind(node.optional, 'k')})"
        self.charge(LIST_CREATE_COST)
        return e.assign(items, node.id)

    def _map(self, node: MapLiteral) -> str:
        e, c = self.emitter, self.context
        pairs = [(self.value(entry.key), self.value(entry.value)) for entry in node.entries]
        optional = frozenset(i for i, entry in enumerate(node.entries) if entry.optional)
        items = ", ".join(f"({key}, {value})" for key, value in pairs)
        if optional:
            code = f"{e.runtime(c.optional_map_maker)}([{items}], {e.bind(optional, 'k')})"
        else:
            code = f"{e.runtime(c.map_maker)}([{items}])"
        self.charge(MAP_CREATE_COST)
        return e.assign(code, node.id)

    # --- logic --------------------------------------------------------------------------------

    def _logic(self, node: Call) -> str:
        e = self.emitter
        operands = tree_context.terms(node)
        header = "if {}:" if node.function == syntax.LOGICAL_AND else "if not {}:"
        result = e.name()
        e.emit(f"{result} = {self.boolean(operands[0])}", operands[0].id)
        for operand in operands[1:]:
            with self.branch(header.format(result), operand.id):
                e.emit(f"{result} = {self.boolean(operand)}", operand.id)
        return result

    def _conditional(self, node: Call) -> str:
        e = self.emitter
        if counted_calls.may_find(self, node):
            return self._optional(node, counted_calls.found(self, node))
        test, result = self.boolean(node.args[0]), e.name()
        for header, part in ((f"if {test}:", node.args[1]), ("else:", node.args[2])):
            with self.branch(header, part.id):
                atom = self.value(part, branch=True)
                atom = atom if tree_context.is_attribute(part) else self.resolved(part, atom)
                e.emit(f"{result} = {atom}", part.id)
        return result

    # --- comprehensions -----------------------------------------------------------------------

    def _comprehension(self, node: Comprehension) -> str:
        shape = tree_context.classify(node)
        match shape:
            case tree_context.Bind() if counted_calls.begins_with(shape.body, shape.name):
                with self.scope({shape.name: self.value(shape.value)}):
                    return self.value(shape.body)
            case tree_context.Bind():
                bound = self.lazy(shape.value)
                with self.scope({shape.name: bound}, lazy=shape.name):
                    return self.value(shape.body)
            case tree_context.Quantified():
                return self._quantified(node, shape)
            case tree_context.ExistsOne():
                return self._exists_one(node, shape)
            case tree_context.Collect():
                return self._collect(node, shape)
            case tree_context.Insert():
                return self._insert(node, shape)
            case tree_context.Fold():
                raise Uncounted
            case _:
                assert_never(shape)

    def _range(self, node: Comprehension) -> str:
        """Return a name for what a loop runs over."""
        e, items = self.emitter, self.value(node.iter_range)
        is_list = self.context.certain(node.iter_range) is list
        if is_list and not node.iter_var2:
            return items
        dicts = f"{items}.__class__ is {e.runtime('dict')}"
        if node.iter_var2:
            code = f"{items}.items() if {dicts} else {e.runtime('iterate2')}({items})"
        else:
            test = f"{items}.__class__ is {e.runtime('list')} or {dicts}"
            code = f"{items} if {test} else {e.runtime('iterate')}({items})"
        return e.assign(code, node.iter_range.id)

    @contextmanager
    def _each(self, node: Comprehension, items: str) -> Iterator[None]:
        """Write the loop with its variables."""
        e = self.emitter
        names = {node.iter_var: e.name("v")}
        if node.iter_var2:
            names[node.iter_var2] = e.name("v")
        header = f"for {', '.join(names.values())} in {items}:"
        self.flush()
        self._sums += 1
        with e.loop(header, node.id), self.scope(names), self._own_prefixes():
            yield

    @contextmanager
    def _charged_apart(self) -> Iterator[Callable[[], _Rounds]]:
        """Charges of a part that runs any number of times: what they come to is asked for at its
        end. Those that vary are written out there."""
        outer, self._pending = self._pending, 0
        changes, computed = self._changes, self._sums

        def charged() -> _Rounds:
            if self._changes != changes:
                self.flush()
            units, self._pending = self._pending, 0
            return _Rounds(units, self._sums != computed)

        yield charged
        self._pending = outer

    def _quantified(self, node: Comprehension, shape: tree_context.Quantified) -> str:
        e = self.emitter
        is_all = shape.quantifier is tree_context.Quantifier.ALL
        condition = CONDITION[shape.quantifier]
        items = self._range(node)
        result = e.assign(str(is_all), node.id)
        rest = e.assign(f"{e.runtime('iter')}({items})", node.id)
        with self._each(node, rest), self._charged_apart() as charged:
            self.charge(condition + ACCUMULATOR)
            predicate = self.boolean(shape.predicate)
            rounds = charged()
            if rounds.is_open:
                self._look_at_limit()
            header = f"if not {predicate}:" if is_all else f"if {predicate}:"
            with e.block(header, shape.predicate.id):
                left = e.name()
                e.emit(f"{result} = {not is_all}")
                spared = f" - {left} * {rounds.units}" if rounds.units else ""
                # INVARIANT: list and dict iterators know how many are left
                e.emit(f"if {left} := {rest}.__length_hint__(): c += {condition}{spared}")
                e.emit("break")
        self._charge_rounds(items, rounds)
        self.charge(ACCUMULATOR)
        return result

    def _charge_rounds(self, items: str, rounds: _Rounds) -> None:
        if rounds.units:
            e = self.emitter
            times = "" if rounds.units == 1 else f" * {rounds.units}"
            self.add(f"{e.runtime('len')}({items}){times}")

    @contextmanager
    def _where(self, predicate: Expr | None) -> Iterator[None]:
        if predicate is None:
            yield
            return
        test = self.boolean(predicate)
        with self.emitter.block(f"if {test}:", predicate.id), self._own_prefixes():
            yield

    def _exists_one(self, node: Comprehension, shape: tree_context.ExistsOne) -> str:
        e = self.emitter
        items = self._range(node)
        count = e.assign("0", node.id)
        with self._each(node, items), self._charged_apart() as charged:
            predicate = self.boolean(shape.predicate)
            e.emit(f"if {predicate}: {count} += 1", shape.predicate.id)
            rounds = charged()
            if rounds.is_open:
                self._look_at_limit()
        self._charge_rounds(items, rounds)
        self.add(f"{count} * {ACCUMULATOR + CALL}")
        self.charge(ACCUMULATOR + CALL)
        return e.assign(f"{count} == 1", node.id)

    def _collect(self, node: Comprehension, shape: tree_context.Collect) -> str:
        e, c = self.emitter, self.context
        folded = c.is_constant(shape.element) or shape.element.id in c.constants
        items = self._range(node)
        result = e.assign("[]", node.id)
        with self._each(node, items), self._charged_apart() as charged:
            with self._where(shape.predicate), self._charged_apart() as chosen:
                self.charge(ACCUMULATOR + CALL + (0 if folded else LIST_CREATE_COST))
                e.emit(f"{result}.append({self.value(shape.element)})", shape.element.id)
                count = chosen()
            rounds = charged()
            if rounds.is_open:
                self._look_at_limit()
        self._charge_rounds(items, rounds)
        self._charge_rounds(result, count)
        return self._grown(node, result)

    def _insert(self, node: Comprehension, shape: tree_context.Insert) -> str:
        e = self.emitter
        insert, *given = e.inserting(shape.key)
        parts = [shape.value] if shape.key is None else [shape.key, shape.value]
        items = self._range(node)
        result = e.assign("{}", node.id)
        with self._each(node, items), self._charged_apart() as charged:
            with self._where(shape.predicate), self._charged_apart() as chosen:
                self.charge(ACCUMULATOR + CALL)
                args = ", ".join([*given, result, *map(self.value, parts)])
                e.emit(f"{result} = {insert}({args})", node.id)
                self._changes += 1
                chosen()
            charged()
            self._look_at_limit()
        return self._grown(node, result)

    def _grown(self, node: Comprehension, result: str) -> str:
        self.charge(ACCUMULATOR)
        return result
