"""Fields that are called immutable."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.prove import Answer
from celadon.prove.definitions import Change, ChangeReply, Transitions
from celadon.prove.definitions.rule_questions import subjects
from tests.prove.definitions.definitions import (
    INTEGER,
    RELEASE,
    TEXT,
    keyed,
    kind_of,
    listed,
    obj,
    rules,
)

CLAIM = "the size is immutable"
FIXED = INTEGER | rules("self == oldSelf", message=CLAIM)
KEPT = rules("has(self.size) == has(oldSelf.size)")


def found(spec: dict[str, Any], *required: str) -> dict[Change, ChangeReply]:
    kind = kind_of(spec, required=list(required))
    with answering_as(RELEASE):
        return {one.change: one for one in Transitions(kind, RELEASE).replies()}


def _has_items(count: int) -> str:
    """An expression that so many items of the list have to be different for."""
    return " && ".join(f"self.list.exists(x, x == {number})" for number in range(count))


CASES: list[tuple[str, dict[str, Any], tuple[str, ...], dict[Change, Answer]]] = [
    (
        "it can be removed and added",
        obj(size=FIXED),
        ("spec",),
        {Change.CHANGED: Answer.NO, Change.REMOVED: Answer.YES, Change.REPLACED: Answer.YES},
    ),
    (
        "it has to be there",
        obj(("size",), size=FIXED),
        ("spec",),
        {Change.CHANGED: Answer.NO, Change.REMOVED: Answer.NO},
    ),
    (
        "what is around it can be removed",
        obj(("size",), size=FIXED),
        (),
        {Change.CHANGED: Answer.NO, Change.REMOVED: Answer.YES, Change.REPLACED: Answer.YES},
    ),
    (
        "a rule says that it stays",
        obj(size=FIXED) | KEPT,
        ("spec",),
        {Change.CHANGED: Answer.NO, Change.REMOVED: Answer.NO},
    ),
    (
        "it has a default",
        obj(size=FIXED | {"default": 1}),
        ("spec",),
        {Change.CHANGED: Answer.NO, Change.REMOVED: Answer.NO},
    ),
    (
        "once it was set",
        obj(("size",), size=INTEGER)
        | rules("self.size == oldSelf.size || oldSelf.size == 0", message=CLAIM),
        ("spec",),
        {Change.CHANGED: Answer.YES, Change.REMOVED: Answer.NO},
    ),
    (
        "by three items, when two are looked at first",
        obj(("size", "list"), size=INTEGER, list=listed(INTEGER, maxItems=5))
        | rules(f"self.size == oldSelf.size || ({_has_items(3)})", message=CLAIM),
        ("spec",),
        {Change.CHANGED: Answer.YES, Change.REMOVED: Answer.NO},
    ),
    (
        "by more items than are looked at",
        obj(("size", "list"), size=INTEGER, list=listed(INTEGER, maxItems=9))
        | rules(f"self.size == oldSelf.size || ({_has_items(8)})", message=CLAIM),
        ("spec",),
        dict.fromkeys(Change, Answer.BOUNDED),
    ),
    (
        "a rule that also looks at creation",
        obj(("size",), size=INTEGER)
        | rules(
            "oldSelf.optMap(old, old.size == self.size).orValue(true)",
            message=CLAIM,
            optionalOldSelf=True,
        ),
        ("spec",),
        {},
    ),
    (
        "an optional that has a value",
        obj(("size",), size=INTEGER)
        | rules(
            "!oldSelf.hasValue() || self.size == oldSelf.value().size",
            message=CLAIM,
            optionalOldSelf=True,
        ),
        ("spec",),
        {Change.CHANGED: Answer.NO, Change.REMOVED: Answer.NO},
    ),
    (
        "items with keys",
        obj(("parts",), parts=keyed(obj(("name", "size"), name=TEXT, size=FIXED), "name")),
        ("spec",),
        {Change.CHANGED: Answer.NO},
    ),
]


@pytest.mark.parametrize(
    ("spec", "required", "answers"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_changes(
    spec: dict[str, Any], required: tuple[str, ...], answers: dict[Change, Answer]
) -> None:
    assert {change: one.answer for change, one in found(spec, *required).items()} == answers


def test_the_objects_before_and_after() -> None:
    reply = found(obj(size=FIXED), "spec")[Change.REPLACED]
    first, between, last = (one["spec"] for one in reply.objects)
    assert first.keys() == last.keys() == {"size"}
    assert first != last
    assert between == {}
    assert reply.is_finding


@pytest.mark.parametrize(
    ("message", "is_claimed"),
    [("is immutable", True), ("may not be changed", True), ("cannot change", True), ("odd", False)],
)
def test_what_a_rule_claims(message: str, is_claimed: bool) -> None:
    spec = obj(("size",), size=INTEGER) | rules("self.size == oldSelf.size", message=message)
    with answering_as(RELEASE):
        (subject,) = subjects(kind_of(spec))
    assert (subject.text, subject.is_claimed) == ("spec.size", is_claimed)
