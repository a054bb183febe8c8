"""What Kyverno says of values and leaves; and of patterns, as the oracle of the tests has it."""

from __future__ import annotations

import pytest

from celadon.kube import Json
from celadon.migrate.kyverno.patterns import scalar_matches
from tests.migrate.kyverno.pattern_evaluator import Result, matched

PASS, FAIL, SKIP = Result.PASS, Result.FAIL, Result.SKIP


@pytest.mark.parametrize(
    ("value", "pattern", "matches"),
    [
        (True, True, True),
        (True, "true", True),
        (None, False, False),
        (None, "!x", False),
        (None, "<=5", True),
        (None, None, True),
        (0, None, True),
        ("", None, True),
        ([], None, False),
        (80, 80, True),
        ("80", 80, True),
        (80, "1-100", True),
        (True, 1, False),
        (1.5, "1.5", True),
        ("1Gi", ">500Mi", True),
        ("1024Mi", "1Gi", True),
        ("90s", "<2m", True),
        ("nginx:latest", "*:latest | !*:*", True),
        ("nginx", "*:latest | !*:*", True),
        ("nginx:1", "*:latest | !*:*", False),
        ("a", ">b", False),
        ("a|b", "a|b", True),
        ({}, "*", False),
    ],
)
def test_scalars(value: Json, pattern: Json, *, matches: bool) -> None:
    assert scalar_matches(value, pattern) is matches


@pytest.mark.parametrize(
    ("value", "pattern", "result"),
    [
        ({"a": 1}, {"a": "*"}, PASS),
        ({}, {"a": "*"}, FAIL),
        ({}, {"a": {"b": 1}}, FAIL),
        ({}, {"=(a)": 1}, PASS),
        ({"a": 2}, {"=(a)": 1}, FAIL),
        ({"a": 2}, {"X(a)": "null"}, FAIL),
        ({}, {"X(a)": "null"}, PASS),
        ({"a": 2}, {"(a)": 1, "b": 1}, SKIP),
        ({}, {"(a)": 1, "b": 1}, SKIP),
        ({}, {"<(a)": 1, "b": 1}, FAIL),
        ({"a": 2}, {"<(a)": 1, "b": 1}, SKIP),
        ({"a": 1, "b": 2}, {"(a)": 1, "b": 1}, FAIL),
        ({"a": [1, 2]}, {"a": ">0"}, PASS),
        ({"a": [1, 0]}, {"a": ">0"}, FAIL),
        ({"a": [{"n": "x"}, {"n": "y", "v": 1}]}, {"a": [{"(n)": "y", "v": 1}]}, PASS),
        ({"a": [{"n": "x"}, {"n": "y", "v": 2}]}, {"a": [{"(n)": "y", "v": 1}]}, FAIL),
        ({"a": [{"n": "x"}]}, {"a": [{"(n)": "y", "v": 1}]}, SKIP),
        ({"a": []}, {"a": [{"(n)": "y", "v": 1}]}, PASS),
        ({"a": [{"n": 1}, {"n": 2}]}, {"^(a)": [{"n": 2}]}, PASS),
        ({"a": [{"n": 1}]}, {"^(a)": [{"n": 2}]}, FAIL),
        ({"a": {"b": 1}}, {"=(a)": {"(b)": 2}}, SKIP),
        ({"a": {"b": 1}, "c": 2}, {"=(a)": {"(b)": 2}, "X(c)": 1}, FAIL),
        ({"a": 1}, {"a": {}}, FAIL),
        ({"a": [[1]]}, {"a": [[1]]}, PASS),
        (
            {"metadata": {"labels": {"x/a": "1", "y": "2"}}},
            {"metadata": {"labels": {"x/*": "1"}}},
            PASS,
        ),
        ({"metadata": {"labels": {"y": "2"}}}, {"metadata": {"labels": {"x/*": "1"}}}, FAIL),
        ({"metadata": {"labels": {"x/a": "2"}}}, {"metadata": {"labels": {"X(x/*)": "?*"}}}, FAIL),
    ],
)
def test_patterns(value: Json, pattern: Json, result: Result) -> None:
    assert matched(value, pattern) is result
