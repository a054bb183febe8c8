"""Replays recorded policy scenarios: `python -m tests.recorded.policy PATH... [--show N]`.

Prints the agreement by group (the first word of a scenario's file name), why the rest cannot be
expressed here, and as the last line `N passed, N failed`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celadon.admission.registration.member_order import ordered
from celadon.kube.go import json_text
from tests.recorded.calls import parse
from tests.recorded.command import run
from tests.recorded.compare import decoded, differences, drop, find, masked, normalise
from tests.recorded.server import Answer, Server
from tests.recorded.unsupported import Unsupported


@dataclass(frozen=True)
class Result:
    """`unsupported` is a reason; otherwise no `wrong` means agreement."""

    name: str
    wrong: tuple[str, ...] = ()
    unsupported: str = ""

    @property
    def group(self) -> str:
        return self.name.partition("-")[0]


def replay(scenario: dict[str, Any], name: str) -> Result:
    server = Server()
    try:
        for item in scenario.get("setup", []):
            step = item if "method" in item else creation(server, item)
            answer = server.handle(parse(step))
            server.run_controllers()
            if answer.code >= 300 and answer.code != 409:
                return Result(name, (f"setup: {answer.code} {json.dumps(answer.body)[:600]}",))
        wrong: list[str] = []
        for i, step in enumerate(scenario["steps"]):
            if "wait" in step:
                wait_for(server, step["wait"])
            got = comparable(server.handle(parse(step)), step)
            server.run_controllers()
            where = f"step {i} {step['method']} {step['path']}"
            wrong += [f"{where}: {d}" for d in differences(step["want"], got)]
    except Unsupported as reason:
        return Result(name, unsupported=str(reason))
    return Result(name, tuple(wrong))


def creation(server: Server, obj: dict[str, Any]) -> dict[str, Any]:
    return {"method": "POST", "path": server.path_of(obj), "body": obj}


def wait_for(server: Server, wait: dict[str, Any]) -> None:
    """What a controller has not done by now, it will not do. Schemas are published at once."""
    if wait["path"].startswith("/openapi"):
        return
    answer = server.handle(parse({"method": "GET", "path": wait["path"]}))
    found = find(answer.body, wait["pointer"])
    if found is None or found != wait.get("equals", found):
        raise Unsupported(f"waits for a controller to set {wait['pointer']}")


def comparable(answer: Answer, step: dict[str, Any]) -> dict[str, Any]:
    got: dict[str, Any] = {
        "code": answer.code,
        "body": json_text(ordered(answer.body)) + "\n"
        if step.get("raw")
        else normalise(answer.body, None, tuple(step.get("keep", ()))),
        "warnings": [text.encode("utf-8").decode("latin-1") for text in answer.warnings],
        "audit": {key: decoded(value) for key, value in sorted(answer.audit.items())},
    }
    for pattern in step.get("mask", []):
        got = masked(got, re.compile(pattern))
    for pointer in step.get("ignore", []):
        drop(got, pointer)
    for pointer in step.get("unordered", []):
        found = find(got, pointer)
        if isinstance(found, list):
            found.sort(key=lambda one: json.dumps(one, sort_keys=True))
    return got


def results(paths: Iterable[Path]) -> list[Result]:
    found = []
    for path in paths:
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            found.append(replay(json.loads(file.read_text()), file.stem))
    return found


def report(found: list[Result], show: int) -> str:
    lines = []
    for result in [one for one in found if one.wrong][:show]:
        lines += [f"FAIL {result.name}", *(f"    {line}" for line in result.wrong[:6])]
    groups = {result.group for result in found}
    for group in sorted(groups):
        mine = [one for one in found if one.group == group and not one.unsupported]
        good = sum(not one.wrong for one in mine)
        left = sum(one.group == group and bool(one.unsupported) for one in found)
        lines.append(
            f"{group:12} {good:3} of {len(mine):3}" + (f", {left} left out" if left else "")
        )
    reasons = Counter(one.unsupported for one in found if one.unsupported)
    lines += [f"left out: {count:3} {reason}" for reason, count in reasons.most_common()]
    failed = sum(bool(one.wrong) for one in found)
    passed = sum(not one.wrong and not one.unsupported for one in found)
    lines.append(f"{passed} passed, {failed} failed")
    return "\n".join(lines)


def main() -> int:
    return run(str(__doc__), results, report)


if __name__ == "__main__":
    sys.exit(main())
