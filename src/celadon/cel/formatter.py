"""The canonical layout of expressions: where their lines end, and where their spaces are.

    laid_out("a&&b", width=80)          "a && b"
    laid_out("a &&", width=80)          None: that is no expression

Nothing but white space changes. Literals keep their spelling, parentheses and trailing commas stay,
and every comment stays between the two tokens that it stood between: on the line of the first, or
on a line of its own. So texts with the same tokens and comments have one layout, a layout is its
own, and the tree is that of the text.

Tokens are read with the comments between them, and become pieces that know where lines may end; the
last part chooses among these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final

from celadon.cel.errors import Source
from celadon.cel.parsing import macros, tokens
from celadon.cel.parsing.lexer import BINARY, LOGIC, RELATION, SUM, tokenize
from celadon.cel.parsing.recursive_descent import ParseOptions, descend
from celadon.records import dataclass

__all__ = ["UNLIMITED", "commented_tokens", "laid_out"]


# --- Commented tokens --------------------------------------------------------
#
# Tokens with the comments between them, which the lexer skips.


@dataclass(frozen=True, slots=True)
class Token:
    """Holds a token and the comments around it. `behind` is the comment on the same line, `above`
    are those on lines of their own, up to the next token; so the comments before the first token
    are with a token that is empty."""

    kind: str
    text: str
    behind: str = ""
    above: tuple[str, ...] = ()

    @property
    def ends_line(self) -> bool:
        """Return whether the next token cannot stand on the same line."""
        return bool(self.behind or self.above)


def commented_tokens(text: str) -> list[Token] | None:
    """All tokens between an empty one at the head and the end of input; None if some part of the
    text is no token."""
    tokenized = tokenize(text)
    if tokenized is None:
        return None
    result = []
    kinds, texts, offsets = tokenized
    ends = [0, *(index + len(text) for index, text in zip(offsets, texts, strict=True))]
    for number, (kind, token) in enumerate(zip(["", *kinds[:-1]], ["", *texts[:-1]], strict=True)):
        behind, above = _comments(text[ends[number] : offsets[number]], is_head=not number)
        result.append(Token(kind, token, behind, above))
    return [*result, Token(kinds[-1], "")]


def _comments(gap: str, *, is_head: bool) -> tuple[str, tuple[str, ...]]:
    """Return the comment behind a token, and those on the lines that follow."""
    first, *rest = (text.strip() for text in gap.split("\n"))
    if is_head:
        return "", tuple(text for text in (first, *rest) if text)
    return first, tuple(text for text in rest if text)


# --- Line pieces -------------------------------------------------------------
#
# The pieces that a layout is made of, after the algebra of Wadler and Leijen.
#
# A `Group` stands on one line, or every `Break` that is its own ends a line. What is in an
# `Indented` piece stands further to the right on all lines but the one it begins on.

STEP = 2
"""Columns of one level."""


@dataclass(frozen=True, slots=True)
class Break:
    """The end of a line; where none ends, `space`."""

    space: str = " "


@dataclass(frozen=True, slots=True)
class Space:
    """One space within a line."""


@dataclass(frozen=True, slots=True)
class Indented:
    """Pieces one level to the right."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces on one line, if they fit. `is_broken`: they cannot, since a comment ends a line."""

    pieces: tuple[Piece, ...]
    is_broken: bool = False


Piece = Token | Break | Space | Indented | Group


# --- Line filling ------------------------------------------------------------
#
# From pieces to lines: each group on one line if it fits, else broken, from the outside
# inwards.
#
# Without recursion, and in time proportional to the text: whether a group fits is known after
# at most `width` characters.

_Pending = tuple[Piece, int, bool]
"""With the column of its lines, and whether it stands on one."""


class _Lines:
    """The lines so far. A line that has ended begins anew when there is something to write."""

    __slots__ = ("_current", "_finished", "_has_ended")

    def __init__(self) -> None:
        self._finished: list[str] = []
        self._current = ""
        self._has_ended = False

    def column(self, indent: int) -> int:
        """Return where the next character would stand."""
        if self._has_ended:
            return indent
        return len(self._current) - self._current.rfind("\n") - 1

    def end(self) -> None:
        self._has_ended = True

    def space(self) -> None:
        if not self._has_ended:
            self._current += " "

    def write(self, text: str, indent: int) -> None:
        if self._has_ended:
            if self._current.strip():
                self._finished.append(self._current.rstrip(" "))
            self._current = " " * indent
            self._has_ended = False
        self._current += text

    def text(self) -> str:
        return "\n".join([*self._finished, self._current.rstrip(" ")])


def filled(pieces: Sequence[Piece], width: int) -> str:
    """Return the text of pieces, in lines of that many characters where that is possible."""
    lines = _Lines()
    pending: list[_Pending] = [(piece, 0, False) for piece in reversed(pieces)]
    while pending:
        piece, indent, is_flat = pending.pop()
        match piece:
            case Token():
                _write(lines, piece, indent)
            case Space():
                lines.space()
            case Break(space) if is_flat:
                if space:
                    lines.space()
            case Break():
                lines.end()
            case Indented(inner):
                pending += _reversed(inner, indent + STEP, is_flat=is_flat)
            case Group(inner, is_broken):
                if not is_flat:
                    inner_pending = _reversed(inner, indent, is_flat=True)
                    room = width - lines.column(indent)
                    is_flat = not is_broken and _fits(pending, inner_pending, room)
                pending += _reversed(inner, indent, is_flat=is_flat)
    return lines.text()


def _write(lines: _Lines, token: Token, indent: int) -> None:
    if token.text:
        lines.write(token.text, indent)
    if token.behind:
        lines.write(f" {token.behind}", indent)
    for comment in token.above:
        lines.end()
        lines.write(comment, indent)
    if token.ends_line:
        lines.end()


def _reversed(pieces: Iterable[Piece], indent: int, *, is_flat: bool) -> list[_Pending]:
    return [(piece, indent, is_flat) for piece in pieces][::-1]


def _fits(behind: list[_Pending], group: list[_Pending], room: int) -> bool:
    """Return whether a group, and what follows it up to the next place where a line may end,
    fits."""
    rest = len(behind)
    inner = list(group)
    while room >= 0:
        if not inner:
            if not rest:
                return True
            rest -= 1
            inner.append(behind[rest])
        piece, indent, is_flat = inner.pop()
        match piece:
            case Token(text=text, ends_line=ends_line):
                first, newline, _ = text.partition("\n")
                room -= len(first)
                if newline or ends_line:
                    return room >= 0
            case Space():
                room -= 1
            case Break(space):
                if not is_flat:
                    return True
                room -= len(space)
            case Indented(pieces) | Group(pieces):
                inner += _reversed(pieces, indent, is_flat=is_flat)
    return False


# --- Line reading ------------------------------------------------------------
#
# From tokens to pieces: which parts belong together, and where lines may end.
#
# The text has been parsed, so nothing can be wrong with it here; what is read are brackets, the
# strengths of operators, and calls.
#
# - Runs of `&&` and `||` end a line behind every operator, or none; so do sums and the others.
# - Arguments, elements and entries stand on lines of their own, or all on one. The variables of a
#   macro stay on the line of its name: `.all(c,`.
# - The branches of a ternary stand on lines that begin with `?` and `:`.
# - Three calls in a row, as of an authorizer, each begin a line.

UNLIMITED: Final = 1 << 30
"""A width at which only comments, and texts of several lines, end lines."""

_AS_WRITTEN: Final = ParseOptions(macros=(), escape_syntax=True)
_MAX_NESTING: Final = 60
"""Brackets in brackets; what is nested more deeply keeps its layout."""
_CHAIN: Final = 3
"""So many calls in a row may stand below each other."""

_STRENGTHS: Final = {item.sign: item.strength for item in (*LOGIC, *BINARY)}
_SIGNS: Final = ("-", "!")
_POSTFIXES: Final = (".", "[", "{")
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_ALIGNED: Final = {*(item.strength for item in LOGIC), SUM}
"""Runs of these are not indented where they are a whole expression, or all that is in brackets."""
_ONE_VARIABLE: Final = frozenset(
    item.name
    for item in (
        *macros.STANDARD_MACROS,
        *macros.OPTIONAL_MACROS,
        *macros.LISTS_MACROS,
        *macros.BINDINGS_MACROS,
    )
    if item.member
)
_TWO_VARIABLES: Final = frozenset(
    two_variable_macro.name for two_variable_macro in macros.TWO_VARIABLE_MACROS
)


class _TooDeep(Exception):
    """The text keeps its layout."""


def laid_out(text: str, width: int) -> str | None:
    """Return an expression in its canonical layout, in lines of that many characters where that is
    possible; None if it cannot be parsed. What is nested very deeply stays as it is."""
    result = commented_tokens(text)
    if result is None or descend(Source(text), _AS_WRITTEN) is None:
        return None
    try:
        return filled(_Reader(result).whole(), width)
    except _TooDeep:
        return text.strip()


class _Reader:
    """A cursor over the tokens; `_ends[i]` counts those before token `i` that end a line."""

    __slots__ = ("_ends", "_index", "_nesting", "_tokens")

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._ends = [0, *accumulate(token.ends_line for token in tokens)]
        self._index = 0
        self._nesting = 0

    def whole(self) -> list[Piece]:
        return [self._next(), self._expression()]

    @property
    def _kind(self) -> str:
        return self._tokens[self._index].kind

    def _next(self) -> Token:
        self._index += 1
        return self._tokens[self._index - 1]

    def _group(self, start: int, pieces: list[Piece], end: int | None = None) -> Piece:
        """Return the tokens from `start` up to `end` (or to here) as one piece. What is behind the
        last one is no matter of theirs."""
        if len(pieces) == 1:
            return pieces[0]
        last = (self._index if end is None else end) - 1
        return Group(tuple(pieces), self._ends[last] > self._ends[start])

    def _expression(self, *, is_whole: bool = True) -> Piece:
        """`is_whole`: nothing stands before it on the line that it begins."""
        start = self._index
        condition = self._operators(is_whole=is_whole)
        branches: list[Piece] = []
        while self._kind == "?":
            branches += [Break(), self._next(), Space(), Indented((self._operators(),))]
            branches += [Break(), self._next(), Space(), Indented((self._operators(),))]
        return self._group(start, [condition, *_indented(branches)])

    def _operators(self, *, is_whole: bool = True) -> Piece:
        """Operands and binary operators, up to something that is neither."""
        starts, operands, signs = [self._index], [self._operand()], list[Token]()
        while self._kind in _STRENGTHS:
            signs.append(self._next())
            starts.append(self._index)
            operands.append(self._operand())
        starts.append(self._index + 1)
        return self._run(starts, operands, signs, is_whole=is_whole)

    def _run(
        self, starts: list[int], operands: list[Piece], signs: list[Token], *, is_whole: bool
    ) -> Piece:
        """Return a run of operators, cut at those that bind least. `starts` are the first tokens of
        the operands, and one behind the token behind the last."""
        if not signs:
            return operands[0]
        loosest = min(_STRENGTHS[sign.kind] for sign in signs)
        cuts = [i + 1 for i, sign in enumerate(signs) if _STRENGTHS[sign.kind] == loosest]
        is_aligned = is_whole and loosest in _ALIGNED
        pieces: list[Piece] = []
        for begin, end in pairwise([0, *cuts, len(operands)]):
            part = self._run(
                starts[begin : end + 1], operands[begin:end], signs[begin : end - 1], is_whole=False
            )
            if not begin:
                pieces.append(part)
            elif loosest == RELATION and _is_bracketed(part):
                pieces += [Space(), signs[begin - 1], Space(), part]
            else:
                more: list[Piece] = [Space(), signs[begin - 1], Break(), part]
                pieces += more if is_aligned else _indented(more)
        return self._group(starts[0], pieces, starts[-1] - 1)

    def _operand(self) -> Piece:
        start = self._index
        pieces: list[Piece] = []
        while self._kind in _SIGNS:
            pieces.append(self._next())
        pieces += self._primary()
        calls: list[list[Piece]] = []
        while self._kind in _POSTFIXES:
            part = self._selection() if self._kind == "." else [self._brackets()]
            if isinstance(part[-1], Group) and len(part) > 1:
                calls.append(part)
            elif calls:
                calls[-1] += part
            else:
                pieces += part
        below: list[Piece] = [Break("")] if len(calls) >= _CHAIN else []
        chain = [piece for call in calls for piece in (*below, *call)]
        return self._group(start, [*pieces, *(_indented(chain) if below else chain)])

    def _primary(self) -> list[Piece]:
        """Read a literal, a name, a call of a global function, or something in brackets."""
        if self._kind in _CLOSING:
            return [self._brackets()]
        is_absolute = self._kind == "."
        pieces: list[Piece] = [self._next()]
        if is_absolute:
            pieces.append(self._next())
        if self._kind == "(":
            pieces.append(self._brackets())
        return pieces

    def _selection(self) -> list[Piece]:
        """`.name`, `.?name` or `.name(...)`."""
        pieces: list[Piece] = [self._next()]
        if self._kind == "?":
            pieces.append(self._next())
        name = self._next()
        pieces.append(name)
        if self._kind == "(":
            pieces.append(self._brackets(name.text))
        return pieces

    def _brackets(self, method: str = "") -> Piece:
        """From an opening bracket to the one that closes it, with what is between commas on lines
        of its own, or all on one."""
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise _TooDeep
        start = self._index
        opening = self._next()
        head: list[Piece] = [Token(opening.kind, opening.text, opening.behind)]
        head += [] if opening.ends_line else self._variables(method)
        is_macro = len(head) > 1
        inner = self._elements(_CLOSING[opening.kind])
        closing = self._next()
        self._nesting -= 1
        if not inner and not opening.above:
            return self._group(start, [*head, closing])
        is_hugged = len(inner) == 1 and _is_bracketed(inner[0]) and opening.kind != "{"
        if is_hugged and not is_macro and not opening.ends_line:
            return self._group(start, [*head, *inner, closing])
        above = [Token("", "", "", opening.above)] if opening.above else []
        inside = _indented([*above, Break(" " if is_macro else ""), *inner])
        return self._group(start, [*head, *inside, Break(""), closing])

    def _variables(self, method: str) -> list[Piece]:
        """Return the names that a macro binds, each with its comma."""
        result: list[Piece] = []
        for _ in range((method in _ONE_VARIABLE) + (method in _TWO_VARIABLES)):
            name, comma = self._tokens[self._index : self._index + 2]
            if name.kind != tokens.IDENTIFIER or comma.kind != ",":
                break
            result += [Space()] if result else []
            result += [self._next(), self._next()]
        return result

    def _elements(self, close: str) -> list[Piece]:
        """Return what is between brackets: expressions, or entries with their keys."""
        pieces: list[Piece] = []
        while self._kind != close:
            if pieces:
                pieces.append(Break())
            if self._kind != ",":
                pieces += self._element()
            if self._kind == ",":
                pieces.append(self._next())
        return pieces

    def _element(self) -> list[Piece]:
        """Return what is between two commas."""
        pieces: list[Piece] = []
        if self._kind == "?":
            pieces.append(self._next())
        pieces.append(self._expression())
        if self._kind == ":":
            pieces += [self._next(), Space(), self._expression(is_whole=False)]
        return pieces


def _indented(pieces: list[Piece]) -> list[Piece]:
    return [Indented(tuple(pieces))] if pieces else []


def _is_bracketed(piece: Piece) -> bool:
    """Return whether a piece is in brackets of its own: a list, a map, a message, or
    parentheses."""
    if not isinstance(piece, Group):
        return False
    first, last = piece.pieces[0], piece.pieces[-1]
    if isinstance(first, Token) and first.kind == tokens.IDENTIFIER:
        return isinstance(last, Group) and _is_braced(last)
    return isinstance(first, Token) and first.kind in _CLOSING


def _is_braced(group: Group) -> bool:
    return isinstance(group.pieces[0], Token) and group.pieces[0].kind == "{"
