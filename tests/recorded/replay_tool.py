"""The shared replaying tool, loaded as it is: what is compared, and how, is its business."""

from __future__ import annotations

import importlib.util
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.paths import shared_folder


def tool_path() -> Path:
    return shared_folder() / "tools" / "replay.py"


def tool() -> ModuleType:
    """A module of its own at each call, so that its parts can be exchanged."""
    spec = importlib.util.spec_from_file_location("shared_replay", tool_path())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(
    replay: Any, server: Any, scenario: dict[str, Any], ca_bundle: str | None = None
) -> list[str]:
    """What a server of the tool answers otherwise than recorded; empty if everything agrees.
    `ca_bundle` is that of the hook server, base64."""
    try:
        answers = replay.run(server, scenario, 0.0, ca_bundle)
    except Exception:  # noqa: BLE001  the scenario cannot go on: that is what is reported
        return ["failed: " + traceback.format_exc().strip()[-600:]]
    found = []
    for number, (step, answer) in enumerate(zip(scenario["steps"], answers, strict=False)):
        different = replay.differences(step["want"], answer)
        found += [f"step {number} {replay.title(step)}: {one}" for one in different]
    return found
