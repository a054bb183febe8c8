"""Resolves a function and the types of its arguments to the overloads that may run and a result
type.

One `OverloadTable` per function, call style and number of arguments, built when first asked for
and shared by all environments that share the function. It holds only the overloads that can match
at all, so that `_+_` on two ints does not look at ten signatures of other shapes.

Every match counts, not just the first (cel-go `checker/checker.go`, `resolveOverload`): the ids of
all candidates are kept for dispatch at run time, and differing result types become dyn.

Numbers of fresh type variables (`_var7`) show in messages, and cel-go takes a number for each
parameter of each overload it tries, whatever its arity. INVARIANT (fresh numbers):
`Candidate.first` and `OverloadTable.fresh` count these, overloads not in the table included.

Answers for the plainest argument types (ints, strings, dyn, ...) depend on nothing but those types
and are remembered. The memory is bounded: it takes no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from celadon.cel.declarations import Function, Overload
from celadon.cel.syntax import LOGICAL_AND, LOGICAL_OR, Reference
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Kind,
    Type,
    is_dyn,
    type_param,
)

# --- Assignability -----------------------------------------------------------
#
# When a value of one type may stand where another is expected, and what that binds.
#
# Type parameters (`A` of a signature, `_var0` of an empty list) are variables. A `Substitution`
# is what a check has learnt about them so far; `assignable` asks a question and, when the
# answer is yes, keeps what it had to assume. When it is no, nothing is kept (cel-go
# `checker/types.go` copies its mapping for that; here a trail of changes is undone, because
# copies grow with the expression).
#
# The relation is not symmetric in its side effects: `assignable(actual, expected)`.
#
# Kinds are compared by identity, one after the other, because hashing an enum member costs more
# than the whole comparison (measured: 0.15 µs against 0.02 µs).

_ANY = Kind.ANY
_DYN = Kind.DYN
_ERROR = Kind.ERROR
_LIST = Kind.LIST
_MAP = Kind.MAP
_NULL = Kind.NULL
_OPAQUE = Kind.OPAQUE
_PARAM = Kind.TYPE_PARAM
_TYPE = Kind.TYPE
_WRAPPER = Kind.WRAPPER

# --- Types that share their parts --------------------------------------------
#
# `{a: a}` has the type of `a` twice: forty of them in a row are a type of 2^40 parts, in no more
# memory than forty. Whoever walks or prints such a type never ends, so a check counts the parts
# that it walks through. cel-go does not.

_STEPS = 100_000
_STEPS_PER_NODE = 200
"""How many parts of types a check walks through, for each node of the expression; ten or twenty is
what expressions need that somebody has written."""


class TypesTooLarge(Exception):
    """The types of an expression have too many parts to be walked through."""


_NULLABLE = (
    Kind.OPAQUE,
    Kind.OBJECT,
    Kind.ANY,
    Kind.DURATION,
    Kind.TIMESTAMP,
    Kind.NULL,
    Kind.WRAPPER,
)


class Substitution:
    """Holds what is known about type parameters, by name.

    With `nullable_joins`, null and a type that admits it have that type in common, and a primitive
    and its wrapper the wrapper; without, cel-go's rules give the second of the two.

    `nodes` is how large the expression is. What walks through types raises TypesTooLarge when that
    has become too much.

    INVARIANT (acyclic): following bindings from any parameter ends; `_occurs` guards every bind.
    """

    __slots__ = ("_bindings", "_nullable_joins", "_steps_left", "_trail")

    def __init__(self, *, nullable_joins: bool = False, nodes: int = 0) -> None:
        self._nullable_joins = nullable_joins
        self._steps_left = _STEPS + _STEPS_PER_NODE * nodes
        self._bindings: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []

    def assignable(self, actual: Type, expected: Type) -> bool:
        """Return whether a value of `actual` may stand where `expected` is wanted. Type parameters
        that this binds stay bound if so, and are as before if not."""
        if actual is expected:
            return True
        return self._keep_if(success=self._fits(actual, expected))

    def all_assignable(self, actual: Sequence[Type], expected: Sequence[Type]) -> bool:
        """Pairwise and in order; False when the numbers differ."""
        if len(actual) != len(expected):
            return False
        for type_, other in zip(actual, expected):  # noqa: B905  # strict= costs; compared above
            if type_ is not other and not self._fits(type_, other):
                return self._keep_if(success=False)
        return self._keep_if(success=True)

    def join(self, previous: Type, current: Type) -> Type:
        """Return the type of a literal's elements so far; dyn when two do not go together."""
        if self.assignable(previous, current):
            return self._most_general(previous, current)
        return DYN

    def substitute(self, t: Type, *, to_dyn: bool = False) -> Type:
        """`t` with bound parameters replaced; unbound ones become dyn if `to_dyn`."""
        while t.kind is _PARAM:
            bound = self._bindings.get(t.name)
            if bound is None:
                return DYN if to_dyn else t
            t = bound
        params = t.params
        if not params:
            return t
        self._count_steps(len(params))
        changed = False
        replaced = []
        for param in params:
            new = (
                self.substitute(param, to_dyn=to_dyn)
                if param.params or param.kind is _PARAM
                else param
            )
            changed = changed or new is not param
            replaced.append(new)
        return Type(t.kind, t.name, tuple(replaced)) if changed else t

    def walk(self, t: Type) -> None:
        """Walk through a type that was put together of others: nobody will print one, or compare
        it, that cannot be walked through."""
        self._count_steps(len(t.params))
        for param in t.params:
            if param.params:
                self.walk(param)

    def _count_steps(self, parts: int) -> None:
        self._steps_left -= parts
        if self._steps_left < 0:
            raise TypesTooLarge

    def _keep_if(self, *, success: bool) -> bool:
        """End an attempt: forget the trail, after undoing it unless the attempt succeeded."""
        trail = self._trail
        if trail:
            if not success:
                for name, before in reversed(trail):
                    if before is None:
                        del self._bindings[name]
                    else:
                        self._bindings[name] = before
            trail.clear()
        return success

    def _bind(self, name: str, t: Type) -> None:
        self._trail.append((name, self._bindings.get(name)))
        self._bindings[name] = t

    def _fits(self, t1: Type, t2: Type) -> bool:
        """One frame per level of nesting, so that deep types stay within Python's stack."""
        if t1 is t2:
            return True
        k1, k2 = t1.kind, t2.kind
        if k2 is _PARAM:
            valid, bound = self._substitutes(t1, t2)
            if valid or bound:
                return valid
        if k1 is _PARAM:
            return self._substitutes(t2, t1)[0]
        if k1 is _DYN or k2 is _DYN or k1 is _ANY or k2 is _ANY or k1 is _ERROR or k2 is _ERROR:
            return True
        if k1 is _NULL or k2 is _NULL:
            return any((k2 if k1 is _NULL else k1) is kind for kind in _NULLABLE)
        if k1 is _TYPE:
            return k2 is _TYPE
        if t1.name != t2.name:
            return False
        if k1 is _LIST or k1 is _MAP or k1 is _OPAQUE:
            if k1 is not k2 or len(t1.params) != len(t2.params):
                return False
            self._count_steps(len(t1.params))
            return all(map(self._fits, t1.params, t2.params))
        return k1 is k2 or k1 is _WRAPPER or k2 is _WRAPPER

    def _substitutes(self, t: Type, parameter: Type) -> tuple[bool, bool]:
        """Return whether `t` may be what `parameter` stands for, and whether that had a binding."""
        name = parameter.name
        if t.kind is _PARAM and t.name == name:
            return True, True
        bound = self._bindings.get(name)
        if bound is None:
            if self._occurs(name, t):
                return False, False
            self._bind(name, t)
            return True, False
        if t is bound or t == bound:
            return True, True
        if not self._fits(t, bound):
            return False, True
        general = self._most_general(t, bound)
        if general is not bound and not self._occurs(name, general):
            self._bind(name, general)
        return True, True

    def _most_general(self, a: Type, b: Type) -> Type:
        if self._nullable_joins and a.kind is not b.kind:
            if a.kind is _NULL or b.kind is _WRAPPER:
                return a if is_dyn(a) else b
            if b.kind is _NULL or a.kind is _WRAPPER:
                return b if is_dyn(b) else a
        return most_general(a, b)

    def _occurs(self, name: str, within: Type) -> bool:
        """Return whether a parameter is within the type, directly or through bindings: the occurs
        check."""
        while within.kind is _PARAM:
            if within.name == name:
                return True
            bound = self._bindings.get(within.name)
            if bound is None:
                return False
            within = bound
        self._count_steps(len(within.params))
        for param in within.params:
            if (param.params or param.kind is _PARAM) and self._occurs(name, param):
                return True
        return False


def most_general(a: Type, b: Type) -> Type:
    """Return the less specific of two types that go together; `a` when they are equal."""
    return a if a is b or _is_equal_or_less_specific(a, b) else b


def _is_equal_or_less_specific(a: Type, b: Type) -> bool:
    ka, kb = a.kind, b.kind
    if a is b or ka is _DYN or ka is _ANY or ka is _PARAM:
        return True
    if kb is _DYN or kb is _ANY or kb is _PARAM:
        return False
    if ka is not kb:
        return a.name == b.name and (ka is _WRAPPER or kb is _WRAPPER)
    if ka is _TYPE:
        return True
    if a.name != b.name or len(a.params) != len(b.params):
        return False
    return all(map(_is_equal_or_less_specific, a.params, b.params))


_MIXED = ("int64_double", "int64_uint64", "uint64_double", "uint64_int64", "double_int64")
#: The overloads that exist only with `cross_type_numeric_comparisons`.
CROSS_TYPE_OVERLOADS = frozenset(
    f"{order}_{pair}"
    for order in ("less", "less_equals", "greater", "greater_equals")
    for pair in (*_MIXED, "double_uint64")
)

_PLAIN = frozenset(
    id(t) for t in (BOOL, BYTES, DOUBLE, DURATION, DYN, INT, NULL, STRING, TIMESTAMP, UINT)
)
_OPEN = (Kind.TYPE_PARAM, Kind.DYN, Kind.ANY, Kind.ERROR, Kind.NULL)
_FRESH = tuple(type_param(f"_var{number}") for number in range(64))


class Candidate(NamedTuple):
    """Holds an overload that a call may resolve to. `first` is the number of its first fresh
    variable, counted from the start of the call."""

    overload: Overload
    type_params: tuple[str, ...]
    first: int


class Resolution(NamedTuple):
    """The type of a call's result and the overloads that may run."""

    type: Type
    reference: Reference


def fresh_variable(number: int) -> Type:
    """Return the type parameter `_var<number>`, which stands for a type still to be found."""
    return _FRESH[number] if number < 64 else type_param(f"_var{number}")


class OverloadTable:
    """The overloads of one function for one call style and number of arguments.

    `fresh` is how many fresh variables one resolution takes.
    """

    __slots__ = ("_references", "_remembered", "candidates", "fresh", "name")

    def __init__(self, name: str, candidates: tuple[Candidate, ...], fresh: int) -> None:
        self.name = name
        self.candidates = candidates
        self.fresh = fresh
        self._references: dict[tuple[int, ...], Reference] = {}
        self._remembered: dict[tuple[int, ...], Resolution] = {}

    def resolve(
        self, substitution: Substitution, arguments: Sequence[Type], counter: int
    ) -> Resolution | None:
        """Return the overloads that fit; None when nothing matches. `counter` is the next fresh
        variable's number."""
        key = tuple(map(id, arguments))
        remembered = self._remembered.get(key)
        if remembered is not None:
            return remembered
        result: Type | None = None
        matched: list[int] = []
        for position, candidate in enumerate(self.candidates):
            result_type = _match(substitution, candidate, arguments, counter)
            if result_type is None:
                continue
            matched.append(position)
            if result is None:
                result = result_type
            elif result is not DYN and result is not result_type and result != result_type:
                result = DYN
        if result is None:
            return None
        resolution = Resolution(result, self.reference(tuple(matched)))
        if _PLAIN.issuperset(key) and not _has_parameters(result):
            self._remembered[key] = resolution
        return resolution

    def reference(self, matched: tuple[int, ...]) -> Reference:
        """Return the reference to those candidates, given by their positions."""
        reference = self._references.get(matched)
        if reference is None:
            ids = tuple(self.candidates[position].overload.id for position in matched)
            reference = self._references[matched] = Reference(self.name, ids)
        return reference


class FunctionIndex:
    """A function and its overload tables."""

    __slots__ = ("_tables", "function", "is_logical", "name")

    def __init__(self, function: Function) -> None:
        self.function = function
        self.name = function.name
        self.is_logical = function.name in (LOGICAL_AND, LOGICAL_OR)
        self._tables: dict[tuple[bool, int, bool], OverloadTable] = {}

    def table(self, *, member: bool, arity: int, cross_type: bool) -> OverloadTable:
        """`arity` counts the receiver. `cross_type` admits mixed numeric comparisons."""
        key = (member, arity, cross_type)
        table = self._tables.get(key)
        if table is None:
            table = _build_table(self.function, member=member, arity=arity, cross_type=cross_type)
            if arity <= 16:  # a caller chooses the arity; what is kept must stay bounded
                self._tables[key] = table
        return table


def _build_table(
    function: Function, *, member: bool, arity: int, cross_type: bool
) -> OverloadTable:
    candidates = []
    fresh = 0
    for overload in function.overloads:
        if overload.member is not member:
            continue
        if overload.id in CROSS_TYPE_OVERLOADS and not cross_type:
            continue
        names = _parameter_names(overload)
        if len(overload.params) == arity:
            candidates.append(Candidate(overload, names, fresh))
        fresh += len(names)
    return OverloadTable(function.name, tuple(candidates), fresh)


def _parameter_names(overload: Overload) -> tuple[str, ...]:
    """Names of the type parameters of a signature, the result's first: cel-go goes through them in
    Go's order of a map, which begins with what came first seven times out of eight."""
    names: dict[str, None] = {}
    for t in (overload.result, *overload.params):
        _collect_parameters(t, names)
    return tuple(names)


def _collect_parameters(t: Type, names: dict[str, None]) -> None:
    if t.kind is Kind.TYPE_PARAM:
        names[t.name] = None
    for param in t.params:
        _collect_parameters(param, names)


def _match(
    substitution: Substitution, candidate: Candidate, arguments: Sequence[Type], counter: int
) -> Type | None:
    """Return the result type if the arguments fit, with what is known of its parameters filled
    in."""
    overload = candidate.overload
    params = overload.params
    for argument, param in zip(arguments, params):  # noqa: B905  # a table has one arity
        # The names of two types that are not variable in any way must agree; most candidates
        # fail here, before anything is instantiated.
        if argument.name != param.name and argument.kind not in _OPEN and param.kind not in _OPEN:
            return None
    result = overload.result
    if candidate.type_params:
        fresh = {
            name: fresh_variable(counter + candidate.first + position)
            for position, name in enumerate(candidate.type_params)
        }
        params = tuple(_instantiate(param, fresh) for param in params)
        result = _instantiate(result, fresh)
    if not substitution.all_assignable(arguments, params):
        return None
    if result.params or result.kind is Kind.TYPE_PARAM:
        return substitution.substitute(result)
    return result


def _instantiate(t: Type, fresh: dict[str, Type]) -> Type:
    if t.kind is Kind.TYPE_PARAM:
        return fresh[t.name]
    if not t.params:
        return t
    return Type(t.kind, t.name, tuple(_instantiate(param, fresh) for param in t.params))


def _has_parameters(t: Type) -> bool:
    return t.kind is Kind.TYPE_PARAM or any(_has_parameters(param) for param in t.params)
