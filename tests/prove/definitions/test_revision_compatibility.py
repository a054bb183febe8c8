"""Stored objects that a new revision of their definition takes for invalid."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.prove import Answer
from celadon.prove.definitions import RevisionReply, Revisions
from celadon.prove.definitions.revision_compatibility import seen_alike
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


def replies(old: dict[str, Any], new: dict[str, Any]) -> list[RevisionReply]:
    return list(Revisions(kind_of(old), kind_of(new), RELEASE).replies())


SMALL = INTEGER | {"maximum": 5}
LARGE = INTEGER | {"maximum": 10}
NAMED = obj(("name",), name=TEXT)

CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Answer]]] = [
    ("nothing", obj(a=LARGE), obj(a=LARGE), {}),
    ("a wider range", obj(a=SMALL), obj(a=LARGE), {"spec.a: maximum": Answer.NO}),
    ("a narrower range", obj(a=LARGE), obj(a=SMALL), {"spec.a: maximum": Answer.YES}),
    (
        "one that a rule had",
        obj(a=LARGE) | rules("!has(self.a) || self.a < 4"),
        obj(a=SMALL),
        {"spec.a: maximum": Answer.NO},
    ),
    (
        "a bound of zero",
        obj(a=INTEGER),
        obj(a=INTEGER | {"minimum": 0}),
        {"spec.a: minimum": Answer.YES},
    ),
    ("a required field", obj(a=TEXT), obj(("a",), a=TEXT), {"spec: required: a": Answer.YES}),
    ("one with a default", obj(a=TEXT), obj(("a",), a=TEXT | {"default": "x"}), {}),
    (
        "a null that goes",
        obj(("a",), a=TEXT | {"nullable": True}),
        obj(("a",), a=TEXT),
        {"spec: required: a": Answer.YES},
    ),
    ("another type", obj(a=INTEGER), obj(a=TEXT), {"spec.a: type": Answer.YES}),
    (
        "a rule about an integer that is a number",
        obj(a=LARGE),
        obj(a={"type": "number"}) | rules("!has(self.a) || self.a < 4.0"),
        {"spec.a: type": Answer.NO, "spec: rule 0": Answer.UNKNOWN},
    ),
    ("a pattern", obj(a=TEXT), obj(a=TEXT | {"pattern": "^a*$"}), {"spec.a: pattern": Answer.YES}),
    (
        "a pattern that was an enumeration",
        obj(a=TEXT | {"enum": ["a", "aa"]}),
        obj(a=TEXT | {"pattern": "^a*$"}),
        {"spec.a: pattern": Answer.NO},
    ),
    (
        "fewer choices",
        obj(a=TEXT | {"enum": ["a", "b"]}),
        obj(a=TEXT | {"enum": ["a"]}),
        {"spec.a: enum": Answer.YES},
    ),
    (
        "a set",
        obj(a=listed(TEXT)),
        obj(a=listed(TEXT) | {"x-kubernetes-list-type": "set"}),
        {"spec.a: x-kubernetes-list-type": Answer.YES},
    ),
    (
        "keys",
        obj(a=listed(NAMED)),
        obj(a=keyed(NAMED, "name")),
        {"spec.a: x-kubernetes-list-type": Answer.YES},
    ),
    ("items", obj(a=listed(LARGE)), obj(a=listed(SMALL)), {"spec.a[*]: maximum": Answer.YES}),
    (
        "entries",
        obj(a={"type": "object", "additionalProperties": LARGE}),
        obj(a={"type": "object", "additionalProperties": SMALL}),
        {"spec.a{*}: maximum": Answer.YES},
    ),
    (
        "a rule",
        obj(a=LARGE),
        obj(a=LARGE) | rules("!has(self.a) || self.a != 3"),
        {"spec: rule 0": Answer.YES},
    ),
    (
        "a rule that always held",
        obj(a=SMALL),
        obj(a=SMALL) | rules("!has(self.a) || self.a < 6"),
        {"spec: rule 0": Answer.NO},
    ),
    (
        "a rule about a default",
        obj(a=INTEGER),
        obj(a=INTEGER | {"default": 3}) | rules("self.a != 3"),
        {"spec: rule 0": Answer.YES},
    ),
    (
        "a rule about what is pruned",
        obj(a=INTEGER, b=INTEGER) | rules("true"),
        obj(a=INTEGER) | rules("true"),
        {"spec: rule 0": Answer.NO},
    ),
    ("a rule that compares", obj(a=LARGE), obj(a=LARGE) | rules("self == oldSelf"), {}),
    (
        "a branch",
        obj(a=TEXT, b=TEXT),
        obj(a=TEXT, b=TEXT) | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"spec: oneOf": Answer.YES},
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "answers"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_answers(old: dict[str, Any], new: dict[str, Any], answers: dict[str, Answer]) -> None:
    assert {one.demand.text: one.answer for one in replies(old, new)} == answers


ENTRIES = {"type": "object", "additionalProperties": TEXT}


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        # Rules see values, and not what limits them.
        (LARGE, SMALL, True),
        (TEXT, TEXT | {"pattern": "^a$"}, True),
        (INTEGER, TEXT, False),
        (INTEGER, {"type": "number"}, False),
        (TEXT, TEXT | {"format": "date"}, False),
        (TEXT, TEXT | {"nullable": True}, False),
        (TEXT, TEXT | {"default": "a"}, False),
        (obj(a=LARGE), obj(a=SMALL), True),
        (obj(a=LARGE), obj(b=LARGE), False),
        (obj(a=LARGE), obj(a=LARGE, b=TEXT), False),
        (obj(a=LARGE), obj(("a",), a=LARGE), True),
        (obj(a=obj(b=TEXT)), obj(a=obj(b=INTEGER)), False),
        (listed(LARGE), listed(SMALL), True),
        (listed(LARGE), listed(TEXT), False),
        (listed(NAMED), keyed(NAMED, "name"), False),
        (ENTRIES, ENTRIES | {"additionalProperties": TEXT | {"maxLength": 1}}, True),
        (ENTRIES, ENTRIES | {"additionalProperties": INTEGER}, False),
        (ENTRIES, obj(a=TEXT), False),
    ],
)
def test_what_rules_see_alike(old: dict[str, Any], new: dict[str, Any], alike: bool) -> None:
    sides = (kind_of(one).schema.properties["spec"] for one in (old, new))
    assert seen_alike(*sides) is alike


def test_rules_of_the_whole_object_held() -> None:
    """A rule of the old revision at its root keeps objects from being invalid in the new one."""
    old = kind_of(obj(a=LARGE), **rules("!has(self.spec) || !has(self.spec.a) || self.spec.a < 4"))
    answers = list(Revisions(old, kind_of(obj(a=SMALL)), RELEASE).replies())
    assert [(one.demand.text, one.answer) for one in answers] == [("spec.a: maximum", Answer.NO)]


def test_the_object_and_what_is_said_of_it() -> None:
    (reply,) = replies(obj(a=LARGE), obj(a=SMALL))
    assert reply.example is not None
    assert reply.example["spec"]["a"] > 5
    assert reply.errors[0].startswith("spec.a: Invalid value: ")
    assert reply.is_forgiven


def test_what_ratcheting_does_not_forgive() -> None:
    branch = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    root = kind_of(obj(), properties={"spec": obj(), "a": TEXT, "b": TEXT})
    strict = kind_of(obj(), properties={"spec": obj(), "a": TEXT, "b": TEXT}, **branch)
    (reply,) = Revisions(root, strict, RELEASE).replies()
    assert reply.answer is Answer.YES
    assert not reply.is_forgiven
