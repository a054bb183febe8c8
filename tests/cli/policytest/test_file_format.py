"""The schema of test files: published as it is, and meant by others as we mean it."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cli.celadon_documents import faults
from celadon.cli.policytest.file_format import SCHEMA
from celadon.cli.reading.documents import DocumentReader, Problem, read_text
from tests.examples import examples
from tests.json_schemas import draft_2020_12
from tests.paths import ROOT

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

EXAMPLES = sorted((ROOT / "examples").rglob("*.policytest.yaml"))


@cache
def validator() -> Validator:
    return draft_2020_12(SCHEMA)


@cache
def documents() -> list[dict[str, Any]]:
    found = []
    for path in EXAMPLES:
        text = read_text(str(path))
        assert not isinstance(text, Problem)
        found += [one.value for one in DocumentReader().read(text) if not isinstance(one, Problem)]
    return found


def test_it_is_published() -> None:
    published = (ROOT / "docs" / "schemas" / "policy-test.json").read_text(encoding="utf-8")
    assert json.loads(published) == SCHEMA, "celadon test schema > docs/schemas/policy-test.json"


def test_it_is_a_schema() -> None:
    validator().check_schema(SCHEMA)


@pytest.mark.parametrize("index", range(len(EXAMPLES)), ids=[one.name for one in EXAMPLES])
def test_examples_are_as_it_says(index: int) -> None:
    document = documents()[index]
    assert list(validator().iter_errors(document)) == []
    assert faults(document, SCHEMA) == []


VALUES = st.sampled_from([None, True, 3, 1.5, "", "admit", "text", [], {}, ["x"], {"x": "y"}])


def _paths(value: Any) -> list[tuple[Any, Any]]:
    """Every container with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = [(value, key) for key, _ in items]
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, dict | list):
            found += _paths(child)
    return found


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_we_refuse_what_the_schema_refuses(data: st.DataObject) -> None:
    """Documents of the examples with something replaced, added or removed."""
    document = copy.deepcopy(data.draw(st.sampled_from(documents())))
    for _ in range(data.draw(st.integers(1, 3))):
        places = _paths(document)
        holder, key = places[data.draw(st.integers(0, len(places) - 1))]
        change = data.draw(st.sampled_from(["replace", "add", "remove"]))
        value = copy.deepcopy(data.draw(VALUES))
        if change == "replace":
            holder[key] = value
        elif change == "add" and isinstance(holder, dict):
            holder[data.draw(st.sampled_from(["patch", "object", "nmae", "expect"]))] = value
        elif len(document) > 1:
            del holder[key]
    assert bool(faults(document, SCHEMA)) == (not validator().is_valid(document))
