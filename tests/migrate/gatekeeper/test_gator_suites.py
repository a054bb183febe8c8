"""Suites of gator."""

from __future__ import annotations

import pytest

from celadon.kube import JsonObject
from celadon.migrate import GatorCase, disagreement, is_suite
from tests.migrate.gatekeeper.gatekeeper_documents import (
    CATALOG,
    constraint,
    pod,
    says,
    template,
    translated,
)


@pytest.mark.parametrize(
    ("expression", "assertions", "expected"),
    [
        ("true", [{"violations": "no"}], ""),
        ("true", [{"violations": False}], ""),
        ("true", [{"violations": 0}], ""),
        ("true", [{"violations": "yes"}], "a violation"),
        ("true", [{}], "a violation"),
        ("true", [], "a violation"),
        ("false", [{"violations": "yes"}], ""),
        ("false", [{"violations": 3}], ""),
        ("false", [{"violations": True, "message": "^n.$"}], ""),
        ("false", [{"violations": 1, "message": "yes"}], "a violation with `yes`"),
        ("false", [{"violations": 0, "message": "yes"}], ""),
        ("false", [{"violations": "no"}], "no violation"),
        ("false", [{"violations": 1}, {"violations": 0, "message": "n"}], "no violation with `n`"),
    ],
)
def test_assertions(expression: str, assertions: list[JsonObject], expected: str) -> None:
    (found,) = translated(template(says(expression)), constraint())
    case = GatorCase("", pod(), (), tuple(assertions))
    assert disagreement(case, found.documents, CATALOG)[0] == expected


def test_objects_are_judged_as_they_are_written() -> None:
    """A Pod without containers has none, and no null."""
    (found,) = translated(template(says("!has(object.spec.containers)")), constraint())
    obj = pod()
    del obj["spec"]["containers"]
    case = GatorCase("", obj, (), ({"violations": "no"},))
    assert disagreement(case, found.documents, CATALOG) == ("", "", "")


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ({"apiVersion": "test.gatekeeper.sh/v1alpha1", "kind": "Suite"}, True),
        ({"apiVersion": "test.gatekeeper.sh/v1alpha1", "kind": "Other"}, False),
        ([], False),
    ],
)
def test_which_documents_are_suites(document: object, found: bool) -> None:
    assert is_suite(document) is found
