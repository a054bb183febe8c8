"""What expressions of JMESPath read, and those that nobody would write."""

from __future__ import annotations

import pytest

from celadon.kube import GroupVersionKind
from celadon.migrate import NotTranslated
from celadon.migrate.cel_text import constant
from celadon.migrate.kyverno.jmespath_expressions import read
from celadon.migrate.kyverno.jmespath_queries import Computed, Located, Names, Stream, Truth
from celadon.migrate.schema_fields import object_place

NAMES = Names({"a": Computed("a"), "b": Computed("b")})


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("`1` < `2`", True),
        ("`2` <= `1`", False),
        ("`2` > `1.5`", True),
        ("`1` >= `1`", True),
        ("'b' > `1`", False),
        ("'b' > 'a'", False),
        ("`true` > `0`", False),
        ("length('b') > `0`", True),
    ],
)
def test_constants_in_an_order(text: str, *, holds: bool) -> None:
    assert read(text, NAMES) == Truth(constant(holds))


@pytest.mark.parametrize("text", ["(" * 100_000, "!" * 100_000 + "a", "a" + ".b" * 100_000])
def test_what_is_nested_deeply_is_not_translated(text: str) -> None:
    with pytest.raises(NotTranslated):
        read(text, NAMES)


def test_variables_in_quotes_stand_for_themselves() -> None:
    assert read("'{{ a }}' == '{{b}}'", NAMES) == read("a == b", NAMES)
    with pytest.raises(NotTranslated, match="is no JMESPath"):
        read("'{{" * 200_000, NAMES)


def test_nothing_is_projected_out_of_a_text() -> None:
    pod = Names({"object": Located(object_place([GroupVersionKind("", "v1", "Pod")]))})
    assert read("object.metadata.name[?starts_with(@, 'a')]", pod) == Stream(())
