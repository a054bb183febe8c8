"""Recorded requests up to the handler: who gets in, and what reviews answer.

Every recorded refusal of authentication, impersonation, authorization and role checks comes out to
the letter, every request that was let in is let in, and every review has the recorded body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.paths import recordings
from tests.recorded.compare import differences, drop, find, normalise
from tests.serve.access.front_desk import Answer, FrontDesk, recorded_request

NAMES = re.compile(
    "(auth|authz|rbac|ssar|ssrr|sar|local-sar|impersonate|can-i|token-reviews|"
    "service-account-token-request|user|req-impersonated|real-rbac)-?.*"
)
REVIEWS = re.compile("reviews$|/token$")
BY_ACCESS = re.compile('User ".*" cannot |attempting to grant|^Unauthorized$|without impersonating')


def scenarios() -> Iterator[Any]:
    for folder in ("api", "clients", "policy", "apply", "mutating"):
        for one in recordings(folder):
            if one.id == "absent" or NAMES.match(str(one.id)):
                yield one


def recorded_body(step: dict[str, Any]) -> Any:
    body = step["want"].get("body")
    return json.loads(body) if step.get("raw") else body


def is_ours(step: dict[str, Any]) -> bool:
    """Whether the recorded answer is one that access gives."""
    body = recorded_body(step)
    return isinstance(body, dict) and bool(BY_ACCESS.search(body.get("message", "")))


def compared(step: dict[str, Any], got: Answer) -> list[str]:
    want = step["want"]
    review = step["method"] == "POST" and REVIEWS.search(step["path"].partition("?")[0])
    if got.body is None:
        return [f"let in, want {want['body']}"] if is_ours(step) else []
    if not review and not is_ours(step):
        return [f"refused with {got.body}"]
    if "managedFields" in json.dumps(want):
        return []  # what a handler adds before the review is asked
    found = differences(shown(step, recorded_body(step)), shown(step, normalise(got.body)))
    found += differences(want["code"], got.code, "code")
    return found + differences(want["warnings"], list(got.warnings), "warnings")


def shown(step: dict[str, Any], body: Any) -> Any:
    """As the recorder shows it: masked, without what is ignored, sorted where order is random."""
    document = {"body": masked(body, step.get("mask", ()))}
    for pointer in step.get("ignore", ()):
        drop(document, pointer)
    for pointer in step.get("unordered", ()):
        found = find(document, pointer)
        if isinstance(found, list):
            found.sort(key=lambda one: json.dumps(one, sort_keys=True))
    return document["body"]


def masked(value: Any, patterns: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {name: masked(member, patterns) for name, member in value.items()}
    if isinstance(value, list):
        return [masked(member, patterns) for member in value]
    if isinstance(value, str):
        for pattern in patterns:
            value = re.sub(pattern, "<masked>", value)
    return value


@pytest.mark.parametrize("path", list(scenarios()))
def test_recorded(path: Path) -> None:
    scenario = json.loads(path.read_text(encoding="utf-8"))
    desk = FrontDesk()
    for item in scenario.get("setup", ()):
        obj = item.get("body") if "method" in item else item
        if isinstance(obj, dict) and "kind" in obj:
            desk.set_up(obj)
    saved: dict[str, str] = {}
    wrong = []
    for number, step in enumerate(scenario["steps"]):
        if "method" not in step:
            continue
        got = desk.answer(recorded_request(step, saved))
        for name, pointer in step.get("save", {}).items():
            saved[name] = str(find(got.body or {}, pointer))
        wrong += [f"step {number}: {one}" for one in compared(step, got)]
        if got.body is None and step["method"] == "POST" and step["want"]["code"] == 201:
            desk.set_up({"kind": "", **step.get("body", {})})
    assert not wrong
