"""find and findAll: matches that are empty, limits, and bad patterns."""

from __future__ import annotations

import pytest

from celadon.cel.errors import ProgramError
from tests.kube.library.evaluation import evaluate, failure, program


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'abc 123'.find('[0-9]*')", ""),
        ("'abc 123'.find('[0-9]+')", "123"),
        ("'abc'.find('x')", ""),
        ("'123 abc 456'.findAll('[0-9]*')", ["123", "", "", "", "", "456"]),
        ("'a b c'.findAll('[a-z]', 2)", ["a", "b"]),
        ("'a b c'.findAll('[a-z]', 0)", []),
        ("'a b c'.findAll('[a-z]', -1)", ["a", "b", "c"]),
        ("object.findAll(object)", ["x"]),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert evaluate(expression, object="x") == value


def test_bad_pattern_from_the_data() -> None:
    text = "Illegal regex: error parsing regexp: missing closing ): `(`"
    assert failure("'x'.find(object)", object="(") == text
    assert failure("'x'.findAll(object, 1)", object="(") == text


def test_bad_constant_pattern() -> None:
    with pytest.raises(ProgramError) as caught:
        program("'x'.find('(')")
    assert str(caught.value) == "error parsing regexp: missing closing ): `(`"


def test_other_kinds() -> None:
    assert failure("'x'.find(object)", object=1) == "no such overload: find(string, int)"
