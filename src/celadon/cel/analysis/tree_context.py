"""The facts about a tree that all generators need: types, constants, resolved functions."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeGuard

from celadon.cel import declarations, syntax
from celadon.cel.cost import CostRule
from celadon.cel.runtime import implementation, searching
from celadon.cel.syntax import (
    Call,
    CheckedAst,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    LiteralValue,
    MapLiteral,
    Select,
)
from celadon.cel.types import DYN, Kind, Type, is_optional
from celadon.cel.values import Value
from celadon.cel.values.conversions import CONSTRUCTORS, unknown_type
from celadon.cel.values.maps import MixedMap
from celadon.cel.values.text import Remembered, Uint
from celadon.records import dataclass, field

# --- Attribute chains --------------------------------------------------------
#
# Attribute chains: a base value and the selects and indexes applied to it.
#
# cel-go evaluates `object.spec.containers[0].image` as one attribute with qualifiers, and both
# its cost model and its optional semantics are defined on that whole (reference, section 8.6
# and 11.3).


class Step(NamedTuple):
    """One qualifier: a constant `key`, or `expr` to be evaluated (then `key` is None)."""

    node: Select | Call
    key: LiteralValue
    expr: Expr | None = None
    optional: bool = False

    @property
    def operand(self) -> Expr:
        """Return what the qualifier is applied to."""
        return self.node.operand if isinstance(self.node, Select) else self.node.args[0]


class Chain(NamedTuple):
    """An expression as the base that it starts from and the keys applied to it, in order."""

    base: Expr
    steps: tuple[Step, ...]

    @property
    def is_optional(self) -> bool:
        """Does a step begin with `?`, so that the value is an optional?"""
        return any(step.optional for step in self.steps)

    def constant_keys(self) -> tuple[str, ...] | None:
        """Return the keys, if all of them are constant strings and none is optional."""
        keys = tuple(
            step.key
            for step in self.steps
            if step.expr is None and not step.optional and step.key.__class__ is str
        )
        return keys if len(keys) == len(self.steps) else None


def last_step(node: Expr) -> tuple[Expr, Step] | None:
    """Return the operand and the qualifier this node adds, or None if it is not part of a chain."""
    if isinstance(node, Select):
        return None if node.test_only else (node.operand, Step(node, node.field))
    if isinstance(node, Call) and node.target is None and len(node.args) == 2:
        operand, key = node.args
        if node.function == syntax.OPT_SELECT and isinstance(key, Literal):
            return operand, Step(node, key.value, None, optional=True)
        if node.function in (syntax.INDEX, syntax.OPT_INDEX):
            optional = node.function == syntax.OPT_INDEX
            if isinstance(key, Literal):
                return operand, Step(node, key.value, None, optional)
            return operand, Step(node, None, key, optional)
    return None


def is_attribute(node: Expr) -> bool:
    """Return whether cel-go evaluates this as an attribute: a name, a chain, a test of presence, a
    conditional."""
    if isinstance(node, Call):
        return is_conditional(node) or last_step(node) is not None
    return isinstance(node, (Ident, Select))


def is_conditional(node: Expr) -> TypeGuard[Call]:
    """Return whether it is `test ? yes : no`."""
    return isinstance(node, Call) and node.function == syntax.CONDITIONAL


def chain_of(node: Expr) -> Chain:
    """Return the longest chain that ends in this node (no steps if it is not a select or index)."""
    steps: list[Step] = []
    while (last := last_step(node)) is not None:
        node, step = last
        steps.append(step)
    steps.reverse()
    return Chain(node, tuple(steps))


#: Python classes a value of a checked type certainly has, once something of ours computed it.
SCALAR_CLASSES: Mapping[Kind, type] = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.UINT: Uint,
    Kind.DOUBLE: float,
    Kind.STRING: str,
    Kind.BYTES: bytes,
}
_CLASSES: Mapping[Kind, type] = {**SCALAR_CLASSES, Kind.LIST: list}

#: Operators on operands of one kind, of which they also return one, but for times.
_ARITHMETIC = frozenset(
    {syntax.ADD, syntax.SUBTRACT, syntax.MULTIPLY, syntax.DIVIDE, syntax.MODULO, syntax.NEGATE}
)

#: Kinds of values that come out of an attribute as they went in.
SETTLED_KINDS = frozenset(
    {*SCALAR_CLASSES, Kind.NULL, Kind.TIMESTAMP, Kind.DURATION, Kind.LIST, Kind.MAP}
)
_SCALAR_KINDS = frozenset({*SCALAR_CLASSES, Kind.NULL, Kind.TIMESTAMP, Kind.DURATION, Kind.TYPE})
_CONTAINERS = frozenset({list, dict, MixedMap})
_EQUALITY = frozenset({syntax.EQUALS, syntax.NOT_EQUALS})
#: Of values that may be large.
_MADE_KINDS = frozenset({Kind.STRING, Kind.BYTES, Kind.LIST, Kind.MAP})
#: So many calls that are hardly charged may stand side by side.
_FEW_CALLS: Final = 16
_ABSTRACT_KINDS = frozenset({Kind.OPAQUE, Kind.OBJECT})
_OPEN_KINDS = frozenset({Kind.DYN, Kind.ANY, Kind.TYPE_PARAM})
#: A caller chooses how many arguments a call has; what is kept must stay bounded.
_REMEMBERED_ARITY = 16
_TAKING_ALL = frozenset({Kind.DYN, Kind.TYPE_PARAM})


class ResolvedCall:
    """All that is known of a call by its name, the overloads that the checker left open and the
    number of its arguments, receiver included: the same for all such calls of an environment."""

    __slots__ = ("_impl", "candidates", "cost_rule", "function", "growths", "overload", "runnable")

    def __init__(
        self, function: declarations.Function | None, ids: tuple[str, ...], arity: int
    ) -> None:
        overloads = () if function is None else function.overloads
        fitting = tuple(o for o in overloads if len(o.params) == arity)
        chosen = tuple(o for o in overloads if o.id in ids)
        self.function = function
        #: The one the checker settled on, or None while several are possible.
        self.overload = next(iter(chosen), None) if len(ids) == 1 else None
        #: Those that the checker left; without a check, all for that many arguments.
        self.candidates = chosen if ids else fitting
        #: Those that may run: more than the candidates where the arguments' classes decide.
        is_settled = len(self.candidates) == 1 and (function is None or function.singleton is None)
        self.runnable = self.candidates if is_settled else fitting
        #: How sizes grow, whichever of them runs.
        self.growths = tuple(dict.fromkeys(o.result_growth for o in self.runnable))
        #: The rule that charges the call; None is cel-go's default of 1.
        overload_cost = None if self.overload is None else self.overload.cost
        self.cost_rule = overload_cost or (None if function is None else function.cost)
        self._impl: declarations.Impl | None = None

    def impl(self, ids: tuple[str, ...]) -> declarations.Impl | None:
        """Return the callable that runs such a call, argument checks included."""
        if self._impl is None and self.function is not None:
            self._impl = self.function.singleton or implementation(self.function, ids)
        return self._impl


ResolvedCalls = dict[tuple[object, int], ResolvedCall]
"""By what the checker resolved a call to, and the number of arguments."""


@dataclass(frozen=True, slots=True)
class Context:
    """Holds what is known of the nodes of a tree. `folded` maps node ids to constant values (see
    `constant_folding`); `functions` are the environment's; `constants` are identifiers that denote
    values (types, enum constants). With `has_schema` a program does not know the objects that the
    checker found (see `Declarations`). `resolved` remembers calls, for all programs of an
    environment."""

    checked: CheckedAst
    folded: Mapping[int, Value]
    functions: Mapping[str, declarations.Function]
    constants: Mapping[int, Any] = field(default_factory=dict)
    switches: declarations.Switches = declarations.DEFAULT_SWITCHES
    find_object: Callable[[str], declarations.ObjectType | None] = lambda name: None
    resolved: ResolvedCalls = field(default_factory=dict)
    has_schema: bool = False
    mentions_bytes: bool = field(init=False)
    has_optionals: bool = field(init=False)
    boxes_optionals: bool = field(init=False)
    mistypes_tests: bool = field(init=False)

    def __post_init__(self) -> None:
        """Look through the types once: may the expression make bytes (no JSON has any), are there
        optionals, may they get where the types do not show them, and where they show a bool?"""
        # by identity: hashing types took a quarter of the time of making a program
        types = {id(t): t for t in self.checked.types.values()}.values()
        object.__setattr__(self, "mentions_bytes", any(t.kind is Kind.BYTES for t in types))
        has_optionals = any(map(is_optional, types))
        object.__setattr__(self, "has_optionals", has_optionals)
        mistypes = has_optionals and _has_tests_as_branches(self.checked)
        object.__setattr__(self, "mistypes_tests", mistypes)
        boxes = has_optionals and (
            mistypes or any(map(_holds_optionals, types)) or _has_dynamic_optionals(self.checked)
        )
        object.__setattr__(self, "boxes_optionals", boxes)

    def presence(self, name: str) -> str:
        """Return the run-time function of that name, or the one that fails where nothing has
        fields."""
        if not self.switches.bad_presence_test_is_error:
            return name
        return f"{name[:-2]}_strictly_v" if name.endswith("_v") else f"{name}_strictly"

    @property
    def map_maker(self) -> str:
        """The run-time function that makes a map of pairs."""
        return "make_strict_map" if self.switches.strict_map_keys else "make_map"

    @property
    def optional_map_maker(self) -> str:
        """The run-time function that makes a map of pairs, some of them optional."""
        strict = self.switches.strict_map_keys
        return "strict_map_with_optionals" if strict else "map_with_optionals"

    def may_be_optional(self, node: Expr) -> bool:
        """May the value be an optional?"""
        t = self.checked.types.get(node.id, DYN)
        return is_optional(t) or self._may_hide_optional(node)

    def tests_optional(self, node: Expr) -> bool:
        """Return whether it is `has()` over what may be an optional. As a part of another attribute
        (a branch of a conditional, a key) cel-go never asks whether it found anything: the value is
        the optional of what it found, though its type says bool."""
        if not (isinstance(node, syntax.Select) and node.test_only):
            return False
        chain = chain_of(node.operand)
        return chain.is_optional or self.may_be_optional(chain.base)

    def certain_in_attribute(self, node: Expr) -> type | None:
        """`certain`, of a part of another attribute."""
        return None if self.tests_optional(node) else self.certain(node)

    def may_reopen(self, node: Expr) -> bool:
        """May the value be an optional that does not come out of an attribute as it went in (see
        `values.runtime_types`)?"""
        t = self.checked.types.get(node.id, DYN)
        if is_optional(t):
            return self.mistypes_tests or not (t.params and t.params[0].kind in SETTLED_KINDS)
        return self._may_hide_optional(node) and not self.is_constant(node)

    def _may_hide_optional(self, node: Expr) -> bool:
        """May the value be an optional, whatever its type says? Types say little where anything is
        dynamic: `dyn(optional.of(x)).orValue(1)` is an int to the checker."""
        return self.boxes_optionals and self.certain(node) is None

    def is_constant(self, node: Expr) -> bool:
        """Is the node's value known before anything runs, as a literal or by folding?"""
        return isinstance(node, Literal) or node.id in self.folded

    def constant(self, node: Expr) -> Any:
        """Return the value of a node for which `is_constant` holds."""
        if node.id in self.folded:
            return self.folded[node.id]
        assert isinstance(node, Literal), "callers ask is_constant first"
        return node.value

    def overload_ids(self, node: Call) -> tuple[str, ...]:
        """Return the overloads that the checker left open, in declaration order; empty for
        unchecked calls."""
        reference = self.checked.references.get(node.id)
        return reference.overloads if reference else ()

    def is_unpaid(self, node: Expr) -> bool:
        """Return whether it is a call that may be hardly charged although it is much work."""
        if not isinstance(node, Call) or node.id in self.folded:
            return False
        function = self.function(node)
        if function is None or function.unpaid is None:
            return False
        if node.function in _EQUALITY:
            return not any(map(self._is_scalar, node.args))
        if node.function == syntax.MAP_INSERT:
            return len(node.args) == 2  # a whole map
        if node.function != syntax.IN:
            return True
        element, container = node.args
        if len(self.overload_ids(node)) == 1:  # each element is charged, but not what is in it
            return not self._is_scalar(element)
        return not self.is_constant(container)

    def _is_scalar(self, node: Expr) -> bool:
        """Return whether it is quick to compare with anything, if it is of its type."""
        if self.is_constant(node):
            return self.constant(node).__class__ not in _CONTAINERS
        return self.checked.types.get(node.id, DYN).kind in _SCALAR_KINDS

    def repeats_unpaid_work(self) -> bool:
        """May such calls be made again and again: in a loop, or because there are many?"""
        return self._are_repeated(self._unpaid_calls())

    def counts_unpaid_work(self) -> bool:
        """May they also be made by expressions that keep what they make while others make more?"""
        calls = self._unpaid_calls()
        return any(map(self._makes_values, calls)) or self._are_repeated(calls)

    def _unpaid_calls(self) -> list[Expr]:
        return [node for node in self.checked.nodes if self.is_unpaid(node)]

    def _are_repeated(self, calls: Sequence[Expr]) -> bool:
        return len(calls) > _FEW_CALLS or (
            bool(calls)
            and any(
                isinstance(node, syntax.Comprehension) and not isinstance(classify(node), Bind)
                for node in self.checked.nodes
            )
        )

    def _makes_values(self, node: Expr) -> bool:
        return isinstance(node, Call) and any(
            candidate.result.kind in _MADE_KINDS
            for candidate in self.resolved_call(node).candidates
        )

    def constructor(self, type_name: str) -> declarations.Impl:
        """Return what turns a message literal's fields into a value."""
        declared = self.find_object(type_name)
        if declared is not None and declared.construct is not None:
            return declared.construct
        made_by = CONSTRUCTORS.get(type_name)
        return made_by or (partial(unknown_type, type_name) if self.has_schema else dict)

    def _returned(self, node: Call) -> type | None:
        """Return the class that all overloads a call may come to return. Operators take what comes,
        whichever overload was resolved, and return what is right for that."""
        function, ids = self.function(node), self.overload_ids(node)
        if function is None or not ids:
            return None
        kinds = {o.result.kind for o in function.overloads if o.id in ids}
        classes = _CLASSES.get(kinds.pop()) if len(kinds) == 1 else None
        if node.function in _ARITHMETIC and not self._has_operand_of(node, classes):
            return None
        return classes

    def _has_operand_of(self, node: Expr, kind: type | None) -> bool:
        """Is one operand in a row of operators surely of this class? No operator mixes it with
        another, so that the result is of it, too."""
        while isinstance(node, Call) and node.function in _ARITHMETIC:
            node, *others = node.args
            if any(self._is_plainly(other, kind) for other in others):
                return True
        return self._is_plainly(node, kind)

    def _is_plainly(self, node: Expr, kind: type | None) -> bool:
        """Return whether a node is of a class for certain, without looking into further rows, which
        may be nested deeply."""
        is_row = isinstance(node, Call) and node.function in _ARITHMETIC
        return self.certain(node) is kind if not is_row or self.is_constant(node) else False

    def function(self, node: Call) -> declarations.Function | None:
        """Return the declaration behind a call; None for a function that nobody declared (unchecked
        trees)."""
        return self.functions.get(node.function)

    def resolved_call(self, node: Call) -> ResolvedCall:
        """Return what is known of calls like this one."""
        reference = self.checked.references.get(node.id)
        arity = len(node.args) + (node.target is not None)
        key = (node.function if reference is None else reference, arity)
        call = self.resolved.get(key)
        if call is None:
            ids = () if reference is None else reference.overloads
            call = ResolvedCall(self.functions.get(node.function), ids, arity)
            if arity <= _REMEMBERED_ARITY:
                self.resolved[key] = call
        return call

    def impl(self, node: Call) -> declarations.Impl | None:
        """Return the callable that runs this call, argument checks included; None if nothing
        can."""
        resolved = self.resolved_call(node)
        if resolved.function is not None and self.has_constant_pattern(node):
            return searching(resolved.function)
        return resolved.impl(self.overload_ids(node))

    def direct_impl(self, node: Call) -> declarations.Impl | None:
        """Return the callable without the checks that what is known of the arguments makes
        needless."""
        overload, function = self.overload(node), self.function(node)
        if (
            overload is None
            or overload.impl is None
            or function is None
            or function.singleton is not None
            or self.has_constant_pattern(node)
        ):
            return self.impl(node)
        operands = node.args if node.target is None else (node.target, *node.args)
        pairs = zip(operands, overload.params, strict=True)
        trusted = all(self._is_of(*pair) for pair in pairs)
        return overload.impl if trusted else self.impl(node)

    def _is_of(self, node: Expr, param: Type) -> bool:
        """Return whether the value surely has the class of this parameter."""
        if param.kind in SCALAR_CLASSES:
            return self.certain(node) is SCALAR_CLASSES[param.kind]
        return param.kind in _TAKING_ALL or self.is_made(node, param)

    def is_chosen_late(self, node: Call) -> bool:
        """Is the overload chosen when the call runs, by the classes of its arguments?"""
        function = self.function(node)
        return (
            function is not None
            and function.singleton is None
            and len(function.overloads) > 1
            and len(self.overload_ids(node)) != 1
        )

    def is_variadic(self, node: Call) -> bool:
        """Is the one overload called as functions of any number of arguments are?"""
        overload = self.overload(node)
        return overload is not None and overload.variadic

    def has_constant_pattern(self, node: Call) -> bool:
        """Return whether it is a search for a constant regular expression, which cel-go compiles
        when it makes the program, and then calls without regard to types."""
        function = self.function(node)
        if function is None or function.pattern is None or not self.switches.fold_constants:
            return False
        operands = node.args if node.target is None else (node.target, *node.args)
        if not function.pattern < len(operands):
            return False
        pattern = operands[function.pattern]
        return self.is_constant(pattern) and self.constant(pattern).__class__ is str

    def overload(self, node: Call) -> declarations.Overload | None:
        """Return the overload the checker settled on, or None while several are possible."""
        return self.resolved_call(node).overload

    def is_made(self, node: Expr, expected: Type) -> bool:
        """Is the value surely of this abstract type, because a function returned it?"""
        return (
            isinstance(node, Call)
            and expected.kind in _ABSTRACT_KINDS
            and not expected.params
            and bool(self.overload_ids(node))
            and all(overload.result == expected for overload in self.resolved_call(node).runnable)
        )

    def remembered(self, node: Call) -> Remembered[Value] | None:
        """Return what runs for a call of one overload that remembers what it made of texts."""
        overload, function = self.overload(node), self.function(node)
        if overload is None or function is None or function.singleton is not None:
            return None
        return overload.impl if isinstance(overload.impl, Remembered) else None

    def inline(self, node: Call) -> declarations.Inline | None:
        """Return how the call may be written inline: all candidates must agree."""
        candidates = self.resolved_call(node).candidates
        form = candidates[0].inline if candidates else None
        return form if all(o.inline is form for o in candidates) else None

    def cost_rule(self, node: Call) -> CostRule | None:
        """Return the rule that charges this call; None is cel-go's default of 1."""
        return self.resolved_call(node).cost_rule

    def certain(self, node: Expr) -> type | None:
        """Return the class the value surely has, or None. Declared types of variables and fields
        are not trusted: the values behind them come from outside."""
        if self.is_constant(node):
            value = self.constant(node)
            return type(value)
        match node:
            case Call(function=syntax.CONDITIONAL):
                yes, no = map(self.certain_in_attribute, node.args[1:])
                return yes if yes is no else None
            case Call(function=syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT | "dyn"):
                return None
            case Call(function="orValue" | "value" | "or"):
                return None
            case Call():
                return self._returned(node)
            case ListLiteral():
                return list
            case syntax.Select(test_only=True):
                return bool
            case Comprehension() if node.iter_var != syntax.UNUSED:
                return _CLASSES.get(self.checked.types[node.id].kind)
            case MapLiteral() | Ident():
                return None
            case _:
                return None


def _holds_optionals(t: Type) -> bool:
    return any(is_optional(part) or _holds_optionals(part) for part in t.params)


def _has_dynamic_optionals(checked: CheckedAst) -> bool:
    """Is an optional an operand of what may give it on as something dynamic?"""
    types = checked.types
    return any(
        is_optional(types.get(part.id, DYN))
        for node in checked.nodes
        if _takes_all(node, types.get(node.id, DYN))
        for part in _given_parts(node)
    )


def _has_tests_as_branches(checked: CheckedAst) -> bool:
    """Is a test of presence a branch of a conditional?"""
    return any(
        isinstance(branch, syntax.Select) and branch.test_only
        for node in checked.nodes
        if isinstance(node, Call) and node.function == syntax.CONDITIONAL
        for branch in node.args[1:]
    )


def _given_parts(node: Expr) -> Iterable[Expr]:
    """Return what may become the value, or a part of it: what an optional receiver holds is known
    to its type."""
    match node:
        case Call():
            return node.args
        case ListLiteral():
            return (e for i, e in enumerate(node.elements) if i not in node.optional)
        case MapLiteral():
            return (entry.value for entry in node.entries if not entry.optional)
        case _:
            return ()


def _takes_all(node: Expr, t: Type) -> bool:
    """Is the value, or what a literal of this type holds, something dynamic?"""
    types = (t,) if isinstance(node, Call) else t.params
    return any(part.kind in _OPEN_KINDS for part in types)


def terms(node: Call) -> list[Expr]:
    """Return the operands of a run of the same logical operator, left to right."""
    result: list[Expr] = []
    stack: list[Expr] = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, Call) and top.function == node.function:
            stack += reversed(top.args)
        else:
            result.append(top)
    return result


# --- Comprehension shapes ----------------------------------------------------
#
# What a comprehension does, recognised from its parts.
#
# Macros expand to one general node (`syntax.Comprehension`) that says how to iterate, not what
# for. Code for the general form would build a new list per step; so each pass that cares (both
# code generators, the cost bound) asks `classify` what the node means and works on that.
#
# Every comprehension that a macro of this package produces is recognised. `classify` returns a
# `Fold` for anything else (hand-built trees), which the generators run literally.


class Quantifier(enum.Enum):
    """The macros that stop at the first decisive element: `false` for `all`, `true` for
    `exists`."""

    ALL = "all"
    EXISTS = "exists"


class Quantified(NamedTuple):
    """Is `all` or `exists`: absorbing, it stops at the decisive element."""

    quantifier: Quantifier
    predicate: Expr


class ExistsOne(NamedTuple):
    """Is `exists_one`, which is true if the predicate holds for exactly one element."""

    predicate: Expr


class Collect(NamedTuple):
    """Is `map`, `filter` or `transformList`: it appends `element` where `predicate` (if any)
    holds."""

    element: Expr
    predicate: Expr | None


class Insert(NamedTuple):
    """Is `transformMap` (key and value) or `transformMapEntry` (`key` None, value a map)."""

    key: Expr | None
    value: Expr
    predicate: Expr | None


class Bind(NamedTuple):
    """Is `optMap`, `sortBy` or `cel.bind`: one lazily computed name for one expression."""

    name: str
    value: Expr
    body: Expr


class Fold:
    """Is a fold that is none of the above: condition, step and result as they stand."""

    __slots__ = ()


Shape = Quantified | ExistsOne | Collect | Insert | Bind | Fold


def classify(node: Comprehension) -> Shape:
    """Return the meaning of a comprehension (constant time)."""
    if node.iter_var == syntax.UNUSED:
        return Bind(node.accu_var, node.accu_init, node.result)
    accu = node.accu_var
    init = node.accu_init
    step, predicate, conditional = node.step, None, False
    if isinstance(step, Call) and step.function == syntax.CONDITIONAL and _is(step.args[2], accu):
        predicate, step, conditional = step.args[0], step.args[1], True
    match init:
        case Literal(value=bool()) if not conditional:
            return _quantified(node, step)
        case Literal() if conditional and init.value == 0 and predicate is not None:
            return ExistsOne(predicate)
        case ListLiteral(elements=()) if _call(step, syntax.ADD, accu, 2):
            appended = step.args[1]  # type: ignore[union-attr]  # _call checked that it is a Call
            if isinstance(appended, ListLiteral) and len(appended.elements) == 1:
                return Collect(appended.elements[0], predicate)
        case MapLiteral(entries=()) if _call(step, syntax.MAP_INSERT, accu, 3):
            return Insert(step.args[1], step.args[2], predicate)  # type: ignore[union-attr]  # as above
        case MapLiteral(entries=()) if _call(step, syntax.MAP_INSERT, accu, 2):
            return Insert(None, step.args[1], predicate)  # type: ignore[union-attr]  # as above
        case _:
            pass
    return Fold()


def _quantified(node: Comprehension, step: Expr) -> Shape:
    if _call(step, syntax.LOGICAL_AND, node.accu_var, 2):
        return Quantified(Quantifier.ALL, step.args[1])  # type: ignore[union-attr]  # _call checked
    if _call(step, syntax.LOGICAL_OR, node.accu_var, 2):
        return Quantified(Quantifier.EXISTS, step.args[1])  # type: ignore[union-attr]  # _call checked
    return Fold()


def mapped_element(node: Comprehension) -> Expr | None:
    """Return what `list.map(x, ...)` makes of each element; None for any other comprehension."""
    shape = classify(node)
    if not isinstance(shape, Collect) or shape.predicate is not None or node.iter_var2:
        return None
    return shape.element


def macro_call(node: Comprehension) -> Call | None:
    """Return a call of a macro that expands to a node of this meaning, for people to read; None if
    no macro does. Its variables get negative ids, which no parsed node has."""
    shape = classify(node)
    match shape:
        case Bind():
            name = Ident(-2 * node.id, shape.name)
            return Call(node.id, "cel.bind", None, (name, shape.value, shape.body))
        case Fold():
            return None
    names = [node.iter_var, node.iter_var2] if node.iter_var2 else [node.iter_var]
    variables = (Ident(-2 * node.id - number, name) for number, name in enumerate(names))
    macro, parts = _macro_parts(node, shape)
    arguments = (part for part in parts if part is not None)
    return Call(node.id, macro, node.iter_range, (*variables, *arguments))


def _macro_parts(
    node: Comprehension, shape: Quantified | ExistsOne | Collect | Insert
) -> tuple[str, tuple[Expr | None, ...]]:
    """Return the name of a macro with that shape, and its arguments behind the variables."""
    match shape:
        case Quantified():
            return shape.quantifier.value, (shape.predicate,)
        case ExistsOne():
            return "exists_one", (shape.predicate,)
        case Collect() if node.iter_var2:
            return "transformList", (shape.predicate, shape.element)
        case Collect() if _is(shape.element, node.iter_var):
            return "filter", (shape.predicate,)
        case Collect():
            return "map", (shape.predicate, shape.element)
        case Insert(key=None):
            return "transformMapEntry", (shape.predicate, shape.value)
        case Insert():
            return "transformMap", (shape.predicate, shape.value)


def _is(node: Expr, name: str) -> bool:
    return isinstance(node, Ident) and node.name == name


def _call(node: Expr, function: str, accu: str, arity: int) -> bool:
    """Is this `function(accu, ...)` with that many arguments?"""
    return (
        isinstance(node, Call)
        and node.function == function
        and len(node.args) == arity
        and _is(node.args[0], accu)
    )


def optional_mapping(node: Expr) -> tuple[Expr, Bind] | None:
    """`t.optMap(v, e)` as the optional `t` and what is made of its value, or None."""
    if not (isinstance(node, Call) and node.function == syntax.CONDITIONAL):
        return None
    test, yes, no = node.args
    if not (
        isinstance(test, Call) and test.function == "hasValue" and test.target is not None
        and isinstance(yes, Call) and yes.function == "optional.of" and len(yes.args) == 1
        and isinstance(no, Call) and no.function == "optional.none"
    ):  # fmt: skip
        return None
    body = yes.args[0]
    shape = classify(body) if isinstance(body, Comprehension) else None
    if not isinstance(shape, Bind) or not isinstance(shape.value, Call):
        return None
    return (test.target, shape) if shape.value.function == "value" else None
