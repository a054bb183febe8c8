"""What expressions read, and what it is compared with."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel import Environment, types
from celadon.cel.syntax import Expr
from celadon.cli.policytest.mutants.input_combinations import InputReader, Inputs, place_text
from celadon.kube.library import environment

ROOTS = ("object", "oldObject", "params", "request", "namespaceObject", "variables")


def root(text: str) -> Expr:
    env = Environment(dict.fromkeys(ROOTS, types.DYN))
    return env.compile(text).checked().root


def read(text: str, **variables: str) -> Inputs:
    reader = InputReader({name: root(one) for name, one in variables.items()})
    return reader.inputs([root(text)])


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("object.spec.replicas < 5", {"object.spec.replicas": [5]}),
        ("size(object.spec.name) > 3", {"object.spec.name": [3]}),
        ("5 >= int(object.data.x)", {"object.data.x": [5]}),
        (
            "object.spec.a + '>' + oldObject.spec.a in ['x>y']",
            {"object.spec.a": [">", "x>y"], "oldObject.spec.a": [">", "x>y"]},
        ),
        ("has(object.data.x)", {"object.data.x": []}),
        ("'x' in object.data", {"object.data": ["x"]}),
        ("object.spec.list.all(i, i.image != 'a')", {"object.spec.list[0].image": ["a"]}),
        ("request.userInfo.username == 'bob'", {"request.userInfo.username": ["bob"]}),
        ("'a' in request.userInfo.groups", {"request.userInfo.groups": ["a"]}),
        ("namespaceObject.metadata.name != 'x'", {"namespaceObject.metadata.name": ["x"]}),
        ("request.operation == 'UPDATE'", {}),
    ],
)
def test_places_and_literals(text: str, leaves: dict[str, list[Any]]) -> None:
    found = read(text)
    assert {place_text(one): found.related[one] for one in found.leaves} == leaves


def test_variables_are_read_through() -> None:
    found = read(
        "variables.images.all(i, i.startsWith('b/'))", images="object.spec.map(c, c.image)"
    )
    assert found.related["object", "spec", 0, "image"] == ["b/"]
    assert "variables.images" in found.names


def test_one_root_less() -> None:
    found = read("oldObject.a == object.b").without("oldObject")
    assert [place_text(one) for one in found.leaves] == ["object.b"]


def test_places_that_mutations_write() -> None:
    env = environment(has_patch_types=True)
    texts = ("Object{spec: Object.spec{size: 1}}", "[JSONPatch{op: 'add', path: '/data/y'}]")
    roots = [env.compile(text).checked().root for text in texts]
    places = [place_text(one) for one in InputReader({}).inputs(roots).related]
    assert places == ["object.spec.size", "object.data.y"]
