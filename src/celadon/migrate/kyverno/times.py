"""Kyverno's functions of times that are written down: CEL compares and adds them; it has no clock.

Facts are those of Kyverno's `pkg/engine/jmespath/time.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from celadon.migrate.cel_text import Condition, comparison, conjunction
from celadon.migrate.kyverno.queries import Computed, Query, Truth, single
from celadon.migrate.shapes import Form
from celadon.migrate.translations import NotTranslated


def _instant(value: Query) -> Computed:
    one = single(value)
    if one.form is Form.INSTANT:
        return one
    if one.form not in (Form.STRING, Form.ANY):
        raise NotTranslated("a time that is no text")
    return Computed(f"timestamp({one.text})", Form.INSTANT, one.there)


def _compared(before: Query, after: Query) -> Condition:
    one, other = _instant(before), _instant(after)
    return conjunction([one.there, other.there, comparison(one.text, "<", other.text)])


def _before(one: Query, other: Query) -> Query:
    return Truth(_compared(one, other))


def _after(one: Query, other: Query) -> Query:
    return Truth(_compared(other, one))


def _between(time: Query, start: Query, end: Query) -> Query:
    return Truth(conjunction([_compared(start, time), _compared(time, end)]))


def _diff(start: Query, end: Query) -> Query:
    one, other = _instant(start), _instant(end)
    there = conjunction([one.there, other.there])
    return Computed(f"({other.text} - {one.text})", Form.SPAN, there)


def _add(time: Query, span: Query) -> Query:
    one, other = _instant(time), single(span)
    if other.form is not Form.SPAN:
        other = Computed(f"duration({other.text})", Form.SPAN, other.there)
    there = conjunction([one.there, other.there])
    return Computed(f"({one.text} + {other.text})", Form.INSTANT, there)


TIMES: Final[Mapping[str, tuple[int, int, Callable[..., Query]]]] = {
    "time_add": (2, 2, _add),
    "time_after": (2, 2, _after),
    "time_before": (2, 2, _before),
    "time_between": (3, 3, _between),
    "time_diff": (2, 2, _diff),
    "time_utc": (1, 1, _instant),
}
"""Functions by name: how many arguments they have, and what they read."""
