"""What plans do, piece by piece, and where they give up."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldmanager.compiled_merge import (
    UNKNOWN,
    Guard,
    Member,
    Plan,
    Unplanned,
    entered_member,
    entered_members,
    every_item,
    every_named,
    guarded,
    keyed_items,
    one_item,
    rootless,
    set_members,
    unchanged,
)
from celadon.kube.schemas.value_decoding import DROPPED

X = set_members({"x": 1})
NEW = {"name": "new"}
ONE = one_item("name", "b", X, NEW)
KEYED = keyed_items(("k", "l"), {(1, "a"): X, (2, "a"): X}, [{"k": 1}, {"k": 2}])
EVERY = every_item(("k", "l"), X, 2)
NAMED = every_named("name", X, 2)
SEVERAL = entered_members(
    [Member("a", X, {"x": 0}), Member("b", None, 2), Member("c", None, DROPPED)]
)


def named(*names: object) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


def pairs(*numbers: object) -> list[dict[str, Any]]:
    return [{"k": number, "l": "a"} for number in numbers]


@pytest.mark.parametrize(
    ("plan", "live", "made"),
    [
        (unchanged, {"a": 1}, {"a": 1}),
        (X, {"a": 1, "x": 2}, {"a": 1, "x": 1}),
        (SEVERAL, {"c": 1, "d": 1}, {"d": 1, "a": {"x": 0}, "b": 2}),
        (SEVERAL, {"a": {"y": 1}, "b": 1}, {"a": {"y": 1, "x": 1}, "b": 2}),
        (entered_member("a", X, {"x": 0}), {}, {"a": {"x": 0}}),
        (entered_member("a", X, UNKNOWN), {"a": {}}, {"a": {"x": 1}}),
        (ONE, [], [NEW]),
        (ONE, named("a", "a"), [*named("a", "a"), NEW]),
        (ONE, named("a", "b", "c"), [{"name": "a"}, {"name": "b", "x": 1}, {"name": "c"}]),
        (KEYED, pairs(3), [*pairs(3), {"k": 1}, {"k": 2}]),
        (
            KEYED,
            pairs(1, 3, 2),
            [{**one, "x": 1} if one["k"] < 3 else one for one in pairs(1, 3, 2)],
        ),
        (EVERY, pairs(1, 2), [{**one, "x": 1} for one in pairs(1, 2)]),
        (NAMED, named("a", "b"), [{**one, "x": 1} for one in named("a", "b")]),
        (rootless(X, [("a", "b")]), {"a": {"c": 1}}, {"a": {"c": 1}, "x": 1}),
        (guarded(X, Guard(frozenset({"y"}), [("x", lambda one: one > 1)])), {}, {"x": 1}),
    ],
)
def test_what_becomes_of_it(plan: Plan, live: Any, made: Any) -> None:
    assert plan(live) == made


@pytest.mark.parametrize(
    ("plan", "live"),
    [
        (unchanged, []),
        (X, []),
        (SEVERAL, []),
        (entered_members([Member("a", X, UNKNOWN), Member("b", None, 1)]), {}),
        (entered_member("a", X, 1), "text"),
        (entered_member("a", X, UNKNOWN), {}),
        (ONE, {}),
        (ONE, named("b", "b")),
        (ONE, named("b", 1)),
        (KEYED, {}),
        (KEYED, ["text"]),
        (KEYED, pairs(1)),
        (KEYED, pairs(2, 1)),
        (KEYED, pairs(1, 1, 2)),
        (KEYED, pairs(1, True)),
        (KEYED, pairs(1, 2.0)),
        (KEYED, [{"k": 1}]),
        (EVERY, []),
        (EVERY, pairs(1, 1)),
        (EVERY, pairs(1, 2, 3)),
        (EVERY, [{"k": 1, "l": ""}]),
        (NAMED, []),
        (NAMED, named("a", "a")),
        (NAMED, named("a", "b", "c")),
        (NAMED, named("")),
        (NAMED, named(1)),
        (rootless(X, [("a", "b")]), {"a": {"b": False}}),
        (guarded(X, Guard(frozenset({"y"}), [])), {"y": 1}),
        (guarded(X, Guard(frozenset(), [("y", bool)])), {"y": 1}),
    ],
)
def test_where_it_gives_up(plan: Plan, live: Any) -> None:
    with pytest.raises(Unplanned):
        plan(live)
