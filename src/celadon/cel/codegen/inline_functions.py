"""Inline forms of functions on texts, and of conversions to text and int."""

from __future__ import annotations

from typing import Any

from celadon.cel import re2
from celadon.cel.analysis.tree_context import Context
from celadon.cel.codegen.emitter import MeteredWriter, PlainWriter, Writer
from celadon.cel.codegen.inline_operators import (
    EXACT,
    MeteredCall,
    Native,
    NativeForm,
    PlainForm,
    is_class,
    last_constant,
    length,
    operands,
    operator_call,
    repeats,
)
from celadon.cel.declarations import Inline
from celadon.cel.syntax import Call, Expr, ListLiteral
from celadon.cel.values.container_access import LONG
from celadon.cel.values.text import MAX_LENGTH, Broken, Uint, parse


def _method(name: str) -> PlainForm:
    def write(w: PlainWriter, node: Call) -> str | None:
        # bytes has the method too but refuses a str argument; everything else lacks it
        receiver, arg = operands(node)
        certain = w.context.certain(arg)
        if certain is str:
            # a name for a constant: `5.startswith` is no expression
            code = w.atom(receiver) if w.context.is_constant(receiver) else w.value(receiver)
            return f"{code}.{name}({_text(w, arg)})"
        if certain is not None:
            return None
        e, x, y = w.emitter, w.atom(receiver), w.atom(arg)
        slow = f"{e.bind(w.context.impl(node), 'f')}({x}, {y})"
        return f"({x}.{name}({y}) if {y}.__class__ is {e.runtime('str')} else {slow})"

    return write


def _text(w: PlainWriter, node: Expr) -> str:
    """Return the value of an argument that is a text."""
    c = w.context
    return w.emitter.key(c.constant(node)) if c.is_constant(node) else w.value(node)


def _metered_method(name: str) -> NativeForm:
    def form(w: Writer, node: Call, atoms: list[str]) -> Native | None:
        x, y = atoms
        part = last_constant(w, node)
        if not isinstance(part, str):
            return None
        return Native(is_class(w, x, "str"), f"{x}.{name}({y})", (length(w, x), len(part)))

    return form


def _contains(w: PlainWriter, node: Call) -> str | None:
    receiver, arg = operands(node)
    e = w.emitter
    certain = w.context.certain(arg)
    if certain not in (str, None):
        return None
    if certain is str is w.context.certain(receiver):
        return f"({w.value(arg)} in {w.value(receiver)})"
    x = _text(w, arg) if w.context.is_constant(arg) else w.atom(arg)
    t, slow = e.name(), e.bind(w.context.impl(node), "f")
    text = e.runtime("str")
    test = f"({t} := {w.value(receiver)}).__class__ is {text}"
    if certain is None:
        test = f"{test} and {x}.__class__ is {text}"
    return f"({x} in {t} if {test} else {slow}({t}, {x}))"


def _metered_contains(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x, y = atoms
    value = last_constant(w, node)
    if not isinstance(value, str):
        return None
    return Native(is_class(w, x, "str"), f"{y} in {x}", (length(w, x), len(value)))


def _matches(w: PlainWriter, node: Call) -> str | None:
    receiver, pattern = operands(node)
    c, e = w.context, w.emitter
    if not c.is_constant(pattern) or c.constant(pattern).__class__ is not str:
        return None
    compiled = re2.compile(c.constant(pattern))
    # search functions refuse anything but str
    return f"(True if {e.bind(compiled.search_fn, 'r')}({w.value(receiver)}) else False)"


def _metered_matches(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    pattern = last_constant(w, node)
    if not isinstance(pattern, str):
        return None
    x = atoms[0]
    search = w.emitter.bind(re2.compile(pattern).search_fn, "r")
    sizes = length(w, x), len(pattern)
    return Native(is_class(w, x, "str"), f"True if {search}({x}) else False", sizes)


#: Longer texts, constant ones or not, are left to the implementations, which watch sizes.
_SHORT = 1000


#: Characters that may stand for one of a short text without being counted.
_MOST_GROWN = 16


def _text_method(name: str, arity: int) -> PlainForm:
    """Write a method of Python strings with constant, short, non-empty string arguments."""

    def write(w: PlainWriter, node: Call) -> str | None:
        e, c = w.emitter, w.context
        receiver, *args = operands(node)
        if len(args) != arity or not all(map(c.is_constant, args)):
            return None
        values = [c.constant(arg) for arg in args]
        if not _are_short(values):
            return None
        t, named = e.name(), [e.named(v) for v in values]
        test = f"({t} := {w.value(receiver)}).__class__ is {e.runtime('str')}"
        test = f"{test} and {length(w, t)} < {_SHORT}"
        slow = e.call(c, node, c.impl(node), (t, *named))
        return f"({t}.{name}({', '.join(named)}) if {test} else {slow})"

    return write


def _are_short(values: list[Any]) -> bool:
    """Return whether a method of short texts makes no long ones with these arguments: a separator
    or, what is replaced, and by what."""
    if any(value.__class__ is not str or len(value) > _SHORT for value in values):
        return False
    return bool(values[0]) and len(values[-1]) <= _MOST_GROWN * len(values[0])


def _metered_split(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    separator = last_constant(w, node)
    if not isinstance(separator, str) or not _are_short([separator]):
        return None
    x, k = atoms
    sizes = length(w, x), len(separator)
    return Native(_is_short_text(w, x), f"{x}.split({k})", sizes)


def _is_short_text(w: Writer, atom: str) -> str:
    return f"{is_class(w, atom, 'str')} and {length(w, atom)} < {_SHORT}"


def _metered_replace(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    c = w.context
    values = [c.constant(arg) if c.is_constant(arg) else None for arg in node.args]
    texts = [text for text in values if isinstance(text, str)]
    if len(texts) != 2 or len(node.args) != 2 or not _are_short(texts):
        return None
    x, old, new = atoms
    sizes = length(w, x), len(texts[0]), len(texts[1])
    return Native(_is_short_text(w, x), f"{x}.replace({old}, {new})", sizes)


def _lower_ascii(w: PlainWriter, node: Call) -> str | None:
    e = w.emitter
    t = e.name()
    slow = e.call(w.context, node, w.context.impl(node), (t,))
    test = f"({t} := {w.value(operands(node)[0])}).__class__ is {e.runtime('str')}"
    return f"({t}.lower() if {test}{_unless_long(w, node, t)} and {t}.isascii() else {slow})"


def _unless_long(w: Writer, node: Call, atom: str) -> str:
    """Return the source of the test whether what a text takes need not be counted."""
    return f" and {length(w, atom)} < {_SHORT}" if repeats(w, node) else ""


def _metered_lower_ascii(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x = atoms[0]
    test = f"{is_class(w, x, 'str')}{_unless_long(w, node, x)} and {x}.isascii()"
    return Native(test, f"{x}.lower()", (length(w, x),))


def _string(w: PlainWriter, node: Call) -> str | None:
    e = w.emitter
    if w.context.overload(node) is not None:  # that one, and no other
        return None
    t, text, ints = e.name(), e.runtime("str"), e.runtime("int")
    slow = e.bind(w.context.impl(node), "f")
    return (
        f"({t} if ({t} := {w.value(node.args[0])}).__class__ is {text} "
        f"else {text}({t}) if {t}.__class__ is {ints} else {slow}({t}))"
    )


def _metered_string(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x = atoms[0]
    if w.context.overload(node) is not None:  # that one, and no other
        return None
    return Native(is_class(w, x, "int"), f"{w.emitter.runtime('str')}({x})", (1,))


def _int(w: PlainWriter, node: Call) -> str | None:
    e = w.emitter
    if w.context.overload(node) is not None:
        return None
    t, slow = e.name(), e.bind(w.context.impl(node), "f")
    test = f"({t} := {w.value(node.args[0])}).__class__ is {e.runtime('int')}"
    return f"({t} if {test} else {slow}({t}))"


def _join(w: PlainWriter, node: Call) -> str | None:
    """Write a join. The implementation refuses elements that are no texts, whichever."""
    overload, receiver = w.context.overload(node), operands(node)[0]
    if overload is None or w.context.certain(receiver) is not list:
        return None
    if repeats(w, node) or not all(w.context.certain(arg) is str for arg in node.args):
        return None
    args = ", ".join(w.value(operand) for operand in operands(node))
    return f"{w.emitter.bind(overload.impl, 'f')}({args})"


#: Classes whose values a clause writes as Python does, in all styles.
_WRITTEN = {"s": ("str", "int"), "d": ("int",)}


def _format(w: PlainWriter, node: Call) -> str | None:
    """Write a constant format of plain clauses, for as many arguments as it wants."""
    c, e = w.context, w.emitter
    text, arguments = operands(node)
    pieces = parse(c.constant(text)) if c.is_constant(text) and c.certain(text) is str else ()
    clauses = [piece for piece in pieces if not isinstance(piece, str)]
    if not isinstance(arguments, ListLiteral) or arguments.optional or c.is_constant(arguments):
        return None
    if not clauses or len(arguments.elements) != len(clauses):
        return None
    args = [w.atom(element) for element in arguments.elements]
    tests = []
    for clause, arg in zip(clauses, args, strict=True):
        if isinstance(clause, Broken) or clause.precision is not None:
            return None
        if clause.verb not in _WRITTEN:
            return None
        kinds = " or ".join(is_class(w, arg, kind) for kind in _WRITTEN[clause.verb])
        tests.append(f"({kinds})")
    left = iter(args)
    parts = (e.named(piece) if isinstance(piece, str) else next(left) for piece in pieces)
    written = "".join(f"{{{part}}}" for part in parts)
    items = f"[{', '.join(args)}]"
    slow = e.call(c, node, c.direct_impl(node), (e.named(c.constant(text)), items))
    t, size = e.name(), e.runtime("len")
    most = _SHORT if repeats(w, node) else MAX_LENGTH
    tests.append(f"{size}({t} := f'{written}') <= {most}")
    return f"({t} if {' and '.join(tests)} else {slow})"


STARTS_WITH = Inline(_method("startswith"), _metered_method("startswith"))
ENDS_WITH = Inline(_method("endswith"), _metered_method("endswith"))
CONTAINS = Inline(_contains, _metered_contains)
MATCHES = Inline(_matches, _metered_matches)
SPLIT = Inline(_text_method("split", 1), _metered_split)
REPLACE = Inline(_text_method("replace", 2), _metered_replace)
JOIN = Inline(_join)
FORMAT = Inline(_format)
LOWER_ASCII = Inline(_lower_ascii, _metered_lower_ascii)
STRING = Inline(_string, _metered_string)
INT = Inline(_int)


# --- Container forms ---------------------------------------------------------
#
# Inline forms of membership, sizes and sets.


def _in(w: PlainWriter, node: Call) -> str | None:
    element, container = node.args
    c, e = w.context, w.emitter
    if c.is_constant(container) and c.constant(container).__class__ is list:
        members = _constant_set(c.constant(container))
        if members is None or c.certain(element) is bytes or c.mentions_bytes:
            slow = e.runtime("contains_constant" if is_constant_set(c, node) else "contains")
            return f"{slow}({w.value(element)}, {e.constant(c.constant(container))})"
        code, test = w.value(element), e.bind(members, "k")
        if not members & {0, 1} or c.certain(element) is str:
            return f"({code} in {test})"  # an unhashable element raises
        t, bools = e.name(), e.runtime("bool")
        return f"(({t} := {code}) in {test} and {t}.__class__ is not {bools})"
    if c.certain(element) in (str, None):
        # a string equals only a string; abstract list elements raise
        x = e.key(c.constant(element)) if c.is_constant(element) else w.atom(element)
        t, o = e.name(), w.value(container)
        dicts, lists = e.runtime("dict"), e.runtime("list")
        test = f"({t} := {o}).__class__ is {dicts} or {t}.__class__ is {lists}"
        if repeats(w, node):
            test = f"{test} and {e.runtime('len')}({t}) < {LONG}"
        slow = operator_call(w, node, "contains", x, t)
        if c.certain(element) is None:
            test = f"({test}) and {x}.__class__ is {e.runtime('str')}"
        return f"({x} in {t} if {test} else {slow})"
    return None


#: What cel-go can put in its set of constants.
_SET_CLASSES = frozenset({bool, float, int, str, Uint})


def is_constant_set(c: Context, node: Call) -> bool:
    """Is this `in` a look-up in a set of constants for cel-go?"""
    container = node.args[1]
    return (
        c.overload_ids(node) == ("in_list",)
        and c.is_constant(container)
        and c.constant(container).__class__ is list
        and all(item.__class__ in _SET_CLASSES for item in c.constant(container))
    )


def _constant_set(items: list[object]) -> frozenset[Any] | None:
    """Return a constant list as a set that answers membership as CEL does (bool apart from 0 and
    1), or None. Large integers are left out because doubles compare with them after rounding."""
    for item in items:
        if item.__class__ is not str and not (item.__class__ is int and abs(item) < EXACT):
            return None
    return frozenset(items)


def _metered_in(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    """Return the form for maps only: what a look-up in a list is charged depends on its length."""
    x, y = atoms
    if len(w.context.overload_ids(node)) == 1:
        return None
    return Native(
        f"{is_class(w, y, 'dict')} and {is_class(w, x, 'str')}",
        f"{x} in {y}",
        (length(w, x), length(w, y)),
    )


def _in_constants(w: MeteredWriter, node: Call) -> str:
    """`x in [constants]` is a set look-up in cel-go: nothing is charged for it."""
    e, c = w.emitter, w.context
    x = w.value(node.args[0])
    w.flush()  # Go may panic
    items = c.constant(node.args[1])
    function, members = e.runtime("call2_v"), e.runtime("contains_constant")
    code = f"{function}({members}, {x}, {e.constant(items)})"
    if (quick := _constant_set(items)) is not None:
        test = f"{x}.__class__ is {e.runtime('str')}"
        code = f"{x} in {e.bind(quick, 'k')} if {test} else {code}"
    return e.assign(code, node.id)


def _size(w: PlainWriter, node: Call) -> str:
    # str counts code points; list, dict, bytes as CEL; anything else has no len and raises
    return f"{w.emitter.runtime('len')}({w.value(operands(node)[0])})"


def _metered_size(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x = atoms[0]
    test = " or ".join(is_class(w, x, kind) for kind in ("str", "list", "dict"))
    return Native(test, length(w, x), (length(w, x),))


def _set_test(method: str, constant: int, *, negated: bool = False) -> PlainForm:
    """`sets.f(a, b)` with a constant list of strings, as a method of a frozenset: a string equals
    nothing but a string, and elements that cannot be hashed give up."""

    def write(w: PlainWriter, node: Call) -> str | None:
        e, c = w.emitter, w.context
        constant_arg, other = node.args[constant], node.args[1 - constant]
        items = c.constant(constant_arg) if c.is_constant(constant_arg) else None
        if items.__class__ is not list or any(item.__class__ is not str for item in items):
            return None
        t, k = e.name(), e.bind(frozenset(items), "k")
        args = [t, t]
        args[constant] = e.named(items)
        slow = f"{e.bind(c.impl(node), 'f')}({', '.join(args)})"
        test = f"({t} := {w.value(other)}).__class__ is {e.runtime('list')}"
        return f"({'not ' if negated else ''}{k}.{method}({t}) if {test} else {slow})"

    return write


def _metered_set_test(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    """Write the test of two lists with which the implementation never fails."""
    overload = w.context.overload(node)
    if overload is None or repeats(w, node):
        return None
    test = " and ".join(is_class(w, atom, "list") for atom in atoms)
    value = f"{w.emitter.bind(overload.impl, 'f')}({', '.join(atoms)})"
    return Native(test, value, tuple(length(w, atom) for atom in atoms))


def _first(*templates: PlainForm) -> PlainForm:
    """Return the first of several templates that does not decline."""

    def write(w: PlainWriter, node: Call) -> str | None:
        codes = (template(w, node) for template in templates)
        return next((code for code in codes if code is not None), None)

    return write


def _in_whole(context: Context, node: Call) -> MeteredCall | None:
    return _in_constants if is_constant_set(context, node) else None


IN = Inline(_in, _metered_in, _in_whole)
SIZE = Inline(_size, _metered_size)
SETS_CONTAINS = Inline(
    _first(_set_test("issuperset", 0), _set_test("issubset", 1)), _metered_set_test
)
SETS_INTERSECTS = Inline(
    _first(_set_test("isdisjoint", 0, negated=True), _set_test("isdisjoint", 1, negated=True)),
    _metered_set_test,
)
