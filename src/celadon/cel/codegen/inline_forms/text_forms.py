"""Inline forms of functions on texts, and of conversions to text and int."""

from __future__ import annotations

from celadon.cel import re2
from celadon.cel.codegen.inline_forms.native_forms import (
    Native,
    NativeForm,
    PlainForm,
    is_class,
    last_constant,
    length,
    operands,
)
from celadon.cel.codegen.writer_protocols import PlainWriter, Writer
from celadon.cel.declarations import Inline
from celadon.cel.syntax import Call


def _method(name: str) -> PlainForm:
    def write(w: PlainWriter, node: Call) -> str | None:
        # bytes has the method too but refuses a str argument; everything else lacks it
        receiver, arg = operands(node)
        if w.context.certain(arg) is not str:
            return None
        code = w.value(receiver)
        return f"{code}.{name}({w.value(arg)})"

    return write


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
    if w.context.certain(arg) is not str:
        return None
    if w.context.certain(receiver) is str:
        return f"({w.value(arg)} in {w.value(receiver)})"
    x, t = w.atom(arg), e.name()
    slow = e.bind(w.context.impl(node), "f")
    text = e.runtime("str")
    return f"({x} in {t} if ({t} := {w.value(receiver)}).__class__ is {text} else {slow}({t}, {x}))"


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


#: Constant arguments longer than this are left to the implementations, which watch sizes.
_SHORT = 1000


def _text_method(name: str, arity: int) -> PlainForm:
    """A method of Python strings with constant, short, non-empty string arguments."""

    def write(w: PlainWriter, node: Call) -> str | None:
        e, c = w.emitter, w.context
        receiver, *args = operands(node)
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
    test = f"({t} := {w.value(operands(node)[0])}).__class__ is {e.runtime('str')}"
    return f"({t}.lower() if {test} and {t}.isascii() else {slow}({t}))"


def _metered_lower_ascii(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x = atoms[0]
    test = f"{is_class(w, x, 'str')} and {x}.isascii()"
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


STARTS_WITH = Inline(_method("startswith"), _metered_method("startswith"))
ENDS_WITH = Inline(_method("endswith"), _metered_method("endswith"))
CONTAINS = Inline(_contains, _metered_contains)
MATCHES = Inline(_matches, _metered_matches)
SPLIT = Inline(_text_method("split", 1))
REPLACE = Inline(_text_method("replace", 2))
LOWER_ASCII = Inline(_lower_ascii, _metered_lower_ascii)
STRING = Inline(_string, _metered_string)
INT = Inline(_int)
