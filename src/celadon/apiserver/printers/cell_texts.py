"""What cells are made of: members of an object, ages, lists cut short, selectors.

Objects have been validated, so a member has the type that its schema says, or is not there. Times
are seconds since 1970; the time of asking is always an argument.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import QuantityError, parse
from celadon.kube.resources import UNKNOWN_AGE, human_duration
from celadon.kube.selectors import SelectorError, label_selector
from celadon.records import dataclass

Cell: TypeAlias = str | int | float | bool | None
CellsOf: TypeAlias = Callable[[JsonObject, float], list[Cell]]
"""The cells of an object at a time, in the order of the kind's columns."""


@dataclass(frozen=True, slots=True)
class Row:
    """Holds what the cells of one row share. `results` are what one cell has worked out for
    others."""

    obj: JsonObject
    now: float
    results: JsonDict


NONE: Final = "<none>"
UNSET: Final = "<unset>"
UNKNOWN: Final = "<unknown>"
INVALID: Final = "<invalid>"

SHOWN: Final = 3
"""How many addresses, ports and hosts a cell names."""

LONGEST: Final = (2**63 - 1) // 10**9
"""Seconds in the longest duration that Go knows; differences beyond it count as that."""


def at(value: object, *path: str) -> Any:  # noqa: ANN401 - any JSON
    """The value that the members lead to; None where one is not there."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def text(value: object, *path: str) -> str:
    """A text; empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def number(value: object, *path: str) -> int:
    """An integer; 0 where there is none."""
    found = at(value, *path)
    return found if isinstance(found, int) else 0


def items(value: object, *path: str) -> Sequence[Any]:
    """A list; empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, list) else ()


def size(value: object, *path: str) -> int:
    """Return how many members or elements there are."""
    found = at(value, *path)
    return len(found) if isinstance(found, list | Mapping) else 0


def seconds(timestamp: str) -> float:
    """Return the seconds of a timestamp as objects have it, in RFC 3339 and UTC."""
    return datetime.datetime.fromisoformat(timestamp).timestamp()


def since(timestamp: str, now: float) -> str:
    """Return how long ago; `<unknown>` for a time that is not set."""
    return elapsed(now - seconds(timestamp)) if timestamp else UNKNOWN_AGE


def elapsed(duration: float) -> str:
    """A number of seconds for human eyes."""
    return human_duration(int(max(-LONGEST, min(duration, LONGEST))))


def joined(values: Sequence[str], *, separator: str = ",", total: int | None = None) -> str:
    """The values given, and how many more there are when `total` says so."""
    shown = separator.join(values)
    rest = 0 if total is None else total - len(values)
    return f"{shown} + {rest} more..." if rest > 0 else shown


def first_three(values: Sequence[str], default: str) -> str:
    """Join as many of the values as are shown, and the number of the others."""
    return joined(values[:SHOWN], total=len(values)) if values else default


def labels_text(labels: Any) -> str:  # noqa: ANN401 - any JSON
    """`a=b,c=d`, sorted; `<none>` without any."""
    if not labels:
        return NONE
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels))


def selector_text(selector: Any, empty: str = NONE, broken: str = "<error>") -> str:  # noqa: ANN401
    """The canonical text of a label selector; `empty` for one that selects all or nothing."""
    try:
        return str(label_selector(selector)) or empty
    except SelectorError:
        return broken


def quantity_text(amount: object) -> str:
    """An amount in its canonical form; `0` where there is none."""
    if amount is None:
        return "0"
    try:
        return str(parse(str(amount)))
    except QuantityError:
        return str(amount)


def condition(obj: object, kind: str) -> JsonObject | None:
    """The first condition of a type in `status`."""
    found = items(obj, "status", "conditions")
    return next((one for one in found if text(one, "type") == kind), None)


def is_true(obj: JsonObject, kind: str) -> bool:
    """Return whether the first condition of this type holds."""
    found = condition(obj, kind)
    return found is not None and text(found, "status") == "True"


def texts(values: Iterable[Any], member: str) -> list[str]:
    """One member of each object in a list."""
    return [text(one, member) for one in values]
