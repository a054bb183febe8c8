"""Analyses what the expressions of a policy read, and what is certain at each point: what earlier
expressions have made sure of, and what follows once one was true or false.

`&&` and `||` absorb the errors of one side when the other decides, whatever the order, so each side
is read with what the other makes sure of. Match conditions come before everything else: where one
of them is false, nothing is evaluated. A message expression is evaluated only after its validation
was false. A variable is followed into its expression where it is used, with what is known there.

The rules at one node of a definition are read with what the others make sure of: where one of those
is false, the object is refused anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import reduce
from itertools import accumulate
from typing import Any, Final, NamedTuple

from celadon.admission.lint.findings import PolicyExpression, Role
from celadon.admission.lint.lint_context import (
    ITEM,
    NOTHING,
    OPERATIONS,
    Access,
    Facts,
    Path,
    Reading,
    there,
)
from celadon.cel import syntax
from celadon.kube import FieldPath, GroupVersionKind
from celadon.kube.crd import OLD_SELF, SELF
from celadon.kube.registry import create
from celadon.kube.releases import per_release
from celadon.kube.schemas import (
    ABSENT,
    DecodeError,
    Schema,
    component_name,
    escape,
    resolved,
    schema_for,
)
from celadon.kube.well_known_values import OBJECT_FIELDS

# --- Presence ----------------------------------------------------------------
#
# Which fields an object surely has when a policy sees it.
#
# A schema says what a client must send; a policy sees what defaulting made of it, and structs
# that Go always writes. So the least object of a kind is built that still has the parents of the
# field in question, and goes through the same stages as a created one.

_MAX_DEPTH: Final = 24
"""Levels of required fields that are filled in; no built-in kind needs as many."""
_NOW: Final = "2024-01-01T00:00:00Z"
_SCALARS: Final = {"integer": 1, "number": 1, "boolean": True}
_FORMATS: Final = {"date-time": _NOW, "byte": "eA==", "quantity": "1"}
_METADATA: Final = frozenset(
    {"creationTimestamp", "generation", "managedFields", "name", "namespace", "uid"}
)
"""What validating admission finds in the metadata of every object (`namespace` in namespaces)."""

_VALIDATED: Final[tuple[Path, ...]] = (
    ("containers", ITEM, "image"),
    ("initContainers", ITEM, "image"),
    ("spec", "selector", "matchLabels"),
    ("spec", "template"),
    ("spec", "template", "metadata", "labels"),
)
"""Ends of paths that API validation, which comes before validating admission, insists on."""


def field_schema(schema: Schema, path: Path) -> Schema | None:
    """Return the schema below a root's, `path` being the steps; None where it is not declared."""
    shape = resolved(schema)
    for step in path:
        if step == ITEM and shape.items is not None:
            inner: Schema | None = shape.items
        elif shape.additional_properties is not None:
            inner = shape.additional_properties
        else:
            inner = shape.properties.get(step)
        if inner is None:
            return None
        shape = resolved(inner)
    return shape


def is_present(schema: Schema, kind: GroupVersionKind, path: Path) -> bool:
    """Return whether an object that has the parent of this field also has the field."""
    if path == () or path[-1] == ITEM or (len(path) == 1 and path[0] in OBJECT_FIELDS):
        return True
    if path[0] == "metadata":
        return len(path) == 2 and path[1] in _METADATA
    parent = field_schema(schema, path[:-1])
    if parent is not None and parent.additional_properties is not None:
        return False
    if component_name(kind) is None:
        return _is_demanded(parent, path[-1])
    if any(path[-len(item) :] == item for item in _VALIDATED):
        return True
    return _built_in(kind, path)


def node_of_rule(schema: Schema, path: Path) -> Schema | None:
    """Return the schema that a rule at `schema` reads by this path, in which names are escaped."""
    schemas = _nodes_of_rule(schema, path)
    return schemas[0] if schemas else None


def is_demanded_of_rule(schema: Schema, path: Path, *, is_root: bool) -> bool:
    """Return whether a rule at `schema` finds this field where it finds the one above. What only
    some branches demand counts as demanded: which branch it is, is often said by another field."""
    if path[-1] == ITEM:
        return True
    parents = _nodes_of_rule(schema, path[:-1])
    if not parents or (path[-1] in OBJECT_FIELDS and parents[0].embedded_resource):
        return True
    if is_root and ((path[:-1] == () and path[0] in OBJECT_FIELDS) or path == ("metadata", "name")):
        return True
    if parents[0].additional_properties is not None:
        return False
    return any(_is_demanded(parent, _raw_name(parents[0], path[-1])) for parent in parents)


def _nodes_of_rule(schema: Schema, path: Path) -> list[Schema]:
    """Return the node at the end of a path, then what branches say of it; nothing if it is not
    declared."""
    nodes = _with_branches([schema])
    for step in path:
        name = _raw_name(nodes[0], step)
        below = [inner for node in nodes if (inner := _inner(node, name)) is not None]
        if _inner(nodes[0], name) is None:
            return []
        nodes = _with_branches(below)
    return nodes


def _inner(schema: Schema, step: str) -> Schema | None:
    if step == ITEM and schema.items is not None:
        return schema.items
    return schema.additional_properties or schema.properties.get(step)


def _with_branches(nodes: list[Schema]) -> list[Schema]:
    schemas = list(nodes)
    for schema in schemas:
        schemas += (*schema.all_of, *schema.any_of, *schema.one_of)
    return schemas


def _raw_name(schema: Schema, name: str) -> str:
    if name in schema.properties or "__" not in name:
        return name
    return next((raw for raw in schema.properties if escape(raw) == name), name)


def _is_demanded(parent: Schema | None, field: str) -> bool:
    """Return whether a custom resource must have the field: it is required, or has a default."""
    if parent is None or field in parent.required:
        return True
    member = parent.properties.get(field)
    return member is not None and member.default is not ABSENT


@per_release(maxsize=4096)
def _built_in(kind: GroupVersionKind, path: Path) -> bool:
    schema = schema_for(kind)
    assert schema is not None
    obj = _least(schema, path[:-1], 0)
    obj["metadata"] = {"name": "x", "namespace": "default"}
    try:
        admit_form: Any = create.admit_form(obj, kind)
    except DecodeError:
        return True  # the least object is not good enough to tell
    for step in path[:-1]:
        if step == ITEM:
            admit_form = next(
                iter(admit_form.values() if isinstance(admit_form, dict) else admit_form or ()),
                None,
            )
        else:
            admit_form = admit_form.get(step) if isinstance(admit_form, dict) else None
    return not isinstance(admit_form, dict) or path[-1] in admit_form


def _least(schema: Schema, path: Path, depth: int) -> Any:  # noqa: ANN401 - any JSON
    """Return the least value with the steps of `path` in it."""
    shape = resolved(schema)
    step, rest = (path[0], path[1:]) if path else ("", ())
    if shape.items is not None or shape.type == "array":
        return [] if shape.items is None else [_least(shape.items, rest, depth + 1)]
    if shape.additional_properties is not None:
        return {step: _least(shape.additional_properties, rest, depth + 1)} if step else {}
    if shape.type == "object":
        result = {}
        members = shape.properties
        for name in {*shape.required, step} & members.keys():
            if depth < _MAX_DEPTH:
                result[name] = _least(members[name], rest if name == step else (), depth + 1)
        return result
    if shape.type == "string":
        return shape.enum[0] if shape.enum else _FORMATS.get(shape.format, "x")
    return _SCALARS.get(shape.type, 1 if shape.int_or_string else {})


# --- Outcomes ----------------------------------------------------------------
#
# What is known once an expression was true, or false.
#
# Only what guards are made of in practice is understood: `has`, comparison with null, `in`,
# `request.operation`, and these below `&&`, `||`, `!` and `?:`; also that one field is there where
# another is (`has(a) == has(b)`, `!has(a) || has(b)`). Anything else tells nothing. In
# particular, that something was read without failing proves nothing to the other side of `&&`,
# which would fail in the same way.

RULE_VARIABLES: Final = frozenset({SELF, OLD_SELF})
"""Those of rules in definitions."""
ROOTS: Final = RULE_VARIABLES | {"object", "oldObject", "request", "params", "namespaceObject"}
_VARIABLES: Final = "variables"
OPERATION: Final = ("request", "operation")
_NULL_ON: Final[Mapping[Path | None, frozenset[str]]] = {
    ("object",): frozenset({"DELETE"}),
    ("oldObject",): frozenset({"CREATE", "CONNECT"}),
}
"""The operations on which a variable is null; on the others it is not."""


class Outcomes(NamedTuple):
    """Holds what is known where the expression is true, and where it is false."""

    if_true: Facts = NOTHING
    if_false: Facts = NOTHING

    def negated(self) -> Outcomes:
        return Outcomes(self.if_false, self.if_true)


UNKNOWN: Final = Outcomes()


class Names:
    """Holds what the names in an expression stand for: its local variables, by their paths, and
    the policy's `variables`."""

    def __init__(self, variables: Mapping[str, PolicyExpression]) -> None:
        self.variables = variables
        self.locals: dict[str, Path | None] = {}
        self._outcomes: dict[int, Outcomes] = {}
        self._open: set[str] = set()

    def forget(self) -> None:
        """Make ready for another expression after one was given up half way."""
        self.locals = {}
        self._open.clear()

    def variable(self, node: syntax.Expr) -> PolicyExpression | None:
        """Return the expression that `variables.x` means."""
        if node.__class__ is syntax.Select and not node.test_only:
            base = node.operand
            if base.__class__ is syntax.Ident and base.name == _VARIABLES:
                return self.variables.get(node.field)
        return None

    def path(self, node: syntax.Expr) -> Path | None:
        """Return the path that a chain of selections and indices reads."""
        steps: list[str] = []
        while True:
            if node.__class__ is syntax.Select:
                expression = self.variable(node)
                if expression is not None and expression.checked is not None:
                    if expression.name in self._open:
                        return None
                    self._open.add(expression.name)
                    base = self.path(expression.checked.root)
                    self._open.discard(expression.name)
                    return None if base is None else base + tuple(reversed(steps))
                steps.append(node.field)
                node = node.operand
            elif node.__class__ is syntax.Call and node.function in (
                syntax.INDEX,
                syntax.OPT_INDEX,
                syntax.OPT_SELECT,
            ):
                key = node.args[1]
                steps.append(_text(key) or ITEM)
                node = node.args[0]
            elif node.__class__ is syntax.Call and _is_empty_default(node):
                node = node.target or node
            elif node.__class__ is syntax.Ident:
                base = self.locals.get(node.name, (node.name,) if node.name in ROOTS else None)
                return None if base is None else base + tuple(reversed(steps))
            else:
                return None

    def outcomes(self, node: syntax.Expr) -> Outcomes:
        """INVARIANT (one scope per node): a node is always asked about with the same locals."""
        outcome = self._outcomes.get(id(node))
        if outcome is None:
            try:
                outcome = self._derive(node)
            except RecursionError:
                outcome = UNKNOWN
            self._outcomes[id(node)] = outcome
        return outcome

    def _derive(self, node: syntax.Expr) -> Outcomes:
        if node.__class__ is syntax.Select:
            if node.test_only:
                base = self.path(node.operand)
                return Outcomes(NOTHING if base is None else there((*base, node.field)))
            expression = self.variable(node)
            if expression is None or expression.checked is None:
                return UNKNOWN
            return self.outcomes(expression.checked.root)
        if node.__class__ is syntax.Call:
            return self._call(node)
        return UNKNOWN

    def _call(self, node: syntax.Call) -> Outcomes:
        args = node.args
        match node.function:
            case "_&&_":
                left, right = self.outcomes(args[0]), self.outcomes(args[1])
                return Outcomes(left.if_true.and_(right.if_true), left.if_false.or_(right.if_false))
            case "_||_":
                left, right = self.outcomes(args[0]), self.outcomes(args[1])
                one = left.if_true.or_(right.if_true)
                one = one.and_(self._implied(args[0], right, tested=False))
                one = one.and_(self._implied(args[1], left, tested=False))
                return Outcomes(one, left.if_false.and_(right.if_false))
            case "!_":
                return self.outcomes(args[0]).negated()
            case "_?_:_":
                return self._conditional(args)
            case "_==_":
                return self._equals(args)
            case "_!=_":
                return self._equals(args).negated()
            case "@in":
                return self._contained(args)
            case "hasValue" if node.target is not None:
                return Outcomes(there(self.path(node.target)))
        return UNKNOWN

    def _conditional(self, args: tuple[syntax.Expr, ...]) -> Outcomes:
        condition, then, otherwise = (self.outcomes(arg) for arg in args)
        yes, no = condition.if_true, condition.if_false
        if _is_literal(args[2], value=False):
            return Outcomes(yes.and_(then.if_true), no.or_(then.if_false))
        if _is_literal(args[1], value=True):
            return Outcomes(yes.or_(otherwise.if_true), no.and_(otherwise.if_false))
        one = yes.and_(then.if_true).or_(no.and_(otherwise.if_true))
        return Outcomes(
            one.and_(self._implied(args[0], then, tested=True)),
            yes.and_(then.if_false).or_(no.and_(otherwise.if_false)),
        )

    def _implied(self, test: syntax.Expr, outcomes: Outcomes, *, tested: bool) -> Facts:
        """Return what follows from this: if a test has that value, then another one, of these
        outcomes, is true."""
        test, is_negated = _unnegated(test)
        path = self._tested(test) if tested != is_negated else None
        return _implications(path, outcomes.if_true.present)

    def _tested(self, node: syntax.Expr) -> Path | None:
        """Return the path that a test is about, and nothing else."""
        base, field = None, ""
        if node.__class__ is syntax.Select and node.test_only:
            base, field = self.path(node.operand), node.field
        elif node.__class__ is syntax.Call and node.function == "@in":
            base, field = self.path(node.args[1]), _text(node.args[0]) or ""
        elif node.__class__ is syntax.Call and node.function == "hasValue" and node.target:
            return self.path(node.target)
        return (*base, field) if base is not None and field else None

    def _equals(self, args: tuple[syntax.Expr, ...]) -> Outcomes:
        left, right = args
        if left.__class__ is syntax.Literal:
            left, right = right, left
        if right.__class__ is not syntax.Literal:
            return self._alike(left, right)
        if right.value is None:
            return _null(self.path(left))
        if right.value.__class__ is bool:
            outcomes = self.outcomes(left)
            return outcomes if right.value else outcomes.negated()
        path = self.path(left)
        if path == OPERATION:
            return _operations({_text(right)})
        return UNKNOWN

    def _alike(self, left: syntax.Expr, right: syntax.Expr) -> Outcomes:
        """Return what is certain where two tests are equal, and so say the same."""
        (left, one_negated), (right, other_negated) = _unnegated(left), _unnegated(right)
        one, other = self._tested(left), self._tested(right)
        if one_negated != other_negated:
            return UNKNOWN
        facts = _implications(one, there(other).present)
        return Outcomes(facts.and_(_implications(other, there(one).present)))

    def _contained(self, args: tuple[syntax.Expr, ...]) -> Outcomes:
        element, container = args
        if container.__class__ is syntax.ListLiteral:
            if self.path(element) != OPERATION:
                return UNKNOWN
            texts = {_text(element) for element in container.elements}
            return UNKNOWN if None in texts else _operations(texts)
        base = self.path(container)
        if base is None:
            return UNKNOWN
        key = _text(element)
        return UNKNOWN if key is None else Outcomes(there((*base, key)))


def _unnegated(node: syntax.Expr) -> tuple[syntax.Expr, bool]:
    """Return what is below all `!`, and whether it is the other way round."""
    is_negated = False
    while node.__class__ is syntax.Call and node.function == "!_":
        node, is_negated = node.args[0], not is_negated
    return node, is_negated


def _implications(path: Path | None, present: Set[Path]) -> Facts:
    """Return that these paths are there if one is."""
    if path is None:
        return NOTHING
    return Facts(implied=frozenset((path, other) for other in present))


def _null(path: Path | None) -> Outcomes:
    """Return what is known of a value that is null or is not; whether an object is, depends on the
    operation."""
    there_is = there(path)
    if path not in _NULL_ON:
        return Outcomes(NOTHING, there_is)
    without = _NULL_ON[path]
    is_there = there_is.and_(Facts(operations=OPERATIONS - without))
    return Outcomes(Facts(operations=without), is_there)


def _operations(named: Set[str | None]) -> Outcomes:
    operations = OPERATIONS & named
    return Outcomes(Facts(operations=operations), Facts(operations=OPERATIONS - operations))


def _is_empty_default(node: syntax.Call) -> bool:
    """`x.orValue({})`: what is in it was in `x`."""
    if node.function != "orValue" or node.target is None:
        return False
    default = node.args[0]
    if default.__class__ is syntax.ListLiteral:
        return not default.elements
    return default.__class__ is syntax.MapLiteral and not default.entries


def _text(node: syntax.Expr) -> str | None:
    """Return the value of a string literal."""
    if node.__class__ is syntax.Literal and isinstance(node.value, str):
        return node.value
    return None


def _is_literal(node: syntax.Expr, *, value: bool) -> bool:
    return node.__class__ is syntax.Literal and node.value is value


# --- Flow --------------------------------------------------------------------

MAX_STEPS: Final = 20_000
"""Nodes of one expression that are looked at, counting variables as often as they are used."""


def accesses(
    expressions: Sequence[PolicyExpression], operations: frozenset[str]
) -> Iterator[Access]:
    """Yield every field that is read when the policy is evaluated for one of these operations."""
    variables = {
        expression.name: expression
        for expression in expressions
        if expression.role is Role.VARIABLE and expression.checked is not None
    }
    names = Names(variables)
    start = Facts(operations=operations)
    conditions = [expression for expression in expressions if expression.role is Role.CONDITION]
    tested = [_when_true(condition, names) for condition in conditions]
    matched = reduce(Facts.and_, tested, start)
    beside = dict(
        zip((condition.path for condition in conditions), _others(start, tested), strict=True)
    )
    yield from _walked(expressions, names, matched, beside)


def rule_accesses(
    expressions: Sequence[PolicyExpression], transitions: Set[int]
) -> Iterator[Access]:
    """Yield every field that the rules at a node and their messages read. `transitions` are the
    rules that are evaluated only in updates: nothing that they make sure of counts for the
    others."""
    names = Names({})
    rules = [expression for expression in expressions if expression.role is Role.RULE]
    tested = [_when_true(rule, names) for rule in rules]
    always = [
        NOTHING if rule.index in transitions else _held_before(facts)
        for rule, facts in zip(rules, tested, strict=True)
    ]
    stored = reduce(Facts.and_, always, Facts())
    in_updates, on_creation = _others(stored, tested), _others(Facts(), always)
    beside = {
        rule.path: update if rule.index in transitions else creation
        for rule, update, creation in zip(rules, in_updates, on_creation, strict=True)
    }
    yield from _walked(expressions, names, Facts(), beside)


def _held_before(facts: Facts) -> Facts:
    """Return what was true of what was stored, too: the rule is always evaluated."""
    before = {(OLD_SELF, *path[1:]) for path in facts.present if path[0] == SELF}
    implied = {
        ((OLD_SELF, *path[1:]), (OLD_SELF, *other[1:]))
        for path, other in facts.implied
        if path[0] == other[0] == SELF
    }
    return facts.and_(Facts(frozenset(before), implied=frozenset(implied)))


def _walked(
    expressions: Sequence[PolicyExpression],
    names: Names,
    matched: Facts,
    beside: Mapping[FieldPath, Facts],
) -> Iterator[Access]:
    """Yield what expressions read that are evaluated with what is known by `matched`, some of them
    with what others make sure of instead."""
    verdicts = {
        expression.index: expression
        for expression in expressions
        if expression.role in (Role.VALIDATION, Role.RULE)
    }
    for expression in expressions:
        facts = beside.get(expression.path, matched)
        if expression.role is Role.VARIABLE or expression.checked is None:
            continue
        if expression.role is Role.MESSAGE:
            verdict = verdicts[expression.index].checked
            if verdict is not None:
                facts = facts.and_(names.outcomes(verdict.root).if_false)
        walker = _Walker(expression, names)
        try:
            walker.visit(expression.checked.root, facts)
        except RecursionError:
            names.forget()  # what was found so far is true; nobody nests as deep by hand
        yield from walker.found


def _when_true(condition: PolicyExpression, names: Names) -> Facts:
    checked = condition.checked
    return NOTHING if checked is None else names.outcomes(checked.root).if_true


def _others(start: Facts, tested: Sequence[Facts]) -> list[Facts]:
    """Return for each of these facts what is known of all the others, in time that grows with their
    number alone."""
    before = list(accumulate(tested, Facts.and_, initial=start))
    after = list(accumulate(reversed(tested), Facts.and_, initial=NOTHING))
    after.reverse()
    return [facts.and_(other) for facts, other in zip(before, after[1:], strict=False)]


class _Walker:
    """Reads one expression, and the variables it uses."""

    def __init__(self, within: PolicyExpression, names: Names) -> None:
        self.found: list[Access] = []
        self._within = within
        self._names = names
        self._current = within
        self._entered: set[tuple[str, Facts]] = set()
        self._steps = 0

    def visit(self, node: syntax.Expr, facts: Facts) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            return
        if node.__class__ is syntax.Select:
            self._select(node, facts)
        elif node.__class__ is syntax.Call:
            self._call(node, facts)
        elif node.__class__ is syntax.Comprehension:
            self._comprehension(node, facts)
        else:
            for child in syntax.children(node):
                self.visit(child, facts)

    def _select(self, node: syntax.Select, facts: Facts) -> None:
        expression = self._names.variable(node)
        if expression is not None:
            self._enter(expression, facts)
            return
        self.visit(node.operand, facts)
        base = self._names.path(node.operand)
        if base is not None:
            reading = Reading.TEST if node.test_only else Reading.READ
            if _is_optional(node.operand):
                reading = Reading.OPTIONAL
            self._add((*base, node.field), reading, facts, node)

    def _enter(self, variable: PolicyExpression, facts: Facts) -> None:
        key = (variable.name, facts)
        if variable.checked is None or key in self._entered:
            return
        self._entered.add(key)
        outer, self._current = self._current, variable
        self.visit(variable.checked.root, facts)
        self._current = outer

    def _add(self, path: Path, reading: Reading, facts: Facts, node: syntax.Expr) -> None:
        self.found.append(Access(path, reading, facts, node, self._current, self._within))

    def _call(self, node: syntax.Call, facts: Facts) -> None:
        args = node.args
        outcomes = self._names.outcomes
        if node.function == syntax.LOGICAL_AND:
            self.visit(args[0], facts.and_(outcomes(args[1]).if_true))
            self.visit(args[1], facts.and_(outcomes(args[0]).if_true))
        elif node.function == syntax.LOGICAL_OR:
            self.visit(args[0], facts.and_(outcomes(args[1]).if_false))
            self.visit(args[1], facts.and_(outcomes(args[0]).if_false))
        elif node.function == syntax.CONDITIONAL:
            condition = outcomes(args[0])
            self.visit(args[0], facts)
            self.visit(args[1], facts.and_(condition.if_true))
            self.visit(args[2], facts.and_(condition.if_false))
        else:
            for child in syntax.children(node):
                self.visit(child, facts)
            if node.function in (syntax.INDEX, syntax.OPT_INDEX, syntax.OPT_SELECT):
                path = self._names.path(node)
                if path is not None:
                    reading = Reading.OPTIONAL if _is_optional(node) else Reading.READ
                    self._add(path, reading, facts, node)
            elif node.function == "value" and node.target is not None:
                path = self._names.path(node.target)
                if path is not None:
                    self._add(path, Reading.VALUE, facts, node)

    def _comprehension(self, node: syntax.Comprehension, facts: Facts) -> None:
        self.visit(node.iter_range, facts)
        self.visit(node.accu_init, facts)
        over = self._names.path(node.iter_range)
        item = None if over is None else (*over, ITEM)
        inner: Mapping[str, Path | None] = {
            node.iter_var: None if node.iter_var2 else item,
            node.iter_var2: item,
            node.accu_var: self._names.path(node.accu_init),
        }
        hidden = dict(self._names.locals)
        self._names.locals.update(inner)
        # There is an item, so what it is an item of is there, too.
        with_item = facts.and_(there(over))
        self.visit(node.condition, with_item)
        self.visit(node.step, with_item)
        self.visit(node.result, facts)
        self._names.locals = hidden


def _is_optional(node: syntax.Expr) -> bool:
    """Return whether it gives an optional, so that fields below it may be absent."""
    while node.__class__ is syntax.Select:
        node = node.operand
    if node.__class__ is not syntax.Call:
        return False
    if node.function in (syntax.OPT_SELECT, syntax.OPT_INDEX):
        return True
    return node.function == syntax.INDEX and _is_optional(node.args[0])
