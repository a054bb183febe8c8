"""Printers of trees: the form in which tests, golden cases and `explain` show them.

A call, literal or comprehension opens a bracket and puts each child on a line of its own, indented
by two spaces; names and selections stay on one line. An adornment is put behind every node: nothing
for parsed trees; for checked ones its type and what it resolved to, `x~int^x` and
`_+_(...)~int^add_int64|add_double`. The layout is that of cel-go's `common/debug/debug.go`, so that
its published expectations can be read beside ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, assert_never

from celadon.cel.syntax import (
    Ast,
    Call,
    CheckedAst,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    LiteralValue,
    MapEntry,
    MapLiteral,
    Select,
    Struct,
    StructField,
    Unspecified,
)
from celadon.cel.values.text import Uint

#: What to put behind the node of that id.
Adornment = Callable[[int], str]


def print_ast(ast: Ast) -> str:
    """The tree as parsed."""
    return render(ast.root, lambda node_id: "")


def print_checked(checked: CheckedAst) -> str:
    """The tree with types and resolutions."""

    def adorn(node_id: int) -> str:
        t = checked.types.get(node_id)
        reference = checked.references.get(node_id)
        shown = "" if t is None else f"~{t.display()}"
        if reference is not None:
            shown += f"^{'|'.join(reference.overloads) or reference.name}"
        return shown

    return render(checked.root, adorn)


def render(node: Expr, adorn: Adornment) -> str:
    """The tree below a node with any adornment."""
    return _body(node, adorn) + adorn(node.id)


def _body(node: Expr, adorn: Adornment) -> str:
    match node:
        case Literal():
            return literal_text(node.value)
        case Ident():
            return node.name
        case Select():
            test = "~test-only~" if node.test_only else ""
            return f"{render(node.operand, adorn)}.{node.field}{test}"
        case Call():
            return _call(node, adorn)
        case ListLiteral():
            return _bracketed("[", _elements(node, adorn), "]")
        case MapLiteral():
            return _bracketed("{", (_entry(entry, adorn) for entry in node.entries), "}")
        case Struct():
            fields = (_field(field, adorn) for field in node.fields)
            return _bracketed(node.type_name + "{", fields, "}")
        case Comprehension():
            return _comprehension(node, adorn)
        case Unspecified():
            return "*unspecified*"
        case _:
            assert_never(node)


#: As JSON: quotes, backslashes and what is below space.
_ESCAPES: Final = {code: f"\\u{code:04x}" for code in range(0x20)} | {
    ord(char): "\\" + letter for char, letter in zip('"\\\b\f\n\r\t', '"\\bfnrt', strict=True)
}


def literal_text(value: LiteralValue) -> str:
    """A literal as CEL would write it, always on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Uint):
        return f"{int(value)}u"
    if isinstance(value, str):
        return '"' + value.translate(_ESCAPES) + '"'
    if isinstance(value, bytes):
        return 'b"' + "".join(map(_byte_text, value)) + '"'
    return repr(value)


def _byte_text(byte: int) -> str:
    if byte in b'"\\':
        return "\\" + chr(byte)
    return chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}"


def _call(node: Call, adorn: Adornment) -> str:
    target = "" if node.target is None else render(node.target, adorn) + "."
    arguments = (render(arg, adorn) for arg in node.args)
    return _bracketed(f"{target}{node.function}(", arguments, ")")


def _elements(node: ListLiteral, adorn: Adornment) -> Iterable[str]:
    for position, element in enumerate(node.elements):
        yield ("?" if position in node.optional else "") + render(element, adorn)


def _entry(entry: MapEntry, adorn: Adornment) -> str:
    mark = "?" if entry.optional else ""
    return f"{mark}{render(entry.key, adorn)}:{render(entry.value, adorn)}{adorn(entry.id)}"


def _field(field: StructField, adorn: Adornment) -> str:
    mark = "?" if field.optional else ""
    return f"{mark}{field.name}:{render(field.value, adorn)}{adorn(field.id)}"


def _comprehension(node: Comprehension, adorn: Adornment) -> str:
    variables = f"{node.iter_var}, {node.iter_var2}" if node.iter_var2 else node.iter_var
    parts = (
        f"// Variable\n{variables}",
        f"// Target\n{render(node.iter_range, adorn)}",
        f"// Accumulator\n{node.accu_var}",
        f"// Init\n{render(node.accu_init, adorn)}",
        f"// LoopCondition\n{render(node.condition, adorn)}",
        f"// LoopStep\n{render(node.step, adorn)}",
        f"// Result\n{render(node.result, adorn)}",
    )
    return _bracketed("__comprehension__(", parts, ")")


def _bracketed(opening: str, parts: Iterable[str], closing: str) -> str:
    shown = ",\n".join(parts)
    if not shown:
        return opening + closing
    indented = shown.replace("\n", "\n  ")
    return f"{opening}\n  {indented}\n{closing}"
