"""`celadon audit -o html`: one page that needs nothing else, whatever objects are called."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.formats.audits.audited import audited

_VOID = {"meta", "br"}


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
    assert (page.open, page.links) == ([], [])
    assert "script" not in page.names
    assert "b" not in page.names
    text = "".join(page.said)
    assert "ConfigMap default/bad<b>" in text
    assert "By namespace" in text
    assert "policy `idle` matched none of the objects" in text
