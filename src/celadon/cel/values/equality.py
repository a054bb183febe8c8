"""Equality and ordering, in one place.

`equal` is CEL's `==` for values of unknown type. Different kinds are unequal, numbers compare
across int, uint and double (an integer is *converted to double*, as cel-go does, so large ones may
equal a neighbour), NaN equals nothing. Only abstract values can make it fail: one on the left
against another kind is `no such overload`. Such an error inside a list or map counts as equal,
and makes `!=` true (cel-go `common/types`: an error is "not false", respectively "not true").

Ordering raises for operands that have none. The texts depend on the left operand (the reference,
section 8.4): kinds without the comparer trait name the operator, others do not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

from celadon.cel.errors import CostLimitExceeded, EvaluationError, no_such_overload
from celadon.cel.types import Type
from celadon.cel.values.maps import MISSING, MixedMap, find
from celadon.cel.values.runtime_types import NONE, Opaque, Optional, TypedList
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp

_NONE_TYPE = type(None)
#: Classes whose own `==` is CEL's, given the same class on both sides.
_PLAIN = frozenset({str, bool, int, Uint, float, bytes, _NONE_TYPE, Timestamp, Duration})
#: Those of them whose values all equal themselves.
_THEMSELVES = _PLAIN - {float}
_NUMBERS = frozenset({int, Uint, float})
#: From here on there are integers that are not exact as doubles.
FIRST_INEXACT: Final = 1 << 53
#: Classes of containers that compare part by part with their like.
_WITH_PARTS = frozenset({dict, list, MixedMap})
#: Pairs of containers that one comparison looks at before it begins to remember them: more than
#: ordinary objects have.
_MOST_UNWATCHED = 10_000
#: As many containers as objects have of which an API server would accept the text, or more.
_MOST_OF_JSON = 100_000
#: Classes ordered by Python's own operators, given the same class on both sides.
_ORDERED = frozenset({str, int, Uint, bool, bytes, Timestamp, Duration})
_COMPARERS = frozenset({*_ORDERED, float})
#: cel-go's "receiver types": missing an operator, they answer without its name.
RECEIVERS = frozenset({str, Timestamp, Duration})

Pay = Callable[[int], None]
"""Is told of parts before they are compared. May raise."""


def equal(a: Any, b: Any, pay: Pay | None = None) -> bool:
    """CEL `a == b`; raises only for an abstract left operand, and what `pay` raises."""
    left, right = a.__class__, b.__class__
    if left is right:
        if left is dict:
            return _maps_equal(a, b) if pay is None else containers_equal(a, b, pay)
        if left is list:
            return containers_equal(a, b, pay)
        if left in _PLAIN:
            return bool(a == b)
    elif left in _NUMBERS and right in _NUMBERS:
        if left is float or right is float:
            return float(a) == float(b)
        return bool(a == b)
    elif a is None or b is None or left in _PLAIN:
        return False
    elif left is list:
        return isinstance(b, TypedList) and containers_equal(a, b, pay)
    return _objects_equal(a, b, pay)


def _objects_equal(a: object, b: object, pay: Pay | None) -> bool:
    """Compare where the left operand is a type, an optional, an abstract value, a typed list or a
    map."""
    if isinstance(a, Opaque):
        return bool(a == b)
    if a.__class__ is Type:
        return b.__class__ is Type and a.name == b.name
    if a.__class__ is Optional:
        return b.__class__ is Optional and _optionals_equal(a, b, pay)
    if isinstance(a, TypedList):
        return isinstance(b, list) and a.matches(b, pay)
    if isinstance(b, (Opaque, Type, Optional, list)) or b.__class__ in _PLAIN:
        return False
    return containers_equal(a, b, pay)


def _maps_equal(a: dict[Any, Any], b: dict[Any, Any]) -> bool:
    """Compare two maps. Where only texts are left to compare, Python's own `==` is CEL's, and ten
    times as fast. Only an abstract value on the right fails, which is unequal to a text."""
    if _holds_texts(a, 1):
        try:
            return a == b
        except EvaluationError:
            pass
    return containers_equal(a, b)


def _holds_texts(whole: dict[Any, Any], levels: int) -> bool:
    """Return whether it is a map of texts, as labels are, or of such maps, as selectors are."""
    for x in whole.values():
        if x.__class__ is not str and not (
            levels and x.__class__ is dict and _holds_texts(x, levels - 1)
        ):
            return False
    return True


def containers_equal(a: Any, b: Any, pay: Pay | None = None) -> bool:
    """Two lists or two maps. One loop for all levels: data may be nested deeply. Values that share
    structure (`[v, v]` of `[w, w]` of ...) are small and yet endless: where there are many pairs,
    none is looked at twice."""
    if a is b and pay is None and _is_surely_itself(a):
        return True
    pending = [(a, b)]
    unwatched = _MOST_UNWATCHED
    seen: set[tuple[int, int]] | None = None
    while pending:
        a, b = pending.pop()
        unwatched -= 1
        if unwatched < 0:
            identities = id(a), id(b)
            seen = set() if seen is None else seen
            if identities in seen:
                continue
            seen.add(identities)
        if len(a) != len(b):
            return False
        if pay is not None:
            pay(1 + len(a))
        if a.__class__ is dict and b.__class__ is dict:
            # INVARIANT (plain keys): between two dicts Python's lookup is CEL's.
            find_in_b = b.get
            for key, x in a.items():
                y = find_in_b(key, MISSING)
                kind = x.__class__
                if kind is str is y.__class__:
                    if x != y:
                        return False
                elif kind is dict is y.__class__:
                    pending.append((x, y))
                elif y is MISSING or not _is_equal_so_far(x, y, pending, pay):
                    return False
        else:
            for x, y in _pairs(a, b):
                if x.__class__ is str is y.__class__:
                    if x != y:
                        return False
                elif y is MISSING or not _is_equal_so_far(x, y, pending, pay):
                    return False
    return True


def _is_surely_itself(whole: Any) -> bool:
    """Return whether a container is of JSON, without NaN, and so equal to itself: that is seen
    faster than by comparing, which matters where a large object is compared again and again."""
    kind = whole.__class__
    if kind is not dict and kind is not list:
        return False
    pending = [whole]
    unwatched = _MOST_OF_JSON
    seen: set[int] = set()
    while pending:
        container = pending.pop()
        unwatched -= 1
        if unwatched < 0:
            if id(container) in seen:
                continue
            seen.add(id(container))
        for x in container.values() if container.__class__ is dict else container:
            kind = x.__class__
            if kind is dict or kind is list:
                pending.append(x)
            elif kind not in _THEMSELVES and (kind is not float or x != x):
                return False
    return True


def _is_equal_so_far(x: Any, y: Any, pending: list[tuple[Any, Any]], pay: Pay | None) -> bool:
    """Two values, up to the lists and maps in them, which are put into `pending`."""
    kind = x.__class__
    if kind is not y.__class__:
        return _equal_or_error(x, y, pay)
    if kind in _WITH_PARTS:
        pending.append((x, y))
        return True
    if kind in _PLAIN:
        return bool(x == y)
    while kind is Optional and x.value.__class__ is Optional is y.value.__class__:
        x, y = x.value, y.value
    if kind is Optional and x is not NONE and _same_parts(x, y):
        pending.append((x.value, y.value))
        return True
    return _equal_or_error(x, y, pay)


def _same_parts(x: Optional, y: Optional) -> bool:
    """Return whether both hold lists, or both maps."""
    return x.value.__class__ is y.value.__class__ and x.value.__class__ in _WITH_PARTS


def _pairs(a: Any, b: Any) -> Iterable[tuple[Any, Any]]:
    """Return what has to be equal: elements by position, values by key (`MISSING` for an absent
    one)."""
    if isinstance(a, list):
        return zip(a, b)  # noqa: B905 - they are as long, and saying so takes time
    return [(x, find(b, key)) for key, x in a.items()]


def _equal_or_error(x: object, y: object, pay: Pay | None) -> bool:
    try:
        return equal(x, y, pay)
    except CostLimitExceeded:
        raise
    except EvaluationError:
        return True


def _optionals_equal(a: Optional, b: Optional, pay: Pay | None) -> bool:
    if a is NONE or b is NONE:
        return a is b
    for content in (a.value, b.value):  # what an attribute may have made of it
        if content.__class__ is EvaluationError:
            if content is a.value or isinstance(a.value, Opaque):
                raise content
            return False
    if b.value is None and isinstance(a.value, Opaque):
        raise no_such_overload()
    return equal(a.value, b.value, pay)


def not_equal(a: object, b: object, pay: Pay | None = None) -> bool:
    """CEL `a != b`: true also where `a == b` fails."""
    try:
        return not equal(a, b, pay)
    except CostLimitExceeded:
        raise
    except EvaluationError:
        return True


def refusal(operator: str, left: object, having: frozenset[type]) -> EvaluationError:
    """Return the error of an operator that the operands do not support; `having` has the trait."""
    if left.__class__ in having or left.__class__ in RECEIVERS:
        return no_such_overload()
    return no_such_overload(operator)


def nan_error() -> EvaluationError:
    """NaN cannot be ordered against another number, and on the left against nothing."""
    return EvaluationError("NaN values cannot be ordered")


def _numbers_comparable(a: object, b: object) -> bool:
    """Return whether both are numbers; raises if one is NaN, or what is on the left. Callers then
    compare `float`s or ints."""
    if a.__class__ in _NUMBERS and b.__class__ in _NUMBERS:
        if a != a or b != b:
            raise nan_error()
        return True
    if a.__class__ is float and a != a:
        raise nan_error()
    return False


def _mixed(a: Any, b: Any) -> tuple[Any, Any]:
    if a.__class__ is float or b.__class__ is float:
        return float(a), float(b)
    return a, b


def less(a: Any, b: Any) -> bool:
    """Evaluate `a < b` for two values of one ordered type, or two numbers. Raises EvaluationError
    otherwise."""
    if a.__class__ is b.__class__ and a.__class__ in _ORDERED:
        return bool(a < b)
    if _numbers_comparable(a, b):
        x, y = _mixed(a, b)
        return bool(x < y)
    raise refusal("_<_", a, _COMPARERS)


def less_equals(a: Any, b: Any) -> bool:
    """Evaluate `a <= b`, as `less`."""
    if a.__class__ is b.__class__ and a.__class__ in _ORDERED:
        return bool(a <= b)
    if _numbers_comparable(a, b):
        x, y = _mixed(a, b)
        return bool(x <= y)
    raise refusal("_<=_", a, _COMPARERS)


def greater(a: Any, b: Any) -> bool:
    """Evaluate `a > b`, as `less`."""
    if a.__class__ is b.__class__ and a.__class__ in _ORDERED:
        return bool(a > b)
    if _numbers_comparable(a, b):
        x, y = _mixed(a, b)
        return bool(x > y)
    raise refusal("_>_", a, _COMPARERS)


def greater_equals(a: Any, b: Any) -> bool:
    """Evaluate `a >= b`, as `less`."""
    if a.__class__ is b.__class__ and a.__class__ in _ORDERED:
        return bool(a >= b)
    if _numbers_comparable(a, b):
        x, y = _mixed(a, b)
        return bool(x >= y)
    raise refusal("_>=_", a, _COMPARERS)


def is_comparable(value: object) -> bool:
    """Return whether values of this kind have an order at all."""
    return value.__class__ in _COMPARERS


def compare(a: Any, b: Any) -> int:
    """-1, 0 or 1; raises as the ordering operators do, without naming one."""
    if not (a.__class__ is b.__class__ and a.__class__ in _ORDERED):
        if not _numbers_comparable(a, b):
            raise no_such_overload()
        a, b = _mixed(a, b)
    if a == b:
        return 0
    return -1 if a < b else 1


# --- Many comparisons --------------------------------------------------------
#
# Which of many values may equal each other, so that not each is compared with each.

#: Parts of values that one call looks at; behind that, each is compared with each.
_MOST_PARTS = 1_000_000
#: Levels of values: what is nested deeper is compared in one loop for all levels.
_MOST_LEVELS = 50


def candidates(elements: Sequence[Any], others: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each element with those of the others that it may equal."""
    keys = common_keys((*elements, *others))
    alike: dict[Hashable, list[Any]] = {}
    for key, other in zip(keys[len(elements) :], others, strict=True):
        alike.setdefault(key, []).append(other)
    for key, element in zip(keys, elements, strict=False):
        yield element, alike.get(key, [])


def common_keys(values: Sequence[Any]) -> list[Hashable]:
    """Return a key for each value, so that equal values have the same one. All have None where
    there is one whose equality may fail or is not found by its parts, as that of abstract values,
    typed lists and maps with keys of all kinds; or where that is too much work."""
    keys = _CommonKeys()
    try:
        return [keys.of(value) for value in values]
    except NoKey:
        return [None] * len(values)


class NoKey(Exception):
    """Says that a value has no key, or a costly one."""


class _CommonKeys:
    """Makes the keys of one call. Texts take the place of numbers: what the hash of a text will be
    nobody can foresee, and with it values that share theirs."""

    def __init__(self) -> None:
        self._parts = _MOST_PARTS
        self._levels = _MOST_LEVELS

    def of(self, value: Any) -> Hashable:
        """Return the key. Raises NoKey."""
        kind = value.__class__
        self._parts -= 1
        if kind is str:
            return value  # type: ignore[no-any-return]  # the class was just compared
        if kind in _NUMBERS:
            number = float(value) + 0.0  # of -0.0, 0.0
            return ("number", number.hex()) if number == number else object()
        if kind in _PLAIN:
            return kind.__name__, value if kind is bytes else str(hash(value))
        if (kind is not dict and kind is not list) or self._parts < len(value) or not self._levels:
            raise NoKey
        self._levels -= 1
        key: Hashable
        if kind is dict:
            key = "map", frozenset((self.of(key), self.of(other)) for key, other in value.items())
        else:
            key = "list", tuple(map(self.of, value))
        self._levels += 1
        return key


class ExactKeys:
    """Makes keys that are the same exactly where values are equal, for what JSON holds. A list or
    map gets its key once: who asks for it again does not pay for what is in it."""

    def __init__(self) -> None:
        self._parts = _MOST_PARTS
        self._of_containers: dict[int, tuple[Any, object]] = {}
        self._alike: dict[Hashable, object] = {}

    def of(self, value: Any, levels: int = _MOST_LEVELS) -> Hashable:
        """Return the key. Raises NoKey, also for NaN and for doubles that integers equal after
        rounding."""
        kind = value.__class__
        if kind is str:
            return value  # type: ignore[no-any-return]  # the class was just compared
        if kind in _NUMBERS:
            # in bytes, whose hash nobody can foresee; of -0.0, 0.0
            if -FIRST_INEXACT < value < FIRST_INEXACT:
                return repr(float(value) + 0.0).encode()
            if kind is float:
                raise NoKey
            return str(int(value)).encode()
        if value is None or kind is bool:
            return value  # type: ignore[no-any-return]  # the class was just compared
        if kind is bytes:
            return kind, value
        if kind is Duration:
            return kind, str(value.nanoseconds)
        if kind is Timestamp:
            return kind, str((value.seconds, value.nanos))
        if kind is Optional and levels:
            return (kind,) if value is NONE else (kind, self.of(value.value, levels - 1))
        if kind is not dict and kind is not list:
            raise NoKey
        if (remembered := self._of_containers.get(id(value))) is not None:
            return remembered[1]
        self._parts -= 1 + len(value)
        if self._parts < 0 or not levels:
            raise NoKey
        parts: Hashable
        if kind is dict:
            parts = frozenset(
                (self.of(key), self.of(part, levels - 1)) for key, part in value.items()
            )
        else:
            parts = tuple([self.of(part, levels - 1) for part in value])
        key = self._alike.setdefault(parts, object())
        self._of_containers[id(value)] = value, key
        return key
