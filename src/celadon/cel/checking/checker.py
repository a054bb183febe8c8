"""The checker: gives every node a type, every name and call a reference, or says why not.

`check` walks the tree once, arguments before calls. What it learns goes into two tables keyed by
node id. The tree itself is not touched: where a name turns out to mean something longer or shorter
than what was written (`a.b` one variable, `optional.of(x)` a function of that name), the node is
replaced by one with the same id, and so are its ancestors; all other nodes are shared.

A mistake gives one issue and the type `error`, which passes everywhere like dyn, so that what
follows from the mistake is not reported again. Type variables that are still free at the end
become dyn.

The order in which things are checked, and the fresh variables that are taken on the way, show in
messages; they are those of cel-go `checker/checker.go`.

House rule 10: nodes are dispatched through a dict of functions instead of `match`, and each
function calls the next through that dict: one Python frame per level of nesting is what lets an
expression as deep as the parser admits be checked within Python's stack (and it is 15 % faster).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from celadon.cel.checking import check_messages
from celadon.cel.checking.overload_resolution import (
    FunctionIndex,
    Substitution,
    TypesTooLarge,
    fresh_variable,
)
from celadon.cel.checking.scope import Declarations, Identifier
from celadon.cel.errors import Issue, IssueKind, Issues
from celadon.cel.parsing.unparser import render
from celadon.cel.syntax import (
    OPT_SELECT,
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
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Kind,
    Type,
    is_optional,
    list_of,
    map_of,
    optional_of,
)
from celadon.cel.values.text import Uint

_ANY = Kind.ANY
_DYN = Kind.DYN
_ERROR = Kind.ERROR
_LIST = Kind.LIST
_MAP = Kind.MAP
_OBJECT = Kind.OBJECT
_PARAM = Kind.TYPE_PARAM

_LITERAL_TYPES: Final[dict[type, Type]] = {
    type(None): NULL,
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
}
_OPT_SELECT_REFERENCE = Reference(OPT_SELECT, ("select_optional_field",))


def check(ast: Ast, scope: Declarations) -> tuple[CheckedAst | None, Issues]:
    """Return the checked tree, or None with the issues that say why there is none."""
    checker = _Checker(ast, scope)
    try:
        root = _CHECK[ast.root.__class__](checker, ast.root)
        if checker.issues:
            return None, checker.issues
        checker.settle()
    except (RecursionError, TypesTooLarge) as refusal:
        issues = Issues(ast.source)
        is_deep = isinstance(refusal, RecursionError)
        issues.add(check_messages.TOO_DEEP if is_deep else check_messages.TOO_LARGE, None)
        return None, issues
    if root is not ast.root:
        ast = Ast(root, ast.source, ast.positions, ast.macro_calls)
    return CheckedAst(ast, checker.types, checker.references), checker.issues


class _Checker:
    """Holds what one check has found so far.

    `locals` are the variables of the comprehensions around the current node. `fresh` is the number
    of the next type variable. `cross_type` becomes true for good at the first comprehension: there
    cel-go loses the filter that keeps mixed numeric comparisons out.
    """

    __slots__ = (
        "cross_type",
        "fresh",
        "issues",
        "locals",
        "positions",
        "references",
        "scope",
        "substitution",
        "types",
    )

    def __init__(self, ast: Ast, scope: Declarations) -> None:
        self.scope = scope
        self.positions = ast.positions
        self.types: dict[int, Type] = {}
        self.references: dict[int, Reference] = {}
        self.issues = Issues(ast.source)
        self.locals: dict[str, Identifier] = {}
        self.substitution = Substitution(
            nullable_joins=scope.nullable_joins, nodes=len(ast.positions)
        )
        self.fresh = 0
        self.cross_type = scope.cross_type_numeric_comparisons

    def report(
        self,
        node_id: int,
        message: str,
        kind: IssueKind = IssueKind.OTHER,
        types: Iterable[Type] = (),
    ) -> None:
        offset = self.positions.get(node_id)
        self.issues.append(Issue(message, offset, node_id, kind, tuple(types)))

    def mismatch(self, node_id: int, expected: Type, actual: Type) -> None:
        """Note that a node is of another type than it has to be."""
        message = check_messages.type_mismatch(expected, actual)
        self.report(node_id, message, IssueKind.TYPE_MISMATCH, (expected, actual))

    def settle(self) -> None:
        """Put the types that type variables came to stand for into the table of types."""
        types = self.types
        substitute = self.substitution.substitute
        for node_id, t in types.items():
            if t.params or t.kind is _PARAM:
                types[node_id] = substitute(t, to_dyn=True)

    def known(self, t: Type) -> Type:
        """Return the type with what is known of its parameters filled in."""
        return self.substitution.substitute(t) if t.params or t.kind is _PARAM else t

    def new_variable(self) -> Type:
        self.fresh += 1
        return fresh_variable(self.fresh - 1)

    def enter(self, name: str, t: Type) -> Identifier | None:
        """Declare a local variable; return the one of that name that it hides."""
        hidden = self.locals.get(name)
        self.locals[name] = Identifier(t, Reference(name))
        return hidden

    def leave(self, name: str, hidden: Identifier | None) -> None:
        if hidden is None:
            self.locals.pop(name, None)
        else:
            self.locals[name] = hidden

    def find(self, name: str) -> Identifier | None:
        """Find a simple or qualified name. Locals are never qualified.

        A global that a leading dot reaches past a local of the same name keeps its dot, so that
        whoever reads the tree later can tell the two.
        """
        first = name.removeprefix(".").partition(".")[0]
        if self.scope.older_names:
            return self.locals.get(name.removeprefix(".")) or self.scope.find_identifier(name)
        if first in self.locals:
            if name[0] != ".":
                return self.locals[name] if name == first else None
            find_identifier = self.scope.find_identifier(name)
            if find_identifier is None:
                return None
            reference = Reference(
                f".{find_identifier.reference.name}", value=find_identifier.reference.value
            )
            return Identifier(find_identifier.type, reference)
        return self.scope.find_identifier(name)


def _check_unspecified(checker: _Checker, node: Unspecified) -> Expr:
    checker.report(node.id, check_messages.unexpected_node("unspecified"))
    checker.types[node.id] = ERROR
    return node


def _check_literal(checker: _Checker, node: Literal) -> Expr:
    checker.types[node.id] = _LITERAL_TYPES[node.value.__class__]
    return node


def _check_ident(checker: _Checker, node: Ident) -> Expr:
    name = node.name
    identifier = checker.locals.get(name) or checker.find(name)
    if identifier is None:
        checker.report(node.id, check_messages.undeclared_reference(name, checker.scope.container))
        checker.types[node.id] = ERROR
        return node
    return _resolved(checker, node, identifier)


def _resolved(checker: _Checker, node: Ident | Select, identifier: Identifier) -> Ident:
    """Record what the node names, and give it that name."""
    checker.types[node.id] = identifier.type
    checker.references[node.id] = identifier.reference
    name = identifier.reference.name
    if node.__class__ is Ident and node.name == name:
        return node
    return Ident(node.id, name)


def _check_select(checker: _Checker, node: Select) -> Expr:
    """Check a whole chain `a.b.c` at once, without recursion: its longest prefix that is a name,
    then one field after the other."""
    chain = [node]
    base = node.operand
    while base.__class__ is Select:
        chain.append(base)
        base = base.operand
    name = _longest_name(checker, base, chain) if base.__class__ is Ident else None
    checked: Expr = name or _CHECK[base.__class__](checker, base)
    types = checker.types
    operand_type = types[checked.id]
    while chain:
        link = chain.pop()
        operand_type = _field_type(checker, link.id, operand_type, link.field, optional=False)
        if link.test_only:
            operand_type = BOOL
        types[link.id] = operand_type
        if checked is link.operand:
            checked = link
        else:
            checked = Select(link.id, checked, link.field, link.test_only)
    return checked


def _longest_name(checker: _Checker, base: Ident, chain: list[Select]) -> Ident | None:
    """Return the longest prefix of the chain that is one declared name; take its links off the
    chain."""
    scope = checker.scope
    if not scope.may_qualify(base.name) or (base.name in checker.locals and not scope.older_names):
        return None
    names = [base.name]
    for link in reversed(chain):
        if link.test_only:
            break
        names.append(link.field)
    for length in range(len(names), 1, -1):
        identifier = checker.find(".".join(names[:length]))
        if identifier is not None:
            link = chain[len(chain) - length + 1]
            del chain[len(chain) - length + 1 :]
            return _resolved(checker, link, identifier)
    return None


def _field_type(
    checker: _Checker, node_id: int, operand: Type, field: str, *, optional: bool
) -> Type:
    """Return the type of `operand.field`, or of `operand.?field` if `optional`."""
    operand = checker.known(operand)
    if is_optional(operand):
        optional = True
        operand = operand.params[0]
    kind = operand.kind
    result = DYN
    if kind is _DYN or kind is _ANY or kind is _ERROR:
        pass
    elif kind is _MAP:
        result = operand.params[1]
    elif kind is _OBJECT:
        result = _declared_field(checker, node_id, operand.name, field)
    elif kind is _PARAM:
        checker.substitution.assignable(DYN, operand)
    else:
        checker.report(node_id, check_messages.no_field_selection(operand))
    return optional_of(result) if optional else result


def _declared_field(checker: _Checker, node_id: int, type_name: str, field: str) -> Type:
    find_field = checker.scope.find_field(type_name, field)
    if find_field is None:
        if checker.scope.has_fields(type_name):
            checker.report(node_id, check_messages.undefined_field(field))
        else:
            checker.report(node_id, check_messages.failed_resolution(type_name))
        return ERROR
    return find_field


def _check_call(checker: _Checker, node: Call) -> Expr:
    if node.function == OPT_SELECT:
        return _check_optional_select(checker, node)
    types = checker.types
    checked: list[Expr] = []
    arguments: list[Type] = []
    for arg in node.args:
        checked_arg = _CHECK[arg.__class__](checker, arg)
        checked.append(checked_arg)
        arguments.append(types[checked_arg.id])
    target = node.target
    member = False
    function = None
    if target is not None:
        function = _namespaced(checker, target, node.function)
        if function is None:
            member = True
            target = _CHECK[target.__class__](checker, target)
            arguments.insert(0, types[target.id])
        else:
            target = None
    function = function or checker.scope.find_function(node.function)
    if function is None:
        message = check_messages.undeclared_reference(node.function, checker.scope.container)
        checker.report(node.id, message)
        types[node.id] = ERROR
        return node
    if function.is_logical:
        types[node.id] = _check_logical(checker, node, function, arguments)
    else:
        types[node.id] = _resolve(checker, node.id, function, arguments, member=member)
    args = tuple(checked)
    if args == node.args and target is node.target and function.name == node.function:
        return node
    return Call(node.id, function.name, target, args)


def _namespaced(checker: _Checker, target: Expr, function: str) -> FunctionIndex | None:
    """Return the function that `target.function` names as a whole, if target is a chain of
    names."""
    segments = [function]
    while target.__class__ is Select and not target.test_only:
        segments.append(target.field)
        target = target.operand
    if target.__class__ is not Ident:
        return None
    segments.append(target.name)
    return checker.scope.find_function(".".join(reversed(segments)))


def _resolve(
    checker: _Checker, node_id: int, function: FunctionIndex, arguments: list[Type], *, member: bool
) -> Type:
    table = function.table(member=member, arity=len(arguments), cross_type=checker.cross_type)
    resolution = table.resolve(checker.substitution, arguments, checker.fresh)
    checker.fresh += table.fresh
    if resolution is None:
        types = [checker.substitution.substitute(t, to_dyn=True) for t in arguments]
        message = check_messages.no_matching_overload(function.name, types, member=member)
        checker.report(node_id, message, IssueKind.NO_OVERLOAD, types)
        return ERROR
    checker.references[node_id] = resolution.reference
    return resolution.type


def _check_logical(
    checker: _Checker, node: Call, function: FunctionIndex, arguments: list[Type]
) -> Type:
    """`&&` and `||` blame the operand, not the operator."""
    failed = False
    for arg, t in zip(node.args, arguments):  # noqa: B905  # same length by construction
        if not checker.substitution.assignable(t, BOOL):
            checker.mismatch(arg.id, BOOL, t)
            failed = True
    if failed:
        return ERROR
    checker.references[node.id] = function.table(member=False, arity=2, cross_type=False).reference(
        (0,)
    )
    return BOOL


def _check_optional_select(checker: _Checker, node: Call) -> Expr:
    operand, field = node.args
    if field.__class__ is not Literal or field.value.__class__ is not str:
        checker.report(
            field.id, check_messages.not_an_optional_selection(render(field, lambda _: ""))
        )
        checker.types[node.id] = ERROR
        return node
    checked = _CHECK[operand.__class__](checker, operand)
    operand_type = checker.types[checked.id]
    checker.types[node.id] = _field_type(checker, node.id, operand_type, field.value, optional=True)
    checker.references[node.id] = _OPT_SELECT_REFERENCE
    if checked is operand:
        return node
    return Call(node.id, OPT_SELECT, None, (checked, field))


def _check_list(checker: _Checker, node: ListLiteral) -> Expr:
    element: Type | None = None
    checked: list[Expr] = []
    optional = node.optional
    for position, item in enumerate(node.elements):
        checked_item = _CHECK[item.__class__](checker, item)
        checked.append(checked_item)
        t = checker.types[checked_item.id]
        if optional and position in optional:
            t = _unwrapped(checker, item.id, t)
        if element is None:
            element = t
        elif element is not t:
            element = checker.substitution.join(element, t)
    checker.types[node.id] = list_of(element or checker.new_variable())
    elements = tuple(checked)
    return node if elements == node.elements else ListLiteral(node.id, elements, optional)


def _unwrapped(checker: _Checker, value_id: int, t: Type) -> Type:
    """Return the type inside the optional that `?` calls for."""
    if is_optional(t):
        return t.params[0]
    if t.kind is not _DYN and t.kind is not _ANY:
        checker.mismatch(value_id, optional_of(t), t)
    return t


def _check_map(checker: _Checker, node: MapLiteral) -> Expr:
    key: Type | None = None
    value: Type | None = None
    types = checker.types
    join = checker.substitution.join
    entries = []
    for entry in node.entries:
        checked_key = _CHECK[entry.key.__class__](checker, entry.key)
        t = types[checked_key.id]
        key = t if key is None or key is t else join(key, t)
        checked_value = _CHECK[entry.value.__class__](checker, entry.value)
        t = types[checked_value.id]
        if entry.optional:
            t = _unwrapped(checker, entry.value.id, t)
        value = t if value is None or value is t else join(value, t)
        if checked_key is not entry.key or checked_value is not entry.value:
            entry = MapEntry(entry.id, checked_key, checked_value, entry.optional)
        entries.append(entry)
    if key is None or value is None:
        key = checker.new_variable()
        value = checker.new_variable()
    types[node.id] = t = map_of(key, value)
    checker.substitution.walk(t)
    checked = tuple(entries)
    return node if checked == node.entries else MapLiteral(node.id, checked)


def _check_struct(checker: _Checker, node: Struct) -> Expr:
    find_type = checker.scope.find_type(node.type_name)
    if find_type is None:
        container = checker.scope.container
        checker.report(node.id, check_messages.undeclared_reference(node.type_name, container))
        checker.types[node.id] = ERROR
        return node
    name = find_type.reference.name
    checker.references[node.id] = Reference(name)
    if find_type.type.kind is not Kind.TYPE:
        checker.report(node.id, check_messages.not_a_type(find_type.type.runtime_name))
        checker.types[node.id] = ERROR
        return Struct(node.id, name, _checked_fields(checker, name, node))
    result = find_type.type.params[0]
    message_name = checker.scope.message_of(find_type)
    if message_name is None:
        checker.report(node.id, check_messages.not_a_message_type(result.runtime_name))
        result = ERROR
    else:
        name = message_name
    checker.types[node.id] = result
    fields = _checked_fields(checker, name, node)
    resolved = checker.references[node.id].name
    if fields == node.fields and resolved == node.type_name:
        return node
    return Struct(node.id, resolved, fields)


def _checked_fields(checker: _Checker, name: str, node: Struct) -> tuple[StructField, ...]:
    return tuple([_check_field(checker, name, field) for field in node.fields])


def _check_field(checker: _Checker, type_name: str, field: StructField) -> StructField:
    value = _CHECK[field.value.__class__](checker, field.value)
    expected = _declared_field(checker, field.id, type_name, field.name)
    actual = checker.types[value.id]
    if field.optional:
        actual = _unwrapped(checker, value.id, actual)
    if not checker.substitution.assignable(expected, actual):
        checker.report(field.id, check_messages.field_type_mismatch(field.name, expected, actual))
    if value is field.value:
        return field
    return StructField(field.id, field.name, value, field.optional)


def _check_comprehension(checker: _Checker, node: Comprehension) -> Expr:
    types = checker.types
    iter_range = _CHECK[node.iter_range.__class__](checker, node.iter_range)
    accu_init = _CHECK[node.accu_init.__class__](checker, node.accu_init)
    accu_type = types[accu_init.id]
    first, second = _iteration_types(checker, node, types[iter_range.id])
    checker.cross_type = True
    hidden_accu = checker.enter(node.accu_var, accu_type)
    hidden_first = checker.enter(node.iter_var, first)
    hidden_second = checker.enter(node.iter_var2, second) if node.iter_var2 else None
    condition = _CHECK[node.condition.__class__](checker, node.condition)
    _expect(checker, node.condition.id, BOOL)
    step = _CHECK[node.step.__class__](checker, node.step)
    _expect(checker, node.step.id, accu_type)
    if node.iter_var2:
        checker.leave(node.iter_var2, hidden_second)
    checker.leave(node.iter_var, hidden_first)
    result = _CHECK[node.result.__class__](checker, node.result)
    checker.leave(node.accu_var, hidden_accu)
    types[node.id] = checker.known(types[result.id])
    if (
        iter_range is node.iter_range
        and accu_init is node.accu_init
        and condition is node.condition
        and step is node.step
        and result is node.result
    ):
        return node
    return Comprehension(
        node.id,
        iter_range,
        node.iter_var,
        node.iter_var2,
        node.accu_var,
        accu_init,
        condition,
        step,
        result,
    )


def _iteration_types(checker: _Checker, node: Comprehension, over: Type) -> tuple[Type, Type]:
    """Return the types of the iteration variables; the second is of no use in the one-variable
    form."""
    over = checker.known(over)
    kind = over.kind
    if kind is _LIST:
        element = over.params[0]
        return (INT, element) if node.iter_var2 else (element, element)
    if kind is _MAP:
        return over.params[0], over.params[1]
    if kind is _DYN or kind is _ERROR:
        return DYN, DYN
    if kind is _PARAM:
        checker.substitution.assignable(DYN, over)
        return DYN, DYN
    message = check_messages.not_a_range(over)
    checker.report(node.iter_range.id, message, IssueKind.NOT_A_RANGE, (over,))
    return ERROR, ERROR


def _expect(checker: _Checker, node_id: int, expected: Type) -> None:
    actual = checker.types[node_id]
    if not checker.substitution.assignable(expected, actual):
        checker.mismatch(node_id, expected, actual)


_CHECK: Final[dict[type, Callable[[_Checker, Any], Expr]]] = {
    Literal: _check_literal,
    Ident: _check_ident,
    Select: _check_select,
    Call: _check_call,
    ListLiteral: _check_list,
    MapLiteral: _check_map,
    Struct: _check_struct,
    Comprehension: _check_comprehension,
    Unspecified: _check_unspecified,
}


# --- Trees that nobody checks ------------------------------------------------
#
# Parsed trees made runnable without a check.
#
# CEL may be evaluated unchecked: names are resolved by the longest one that is declared, functions
# are dispatched by name at run time, everything is dyn. What the checker would refuse becomes a
# run-time error where it is reached (cel-go `interpreter/planner.go` on parse-only trees).

Locals = frozenset[str]


def without_check(ast: Ast, declarations: Declarations) -> CheckedAst:
    """Return the tree with names resolved as far as declarations allow; all types dyn."""
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
        """Return the identifier a (qualified) name stands for, if it is declared."""
        first = name.partition(".")[0]
        if first in names:
            return Ident(node_id, name) if first == name else None
        find_identifier = self.declarations.find_identifier(name)
        if find_identifier is None:
            return None
        self.references[node_id] = find_identifier.reference
        if find_identifier.type.kind is Kind.TYPE or find_identifier.reference.value is not None:
            self.types[node_id] = find_identifier.type
        resolved = find_identifier.reference.name
        return Ident(node_id, f".{resolved}" if resolved in names else resolved)

    def _select(self, node: Select, names: Locals) -> Expr:
        if not node.test_only:
            qualified = _qualified(node)
            ident = self._named(node.id, qualified, names) if qualified else None
            if ident is not None:
                return ident
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
