"""A sample of the recordings against `celadon serve` as a process; `make conformance` runs all.

Those that are about HTTP itself are always among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recorded.replay_tool import differences, tool
from tests.recorded.scenarios import Scenario, scenarios
from tests.recorded.server_process import ServerProcess, served
from tests.recorded.unreached_list import unreached

STEP = 25
ABOUT_HTTP = (
    "accept",
    "audit",
    "compress",
    "content",
    "header",
    "methods",
    "negotiation",
    "pod-minimal",
    "user-agent",
    "warn",
)
KNOWN = unreached()
REACHED = [
    one
    for one in scenarios()
    if one.is_tested
    and one.name not in KNOWN
    and one.group.name != "watch"
    and not one.group.has_hooks
]
SAMPLE = [
    one
    for number, one in enumerate(REACHED)
    if (number % STEP == 0 or any(word in one.path.stem for word in ABOUT_HTTP)) and not one.needs
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.mark.thorough
@pytest.mark.skipif(not SAMPLE, reason="no recordings: set CELADON_SHARED to the shared folder")
@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda one: one.name)
def test_scenario(scenario: Scenario, server: ServerProcess) -> None:
    replay = tool()
    client = replay.Server(server.url, str(server.audit_log))
    wrong = differences(replay, client, json.loads(Path(scenario.path).read_text()))
    if client.conn is not None:
        client.conn.close()
    assert not wrong, "\n".join(wrong)
