"""The Python of browsers proves as ours does: what `web/decide.mjs` hears of the page's solver,
beside the same questions here."""

from __future__ import annotations

import functools
import json
import subprocess
from typing import Any

import pytest
import yaml

from celadon.cli.playground.browser_api import proof
from tests.paths import ROOT
from tests.playground.built_site import WEB, built_site, needs_site, needs_solver

pytestmark = [needs_site, needs_solver, pytest.mark.thorough]

EXAMPLES = ("no-privileged-pods", "replica-limit", "required-labels")
GALLERY = yaml.safe_load((WEB / "gallery" / "13-proofs.yaml").read_text())["state"]
DEFINITION = yaml.safe_load((WEB / "gallery" / "11-rules.yaml").read_text())["state"]


def questions() -> dict[str, tuple[str, dict[str, Any]]]:
    texts = {one: (ROOT / "examples/policies" / f"{one}.yaml").read_text() for one in EXAMPLES}
    policies = {one: {"version": 1, "panes": {"policy": text}} for one, text in texts.items()}
    return {
        **{f"prove {one}": ("prove", state) for one, state in policies.items()},
        "prove definition": ("prove", DEFINITION),
        **{f"{question} gallery": (question, GALLERY) for question in ("prove", "diff", "claim")},
    }


@functools.cache
def in_browsers() -> dict[str, Any]:
    """What is heard of each question."""
    asked = [(name, {"state": state, **LIMITS}) for name, state in questions().values()]
    done = subprocess.run(
        ["node", str(WEB / "decide.mjs"), str(built_site()), "--proofs"],
        input="".join(f"{json.dumps(one)}\n" for one in asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(questions(), map(json.loads, done.stdout.splitlines()), strict=True))


LIMITS = {"items": 2, "seconds": 10}


@pytest.mark.parametrize("name", sorted(questions()))
def test_browsers_say_the_same(name: str) -> None:
    """But for the objects of examples: solvers of other versions may find others."""
    question, state = questions()[name]
    news: list[Any] = []
    text = json.dumps({"state": state, **LIMITS})
    result = json.loads(proof(question, text, lambda one: news.append(json.loads(one))))
    heard = in_browsers()[name]
    assert without_objects(heard["news"]) == without_objects(news)
    assert without_objects(heard["answer"]) == without_objects(result)
    assert result.get("summary") or result["report"]["answers"]


def without_objects(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_objects(one) for name, one in value.items() if name not in OBJECTS}
    return [without_objects(one) for one in value] if isinstance(value, list) else value


OBJECTS = {"object", "oldObject", "around", "user", "groups", "panes", "message", "remark"}


@pytest.mark.parametrize("name", sorted(questions()))
def test_a_tab_has_room_for_it(name: str) -> None:
    """In all: the Python, the solver and node itself."""
    assert in_browsers()[name]["megabytes"] < 800
