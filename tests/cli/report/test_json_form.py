"""Records as plain data: by their fields, or as their shapes say."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from celadon.cli.check.check_report import Notice, NoticeReason, Place, PolicyError, UnaskedPlugin
from celadon.cli.reading.documents import Problem
from celadon.cli.report.report_model import (
    SHAPES,
    ReportView,
    Shape,
    as_json,
    as_yaml,
    data,
    document,
    filled,
    json_document,
    json_line,
    plugins,
    sparse,
)


class _Colour(enum.Enum):
    RED = "red"


@dataclass
class _Record:
    first_name: str = ""
    count: int = 0
    is_open: bool = False
    colour: _Colour | None = None
    place: Place = field(default_factory=Place)
    inner: tuple[Any, ...] = ()


FULL = _Record("a", 3, True, _Colour.RED, Place("f.yaml", 2), ({"k": 1.5},))


def test_a_record_without_a_shape_has_its_fields() -> None:
    assert data(FULL) == {
        "firstName": "a",
        "count": 3,
        "isOpen": True,
        "colour": "red",
        "place": {"file": "f.yaml", "line": 2},
        "inner": [{"k": 1.5}],
    }
    assert data(_Record()) == {"count": 0, "isOpen": False}


SHAPED: list[tuple[Shape, object, object]] = [
    (("first_name",), {"firstName": "a"}, {}),
    (("called=first_name",), {"called": "a"}, {}),
    (("line=place.line",), {"line": 2}, {"line": 0}),
    (("count", "count?"), {"count": 3}, {"count": 0}),
    (("count?",), {"count": 3}, {}),
    (("first_name!",), {"firstName": "a"}, {"firstName": ""}),
    (("*place", "count"), {"file": "f.yaml", "line": 2, "count": 3}, {"count": 0}),
    ((("twice", lambda one: one.count * 2),), {"twice": 6}, {"twice": 0}),
    (
        sparse("count", "is_open", "first_name!"),
        {"count": 3, "isOpen": True, "firstName": "a"},
        {"firstName": ""},
    ),
    (lambda one: one.count, 3, 0),
]


@pytest.mark.parametrize(("shape", "full", "empty"), SHAPED)
def test_shapes(shape: Shape, full: object, empty: object) -> None:
    shapes = {**SHAPES, _Record: shape}
    assert data(FULL, shapes) == full
    assert data([_Record()], shapes) == [empty]


def test_a_shape_is_also_that_of_classes_below() -> None:
    class Special(_Record):
        pass

    assert data(Special("a"), {_Record: ("first_name",)}) == {"firstName": "a"}
    assert data(_Colour.RED, {enum.Enum: lambda one: one.name}) == "RED"


def test_what_all_reports_have() -> None:
    place = Place("f.yaml", 2)
    values = [
        Problem("f.yaml", 0, "no", column=0),
        Problem("f.yaml", 1, "no", "so", column=7),
        PolicyError(place, "K", "n", "p", "no"),
        Notice(NoticeReason.NO_POLICY, Place(), "none"),
    ]
    assert data(values) == [
        {"file": "f.yaml", "message": "no"},
        {"file": "f.yaml", "line": 1, "column": 7, "message": "no", "help": "so"},
        {"file": "f.yaml", "line": 2, "kind": "K", "name": "n", "message": "no"},
        {"reason": "no-policy", "message": "none"},
    ]
    assert plugins(["A"], [UnaskedPlugin("B", "why"), UnaskedPlugin("C", "why", 2)]) == {
        "asked": ["A"],
        "unasked": [
            {"plugin": "B", "reason": "why"},
            {"plugin": "C", "reason": "why", "objects": 2},
        ],
    }


def test_what_is_none_of_these_is_its_text() -> None:
    assert data(1 + 2j) == "(1+2j)"


def test_documents() -> None:
    class View(ReportView[None]):
        def data(self) -> dict[str, Any]:
            return document("K", text="é", none=[])

    assert as_json(View(None)) == (
        '{\n  "apiVersion": "celadon/v1",\n  "kind": "K",\n  "text": "é",\n  "none": []\n}\n'
    )
    assert as_yaml(View(None)) == "apiVersion: celadon/v1\nkind: K\ntext: é\nnone: []\n"
    assert json_line({"a": [1]}) == '{"a":[1]}\n'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x9b31m\x7f", r"\u001b[2J\u009b31m\u007f"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("##[error]x ##vso[y #a", r"\u0023#[error]x \u0023#vso[y #a"),
        ("ä😀\u200d", "ä😀\u200d"),
    ],
)
def test_a_terminal_obeys_no_text_in_json(text: str, shown: str) -> None:
    for made in (json_line({"a": text}), json_document({"a": text})):
        assert f'"{shown}"' in made
        assert json.loads(made) == {"a": text}
    assert filled(a=0, b="", c=None, d={}, e=False, f=[1]) == {"a": 0, "e": False, "f": [1]}
