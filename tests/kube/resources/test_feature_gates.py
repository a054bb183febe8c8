"""The feature gates of each release: those that its servers have named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from celadon.kube.resources.feature_gates import (
    BadFeatureGates,
    FeatureGate,
    gates_of,
    is_gate_on,
    said_gates,
)
from tests.paths import shared

RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")
IN_HELP = re.compile(r"(\w+)=true\|false \((ALPHA|BETA|DEPRECATED|GA) - default=(true|false)\)")


def told(folder: Path) -> dict[str, tuple[str, bool]]:
    """Stage and default by name, as metrics and `--help` say them."""
    metrics = json.loads((folder / "feature-gates.json").read_text(encoding="utf-8"))
    gates = {name: (one["stage"].lower() or "ga", one["enabled"]) for name, one in metrics.items()}
    text = (folder / "feature-gates-help.txt").read_text(encoding="utf-8")
    for name, stage, default in IN_HELP.findall(text):
        gates.setdefault(name, (stage.lower(), default == "true"))
    return gates


@pytest.mark.parametrize("release", RELEASES)
def test_gates_are_those_that_a_server_names(release: str) -> None:
    gates = {name: (gate.stage, gate.on) for name, gate in gates_of(release).items()}
    assert gates == told(shared("releases", release))


def test_what_a_gate_was_from_release_to_release() -> None:
    history = [gates_of(f"1.{minor}").get("AppArmor") for minor in range(29, 37)]
    beta, locked = FeatureGate("beta", on=True), FeatureGate("ga", on=True, locked=True)
    assert history == [beta, beta, locked, locked, None, None, None, None]


def test_gates_that_are_gone_are_as_they_were() -> None:
    assert [is_gate_on("JobSuccessPolicy", f"1.{minor}") for minor in (30, 31, 33, 36)] == [
        *(False, True, True, True)
    ]
    assert "AppArmor" not in gates_of("1.36")
    assert is_gate_on("AppArmor", "1.36")
    assert not is_gate_on("EnvFiles", "1.30")
    assert not is_gate_on("Nobody", "1.36")


def test_what_is_said_of_gates() -> None:
    text = "WatchList=true,StorageVersionAPI=true"
    assert said_gates(text, "1.36") == {"StorageVersionAPI": True, "WatchList": True}


def test_a_gate_that_is_on_needs_others_since_1_35() -> None:
    text = "GracefulNodeShutdown=false"
    assert said_gates(text, "1.34") == {"GracefulNodeShutdown": False}
    message = (
        "[GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are "
        "disabled: [GracefulNodeShutdown], WindowsGracefulNodeShutdown is enabled, but depends on "
        "features that are disabled: [GracefulNodeShutdown]]"
    )
    with pytest.raises(BadFeatureGates) as raised:
        said_gates(text, "1.35")
    assert str(raised.value) == message
