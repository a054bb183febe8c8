"""The page of all options is what the parsers say."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from tools.options_page import page, rows

PAGE = Path(__file__).parents[2] / "docs" / "options.md"


def test_it_is_current() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m tools.options_page > docs/options.md"


@pytest.mark.parametrize(
    ("words", "more", "row"),
    [
        (["PATHS"], {"nargs": "*", "help": "files"}, "| `PATHS` | files |"),
        (["-q", "--quiet"], {"action": "store_true", "help": "less"}, "| `-q`, `--quiet` | less |"),
        (["--jobs"], {"metavar": "N", "help": "processes"}, "| `--jobs` N | processes |"),
        (
            ["--by"],
            {"metavar": "policy|label=KEY", "help": "count <x> * %(default)s", "default": "1"},
            "| `--by` policy\\|label=KEY | count &lt;x> \\* 1 |",
        ),
        (
            ["--form"],
            {"choices": ("a", "b"), "help": "its form (default: a)"},
            "| `--form` | `a`, `b`; its form (default: a) |",
        ),
        (
            ["-o"],
            {"choices": ("a", "b"), "help": "(default: a)"},
            "| `-o` | `a`, `b` (default: a) |",
        ),
        (
            ["--against"],
            {"nargs": 2, "metavar": ("WHAT", "FILE"), "help": "two"},
            "| `--against` WHAT FILE | two |",
        ),
    ],
)
def test_a_row(words: list[str], more: dict[str, object], row: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(*words, **more)  # type: ignore[arg-type]  # as in a table
    assert list(rows(parser)) == ["| argument | meaning |", "|---|---|", row]
