"""The commands from outside: what `celadon check` takes for each object, how much memory a long
stream needs, and how long commands take to start.

A thousand small manifests against twenty policies are timed by the clock on the wall: starting
Python, reading files, compiling, judging, reporting. What one object takes is the processor's time
of a thousand in one stream less that of one, against nine policies, in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import yaml

from bench import engine
from bench.load import binding, policy

MANIFESTS: Final = 1000
STREAM: Final = 20_000
RUNS: Final = 8
_KIB_IN_MIB: Final = 1024


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


@dataclass(frozen=True, slots=True)
class Commands:
    """`thousand` are seconds of a thousand files, `each` milliseconds of one object in a stream, by
    format; `stream_mib` is the memory of a long stream; starts are in seconds."""

    thousand: Mapping[str, float]
    each: Mapping[str, float]
    stream_mib: float
    check_start: float
    eval_start: float


@dataclass(frozen=True, slots=True)
class _Run:
    wall: float
    processor: float
    mib: float


def _write_policies(folder: Path, count: int) -> None:
    folder.mkdir()
    for number, expression in enumerate(engine.expressions()[:count]):
        name = f"policy-{number:02}"
        both = [policy(name, [expression]), binding(name)]
        (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(both))


class _Plain(yaml.SafeDumper):
    """As people write: a value that stands in two places is written twice."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def _text(number: int, kind: str, *, indent: int | None = 2) -> str:
    one = manifest(number)
    return json.dumps(one, indent=indent) if kind == "json" else yaml.dump(one, Dumper=_Plain)


def _write_manifests(folder: Path, kind: str) -> None:
    folder.mkdir()
    for number in range(MANIFESTS):
        (folder / f"{number}.{kind}").write_text(_text(number, kind))


def _write_stream(file: Path, count: int, kind: str) -> None:
    between = "\n" if kind == "json" else "---\n"
    with file.open("w") as stream:
        for number in range(count):
            stream.write(_text(number, kind, indent=None) + between)


def _run(arguments: Sequence[str | Path], cache: Path) -> _Run:
    """`cache` keeps Python's compiled modules, as an installed Celadon has them."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "celadon", *map(str, arguments)]
    start = perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ValueError(f"celadon {arguments[0]}: {said[-2000:]}")
    seconds = perf_counter() - start
    return _Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / _KIB_IN_MIB)


def measured(runs: int = RUNS) -> Commands:
    """The best of some runs, each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache, twenty, nine = folder / "cache", folder / "twenty", folder / "nine"
        _write_policies(twenty, 20)
        _write_policies(nine, 9)
        thousand, each = {}, {}
        for kind in ("json", "yaml"):
            files = folder / kind
            _write_manifests(files, kind)
            thousand[kind] = _best_wall(["check", "-f", twenty, files], cache, runs)
            each[kind] = _each(folder, nine, kind, cache, runs)
        stream, first = folder / "stream.yaml", folder / "one.yaml"
        _write_stream(stream, STREAM, "yaml")
        _write_stream(first, 1, "yaml")
        return Commands(
            thousand,
            each,
            _run(["check", "-f", nine, stream], cache).mib,
            _best_wall(["check", "-f", nine, first], cache, runs),
            _best_wall(["eval", "1+1"], cache, runs),
        )


def _best_wall(arguments: Sequence[str | Path], cache: Path, runs: int) -> float:
    return min(_run(arguments, cache).wall for _ in range(runs))


def _each(folder: Path, policies: Path, kind: str, cache: Path, runs: int) -> float:
    """Milliseconds of the processor for one object."""
    taken = []
    for count in (1, MANIFESTS):
        stream = folder / f"stream-{count}.{kind}"
        _write_stream(stream, count, kind)
        command: list[str | Path] = ["check", "--jobs", "1", "-f", policies, stream]
        taken.append(min(_run(command, cache).processor for _ in range(runs)))
    return (taken[1] - taken[0]) / (MANIFESTS - 1) * 1e3


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(prog="python -m bench.check", description=__doc__).parse_args()
    sys.stdout.write(f"{measured()}\n")


if __name__ == "__main__":
    main()
