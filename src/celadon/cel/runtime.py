"""The runtime of generated code: the functions that it may call. `EXPORTS` is the whole contract.

Two dialects live here, because the two variants of a program treat errors differently:

* the plain variant raises: `calls` below gives it callables that check argument types and raise
  `EvaluationError`;
* the metered variant must go on evaluating (and charging) after an error, as cel-go does, so its
  functions take and return `EvaluationError` objects as values. Their names end in `_v`.

Go-side behaviour: cel-go `interpreter/interpretable.go`, `interpreter/attributes.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.cel.cost import MAX_UINT64
from celadon.cel.declarations import Function, Impl, Overload
from celadon.cel.errors import CostLimitExceeded, EvaluationError, Panicked, no_such_overload
from celadon.cel.syntax import UNMATCHED
from celadon.cel.types import DYN
from celadon.cel.values import Value, container_access, equality
from celadon.cel.values.container_access import UnpaidWork, index
from celadon.cel.values.maps import MISSING, make_map, make_strict_map, refuse_unhashable
from celadon.cel.values.runtime_types import (
    NONE,
    Guard,
    Optional,
    TypedList,
    display,
    guard,
    is_decided_by_class,
    overload_error,
)
from celadon.cel.values.typed_lists import (
    LIST_CLASSES,
    go_integer,
    go_text,
    reopened,
    settled,
    settled_optional,
)

# --- calls -----------------------------------------------------------------------------------


def implementation(function: Function, overload_ids: Sequence[str]) -> Impl:
    """Return what runs for a call whose candidates are `overload_ids` (see `declarations`)."""
    if function.singleton is not None:
        return function.singleton
    if len(overload_ids) == 1:
        chosen = [o for o in function.overloads if o.id == overload_ids[0]]
        return _dispatcher(function.name, chosen)
    return _dispatcher(function.name, function.overloads)


def _dispatcher(name: str, overloads: Sequence[Overload]) -> Impl:
    """Return one callable for several overloads: the first whose guards accept the arguments runs.

    Which one that is depends (nearly always) on the classes of the arguments alone (of a single
    list: also of its first element), so it is remembered by class, as long as no guard that was
    asked looked further into a list or map.
    """
    guarded: dict[int, list[tuple[tuple[Guard, ...], Impl, bool]]] = {}
    for overload in overloads:
        if overload.impl is not None:
            params = overload.params if overload.guarded else (DYN,) * len(overload.params)
            guards = tuple(guard(p) for p in params)
            by_class = all(is_decided_by_class(p, with_first=len(guards) == 1) for p in params)
            row = (guards, overload.impl, by_class)
            guarded.setdefault(len(guards), []).append(row)

    def find(args: Sequence[Any], cache: dict[Any, Impl], key: Any) -> Impl:
        remember = True
        for guards, impl, by_class in guarded.get(len(args), ()):
            remember = remember and by_class
            if all(accepts(arg) for accepts, arg in zip(guards, args, strict=True)):
                if remember:
                    cache[key] = impl
                return impl
        raise overload_error(name, args)

    unary: dict[Value, Impl] = {}
    several: dict[Value, Impl] = {}

    def call_one(x: Any) -> Value:
        key = x.__class__
        if key is list and x:
            key = list, x[0].__class__
        impl = unary.get(key)
        return impl(x) if impl else find((x,), unary, key)(x)

    def call_typed_list(x: TypedList) -> Value:
        key = (x.__class__, x[0].__class__) if x else None
        impl = unary.get(key)
        return impl(x) if impl else find((x,), unary, key)(x)

    def call_two(x: Value, y: Value) -> Value:
        key = x.__class__, y.__class__
        impl = several.get(key)
        return impl(x, y) if impl else find((x, y), several, key)(x, y)

    def call(*args: Value) -> Value:
        if len(args) == 1:
            return call_one(args[0])
        key = tuple([arg.__class__ for arg in args])
        impl = several.get(key)
        return impl(*args) if impl else find(args, several, key)(*args)

    for kind in LIST_CLASSES - {list}:  # INVARIANT (typed lists)
        unary[kind] = call_typed_list
    if guarded.keys() == {1}:
        return call_one
    return call_two if guarded.keys() == {2} else call


def searching(function: Function) -> Impl:
    """Return what runs for a call with a constant regular expression: it takes whatever has a text
    as its Go value, and an int as the limit."""
    impls = {len(o.params): function.singleton or o.impl for o in function.overloads}

    def search(text: object, pattern: str, *limit: object) -> Value:
        impl = impls.get(2 + len(limit))
        assert impl is not None, "regular expressions are searched for by overloads that run"
        return impl(go_text(text), pattern, *map(go_integer, limit))

    return search


def contains_constant(element: object, items: list[Value]) -> bool:
    """`element in [constants]`, which cel-go turns into a look-up in a Go map: that panics for
    bytes, and the panic is the error."""
    refuse_unhashable(element)
    return container_access.contains(element, items)


def unmatched(name: str, *args: object) -> Value:
    """Return what runs for a call with a number of arguments that no overload has."""
    raise overload_error(name, args)


def unknown_function(name: str) -> Impl:
    """Return what runs for a function nobody declared (unchecked trees only)."""
    if name == UNMATCHED:
        return unmatched

    def call(*args: object) -> Value:
        raise no_such_overload(f"{name} {len(args)}")

    return call


# --- plain variant -----------------------------------------------------------------------------


def not_bool() -> bool:
    """Fail: a condition that is no bool is always an error."""
    raise no_such_overload()


def find_unwrapped(operand: object, key: object) -> Value:
    """Take a step of an optional chain. An Optional that the chain starts from is for the metered
    variant; only there chains are walked from the base."""
    if operand.__class__ is Optional:
        raise no_such_overload()
    return container_access.find_index(operand, key)


def find_unwrapped_strictly(operand: object, key: object) -> Value:
    """`find_unwrapped` that fails for what has no keys at all."""
    if operand.__class__ is Optional:
        raise no_such_overload()
    return container_access.find_index_strictly(operand, key)


def find_tested(operand: object, field: str) -> Value:
    """Take the last step of `has` over an optional chain that is a part of another attribute."""
    if operand.__class__ is Optional:
        raise no_such_overload()
    return container_access.tested(operand, field)


def find_tested_strictly(operand: object, field: str) -> Value:
    """`find_tested` that fails for what has no fields at all."""
    if operand.__class__ is Optional:
        raise no_such_overload()
    return container_access.tested_strictly(operand, field)


def has_unwrapped(operand: object, field: str) -> bool:
    """`has(operand.field)` behind a name or plain keys: an Optional is for the metered variant."""
    if operand.__class__ is Optional:
        raise no_such_overload()
    return container_access.has_field(operand, field)


def list_with_optionals(items: Sequence[Value], optional: frozenset[int]) -> list[Value]:
    """Make the list `[a, ?b]`: absent elements are left out."""
    result: list[Value] = []
    for position, item in enumerate(items):
        if position not in optional:
            result.append(item)
        elif item.__class__ is not Optional:
            raise EvaluationError(
                f"cannot initialize optional list element from non-optional value {display(item)}"
            )
        elif item is not NONE:
            result.append(item.value)
    return result


def map_with_optionals(pairs: Sequence[tuple[Value, Value]], optional: frozenset[int]) -> Value:
    """`{?k: v}`: an absent value removes an earlier entry with the same key."""
    return make_map(_present(pairs, optional))


def strict_map_with_optionals(
    pairs: Sequence[tuple[Value, Value]], optional: frozenset[int]
) -> Value:
    """`map_with_optionals` for environments in which a key given twice is an error."""
    return make_strict_map(_present(pairs, optional))


def _present(
    pairs: Sequence[tuple[Value, Value]], optional: frozenset[int]
) -> list[tuple[Value, Value]]:
    result: list[tuple[Value, Value]] = []
    for position, (key, value) in enumerate(pairs):
        if position not in optional:
            result.append((key, value))
        elif value.__class__ is not Optional:
            raise EvaluationError(
                f"cannot initialize optional entry '{display(key)}' from non-optional "
                f"value {display(value)}"
            )
        elif value is NONE:
            result = [(k, v) for k, v in result if not (k.__class__ is key.__class__ and k == key)]
        else:
            result.append((key, value.value))
    return result


# --- metered variant: errors are values ----------------------------------------------------------


class Lazy:
    """A name that `optMap`, `sortBy` or `cel.bind` binds: computed and charged at its first use."""

    __slots__ = ("compute", "value")

    def __init__(self, compute: Callable[[int], tuple[Value, int]]) -> None:
        self.compute: Callable[[int], tuple[Value, int]] | None = compute
        self.value: Any = None

    def get(self, cost: int) -> tuple[Any, int]:
        """Return the value, and the cost so far, which the first use adds to."""
        if self.compute is not None:
            self.value, cost = self.compute(cost)
            self.compute = None
        return self.value, cost


def over_limit(cost: int) -> CostLimitExceeded:
    """Return the error that ends a metered evaluation; `cost` is what had been charged by then."""
    error = CostLimitExceeded()
    error.cost = cost
    return error


def below_zero(limit: int) -> None:
    """Fail: the cost fell below zero, where cel-go's wraps around, and is over any limit."""
    if limit < MAX_UINT64:
        raise over_limit(MAX_UINT64)


def call1_v(impl: Impl, x: object) -> Value:
    """Call with one argument: an argument that is an error is the result, and so is a raised
    error."""
    if x.__class__ is EvaluationError:
        return x
    try:
        return impl(x)
    except EvaluationError as error:
        return _value(error)


def call2_v(impl: Impl, x: object, y: object) -> Value:
    """Call with two arguments: the first that is an error is the result, as is a raised error."""
    if x.__class__ is EvaluationError:
        return x
    if y.__class__ is EvaluationError:
        return y
    try:
        return impl(x, y)
    except EvaluationError as error:
        return _value(error)


def call_v(impl: Impl, *args: object) -> Value:
    """Call with any number of arguments, as `call2_v`."""
    for arg in args:
        if arg.__class__ is EvaluationError:
            return arg
    try:
        return impl(*args)
    except EvaluationError as error:
        return _value(error)


#: What ends an evaluation.
_ENDING = frozenset({CostLimitExceeded, Panicked})


def _value(error: EvaluationError) -> EvaluationError:
    """Return an error caught to become a value, exactly of the class that generated code tests for.
    What ends the evaluation is no value."""
    if error.__class__ in _ENDING:
        raise error
    if error.__class__ is not EvaluationError:
        return EvaluationError(error.message)
    return error.with_traceback(None)


def and_v(left: object, right: object) -> Value:
    """`left && right` where left is not False."""
    if right is False:
        return False
    if left is not True:
        return left if isinstance(left, EvaluationError) else no_such_overload()
    if right is True or isinstance(right, EvaluationError):
        return right
    return no_such_overload()


def or_v(left: object, right: object) -> Value:
    """`left || right` where left is not True."""
    if right is True:
        return True
    if left is not False:
        return left if isinstance(left, EvaluationError) else no_such_overload()
    if right is False or isinstance(right, EvaluationError):
        return right
    return no_such_overload()


def not_v(value: object) -> Value:
    """`!value`; errors pass through, anything else that is no bool is an error."""
    if value.__class__ is bool:
        return value is False
    return value if isinstance(value, EvaluationError) else no_such_overload()


def no_bool_v(value: object) -> Value:
    """Return the result of a condition that is not a bool."""
    return value if isinstance(value, EvaluationError) else no_such_overload()


def walk_v(base: object, keys: Sequence[Value]) -> tuple[Value, int]:
    """Select `keys` one after the other: the value or error, and how many keys were applied
    (a failing one counts)."""
    if base.__class__ is Optional:
        return walk_optional_v(base, [(key, False) for key in keys])
    return walk_inner_v(base, keys)


def walk_inner_v(base: object, keys: Sequence[Value]) -> tuple[Value, int]:
    """`walk_v` further in, where an Optional has no keys."""
    applied = 0
    try:
        for key in keys:
            if base.__class__ is EvaluationError:
                return base, applied
            applied += 1
            base = index(base, key)
    except EvaluationError as error:
        return _value(error), applied
    return base, applied


def walk_optional_v(base: object, keys: Sequence[tuple[Value, bool]]) -> tuple[Value, int]:
    """Walk an optional chain: the optional or error, and how many keys are charged (a key that is
    absent after a `?` is not)."""
    return _walk_optional(base, keys, container_access.find_index)


def walk_inner_optional_v(operand: object, keys: Sequence[tuple[Value, bool]]) -> tuple[Value, int]:
    """`walk_optional_v` behind other keys, where an Optional has no keys. What came before may have
    failed."""
    return _walk_inside(operand, keys, container_access.find_index, optional=True)


def walk_inner_optional_strictly_v(
    operand: object, keys: Sequence[tuple[Value, bool]]
) -> tuple[Value, int]:
    """`walk_inner_optional_v` that fails for what has no keys at all."""
    return _walk_inside(operand, keys, container_access.find_index_strictly, optional=True)


def walk_optional_strictly_v(base: object, keys: Sequence[tuple[Value, bool]]) -> tuple[Value, int]:
    """`walk_optional_v` that fails for what has no keys at all."""
    return _walk_optional(base, keys, container_access.find_index_strictly)


def _walk_optional(
    base: Any, keys: Sequence[tuple[Value, bool]], find: Callable[[Value, Value], Value]
) -> tuple[Value, int]:
    if base.__class__ is EvaluationError:
        return base, 0
    optional = base.__class__ is Optional
    if optional:
        if base is NONE:
            return NONE, 0
        base = _content(base)
    return _walk_inside(base, keys, find, optional=optional)


def _content(optional: Any) -> Any:
    """Return what keys are applied to, behind an optional that holds something: an error that it
    holds already is that error."""
    content = optional.value
    return content if content.__class__ is EvaluationError else reopened(optional).value


def _walk_inside(
    base: Any,
    keys: Sequence[tuple[Value, bool]],
    find: Callable[[Value, Value], Value],
    *,
    optional: bool,
) -> tuple[Value, int]:
    applied = 0
    try:
        for key, marked in keys:
            if key.__class__ is EvaluationError:
                return key, applied
            if base.__class__ is EvaluationError:  # of what the optional holds
                return container_access.qualifier_error(key) or base, applied
            optional = optional or marked
            if optional:
                base = find(base, key)
                if base is MISSING:
                    return NONE, applied
                applied += 1
            else:
                applied += 1
                base = index(base, key)
    except EvaluationError as error:
        return _value(error), applied
    return Optional(base), applied


def index_v(base: object, key: object) -> Value:
    """`base[key]`, where either may be an error and what goes wrong is one."""
    if key.__class__ is EvaluationError:
        return key
    try:
        return index(base, key)
    except EvaluationError as error:
        return _value(error)


def native_key_v(key: object, root: object) -> Value:
    """Return a computed key that was read from an input, `root`: what cannot be a key is an error
    that names Go's own classes, unless the input is lazily computed."""
    if root.__class__ in _JSON_CLASSES and key.__class__ in _JSON_GO_NAMES:
        return EvaluationError(f"invalid qualifier type: {_JSON_GO_NAMES[key.__class__]}")
    return key


_JSON_GO_NAMES: Mapping[type, str] = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    type(None): "<nil>",
}
_JSON_CLASSES = _JSON_GO_NAMES.keys()


def has_v(operand: object, key: str) -> tuple[Value, int]:
    """`has(operand.key)`: the answer or error, and 1 if the key is charged: always, or if present
    where the operand is an optional."""
    return _has(operand, key, container_access.has_field)


def has_inner_v(operand: object, key: str) -> tuple[Value, int]:
    """`has_v` behind other keys, where an Optional has none."""
    return (False, 1) if operand.__class__ is Optional else has_v(operand, key)


def has_strictly_v(operand: object, key: str) -> tuple[Value, int]:
    """`has_v` that fails for what has no fields at all."""
    return _has(operand, key, container_access.has_field_strictly)


def _has(operand: object, key: str, test: Callable[[Value, str], bool]) -> tuple[Value, int]:
    if operand.__class__ is EvaluationError:
        return operand, 0
    if operand.__class__ is Optional:
        content = _content(operand)
        if operand is NONE or content.__class__ is EvaluationError:
            return (False if operand is NONE else content), 0
        try:
            present = test(content, key)
        except EvaluationError as error:
            return _value(error), 0
        return present, int(present)
    try:
        return test(operand, key), 1
    except EvaluationError as error:
        return _value(error), 1


def tested_v(operand: object, key: str) -> tuple[Value, int]:
    """`has(operand.key)` as a part of another attribute: of an optional, what it finds there as an
    optional instead of whether it finds anything (see `Context.tests_optional`)."""
    return _tested(operand, key, container_access.tested, has_v)


def tested_strictly_v(operand: object, key: str) -> tuple[Value, int]:
    """`tested_v` that fails for what has no fields at all."""
    return _tested(operand, key, container_access.tested_strictly, has_strictly_v)


def _tested(
    operand: object,
    key: str,
    find: Callable[[Value, str], Value],
    has: Callable[[object, str], tuple[Value, int]],
) -> tuple[Value, int]:
    if operand.__class__ is not Optional or operand is NONE:
        return (NONE, 0) if operand is NONE else has(operand, key)
    content = _content(operand)
    if content.__class__ is EvaluationError:
        return content, 0
    try:
        result = find(content, key)
    except EvaluationError as error:
        return _value(error), 0
    return (NONE, 0) if result is MISSING else (Optional(result), 1)


def iterate_v(value: object) -> Value:
    """Return what a macro with one variable iterates over; errors are values."""
    try:
        return value if isinstance(value, EvaluationError) else container_access.iterate(value)
    except EvaluationError as error:
        return _value(error)


def iterate2_v(value: object) -> Value:
    """Return what a macro with two variables iterates over, in pairs; errors are values."""
    try:
        return value if isinstance(value, EvaluationError) else container_access.iterate2(value)
    except EvaluationError as error:
        return _value(error)


def unbound(name: str) -> EvaluationError:
    """Return the value of a variable that the activation does not have."""
    return EvaluationError(f"no such attribute(s): {name}")


#: The names generated code may use. Builtins are listed too: the code runs with none.
EXPORTS: Final[Mapping[str, Any]] = {
    "Exception": Exception,
    "EvaluationError": EvaluationError,
    "KeyError": KeyError,
    "Lazy": Lazy,
    "MISSING": MISSING,
    "NONE": NONE,
    "Optional": Optional,
    "UnpaidWork": UnpaidWork,
    "and_v": and_v,
    "below_zero": below_zero,
    "bool": bool,
    "call1_v": call1_v,
    "call2_v": call2_v,
    "call_v": call_v,
    "contains": container_access.contains,
    "contains_constant": contains_constant,
    "dict": dict,
    "equal": equality.equal,
    "find_tested": find_tested,
    "find_tested_strictly": find_tested_strictly,
    "find_unwrapped": find_unwrapped,
    "find_unwrapped_strictly": find_unwrapped_strictly,
    "has_field": container_access.has_field,
    "has_field_strictly": container_access.has_field_strictly,
    "has_inner_v": has_inner_v,
    "has_strictly_v": has_strictly_v,
    "has_unwrapped": has_unwrapped,
    "has_unwrapped_strictly": container_access.has_field_strictly,
    "has_v": has_v,
    "index": index,
    "index_v": index_v,
    "int": int,
    "iter": iter,
    "iterate": container_access.iterate,
    "iterate2": container_access.iterate2,
    "iterate2_v": iterate2_v,
    "iterate_v": iterate_v,
    "len": len,
    "list": list,
    "list_with_optionals": list_with_optionals,
    "make_map": make_map,
    "make_strict_map": make_strict_map,
    "insert_entry": container_access.insert_entry,
    "insert_entries": container_access.insert_entries,
    "map_with_optionals": map_with_optionals,
    "no_bool_v": no_bool_v,
    "no_such_overload": no_such_overload,
    "not_bool": not_bool,
    "not_equal": equality.not_equal,
    "not_v": not_v,
    "native_key_v": native_key_v,
    "or_v": or_v,
    "over_limit": over_limit,
    "refuse_unhashable": refuse_unhashable,
    "reopened": reopened,
    "settled": settled,
    "settled_optional": settled_optional,
    "str": str,
    "strict_map_with_optionals": strict_map_with_optionals,
    "tested_strictly_v": tested_strictly_v,
    "tested_v": tested_v,
    "walk_inner_optional_strictly_v": walk_inner_optional_strictly_v,
    "walk_inner_optional_v": walk_inner_optional_v,
    "walk_inner_v": walk_inner_v,
    "walk_optional_strictly_v": walk_optional_strictly_v,
    "walk_optional_v": walk_optional_v,
    "walk_v": walk_v,
}
