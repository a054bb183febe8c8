"""JSON by Kubernetes' rules."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.reading.json_text import read_json
from celadon.goyaml.yaml_scalars import UnreadableError

VALUES: list[tuple[str, Any]] = [
    ('{"a": 1}', {"a": 1}),
    ('{"a": 1.0, "b": 1.5, "c": 1e3, "d": -0.0}', {"a": 1, "b": 1.5, "c": 1000, "d": 0}),
    ('{"a": 9223372036854775807}', {"a": 9223372036854775807}),
    ('{"a": 9223372036854775808}', {"a": 9223372036854775808.0}),
    (r'{"a": "\ud83d\ude00", "b": "\ud800"}', {"a": "😀", "b": "�"}),
    (r'{"\udc00": ["x\udfff"]}', {"�": ["x�"]}),
    ('{"a": "\\u0000"}', {"a": "\0"}),
]


@pytest.mark.parametrize(("text", "want"), VALUES)
def test_values(text: str, want: Any) -> None:
    ((_, _, value),) = read_json(text)
    assert value == want
    assert [type(item) for item in value.values()] == [type(item) for item in want.values()]


def test_values_behind_one_another() -> None:
    text = ' {"a": 1}\n{"b": 2}  '
    assert [(text[start:end], value) for start, end, value in read_json(text)] == [
        ('{"a": 1}', {"a": 1}),
        ('{"b": 2}', {"b": 2}),
    ]


ERRORS: list[tuple[str, int, str]] = [
    ('{\n"a": 1,\nb}', 3, "expecting property name enclosed in double quotes"),
    ('{"a": 1', 1, "expecting ',' delimiter"),
    ('{"b": {"a": 1},\n"a": [{"a": 1}],\n"c": {"a": 1,\n"a": 2}}', 4, 'key "a" already set in map'),
    ('{"a": "NaN",\n"b": NaN}', 2, "the number `NaN` has no form in Kubernetes' JSON"),
    ('{"a":\n1e999}', 2, "the number `1e999` has no form in Kubernetes' JSON"),
    ('{"a": "x\x00"}', 1, "invalid control character at"),
    ('{"a":' * 10_001 + "1" + "}" * 10_001, 1, "nested deeper than 10000 levels"),
    ("[" * 100_000, 1, "nested deeper than 10000 levels"),
    ('{"a": "' + "\\" * 3 + "\n", 1, "invalid \\escape"),
]


@pytest.mark.parametrize(("text", "line", "message"), ERRORS)
def test_errors(text: str, line: int, message: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        list(read_json(text))
    assert (caught.value.line, caught.value.message.split(":")[0]) == (line, message)


def test_many_brackets_that_are_not_deep() -> None:
    ((_, _, value),) = read_json("[" + "[]," * 1000 + "[]]")
    assert len(value) == 1001
