"""A session of Neovim itself with `celadon lsp`; `make programs` installs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.thorough
SCRIPT = Path(__file__).parent / "neovim_session.lua"
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: limit
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [deployments]
  validations:
  - expression: "'😀' != object.metadata.name&&object.spec.replicsa <= 5"
    message: too many
  - expression: object.metadata.name.startsWith('x')
    message: not that
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if shutil.which("nvim") is None:
        pytest.skip("Neovim is not installed; `make programs` does")
    folder = tmp_path_factory.mktemp("neovim")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    told = {"CELADON_LSP": f"{sys.executable} -m celadon lsp", "ANSWERS": str(folder / "answers")}
    command = ["nvim", "--clean", "--headless", "policy.yaml", "-c", f"luafile {SCRIPT}"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **told, "XDG_STATE_HOME": str(folder), "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )
    assert (folder / "answers").exists(), done.stderr
    found: dict[str, Any] = json.loads((folder / "answers").read_text(encoding="utf-8"))
    return found


def test_diagnostics(answers: dict[str, Any]) -> None:
    line = POLICY.split("\n")[12]
    column = len(line[: line.index(".replicsa")].encode())  # Neovim counts bytes
    found = [one for one in answers["diagnostics"] if "replicsa" in one["message"]]
    assert [(one["line"], one["column"]) for one in found] == [(12, column)]


def test_hover(answers: dict[str, Any]) -> None:
    assert "<string>.startsWith(<string>) -> bool" in answers["hover"]


def test_formatting_changes_expressions_alone(answers: dict[str, Any]) -> None:
    wanted = POLICY.replace("name&&object", "name && object").split("\n")[:-1]
    assert answers["lines"] == wanted
