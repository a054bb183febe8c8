"""From foreign files to documents of kind PolicyTest, whatever the format."""

from __future__ import annotations

import pytest

from celadon.cli.policytest.importers.rewriting import Rewriting, after_mutation
from celadon.cli.reading.locations import Chunk
from tests.cli.files import Json, config_map


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ({"a": 1}, {"a": 1}, {"a": 1}),
        ({"a": 1}, {"b": 2}, {"a": None, "b": 2}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 3}}, {"a": {"x": 3, "y": None}}),
        ({"a": [1]}, {"a": [2]}, {"a": [2]}),
        ({"a": 1}, {"a": {"x": 1}}, {"a": {"x": 1}}),
    ],
)
def test_after_mutation(before: Json, after: Json, wanted: Json) -> None:
    assert after_mutation(before, changes=after) == wanted


def way() -> Rewriting:
    return Rewriting(Chunk("f.yaml", "a: 1\nb: [2]\n", 1, 0, is_json=False), {"a": 1, "b": [2]})


def test_cases_of_one_name_are_numbered() -> None:
    one = way()
    one.fields["policies"] = []
    for _ in range(2):
        one.add({"name": "n", "object": config_map(), "expect": "admit"}, ("b",))
    found = one.done("")
    assert [case.name for case in found.test.cases] == ["n", "n (2)"]
    assert {case.place.line for case in found.test.cases} == {2}
    assert found.test.name == "f.yaml"


def test_a_file_without_cases_is_a_problem() -> None:
    assert [one.message for one in way().done("").test.problems] == ["no case in this test"]


def test_what_is_no_map_is_said() -> None:
    one = way()
    assert not list(one.maps(("b",)))
    assert not list(one.maps(("a",)))
    one.refuse_others(("a",), ())
    found = [(problem.line, problem.message) for problem in one.objects.problems]
    assert found == [
        (2, "a map is expected here"),
        (1, "a list is expected here"),
        (1, "a map is expected here"),
    ]
