"""Replays requests of all kinds: `python -m tests.recorded.api PATH... [--show N]`.

A step that this server cannot express is left out alone where it changes nothing (a read, a dry
run, a refusal), or else ends its scenario. Prints, for each kind of registration object, how many
of the recorded refusals (400 and 422 answers to writes) were reproduced to the letter, what was
left out and why, and as the last line `N passed, N failed`: scenarios with at least one step that
could be compared.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celadon.admission.registration.registration_kinds import BY_RESOURCE
from tests.recorded.calls import Call, parse
from tests.recorded.command import run
from tests.recorded.compare import differences, find
from tests.recorded.policy import comparable, creation, wait_for
from tests.recorded.server import Server
from tests.recorded.unsupported import Unsupported

PREFIX = "/apis/admissionregistration.k8s.io/"
WRITES = {"POST", "PUT", "PATCH"}
REFUSALS = {400, 422}
SAVED = re.compile(r"\$\{(\w+)\}")
FILLED = ("path", "body", "headers", "wait")
TIMEOUT = re.compile(r"-?[0-9]+s")


@dataclass
class Result:
    """`refusals` and `agreed` count the recorded refusals by kind."""

    name: str
    wrong: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    compared: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)


def replay(scenario: dict[str, Any], name: str) -> Result:
    result = Result(name)
    needs = scenario.get("needs", [])
    all_versions = "api/all" in needs if any(n.startswith("api/") for n in needs) else None
    server = Server(all_versions=all_versions)
    saved: dict[str, str] = {}
    try:
        for item in scenario.get("setup", []):
            step = _filled(item if "method" in item else creation(server, item), saved)
            answer = server.handle(parse(step))
            server.run_controllers()
            if answer.code >= 300 and answer.code != 409:
                result.wrong.append(f"setup: {answer.code} {json.dumps(answer.body)[:600]}")
                return result
        for i, step in enumerate(scenario["steps"]):
            _run(server, i, _filled(step, saved), saved, result)
    except Unsupported as reason:
        result.left_out.append(str(reason))
    return result


def _run(
    server: Server, i: int, step: dict[str, Any], saved: dict[str, str], result: Result
) -> None:
    kind = _kind(step)
    refusal = kind if step["method"] in WRITES and step["want"]["code"] in REFUSALS else ""
    if refusal:
        result.refusals[refusal] += 1
    try:
        if "wait" in step:
            wait_for(server, step["wait"])
        answer = server.handle(_expressible(step))
    except Unsupported as reason:
        if step["method"] != "GET" and not refusal and "dryRun" not in step["path"]:
            raise
        result.left_out.append(f"{reason} (refusal)" if refusal else str(reason))
        return
    saved.update({key: str(find(answer.body, at)) for key, at in step.get("save", {}).items()})
    found = differences(step["want"], comparable(answer, step))
    server.run_controllers()
    result.compared += 1
    result.wrong += [f"step {i} {step['method']} {step['path']}: {one}" for one in found]
    if refusal and not found:
        result.agreed[refusal] += 1


def _kind(step: dict[str, Any]) -> str:
    parts = step["path"].partition("?")[0].removeprefix(PREFIX).split("/")
    entry = BY_RESOURCE.get(parts[1]) if len(parts) > 1 else None
    return "" if entry is None else entry.kind


def _expressible(step: dict[str, Any]) -> Call:
    path = step["path"].partition("?")[0]
    if len(path.rstrip("/").split("/")) < (4 if path.startswith("/api/") else 5):
        raise Unsupported("discovery")
    if path.endswith("/"):
        raise Unsupported("paths with a slash at the end")
    if "Authorization" in step.get("headers", {}):
        raise Unsupported("authentication")
    if "contentType" in step and step["contentType"] is None:
        raise Unsupported("bodies that are not JSON")
    call = parse(step)
    if not call.accept.startswith("application/json") or "Partial" in call.accept:
        raise Unsupported("content negotiation")
    if call.method == "GET" and "watch" in call.query:
        raise Unsupported("watches")
    if "timeout" in call.query and TIMEOUT.fullmatch(call.first("timeout")) is None:
        raise Unsupported("checks of the timeout parameter")
    if step.get("raw") and not step["path"].startswith(PREFIX):
        raise Unsupported("the order of members in other kinds")
    if "keepHeaders" in step:
        raise Unsupported("headers")
    return call


def _filled(step: dict[str, Any], saved: dict[str, str]) -> dict[str, Any]:
    """The step with `${NAME}` replaced by what an earlier one saved."""

    def change(value: Any) -> Any:
        if isinstance(value, str):
            return SAVED.sub(lambda found: saved.get(found[1], found[0]), value)
        if isinstance(value, list):
            return [change(item) for item in value]
        if isinstance(value, dict):
            return {key: change(item) for key, item in value.items()}
        return value

    return {key: change(value) if key in FILLED else value for key, value in step.items()}


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
    refusals: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for result in found:
        refusals += result.refusals
        agreed += result.agreed
    for kind in sorted(refusals):
        lines.append(f"{kind:34} {agreed[kind]:3} of {refusals[kind]:3} refusals")
    reasons = Counter(reason for one in found for reason in one.left_out)
    lines += [f"left out: {count:3} {reason}" for reason, count in reasons.most_common()]
    failed = sum(bool(one.wrong) for one in found)
    passed = sum(not one.wrong and one.compared > 0 for one in found)
    lines.append(f"{passed} passed, {failed} failed")
    return "\n".join(lines)


def main() -> int:
    return run(str(__doc__), results, report)


if __name__ == "__main__":
    sys.exit(main())
