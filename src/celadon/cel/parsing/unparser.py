"""Tree to text: the canonical source of an expression.

Parsing the text gives a tree of the same shape (`escape_syntax` must be on if a field name needs
backticks). White space, comments, superfluous parentheses and the spelling of literals are not
kept. What macros became cannot be turned back, so the tree must have its `macro_calls`.

Texts are made from the leaves upwards, without recursion.
"""

from __future__ import annotations

from typing import assert_never

from celadon.cel import syntax
from celadon.cel.errors import CelError
from celadon.cel.parsing import tokens
from celadon.cel.parsing.descent import balance
from celadon.cel.parsing.lexer import BINARY, LOGIC, MEMBER, OR, TERNARY, UNARY
from celadon.cel.syntax import (
    Ast,
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    LiteralValue,
    MapLiteral,
    Select,
    Struct,
    Unspecified,
    children,
)
from celadon.cel.values.text import Uint
from celadon.patterns import late_pattern


class UnparseError(CelError):
    """The tree has a node that no source text gives."""


_BINARY = {one.function: (one.strength, one.sign) for one in BINARY}
_LOGIC = {one.function: (one.strength, one.sign) for one in LOGIC}
_UNARY_SIGNS: dict[str, str] = {syntax.NEGATE: "-", syntax.LOGICAL_NOT: "!"}

_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_QUALIFIED = late_pattern(rf"\.?{_NAME.pattern}(?:\.{_NAME.pattern})*")
_ESCAPABLE = late_pattern(r"[A-Za-z0-9_.\-/ ]+")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def unparse(ast: Ast) -> str:
    """Raises `UnparseError` for expanded macros that are not in `macro_calls`."""
    return _written(ast, _Writer(ast.macro_calls))[ast.root.id]


def fragments(ast: Ast) -> dict[int, str]:
    """The text of every node, by its id, but for those that only the expansion of a macro has.
    Parts that no source text gives are `...`."""
    return _written(ast, _Writer(ast.macro_calls, unknown="..."))


def _written(ast: Ast, writer: _Writer) -> dict[int, str]:
    pending: list[tuple[Expr, bool]] = [(ast.root, False)]
    while pending:
        node, is_ready = pending.pop()
        if is_ready:
            writer.write(node)
        else:
            pending.append((node, True))
            pending.extend((child, False) for child in children(writer.origin(node)))
    return writer.texts


class _Writer:
    """The texts of the nodes done so far, and how strongly each binds. `unknown` is the text of
    nodes that have none; without it they are an error."""

    __slots__ = ("_macro_calls", "_strengths", "_unknown", "texts")

    def __init__(self, macro_calls: dict[int, Call], *, unknown: str | None = None) -> None:
        self._macro_calls = macro_calls
        self._unknown = unknown
        self._strengths: dict[int, int] = {}
        self.texts: dict[int, str] = {}

    def origin(self, node: Expr) -> Expr:
        """The macro call that became this node, or the node."""
        origin = self._macro_calls.get(node.id, node)
        if isinstance(origin, Comprehension) and self._unknown is None:
            raise UnparseError("macro calls were not kept when this was parsed")
        return origin

    def write(self, node: Expr) -> None:
        try:
            strength, text = self._text(self.origin(node))
        except UnparseError:
            if self._unknown is None:
                raise
            strength, text = MEMBER, self._unknown
        self._strengths[node.id] = strength
        self.texts[node.id] = text

    def _text(self, node: Expr) -> tuple[int, str]:
        match node:
            case Literal():
                return MEMBER, _literal(node.value)
            case Ident():
                return MEMBER, _qualified(node.name)
            case Select():
                text = f"{self._within(node.operand, MEMBER)}.{_field(node.field)}"
                return MEMBER, f"has({text})" if node.test_only else text
            case Call():
                return self._call(node)
            case ListLiteral():
                return MEMBER, f"[{', '.join(self._elements(node))}]"
            case MapLiteral():
                return MEMBER, "{" + ", ".join(self._entries(node)) + "}"
            case Struct():
                return MEMBER, f"{_qualified(node.type_name)}{{{', '.join(self._fields(node))}}}"
            case Comprehension() | Unspecified():
                raise UnparseError("this was not parsed")
            case _:
                assert_never(node)

    def _within(self, node: Expr, strength: int) -> str:
        """The text of a part, in parentheses if it binds less strongly than that."""
        text = self.texts[node.id]
        return text if self._strengths[node.id] >= strength else f"({text})"

    def _call(self, node: Call) -> tuple[int, str]:
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
            case syntax.OPT_SELECT, (operand, Literal(value=str() as field)):
                return MEMBER, f"{self._within(operand, MEMBER)}.?{_field(field)}"
        written = ", ".join(self.texts[arg.id] for arg in args)
        if node.target is None:
            return MEMBER, f"{_qualified(node.function)}({written})"
        if not _NAME.fullmatch(node.function) or node.function in tokens.KEYWORDS:
            raise UnparseError(f"no source text calls `{node.function}`")
        return MEMBER, f"{self._within(node.target, MEMBER)}.{node.function}({written})"

    def _signed(self, sign: str, operand: Expr) -> str:
        """An operator with one operand. A minus must touch neither a number nor a minus."""
        text = self._within(operand, MEMBER)
        if sign == "-" and (text[0] == "-" or text[0].isdigit()):
            text = f"({text})"
        return sign + text

    def _logic(self, node: Call) -> tuple[int, str]:
        """Return it as one run of operators, if parsing that gives this tree back; else with
        parentheses."""
        strength, sign = _LOGIC[node.function]
        terms, ids = self._run(node)
        if len(terms) > 2 and _same_logic(balance(node.function, terms, ids), node):
            parts = [self._within(term, strength + 1) for term in terms]
        else:
            parts = [self._within(arg, strength + 1) for arg in node.args]
        return strength, f" {sign} ".join(parts)

    def _run(self, node: Call) -> tuple[list[Expr], list[int]]:
        """All terms below this operator that are joined by it, and the ids of the operators."""
        terms: list[Expr] = []
        ids: list[int] = []
        pending: list[Expr | int] = [node]
        while pending:
            part = pending.pop()
            if isinstance(part, int):
                ids.append(part)
            elif isinstance(part, Call) and part.function == node.function:
                pending.extend((part.args[1], part.id, part.args[0]))
            else:
                terms.append(part)
        return terms, ids

    def _elements(self, node: ListLiteral) -> list[str]:
        return [
            _mark(optional=number in node.optional) + self.texts[element.id]
            for number, element in enumerate(node.elements)
        ]

    def _entries(self, node: MapLiteral) -> list[str]:
        return [
            f"{_mark(optional=e.optional)}{self.texts[e.key.id]}: {self.texts[e.value.id]}"
            for e in node.entries
        ]

    def _fields(self, node: Struct) -> list[str]:
        return [
            f"{_mark(optional=f.optional)}{_field(f.name)}: {self.texts[f.value.id]}"
            for f in node.fields
        ]


def _mark(*, optional: bool) -> str:
    return "?" if optional else ""


def _same_logic(left: Expr, right: Expr) -> bool:
    """Return whether two trees of the same terms have their operators in the same places."""
    pending = [(left, right)]
    while pending:
        a, b = pending.pop()
        if a is b:
            continue
        if not (isinstance(a, Call) and isinstance(b, Call) and a.id == b.id):
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


def _literal(value: LiteralValue) -> str:
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
