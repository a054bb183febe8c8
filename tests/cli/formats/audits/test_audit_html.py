"""`celadon audit -o html`: one page that needs nothing else, whatever objects are called."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.browser import needs_browser, seen
from tests.cli.formats.audits.audited import audited

_VOID = {"meta", "link", "br"}


class Page(HTMLParser):
    """The text of a page; fails where elements do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.links: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def test_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    page = Page()
    page.feed(out)
    assert (page.open, page.links) == ([], ["data:,"])
    assert "script" not in page.names
    assert "b" not in page.names
    text = "".join(page.said)
    assert "ConfigMap default/bad<b>" in text
    assert "By namespace" in text
    assert "policy `idle` matched none of the objects" in text


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(
    dark: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    found = seen(out, tmp_path, dark=dark)
    assert "CONSOLE" not in found.log
    assert found.document.count("<tr>") == out.count("<tr>") > 6
    assert "ConfigMap default/bad&lt;b&gt;" in found.document
    assert found.picture.stat().st_size > 20_000
