"""Calls in the plain variant: native Python where it means the same, else the implementation.

`TEMPLATES` maps a function name to what writes its native form. A template may decline (return
None) when the operands' classes are unknown and no cheap test settles them; then the call goes to
the implementation that the checker resolved. Each template states in one comment why the native
form is right, because Python differs from CEL in many small ways:

* `True == 1`: comparing with 0 or 1 needs to exclude bool;
* `x in "abc"` and `x[-1]` work on strings and lists: containers are tested by class;
* int is unbounded: results of int arithmetic are range-checked;
* abstract values raise from `__eq__` for foreign classes, which ends the plain variant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from celadon.cel import re2, syntax
from celadon.cel.analysis.tree_context import SCALAR_CLASSES, Context
from celadon.cel.codegen.writer_protocols import PlainWriter
from celadon.cel.syntax import Call, Expr, ListLiteral
from celadon.cel.types import Kind, Type
from celadon.cel.values.numbers import MAX_INT, MIN_INT, Uint

Template = Callable[[PlainWriter, Call], str | None]

#: Integers that double represents exactly, so that int/double comparison cannot differ.
_EXACT = 1 << 53

#: Overload ids a template stands for; a user's own function of the same name is left alone.
_STANDARD = {
    "size": "size_", "startsWith": "starts_with_string", "endsWith": "ends_with_string",
    "contains": "contains_string", "matches": "matches", "hasValue": "optional_hasValue",
    "value": "optional_value", "string": "_to_string", "orValue": "optional_orValue_value",
    "or": "optional_or_optional", "int": "_to_int64", "split": "string_split_string",
    "replace": "string_replace_string_string", "lowerAscii": "string_lower_ascii",
    "sets.contains": "list_sets_contains_list", "sets.intersects": "list_sets_intersects_list",
}  # fmt: skip


def call(w: PlainWriter, node: Call) -> str:
    """The source of any call that is not logic and not part of a chain."""
    template = TEMPLATES.get(node.function)
    if template is not None and is_standard(w.context, node):
        code = template(w, node)
        if code is not None:
            return code
    return _general(w, node)


def is_standard(context: Context, node: Call) -> bool:
    """Is this the function that the inline forms know, not another one of the same name?"""
    mark = _STANDARD.get(node.function)
    return mark is None or all(
        mark in overload or overload.endswith(f"_{node.function}")
        for overload in context.overload_ids(node)
    )


def _operands(node: Call) -> tuple[Expr, ...]:
    return node.args if node.target is None else (node.target, *node.args)


def _general(w: PlainWriter, node: Call) -> str:
    e = w.emitter
    args = [w.value(arg) for arg in _operands(node)]
    overload = w.context.overload(node)
    function = w.context.function(node)
    impl = w.context.impl(node)
    if impl is None or function is None:
        raise_call = e.runtime("no_such_overload")
        return f"{raise_call}().undefined"
    if (
        overload is not None
        and function.singleton is None
        and _is_trusted(w, node, overload.params)
    ):
        impl = overload.impl
    return f"{e.bind(impl, 'f')}({', '.join(args)})"


def _is_trusted(w: PlainWriter, node: Call, params: Sequence[Type]) -> bool:
    """Are all arguments sure to have the overload's classes, so that no guard is needed?"""
    return all(
        param.kind in _OPEN
        or (param.kind in SCALAR_CLASSES and w.context.certain(arg) is SCALAR_CLASSES[param.kind])
        for arg, param in zip(_operands(node), params, strict=True)
    )


_OPEN = frozenset({Kind.DYN, Kind.TYPE_PARAM})


# --- equality ---------------------------------------------------------------------------------


def _equals(w: PlainWriter, node: Call) -> str:
    return _equality(w, node, "==", "equal")


def _not_equals(w: PlainWriter, node: Call) -> str:
    return _equality(w, node, "!=", "not_equal")


def _equality(w: PlainWriter, node: Call, operator: str, function: str) -> str:
    left, right = node.args
    c, e = w.context, w.emitter
    for side, other in ((right, left), (left, right)):
        if c.is_constant(side):
            code = _equals_constant(w, other, c.constant(side), operator)
            if code is not None:
                return code
    one, two = c.certain(left), c.certain(right)
    if one is two and one in (int, str, bool):
        return f"({w.value(left)} {operator} {w.value(right)})"
    x, y = w.atom(left), w.atom(right)
    slow = f"{e.runtime(function)}({x}, {y})"
    return f"({x} {operator} {y} if {x}.__class__ is {e.runtime('str')} else {slow})"


def _equals_constant(w: PlainWriter, node: Expr, value: Any, operator: str) -> str | None:
    """Comparison with a constant; None where Python's `==` could differ from CEL's."""
    e, kind = w.emitter, value.__class__
    if w.context.is_constant(node):
        return None
    negated = operator == "!="
    if value is None or kind is bool:
        return f"({w.value(node)} {'is not' if negated else 'is'} {value})"
    if kind is str:
        return f"({w.value(node)} {operator} {e.constant(value)})"
    if kind is int and -_EXACT < value < _EXACT:
        if value not in (0, 1) or w.context.certain(node) is int:
            return f"({w.value(node)} {operator} {e.constant(value)})"
        t, bools = e.name(), e.runtime("bool")
        if negated:
            return f"(({t} := {w.value(node)}) != {value} or {t}.__class__ is {bools})"
        return f"(({t} := {w.value(node)}) == {value} and {t}.__class__ is not {bools})"
    return None


# --- ordering and arithmetic --------------------------------------------------------------------


def _ordering(operator: str) -> Template:
    def write(w: PlainWriter, node: Call) -> str:
        left, right = node.args
        c, e = w.context, w.emitter
        function = e.bind(w.context.impl(node), "f")
        one, two = c.certain(left), c.certain(right)
        if one is two and one in (int, str):
            return f"({w.value(left)} {operator} {w.value(right)})"
        if two in (int, str) and c.is_constant(right):
            # ints against ints and strings against strings compare as in Python
            t, kind, k = e.name(), e.runtime(two.__name__), e.constant(c.constant(right))
            fast = f"{t} {operator} {k} if ({t} := {w.value(left)}).__class__ is {kind}"
            return f"({fast} else {function}({t}, {k}))"
        if one in (int, str) and c.is_constant(left):
            t, kind, k = e.name(), e.runtime(one.__name__), e.constant(c.constant(left))
            fast = f"{k} {operator} {t} if ({t} := {w.value(right)}).__class__ is {kind}"
            return f"({fast} else {function}({k}, {t}))"
        x, y = w.atom(left), w.atom(right)
        ints = e.runtime("int")
        return (
            f"({x} {operator} {y} if {x}.__class__ is {ints} and {y}.__class__ is {ints} "
            f"else {function}({x}, {y}))"
        )

    return write


def _arithmetic(operator: str) -> Template:
    def write(w: PlainWriter, node: Call) -> str:
        left, right = node.args
        c, e = w.context, w.emitter
        function = e.bind(w.context.impl(node), "f")
        one, two = c.certain(left), c.certain(right)
        if operator == "+" and one is two is str:
            return f"({w.value(left)} + {w.value(right)})"
        if operator == "+" and str in (one, two) and (one is None or two is None):
            x, y = w.atom(left), w.atom(right)
            test = f"{x if two is str else y}.__class__ is {e.runtime('str')}"
            return f"({x} + {y} if {test} else {function}({x}, {y}))"
        if (one not in (int, None)) or (two not in (int, None)):
            return f"{function}({w.value(left)}, {w.value(right)})"
        x, y = w.atom(left), w.atom(right)
        ints = e.runtime("int")
        tests = [f"{n}.__class__ is {ints}" for n, k in ((x, one), (y, two)) if k is not int]
        t = e.name()
        tests.append(f"{MIN_INT} <= ({t} := {x} {operator} {y}) <= {MAX_INT}")
        return f"({t} if {' and '.join(tests)} else {function}({x}, {y}))"

    return write


def _not(w: PlainWriter, node: Call) -> str:
    return f"(not {w.boolean(node.args[0])})"


# --- membership and size -------------------------------------------------------------------------


def _in(w: PlainWriter, node: Call) -> str | None:
    element, container = node.args
    c, e = w.context, w.emitter
    if c.is_constant(container) and c.constant(container).__class__ is list:
        members = constant_set(c.constant(container))
        if members is None or c.certain(element) is bytes or c.mentions_bytes:
            slow = e.runtime("contains_constant" if is_constant_set(c, node) else "contains")
            return f"{slow}({w.value(element)}, {e.constant(c.constant(container))})"
        code, test = w.value(element), e.bind(members, "k")
        if not members & {0, 1} or c.certain(element) is str:
            return f"({code} in {test})"  # an unhashable element raises
        t, bools = e.name(), e.runtime("bool")
        return f"(({t} := {code}) in {test} and {t}.__class__ is not {bools})"
    if c.certain(element) is str:
        # a string equals only a string; abstract list elements raise
        x, t, o = w.atom(element), e.name(), w.value(container)
        dicts, lists, slow = e.runtime("dict"), e.runtime("list"), e.runtime("contains")
        test = f"({t} := {o}).__class__ is {dicts} or {t}.__class__ is {lists}"
        return f"({x} in {t} if {test} else {slow}({x}, {t}))"
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


def constant_set(items: list[Any]) -> frozenset[Any] | None:
    """A constant list as a set that answers membership as CEL does (bool apart from 0 and 1), or
    None. Large integers are left out because doubles compare with them after rounding."""
    for item in items:
        if item.__class__ is not str and not (item.__class__ is int and abs(item) < _EXACT):
            return None
    return frozenset(items)


def _size(w: PlainWriter, node: Call) -> str:
    # str counts code points; list, dict, bytes as CEL; anything else has no len and raises
    return f"{w.emitter.runtime('len')}({w.value(_operands(node)[0])})"


# --- strings -------------------------------------------------------------------------------------


def _method(name: str) -> Template:
    def write(w: PlainWriter, node: Call) -> str | None:
        # bytes has the method too but refuses a str argument; everything else lacks it
        receiver, arg = _operands(node)
        if w.context.certain(arg) is not str:
            return None
        code = w.value(receiver)
        return f"{code}.{name}({w.value(arg)})"

    return write


def _contains(w: PlainWriter, node: Call) -> str | None:
    receiver, arg = _operands(node)
    e = w.emitter
    if w.context.certain(arg) is not str:
        return None
    if w.context.certain(receiver) is str:
        return f"({w.value(arg)} in {w.value(receiver)})"
    x, t = w.atom(arg), e.name()
    slow = e.bind(w.context.impl(node), "f")
    text = e.runtime("str")
    return f"({x} in {t} if ({t} := {w.value(receiver)}).__class__ is {text} else {slow}({t}, {x}))"


def _matches(w: PlainWriter, node: Call) -> str | None:
    receiver, pattern = _operands(node)
    c, e = w.context, w.emitter
    if not c.is_constant(pattern) or c.constant(pattern).__class__ is not str:
        return None
    compiled = re2.compile(c.constant(pattern))
    # search functions refuse anything but str
    return f"(True if {e.bind(compiled.search_fn, 'r')}({w.value(receiver)}) else False)"


# --- conversions and sets -------------------------------------------------------------------------


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


def _int(w: PlainWriter, node: Call) -> str | None:
    e = w.emitter
    if w.context.overload(node) is not None:
        return None
    t, slow = e.name(), e.bind(w.context.impl(node), "f")
    test = f"({t} := {w.value(node.args[0])}).__class__ is {e.runtime('int')}"
    return f"({t} if {test} else {slow}({t}))"


def _set_test(method: str, constant: int, negated: bool = False) -> Template:
    """`sets.f(a, b)` with a constant list of strings, as a method of a frozenset: a string equals
    nothing but a string, and elements that cannot be hashed give up."""

    def write(w: PlainWriter, node: Call) -> str | None:
        e, c = w.emitter, w.context
        known, other = node.args[constant], node.args[1 - constant]
        items = c.constant(known) if c.is_constant(known) else None
        if items.__class__ is not list or any(item.__class__ is not str for item in items):
            return None
        t, k = e.name(), e.bind(frozenset(items), "k")
        args = [t, t]
        args[constant] = e.named(items)
        slow = f"{e.bind(c.impl(node), 'f')}({', '.join(args)})"
        test = f"({t} := {w.value(other)}).__class__ is {e.runtime('list')}"
        return f"({'not ' if negated else ''}{k}.{method}({t}) if {test} else {slow})"

    return write


def _first(*templates: Template) -> Template:
    """The first of several templates that does not decline."""

    def write(w: PlainWriter, node: Call) -> str | None:
        codes = (template(w, node) for template in templates)
        return next((code for code in codes if code is not None), None)

    return write


#: Constant arguments longer than this are left to the implementations, which watch sizes.
_SHORT = 1000


def _text_method(name: str, arity: int) -> Template:
    """A method of Python strings with constant, short, non-empty string arguments."""

    def write(w: PlainWriter, node: Call) -> str | None:
        e, c = w.emitter, w.context
        receiver, *args = _operands(node)
        if len(args) != arity or not all(map(c.is_constant, args)):
            return None
        values = [c.constant(arg) for arg in args]
        if any(v.__class__ is not str or len(v) > _SHORT for v in values) or not values[0]:
            return None
        t, slow = e.name(), e.bind(c.impl(node), "f")
        given = ", ".join(e.named(v) for v in values)
        test = f"({t} := {w.value(receiver)}).__class__ is {e.runtime('str')}"
        return f"({t}.{name}({given}) if {test} else {slow}({t}, {given}))"

    return write


def _lower_ascii(w: PlainWriter, node: Call) -> str | None:
    e = w.emitter
    t, slow = e.name(), e.bind(w.context.impl(node), "f")
    test = f"({t} := {w.value(_operands(node)[0])}).__class__ is {e.runtime('str')}"
    return f"({t}.lower() if {test} and {t}.isascii() else {slow}({t}))"


# --- optionals ------------------------------------------------------------------------------------


def _has_value(w: PlainWriter, node: Call) -> str:
    e = w.emitter
    receiver = _operands(node)[0]
    if (parts := w.maybe(receiver)) is not None:
        return parts[0]
    t, kind = e.name(), e.runtime("Optional")
    slow = e.bind(w.context.impl(node), "f")
    return (
        f"({t} is not {e.runtime('NONE')} if ({t} := {w.value(receiver)}).__class__ is {kind} "
        f"else {slow}({t}))"
    )


def _or_value(w: PlainWriter, node: Call) -> str:
    """`opt.orValue(x)`: a left value that is no optional passes through."""
    e = w.emitter
    left, right = _operands(node)
    if (parts := w.maybe(left)) is not None:
        return _otherwise(w, *parts, right)
    t, kind = w.atom(left), e.runtime("Optional")
    present = f"({t}.value if {t}.__class__ is {kind} else {t})"
    return _otherwise(w, f"{t} is not {e.runtime('NONE')}", present, right)


def _or(w: PlainWriter, node: Call) -> str:
    left, right = _operands(node)
    t = w.atom(left)
    return _otherwise(w, f"{t} is not {w.emitter.runtime('NONE')}", t, right)


def _otherwise(w: PlainWriter, test: str, present: str, right: Expr) -> str:
    """`present` if the test holds, else the right side, which is evaluated only then."""
    e = w.emitter
    with e.capture() as captured:
        code = w.value(right)
    if not captured[0]:
        return f"({present} if {test} else {code})"
    result = e.name()
    with e.block(f"if {test}:"):
        e.emit(f"{result} = {present}")
    with e.block("else:"):
        e.splice(captured)
        e.emit(f"{result} = {code}")
    return result


def _block(w: PlainWriter, node: Call) -> str:
    """`cel.@block([slots], body)`: each slot once, visible to those after it as `@index0`, ..."""
    slots, body = node.args
    names: dict[str, str] = {}
    for position, slot in enumerate(block_slots(slots)):
        with w.scope(**names):
            names[f"@index{position}"] = w.atom(slot)
    with w.scope(**names):
        return w.value(body)


def block_slots(node: Expr) -> tuple[Expr, ...]:
    """The slots of a block; its macro made sure that they are written as a list."""
    assert isinstance(node, ListLiteral), "`cel.block` refuses anything else"
    return node.elements


TEMPLATES: dict[str, Template] = {
    syntax.BLOCK: _block,
    syntax.EQUALS: _equals,
    syntax.NOT_EQUALS: _not_equals,
    syntax.LESS: _ordering("<"),
    syntax.LESS_EQUALS: _ordering("<="),
    syntax.GREATER: _ordering(">"),
    syntax.GREATER_EQUALS: _ordering(">="),
    syntax.ADD: _arithmetic("+"),
    syntax.SUBTRACT: _arithmetic("-"),
    syntax.MULTIPLY: _arithmetic("*"),
    syntax.LOGICAL_NOT: _not,
    syntax.IN: _in,
    "size": _size,
    "startsWith": _method("startswith"),
    "endsWith": _method("endswith"),
    "contains": _contains,
    "matches": _matches,
    "hasValue": _has_value,
    "orValue": _or_value,
    "or": _or,
    "string": _string,
    "int": _int,
    "sets.contains": _first(_set_test("issuperset", 0), _set_test("issubset", 1)),
    "sets.intersects": _first(
        _set_test("isdisjoint", 0, negated=True), _set_test("isdisjoint", 1, negated=True)
    ),
    "split": _text_method("split", 1),
    "replace": _text_method("replace", 2),
    "lowerAscii": _lower_ascii,
}
