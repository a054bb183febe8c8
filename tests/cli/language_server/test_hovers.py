"""What an editor shows of a place, and of the call whose arguments are being written."""

from __future__ import annotations

import pytest

from celadon.admission.lint import TypedScope
from celadon.cel import Environment, types
from celadon.cli.language_server.hovers import hover, signatures

SCOPES = [TypedScope(Environment())]
HAS = "```cel\nhas(object.field)\n```\n\nWhether the field is set."
ALL = (
    "```cel\n<range>.all(x, predicate)\n```\n\nWhether the predicate holds for every item of a "
    "list, or every key of a map."
)
LENGTH = "```cel\n<string>.size() -> int\n```\n\nThe number of code points.\n\n`'é'.size()` is `1`"


def shown(text: str) -> str:
    return f"```cel\n{text}\n```"


@pytest.mark.parametrize(
    ("marked", "what", "parts"),
    [
        # the bar is where the pointer is
        ("|x + 1", "x", [shown("x: int"), "cost 2"]),
        ("x| + 1", "x", [shown("x: int"), "cost 2"]),
        ("x  |+ 1", "x  + 1", [shown("x + 1: int"), "cost 2"]),
        ("x + |1", "1", [shown("1: int"), "cost 2"]),
        ("|-x", "-x", [shown("-x: int"), "cost 2"]),
        ("'a'.si|ze()", "size", [shown("'a'.size(): int"), LENGTH, "cost 1"]),
        # a macro is told of where it is called, also in what does not fit its types
        ("l.a|ll(a, a == '')", "all", [ALL, shown("l.all(a, a == ''): bool"), "cost 2 to 6"]),
        ("l.a|ll (a, a == '')", "all", [ALL, shown("l.all (a, a == ''): bool"), "cost 2 to 6"]),
        ("h|as({'a': 1}.a)", "has", [HAS, shown("has({'a': 1}.a): bool"), "cost 31"]),
        ("[1].map(a|ll, all)", "all", [shown("[1].map(all, all): list(int)"), "cost 34"]),
        ("[1].exists(has, h|as > 1)", "has", [shown("has: int"), "cost 15 to 17"]),
        # with errors: the operand that ends with the word
        ("h|as(l.b)", "has", [HAS]),
        ("|x +", "x", [shown("x: int")]),
        ("l.al|l", "all", [ALL]),
        ("noth|ing", "nothing", [shown("nothing: dyn")]),
        ("x + |+ 1", "", None),
        ("|", "", None),
        ("x  |  ", "", None),
    ],
)
def test_what_stands_at_a_place(marked: str, what: str, parts: list[str] | None) -> None:
    offset, text = marked.index("|"), marked.replace("|", "", 1)
    scope = TypedScope(Environment().extend({"x": types.INT, "l": types.list_of(types.STRING)}))
    found = hover(text, offset, [scope], 1000)
    if parts is None:
        assert found is None
        return
    assert found is not None
    assert text[found.start : found.end] == what
    *said, last = parts
    cost = f"\n\n---\n\nthe whole expression: {last}"
    want = "\n\n".join(said) + cost if last.startswith("cost") else "\n\n".join(parts)
    assert found.markdown == want


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
