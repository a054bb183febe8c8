"""Parsed trees made runnable without a check.

CEL may be evaluated unchecked: names are resolved by the longest one that is declared, functions
are dispatched by name at run time, everything is dyn. What the checker would refuse becomes a
run-time error where it is reached (cel-go `interpreter/planner.go` on parse-only trees).
"""

from __future__ import annotations

from celadon.cel.checking.scope import Declarations
from celadon.cel.syntax import (
    UNMATCHED,
    Ast,
    Call,
    CheckedAst,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapEntry,
    MapLiteral,
    Reference,
    Select,
    Struct,
    StructField,
    Unspecified,
)
from celadon.cel.types import DYN, Kind, Type

Locals = frozenset[str]


def without_check(ast: Ast, declarations: Declarations) -> CheckedAst:
    """The tree with names resolved as far as declarations allow; all types dyn."""
    resolver = _Resolver(declarations)
    root = resolver.resolve(ast.root, frozenset())
    return CheckedAst(
        Ast(root, ast.source, ast.positions, ast.macro_calls), resolver.types, resolver.references
    )


class _Resolver:
    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.types: dict[int, Type] = {}
        self.references: dict[int, Reference] = {}

    def resolve(self, node: Expr, names: Locals) -> Expr:
        self.types[node.id] = DYN
        match node:
            case Literal() | Unspecified():
                return node
            case Ident():
                return self._named(node.id, node.name, names) or node
            case Select():
                return self._select(node, names)
            case Call():
                return self._call(node, names)
            case ListLiteral():
                return ListLiteral(node.id, self._all(node.elements, names), node.optional)
            case MapLiteral():
                return MapLiteral(node.id, tuple(self._entry(e, names) for e in node.entries))
            case Struct():
                fields = tuple(
                    StructField(f.id, f.name, self.resolve(f.value, names), f.optional)
                    for f in node.fields
                )
                return Struct(node.id, self._type_name(node.type_name), fields)
            case Comprehension():
                return self._comprehension(node, names)

    def _all(self, nodes: tuple[Expr, ...], names: Locals) -> tuple[Expr, ...]:
        return tuple(self.resolve(node, names) for node in nodes)

    def _entry(self, entry: MapEntry, names: Locals) -> MapEntry:
        key, value = self.resolve(entry.key, names), self.resolve(entry.value, names)
        return MapEntry(entry.id, key, value, entry.optional)

    def _named(self, node_id: int, name: str, names: Locals) -> Ident | None:
        """The identifier a (qualified) name stands for, if it is declared."""
        first = name.partition(".")[0]
        if first in names:
            return Ident(node_id, name) if first == name else None
        found = self.declarations.find_identifier(name)
        if found is None:
            return None
        self.references[node_id] = found.reference
        if found.type.kind is Kind.TYPE or found.reference.value is not None:
            self.types[node_id] = found.type
        resolved = found.reference.name
        return Ident(node_id, f".{resolved}" if resolved in names else resolved)

    def _select(self, node: Select, names: Locals) -> Expr:
        if not node.test_only:
            qualified = _qualified(node)
            found = self._named(node.id, qualified, names) if qualified else None
            if found is not None:
                return found
        return Select(node.id, self.resolve(node.operand, names), node.field, node.test_only)

    def _call(self, node: Call, names: Locals) -> Expr:
        function, target = node.function, node.target
        if target is not None:
            qualified = _qualified(target)
            if qualified and qualified.partition(".")[0] not in names:
                index = self.declarations.find_function(f"{qualified}.{function}")
                if index is not None:
                    function, target = index.function.name, None
        elif (index := self.declarations.find_function(function)) is not None:
            function = index.function.name
        self.references[node.id] = Reference(function)
        resolved = None if target is None else self.resolve(target, names)
        args = self._all(node.args, names)
        operands = args if resolved is None else (resolved, *args)
        if not self._takes(function, len(operands)):
            return Call(node.id, UNMATCHED, None, (Literal(node.id, function), *operands))
        return Call(node.id, function, resolved, args)

    def _takes(self, function: str, arity: int) -> bool:
        """Return whether a call with so many operands may find an overload; whatever is not
        declared may be called with any number."""
        declared = self.declarations.functions.get(function)
        return declared is None or any(len(o.params) == arity for o in declared.overloads)

    def _comprehension(self, node: Comprehension, names: Locals) -> Comprehension:
        inside = names | {node.accu_var}
        looped = inside | {node.iter_var, node.iter_var2}
        return Comprehension(
            node.id,
            self.resolve(node.iter_range, names),
            node.iter_var,
            node.iter_var2,
            node.accu_var,
            self.resolve(node.accu_init, names),
            self.resolve(node.condition, looped),
            self.resolve(node.step, looped),
            self.resolve(node.result, inside),
        )

    def _type_name(self, name: str) -> str:
        for candidate in self.declarations.candidates(name):
            if self.declarations.find_object(candidate) is not None:
                return candidate
        return name


def _qualified(node: Expr) -> str:
    """`a.b.c` as a name, or empty if the node is anything else."""
    fields: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        fields.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return ""
    return ".".join([node.name, *reversed(fields)])
