"""Tree to text: the canonical source of an expression, and the forms in which tests and golden
cases show trees.

Parsing the text gives a tree of the same shape (`escape_syntax` must be on if a field name needs
backticks). White space, comments, superfluous parentheses and the spelling of literals are not
kept. What macros became cannot be turned back, so the tree must have its `macro_calls`.

Texts are made from the leaves upwards, without recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, assert_never

from celadon.cel import syntax
from celadon.cel.errors import CelError
from celadon.cel.parsing import tokens
from celadon.cel.parsing.lexer import BINARY, LOGIC, MEMBER, OR, TERNARY, UNARY
from celadon.cel.parsing.recursive_descent import balance
from celadon.cel.values.text import Uint
from celadon.late_patterns import late_pattern


class UnparseError(CelError):
    """The tree has a node that no source text gives."""


_BINARY = {item.function: (item.strength, item.sign) for item in BINARY}
_LOGIC = {item.function: (item.strength, item.sign) for item in LOGIC}
_UNARY_SIGNS: dict[str, str] = {syntax.NEGATE: "-", syntax.LOGICAL_NOT: "!"}

_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_QUALIFIED = late_pattern(rf"\.?{_NAME.pattern}(?:\.{_NAME.pattern})*+")
_ESCAPABLE = late_pattern(r"[A-Za-z0-9_.\-/ ]+")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def unparse(ast: syntax.Ast) -> str:
    """Return the source of a tree. Raises `UnparseError` for expanded macros that are not in
    `macro_calls`."""
    return _written(ast, _Writer(ast.macro_calls))[ast.root.id]


def fragments(ast: syntax.Ast) -> dict[int, str]:
    """Return the text of every node, by its id, but for those that only the expansion of a macro
    has. Parts that no source text gives are `...`."""
    return _written(ast, _Writer(ast.macro_calls, unknown="..."))


def _written(ast: syntax.Ast, writer: _Writer) -> dict[int, str]:
    pending: list[tuple[syntax.Expr, bool]] = [(ast.root, False)]
    while pending:
        node, is_ready = pending.pop()
        if is_ready:
            writer.write(node)
        else:
            pending.append((node, True))
            pending.extend((child, False) for child in syntax.children(writer.origin(node)))
    return writer.texts


class _Writer:
    """The texts of the nodes done so far, and how strongly each binds. `unknown` is the text of
    nodes that have none; without it they are an error."""

    __slots__ = ("_macro_calls", "_strengths", "_unknown", "texts")

    def __init__(self, macro_calls: dict[int, syntax.Call], *, unknown: str | None = None) -> None:
        self._macro_calls = macro_calls
        self._unknown = unknown
        self._strengths: dict[int, int] = {}
        self.texts: dict[int, str] = {}

    def origin(self, node: syntax.Expr) -> syntax.Expr:
        """Return the macro call that became this node, or the node."""
        origin = self._macro_calls.get(node.id, node)
        if isinstance(origin, syntax.Comprehension) and self._unknown is None:
            raise UnparseError("macro calls were not kept when this was parsed")
        return origin

    def write(self, node: syntax.Expr) -> None:
        try:
            strength, text = self._text(self.origin(node))
        except UnparseError:
            if self._unknown is None:
                raise
            strength, text = MEMBER, self._unknown
        self._strengths[node.id] = strength
        self.texts[node.id] = text

    def _text(self, node: syntax.Expr) -> tuple[int, str]:
        match node:
            case syntax.Literal():
                return MEMBER, _literal(node.value)
            case syntax.Ident():
                return MEMBER, _qualified(node.name)
            case syntax.Select():
                text = f"{self._within(node.operand, MEMBER)}.{_field(node.field)}"
                return MEMBER, f"has({text})" if node.test_only else text
            case syntax.Call():
                return self._call(node)
            case syntax.ListLiteral():
                return MEMBER, f"[{', '.join(self._elements(node))}]"
            case syntax.MapLiteral():
                return MEMBER, "{" + ", ".join(self._entries(node)) + "}"
            case syntax.Struct():
                return MEMBER, f"{_qualified(node.type_name)}{{{', '.join(self._fields(node))}}}"
            case syntax.Comprehension() | syntax.Unspecified():
                raise UnparseError("this was not parsed")
            case _:
                assert_never(node)

    def _within(self, node: syntax.Expr, strength: int) -> str:
        """Return the text of a part, in parentheses if it binds less strongly than that."""
        text = self.texts[node.id]
        return text if self._strengths[node.id] >= strength else f"({text})"

    def _call(self, node: syntax.Call) -> tuple[int, str]:
        args = node.args
        match node.function, args:
            case syntax.CONDITIONAL, (condition, then, otherwise):
                before = f"{self._within(condition, OR)} ? {self._within(then, OR)}"
                return TERNARY, f"{before} : {self._within(otherwise, TERNARY)}"
            case ((syntax.LOGICAL_AND | syntax.LOGICAL_OR), (_, _)):
                return self._logic(node)
            case function, (left, right) if function in _BINARY:
                strength, sign = _BINARY[function]
                texts = self._within(left, strength), self._within(right, strength + 1)
                return strength, f"{texts[0]} {sign} {texts[1]}"
            case function, (operand,) if function in _UNARY_SIGNS:
                return UNARY, self._signed(_UNARY_SIGNS[function], operand)
            case (syntax.INDEX | syntax.OPT_INDEX) as function, (operand, index):
                mark = "?" if function == syntax.OPT_INDEX else ""
                return MEMBER, f"{self._within(operand, MEMBER)}[{mark}{self.texts[index.id]}]"
            case syntax.OPT_SELECT, (operand, syntax.Literal(value=str() as field)):
                return MEMBER, f"{self._within(operand, MEMBER)}.?{_field(field)}"
        written = ", ".join(self.texts[arg.id] for arg in args)
        if node.target is None:
            return MEMBER, f"{_qualified(node.function)}({written})"
        if not _NAME.fullmatch(node.function) or node.function in tokens.KEYWORDS:
            raise UnparseError(f"no source text calls `{node.function}`")
        return MEMBER, f"{self._within(node.target, MEMBER)}.{node.function}({written})"

    def _signed(self, sign: str, operand: syntax.Expr) -> str:
        """Write an operator with one operand. A minus must touch neither a number nor a minus."""
        text = self._within(operand, MEMBER)
        if sign == "-" and (text[0] == "-" or text[0].isdigit()):
            text = f"({text})"
        return sign + text

    def _logic(self, node: syntax.Call) -> tuple[int, str]:
        """Return a conjunction or disjunction as one run of operators, if parsing that gives this
        tree back; else with parentheses."""
        strength, sign = _LOGIC[node.function]
        terms, ids = self._run(node)
        if len(terms) > 2 and _same_logic(balance(node.function, terms, ids), node):
            parts = [self._within(term, strength + 1) for term in terms]
        else:
            parts = [self._within(arg, strength + 1) for arg in node.args]
        return strength, f" {sign} ".join(parts)

    def _run(self, node: syntax.Call) -> tuple[list[syntax.Expr], list[int]]:
        """All terms below this operator that are joined by it, and the ids of the operators."""
        terms: list[syntax.Expr] = []
        ids: list[int] = []
        pending: list[syntax.Expr | int] = [node]
        while pending:
            part = pending.pop()
            if isinstance(part, int):
                ids.append(part)
            elif isinstance(part, syntax.Call) and part.function == node.function:
                pending.extend((part.args[1], part.id, part.args[0]))
            else:
                terms.append(part)
        return terms, ids

    def _elements(self, node: syntax.ListLiteral) -> list[str]:
        return [
            _mark(optional=number in node.optional) + self.texts[element.id]
            for number, element in enumerate(node.elements)
        ]

    def _entries(self, node: syntax.MapLiteral) -> list[str]:
        return [
            f"{_mark(optional=e.optional)}{self.texts[e.key.id]}: {self.texts[e.value.id]}"
            for e in node.entries
        ]

    def _fields(self, node: syntax.Struct) -> list[str]:
        return [
            f"{_mark(optional=f.optional)}{_field(f.name)}: {self.texts[f.value.id]}"
            for f in node.fields
        ]


def _mark(*, optional: bool) -> str:
    return "?" if optional else ""


def _same_logic(left: syntax.Expr, right: syntax.Expr) -> bool:
    """Return whether two trees of the same terms have their operators in the same places."""
    pending = [(left, right)]
    while pending:
        a, b = pending.pop()
        if a is b:
            continue
        if not (isinstance(a, syntax.Call) and isinstance(b, syntax.Call) and a.id == b.id):
            return False
        pending.extend(zip(a.args, b.args, strict=True))
    return True


def _qualified(name: str) -> str:
    if not _QUALIFIED.fullmatch(name) or name in tokens.KEYWORDS:
        raise UnparseError(f"no source text names `{name}`")
    return name


def _field(name: str) -> str:
    if _NAME.fullmatch(name) and name not in tokens.KEYWORDS:
        return name
    if _ESCAPABLE.fullmatch(name):
        return f"`{name}`"
    raise UnparseError(f"no source text names a field `{name}`")


def _literal(value: syntax.LiteralValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Uint():
            return f"{int(value)}u"
        case int():
            return str(value)
        case float():
            text = repr(value)
            return text if "." in text or "e" in text else f"{text}.0"
        case str():
            return '"' + "".join(map(_string_character, value)) + '"'
        case bytes():
            return 'b"' + "".join(map(_byte_character, value)) + '"'


def _string_character(character: str) -> str:
    short = _SHORT_ESCAPES.get(character)
    if short is not None:
        return short
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _byte_character(byte: int) -> str:
    character = chr(byte)
    short = _SHORT_ESCAPES.get(character)
    if short is not None:
        return short
    if character.isascii() and character.isprintable():
        return character
    return f"\\x{byte:02x}"


# --- Trees as tests show them ------------------------------------------------
#
# Printers of trees: the form in which tests, golden cases and `explain` show them.
#
# A call, literal or comprehension opens a bracket and puts each child on a line of its own,
# indented by two spaces; names and selections stay on one line. An adornment is put behind every
# node: nothing for parsed trees; for checked ones its type and what it resolved to, `x~int^x` and
# `_+_(...)~int^add_int64|add_double`. The layout is that of cel-go's `common/debug/debug.go`, so
# that its published expectations can be read beside ours.

#: What to put behind the node of that id.
Adornment = Callable[[int], str]


def print_ast(ast: syntax.Ast) -> str:
    """Return the tree as parsed."""
    return render(ast.root, lambda node_id: "")


def print_checked(checked: syntax.CheckedAst) -> str:
    """Return the tree with types and resolutions."""

    def adorn(node_id: int) -> str:
        t = checked.types.get(node_id)
        reference = checked.references.get(node_id)
        text = "" if t is None else f"~{t.display()}"
        if reference is not None:
            text += f"^{'|'.join(reference.overloads) or reference.name}"
        return text

    return render(checked.root, adorn)


def render(node: syntax.Expr, adorn: Adornment) -> str:
    """Return the tree below a node with any adornment."""
    return _body(node, adorn) + adorn(node.id)


def _body(node: syntax.Expr, adorn: Adornment) -> str:
    match node:
        case syntax.Literal():
            return literal_text(node.value)
        case syntax.Ident():
            return node.name
        case syntax.Select():
            test = "~test-only~" if node.test_only else ""
            return f"{render(node.operand, adorn)}.{node.field}{test}"
        case syntax.Call():
            return _call(node, adorn)
        case syntax.ListLiteral():
            return _bracketed("[", _elements(node, adorn), "]")
        case syntax.MapLiteral():
            return _bracketed("{", (_entry(entry, adorn) for entry in node.entries), "}")
        case syntax.Struct():
            fields = (_printed_field(field, adorn) for field in node.fields)
            return _bracketed(node.type_name + "{", fields, "}")
        case syntax.Comprehension():
            return _comprehension(node, adorn)
        case syntax.Unspecified():
            return "*unspecified*"
        case _:
            assert_never(node)


#: As JSON: quotes, backslashes and what is below space.
_ESCAPES: Final = {code: f"\\u{code:04x}" for code in range(0x20)} | {
    ord(char): "\\" + letter for char, letter in zip('"\\\b\f\n\r\t', '"\\bfnrt', strict=True)
}


def literal_text(value: syntax.LiteralValue) -> str:
    """Return a literal as CEL would write it, always on one line."""
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


def _call(node: syntax.Call, adorn: Adornment) -> str:
    target = "" if node.target is None else render(node.target, adorn) + "."
    arguments = (render(arg, adorn) for arg in node.args)
    return _bracketed(f"{target}{node.function}(", arguments, ")")


def _elements(node: syntax.ListLiteral, adorn: Adornment) -> Iterable[str]:
    for position, element in enumerate(node.elements):
        yield ("?" if position in node.optional else "") + render(element, adorn)


def _entry(entry: syntax.MapEntry, adorn: Adornment) -> str:
    mark = "?" if entry.optional else ""
    return f"{mark}{render(entry.key, adorn)}:{render(entry.value, adorn)}{adorn(entry.id)}"


def _printed_field(field: syntax.StructField, adorn: Adornment) -> str:
    mark = "?" if field.optional else ""
    return f"{mark}{field.name}:{render(field.value, adorn)}{adorn(field.id)}"


def _comprehension(node: syntax.Comprehension, adorn: Adornment) -> str:
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
    text = ",\n".join(parts)
    if not text:
        return opening + closing
    indented = text.replace("\n", "\n  ")
    return f"{opening}\n  {indented}\n{closing}"
