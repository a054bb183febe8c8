"""`make demo` shows the server, with kubectl and without."""

from __future__ import annotations

import contextlib
import shutil

import pytest

from tests.paths import ROOT
from tools import demo_server

pytestmark = pytest.mark.slow

DENIAL = 'pods "debug" is forbidden: ValidatingAdmissionPolicy'
WARNING = "from next year on a `cost-center` label will be required"


@pytest.mark.parametrize("kubectl", [True, False])
def test_it_shows_what_is_created_and_what_is_denied(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kubectl: bool
) -> None:
    if not kubectl:
        monkeypatch.setattr(shutil, "which", lambda name: None)
    elif shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed: python tools/install_clients.py .venv/bin")
    with contextlib.chdir(ROOT):
        demo_server.main()
    shown = "".join(capfd.readouterr())
    assert "serves Kubernetes 1.36 at https://127.0.0.1:" in shown
    assert DENIAL in shown
    assert WARNING in shown
    assert "configmap/settings created\n" in shown if kubectl else "201 created\n" in shown
