"""`celadon replay -o html`: one page that needs nothing else, whatever a log says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import beyond, needs_browser, seen
from tests.cli.files import binding, policy, run, write
from tests.cli.replay.events import event, failure, lines
from tests.cli.report.page_text import read_page

Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]


def replayed(tmp_path: Path, monkeypatch: Patch, capsys: Capture, users: int = 3) -> str:
    monkeypatch.chdir(tmp_path)
    others = [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
    ]
    write(Path("p.json"), policy(), binding(), policy("idle", rules=others), binding("idle"))
    events = [event(name=f"a{n}", user={"username": f"<i>{n:03}"}) for n in range(users)]
    events += [event("patch", level="Request", responseObject=None)]
    events += [event(name="q", x="ok", annotations=failure("old"))]
    Path("audit.log").write_text(lines(events) + "{oh\n")
    _, out, err = run(capsys, "replay", "-f", "p.json", "audit.log", "-o", "html")
    assert err == ""
    return out


def test_a_page(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    page = read_page(replayed(tmp_path, monkeypatch, capsys))
    assert "i" not in page.names
    for told in (
        "Requests from 2026-03-01T10:00:00.000000Z",
        "Policies would have spoken",
        "<i>002",
        "CREATE ConfigMap default/a0",
        "Policies spoke",
        "By controller",
        "a patch, whose object is not in the log",
        "policy `idle` matched none",
        "audit.log:6: this is no JSON",
    ):
        assert told in page.text, told


def test_the_largest_groups(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    page = read_page(replayed(tmp_path, monkeypatch, capsys, users=203))
    assert "<i>199" in page.text
    assert "<i>200" not in page.text
    assert "and 3 more: JSON has all of them" in page.text


def test_nothing_happened(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("p.json"), policy(), binding())
    Path("audit.log").write_text(lines([event("get")]))
    _, out, _ = run(capsys, "replay", "-f", "p.json", "audit.log", "-o", "html")
    text = read_page(out).text
    assert "Policies spoke" not in text
    assert "Undecidable" not in text


@pytest.mark.thorough
@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(dark: bool, tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    out = replayed(tmp_path, monkeypatch, capsys)
    found = seen(out, tmp_path, dark=dark)
    assert "CONSOLE" not in found.log
    assert found.document.count("<tr>") == out.count("<tr>") > 10
    assert "&lt;i&gt;002" in found.document
    assert found.picture.stat().st_size > 20_000
    assert beyond(out, tmp_path, 500) == 0
