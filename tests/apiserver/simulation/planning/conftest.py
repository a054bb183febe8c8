"""All of every plan that a test asks for: the tests say what matters, files say the rest.

A planner that a test calls is followed, and what it plans is compared with the block of the test in
`tests/cases/plans`: steps, statuses, Events and when to look again. `pytest --update-golden` writes
blocks anew, to be read like code.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.simulation.planning.plans import ObjectEvent, Plan, Step, Verb
from celadon.kube import metadata
from tests.paths import ROOT

FOLDER = ROOT / "tests" / "cases" / "plans"
_PLANNERS = "celadon.apiserver.simulation.planning."
_ERROR = "something was refused"


_LONGEST = 1_500


def _json(value: object) -> str:
    """Return the value; of what is long, its beginning and a digest."""
    text = json.dumps(value, sort_keys=True)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}... {hashlib.sha256(text.encode()).hexdigest()}"


def _event(event: ObjectEvent) -> str:
    return f"{event.type} {event.reason}: {event.message}"


def _lines(step: Step) -> Iterator[str]:
    """A step: what is written, and what is said of it."""
    shown: Any = step.object
    name = metadata.name(shown) or metadata.generate_name(shown)
    flags = [
        flag for flag in ("may_exist", "is_foreground", "follows_status") if getattr(step, flag)
    ]
    yield " ".join([step.verb.value, shown["kind"], name, *flags])
    if step.verb is Verb.STATUS:
        yield f"  {_json(shown.get('status'))}"
    elif step.verb in (Verb.CREATE, Verb.UPDATE, Verb.SCALE):
        yield f"  {_json(shown)}"
    if step.done is not None:
        yield f"  done: {_event(step.done)}"
    if step.failed is not None:
        yield f"  failed: {_event(step.failed)}"
    if step.otherwise is not None:
        refused = step.otherwise(_ERROR)
        yield f"  otherwise: {_json(refused.get('status'))}"


def _shown(plan: Plan) -> str:
    again = "never again" if plan.requeue_after is None else f"again after {plan.requeue_after:g}s"
    return "".join(f"{line}\n" for step in plan.steps for line in _lines(step)) + f"{again}\n"


def _blocks(path: Path) -> dict[str, str]:
    """What stands below the name of each test."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(autouse=True)
def whole_plans(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Follow the planners of the test's module. What properties ask for is not followed: it depends
    on their examples."""
    plans: list[Plan] = []

    def followed(planner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(planner)
        def call(*args: Any, **kwargs: Any) -> Any:
            made = planner(*args, **kwargs)
            plans.append(getattr(made, "plan", made))
            return made

        return call

    for name, planner in list(vars(request.module).items()):
        of = getattr(planner, "__module__", None) or ""
        if name.endswith("_plan") and callable(planner) and of.startswith(_PLANNERS):
            monkeypatch.setattr(request.module, name, followed(planner))
    yield
    if not plans or hasattr(request.function, "hypothesis"):
        return
    path = FOLDER / f"{request.path.stem.removeprefix('test_')}.txt"
    name = request.node.name
    shown = "---\n".join(map(_shown, plans))
    if request.config.getoption("--update-golden"):
        blocks = {**_blocks(path), name: f"{shown}\n"}
        path.write_text("".join(f"=== {one}\n{b}" for one, b in blocks.items()), encoding="utf-8")
    assert f"{shown}\n" == _blocks(path).get(name, "")
