"""The site of the documentation: Sphinx with MyST (docs/decisions/0056-site.md). `make docs` builds it.

Pages are read as the forge reads them. Links to files beside `docs` lead to the forge, those that lead
nowhere fail the build.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from celadon import __version__  # noqa: E402 - the path comes first

project = "Celadon"
author = "The Celadon maintainers"
copyright = author  # noqa: A001 - Sphinx's name
release = version = __version__
language = "en"

extensions = ["myst_parser"]
myst_heading_anchors = 6
root_doc = "index"
exclude_patterns = ["schemas"]
nitpicky = True

html_theme = "furo"
html_title = "Celadon"
html_favicon = "../web/src/icon.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": False}
html_permalinks_icon = "#"

SOURCE: Final = "https://celadon.dev/source/blob/main/"
"""Where the forge shows files of the main branch."""


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx is not typed for us
    """Have links to files beside `docs` lead to the forge."""
    app.connect("source-read", _linked)


def _linked(app: Any, name: str, text: list[str]) -> None:  # noqa: ANN401 - as above
    import re

    folder = Path(app.srcdir, name).parent

    def link(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        if path.is_relative_to(app.srcdir) or not path.exists():
            return match[0]
        return f"]({SOURCE}{path.relative_to(ROOT)}{match[2] or ''})"

    text[0] = re.sub(r"\]\(((?:\.\./)+[^)#]*)(#[^)]*)?\)", link, text[0])
