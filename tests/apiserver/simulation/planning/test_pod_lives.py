"""Whole lives of pods: every change of the status and every event, from the first look on.

`tests/cases/pod_lives.txt` holds pods: `=== ` and what the pod is about, then YAML. That has the
`annotations` and the `spec` of the pod, perhaps the `configMaps` and `secrets` that there are, a
`release`, `conditions` of others, for how many `looks` the pod is followed, and whether it is
`killed` then. Behind `>>>` stands what becomes of it; `pytest --update-golden` writes that anew, to
be read like code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from celadon.apiserver.simulation.planning.pod_lifecycle import (
    DOMAIN,
    Addresses,
    Habits,
    killed_status,
    next_step,
    running_containers,
)
from celadon.apiserver.simulation.planning.pod_predicates import Sources, time_text
from celadon.kube.releases import DEFAULT, answering_as
from tests.paths import ROOT

PATH = ROOT / "tests" / "cases" / "pod_lives.txt"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
WHERE = Addresses("172.18.0.2", "10.244.1.1")
_DIGEST = re.compile("[0-9a-f]{64}")


def _cases() -> dict[str, tuple[str, str]]:
    """Title, and the pod and its life."""
    parts = re.split(r"^=== (.*)\n", PATH.read_text(encoding="utf-8"), flags=re.MULTILINE)
    halves = (part.partition(">>>\n") for part in parts[2::2])
    return {title: (pod, life) for title, (pod, _, life) in zip(parts[1::2], halves, strict=True)}


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Paths and values; what has a name or a type is found by it."""
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            yield from _flat(member, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            name = item.get("name", item.get("type", number)) if isinstance(item, dict) else number
            if isinstance(item, dict) and not any(isinstance(v, dict) for v in item.values()):
                members = (f"{key} {value}" for key, value in item.items() if key != "type")
                yield f"{path}[{name}]", ", ".join(members)
            else:
                yield from _flat(item, f"{path}[{name}]")
    else:
        yield path, _DIGEST.sub(lambda found: found[0][:6], repr(value))


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for path, value in after.items():
        if before.get(path) != value:
            yield f"  {path}: {value}"
    yield from (f"  {path} is gone" for path in before if path not in after)


def _life(given: dict[str, Any]) -> Iterator[str]:
    annotations = {f"{DOMAIN}/{key}": str(v) for key, v in given.get("annotations", {}).items()}
    meta = {"name": "one", "namespace": "shop", "uid": "u-1", "generation": 3}
    pod = {
        "metadata": {**meta, "annotations": annotations},
        "spec": given["spec"],
        "status": {"conditions": given.get("conditions", [])},
    }
    sources = None
    if "configMaps" in given or "secrets" in given:
        maps, secrets = given.get("configMaps", {}), given.get("secrets", {})
        sources = Sources(maps.get, secrets.get)
    habits, now, former = Habits(**given.get("habits", {})), BEGIN, dict(_flat(pod["status"]))
    for _ in range(given.get("looks", 1)):
        step = next_step(pod, WHERE, habits, now, sources)
        pod = {**pod, "status": step.status}
        lacks = ", something lacks" if step.lacks else ""
        yield f"after {(now - BEGIN).total_seconds():g}s{lacks}"
        for event in step.events:
            yield f"  {event.kind} {event.reason} {event.field}: {event.message}"
        flat = dict(_flat(step.status))
        yield from _changes(former, flat)
        former = flat
        if step.requeue_after is None:
            break
        now += timedelta(seconds=step.requeue_after)
    if "killed" in given:
        yield f"killed, running: {list(running_containers(pod))}"
        status = killed_status(pod, time_text(now), *given["killed"])
        yield from _changes(former, dict(_flat(status)))


@pytest.mark.parametrize("title", _cases())
def test_life(title: str, request: pytest.FixtureRequest) -> None:
    cases = _cases()
    text, expected = cases[title]
    given = yaml.safe_load(text)
    with answering_as(given.get("release", DEFAULT)):
        life = "".join(f"{line}\n" for line in _life(given))
    if request.config.getoption("--update-golden"):
        cases[title] = text, f"{life}\n"
        PATH.write_text(
            "".join(f"=== {one}\n{pod}>>>\n{what}" for one, (pod, what) in cases.items()),
            encoding="utf-8",
        )
        return
    assert life == expected.removesuffix("\n")
