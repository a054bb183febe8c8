"""`make demo` shows the server, with kubectl and without."""

from __future__ import annotations

import contextlib
import shutil

import pytest

from tests.paths import ROOT
from tools import demo_server

pytestmark = pytest.mark.thorough

DENIAL = 'pods "debug" is forbidden: ValidatingAdmissionPolicy'
WARNING = "from next year on a `cost-center` label will be required"


@pytest.mark.parametrize(
    ("programs", "line"),
    [
        (["kubectl", "curl"], "configmap/settings created\n"),
        (["curl"], "/configmaps\n201 created: settings\n"),
        ([], "$ POST /api/v1/namespaces/shop/configmaps\n201 created: settings\n"),
    ],
    ids=["kubectl", "curl", "neither"],
)
def test_it_shows_what_is_created_and_what_is_denied(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    programs: list[str],
    line: str,
) -> None:
    found = {name: shutil.which(name) for name in programs}
    for name, path in found.items():
        if path is None:
            pytest.skip(f"{name} is not installed")
    monkeypatch.setattr(shutil, "which", found.get)
    with contextlib.chdir(ROOT):
        demo_server.main()
    shown = "".join(capfd.readouterr())
    assert "serves Kubernetes 1.36 at https://127.0.0.1:" in shown
    assert DENIAL in shown
    assert WARNING in shown
    assert line in shown
    assert ("\n$ curl " in shown) == (programs == ["curl"])
