"""Expressions with one node changed, and the canonical tree by which changes in vain are known:
what has the same tree comes to the same, for any input.

Few laws are used, those by which changes of one node are in vain: a size is never negative, `!=` is
the negation of `==`, a default that is not what is compared with may as well be another one, and
combinations of conditions are their tables (see below). None of them asks for types that are
not known, so none has exceptions (`x < 5` is not `x <= 4`: there are numbers between them).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count, islice, product
from typing import Final

from celadon.cel import syntax, unparse
from celadon.cel.extend import Uint
from celadon.cel.tracing import SourceNode, unexpanded_tree, written_tree
from celadon.cli.policytest.case_results import AlterationKind
from celadon.cli.policytest.case_results import AlterationKind as Kind
from celadon.records import dataclass

# --- Parts of trees ----------------------------------------------------------
#
# A node with other parts, everything else as it was.


def with_parts(node: syntax.Expr, put: Callable[[syntax.Expr], syntax.Expr]) -> syntax.Expr:
    """`put` is what stands in the place of each part; in trees without macros."""
    match node:
        case syntax.Select():
            return replace(node, operand=put(node.operand))
        case syntax.Call(_, _, target, args):
            receiver = None if target is None else put(target)
            return replace(node, target=receiver, args=tuple(map(put, args)))
        case syntax.ListLiteral():
            return replace(node, elements=tuple(map(put, node.elements)))
        case syntax.MapLiteral():
            entries = (
                syntax.MapEntry(e.id, put(e.key), put(e.value), e.optional) for e in node.entries
            )
            return replace(node, entries=tuple(entries))
        case syntax.Struct():
            fields = (
                syntax.StructField(f.id, f.name, put(f.value), f.optional) for f in node.fields
            )
            return replace(node, fields=tuple(fields))
        case _:
            return node


# --- Outcome tables ----------------------------------------------------------
#
# What a combination of conditions comes to, for every outcome that each of them may have.
#
# A condition (an atom: whatever is not `&&`, `||`, `!`, `?:` or a written truth value) is true,
# false or an error, and the same text is the same outcome wherever it stands. A table has what
# the whole comes to for each combination; an error is known by the condition that it is of,
# since messages tell which it was. Two combinations with one table come to the same for any
# input, whatever the conditions are about: dropping a clause that others imply, saying
# something twice, `a || a && b`.
#
# The rules are those of the language: `&&` is false where either side is, `||` true where
# either side is, whatever the other side does; of two errors the left one counts.

_MOST_ATOMS: Final = 7
"""Of which each has three outcomes."""
_TRUE: Final = "t"
_FALSE: Final = "f"

_LOGIC: Final = frozenset(
    {syntax.LOGICAL_AND, syntax.LOGICAL_OR, syntax.LOGICAL_NOT, syntax.CONDITIONAL}
)

Combination = Callable[[tuple[str, ...]], str]
"""What it comes to, by the outcomes of the atoms: `t`, `f`, or the number of an atom whose error
it is."""


def is_logic(node: syntax.Expr) -> bool:
    """Return whether it combines conditions."""
    return isinstance(node, syntax.Call) and node.function in _LOGIC


def tabulated(
    node: syntax.Expr, text: Callable[[syntax.Expr], str], next_id: Callable[[], int]
) -> syntax.Expr:
    """Return what stands for all combinations with the same table: a truth value, a condition, or a
    call whose name is the table and whose arguments are the conditions that matter. `text` tells
    conditions apart, `next_id` gives ids. The node itself comes back if it has too many."""
    atoms: dict[str, syntax.Expr] = {}
    _collect(node, text, atoms)
    if len(atoms) > _MOST_ATOMS:
        return node
    names = sorted(atoms)
    combination = _combination(node, text, {name: i for i, name in enumerate(names)})
    outcomes = [_outcomes(i) for i in range(len(names))]
    table = {row: combination(row) for row in product(*outcomes)}
    result = [i for i in range(len(names)) if _matters(table, i, outcomes[i])]
    digits = _digits(table, outcomes, result)
    if not result:
        return syntax.Literal(next_id(), digits == _TRUE) if digits in (_TRUE, _FALSE) else node
    if digits == "".join(_outcomes(0)) and len(result) == 1:
        return atoms[names[result[0]]]
    return syntax.Call(next_id(), f"table_{digits}", None, tuple(atoms[names[i]] for i in result))


def _outcomes(number: int) -> tuple[str, ...]:
    """Return the outcomes of an atom."""
    return (_TRUE, _FALSE, str(number))


def _collect(
    node: syntax.Expr, text: Callable[[syntax.Expr], str], atoms: dict[str, syntax.Expr]
) -> None:
    if isinstance(node, syntax.Call) and is_logic(node):
        for argument in node.args:
            _collect(argument, text, atoms)
    elif not _is_truth(node):
        atoms.setdefault(text(node), node)


def _is_truth(node: syntax.Expr) -> bool:
    return isinstance(node, syntax.Literal) and isinstance(node.value, bool)


def _combination(
    node: syntax.Expr, text: Callable[[syntax.Expr], str], atoms: dict[str, int]
) -> Combination:
    if isinstance(node, syntax.Call) and is_logic(node):
        return _combined(
            node.function, [_combination(argument, text, atoms) for argument in node.args]
        )
    if isinstance(node, syntax.Literal) and isinstance(node.value, bool):
        constant = _TRUE if node.value else _FALSE
        return lambda _: constant
    number = atoms[text(node)]
    return lambda values: values[number]


def _combined(function: str, parts: list[Combination]) -> Combination:
    if function == syntax.LOGICAL_NOT:
        (only,) = parts
        turned = {_TRUE: _FALSE, _FALSE: _TRUE}
        return lambda values: turned.get(only(values), only(values))
    if function == syntax.CONDITIONAL:
        condition, consequence, otherwise = parts
        return lambda values: _chosen(condition(values), consequence(values), otherwise(values))
    left, right = parts
    decides = _FALSE if function == syntax.LOGICAL_AND else _TRUE
    return lambda values: _absorbed(left(values), right(values), decides)


def _chosen(condition: str, consequence: str, otherwise: str) -> str:
    return {_TRUE: consequence, _FALSE: otherwise}.get(condition, condition)


def _absorbed(left: str, right: str, decides: str) -> str:
    if decides in (left, right):
        return decides
    is_truth = left in (_TRUE, _FALSE)
    return right if is_truth else left


def _matters(table: Mapping[tuple[str, ...], str], number: int, outcomes: tuple[str, ...]) -> bool:
    """Return whether the outcome of an atom makes a difference."""
    return any(
        table[(*key[:number], other, *key[number + 1 :])] != came
        for key, came in table.items()
        for other in outcomes
    )


def _digits(
    table: Mapping[tuple[str, ...], str], outcomes: list[tuple[str, ...]], indices: list[int]
) -> str:
    """Return the outcomes in order, atoms that make no difference left out; errors by the numbers
    of the atoms that are left."""
    numbers = {str(old): str(new) for new, old in enumerate(indices)}
    rows = product(
        *(outcomes[i] if i in indices else outcomes[i][:1] for i in range(len(outcomes)))
    )
    return "".join(numbers.get(table[row], table[row]) for row in rows)


_MIRRORED: Final = {
    syntax.LESS: syntax.GREATER,
    syntax.LESS_EQUALS: syntax.GREATER_EQUALS,
    syntax.GREATER: syntax.LESS,
    syntax.GREATER_EQUALS: syntax.LESS_EQUALS,
    syntax.EQUALS: syntax.EQUALS,
    syntax.NOT_EQUALS: syntax.NOT_EQUALS,
}

_CHAINS: Final = {syntax.LOGICAL_AND: "all_of", syntax.LOGICAL_OR: "any_of"}


def canonical_text(ast: syntax.Ast) -> str:
    """Return the text of the canonical tree of a tree without macros."""
    return unparse(replace(ast, root=_Canonical(ast).of(ast.root)))


def is_same(text: str, other: str) -> bool:
    """Return whether it is proved that two expressions come to the same, for any input."""
    trees = [unexpanded_tree(text) for text in (text, other)]
    result = {None if tree is None else canonical_text(tree) for tree in trees}
    return len(result) == 1 and None not in result


def flat_text(ast: syntax.Ast) -> str:
    """Return the same for trees that differ in nothing but how chains of `&&` and `||` are
    nested."""

    def flat(node: syntax.Expr) -> syntax.Expr:
        node = with_parts(node, flat)
        name = _CHAINS.get(node.function) if isinstance(node, syntax.Call) else None
        if name is None:
            return node
        assert isinstance(node, syntax.Call), "has a function"
        operands: list[syntax.Expr] = []
        for argument in node.args:
            is_link = isinstance(argument, syntax.Call) and argument.function == name
            operands += syntax.children(argument) if is_link else [argument]
        return syntax.Call(node.id, name, None, tuple(operands))

    return unparse(replace(ast, root=flat(ast.root)))


class _Canonical:
    """Ids of nodes that are made are negative."""

    def __init__(self, ast: syntax.Ast) -> None:
        self._ast = ast
        self._made = 0

    def of(self, node: syntax.Expr) -> syntax.Expr:
        without_tables = self._without_tables(node)
        return (
            tabulated(without_tables, self._text, self._id)
            if is_logic(without_tables)
            else without_tables
        )

    def _without_tables(self, node: syntax.Expr) -> syntax.Expr:
        """Return a node without tables. Combinations stay what they are, so that those around them
        see their conditions."""
        node = with_parts(node, self._without_tables if is_logic(node) else self.of)
        match node:
            case syntax.Call(_, name, None, (left, right)) if name in _MIRRORED:
                return self._comparison(node, name, left, right)
            case _:
                return node

    def _comparison(
        self, node: syntax.Call, name: str, left: syntax.Expr, right: syntax.Expr
    ) -> syntax.Expr:
        if _is_size(right):
            name, left, right = _MIRRORED[name], right, left
        if _is_size(left) and isinstance(right, syntax.Literal) and _is_int(right):
            return self._size(name, left, right)
        if name in (syntax.EQUALS, syntax.NOT_EQUALS):
            equality = self._call(syntax.EQUALS, self._with_any_default(left, right), right)
            return self._not(equality) if name == syntax.NOT_EQUALS else equality
        return node

    def _with_any_default(self, node: syntax.Expr, compared: syntax.Expr) -> syntax.Expr:
        """`x.orValue('a')`, beside anything but 'a', is as any other default."""
        match node, compared:
            case (
                syntax.Call(
                    _,
                    "orValue",
                    syntax.Call() | syntax.Select() as target,
                    (syntax.Literal(_, str() as default),),
                ),
                syntax.Literal(_, str() as other),
            ) if default != other:
                return syntax.Call(
                    self._id(), "orValue", target, (syntax.Literal(self._id(), f"{other}_"),)
                )
            case _:
                return node

    def _size(self, name: str, size: syntax.Expr, limit: syntax.Literal) -> syntax.Expr:
        """Write a size as whether it is less than something."""
        assert isinstance(limit.value, int), "was looked at before"
        number = limit.value
        if name in (syntax.EQUALS, syntax.NOT_EQUALS):
            comparison = self._call(syntax.EQUALS, size, limit)
            if number == 0:
                comparison = self._call(syntax.LESS, size, self._int(1))
            return self._not(comparison) if name == syntax.NOT_EQUALS else comparison
        is_behind = name in (syntax.LESS_EQUALS, syntax.GREATER)
        less = self._call(syntax.LESS, size, self._int(number + is_behind))
        return less if name in (syntax.LESS, syntax.LESS_EQUALS) else self._not(less)

    def _text(self, node: syntax.Expr) -> str:
        return unparse(replace(self._ast, root=node))

    def _int(self, value: int) -> syntax.Literal:
        return syntax.Literal(self._id(), value)

    def _not(self, node: syntax.Expr) -> syntax.Call:
        return self._call(syntax.LOGICAL_NOT, node)

    def _call(self, function: str, *args: syntax.Expr) -> syntax.Call:
        return syntax.Call(self._id(), function, None, args)

    def _id(self) -> int:
        self._made -= 1
        return self._made


def _is_size(node: syntax.Expr) -> bool:
    if not isinstance(node, syntax.Call) or node.function != "size":
        return False
    return len(node.args) + (node.target is not None) == 1


def _is_int(node: syntax.Literal) -> bool:
    return isinstance(node.value, int) and not isinstance(node.value, bool | Uint)


# --- Mutated expressions -----------------------------------------------------
#
# An expression with one node changed, as text again.
#
# The tree is changed, and the unparser says what the changed tree is as text. So that people
# recognize what is left of theirs, the parts that stay are put in as they wrote them; that the
# result is the changed tree nevertheless is checked by reading it again. Where it is not, the
# whole expression is what the unparser makes of it.

# --- Expression changes ------------------------------------------------------
#
# The ways in which one node of an expression is changed.
#
# The tree is that of the text as it is written (macros are calls); each change gives a node
# that stands in the place of another, with parts of the old one in it. Whether the result
# compiles is found out by compiling it: `1 - 'a'` is nobody's mistake.

_COMPARISONS: Final = {
    syntax.LESS: (syntax.LESS_EQUALS, syntax.GREATER_EQUALS),
    syntax.LESS_EQUALS: (syntax.LESS, syntax.GREATER),
    syntax.GREATER: (syntax.GREATER_EQUALS, syntax.LESS_EQUALS),
    syntax.GREATER_EQUALS: (syntax.GREATER, syntax.LESS),
    syntax.EQUALS: (syntax.NOT_EQUALS,),
    syntax.NOT_EQUALS: (syntax.EQUALS,),
}
"""A comparison, the one that differs where both sides are equal, and the opposite."""

_ARITHMETIC: Final = {
    syntax.ADD: (syntax.SUBTRACT,),
    syntax.SUBTRACT: (syntax.ADD,),
    syntax.MULTIPLY: (syntax.DIVIDE,),
    syntax.DIVIDE: (syntax.MULTIPLY,),
    syntax.MODULO: (syntax.MULTIPLY,),
}
_MUTATED_LOGIC: Final = {
    syntax.LOGICAL_AND: syntax.LOGICAL_OR,
    syntax.LOGICAL_OR: syntax.LOGICAL_AND,
}
_QUANTIFIERS: Final = {
    "all": ("exists",),
    "exists": ("all", "exists_one"),
    "exists_one": ("exists",),
    "existsOne": ("exists",),
}
_ENDS: Final = {"startsWith": "endsWith", "endsWith": "startsWith"}
_OBJECTS: Final = {"object": "oldObject", "oldObject": "object"}
_MOST_ITEMS: Final = 8
"""Items of a list, or fields of a map, that are left out one by one."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node of a tree, and what stands in its place."""

    kind: Kind
    old: syntax.Expr
    new: syntax.Expr


def node_changes(tree: SourceNode) -> Iterator[NodeChange]:
    """Yield all changes of all nodes, in the order of the text."""
    changes = _Changes(count(1 + max(part.node.id for part in tree.walk())))
    parents = {id(part): parent.node for parent in tree.walk() for part in parent.parts}
    for item in sorted(tree.walk(), key=lambda part: (part.start, -part.end)):
        yield from changes.of(item.node, parents.get(id(item)))


class _Changes:
    """Makes the changes of an expression. `ids` are those that no node of the tree has."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._ids = ids

    def of(self, node: syntax.Expr, parent: syntax.Expr | None) -> Iterator[NodeChange]:
        match node:
            case syntax.Call():
                for kind, new in self._call(node, parent):
                    yield NodeChange(kind, node, new)
            case syntax.Ident(_, name) if name in _OBJECTS:
                yield NodeChange(Kind.OBJECT, node, syntax.Ident(next(self._ids), _OBJECTS[name]))
            case syntax.Literal():
                if not _is_item(parent):
                    for value in _shifted(node.value):
                        yield NodeChange(
                            Kind.CONSTANT, node, syntax.Literal(next(self._ids), value)
                        )
            case syntax.ListLiteral(_, elements) if len(elements) > 1:
                for i in range(min(len(elements), _MOST_ITEMS)):
                    yield NodeChange(Kind.LIST, node, self._without_element(node, i))
            case syntax.MapLiteral(_, entries):
                for i in range(min(len(entries), _MOST_ITEMS)):
                    rest = (*entries[:i], *entries[i + 1 :])
                    yield NodeChange(Kind.FIELD, node, syntax.MapLiteral(next(self._ids), rest))
            case syntax.Struct(_, name, fields):
                for i in range(min(len(fields), _MOST_ITEMS)):
                    less = (*fields[:i], *fields[i + 1 :])
                    yield NodeChange(Kind.FIELD, node, syntax.Struct(next(self._ids), name, less))
            case _:
                return

    def _call(
        self, node: syntax.Call, parent: syntax.Expr | None
    ) -> Iterator[tuple[Kind, syntax.Expr]]:
        name, args = node.function, node.args
        match name, args:
            case ((syntax.LOGICAL_AND | syntax.LOGICAL_OR), (left, right)):
                yield Kind.LOGIC, self._named(node, _MUTATED_LOGIC[name])
                yield from _clauses(name, left, right)
            case syntax.LOGICAL_NOT, (operand,):
                yield Kind.NEGATION, operand
            case syntax.CONDITIONAL, (_, then, otherwise):
                yield Kind.CLAUSE, then
                yield Kind.CLAUSE, otherwise
            case syntax.IN, (_, _):
                yield Kind.NEGATION, syntax.Call(next(self._ids), syntax.LOGICAL_NOT, None, (node,))
            case "has", (_,) if node.target is None and not _is_logic(parent):
                yield Kind.PRESENCE, syntax.Literal(next(self._ids), value=True)
            case syntax.ADD, (left, right):
                yield Kind.ARITHMETIC, self._named(node, syntax.SUBTRACT)
                yield Kind.CLAUSE, left
                yield Kind.CLAUSE, right
            case "filter", (_, _) if node.target is not None:
                yield Kind.CLAUSE, node.target
        for other in (*_COMPARISONS.get(name, ()), *_ENDS_OF.get(name, ())):
            yield Kind.COMPARISON, self._named(node, other)
        for other in () if name == syntax.ADD else _ARITHMETIC.get(name, ()):
            yield Kind.ARITHMETIC, self._named(node, other)
        for other in _QUANTIFIERS.get(name, ()) if node.target is not None else ():
            yield Kind.QUANTIFIER, self._named(node, other)

    def _named(self, node: syntax.Call, function: str) -> syntax.Call:
        return replace(node, id=next(self._ids), function=function)

    def _without_element(self, node: syntax.ListLiteral, index: int) -> syntax.ListLiteral:
        rest = (*node.elements[:index], *node.elements[index + 1 :])
        optional = frozenset(i - (i > index) for i in node.optional if i != index)
        return syntax.ListLiteral(next(self._ids), rest, optional)


_ENDS_OF: Final = {name: (other,) for name, other in _ENDS.items()}


def _clauses(
    name: str, left: syntax.Expr, right: syntax.Expr
) -> Iterator[tuple[Kind, syntax.Expr]]:
    """Yield the expression without its left operand, and without its right one; of a longer chain
    each operand goes once, where it stands itself."""
    for dropped, kept in ((left, right), (right, left)):
        if not (isinstance(dropped, syntax.Call) and dropped.function == name):
            yield Kind.CLAUSE, kept


def _is_logic(parent: syntax.Expr | None) -> bool:
    """Return whether a parent is a logical operator: in one, that something is always true comes to
    the same as its absence."""
    return isinstance(parent, syntax.Call) and parent.function in _MUTATED_LOGIC


def _is_item(parent: syntax.Expr | None) -> bool:
    """Items of a longer list are left out, which says as much as another value would."""
    return isinstance(parent, syntax.ListLiteral) and len(parent.elements) > 1


def _shifted(value: syntax.LiteralValue) -> Iterator[syntax.LiteralValue]:
    """Values beside one."""
    match value:
        case bool():
            yield not value
        case Uint():
            yield Uint(int(value) + 1)
            if value:
                yield Uint(int(value) - 1)
        case int() | float():
            yield value + 1
            yield value - 1
        case str():
            yield f"{value}x"
        case _:
            return


_MOST_PLACES: Final = 12
"""Places in a text at which a name may be the one that is meant."""


@dataclass(frozen=True, slots=True)
class AlteredExpression:
    """Holds an expression with a change in it. `new` stands where `old` was, at `start`; `text` is
    the whole."""

    kind: AlterationKind
    text: str
    start: int
    old: str
    new: str


def altered_expressions(text: str) -> Iterator[AlteredExpression]:
    """Yield changes in the order of the text, each once; none if it is no expression."""
    ast = unexpanded_tree(text)
    if ast is not None:
        yield from _Altering(text, ast).all()


class _Altering:
    def __init__(self, text: str, ast: syntax.Ast) -> None:
        self._text = text
        self._ast = ast
        self._whole = written_tree(ast)
        parts = self._whole.walk()
        self._places = {id(part.node): part for part in parts}
        self._parents = {id(part.node): item.node for item in parts for part in item.parts}

    def all(self) -> Iterator[AlteredExpression]:
        seen = {flat_text(self._ast)}
        for change in node_changes(self._whole):
            changed = replace(self._ast, root=self._replaced(change))
            flat = flat_text(changed)
            if flat not in seen:
                seen.add(flat)
                yield self._written(change, changed, flat)

    def _replaced(self, change: NodeChange) -> syntax.Expr:
        """Return the root of the changed tree."""
        old, new = change.old, change.new
        while (parent := self._parents.get(id(old))) is not None:
            old, new = parent, _with_part(parent, old, new)
        return new

    def _written(self, change: NodeChange, changed: syntax.Ast, flat: str) -> AlteredExpression:
        """Write it as close to the text as it can be; `flat` is the flat text of the changed
        tree."""
        text, place = self._text, self._places[id(change.old)]
        for piece in (*self._in_style(change), *self._pieces(change.new)):
            for new in (piece, f"({piece})"):
                result = text[: place.start] + new + text[place.end :]
                reread = unexpanded_tree(result)
                if reread is not None and flat_text(reread) == flat:
                    old = text[place.start : place.end]
                    return AlteredExpression(change.kind, result, place.start, old, new)
        whole = unparse(changed)
        return AlteredExpression(change.kind, whole, 0, text, whole)

    def _in_style(self, change: NodeChange) -> Iterator[str]:
        """Yield texts in which nothing but the name of a function, an operator, or a longer string
        is put in place of the old one."""
        old, new = change.old, change.new
        was = self._slice(self._places[id(old)])
        if (
            isinstance(old, syntax.Literal)
            and isinstance(new, syntax.Literal)
            and isinstance(new.value, str)
        ):
            more = new.value[len(str(old.value)) :]
            yield f"{was[:-1]}{more}{was[-1]}"
        if isinstance(old, syntax.Call) and isinstance(new, syntax.Call) and new.args is old.args:
            name, other = old.function.strip("_"), new.function.strip("_")
            for match in islice(re.finditer(re.escape(name), was), _MOST_PLACES):
                yield f"{was[: match.start()]}{other}{was[match.end() :]}"

    def _pieces(self, new: syntax.Expr) -> Iterator[str]:
        """Yield a new node as text, its old parts as they stand in the text: as they are, then each
        in parentheses."""
        place = self._places.get(id(new))
        if place is not None:
            yield self._slice(place)
            return
        for form in ("{}", "({})"):
            names: dict[str, str] = {}
            result = unparse(replace(self._ast, root=self._named(new, names, form)))
            for name, part in names.items():
                result = result.replace(name, part, 1)
            yield result

    def _named(self, new: syntax.Expr, names: dict[str, str], form: str) -> syntax.Expr:
        """Put names in place of old parts; their texts go to `names`."""

        def put(node: syntax.Expr) -> syntax.Expr:
            place = self._places.get(id(node))
            if place is None or isinstance(node, syntax.Ident):
                return node
            name = f"part_{len(names)}_as_it_was"
            names[name] = form.format(self._slice(place))
            return syntax.Ident(-len(names), name)

        return with_parts(new, put)

    def _slice(self, place: SourceNode) -> str:
        return self._text[place.start : place.end]


def _with_part(parent: syntax.Expr, old: syntax.Expr, new: syntax.Expr) -> syntax.Expr:
    return with_parts(parent, lambda node: new if node is old else node)
