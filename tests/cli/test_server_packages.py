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
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
    (tmp_path / "one.yaml").write_text(json.dumps(manifest))
    done = subprocess.run(
        [sys.executable, "-c", _LOADED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = json.loads(done.stderr.splitlines()[-1])
    rooms = ("celadon.apiserver", "celadon.storage", "celadon.webhook", "celadon.testing")
    assert "celadon.cli.check.check_run" in loaded
    assert [one for one in loaded if one.startswith(rooms)] == []
