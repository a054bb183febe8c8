"""How many words users are asked to read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.doc_words import (
    CONTRIBUTORS,
    MOST,
    ROOT,
    WRITTEN_BY_COMMANDS,
    user_pages,
    words,
    written_by_commands,
    written_by_hand,
)


def test_users_are_not_asked_to_read_more() -> None:
    assert written_by_hand() <= MOST, (
        "`python -m tools.doc_words`: cut, or move what has no readers"
    )


@pytest.mark.parametrize("name", sorted(CONTRIBUTORS | WRITTEN_BY_COMMANDS))
def test_pages_that_do_not_count_are_there(name: str) -> None:
    assert (ROOT / "docs" / name).exists()


def test_what_counts(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "tutorials").mkdir(parents=True)
    pages = {
        "README.md": "two words",
        "docs/one.md": "Ask:\n\n```console\n$ celadon eval 1\nits output\n$ celadon lint\n```\n",
        "docs/tutorials/first.md": "```\na block\n```",
        "docs/lint.md": "# Rules",
        "docs/recipes.md": "not for users",
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [words(page) for page in user_pages(tmp_path)] == [2, 2, 8, 4]
    assert written_by_hand(tmp_path) == 2 + 8 + 4
    assert written_by_commands(tmp_path) == 2
