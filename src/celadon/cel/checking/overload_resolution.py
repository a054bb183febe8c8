"""From a function and the types of its arguments to the overloads that may run and a result type.

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

from celadon.cel.checking.assignability import Substitution
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
    type_param,
)

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
    """`first` is the number of its first fresh variable, counted from the start of the call."""

    overload: Overload
    type_params: tuple[str, ...]
    first: int


class Resolution(NamedTuple):
    """The type of a call's result and the overloads that may run."""

    type: Type
    reference: Reference


def fresh_variable(number: int) -> Type:
    """The type parameter `_var<number>`, which stands for a type still to be found."""
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
        """None when nothing matches. `counter` is the next fresh variable's number."""
        key = tuple(map(id, arguments))
        known = self._remembered.get(key)
        if known is not None:
            return known
        result: Type | None = None
        matched: list[int] = []
        for position, candidate in enumerate(self.candidates):
            found = _match(substitution, candidate, arguments, counter)
            if found is None:
                continue
            matched.append(position)
            if result is None:
                result = found
            elif result is not DYN and result is not found and result != found:
                result = DYN
        if result is None:
            return None
        resolution = Resolution(result, self.reference(tuple(matched)))
        if _PLAIN.issuperset(key) and not _has_parameters(result):
            self._remembered[key] = resolution
        return resolution

    def reference(self, matched: tuple[int, ...]) -> Reference:
        """The reference to those candidates, given by their positions."""
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
    """The result type if the arguments fit, with what is known of its parameters filled in."""
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
