"""The quick parser: tokens to tree, for expressions without errors.

Recursive descent for operands, an explicit stack for operators, macros expanded as soon as their
call is complete. At the first thing that is wrong or exceeds a limit it gives up (`_GiveUp`).

Depth is counted as cel-go counts it (`ParseLimits.recursion`):

* `exprs`, `relations`, `calcs`: how many invocations of the grammar rules `expr`, `relation` and
  `calc` are open. No other rule nests deeper than these. A pending operator holds one invocation
  open, that of its right operand.
* `height`: for the operand parsed last, how many selections, member calls, indexings, relations,
  sums, products and conditionals are on the longest path down into it.

One level of nesting takes three or four Python frames, so 250 levels stay below Python's own limit.
If the caller's stack was deep already, the other parser, which does not recurse, takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from celadon.cel import syntax
from celadon.cel.errors import Source
from celadon.cel.parsing import lexer, tokens
from celadon.cel.parsing.macros import (
    STANDARD_MACROS,
    Macro,
    MacroError,
    MacroTable,
    Nodes,
    expand,
    find_macro,
)
from celadon.cel.syntax import (
    Ast,
    Call,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapEntry,
    MapLiteral,
    Select,
    Struct,
    StructField,
)
from celadon.records import dataclass, field

# --- Balancing ---------------------------------------------------------------
#
# Runs of `&&` and `||` as balanced trees (cel-go `parser/helper.go`).
#
# A run of terms becomes a tree of logarithmic depth. The order of terms stays; only which
# operator is blamed, and how deep evaluation goes, depends on the shape.


def balance(function: str, terms: Sequence[Expr], ids: Sequence[int]) -> Expr:
    """`ids` are the operators' node ids, one fewer than there are terms."""
    if len(ids) == 1:
        return Call(ids[0], function, None, (terms[0], terms[1]))
    return _balance(function, terms, ids, 0, len(ids) - 1)


def _balance(function: str, terms: Sequence[Expr], ids: Sequence[int], low: int, high: int) -> Expr:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balance(function, terms, ids, low, middle - 1)
    right = (
        terms[middle + 1] if middle == high else _balance(function, terms, ids, middle + 1, high)
    )
    return Call(ids[middle], function, None, (left, right))


# --- Parse limits ------------------------------------------------------------
#
# How large and how broken an expression may be (cel-go `parser/options.go`,
# `parser/parser.go`).
#
# The numbers are cel-go's defaults, which Kubernetes does not change; only the last has no
# model.


class ParseLimits(NamedTuple):
    """Holds what a parser takes before it gives up; the defaults are cel-go's and
    kube-apiserver's."""

    #: Longest source, in code points.
    code_points: int = 100_000
    #: Open invocations of one grammar rule, and (counted apart) nesting while the tree is built.
    recursion: int = 250
    #: Syntax errors reported; the next one ends the parse.
    syntax_errors: int = 100
    #: Times the parser tries to go on after a syntax error.
    recovery_attempts: int = 30
    #: Tokens skipped in one such attempt.
    recovery_lookahead: int = 256
    #: Nodes that macros may copy (`optMap` copies its target, so chains of it double each time).
    #: cel-go has no such limit and runs out of memory instead.
    copied_nodes: int = 200_000


def source_too_long(size: int, limit: int) -> str:
    """Say that the source has more code points than `ParseLimits.code_points`; it is not parsed."""
    return f"expression code point size exceeds limit: size: {size}, limit {limit}"


def rules_too_deep(limit: int) -> str:
    """More than `ParseLimits.recursion` invocations of one grammar rule are open."""
    return f"expression recursion limit exceeded: {limit}"


def tree_too_deep() -> str:
    """Say that the parse tree nests more deeply than `ParseLimits.recursion` where it is read."""
    return "max recursion depth exceeded"


def too_many_syntax_errors(limit: int) -> str:
    """One syntax error more than `ParseLimits.syntax_errors`."""
    return f"More than {limit} syntax errors"


def too_many_recoveries(limit: int) -> str:
    """One recovery more than `ParseLimits.recovery_attempts`."""
    return f"error recovery attempt limit exceeded: {limit}"


def recovery_too_long(limit: int) -> str:
    """One recovery would skip more tokens than `ParseLimits.recovery_lookahead` allows."""
    return f"error recovery token lookahead limit exceeded: {limit}"


def too_many_copies(limit: int) -> str:
    """Macros that repeat their arguments made more nodes than `ParseLimits.copied_nodes`."""
    return f"macro expansion exceeds limit: {limit} copied nodes"


# --- Parse options -----------------------------------------------------------
#
# What a parser is told: macros, optional syntax, limits.


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True)
class ParseOptions:
    """Make one and use it often: the table of macros is built once per instance.

    `optional_syntax` allows `.?`, `[?`, `{?` and `[?e]`; `escape_syntax` field names in backticks.
    `older_texts`, `older_lines` and `oldest_texts` are those of `Switches`. `macro_calls` keeps in
    the tree what macros were before their expansion, for the unparser.
    """

    macros: tuple[Macro, ...] = STANDARD_MACROS
    optional_syntax: bool = True
    escape_syntax: bool = False
    older_texts: bool = False
    older_lines: bool = False
    oldest_texts: bool = False
    macro_calls: bool = True
    limits: ParseLimits = field(default_factory=ParseLimits)

    @cached_property
    def macro_table(self) -> MacroTable:
        """Return the macros by name, then by number of arguments and whether there is a
        receiver."""
        table: MacroTable = {}
        for macro in self.macros:
            table.setdefault(macro.name, {})[macro.arg_count, macro.member] = macro
        return table


#: Strength, the strength from which pending operators are finished first, and function.
#: Runs of `&&` and of `||` are finished as a whole, the others from the left.
_OPERATORS: dict[str, tuple[int, int, str]] = {
    **{item.sign: (item.strength, item.strength + 1, item.function) for item in lexer.LOGIC},
    **{item.sign: (item.strength, item.strength, item.function) for item in lexer.BINARY},
}


class _GiveUp(Exception):
    """Something is wrong; the other parser will say what."""


class _Pending(NamedTuple):
    """An operator waiting for its right operand. `then` is set once a ternary's `:` was seen."""

    strength: int
    function: str
    id: int
    left: Expr
    height: int
    then: Expr | None = None


def descend(source: Source, options: ParseOptions) -> Ast | None:
    """Return the tree, or None if anything is wrong. Raises `CopyLimitExceeded`."""
    tokenized = lexer.tokenize(source.text)
    if tokenized is None:
        return None
    descent = _Descent(tokenized, options)
    try:
        root = descent.expression()
    except (_GiveUp, lexer.LiteralError, MacroError, RecursionError):
        return None
    if descent.kinds[descent.at] != tokens.EOF or descent.height > options.limits.recursion:
        return None
    return Ast(root, source, descent.nodes.positions, descent.nodes.macro_calls)


class _Descent:
    """A cursor over the tokens. `at` is the index of the current one."""

    __slots__ = (
        "at",
        "calcs",
        "exprs",
        "has_braces",
        "height",
        "kinds",
        "limit",
        "macros",
        "nodes",
        "offsets",
        "options",
        "relations",
        "texts",
    )

    def __init__(self, tokenized: lexer.TokenList, options: ParseOptions) -> None:
        self.kinds, self.texts, self.offsets = tokenized
        self.at = 0
        self.options = options
        self.macros: MacroTable = options.macro_table
        self.limit = options.limits.recursion
        self.nodes = Nodes(options.limits.copied_nodes, older_texts=options.older_texts)
        self.has_braces = "{" in self.kinds
        self.exprs = self.relations = self.calcs = 0
        self.height = 0

    def expression(self) -> Expr:
        """`expr` of the grammar: operands and operators up to something that is neither."""
        outside = (self.exprs, self.relations, self.calcs)
        self._open_rules(1, 1, 1)
        pending: list[_Pending] = []
        while True:
            operand = self._operand()
            kind = self.kinds[self.at]
            operator = _OPERATORS.get(kind)
            if operator is not None:
                strength, floor, function = operator
                if pending:
                    operand = self._reduce(pending, operand, floor)
                if strength > lexer.AND:
                    self._open_rules(0, strength == lexer.RELATION, strength > lexer.RELATION)
            elif kind == "?" and not _awaits_colon(pending):
                operand = self._reduce(pending, operand, lexer.OR)
                strength, function = lexer.TERNARY, syntax.CONDITIONAL
            elif kind == ":" and _awaits_colon(pending):
                self._begin_else(pending, operand)
                continue
            else:
                break
            node_id = self.nodes.new_id(self.offsets[self.at])
            self.at += 1
            pending.append(_Pending(strength, function, node_id, operand, self.height))
        if pending:
            operand = self._reduce(pending, operand, lexer.TERNARY)
        self.exprs, self.relations, self.calcs = outside
        return operand

    def _open_rules(self, exprs: int, relations: int, calcs: int) -> None:
        self.exprs += exprs
        self.relations += relations
        self.calcs += calcs
        limit = self.limit
        if self.exprs > limit or self.relations > limit or self.calcs > limit:
            raise _GiveUp

    def _begin_else(self, pending: list[_Pending], operand: Expr) -> None:
        """At the `:` of the innermost ternary; `operand` ends its middle part."""
        reduce = self._reduce(pending, operand, lexer.OR)
        ternary = pending.pop()
        height = max(ternary.height, self.height)
        pending.append(ternary._replace(then=reduce, height=height))
        self._open_rules(1, 0, 0)
        self.at += 1

    def _reduce(self, pending: list[_Pending], operand: Expr, floor: int) -> Expr:
        """Finishes the last pending operators that bind at least as strongly as `floor`."""
        height = self.height
        while pending and pending[-1].strength >= floor:
            strength, function, node_id, left, left_height, if_true = pending.pop()
            height = max(height, left_height)
            if strength in (lexer.OR, lexer.AND):
                terms, ids = [operand, left], [node_id]
                while pending and pending[-1].strength == strength:
                    _, _, node_id, left, left_height, _ = pending.pop()
                    height = max(height, left_height)
                    terms.append(left)
                    ids.append(node_id)
                operand = balance(function, terms[::-1], ids[::-1])
                continue
            height += 1
            if strength == lexer.TERNARY:
                if if_true is None:
                    raise _GiveUp
                operand = Call(node_id, function, None, (left, if_true, operand))
            else:
                operand = Call(node_id, function, None, (left, operand))
                if strength == lexer.RELATION:
                    self.relations -= 1
                else:
                    self.calcs -= 1
        self.height = height
        return operand

    def _operand(self) -> Expr:
        """`unary` of the grammar: signs, then something with selections, calls and indexes."""
        kinds = self.kinds
        start = self.at
        kind = kinds[start]
        signs = 0
        if kind == "-" or kind == "!":
            signs = self._count_signs(kind)
            if kind == "-" and signs == 1 and kinds[start + 1] in tokens.SIGNED:
                signs = 0
            else:
                self.at = start + signs
        parse_primary = _PRIMARIES.get(kinds[self.at])
        if parse_primary is None:
            raise _GiveUp
        operand = parse_primary(self)
        while True:
            position = self.at
            kind = kinds[position]
            if kind == ".":
                if kinds[position + 1] == tokens.IDENTIFIER and kinds[position + 2] == "(":
                    height = self.height
                    self.at = position + 3
                    args = self._arguments()
                    self.height = max(height, self.height) + 1
                    operand = self._call(position + 2, self.texts[position + 1], operand, args)
                else:
                    operand = self._select(operand)
            elif kind == "[":
                height = self.height
                self.at = position + 1
                function = syntax.OPT_INDEX if self._optional_mark() else syntax.INDEX
                index = self.expression()
                self._expect("]")
                self.height = max(height, self.height) + 1
                operand = Call(
                    self.nodes.new_id(self.offsets[position]), function, None, (operand, index)
                )
            else:
                break
        if signs % 2:
            node_id = self.nodes.new_id(self.offsets[start])
            function = syntax.NEGATE if kinds[start] == "-" else syntax.LOGICAL_NOT
            return Call(node_id, function, None, (operand,))
        return operand

    def _count_signs(self, sign: str) -> int:
        kinds, index = self.kinds, self.at
        count = 1
        while kinds[index + count] == sign:
            count += 1
        return count

    def _optional_mark(self) -> bool:
        """Step over a `?`, if there is one, where optional syntax has it."""
        if self.kinds[self.at] != "?":
            return False
        if not self.options.optional_syntax:
            raise _GiveUp
        self.at += 1
        return True

    def _expect(self, kind: str) -> None:
        if self.kinds[self.at] != kind:
            raise _GiveUp
        self.at += 1

    def _select(self, operand: Expr) -> Expr:
        """`.field` or `.?field`."""
        node_id = self.nodes.new_id(self.offsets[self.at])
        self.at += 1
        optional = self._optional_mark()
        offset = self.offsets[self.at]
        field = self._field_name()
        self.height += 1
        if not optional:
            return Select(node_id, operand, field)
        name = Literal(self.nodes.new_id(offset), field)
        return Call(node_id, syntax.OPT_SELECT, None, (operand, name))

    def _field_name(self) -> str:
        kind, text = self.kinds[self.at], self.texts[self.at]
        self.at += 1
        if kind == tokens.IDENTIFIER:
            return text
        if kind == tokens.ESC_IDENTIFIER and self.options.escape_syntax:
            return text[1:-1]
        raise _GiveUp

    def _arguments(self) -> tuple[Expr, ...]:
        """From behind the `(` to behind the `)`; `height` becomes that of the highest."""
        height = 0
        args: list[Expr] = []
        if self.kinds[self.at] != ")":
            while True:
                args.append(self.expression())
                height = max(height, self.height)
                if self.kinds[self.at] != ",":
                    break
                self.at += 1
        self._expect(")")
        self.height = height
        return tuple(args)

    def _call(
        self, open_at: int, function: str, target: Expr | None, args: tuple[Expr, ...]
    ) -> Expr:
        """Return the call, or what it expands to. `open_at` is the index of its `(`."""
        call = Call(self.nodes.new_id(self.offsets[open_at]), function, target, args)
        if function in self.macros:
            macro = find_macro(self.macros, function, len(args), member=target is not None)
            if macro is not None:
                return expand(self.nodes, macro, call, keep_call=self.options.macro_calls) or call
        return call

    def _nested(self) -> Expr:
        self.at += 1
        operand = self.expression()
        self._expect(")")
        return operand

    def _literal(self) -> Expr:
        index = self.at
        kind = self.kinds[index]
        negative = kind == "-"
        if negative:
            self.at = index + 1
            kind = self.kinds[index + 1]
            if kind not in tokens.SIGNED:
                raise _GiveUp
        value = lexer.decode_literal(
            kind, self.texts[self.at], negative=negative, older=self.options.older_texts
        )
        self.at += 1
        self.height = 0
        return Literal(self.nodes.new_id(self.offsets[index]), value)

    def _name(self) -> Expr:
        """Read a variable, a call of a global function, or a message."""
        kinds = self.kinds
        index = self.at
        dot = ""
        if kinds[index] == ".":
            dot = "."
            index += 1
            if kinds[index] != tokens.IDENTIFIER:
                raise _GiveUp
        if self.has_braces:
            end = self._end_of_chain(index)
            if kinds[end] == "{":
                return self._message(dot + "".join(self.texts[index:end]), end)
        name = self.texts[index]
        if name in tokens.RESERVED:
            raise _GiveUp
        if kinds[index + 1] == "(":
            self.at = index + 2
            args = self._arguments()
            return self._call(index + 1, dot + name, None, args)
        self.at = index + 1
        self.height = 0
        return Ident(self.nodes.new_id(self.offsets[index]), dot + name)

    def _end_of_chain(self, index: int) -> int:
        """Return the index behind `a.b.c`."""
        kinds = self.kinds
        index += 1
        while kinds[index] == "." and kinds[index + 1] == tokens.IDENTIFIER:
            index += 2
        return index

    def _message(self, type_name: str, open_at: int) -> Expr:
        node_id = self.nodes.new_id(self.offsets[open_at])
        self.at = open_at + 1
        height = 0
        fields: list[StructField] = []
        more = self.kinds[self.at] not in _ENDS_BRACES
        while more:
            optional = self._optional_mark()
            name = self._field_name()
            field_id = self.nodes.new_id(self.offsets[self.at])
            self._expect(":")
            value = self.expression()
            height = max(height, self.height)
            fields.append(StructField(field_id, name, value, optional))
            more = self._comma_before_another("}")
        self._close_aggregate("}")
        self.height = height
        return Struct(node_id, type_name, tuple(fields))

    def _map(self) -> Expr:
        node_id = self.nodes.new_id(self.offsets[self.at])
        self.at += 1
        height = 0
        entries: list[MapEntry] = []
        more = self.kinds[self.at] not in _ENDS_BRACES
        while more:
            optional = self._optional_mark()
            key = self.expression()
            height = max(height, self.height)
            entry_id = self.nodes.new_id(self.offsets[self.at])
            self._expect(":")
            value = self.expression()
            height = max(height, self.height)
            entries.append(MapEntry(entry_id, key, value, optional))
            more = self._comma_before_another("}")
        self._close_aggregate("}")
        self.height = height
        return MapLiteral(node_id, tuple(entries))

    def _list(self) -> Expr:
        node_id = self.nodes.new_id(self.offsets[self.at])
        self.at += 1
        height = 0
        elements: list[Expr] = []
        optional: list[int] = []
        more = self.kinds[self.at] not in _ENDS_BRACKETS
        while more:
            if self._optional_mark():
                optional.append(len(elements))
            elements.append(self.expression())
            height = max(height, self.height)
            more = self._comma_before_another("]")
        self._close_aggregate("]")
        self.height = height
        return ListLiteral(node_id, tuple(elements), frozenset(optional))

    def _comma_before_another(self, close: str) -> bool:
        """Step over a comma, unless it is the trailing one."""
        if self.kinds[self.at] != "," or self.kinds[self.at + 1] == close:
            return False
        self.at += 1
        return True

    def _close_aggregate(self, close: str) -> None:
        """Step over the closing bracket and a comma before it; `[,]` is allowed."""
        if self.kinds[self.at] == ",":
            self.at += 1
        self._expect(close)


def _awaits_colon(pending: list[_Pending]) -> bool:
    """Return whether the innermost ternary has no `:` yet."""
    for operator in reversed(pending):
        if operator.strength == lexer.TERNARY:
            return operator.then is None
    return False


_ENDS_BRACES = ("}", ",")
_ENDS_BRACKETS = ("]", ",")

_PRIMARIES: dict[str, Callable[[_Descent], Expr]] = {
    tokens.IDENTIFIER: _Descent._name,
    ".": _Descent._name,
    "(": _Descent._nested,
    "[": _Descent._list,
    "{": _Descent._map,
    "-": _Descent._literal,
    **dict.fromkeys(tokens.LITERALS, _Descent._literal),
}
