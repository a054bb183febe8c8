"""The page of the library is what its tool writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.library_page import page

from celadon.cli.library import library

PAGE = Path(__file__).parents[2] / "docs" / "library.md"


@pytest.mark.thorough
def test_it_is_current() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m tools.library_page > docs/library.md"


def test_every_policy_has_a_section() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, policy in library().items():
        assert f"### {name}\n\n*{policy.title}.* " in text
        assert f"](#{name})" in text
