"""`celadon audit -o html`: one page that needs nothing else, whatever objects are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import beyond, needs_browser, seen
from tests.cli.formats.audits.audited import audited
from tests.cli.formats.audits.page_text import read_page

Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]


def test_a_page(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    page = read_page(out)
    assert "b" not in page.names
    assert "ConfigMap default/bad<b>" in page.text
    assert "By namespace" in page.text
    assert "policy `idle` matched none of the objects" in page.text
    assert "d.jsonl:3: " in page.text
    assert '<td class="n deny" data-head="Denied">1</td>' in out


def test_what_is_left_out_is_counted(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--max-results", "1")
    assert "and 2 more" in read_page(out).text


@pytest.mark.thorough
@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(dark: bool, tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    found = seen(out, tmp_path, dark=dark)
    assert "CONSOLE" not in found.log
    assert found.document.count("<tr>") == out.count("<tr>") > 6
    assert "ConfigMap default/bad&lt;b&gt;" in found.document
    assert found.picture.stat().st_size > 20_000


@pytest.mark.thorough
@needs_browser
@pytest.mark.parametrize("width", [500, 800])
def test_fits_the_screen(width: int, tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    assert beyond(out, tmp_path, width) == 0
