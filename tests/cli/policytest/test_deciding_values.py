"""A case that failed shows what decided: the values of the parts of the expression."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.files import Json, binding, config_map, policy
from tests.cli.policytest.given_cases import result

NO: Json = {"object": config_map(x="no"), "expect": "admit"}


@pytest.mark.parametrize(
    ("expression", "more", "values"),
    [
        (
            "object.data.x == 'ok'",
            {},
            [("object.data.x == 'ok'", "false"), ("object.data.x", '"no"')],
        ),
        (
            "size(object.data.x) > 5 || object.data.x.startsWith('ok')",
            {},
            [
                ("size(object.data.x) > 5 || object.data.x.startsWith('ok')", "false"),
                ("size(object.data.x) > 5", "false"),
                ("object.data.x.startsWith('ok')", "false"),
                ("size(object.data.x)", "2"),
                ("object.data.x", '"no"'),
            ],
        ),
        (
            "variables.long",
            {"variables": [{"name": "long", "expression": "size(object.data.x) > 5"}]},
            [("size(object.data.x) > 5", "false"), ("variables.long", "false")],
        ),
        (
            "object.data.y == ''",
            {},
            [
                ("object.data.y == ''", "error: no such key: y"),
                ("object.data.y", "error: no such key: y"),
            ],
        ),
    ],
)
def test_values(expression: str, more: Json, values: list[tuple[str, str]], tmp_path: Path) -> None:
    found = result(tmp_path, NO, documents=[policy(expression=expression, **more), binding()])
    assert [(one.text, one.value) for one in found.values] == values


def test_none_are_looked_for_where_all_is_as_expected(tmp_path: Path) -> None:
    found = result(tmp_path, {**NO, "expect": "deny"}, documents=[policy(), binding()])
    assert found.values == ()
