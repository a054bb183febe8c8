"""The plain variant: the function a careful person would write by hand.

`Plain.value(node)` returns the source of a Python expression for the node's value, having emitted
whatever statements it needs before it; the expression must be used exactly once. `atom` returns a
name or literal that may be repeated. Everything may be reordered and repeated freely, because the
plain variant is pure and gives up on the first surprise (see the package's docstring): only what
CEL does not evaluate (a branch not taken, a term after the decisive one) must not be evaluated.

The tree comes first: names, chains, logic, loops; calls of functions have a section of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, assert_never

from celadon.cel import syntax
from celadon.cel.analysis import tree_context
from celadon.cel.codegen.emitter import Emitter, GeneratedModule, PlainWriter
from celadon.cel.codegen.inline_operators import operands, repeats
from celadon.cel.codegen.shared_prefixes import SharedPrefixes, shared_prefixes
from celadon.cel.errors import EvaluationError
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

# --- Plain calls -------------------------------------------------------------
#
# Calls in the plain variant: native Python where it means the same, else the implementation.
#
# How a call is written natively stands in the records of its overloads (see `inline_functions`). A
# form may decline; then the call goes to the implementation that the checker resolved.


def call(w: PlainWriter, node: Call) -> str:
    """Return the source of any call that is not logic and not part of a chain."""
    if (known_code := _known(w, node)) is not None:
        return known_code
    form = w.context.inline(node)
    if form is not None and form.plain is not None:
        code = form.plain(w, node)
        if code is not None:
            return code
    return _general(w, node)


def _known(w: PlainWriter, node: Call) -> str | None:
    """Return what a constant text was read as when the program was made; None for anything else."""
    c, arg = w.context, operands(node)[:1]
    texts = c.remembered(node)
    if texts is None or not c.is_constant(arg[0]) or c.certain(arg[0]) is not str:
        return None
    try:
        return w.emitter.constant(texts[c.constant(arg[0])])
    except EvaluationError:  # the evaluation will say so
        return None


def _general(w: PlainWriter, node: Call) -> str:
    e = w.emitter
    args = [w.value(arg) for arg in operands(node)]
    if (texts := w.context.remembered(node)) is not None and not repeats(w, node):
        return f"{e.bind(texts, 'k')}[{args[0]}]"
    impl = w.context.direct_impl(node)
    if impl is None or w.context.function(node) is None:
        raise_call = e.runtime("no_such_overload")
        return f"{raise_call}().undefined"
    return e.call(w.context, node, impl, args)


#: Longest expression kept in one line; beyond it the value goes to a temporary. Also keeps
#: generated parentheses far from CPython's limit of 200.
MAX_EXPRESSION = 400

_PARAMETERS: Final = {
    "a": "the variables, by name",
    "exact": "the metered variant, which decides where this one gives up",
}


class Unsupported(Exception):
    """The plain variant cannot express this node; the metered one serves alone."""


def plain_module(context: tree_context.Context) -> GeneratedModule | None:
    """Return the module whose function `plain(a)` returns the value, or what `exact(a)` gives, a
    name that whoever loads it defines. None for what the plain variant cannot express."""
    emitter = Emitter()
    try:
        Plain(context, emitter, shared_prefixes(context.checked.root)).write("plain")
    except (Unsupported, RecursionError):  # too deep for this one; the metered one is flatter
        return None
    return emitter.finish(_PARAMETERS)


class Plain:
    """Writes the plain variant of one expression into an emitter."""

    def __init__(
        self, context: tree_context.Context, emitter: Emitter, prefixes: SharedPrefixes
    ) -> None:
        self.context = context
        self.emitter = emitter
        self.prefixes = prefixes
        self.locals: Mapping[str, str] = {}
        self._inputs: dict[str, tuple[str, int]] = {}

    # --- functions -------------------------------------------------------------------------

    def write(self, name: str) -> None:
        """Write the whole function `name(a)`: inputs first, the metered variant behind
        everything."""
        e = self.emitter
        root = self.context.checked.root
        with e.function(f"def {name}(a):", root.id):
            self.locals = e.begin_unpaid_work(self.context)
            with e.block("try:"):
                self._body(root)
            with e.block(f"except {e.runtime('Exception')}:"):
                e.emit("return exact(a)")

    def _body(self, root: Expr) -> None:
        e = self.emitter
        outer, self._inputs = self._inputs, {}
        with e.capture(levels=0) as captured:
            hoisted = self._hoist(None)
            code = self.value(root)
            e.emit(f"return {code}", root.id)
        self.prefixes.release(hoisted)
        for variable, (local, node) in self._inputs.items():
            e.emit(f"{local} = a[{e.key(variable)}]", node)
        e.splice(captured)
        self._inputs = outer

    def _outlined(self, node: Expr) -> str:
        """Write the node as a call of a function of its own, because the nesting is too deep
        here."""
        e = self.emitter
        name = e.name("f")
        parameters = ", ".join(["a", *dict.fromkeys(self.locals.values())])
        with e.function(f"def {name}({parameters}):", node.id), self.prefixes.hidden():
            self._body(node)
        return f"{name}({parameters})"

    # --- values ----------------------------------------------------------------------------

    def value(self, node: Expr) -> str:
        """Return the source of the node's value, to be used exactly once."""
        if self.context.is_constant(node):
            return self.emitter.constant(self.context.constant(node))
        if self.emitter.is_deep() and not isinstance(node, Ident):
            return self._outlined(node)
        code = self._write(node) if not isinstance(node, Call) else self._call(node)
        return self.emitter.assign(code, node.id) if len(code) > MAX_EXPRESSION else code

    def _write(self, node: Expr) -> str:
        match node:
            case Ident():
                return self._ident(node)
            case Select():
                return self._has(node) if node.test_only else self._chain(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
            case Struct():
                return self._struct(node)
            case Literal() | Unspecified():
                raise Unsupported(type(node).__name__)
            case _:
                assert_never(node)

    def atom(self, node: Expr) -> str:
        """Return a name for the value, safe to write more than once."""
        if self.context.is_constant(node):
            return self.emitter.named(self.context.constant(node))
        code = self.value(node)
        return code if code.isidentifier() else self.emitter.assign(code, node.id)

    def boolean(self, node: Expr) -> str:
        """Return the value as a Python bool; anything else raises."""
        code = self.value(node)
        if self.context.certain(node) is bool:
            return code
        e = self.emitter
        t = e.name()
        return f"({t} if ({t} := {code}) is True or {t} is False else {e.runtime('not_bool')}())"

    @contextmanager
    def scope(self, names: Mapping[str, str]) -> Iterator[None]:
        """Comprehension variables visible inside: CEL name to Python name."""
        outer, self.locals = self.locals, {**self.locals, **names}
        yield
        self.locals = outer

    # --- names and chains --------------------------------------------------------------------

    def _ident(self, node: Ident) -> str:
        return self._settled(node, self._name(node))

    def _name(self, node: Ident) -> str:
        if node.id in self.context.constants:
            return self.emitter.constant(self.context.constants[node.id])
        return self.locals.get(node.name) or self._input(node)

    def _settled(self, node: Expr, code: str) -> str:
        """Write the value of an attribute; give up on an optional that does not come out as it
        was."""
        if not self.context.may_reopen(node):
            return code
        return f"{self.emitter.runtime('settled_optional')}({code})"

    def _input(self, node: Ident) -> str:
        """Return the local that holds an activation variable, loaded at the head of the
        function."""
        name = node.name.removeprefix(".")
        if name not in self._inputs:
            self._inputs[name] = self.emitter.name("x"), node.id
        return self._inputs[name][0]

    def _chain(self, node: Expr) -> str:
        chain = tree_context.chain_of(node)
        if chain.is_optional:
            return self.optional_chain(chain)
        return self._steps(chain.base, chain.steps)

    def _steps(self, base: Expr, steps: tuple[tree_context.Step, ...]) -> str:
        start, shared = self.prefixes.longest(base, steps)
        if shared is not None:
            code = shared
        elif self.context.is_constant(base):
            code = self.atom(base)
        else:
            code = self._name(base) if isinstance(base, Ident) else self.value(base)
        for step in steps[start:]:
            code = self._step(code, step)
            if len(code) > MAX_EXPRESSION:
                code = self.emitter.assign(code, step.node.id)
        return code

    def _step(self, code: str, step: tree_context.Step) -> str:
        e = self.emitter
        if step.expr is not None:
            key, certain = self._key(step.expr), self.context.certain_in_attribute(step.expr)
            if certain is str:
                return f"{code}[{key}]"
            if certain is None:
                o = e.assign(code, step.node.id)
                index = e.runtime("index")
                text = e.runtime("str")
                return f"({o}[{key}] if {key}.__class__ is {text} else {index}({o}, {key}))"
            return f"{e.runtime('index')}({code}, {key})"
        key = e.key(step.key)
        if step.key.__class__ is str:
            return f"{code}[{key}]"
        if step.key.__class__ is int and step.key >= 0:
            t = e.name()
            lists, index = e.runtime("list"), e.runtime("index")
            return f"({t}[{key}] if ({t} := {code}).__class__ is {lists} else {index}({t}, {key}))"
        return f"{e.runtime('index')}({code}, {key})"

    def _key(self, node: Expr) -> str:
        """Return a name for a computed key."""
        if self.context.tests_optional(node):
            return self.emitter.assign(self._found(node), node.id)
        return self.atom(node)

    def optional_chain(self, chain: tree_context.Chain) -> str:
        """Return the chain as an Optional."""
        e = self.emitter
        test, value = self.optional_parts(chain)
        return f"({e.runtime('Optional')}({value}) if {test} else {e.runtime('NONE')})"

    def maybe(self, node: Expr) -> tuple[str, str] | None:
        """Return an optional as a condition that holds when it is present and the source of the
        value then, without building it; None if this node has no such form."""
        chain = tree_context.chain_of(node)
        if chain.is_optional:
            return self.optional_parts(chain)
        mapped = tree_context.optional_mapping(node)
        if mapped is None:
            return None
        source, bind = mapped
        kind = self.context.checked.types[bind.body.id].kind
        if kind not in tree_context.SETTLED_KINDS and kind is not Kind.DYN:
            return None
        parts = self.maybe(source)
        if parts is None or not parts[1].isidentifier():
            return None
        test, value = parts
        with self.emitter.capture() as captured, self.scope({bind.name: value}):
            body = self.value(bind.body)
        if kind is Kind.DYN or self.context.mistypes_tests:
            body = f"{self.emitter.runtime('settled')}({body})"
        return None if captured[0] else (test, body)

    def optional_parts(self, chain: tree_context.Chain) -> tuple[str, str]:
        """Return an optional chain as a condition that holds when it is present, and the name that
        has the value then. A base that is an Optional itself gives up."""
        e = self.emitter
        first = next(i for i, step in enumerate(chain.steps) if step.optional)
        code = self._steps(chain.base, chain.steps[:first])
        dicts, missing = e.runtime("dict"), e.runtime("MISSING")
        find, tests = e.runtime(self.context.presence("find_unwrapped")), []
        for step in chain.steps[first:]:
            key = self._key(step.expr) if step.expr is not None else e.key(step.key)
            operand, name = e.name(), e.name()
            if step.expr is None and step.key.__class__ is str:
                look = f"{operand}.get({key}, {missing})"
                value = (
                    f"{look} if ({operand} := {code}).__class__ is {dicts} "
                    f"else {find}({operand}, {key})"
                )
            else:
                value = f"{find}({code}, {key})"
            tests.append(f"({name} := {value}) is not {missing}")
            code = name
        return "(" + " and ".join(tests) + ")", code

    def _has(self, node: Select) -> str:
        return self._presence(node)[0]

    def _found(self, node: Expr) -> str:
        """`has()` as a part of another attribute: over an optional chain, what it finds. That an
        optional is what a plain chain begins with is for the metered variant."""
        assert isinstance(node, Select), "only tests find anything"
        chain = tree_context.chain_of(node.operand)
        if not chain.is_optional:
            return self._has(node)
        e = self.emitter
        test, operand = self.optional_parts(chain)
        name, find = e.name(), e.runtime(self.context.presence("find_tested"))
        test = f"{test} and ({name} := {find}({operand}, {e.key(node.field)}))"
        test = f"{test} is not {e.runtime('MISSING')}"
        return f"({e.runtime('Optional')}({name}) if {test} else {e.runtime('NONE')})"

    def _presence(self, node: Select) -> tuple[str, str]:
        """`has(operand.field)`, and the name that holds the operand afterwards."""
        e = self.emitter
        chain = tree_context.chain_of(node.operand)
        if chain.is_optional:
            operand = self.optional_chain(chain)
        else:
            operand = self._steps(chain.base, chain.steps)
        key = e.key(node.field)
        test = "has_field" if chain.is_optional else "has_unwrapped"
        dicts, has_field = e.runtime("dict"), e.runtime(self.context.presence(test))
        name, load = operand, operand
        if not operand.isidentifier():
            name = e.name()
            load = f"({name} := {operand})"
        test = f"{load}.__class__ is {dicts}"
        return f"({key} in {name} if {test} else {has_field}({name}, {key}))", name

    # --- literals ----------------------------------------------------------------------------

    def _list(self, node: ListLiteral) -> str:
        e = self.emitter
        items = "[" + ", ".join(self.value(element) for element in node.elements) + "]"
        if not node.optional:
            return items
        return f"{e.runtime('list_with_optionals')}({items}, {e.bind(node.optional, 'k')})"

    def _struct(self, node: Struct) -> str:
        e = self.emitter
        construct = e.bind(self.context.constructor(node.type_name), "f")
        optional = frozenset(i for i, field in enumerate(node.fields) if field.optional)
        names = (e.constant(field.name) for field in node.fields)
        values = [self.value(field.value) for field in node.fields]
        if optional:
            pairs = ", ".join(f"({n}, {v})" for n, v in zip(names, values, strict=True))
            build = e.runtime("map_with_optionals")
            return f"{construct}({build}([{pairs}], {e.bind(optional, 'k')}))"
        pairs = ", ".join(f"{n}: {v}" for n, v in zip(names, values, strict=True))
        return f"{construct}({{{pairs}}})"

    def _map(self, node: MapLiteral) -> str:
        e = self.emitter
        keys = [entry.key for entry in node.entries]
        optional = frozenset(i for i, entry in enumerate(node.entries) if entry.optional)
        if not optional and self._are_names(keys):
            pairs = (f"{self.value(n.key)}: {self.value(n.value)}" for n in node.entries)
            return "{" + ", ".join(pairs) + "}"
        pairs = (f"({self.value(n.key)}, {self.value(n.value)})" for n in node.entries)
        items = "[" + ", ".join(pairs) + "]"
        if not optional:
            return f"{e.runtime(self.context.map_maker)}({items})"
        return f"{e.runtime(self.context.optional_map_maker)}({items}, {e.bind(optional, 'k')})"

    def _are_names(self, keys: list[Expr]) -> bool:
        """Are the keys string literals, and different ones if that matters?"""
        names = [k.value for k in keys if isinstance(k, Literal) and k.value.__class__ is str]
        distinct = len(set(names)) if self.context.switches.strict_map_keys else len(names)
        return distinct == len(keys)

    # --- logic -------------------------------------------------------------------------------

    def _call(self, node: Call) -> str:
        match node.function:
            case syntax.LOGICAL_AND:
                return self._logic(tree_context.terms(node), "and", "if {}:")
            case syntax.LOGICAL_OR:
                return self._logic(tree_context.terms(node), "or", "if not {}:")
            case syntax.CONDITIONAL:
                return self._conditional(node)
            case syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT:
                return self._chain(node)
            case _:
                return call(self, node)

    def _logic(self, operands: list[Expr], word: str, header: str) -> str:
        e = self.emitter
        codes = [self._term(operands[0], word)]
        for operand in operands[1:]:
            with e.capture() as captured:
                code = self._term(operand, word)
            if not captured[0]:
                codes.append(code)
                continue
            result = e.assign(f" {word} ".join(codes), operands[0].id)
            with e.block(header.format(result), operand.id):
                e.splice(captured)
                e.emit(f"{result} = {code}", operand.id)
            codes = [result]
        self.prefixes.forget_tested(operands)
        return codes[0] if len(codes) == 1 else "(" + f" {word} ".join(codes) + ")"

    def _term(self, node: Expr, word: str) -> str:
        """Write a term of `&&` or `||`. After `has(a.b.c) && ...` the value of `a.b` is at hand."""
        if word == "and" and isinstance(node, Select) and node.test_only:
            code, name = self._presence(node)
            self.prefixes.remember_tested(node, name)
            return code
        return self.boolean(node)

    def _conditional(self, node: Call) -> str:
        if (parts := self.maybe(node)) is not None:
            test, value = parts
            e = self.emitter
            return f"({e.runtime('Optional')}({value}) if {test} else {e.runtime('NONE')})"
        condition = self.boolean(node.args[0])
        return self.branches(condition, node.args[1], node.args[2])

    def branches(self, condition: str, yes: Expr, no: Expr) -> str:
        """`yes if condition else no`, each evaluated only when taken."""
        e = self.emitter
        with e.capture() as first:
            yes_code = self._branch(yes)
        with e.capture() as second:
            no_code = self._branch(no)
        if not first[0] and not second[0]:
            return f"({yes_code} if {condition} else {no_code})"
        result = e.name()
        for header, captured, code, node in (
            (f"if {condition}:", first, yes_code, yes.id),
            ("else:", second, no_code, no.id),
        ):
            with e.block(header, node):
                e.splice(captured)
                e.emit(f"{result} = {code}")
        return result

    def _branch(self, node: Expr) -> str:
        """Write a branch of a conditional, which is an attribute, whatever it is."""
        if self.context.tests_optional(node):
            return self._found(node)
        code = self.value(node)
        return code if tree_context.is_attribute(node) else self._settled(node, code)

    # --- comprehensions ------------------------------------------------------------------------

    def _comprehension(self, node: Comprehension) -> str:
        shape = tree_context.classify(node)
        match shape:
            case tree_context.Bind():
                value = self.atom(shape.value)
                with self.scope({shape.name: value}):
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
                raise Unsupported("fold")
            case _:
                assert_never(shape)

    @contextmanager
    def _loop(self, node: Comprehension) -> Iterator[None]:
        """Write a `for` statement over the range with the iteration variables in scope."""
        e = self.emitter
        if node.iter_var2:
            key, value = e.name("v"), e.name("v")
            names = {node.iter_var: key, node.iter_var2: value}
            header = f"for {key}, {value} in {self._entries(node.iter_range)}:"
        else:
            element = e.name("v")
            names = {node.iter_var: element}
            header = f"for {element} in {self._iterable(node.iter_range)}:"
        with e.loop(header, node.id), self.scope(names):
            hoisted = self._hoist(node)
            yield
            self.prefixes.release(hoisted)

    @contextmanager
    def _whole_loop(self, node: Comprehension) -> Iterator[None]:
        """Write a loop that never ends early. Over what another macro collects it needs no list."""
        inner = node.iter_range
        shape = tree_context.classify(inner) if isinstance(inner, Comprehension) else None
        if (
            not isinstance(shape, tree_context.Collect)
            or node.iter_var2
            or self.context.is_constant(inner)
        ):
            with self._loop(node):
                yield
            return
        assert isinstance(inner, Comprehension), "it has a shape"
        visible = self.locals
        with self._whole_loop(inner), self._where(shape.predicate):
            element = self.atom(shape.element)
            outer, self.locals = self.locals, {**visible, node.iter_var: element}
            hoisted = self._hoist(node)
            yield
            self.prefixes.release(hoisted)
            self.locals = outer

    def _iterable(self, node: Expr) -> str:
        e = self.emitter
        code = self.value(node)
        if self.context.certain(node) is list:
            return code
        t = e.name()
        test = f"({t} := {code}).__class__ is {e.runtime('list')}"
        if self._may_be_map(node):
            test = f"{test} or {t}.__class__ is {e.runtime('dict')}"
        return f"({t} if {test} else {e.runtime('iterate')}({t}))"

    def _may_be_map(self, node: Expr) -> bool:
        return self.context.checked.types.get(node.id, DYN).kind is not Kind.LIST

    def _entries(self, node: Expr) -> str:
        """Return the source of what a loop with two variables runs over."""
        e = self.emitter
        t, code = e.name(), self.value(node)
        test = f"({t} := {code}).__class__ is {e.runtime('dict')}"
        return f"({t}.items() if {test} else {e.runtime('iterate2')}({t}))"

    def _hoist(self, scope: Comprehension | None) -> list[object]:
        """Compute the chain prefixes that this scope shares, once, at its head."""
        done: list[object] = []
        for key, base, steps in self.prefixes.for_scope(scope):
            name = self.emitter.assign(self._steps(base, steps), steps[-1].node.id)
            self.prefixes.share(key, name)
            done.append(key)
        return done

    def _quantified(self, node: Comprehension, shape: tree_context.Quantified) -> str:
        e = self.emitter
        empty = shape.quantifier is tree_context.Quantifier.ALL
        result = e.assign(str(empty), node.id)
        with self._loop(node):
            test = self.boolean(shape.predicate)
            with e.block(f"if not {test}:" if empty else f"if {test}:", shape.predicate.id):
                e.emit(f"{result} = {not empty}")
                e.emit("break")
        return result

    def _exists_one(self, node: Comprehension, shape: tree_context.ExistsOne) -> str:
        e = self.emitter
        count = e.assign("0", node.id)
        with self._whole_loop(node), self._where(shape.predicate):
            e.emit(f"{count} += 1")
        return f"({count} == 1)"

    def _collect(self, node: Comprehension, shape: tree_context.Collect) -> str:
        e = self.emitter
        result = e.assign("[]", node.id)
        with self._whole_loop(node), self._where(shape.predicate):
            e.emit(f"{result}.append({self.value(shape.element)})", shape.element.id)
        return result

    def _insert(self, node: Comprehension, shape: tree_context.Insert) -> str:
        e = self.emitter
        result = e.assign("{}", node.id)
        insert, *given = e.inserting(shape.key)
        with self._loop(node), self._where(shape.predicate):
            parts = [shape.value] if shape.key is None else [shape.key, shape.value]
            args = ", ".join([*given, result, *map(self.value, parts)])
            e.emit(f"{result} = {insert}({args})", shape.value.id)
        return result

    @contextmanager
    def _where(self, predicate: Expr | None) -> Iterator[None]:
        if predicate is None:
            yield
            return
        with self.emitter.block(f"if {self.boolean(predicate)}:", predicate.id):
            yield
