"""Elements of field sets: their canonical text, their order, and how messages show them."""

from __future__ import annotations

import pytest

from celadon.kube.fieldmanager.field_sets import (
    FieldSetError,
    canonical,
    key_element,
    ordered,
    step_text,
    value_element,
)


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("f:a.b", "f:a.b"),
        ('k:{"protocol": "TCP", "containerPort": 80}', 'k:{"containerPort":80,"protocol":"TCP"}'),
        ('v: "x"', 'v:"x"'),
        ("i:3", "i:3"),
        ("z:1", ""),
    ],
)
def test_canonical(written: str, want: str) -> None:
    assert canonical(written) == want


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "key too short"),
        ("f", "key too short"),
        ("fx", "missing colon: fx"),
        ("fx:", "missing colon: fx:"),
        ("k:[]", ""),
        ("k:{", ""),
        ('i:"x"', ""),
        ("v:", ""),
    ],
)
def test_unreadable(written: str, why: str) -> None:
    with pytest.raises(FieldSetError, match=f"^{why}$" if why else "."):
        canonical(written)


@pytest.mark.parametrize(
    ("elements", "want"),
    [
        (["f:b", "f:B", "f:a"], ["f:B", "f:a", "f:b"]),
        (
            ['v:"a"', "v:10", "v:9", "v:true", "v:null"],
            ["v:9", "v:10", 'v:"a"', "v:true", "v:null"],
        ),
        (
            [
                "v:null",
                'v:{"b":1}',
                'v:{"a":2}',
                'v:{"a":1}',
                "v:[2]",
                "v:[1,0]",
                "v:true",
                'v:"a"',
            ],
            [
                'v:"a"',
                "v:true",
                "v:[1,0]",
                "v:[2]",
                'v:{"a":1}',
                'v:{"a":2}',
                'v:{"b":1}',
                "v:null",
            ],
        ),
        (["i:10", "i:9", "f:a"], ["f:a", "i:9", "i:10"]),
        (['k:{"p":10}', 'k:{"p":9}', 'k:{"n":"z"}'], ['k:{"n":"z"}', 'k:{"p":9}', 'k:{"p":10}']),
        (['k:{"a":1,"b":2}', 'k:{"a":1}'], ['k:{"a":1}', 'k:{"a":1,"b":2}']),
    ],
)
def test_order(elements: list[str], want: list[str]) -> None:
    assert ordered(elements) == want


@pytest.mark.parametrize(
    ("element", "want"),
    [
        ("f:data", ".data"),
        (key_element({"protocol": "TCP", "port": 80}), '[port=80,protocol="TCP"]'),
        (key_element({"name": {"x": 1}}), "[name=x=1]"),
        (key_element({"on": True, "off": None, "all": [1]}), "[all=[1],off=null,on=true]"),
        (value_element('a"b'), '[="a\\"b"]'),
        ("i:3", "[3]"),
    ],
)
def test_step_text(element: str, want: str) -> None:
    assert step_text(element) == want
