"""`celadon check` from outside: a thousand small manifests against twenty policies.

The whole command is timed by the clock on the wall: starting Python, reading files, compiling,
judging, reporting. Once with manifests in JSON, once in YAML.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import yaml

from bench import engine
from bench.load import binding, policy

MANIFESTS: Final = 1000
RUNS: Final = 8


def manifest(number: int) -> dict[str, Any]:
    """A small Deployment that the policies admit."""
    name = f"shop-{number}"
    labels = {"app": f"{name}-frontend", "team": "storefront", "env": "prod"}
    container = {
        "name": "app",
        "image": f"registry.example.com/shop/frontend:v1.0.{number}",
        "ports": [{"containerPort": 8080}],
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}},
        "securityContext": {"runAsNonRoot": True, "capabilities": {"add": ["CHOWN"]}},
    }
    pod_spec = {
        "automountServiceAccountToken": False,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {
            "replicas": 1 + number % 5,
            "selector": {"matchLabels": {"app": labels["app"]}},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec},
        },
    }


def _write_policies(folder: Path) -> None:
    folder.mkdir()
    for number, expression in enumerate(engine.expressions()):
        name = f"policy-{number:02}"
        both = [policy(name, [expression]), binding(name)]
        (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(both))


def _write_manifests(folder: Path, kind: str) -> None:
    folder.mkdir()
    for number in range(MANIFESTS):
        one = manifest(number)
        text = json.dumps(one, indent=2) if kind == "json" else yaml.safe_dump(one)
        (folder / f"{one['metadata']['name']}.{kind}").write_text(text)


def _run_seconds(policies: Path, manifests: Path, cache: Path) -> float:
    """`cache` keeps Python's compiled modules, as an installed Celadon has them."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "celadon", "check", "-f", str(policies), str(manifests)]
    start = perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    seconds = perf_counter() - start
    if done.returncode != 0:
        raise ValueError(f"celadon check: {done.stdout[-2000:]}{done.stderr}")
    return seconds


def wall_seconds(runs: int = RUNS) -> dict[str, float]:
    """The best of some runs, by the manifests' format."""
    best = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_policies(folder / "policies")
        for kind in ("json", "yaml"):
            _write_manifests(folder / kind, kind)
            best[kind] = min(
                _run_seconds(folder / "policies", folder / kind, folder / "cache")
                for _ in range(runs)
            )
    return best


if __name__ == "__main__":
    for kind, seconds in wall_seconds().items():
        sys.stdout.write(f"{kind}: {seconds:.2f} s\n")
