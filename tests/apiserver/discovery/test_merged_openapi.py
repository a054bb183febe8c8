"""What several servers say of themselves in OpenAPI version 2, as one document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from celadon.apiserver.discovery.merged_openapi import DEEPEST, merged, of_paths
from tests.growth.counted_steps import LINEAR, growth

KINDS = "x-kubernetes-group-version-kind"


def document(paths: dict[str, str], **definitions: Any) -> dict[str, Any]:
    """Paths that lead to a type each."""
    made = {
        path: {"get": {"schema": {"$ref": f"#/definitions/{name}"}}} for path, name in paths.items()
    }
    return {"paths": made, "definitions": definitions, "parameters": {}}


def leads_to(found: dict[str, Any], path: str) -> str:
    return str(found["paths"][path]["get"]["schema"]["$ref"]).rpartition("/")[2]


def test_paths_of_others_go_with_what_only_they_led_to() -> None:
    given = document(
        {"/apis/g/v1/a": "A", "/apis/other/v1/b": "B"},
        A={"properties": {"c": {"$ref": "#/definitions/C"}}},
        B={"properties": {"d": {"$ref": "#/definitions/D"}}},
        C={"type": "string"},
        D={"type": "string"},
        Unused={"type": "string"},
    )
    found = of_paths(given, "/apis/g/v1/")
    assert list(found["paths"]) == ["/apis/g/v1/a"]
    assert found["definitions"].keys() == {"A", "C", "Unused"}


@pytest.mark.parametrize(
    "given",
    [{"paths": [1]}, {"definitions": {"A": 1}}, {"parameters": "x"}, {"paths": {"/a": None}}],
)
def test_what_is_no_such_document(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no document of OpenAPI version 2"):
        of_paths(given, "/")


def test_a_document_that_nests_too_deep_to_be_walked() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(DEEPEST - 3):  # below the sections, the definitions and their names
        deep = {"items": deep}
    of_paths(document({"/a": "T"}, T=deep), "/")
    with pytest.raises(ValueError, match="nests more than 100 levels"):
        of_paths(document({"/a": "T"}, T={"items": deep}), "/")


def test_a_type_whose_name_is_taken_gets_another_one_wherever_it_is_mentioned() -> None:
    mine = document({"/a": "T"}, T={"type": "string"}, T_v2={"type": "number"})
    other = document(
        {"/b": "T", "/c": "U"}, T={"type": "object"}, U={"items": {"$ref": "#/definitions/T"}}
    )
    found = merged(mine, [other])
    assert leads_to(found, "/a") == "T"
    assert leads_to(found, "/b") == "T_v3"
    assert found["definitions"]["T_v3"] == {"type": "object"}
    assert found["definitions"]["U"] == {"items": {"$ref": "#/definitions/T_v3"}}


def test_a_wide_type_is_compared_in_proportion_with_all_that_have_its_names() -> None:
    def work(count: int) -> Callable[[], object]:
        names = ["T", *(f"T_v{number}" for number in range(2, count))]
        former = document({"/b": "T"}, **{name: {"type": "string"} for name in names})
        wide = document({"/c": "T"}, T={f"x-{number}": number for number in range(count)})
        return lambda: merged(document({}), [former, wide])

    assert growth(work, 100) < LINEAR


def test_the_same_type_stands_once_for_all_kinds_that_it_is_of() -> None:
    def kind(version: str) -> dict[str, str]:
        return {"group": "g", "version": version, "kind": "T"}

    mine = document({"/a": "T"}, T={"type": "object", KINDS: [kind("v2")]})
    others = [
        document({"/b": "T"}, T={"type": "object", KINDS: [kind("v1"), kind("v2")]}),
        document({"/c": "T"}, T={"type": "object"}),
    ]
    found = merged(mine, others)
    assert found["definitions"] == {"T": {"type": "object", KINDS: [kind("v1"), kind("v2")]}}
    assert mine["definitions"]["T"][KINDS] == [kind("v2")]


def test_parameters_whose_names_are_taken() -> None:
    mine = {**document({}), "parameters": {"p": {"in": "query"}}}
    other = document({"/b": "T"})
    other["parameters"] = {"p": {"in": "path"}, "q": {"in": "query"}}
    other["paths"]["/b"]["parameters"] = [
        {"$ref": "#/parameters/p"},
        {"$ref": "#/parameters/q"},
    ]
    found = merged(mine, [other])
    assert found["parameters"].keys() == {"p", "p_v2", "q"}
    assert [one["$ref"] for one in found["paths"]["/b"]["parameters"]] == [
        "#/parameters/p_v2",
        "#/parameters/q",
    ]


def test_paths_that_are_there_stay_as_they_are() -> None:
    mine = document({"/a": "T"}, T={"type": "string"})
    other = document({"/a": "Other"}, Other={"type": "object"})
    assert merged(mine, [other]) == mine
    both = document({"/a": "Other", "/b": "T"}, Other={"type": "object"}, T={"type": "string"})
    found = merged(mine, [both])
    assert found["paths"].keys() == {"/a", "/b"}
    assert found["definitions"].keys() == {"T"}
