"""Diagnoses an expression that has syntax errors: all of them in cel-go's words, from parse tree to
nodes.

Besides syntax these are reserved identifiers, impossible literals, misused macros, syntax that is
not enabled, and too deep nesting. They are found in wrong and incomplete parse trees, too, so every
part may be missing (cel-go `parser/parser.go`, the visitor). If nothing is wrong the result is the
tree.

Readers are generators: they yield the parse nodes they want read. `read` keeps their stack, so that
Python's does not limit the nesting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Final, TypeAlias

from celadon.cel import syntax
from celadon.cel.errors import NOWHERE, SYNTAX_ERROR, Issues, Source
from celadon.cel.parsing import recursive_descent as texts
from celadon.cel.parsing import tokens
from celadon.cel.parsing.antlr_parser import Machine, ParseNode, ParseStopped, Token
from celadon.cel.parsing.lexer import BINARY, LiteralError, decode_literal
from celadon.cel.parsing.macros import MacroError, Nodes, expand, find_macro
from celadon.cel.parsing.recursive_descent import ParseOptions, balance
from celadon.late_patterns import late_pattern

ESCAPED_UNSUPPORTED = "unsupported syntax: '`'"
IDENTIFIER_UNSUPPORTED = "unsupported ident kind"
SELECT_UNSUPPORTED = "unsupported syntax '.?'"
INDEX_UNSUPPORTED = "unsupported syntax '[?'"
OPTIONAL_UNSUPPORTED = "unsupported syntax '?'"


def reserved_identifier(name: str) -> str:
    """Say that a word that languages around CEL reserve is used as a variable or function
    (`tokens.RESERVED`)."""
    return f"reserved identifier: {name}"


_Reading: TypeAlias = Generator["ParseNode | None", syntax.Expr, syntax.Expr]
_Report: TypeAlias = Callable[[str, int], None]

_BINARY = {item.sign: item.function for item in BINARY}
_LITERAL_KINDS: dict[str, str] = {
    "Int": tokens.INT,
    "Uint": tokens.UINT,
    "Double": tokens.FLOAT,
    "String": tokens.STRING,
    "Bytes": tokens.BYTES,
    "BoolTrue": "true",
    "BoolFalse": "false",
    "Null": "null",
}
#: Parse nodes on the way down to these count as one level of nesting.
_COUNTED = frozenset({"expr", "relation", "calc", "Select", "MemberCall", "Index"})


class Reader:
    """Builds the nodes of one parse tree. `report` gets message and offset of every error."""

    def __init__(self, options: ParseOptions, report: _Report) -> None:
        self._options = options
        self._report = report
        self.nodes = Nodes(options.limits.copied_nodes, older_texts=options.older_texts)

    def read(self, root: ParseNode) -> syntax.Expr:
        """Read the whole text. Raises `ParseStopped` at the limit of nesting."""
        depth = 0
        running: list[tuple[bool, _Reading]] = []
        node: ParseNode | None = _part(root, "e")
        result: syntax.Expr | None = None
        while True:
            if result is None:
                compound = _unnested(node)
                counted = compound is not None and compound.name in _COUNTED
                depth += counted
                if depth > self._options.limits.recursion:
                    raise ParseStopped(texts.tree_too_deep())
                running.append((counted, self._reading(compound)))
            counted, reading = running[-1]
            try:
                node = next(reading) if result is None else reading.send(result)
                result = None
            except StopIteration as stop:
                running.pop()
                depth -= counted
                result = stop.value
                if not running:
                    return result

    def _reading(self, node: ParseNode | None) -> _Reading:
        if node is None:
            return self._nothing()
        if node.name in _LITERAL_KINDS:
            return self._literal(node)
        reader = _READERS.get(node.name)
        return self._nothing() if reader is None else reader(self, node)

    def _nothing(self) -> _Reading:
        """Stand for what could not be parsed; that was reported."""
        yield from ()
        return self._unspecified(NOWHERE)

    def _failed_unary(self, node: ParseNode) -> _Reading:
        """cel-go puts a string here, which macros see."""
        yield from ()
        return syntax.Literal(self.nodes.new_id(node.start.start), "<<error>>")

    def _unspecified(self, offset: int) -> syntax.Expr:
        return syntax.Unspecified(self.nodes.new_id(offset))

    def _fail(self, message: str, offset: int) -> syntax.Expr:
        self._report(message, offset)
        return self._unspecified(offset)

    def _conditional(self, node: ParseNode) -> _Reading:
        condition = yield _part(node, "e")
        node_id = self.nodes.new_id(_offset(node, "op"))
        if_true = yield _part(node, "e1")
        if_false = yield _part(node, "e2")
        return syntax.Call(node_id, syntax.CONDITIONAL, None, (condition, if_true, if_false))

    def _logic(self, node: ParseNode) -> _Reading:
        terms = [(yield _part(node, "e"))]
        for term in _parts(node, "e1+"):
            terms.append((yield term))
        ids = [self.nodes.new_id(op.start) for op in _tokens(node, "ops+")]
        is_or = node.name == "conditionalOr"
        return balance(syntax.LOGICAL_OR if is_or else syntax.LOGICAL_AND, terms, ids)

    def _binary(self, node: ParseNode) -> _Reading:
        left = yield _part(node, "left")
        operator = _token(node, "op")
        assert operator is not None
        node_id = self.nodes.new_id(operator.start)
        right = yield _part(node, "right")
        return syntax.Call(node_id, _BINARY[operator.text], None, (left, right))

    def _unary(self, node: ParseNode) -> _Reading:
        operators = _tokens(node, "ops+")
        if len(operators) % 2 == 0:
            return (yield _part(node, "e"))
        node_id = self.nodes.new_id(operators[0].start)
        operand = yield _part(node, "e")
        function = syntax.NEGATE if node.name == "Negate" else syntax.LOGICAL_NOT
        return syntax.Call(node_id, function, None, (operand,))

    def _select(self, node: ParseNode) -> _Reading:
        operand = yield _part(node, "left")
        if "id" not in node.parts:
            return self._unspecified(node.start.start)
        field = _start(node, "id")
        try:
            name = self._field_name(node)
        except _FieldNameError as error:
            name = ""
            self._report(error.message, field)
        if "opt" not in node.parts:
            return syntax.Select(self.nodes.new_id(_offset(node, "op")), operand, name)
        if not self._options.optional_syntax:
            return self._fail(SELECT_UNSUPPORTED, _offset(node, "op"))
        literal = syntax.Literal(self.nodes.new_id(field), name)
        node_id = self.nodes.new_id(_offset(node, "op"))
        return syntax.Call(node_id, syntax.OPT_SELECT, None, (operand, literal))

    def _field_name(self, owner: ParseNode) -> str:
        """Return the name that a part has, itself or (since names may be escaped) in a node."""
        plain, node = _token(owner, "id"), _part(owner, "id")
        if plain is not None:
            return plain.text
        token = None if node is None else _token(node, "id")
        if node is None or token is None:
            raise _FieldNameError(IDENTIFIER_UNSUPPORTED)
        if node.name == "SimpleIdentifier":
            return token.text
        if not self._options.escape_syntax:
            raise _FieldNameError(ESCAPED_UNSUPPORTED)
        return token.text[1:-1]

    def _member_call(self, node: ParseNode) -> _Reading:
        target = yield _part(node, "left")
        name = _token(node, "id")
        if name is None:
            return self._unspecified(node.start.start)
        call_id = self.nodes.new_id(_offset(node, "open"))
        args: list[syntax.Expr] = []
        for arg in _parts(_part(node, "args"), "e+"):
            args.append((yield arg))
        return self._call(syntax.Call(call_id, name.text, target, tuple(args)))

    def _global_call(self, node: ParseNode) -> _Reading:
        name = self._simple_name(node)
        if isinstance(name, syntax.Expr):
            return name
        call_id = self.nodes.new_id(_offset(node, "op"))
        args: list[syntax.Expr] = []
        for arg in _parts(_part(node, "args"), "e+"):
            args.append((yield arg))
        return self._call(syntax.Call(call_id, name, None, tuple(args)))

    def _call(self, call: syntax.Call) -> syntax.Expr:
        table = self._options.macro_table
        macro = find_macro(table, call.function, len(call.args), member=call.target is not None)
        if macro is None:
            return call
        try:
            return expand(self.nodes, macro, call, keep_call=self._options.macro_calls) or call
        except MacroError as error:
            return self._fail(error.message, self.nodes.positions[error.node])

    def _simple_name(self, node: ParseNode) -> str | syntax.Expr:
        """Return the name of a variable or function, or what to put in its place."""
        name = _token(node, "id")
        if name is None:
            return self._unspecified(node.start.start)
        if name.text in tokens.RESERVED:
            return self._fail(reserved_identifier(name.text), node.start.start)
        return f".{name.text}" if "leading_dot" in node.parts else name.text

    def _ident(self, node: ParseNode) -> _Reading:
        yield from ()
        name = self._simple_name(node)
        if isinstance(name, syntax.Expr):
            return name
        return syntax.Ident(self.nodes.new_id(_offset(node, "id")), name)

    def _ident_or_call(self, node: ParseNode) -> _Reading:
        read = self._global_call if "op" in node.parts else self._ident
        return (yield from read(node))

    def _index(self, node: ParseNode) -> _Reading:
        target = yield _part(node, "left")
        node_id = self.nodes.new_id(_offset(node, "op"))
        index = yield _part(node, "index")
        function = syntax.INDEX
        if "opt" in node.parts:
            if not self._options.optional_syntax:
                return self._fail(INDEX_UNSUPPORTED, _offset(node, "op"))
            function = syntax.OPT_INDEX
        return syntax.Call(node_id, function, None, (target, index))

    def _list(self, node: ParseNode) -> _Reading:
        node_id = self.nodes.new_id(_offset(node, "op"))
        elements: list[syntax.Expr] = []
        optional: list[int] = []
        for number, part in enumerate(_parts(_part(node, "elems"), "elems+")):
            elements.append((yield _part(part, "e")))
            mark = _token(part, "opt")
            if mark is not None:
                optional.append(number)
                if not self._options.optional_syntax:
                    self._report(OPTIONAL_UNSUPPORTED, mark.start)
        return syntax.ListLiteral(node_id, tuple(elements), frozenset(optional))

    def _map(self, node: ParseNode) -> _Reading:
        node_id = self.nodes.new_id(_offset(node, "op"))
        entries_node = _part(node, "entries")
        keys, values = _parts(entries_node, "keys+"), _parts(entries_node, "values+")
        entries: list[syntax.MapEntry] = []
        for number, colon in enumerate(_tokens(entries_node, "cols+")):
            if number >= len(keys) or number >= len(values):
                entries.clear()
                break
            entry_id = self.nodes.new_id(colon.start)
            optional = "opt" in keys[number].parts
            if optional and not self._options.optional_syntax:
                self._report(OPTIONAL_UNSUPPORTED, keys[number].start.start)
                continue
            key = yield _part(keys[number], "e")
            value = yield values[number]
            entries.append(syntax.MapEntry(entry_id, key, value, optional))
        return syntax.MapLiteral(node_id, tuple(entries))

    def _message(self, node: ParseNode) -> _Reading:
        name = ".".join(token.text for token in _tokens(node, "ids+"))
        if "leading_dot" in node.parts:
            name = f".{name}"
        node_id = self.nodes.new_id(_offset(node, "op"))
        fields_node = _part(node, "entries")
        colons, values = _tokens(fields_node, "cols+"), _parts(fields_node, "values+")
        fields: list[syntax.StructField] = []
        for number, field in enumerate(_parts(fields_node, "fields+")):
            if number >= len(colons) or number >= len(values):
                fields.clear()
                break
            field_id = self.nodes.new_id(colons[number].start)
            optional = "opt" in field.parts
            if optional and not self._options.optional_syntax:
                self._report(OPTIONAL_UNSUPPORTED, field.start.start)
                continue
            try:
                field_name = self._field_name(field)
            except _FieldNameError as error:
                assert fields_node is not None
                if self._options.older_texts:
                    fields.clear()
                    break
                self._report(error.message, fields_node.start.start)
                continue
            value = yield values[number]
            fields.append(syntax.StructField(field_id, field_name, value, optional))
        return syntax.Struct(node_id, name, tuple(fields))

    def _literal(self, node: ParseNode) -> _Reading:
        yield from ()
        kind, token = _LITERAL_KINDS[node.name], _token(node, "tok")
        offset = node.start.start
        if token is None:
            return self._unspecified(offset)
        try:
            value = decode_literal(
                kind, token.text, negative="sign" in node.parts, older=self._options.older_texts
            )
        except LiteralError as error:
            self._report(str(error), offset)
            value = None
        return syntax.Literal(self.nodes.new_id(offset), value)


class _FieldNameError(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


_READERS: dict[str, Callable[[Reader, ParseNode], _Reading]] = {
    "expr": Reader._conditional,
    "conditionalOr": Reader._logic,
    "conditionalAnd": Reader._logic,
    "relation": Reader._binary,
    "calc": Reader._binary,
    "unary": Reader._failed_unary,
    "LogicalNot": Reader._unary,
    "Negate": Reader._unary,
    "Select": Reader._select,
    "MemberCall": Reader._member_call,
    "Index": Reader._index,
    "Ident": Reader._ident,
    "GlobalCall": Reader._global_call,
    "IdentOrGlobalCall": Reader._ident_or_call,
    "CreateList": Reader._list,
    "CreateStruct": Reader._map,
    "CreateMessage": Reader._message,
}


def _unnested(node: ParseNode | None) -> ParseNode | None:
    """Return the first node downwards that is more than the way to another one."""
    while node is not None:
        match node.name:
            case "expr" | "relation" | "calc":
                if "op" in node.parts:
                    return node
            case "conditionalOr" | "conditionalAnd":
                if "ops+" in node.parts:
                    return node
            case "MemberExpr" | "PrimaryExpr" | "Nested" | "ConstantLiteral":
                pass
            case _:
                return node
        node = _part(node, "e")
    return node


def _part(node: ParseNode | None, label: str) -> ParseNode | None:
    part = None if node is None else node.parts.get(label)
    return part if isinstance(part, ParseNode) else None


def _parts(node: ParseNode | None, label: str) -> list[ParseNode]:
    several = [] if node is None else node.parts.get(label, [])
    assert isinstance(several, list)
    return [part for part in several if isinstance(part, ParseNode)]


def _token(node: ParseNode, label: str) -> Token | None:
    part = node.parts.get(label)
    return part if isinstance(part, Token) else None


def _tokens(node: ParseNode | None, label: str) -> list[Token]:
    several = [] if node is None else node.parts.get(label, [])
    assert isinstance(several, list)
    return [part for part in several if isinstance(part, Token)]


def _start(node: ParseNode, label: str) -> int:
    """Return where that part begins, which is there."""
    part = node.parts[label]
    assert not isinstance(part, list)
    return part.start if isinstance(part, Token) else part.start.start


def _offset(node: ParseNode, label: str) -> int:
    """Return where that token is, or the node if the token is missing."""
    token = _token(node, label)
    return node.start.start if token is None else token.start


# --- What is wrong with an expression ----------------------------------------
#
# What is wrong with an expression, in cel-go's words.
#
# Parses again, slowly, in the way of cel-go's generated parser (`antlr_parser`).
# First come the errors of syntax; then, if parsing was not given up, the tree is read for other
# errors.

_GO_VERB: Final = late_pattern(r"%[#0+\- ]*[0-9]*(?:\.[0-9]*)?(.)?", re.DOTALL)


def _older_message(message: str) -> str:
    """Return a message as before cel-go 0.23: it was itself taken for a format of Go's, of which
    nothing is given."""
    return _GO_VERB.sub(_unformatted, message)


def _unformatted(match: re.Match[str]) -> str:
    verb = match[1]
    if verb is None:
        return "%!(NOVERB)"
    return "%" if verb == "%" else f"%!{verb}(MISSING)"


def diagnose(source: Source, options: ParseOptions, issues: Issues) -> syntax.Ast | None:
    """Add the issues, or return the tree if there are none. Raises `CopyLimitExceeded`."""

    def report_syntax_error(message: str, offset: int) -> None:
        if options.older_texts:
            message = _older_message(message)
        issues.add(f"{SYNTAX_ERROR}{message}", offset)

    reader = Reader(options, issues.add)
    try:
        older = options.older_texts
        tree = Machine(source.text, options.limits, report_syntax_error, older=older).parse()
        root = reader.read(tree)
    except ParseStopped as stopped:
        if stopped.message:
            issues.add(stopped.message, None)
        return None
    if issues:
        return None
    return syntax.Ast(root, source, reader.nodes.positions, reader.nodes.macro_calls)
