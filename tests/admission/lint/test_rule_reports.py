"""How paths are shown in findings."""

from __future__ import annotations

import pytest

from celadon.admission.lint.lint_context import ITEM, shown


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("object",), "object"),
        (("object", "spec", "replicas"), "object.spec.replicas"),
        (("object", "spec", "containers", ITEM, "image"), "object.spec.containers[].image"),
        (("variables", "lists", ITEM, ITEM), "variables.lists[][]"),
    ],
)
def test_shown(path: tuple[str, ...], text: str) -> None:
    assert shown(path) == text
