"""The site of the documentation: Sphinx with MyST (docs/decisions/0058-site.md), by `make docs`.

Pages are read as the forge reads them. Links to files beside `docs` lead to the forge; those that
lead nowhere fail the build.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from celadon import __version__  # noqa: E402 - the path comes first

project = "Celadon"
author = "The Celadon maintainers"
copyright = author
release = version = __version__
language = "en"

extensions = ["myst_parser"]
myst_heading_anchors = 6
root_doc = "index"
exclude_patterns = ["schemas"]
nitpicky = True

html_theme = "furo"
html_title = "Celadon"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "../web/src/icon.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": False}
html_permalinks_icon = "#"

SOURCE: Final = "https://celadon.dev/source/blob/main/"
"""Where the forge shows files of the main branch."""


_DECISIONS: Final = "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
"""What the list of decisions holds in the contents of the site."""
_OUTSIDE: Final = re.compile(r"\]\(((?:\.\./)+[^)#]*)(#[^)]*)?\)")


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx is no dependency of the types
    """Have pages changed as they are read and as they are written."""
    app.connect("source-read", _read)
    app.connect("html-page-context", _accessible, priority=900)  # after the theme


def _read(app: Any, name: str, text: list[str]) -> None:  # noqa: ANN401 - as above
    """Links to files beside `docs` lead to the forge; the list of decisions lists them."""
    docs = Path(app.srcdir)

    def link(match: re.Match[str]) -> str:
        path = (docs / name).parent.joinpath(match[1]).resolve()
        if path.is_relative_to(docs) or not path.exists():
            return match[0]
        return f"]({SOURCE}{path.relative_to(ROOT)}{match[2] or ''})"

    text[0] = _OUTSIDE.sub(link, text[0])
    if name == "decisions/README":
        text[0] += _DECISIONS


def _accessible(_app: Any, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:  # noqa: ANN401 - as above
    """Headings of the contents have a level; what scrolls can be scrolled by keys."""
    contents = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = contents.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    body = context.get("body", "").replace("<pre>", '<pre tabindex="0">')
    context["body"] = body.replace(
        '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
    )
