"""Pages in a real browser: headless Chromium, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium to look at pages with: make programs"
)


_POLICY: Final = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_MEASURE: Final = """<script>const root = document.documentElement;
root.dataset.beyond = root.scrollWidth - root.clientWidth;</script></body>"""


@dataclass(frozen=True, slots=True)
class Seen:
    """The document as the browser has it, and what was said on its console and beside."""

    document: str
    log: str
    picture: Path


def beyond(page: str, folder: Path, width: int) -> int:
    """By how many pixels a page that runs nothing is wider than a screen: what has to be scrolled
    to be read."""
    measured = _POLICY.sub("", page).replace("</body>", _MEASURE)
    found = re.search(r'data-beyond="(\d+)"', seen(measured, folder, width=width).document)
    assert found is not None
    return int(found[1])


def seen(page: str, folder: Path, *, dark: bool = False, width: int = 900) -> Seen:
    """Opens a page; files of the browser go to the folder."""
    assert CHROMIUM is not None
    file, picture = folder / "page.html", folder / "page.png"
    file.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", f"--user-data-dir={folder / 'profile'}"),
            *(("--force-dark-mode",) if dark else ()),
            *(
                "--enable-logging=stderr",
                f"--window-size={width},1200",
                "--virtual-time-budget=2000",
            ),
            *("--dump-dom", f"--screenshot={picture}", file.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return Seen(done.stdout, done.stderr, picture)
