"""Merging declarations of several libraries, and refusing those that contradict each other.

Two libraries may declare the same function; its overloads are then tried in load order. What may
not happen: two variables of one name, two overloads of one function that could both accept the
same arguments of one call style, two overloads of one id with different signatures, a function
that a standard macro would swallow (cel-go `common/decls/decls.go`, `checker/env.go`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from celadon.cel.checking import check_messages
from celadon.cel.declarations import Function, Overload, Variable
from celadon.cel.errors import DeclarationError
from celadon.cel.types import Kind, Type

#: name, number of arguments (the receiver counts), whether it is a member: what the standard
#: macros would swallow. cel-go compares macro arity with the overload's, receiver included.
_MACRO_SHAPES = frozenset(
    {("has", 1, False), ("map", 3, True)}
    | {(name, 2, True) for name in ("all", "exists", "exists_one", "existsOne", "map", "filter")}
)

_OPEN = (Kind.DYN, Kind.ANY, Kind.TYPE_PARAM)


def merge_variables(known: Mapping[str, Type], added: Iterable[Variable]) -> dict[str, Type]:
    """A new table. Raises `DeclarationError` if a name is declared twice."""
    merged = dict(known)
    for variable in added:
        if variable.name in merged:
            raise DeclarationError(check_messages.overlapping_identifier(variable.name))
        merged[variable.name] = variable.type
    return merged


def merge_functions(functions: Iterable[Function]) -> dict[str, Function]:
    """One function per name, its overloads in load order. Raises `DeclarationError`."""
    merged: dict[str, Function] = {}
    for function in functions:
        known = merged.get(function.name)
        merged[function.name] = _merged(known or Function(function.name, ()), function)
    return merged


def _merged(known: Function, added: Function) -> Function:
    if known.singleton and added.singleton and known.singleton is not added.singleton:
        raise DeclarationError(check_messages.second_singleton(known.name))
    overloads = list(known.overloads)
    for overload in added.overloads:
        _add(overloads, overload, known.name)
    return added._replace(
        overloads=tuple(overloads),
        singleton=known.singleton or added.singleton,
        pattern=known.pattern if added.pattern is None else added.pattern,
        cost=known.cost if added.cost is None else added.cost,
    )


def _add(overloads: list[Overload], added: Overload, function: str) -> None:
    if (function, len(added.params), added.member) in _MACRO_SHAPES:
        raise DeclarationError(check_messages.overlapping_macro(function, len(added.params)))
    for position, known in enumerate(overloads):
        if known.id == added.id:
            if not _same_signature(known, added):
                raise DeclarationError(check_messages.overload_redefinition(function, added.id))
            if added.impl is not None:
                overloads[position] = added
            return
        if _overlap(known, added):
            raise DeclarationError(check_messages.overload_collision(function, known.id, added.id))
    overloads.append(added)


def _same_signature(a: Overload, b: Overload) -> bool:
    return a.member is b.member and a.params == b.params and a.result == b.result


def _overlap(a: Overload, b: Overload) -> bool:
    """Whether one call could match both, judged by kinds and names."""
    if a.member is not b.member or len(a.params) != len(b.params):
        return False
    for one, other in zip(a.params, b.params):  # noqa: B905  # compared above
        if one is not other and not _accepts(one, other) and not _accepts(other, one):
            return False
    return True


def _accepts(t: Type, other: Type) -> bool:
    if t.kind in _OPEN:
        return True
    if t.name != other.name or t.kind is not other.kind or len(t.params) != len(other.params):
        return False
    return all(_accepts(one, two) for one, two in zip(t.params, other.params))  # noqa: B905
