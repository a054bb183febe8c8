"""`celadon audit` from outside: what an object of a stream takes, and how much memory a cluster of
100,000 mixed objects needs.

The stream has what clusters have: Pods and Deployments above all, the Services, ConfigMaps,
Secrets and Events around them, and custom resources, each as a server writes it, on a line of its
own. Twenty policies are about half of them. `python -m bench.audit FILE` writes such a stream.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from bench.expressions import CASES
from bench.load import binding, policy
from bench.objects import ACTIVATIONS

OBJECTS: Final = 100_000
POLICIES: Final = 20
_KIB_IN_MIB: Final = 1024
_NAMESPACES: Final = 200

Json = dict[str, Any]


def _labels(number: int) -> dict[str, str]:
    return {"app": f"shop-{number % 700}", "team": f"team-{number % 31}"}


def _like(kind: str) -> Callable[[int], Json]:
    original = ACTIVATIONS[kind][0]["object"]

    def made(number: int) -> Json:
        return copy.deepcopy(original)

    return made


def _config_map(number: int) -> Json:
    data = {f"key-{n}": f"value {number} of {n}, as long as such things are" for n in range(12)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": data}


def _secret(number: int) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"key": "c2VjcmV0" * 9}}


def _service(number: int) -> Json:
    ports = [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}]
    spec = {"clusterIP": f"10.0.{number % 250}.7", "ports": ports, "selector": _labels(number)}
    return {"apiVersion": "v1", "kind": "Service", "spec": {**spec, "type": "ClusterIP"}}


def _event(number: int) -> Json:
    about = {"kind": "Pod", "name": f"shop-{number}", "namespace": f"ns-{number % _NAMESPACES}"}
    said = {"reason": "Pulled", "message": "Container image is already present", "type": "Normal"}
    return {"apiVersion": "v1", "kind": "Event", "involvedObject": about, "count": 3, **said}


_MADE: Final[tuple[Callable[[int], Json], ...]] = (
    _like("Pod"),
    _like("Pod"),
    _like("Pod"),
    _like("Deployment"),
    _like("Deployment"),
    _service,
    _config_map,
    _secret,
    _event,
    _like("PostgresCluster"),
)


def mixed_objects(count: int) -> Iterator[Json]:
    """The objects of a cluster; one in fifty has an image that no policy wants."""
    for number in range(count):
        made = _MADE[number % len(_MADE)](number)
        made["metadata"] = {
            **made.get("metadata", {}),
            "name": f"shop-{number}",
            "namespace": f"ns-{number % _NAMESPACES}",
            "labels": {**made.get("metadata", {}).get("labels", {}), **_labels(number)},
            "uid": f"00000000-0000-4000-8000-{number:012}",
            "resourceVersion": str(number + 1),
            "creationTimestamp": "2026-01-01T00:00:00Z",
        }
        if number % 50 == 0 and made["kind"] == "Pod":
            made["spec"]["containers"][0]["image"] = "docker.io/library/nginx"
        yield made


def write_stream(file: Path, count: int) -> None:
    """As JSON lines."""
    with file.open("w", encoding="utf-8") as stream:
        for one in mixed_objects(count):
            stream.write(json.dumps(one, separators=(",", ":")) + "\n")


def policies() -> Iterator[Json]:
    """Half about Deployments and half about Pods, with their bindings."""
    for kind, group, resource in (("Deployment", "apps", "deployments"), ("Pod", "", "pods")):
        cases = [
            case
            for case in CASES
            if case.kind == kind
            and case.variables == ("object",)
            and "orValue" not in case.expression  # not of type bool to a server
            and case.by_hand(ACTIVATIONS[kind][0]["object"]) is True
        ]
        for number in range(POLICIES // 2):
            chosen = cases[len(cases) * number // (POLICIES // 2)]
            name = f"{kind.lower()}-{number:02}"
            made = policy(name, [chosen.expression])
            rule = made["spec"]["matchConstraints"]["resourceRules"][0]
            rule["apiGroups"], rule["resources"] = [group], [resource]
            yield made
            yield binding(name)


@dataclass(frozen=True, slots=True)
class Audited:
    """Seconds by the clock and of processors, and the memory of the largest process."""

    wall: float
    processor: float
    mib: float


def audited(folder: Path, count: int, *options: str) -> Audited:
    """One run over a stream of so many objects."""
    given, stream = folder / "policies.json", folder / f"{count}.jsonl"
    given.write_text("\n".join(json.dumps(one) for one in policies()), encoding="utf-8")
    if not stream.exists():
        write_stream(stream, count)
    command = [sys.executable, "-m", "celadon", "audit", "-f", str(given), str(stream), *options]
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        raise ValueError(f"celadon audit ended with {process.returncode}")
    seconds = perf_counter() - start
    return Audited(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / _KIB_IN_MIB)


def measured(count: int = OBJECTS) -> Audited:
    """All processors, all objects."""
    with tempfile.TemporaryDirectory() as name:
        return audited(Path(name), count)


def main() -> None:
    """Write a stream."""
    parser = argparse.ArgumentParser(prog="python -m bench.audit", description=__doc__)
    parser.add_argument("file", type=Path, help="where the stream is written")
    write_stream(parser.parse_args().file, OBJECTS)


if __name__ == "__main__":
    main()
