"""Packages that servers need."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from celadon.cli.options import missing_package
from tests.paths import ROOT


def test_all_are_there() -> None:
    assert missing_package() == ""


def test_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if "t" in name else name)
    assert missing_package() == "`cryptography` is not installed: pip install 'celadon[serve]'"


def test_etcd_needs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_package(on_etcd=True) == ""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: {"pycurl": None}.get(name, name))
    assert missing_package() == ""
    assert missing_package(on_etcd=True) == (
        "`pycurl` is not installed: pip install 'celadon[etcd]'"
    )


_WITHOUT = """\
import sys
for name in ("cryptography", "httpcore", "msgspec", "uvloop", *sys.argv.pop(1).split()):
    sys.modules[name] = None
from celadon.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
_POLICY = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "named"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ]
        },
        "validations": [{"expression": "object.metadata.name != 'x'"}],
    },
}
_MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
_NEEDED = "error: a cluster needs a package more: pip install 'celadon[serve]'"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("check -f policy.json one.json", 0, "1 object"),
        ("check --kubernetes-version 1.31,1.36 -f policy.json one.json", 0, "no differences"),
        ("explain -f policy.json one.json", 0, "named"),
        ("audit -f policy.json one.json", 0, "1 object"),
        ("audit --kubernetes-version 1.31..1.36 -f policy.json one.json", 0, "no differences"),
        ("audit --etcd-snapshot one.json -f policy.json", 2, "1 unreadable"),
        ("replay -f policy.json one.json", 0, "0 events"),
        ("lint policy.json", 0, ""),
        ("eval 1+1", 0, "2"),
        ("library list", 0, "image-registry"),
        ("audit --library one.json", 0, "1 object"),
        ("migrate --plan one.json", 2, "there is no policy of Kyverno"),
        ("diff policy.json policy.json", 0, "same"),
        ("prove policy.json", 0, ""),
        ("migrate policy.json", 2, "there is no policy of Kyverno"),
        ("audit --from-cluster -f policy.json", 2, _NEEDED),
        ("audit --from-cluster --kubernetes-version 1.35,1.36 -f policy.json", 2, _NEEDED),
        ("serve", 2, "`cryptography` is not installed: pip install 'celadon[serve]'"),
        ("webhook -f policy.json", 2, "`cryptography` is not installed"),
    ],
)
def test_only_what_speaks_to_others_needs_them(
    tmp_path: Path, command: str, code: int, said: str
) -> None:
    (tmp_path / "policy.json").write_text(json.dumps(_POLICY))
    (tmp_path / "one.json").write_text(json.dumps(_MANIFEST))
    done = _run(tmp_path, _WITHOUT, "", *command.split())
    assert (done.returncode, "internal error" in done.stderr) == (code, False), done.stderr
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "without", "extra"),
    [
        ("diff policy.json policy.json", "z3", "prove"),
        ("prove policy.json", "z3", "prove"),
        ("migrate policy.json", "jmespath", "migrate"),
        ("lsp", "pygls", "lsp"),
    ],
)
def test_what_else_is_needed_is_said(
    tmp_path: Path, command: str, without: str, extra: str
) -> None:
    (tmp_path / "policy.json").write_text(json.dumps(_POLICY))
    done = _run(tmp_path, _WITHOUT, without, *command.split())
    assert done.returncode == 2
    assert f"is not installed: pip install 'celadon[{extra}]'" in done.stderr


_LOADED = """\
import json, sys
from celadon.cli.main import main
try:
    main(["check", "one.yaml"])
except SystemExit:
    pass
print(json.dumps([one for one in sys.modules if one.startswith("celadon.")]), file=sys.stderr)
"""


def test_a_check_that_calls_nobody_loads_no_server(tmp_path: Path) -> None:
    """It may not be installed, and takes longer to load than everything else."""
    (tmp_path / "one.yaml").write_text(json.dumps(_MANIFEST))
    done = _run(tmp_path, _LOADED)
    loaded = json.loads(done.stderr.splitlines()[-1])
    rooms = ("celadon.apiserver", "celadon.storage", "celadon.webhook", "celadon.testing")
    assert "celadon.cli.check.check_run" in loaded
    assert [one for one in loaded if one.startswith(rooms)] == []


def _run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
