"""Parts of docs/performance.md that are measured by commands of their own, behind the rest."""

from __future__ import annotations

from typing import Final

KUBE_PART: Final = "## Beside kube-apiserver's CEL"
COMPARISONS: Final = "## Further comparisons"
"""Written by hand."""
SERVER_PART: Final = "## The API server"
WEBHOOK_PART: Final = "## The webhook"
MUTANTS_PART: Final = "## Mutants of policies"
EDITOR_PART: Final = "## The language server"
PARTS: Final = (KUBE_PART, COMPARISONS, MUTANTS_PART, EDITOR_PART, SERVER_PART, WEBHOOK_PART)
"""Headings, in the order in which they stand."""


def kept_parts(page: str) -> str:
    """What others have written; from the first heading on."""
    return page[min(_start(page, part) for part in PARTS) :]


def with_part(page: str, part: str, text: str) -> str:
    """The page with another text for a part, which begins with the heading."""
    later = PARTS[PARTS.index(part) + 1 :]
    end = min((_start(page, other) for other in later), default=len(page))
    start = min(_start(page, part), end)
    before, after = page[:start].rstrip("\n"), page[end:]
    return f"{before}\n\n{text.rstrip(chr(10))}\n" + (f"\n{after}" if after else "")


def _start(page: str, part: str) -> int:
    """The end, if it is not there."""
    found = page.find(f"\n{part}\n")
    return len(page) if found < 0 else found + 1
