"""`celadon init`: a project, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.commands.init import FILES
from tests.cli.files import run


def test_here_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "init")
    assert (code, err) == (0, "")
    assert out.splitlines()[: len(FILES)] == [f"written: {name}" for name in FILES]
    assert "next:" in out.splitlines()
    code, out, err = run(capsys, "init")
    assert (code, out) == (2, "")
    assert "`celadon.toml` is there already: nothing was written" in err


def test_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "init", str(tmp_path / "new"))[0] == 0
    assert run(capsys, "lint", str(tmp_path / "new" / "policies"))[0] == 0
