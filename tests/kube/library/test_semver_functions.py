"""The semver library: strict and lenient reading, numbers beyond int64."""

from __future__ import annotations

import pytest

from tests.kube.library.evaluation import evaluate, failure


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("isSemver('v1.0')", False),
        ("isSemver('v1.0', true)", True),
        ("isSemver('1.0-alpha', true)", False),
        ("semver('01.01.01', true) == semver('1.1.1')", True),
        ("semver('v1', object) == semver('1.0.0')", True),
        ("semver('1.0.0+a') == semver('1.0.0+b')", True),
        ("semver('18446744073709551615.0.0').major()", -1),
        ("semver('9223372036854775807.0.0').major()", (1 << 63) - 1),
        ("semver('1.0.0-1').isLessThan(semver('1.0.0-a'))", True),
        ("semver('1.0.0').isGreaterThan(semver('1.0.0-a'))", True),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert evaluate(expression, object=True) == value


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("semver('')", "Version string empty"),
        ("semver('', true)", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("semver(' 1.0.0', true)", 'Invalid character(s) found in major number "0 1"'),
        ("semver('1.0+b', true)", "short version cannot contain PreRelease/Build meta data"),
        ("semver('1.0.0') == object", "no such overload"),
    ],
)
def test_errors(expression: str, error: str) -> None:
    assert failure(expression, object=1) == error


def test_display() -> None:
    assert evaluate("semver('v1.2', true)").display() == "1.2.0"
