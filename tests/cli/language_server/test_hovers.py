"""The functions and macros that an editor shows the parameters of."""

from __future__ import annotations

import pytest

from celadon.admission.lint import TypedScope
from celadon.cel import Environment
from celadon.cli.language_server.hovers import signatures

SCOPES = [TypedScope(Environment())]


@pytest.mark.parametrize(
    ("text", "labels", "argument"),
    [
        ("has(", ["has(object.field)"], 0),
        ("cel.bind(x, ", ["cel.bind(x, value, result)"], 1),
        ("cel.bind(x, 1, ", ["cel.bind(x, value, result)"], 2),
        ("[1].all(x, ", ["<range>.all(x, predicate)"], 1),
        ("'a'.size(", ["<string>.size() -> int"], 0),
        (
            "size(",
            [f"size(<{kind}>) -> int" for kind in ("bytes", "list(A)", "map(A, B)", "string")],
            0,
        ),
    ],
)
def test_signatures(text: str, labels: list[str], argument: int) -> None:
    found = signatures(text, len(text), SCOPES)
    assert found is not None
    assert [one.label for one in found.signatures] == labels
    assert found.argument == argument


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1 + 2", id="no call"),
        pytest.param("nothing(", id="no function"),
        pytest.param("'a'.has(", id="a global macro with a receiver"),
        pytest.param("all(x, ", id="a macro without its receiver"),
        pytest.param("other.bind(x, ", id="bind of something else"),
    ],
)
def test_nothing_to_show(text: str) -> None:
    assert signatures(text, len(text), SCOPES) is None
