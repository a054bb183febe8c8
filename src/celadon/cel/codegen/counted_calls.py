"""Calls in the counted variant: the operands in order, then the plain form, and what it costs.

The value of a call is written as the plain variant writes it, on operands that have names by then;
where that has no form, the metered variant's native one serves, or the implementation. What a call
costs stands in its rule. A rule that can be written in Python is written for operands of the
classes that the native form asks for, and called for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Final

from celadon.cel.analysis import tree_context
from celadon.cel.codegen import inline_functions, inline_operators
from celadon.cel.codegen.emitter import CountedWriter, Emitter
from celadon.cel.codegen.metered_constructs import native, tracked
from celadon.cel.cost import CALL_COST, LIST_CREATE_COST, SizeSource, Written
from celadon.cel.errors import EvaluationError
from celadon.cel.runtime import unknown_function
from celadon.cel.syntax import Call, Comprehension, Expr, Ident, ListLiteral, Select
from celadon.cel.types import Kind
from celadon.cel.values.runtime_types import Opaque
from celadon.cel.values.typed_lists import size_of


def call(w: CountedWriter, node: Call) -> str:
    """Return a name for the value of any call that is not logic and not part of a chain."""
    form = w.context.inline(node)
    if form is inline_operators.LOGICAL_NOT:
        w.charge()
        return w.emitter.assign(f"not {w.boolean(node.args[0])}", node.id)
    if form is inline_operators.OR or form is inline_operators.OR_VALUE:
        return _otherwise(w, node)
    if form is inline_operators.BLOCK or form is inline_operators.NOT_STRICTLY_FALSE:
        write = None if form.whole is None else form.whole(w.context, node)
        assert write is not None, "they are always written whole"
        return write(w, node)
    if form is inline_operators.HAS_VALUE and may_find(w, inline_operators.operands(node)[0]):
        w.charge()
        code = (
            f"{found(w, inline_operators.operands(node)[0])} is not {w.emitter.runtime('MISSING')}"
        )
        return w.emitter.assign(code, node.id)
    if (known_code := _known(w, node)) is not None:
        return known_code
    return _general(w, node)


def may_find(w: CountedWriter, node: Expr) -> bool:
    """Return whether it is an optional that need not be made: an optional chain, or what is made
    of one that is there."""
    return tree_context.chain_of(node).is_optional or _mapped(w, node) is not None


def found(w: CountedWriter, node: Expr) -> str:
    """Return a name for what such an optional holds, or for MISSING."""
    mapped = _mapped(w, node)
    if mapped is not None:
        return _mapping(w, *mapped)
    chain = tree_context.chain_of(node)
    name = w.found(chain.base, chain.steps)
    w.charge(1 - tree_context.is_conditional(chain.base))
    return name


def _mapped(w: CountedWriter, node: Expr) -> tuple[Expr, tree_context.Bind] | None:
    """`chain.optMap(v, e)` as the chain and what is made of its value, which is looked at first."""
    mapped = tree_context.optional_mapping(node)
    if mapped is None or not tree_context.chain_of(mapped[0]).is_optional:
        return None
    _, bind = mapped
    kind = w.context.checked.types[bind.body.id].kind
    if kind not in tree_context.SETTLED_KINDS and kind is not Kind.DYN:
        return None
    return mapped if begins_with(bind.body, bind.name) else None


def _mapping(w: CountedWriter, source: Expr, bind: tree_context.Bind) -> str:
    """Write a mapping. Expanded, that is `chain.hasValue() ? optional.of(e) : optional.none()`,
    where `v` is `chain.value()`: the chain is charged twice where it leads to something."""
    e = w.emitter
    w.flush()
    before = e.assign("c")
    name = found(w, source)
    w.flush()
    again = e.assign(f"c - {before}")
    w.charge(CALL_COST)
    missing = e.runtime("MISSING")
    with w.branch(f"if {name} is {missing}:", source.id):
        w.charge(CALL_COST)
    with w.branch("else:", bind.body.id):
        w.add(again)
        w.charge(CALL_COST + CALL_COST)
        with w.scope({bind.name: name}):
            value = w.value(bind.body)
        is_open = w.context.checked.types[bind.body.id].kind is Kind.DYN
        e.emit(f"{name} = {e.runtime('settled')}({value})" if is_open else f"{name} = {value}")
    return name


def begins_with(node: Expr, name: str) -> bool:
    """Is a name what evaluating the node surely begins with?"""
    match node:
        case Ident():
            return node.name == name
        case Select():
            return begins_with(node.operand, name)
        case Call():
            first = next(iter(inline_operators.operands(node)), None)
            return first is not None and begins_with(first, name)
        case Comprehension():
            return node.accu_var != name and begins_with(node.iter_range, name)
        case _:
            return False


def _otherwise(w: CountedWriter, node: Call) -> str:
    """`opt.or(o)`, `opt.orValue(v)`: no charge of their own, the right side only when absent."""
    e = w.emitter
    left, right = inline_operators.operands(node)
    unwraps = node.function == "orValue"
    if unwraps and may_find(w, left):
        result, nothing = found(w, left), e.runtime("MISSING")
        unwraps = False
    else:
        result, nothing = e.assign(w.value(left), node.id), e.runtime("NONE")
    with w.branch(f"if {result} is {nothing}:", node.id):
        e.emit(f"{result} = {w.value(right)}", right.id)
    if unwraps:
        test = f"elif {result}.__class__ is {e.runtime('Optional')}:"
        e.emit(f"{test} {result} = {result}.value", node.id)
    return result


def _known(w: CountedWriter, node: Call) -> str | None:
    """Return what a constant text was read as when the program was made, at its known cost; None
    for anything else."""
    c, args = w.context, inline_operators.operands(node)[:1]
    texts = c.remembered(node)
    if texts is None or not c.is_constant(args[0]) or c.certain(args[0]) is not str:
        return None
    text = c.constant(args[0])
    try:
        value = texts[text]
    except EvaluationError:  # the evaluation will say so
        return None
    rule = c.cost_rule(node)
    w.charge(CALL_COST if rule is None else rule.tracked((text,), value))
    return w.emitter.named(value)


def _general(w: CountedWriter, node: Call) -> str:
    e = w.emitter
    if (row := _row(w, node)) is not None:
        return row
    parts = inline_operators.operands(node)
    form = w.context.inline(node)
    if form is inline_functions.FORMAT and (message := _formatted(w, node)) is not None:
        return message
    atoms = [w.value(part) for part in parts]
    native_form, code = _forms(w, node, atoms)
    if code is None:
        impl = w.context.direct_impl(node) or unknown_function(node.function)
        code = e.call(w.context, node, impl, atoms)
        if native_form is not None and native_form.value:
            code = f"{native_form.value} if {native_form.test} else {code}"
    result = e.assign(code, node.id)
    if form is not inline_functions.IN or not inline_functions.is_constant_set(w.context, node):
        _charge(w, node, atoms, result, native_form)
    return result


def _forms(
    w: CountedWriter, node: Call, atoms: list[str]
) -> tuple[inline_operators.Native | None, str | None]:
    """Return the native form of a call on evaluated operands, and how the plain variant writes
    it."""
    e = w.emitter
    texts = w.context.remembered(node)
    if texts is not None and not inline_operators.repeats(w, node):
        return inline_operators.Native(
            "True", "", (inline_operators.length(w, atoms[0]),)
        ), f"{e.bind(texts, 'k')}[{atoms[0]}]"
    form = w.context.inline(node)
    if form is None:
        return None, None
    plain = None if form.plain is None else form.plain(_Evaluated(w), node)
    native_form = native(w, node, atoms)
    return native_form, plain


def _charge(
    w: CountedWriter,
    node: Call,
    atoms: list[str],
    result: str,
    native_form: inline_operators.Native | None,
) -> None:
    """Charge a call; what is known of the operands saves a call of the rule."""
    rule = w.context.cost_rule(node)
    if rule is None or rule.fixed is not None:
        w.charge(CALL_COST if rule is None or rule.fixed is None else rule.fixed)
        return
    amount = tracked(w, rule, atoms, result)
    if rule.written is not None:
        values = (w.emitter.constants.get(atom) for atom in atoms)
        compares = w.context.inline(node) in _COMPARISONS
        # Kubernetes charges one for comparing abstract values, whatever their size
        if not (compares and any(isinstance(value, Opaque) for value in values)):
            amount = _written(w, node, atoms, rule.written, amount)
        if native_form is not None:
            written = rule.written(*native_form.sizes)
            is_sure = native_form.test == "True" or w.context.inline(node) in _PROVING
            amount = str(written) if is_sure else f"({written}) if {native_form.test} else {amount}"
    w.add(amount, node.id)


#: What is compared are texts most often, but maps and lists often enough.
_COMPARISONS: Final = (inline_operators.EQUALS, inline_operators.NOT_EQUALS)
#: Calls that fail for receivers that are no texts, as the plain variant writes them.
_PROVING: Final = (
    inline_functions.STARTS_WITH,
    inline_functions.ENDS_WITH,
    inline_functions.MATCHES,
)
#: Classes of values whose size is their length.
_SIZED: Final = frozenset({str, list, dict})


def _written(w: CountedWriter, node: Call, atoms: list[str], rule: Written, otherwise: str) -> str:
    """Return the source of a cost for operands that have lengths."""
    c, e = w.context, w.emitter
    sizes: list[SizeSource] = []
    tests = []
    for part, atom in zip(inline_operators.operands(node), atoms, strict=True):
        kind = c.certain(part)
        if atom in e.constants:
            sizes.append(size_of(e.constants[atom]))
        elif kind in tree_context.SCALAR_CLASSES.values() and kind not in (str, bytes):
            sizes.append(1)
        else:
            sizes.append(inline_operators.length(w, atom))
            if kind not in (str, bytes, list):
                tests.append((sizes[-1], f"{atom}.__class__ in {e.bind(_SIZED, 'k')}"))
    amount = str(rule(*sizes))
    needed = [test for size, test in tests if str(size) in amount]
    return f"({amount}) if {' and '.join(needed)} else {otherwise}" if needed else amount


def _row(w: CountedWriter, node: Call) -> str | None:
    """Write a row of additions one of whose operands is a text: then all must be."""
    c, e = w.context, w.emitter
    parts = inline_operators.text_addends(c, node)
    rules = None if parts is None else _written_rules(c, node, len(parts) - 1)
    if parts is None or rules is None:
        return None
    atoms = [w.value(part) for part in parts]
    tests = [
        f"{atom}.__class__ is not {e.runtime('str')}"
        for part, atom in zip(parts, atoms, strict=True)
        if c.certain(part) is not str
    ]
    if tests:
        e.emit(f"if {' or '.join(tests)}: {e.runtime('no_such_overload')}().undefined", node.id)
    sizes: list[SizeSource] = [
        len(c.constant(part)) if c.is_constant(part) else inline_operators.length(w, atom)
        for part, atom in zip(parts, atoms, strict=True)
    ]
    size, amounts = sizes[0], []
    for position, rule in enumerate(rules, 1):
        amounts.append(f"({rule(size, sizes[position])})")
        if position < len(rules):
            size = e.assign(f"{size} + {sizes[position]}", node.id)
    w.add(" + ".join(amounts), node.id)
    return e.assign(inline_operators.joined(atoms), node.id)


def _written_rules(c: tree_context.Context, node: Call, count: int) -> list[Written] | None:
    """Return the costs of so many additions in a row, as source, from the first; None if one cannot
    be written."""
    rules: list[Written] = []
    addition: Expr = node
    for _ in range(count):
        assert isinstance(addition, Call), "a row has so many"
        rule = c.cost_rule(addition)
        if rule is None or rule.written is None or rule.fixed is not None:
            return None
        rules.insert(0, rule.written)
        addition = addition.args[0]
    return rules


def _formatted(w: CountedWriter, node: Call) -> str | None:
    """Write a constant format of arguments that stand in a list, which need not be made."""
    c, e = w.context, w.emitter
    text, arguments = inline_operators.operands(node)
    rule = c.cost_rule(node)
    if not isinstance(arguments, ListLiteral) or arguments.optional or c.is_constant(arguments):
        return None
    if rule is None or rule.written is None or not c.is_constant(text):
        return None
    items = ", ".join([w.value(element) for element in arguments.elements])
    w.charge(LIST_CREATE_COST)
    function, *given = e.callee(c, node, c.direct_impl(node))
    pattern = e.named(c.constant(text))
    quick = (
        None
        if inline_functions.FORMAT.plain is None
        else inline_functions.FORMAT.plain(_Evaluated(w), node)
    )
    code = quick or f"{function}({', '.join([*given, pattern, f'[{items}]'])})"
    w.add(str(rule.written(len(c.constant(text)))), node.id)
    return e.assign(code, node.id)


class _Evaluated:
    """A writer of plain forms whose operands have been evaluated and have names."""

    def __init__(self, w: CountedWriter) -> None:
        self.context: tree_context.Context = w.context
        self.emitter: Emitter = w.emitter
        self._atoms = w.atoms

    def value(self, node: Expr) -> str:
        """Return the source of the node's value."""
        if self.context.is_constant(node):
            return self.emitter.constant(self.context.constant(node))
        return self._atoms[node.id]

    def atom(self, node: Expr) -> str:
        """Return a name or literal for the node's value."""
        if self.context.is_constant(node):
            return self.emitter.named(self.context.constant(node))
        return self._atoms[node.id]

    def boolean(self, node: Expr) -> str:
        """Negation alone asks for it, and is written otherwise."""
        raise AssertionError("no form on evaluated operands wants a bool")

    def maybe(self, node: Expr) -> None:
        """Operands have been evaluated."""

    def scope(self, names: Mapping[str, str]) -> AbstractContextManager[None]:
        """Blocks alone have names, and are written otherwise."""
        raise AssertionError("no form on evaluated operands binds names")
