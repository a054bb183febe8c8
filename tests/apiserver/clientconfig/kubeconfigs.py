"""Kubeconfigs for tests, and a program that prints credentials."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def write_kubeconfig(path: Path, user: dict[str, Any], **cluster: Any) -> Path:
    """One cluster, one user, one context, all called `here`."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": {"server": "https://127.0.0.1:1", **cluster}}],
        "users": [{"name": "here", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}],
        "current-context": "here",
    }
    path.write_text(json.dumps(config))
    return path


def printing_plugin(folder: Path, printed: Any) -> dict[str, Any]:
    """An `exec` that prints this, and counts in `count` how often it ran."""
    program = folder / "plugin.py"
    program.write_text(
        "import os, pathlib, sys\n"
        f"count = pathlib.Path({str(folder / 'count')!r})\n"
        "count.write_text(str(int(count.read_text() or 0) + 1 if count.exists() else 1))\n"
        f"pathlib.Path({str(folder / 'asked')!r}).write_text(os.environ['KUBERNETES_EXEC_INFO'])\n"
        f"sys.stdout.write({printed if isinstance(printed, str) else json.dumps(printed)!r})\n"
    )
    return {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(program)],
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
