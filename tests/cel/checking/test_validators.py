"""Validators: literals that could never work, and how a validator is run."""

from __future__ import annotations

import pytest

from celadon.cel.checking import validators
from celadon.cel.checking.checker import check
from celadon.cel.checking.scope import Declarations
from celadon.cel.checking.validators import run
from celadon.cel.declarations import (
    Function,
    Library,
    Overload,
    ValidationContext,
    Validator,
    Variable,
)
from celadon.cel.errors import Source
from celadon.cel.library.standard import LIBRARY
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.syntax import CheckedAst, Comprehension, ListLiteral, Literal, Struct
from celadon.cel.types import DYN, LIST, STRING

_EXEMPT = Function("exempt", (Overload("exempt_list", (LIST,), STRING),))
_SCOPE = Declarations.build(
    (LIBRARY, Library("test", (_EXEMPT,))), [Variable("d", DYN), Variable("m", DYN)]
)


def _checked(text: str) -> CheckedAst:
    ast, issues = parse(Source(text), ParseOptions())
    assert ast is not None, issues.display()
    checked, issues = check(ast, _SCOPE)
    assert checked is not None, issues.display()
    return checked


def _run(text: str, *selected: Validator) -> list[tuple[int | None, str]]:
    return [(issue.offset, issue.message) for issue in run(_checked(text), selected)]


@pytest.mark.parametrize("text", ["1h30m", "0", "-1.5h", "1us", ".5s", "1h1m1s1ms1us1ns"])
def test_good_durations(text: str) -> None:
    assert _run(f"duration('{text}')", validators.DURATION) == []


@pytest.mark.parametrize("literal", ["''", "'1'", "'1d'", "' 1s'", "'9999999h'", "5", "null"])
def test_bad_durations(literal: str) -> None:
    assert _run(f"duration({literal})", validators.DURATION) == [(9, "invalid duration argument")]


@pytest.mark.parametrize(
    "literal",
    ["'2023-01-01T00:00:00Z'", "'2023-01-01T00:00:00,5+01:00'", "0", "253402300799"],
)
def test_good_timestamps(literal: str) -> None:
    assert _run(f"timestamp({literal})", validators.TIMESTAMP) == []


@pytest.mark.parametrize(
    "literal", ["''", "'2023-01-01'", "'2023-01-01t00:00:00z'", "253402300800", "null"]
)
def test_bad_timestamps(literal: str) -> None:
    found = _run(f"timestamp({literal})", validators.TIMESTAMP)
    assert found == [(10, "invalid timestamp argument")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("d.matches('a+')", []),
        ("d.matches('(?!a)')", [(10, "invalid matches argument")]),
        ("matches('a', '(')", []),
        ("matches('(', 'a')", [(8, "invalid matches argument")]),
        ("d.matches(d)", []),
    ],
)
def test_patterns(text: str, found: list[tuple[int, str]]) -> None:
    assert _run(text, validators.MATCHES) == found


def test_what_is_not_a_literal_is_not_looked_at() -> None:
    assert _run("duration('1' + 'd') == duration(d)", validators.DURATION) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", []),
        ("[1, 2]", []),
        ("[dyn(1), dyn('a')]", []),
        ("[1, 'a', b'b']", [(4, "expected type 'int' but found 'string'")]),
        ("[d, 1]", [(4, "expected type 'dyn' but found 'int'")]),
        ("[[], [1]]", []),
        ("[type(1), type('a')]", [(14, "expected type 'type(int)' but found 'type(string)'")]),
        ("{'a': 1, 'b': 'c'}", [(14, "expected type 'int' but found 'string'")]),
        ("[?m.?a, d]", []),
        ("[google.protobuf.Int64Value{value: 1}, 1]", []),
        ("exempt([1, 'a'])", []),
        ("exempt([[1, ['b', 2]]])", []),
        ("exempt([1]) == [1, 'a'][0]", [(19, "expected type 'int' but found 'string'")]),
    ],
)
def test_homogeneous_literals(text: str, found: list[tuple[int, str]]) -> None:
    exempting = Validator("exempting", lambda context: None, frozenset({"exempt"}))
    assert _run(text, validators.HOMOGENEOUS_LITERALS, exempting) == found


def test_lists_are_reported_before_maps() -> None:
    issues = run(
        _checked("[{'a': 1, 'b': 'c'}.a, [1, 'd'][0]].size()"),
        (validators.HOMOGENEOUS_LITERALS,),
    )
    assert len(issues) == 2


@pytest.mark.parametrize(
    ("text", "limit", "count"),
    [
        ("[1].map(x, x)", 1, 0),
        ("[1].map(x, x)", 0, 1),
        ("[1].map(x, [1].map(y, y))", 1, 1),
        ("[1].map(x, x).map(y, y)", 1, 1),
        ("[].map(x, [1].map(y, y))", 1, 0),
    ],
)
def test_comprehension_nesting_limit(text: str, limit: int, count: int) -> None:
    found = _run(text, validators.comprehension_nesting_limit(limit))
    assert [message for _, message in found] == ["comprehension exceeds nesting limit"] * count


def test_nodes_come_children_first_and_left_to_right() -> None:
    seen: list[object] = []

    def note(context: ValidationContext) -> None:
        seen.extend(node.value for node in context.of_class(Literal))
        seen.extend(len(node.elements) for node in context.of_class(ListLiteral))
        seen.extend(context.of_class(Struct))

    run(_checked("[1, d.x, [2, 3]] == [4].map(y, y)"), (Validator("note", note),))
    assert seen == [1, 2, 3, 4, True, 2, 3, 1, 0, 1]


def test_ancestors_are_nearest_first() -> None:
    checked = _checked("[[1].map(x, x)]")

    def blame(context: ValidationContext) -> None:
        for node in context.of_class(Comprehension):
            for above in context.ancestors(node):
                context.report(above.id, type(above).__name__)

    issues = run(checked, (Validator("blame", blame),))
    assert [(issue.offset, issue.message) for issue in issues] == [(0, "ListLiteral")]


def test_validators_are_called_as_in_cel_go() -> None:
    known = (
        validators.DURATION,
        validators.TIMESTAMP,
        validators.MATCHES,
        validators.HOMOGENEOUS_LITERALS,
        validators.comprehension_nesting_limit(1),
    )
    assert [one.name for one in known] == [
        "cel.validator.duration",
        "cel.validator.timestamp",
        "cel.validator.matches",
        "cel.validator.homogeneous_literals",
        "cel.validator.comprehension_nesting_limit",
    ]
