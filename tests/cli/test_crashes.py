"""Whatever happens, there is an answer: one line, the other objects judged, a code of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from celadon.cli import lint as lint_module
from celadon.cli import main as main_module
from celadon.cli.check import object_judging
from celadon.cli.exit_codes import Exit
from tests.cli.files import binding, config_map, policy, run, write
from tests.paths import ROOT

CAUSES = [TypeError("oops"), RecursionError("too deep"), MemoryError()]


@pytest.mark.parametrize("error", CAUSES, ids=lambda error: type(error).__name__)
def test_the_others_are_judged(
    error: Exception,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real = vars(object_judging)["remarks"]

    def remarks(asked: Any, *rest: Any) -> Any:
        if asked.request.name == "bad":
            raise error
        return real(asked, *rest)

    monkeypatch.setattr(object_judging, "remarks", remarks)
    objects = [config_map(name, x="ok") for name in ("a", "bad", "c")]
    file = write(tmp_path / "all.json", policy(), binding(), *objects)
    code, out, err = run(capsys, "check", str(file))
    assert code == Exit.INTERNAL
    assert "ConfigMap default/a" in out
    assert "ConfigMap default/c" in out
    assert err.count("internal error while judging ConfigMap default/bad") == 1
    assert type(error).__name__ in err
    assert f"{file}:" in err
    assert "Traceback" not in err


def test_documents_of_lint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = vars(lint_module)["lint"]

    def lint(documents: Any, *rest: Any) -> Any:
        if any(one.get("metadata", {}).get("name") == "bad" for one in documents):
            raise KeyError("bad")
        return real(documents, *rest)

    monkeypatch.setattr(lint_module, "lint", lint)
    file = write(tmp_path / "all.json", policy("bad"), policy("worse", "object.data.x =="))
    code, out, err = run(capsys, "lint", str(file))
    assert code == Exit.INTERNAL
    assert "internal error while linting it: KeyError: 'bad'" in err
    assert "ValidatingAdmissionPolicy worse" in out


def test_the_last_resort(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(words: object) -> int:
        raise ValueError("what")

    monkeypatch.setattr(main_module, "_run", broken)
    code, _, err = run(capsys, "check")
    assert code == Exit.INTERNAL
    assert err.startswith("error: internal error: ValueError: what (cli/main.py:")
    assert "Traceback" not in err
    monkeypatch.setenv("CELADON_TRACEBACK", "1")
    assert "Traceback" in run(capsys, "check")[2]


SHELLS = [
    ("eval '1 + 1' >/dev/full", Exit.OUTPUT, "no space left on device"),
    ("eval '1 + 1' >&-", Exit.OUTPUT, "the descriptor is closed"),
    ("eval '1 +' 2>/dev/full", Exit.OUTPUT, ""),
    ("eval '1 +' 2>&-", Exit.OUTPUT, ""),
    ("check - <&-", Exit.USAGE, "standard input is closed"),
    ("audit -f examples/policies - <&-", Exit.USAGE, "standard input is closed"),
    ("replay -f examples/policies - <&-", Exit.USAGE, "standard input is closed"),
    ("check examples/manifests/cache.yaml >&-", Exit.OUTPUT, "the descriptor is closed"),
    ("check examples/manifests/cache.yaml 2>&-", Exit.OK, ""),
    ("lint examples/policies >&-", Exit.OUTPUT, "the descriptor is closed"),
    ("--help >/dev/full", Exit.OUTPUT, "no space left on device"),
]


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(("words", "code", "said"), SHELLS)
def test_broken_descriptors(words: str, code: Exit, said: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$PYTHON" -m celadon {words}'],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert said in done.stderr
