"""The site of the documentation: links lead somewhere, and nothing stands in a reader's way."""

from __future__ import annotations

import html.parser
import http.server
import importlib.util
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from tests.browser import CHROMIUM, needs_browser
from tests.paths import ROOT
from tests.playground.built_site import WEB, needs_site
from tests.servers import serving

_SPHINX: Final = ("sphinx", "myst_parser", "furo")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, _SPHINX)),
        reason="not installed: what builds the site (make .venv/.documented)",
    ),
]
LOOKED_AT: Final = ("index.html", "tutorials/policy-author.html", "cli.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, built as `make docs` does; without the playground."""
    folder = tmp_path_factory.mktemp("site")
    out, trees = folder / "docs", folder / "trees"
    words = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(trees), str(ROOT / "docs")]
    done = subprocess.run(  # our own interpreter, our own pages
        [sys.executable, "-m", "sphinx", *words, str(out)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out


class Page(html.parser.HTMLParser):
    """The ids of a page, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name == "href" and value and tag == "a":
                self.links.add(value)
            elif (
                name in ("src", "href")
                and value
                and (tag != "link" or ("rel", "canonical") not in attrs)
            ):
                self.loaded.add(value)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_there(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists(), page


def test_links_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    nowhere = []
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            if urlsplit(target).scheme or target.startswith("playground/"):
                continue
            to = (path.parent / unquote(target)).resolve() if target else path
            if not to.exists() or (anchor and to in pages and unquote(anchor) not in pages[to].ids):
                nowhere.append(f"{path.relative_to(site)}: {link}")
    assert nowhere == []


def test_nothing_comes_from_other_hosts(pages: dict[Path, Page]) -> None:
    assert [one for page in pages.values() for one in page.loaded if urlsplit(one).netloc] == []


def test_the_playground_is_on_the_landing_page(site: Path, pages: dict[Path, Page]) -> None:
    landing = pages[site / "index.html"]
    assert "playground/" in landing.links & landing.loaded


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Any web server will do."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def seen(site: Path) -> Any:
    assert CHROMIUM is not None
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=site)
    ) as server:
        script, url = str(WEB / "test_docs_site.mjs"), f"http://127.0.0.1:{server.server_port}/"
        with serving(server):
            done = subprocess.run(
                ["node", script, "--url", url, "--chromium", CHROMIUM, *LOOKED_AT],
                capture_output=True,
                text=True,
                timeout=900,
                check=False,
            )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@needs_site
@needs_browser
def test_nothing_stands_in_anybody_s_way(seen: Any) -> None:
    bad = {
        f"{where}: {one['id']}: {one['nodes']}"
        for where, found in seen["axe"].items()
        for one in found
        if one["impact"] in ("serious", "critical")
    }
    assert bad == set()


@needs_site
@needs_browser
def test_everything_fits_on_a_phone(seen: Any) -> None:
    assert seen["wide"] == []


@needs_site
@needs_browser
def test_the_keyboard_is_enough_and_the_search_finds(seen: Any) -> None:
    assert seen["title"].startswith("Your first policy")
    assert seen["found"] == "Lock-outs"
