"""What options of `celadon serve` become: all that a server is told beside its defaults.

`tests/cases/serve_settings.txt` has command lines and what comes of each; `pytest --update-golden`
writes that anew, to be read like code.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.http import ServerSettings
from celadon.cli.main import main
from celadon.kube.releases import DEFAULT, answering_as
from tests.paths import ROOT

PATH = ROOT / "tests" / "cases" / "serve_settings.txt"
_PROMPT = "$ celadon serve"


def _fields(value: Any) -> dict[str, str]:
    """Each field as a text; sets are in order."""
    return {
        field.name: str(sorted(member) if isinstance(member, frozenset) else member)
        for field in dataclasses.fields(value)
        if not callable(member := getattr(value, field.name))
    }


def test_settings(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[ServerSettings] = []

    def started(settings: ServerSettings, *_: Callable[..., object]) -> None:
        told.append(settings)

    monkeypatch.setattr("celadon.apiserver.http.run", started)
    monkeypatch.setattr("celadon.cli.output.log_to_stderr", lambda *_: None)
    usual = _fields(ServerSettings())
    text = PATH.read_text(encoding="utf-8")
    written = ""
    for line in [line for line in text.splitlines() if line.startswith(_PROMPT)]:
        told.clear()
        with answering_as(DEFAULT):
            code = main(["serve", *shlex.split(line.removeprefix(_PROMPT))])
        fields = [item for one in told for item in _fields(one).items()]
        shown = [f"{name}: {value}" for name, value in fields if usual.get(name) != value]
        complaints = capsys.readouterr().err.splitlines()
        written += "".join(
            f"{one}\n" for one in (line, *shown, *complaints, f"exit code {code}", "")
        )
    if request.config.getoption("--update-golden"):
        PATH.write_text(written, encoding="utf-8")
    assert written == PATH.read_text(encoding="utf-8")
