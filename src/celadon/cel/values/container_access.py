"""Reading lists and maps: fields, indices, membership, size, iteration.

The functions without `find_` raise cel-go's errors; `find_field` and `find_index` are the lookups
of optional chains and give `MISSING` where a step leads nowhere. Generated code reads fields
itself and comes here for what is left, so these functions take any value (the reference, sections
8.3 and 8.5 to 8.7). What counts as the same key is in `maps`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from celadon.cel.errors import CostLimitExceeded, EvaluationError, no_such_overload
from celadon.cel.values import Value
from celadon.cel.values.equality import FIRST_INEXACT, ExactKeys, NoKey, equal, refusal
from celadon.cel.values.maps import MISSING, AnyMap, MixedMap, find, is_map, put, with_entry
from celadon.cel.values.runtime_types import (
    NONE,
    Optional,
    Record,
    display,
    go_name,
    is_list,
    type_of,
)
from celadon.cel.values.text import Uint
from celadon.cel.values.typed_lists import LIST_CLASSES

_SIZED: frozenset[type] = frozenset({str, bytes, dict}) | LIST_CLASSES
_NEVER_EQUAL_TO_OTHERS: frozenset[type] = frozenset({type(None), str, bytes})
_INT_END: Final = 1 << 63
"""No index is as far from the beginning: cel-go takes numbers that are the same as an int64."""
_QUALIFIERS = frozenset({str, int, Uint, float, bool})


def no_such_key(key: object) -> EvaluationError:
    """Return the error that a map has no such key."""
    return EvaluationError(f"no such key: {display(key)}")


def index_out_of_bounds(key: object) -> EvaluationError:
    """Return the error that a list has no such index; negative ones never exist."""
    return EvaluationError(f"index out of bounds: {display(key)}")


def select(operand: Any, field: str) -> Value:
    """Evaluate `operand.field`."""
    if is_map(operand):
        value = find(operand, field)
        if value is not MISSING:
            return value
    if isinstance(operand, Record):
        return operand[field]
    if is_list(operand):
        raise EvaluationError("unsupported index type 'string' in list")
    raise no_such_key(field)


def index(operand: Any, key: Any) -> Any:
    """Evaluate `operand[key]`."""
    value = find_index(operand, key)
    if value is not MISSING:
        return value
    if is_list(operand):
        raise index_out_of_bounds(key)
    if isinstance(operand, Record):
        return operand[key]
    raise no_such_key(key)


def find_field(operand: Any, field: str) -> Any:
    """`operand.field` inside an optional chain: `MISSING` unless a map or record has it."""
    if is_map(operand):
        return find(operand, field)
    if is_list(operand):
        raise EvaluationError("unsupported index type 'string' in list")
    return _find_in_record(operand, field) if isinstance(operand, Record) else MISSING


def qualifier_error(key: object) -> EvaluationError | None:
    """Return why a value can never be a key, whatever it is applied to; None if it can."""
    if key.__class__ in _QUALIFIERS:
        return None
    return EvaluationError(f"invalid qualifier type: {go_name(key)}")


def find_index(operand: Any, key: Any) -> Any:
    """`operand[key]` inside an optional chain; bad key types still raise."""
    if key.__class__ not in _QUALIFIERS and (refused := qualifier_error(key)) is not None:
        raise refused
    if operand.__class__ in LIST_CLASSES:
        return _find_in_list(operand, key)
    if is_map(operand):
        return find(operand, key)
    return _find_in_record(operand, key) if isinstance(operand, Record) else MISSING


def _find_in_record(record: Record, field: object) -> Value:
    if field.__class__ is not str:
        raise no_such_overload()
    return record[field] if record.has(field) else MISSING


def _find_in_list(elements: list[object], key: Any) -> Any:
    kind = key.__class__
    if kind is not int and kind is not Uint:
        if kind is not float:
            raise EvaluationError(f"unsupported index type '{type_of(key)}' in list")
        if not key.is_integer() or not -_INT_END < key < _INT_END:
            raise EvaluationError(f"unsupported index value {display(key)} in list")
    elif key >= _INT_END:
        raise EvaluationError(f"unsupported index value {display(key)} in list")
    return elements[int(key)] if 0 <= key < len(elements) else MISSING


def has_field(operand: object, field: str) -> bool:
    """`has(operand.field)`: present, null included. False for what has no fields at all."""
    if operand.__class__ is Optional:
        return operand is not NONE and has_field(operand.value, field)
    if isinstance(operand, Record):
        return operand.has(field)
    return find_field(operand, field) is not MISSING


def find_index_strictly(operand: object, key: object) -> Value:
    """`find_index` that fails for what has no keys at all."""
    value = find_index(operand, key)
    if value is MISSING and not is_list(operand) and not _has_keys(operand):
        raise no_such_key(key)
    return value


def _has_keys(operand: object) -> bool:
    return is_map(operand) or isinstance(operand, Record)


def has_field_strictly(operand: object, field: str) -> bool:
    """`has_field` that fails for what has no fields at all."""
    if operand.__class__ is Optional:
        return operand is not NONE and has_field_strictly(operand.value, field)
    if isinstance(operand, Record):
        return operand.has(field)
    return find_index_strictly(operand, field) is not MISSING


def tested(operand: Value, field: str) -> Value:
    """Return what a test of presence in an optional chain finds, where cel-go resolves the test as
    a part of another attribute: the value itself, of records null; `MISSING` if there is none."""
    if isinstance(operand, Record):
        return None if operand.has(field) else MISSING
    return find_field(operand, field)


def tested_strictly(operand: Value, field: str) -> Value:
    """`tested` that fails for what has no fields at all."""
    if isinstance(operand, Record):
        return None if operand.has(field) else MISSING
    return find_index_strictly(operand, field)


def contains(element: Any, container: Any) -> bool:
    """`element in container`. Comparisons that fail count as different."""
    if container.__class__ in LIST_CLASSES:
        return _list_contains(element, container)
    if is_map(container):
        return find(container, element) is not MISSING
    raise no_such_overload()


# --- Work that is hardly charged ---------------------------------------------
#
# Comparing two maps is charged by how many entries they have, whatever is in them; to search a
# list of which nothing is declared, to flatten one and to write it are charged next to nothing;
# nor is what `replace` makes, or reading a duration. In a loop, or in one variable after the other,
# that would be as much work and memory as the square of what a client sent, or more. So an
# evaluation remembers what it looked at: by then equal parts have the same key, and what is left
# has an end.

#: A list of fewer elements is searched as fast as looked up.
LONG: Final = 64
#: Searches of one list before keys of its elements are made, which take as long as some of them.
_FEW_SEARCHES: Final = 16
#: Parts that one evaluation looks at without being charged for them.
_MOST_PARTS: Final = 10_000_000
#: How many of them are left when keys are made of what is compared.
_FEW_COMPARED: Final = _MOST_PARTS - 100_000
#: Characters of a text that was made which count for one of them.
_MADE: Final = 8
#: What an entry of a map that was made counts for.
_ENTRY: Final = 4
_SCALARS: Final = frozenset({str, bool, int, Uint, float, bytes, type(None)})


class UnpaidWork:
    """What one evaluation does that is hardly charged, there as here. Whatever is more than the
    charge for looking at it would allow ends the evaluation as too dear."""

    left = _MOST_PARTS
    _keys: ExactKeys | None = None
    _lists: dict[int, SearchedList] | None = None

    def pay(self, parts: int) -> None:
        """Count parts that are going to be looked at. Raises CostLimitExceeded."""
        self.left -= parts
        if self.left < 0:
            raise CostLimitExceeded

    def pay_for_long(self, value: Any, characters: int = 1) -> None:
        """Count the elements, entries or so many characters each of what is long. Raises
        CostLimitExceeded."""
        if value.__class__ is Optional and value is not NONE:
            value = value.value
        if value.__class__ is str or value.__class__ is bytes:
            if len(value) >= LONG:
                self.pay(len(value) // characters)
        elif value.__class__ in LIST_CLASSES:
            self.pay(len(value) if len(value) >= LONG else 0)
        elif is_map(value):
            self.pay(len(value) * _ENTRY if len(value) >= LONG else 0)

    def key(self, value: object) -> Hashable:
        """Return what is the same exactly where values are equal. Raises NoKey."""
        if self._keys is None:
            self._keys = ExactKeys()
        return self._keys.of(value)

    def equal(self, a: Any, b: Any) -> bool:
        """Evaluate `a == b`. Raises EvaluationError."""
        if a.__class__ in _SCALARS or b.__class__ in _SCALARS:
            return equal(a, b)
        if self.left < _FEW_COMPARED:
            try:
                return self.key(a) == self.key(b)
            except NoKey:
                pass
        return equal(a, b, self.pay)

    def surely_equal(self, a: Any, b: Any) -> bool:
        """Return whether they are equal; a comparison that fails counts as different."""
        try:
            return self.equal(a, b)
        except CostLimitExceeded:
            raise
        except EvaluationError:
            return False

    def contains(self, element: Any, elements: list[Value]) -> bool:
        """`element in elements`. What a loop over a short list costs its rounds pay."""
        if len(elements) < LONG:
            return self._is_among(element, elements)
        if self._lists is None:
            self._lists = {}
        searched = self._lists.get(id(elements))
        if searched is None:
            searched = self._lists[id(elements)] = SearchedList(self, elements)
        return searched.contains(element)

    def walk(self, element: Any, elements: list[Value]) -> bool:
        """`element in elements`, one after the other."""
        self.pay(len(elements))
        return self._is_among(element, elements)

    def _is_among(self, element: Any, elements: list[Value]) -> bool:
        if element.__class__ in _SCALARS:
            return _list_contains(element, elements)
        return any(self.surely_equal(element, x) for x in elements)

    def pay_for_all(self, value: Any) -> None:
        """Count all parts of a value, as often as they are in it. Raises CostLimitExceeded."""
        pending = [value]
        while pending:
            part = pending.pop()
            if part.__class__ in LIST_CLASSES:
                self.pay(len(part))
                pending += part
            elif is_map(part):
                self.pay(len(part))
                pending += part.values()
            elif part.__class__ is Optional and part is not NONE:
                pending.append(part.value)
            else:
                self.pay_for_long(part, _MADE)


#: What is not charged in a whole phase of a policy, as a variable that no expression can name.
UNPAID_WORK: Final = "@unpaidWork"


def unpaid_work(activation: Mapping[str, Any]) -> UnpaidWork:
    """Return what counts the work of an evaluation that is hardly charged: its own, unless several
    evaluations share one."""
    shared: UnpaidWork | None = activation.get(UNPAID_WORK)
    return UnpaidWork() if shared is None else shared


class SearchedList:
    """A list, how often it was searched, and from then on the keys of its elements, and those that
    have none."""

    __slots__ = ("_count", "_elements", "_keys", "_others", "_work")

    def __init__(self, work: UnpaidWork, elements: list[Value]) -> None:
        self._work = work
        self._elements = elements
        self._count = 0
        self._keys: set[Hashable] | None = None
        self._others: list[Value] = []

    def contains(self, element: Any) -> bool:
        self._count += 1
        if self._count <= _FEW_SEARCHES:
            return self._work.walk(element, self._elements)
        if self._keys is None:
            self._keys = set()
            for x in self._elements:
                try:
                    self._keys.add(self._work.key(x))
                except NoKey:
                    self._others.append(x)
        try:
            key = self._work.key(element)
        except NoKey:
            return self._work.walk(element, self._elements)
        return key in self._keys or self._work.walk(element, self._others)


def equal_again(work: UnpaidWork, impl: object, a: Value, b: Value) -> bool:
    """`equal` in a loop."""
    return work.equal(a, b)


def not_equal_again(work: UnpaidWork, impl: object, a: Value, b: Value) -> bool:
    """`not_equal` in a loop: true also where `a == b` fails."""
    try:
        return not work.equal(a, b)
    except CostLimitExceeded:
        raise
    except EvaluationError:
        return True


def contains_again(work: UnpaidWork, impl: object, element: Value, container: Any) -> bool:
    """`contains` in a loop."""
    if container.__class__ in LIST_CLASSES:
        return work.contains(element, container)
    return contains(element, container)


def paid_again(work: UnpaidWork, impl: Callable[..., Value], *args: Value) -> Value:
    """Call what is charged for no more than the call, or for less than it makes, in a loop."""
    for arg in args:
        work.pay_for_long(arg)
    result = impl(*args)
    work.pay_for_long(result, _MADE)
    return result


def _list_contains(element: object, elements: list[Value]) -> bool:
    if _equals_as_python(element):
        try:
            return element in elements
        except EvaluationError:
            pass  # an abstract value was met before: the loop below passes over it
    for x in elements:
        try:
            if equal(element, x):
                return True
        except EvaluationError:
            continue
    return False


def _equals_as_python(element: Any) -> bool:
    """Return whether `==` with anything is CEL's: not for numbers that Python takes for a bool, nor
    for integers that are not exact as doubles, nor for NaN, which Python finds where it is."""
    kind = element.__class__
    if kind is float and not element.is_integer():
        return bool(element == element)
    if kind is int or kind is float or kind is Uint:
        return bool(1 < abs(element) < FIRST_INEXACT)
    return kind in _NEVER_EQUAL_TO_OTHERS


def size(value: Any) -> int:
    """Code points of a string, bytes, elements of a list, entries of a map. Raises EvaluationError
    for other values."""
    if value.__class__ in _SIZED or is_map(value):
        return len(value)
    raise refusal("size", value, frozenset())


def iterate(value: Any) -> list[object]:
    """Return what a one-variable comprehension runs over: elements, or keys."""
    if value.__class__ in LIST_CLASSES:
        return value
    if is_map(value):
        return list(value)
    raise EvaluationError(f"got '{go_name(value)}', expected iterable type")


def iterate2(value: Any) -> list[tuple[Any, Any]]:
    """Return what a two-variable comprehension runs over: (index, element) or (key, value)."""
    if is_list(value):
        return list(enumerate(value))
    if is_map(value):
        return list(value.items())
    raise EvaluationError(f"unsupported comprehension range type: {go_name(value)}")


def _refuse_present(a_map: AnyMap, key: object) -> None:
    if find(a_map, key) is not MISSING:
        raise EvaluationError(f"insert failed: key {display(key)} already exists")


def map_insert(a_map: AnyMap, key: object, value: object) -> AnyMap:
    """`cel.@mapInsert(map, key, value)`: a new map with one more entry."""
    _refuse_present(a_map, key)
    return with_entry(a_map, key, value)


def insert_entry(a_map: AnyMap, key: object, value: object) -> AnyMap:
    """`map_insert` for an accumulator that nobody else holds: changes it, and returns it.

    The result is another map when the key's kind needs a `MixedMap`; use only the result.
    """
    _refuse_present(a_map, key)
    return put(a_map, key, value)


def map_insert_all(a_map: AnyMap, entries: AnyMap) -> AnyMap:
    """`cel.@mapInsert(map, map)`: a new map with the entries of both."""
    result: AnyMap = MixedMap(a_map.items()) if a_map.__class__ is MixedMap else dict(a_map)
    return insert_entries(UnpaidWork(), result, entries)


def insert_entries(work: UnpaidWork, a_map: AnyMap, entries: AnyMap) -> AnyMap:
    """`map_insert_all` for an accumulator, as `insert_entry` is `map_insert` for one: a copy in
    each round would be as many entries as the square of the rounds. They cost as much as one."""
    work.pay_for_long(entries)
    for key, value in entries.items():
        a_map = insert_entry(a_map, key, value)
    return a_map
