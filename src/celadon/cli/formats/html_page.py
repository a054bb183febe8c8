"""Reports as one page that needs nothing else: it asks for nothing, and runs nothing."""

from __future__ import annotations

from html import escape
from typing import Final

_HEAD: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
"""


def page(title: str, style: str, body: str) -> str:
    """The whole document; `title` is plain text, `style` and `body` are as they are."""
    return (
        f"{_HEAD}<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
