"""`celadon playground`."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from celadon.cli.commands.playground import SiteServer
from tests.cli.files import run


def test_it_serves_until_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.html").write_text("page")
    opened: list[str] = []

    def interrupted(_: SiteServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SiteServer, "serve_forever", interrupted)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    code, out, _ = run(capsys, "playground", "--site", str(tmp_path), "--open")
    assert code == 0
    assert out.startswith("the playground is at http://127.0.0.1:")
    assert opened == [out.split()[-1]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--site", "nowhere"), "there is no playground in nowhere"),
        (("--port", "many"), "`many` is no port"),
        (("--port", "70000"), "`70000` is no port"),
    ],
)
def test_wrong_use(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "playground", *words)
    assert code == 2
    assert said in err


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("page")
    with SiteServer(tmp_path, 0) as other:
        port = str(other.server_port)
        code, _, err = run(capsys, "playground", "--site", str(tmp_path), "--port", port)
    assert code == 2
    assert "cannot listen: address already in use" in err
