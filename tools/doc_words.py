"""The words of the documentation for users: `python -m tools.doc_words` lists them by page.

What a person wrote is counted apart from pages that commands write. Of a page that a person wrote,
what commands print below `$ ` does not count: `python -m tests.docs` writes that.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]

MOST: Final = 25_000
"""The words that a person may write for users, all together."""

CONTRIBUTORS: Final = frozenset(
    {"architecture.md", "public-suites.md", "recipes.md", "releasing.md"}
)
"""Pages of `docs` that are not for users."""
WRITTEN_BY_COMMANDS: Final = frozenset(
    {
        "attacks.md", "fidelity.md", "gatekeeper-library.md", "kyverno-policies.md", "library.md",
        "lint.md", "options.md", "performance.md",
    }
)  # fmt: skip
_CONSOLE: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)


def user_pages(root: Path = ROOT) -> list[Path]:
    """README and the pages of `docs`, without those for contributors and the decisions."""
    docs = root / "docs"
    pages = [*sorted(docs.glob("*.md")), *sorted((docs / "tutorials").glob("*.md"))]
    return [root / "README.md", *(page for page in pages if page.name not in CONTRIBUTORS)]


def words(page: Path) -> int:
    """As `wc -w` counts them, without what commands print."""
    text = page.read_text(encoding="utf-8")
    return len(_CONSOLE.sub(lambda block: _commands(block[1]), text).split())


def _commands(block: str) -> str:
    return "\n".join(line for line in block.splitlines() if line.startswith("$ "))


def written_by_hand(root: Path = ROOT) -> int:
    """The words that people wrote for users."""
    return sum(words(page) for page in user_pages(root) if page.name not in WRITTEN_BY_COMMANDS)


def written_by_commands(root: Path = ROOT) -> int:
    """The words of pages that commands write."""
    return sum(words(page) for page in user_pages(root) if page.name in WRITTEN_BY_COMMANDS)


def main() -> None:
    """Prints the words of each page, and the two sums."""
    for page in sorted(user_pages(), key=words):
        mark = "  (written by a command)" if page.name in WRITTEN_BY_COMMANDS else ""
        sys.stdout.write(f"{words(page):6,}  {page.relative_to(ROOT)}{mark}\n")
    sys.stdout.write(f"{written_by_hand():6,}  by hand\n{written_by_commands():6,}  by commands\n")


if __name__ == "__main__":
    main()
