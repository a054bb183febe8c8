"""What stands before a place in an expression, with whatever behind it."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, Switches, types
from celadon.cel.completion import type_in, typing_context
from celadon.cel.extend import ObjectType
from celadon.cel.libraries import comprehensions, optionals

ITEM = types.object_type("Item")
ENVIRONMENT = Environment(
    {
        "object": ITEM,
        "items": types.list_of(ITEM),
        "labels": types.map_of(types.STRING, ITEM),
    },
    libraries=[optionals.library(), comprehensions.LIBRARY, comprehensions.bindings()],
    switches=Switches(optional_syntax=True),
    objects=[ObjectType("Item", {"name": types.STRING, "next": ITEM})],
)


@pytest.mark.parametrize(
    ("text", "receiver", "word", "type_"),
    [
        ("^", None, "", None),
        ("obj^", None, "obj", None),
        ("object.^", "object", "", "Item"),
        ("object.na^me == 'x'", "object", "na", "Item"),
        ("1 + object.next.n^", "object.next", "n", "Item"),
        ("f(object.next).^", "f(object.next)", "", "dyn"),
        ("items[0].^", "items[0]", "", "Item"),
        ("items[?0].^", "items[?0]", "", "optional_type(Item)"),
        ("object.?next.?^", "object.?next", "", "optional_type(Item)"),
        ("(object).^", "(object)", "", "Item"),
        ("[object][0].^", "[object][0]", "", "Item"),
        ("!object.^", "object", "", "Item"),
        ("items.all(c, c.^", "c", "", "Item"),
        ("items.all(c, c.name == 'x' && c.ne^ &&", "c", "ne", "Item"),
        ("items.map(c, c.next).filter(d, d.^)", "d", "", "Item"),
        ("items.all(c, items.exists(d, d.next == c.^", "c", "", "Item"),
        ("labels.all(k, k.^", "k", "", "string"),
        ("labels.all(k, v, v.^", "v", "", "Item"),
        ("items.all(i, c, i.^", "i", "", "int"),
        ("cel.bind(x, object.next, x.^", "x", "", "Item"),
        ("object.?next.optMap(n, n.^", "n", "", "Item"),
        ("nothing.all(c, c.^", "c", "", "dyn"),
    ],
)
def test_members(text: str, receiver: str | None, word: str, type_: str | None) -> None:
    offset = text.index("^")
    context = typing_context(text.replace("^", ""), offset, ENVIRONMENT)
    assert context is not None
    assert (context.receiver, context.word, context.start) == (receiver, word, offset - len(word))
    if type_ is not None:
        assert type_in(context.environment, context.receiver or "").display() == type_


@pytest.mark.parametrize("text", ["'abc^", '"a.^', "1^", "a // object.^", "'a'^"])
def test_literals_and_comments(text: str) -> None:
    assert typing_context(text.replace("^", ""), text.index("^"), ENVIRONMENT) is None


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a, ^", [("f", "", 1)]),
        ("object.f(g(1, 2), h(^", [("f", "object", 1), ("h", "", 0)]),
        ("f(a)^", []),
        ("f([1, 2, ^", [("f", "", 0)]),
        ("(a, ^", []),
    ],
)
def test_calls(text: str, calls: list[tuple[str, str, int]]) -> None:
    context = typing_context(text.replace("^", ""), text.index("^"), ENVIRONMENT)
    assert context is not None
    assert [(one.name, one.receiver, one.argument) for one in context.calls] == calls


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Item{^", ("Item", (), None)),
        ("Item{name: ^", ("Item", (), "name")),
        ("Item{name: 'x', ne^xt: 1}", ("Item", ("name",), None)),
        ("Item{name: a ? b : ^", ("Item", (), "name")),
        ("a.Item{next: a.Item{name: 'x'}, ?^", ("a.Item", ("next",), None)),
        ("{'a': ^", ("", (), "'a'")),
        ("Item{name: f(^", None),
        ("Item{}^", None),
        ("^", None),
    ],
)
def test_messages(text: str, message: tuple[str, tuple[str, ...], str | None] | None) -> None:
    context = typing_context(text.replace("^", ""), text.index("^"), ENVIRONMENT)
    assert context is not None
    found = context.message
    assert (found and (found.name, found.fields, found.field)) == message
