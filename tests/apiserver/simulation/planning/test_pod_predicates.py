"""What is told by a pod's status."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.simulation.planning.pod_predicates import (
    Ending,
    ending_of,
    finished_at,
    later,
    read_time,
)
from celadon.kube import JsonObject


def at(minute: int) -> str:
    return f"2026-01-01T00:{minute:02}:00Z"


def status(*ends: int | None, **ready: Any) -> JsonObject:
    """Of a pod whose containers ended at these minutes, or have not."""
    states: list[JsonObject] = [
        {"terminated": {"finishedAt": at(end)}} if end else {"running": {}} for end in ends
    ]
    return {
        "containerStatuses": [{"state": state} for state in states],
        "conditions": [{"type": "Ready", **ready}] if ready else [],
    }


GOING = {"deletionTimestamp": at(40), "deletionGracePeriodSeconds": 120}
UNREADY = {"status": "False", "lastTransitionTime": at(30)}


@pytest.mark.parametrize(
    ("meta", "state", "minute"),
    [
        (GOING, status(10, 20, **UNREADY), 20),
        (GOING, status(10, None, **UNREADY), 30),
        (GOING, status(10, None, status="True", lastTransitionTime=at(30)), 38),
        (GOING, {}, 38),
        ({"deletionTimestamp": at(40)}, {}, 40),
        ({}, {}, 1),
    ],
)
def test_when_a_pod_ended(meta: JsonObject, state: JsonObject, minute: int) -> None:
    pod = {"metadata": {"creationTimestamp": at(1), **meta}, "status": state}
    assert finished_at(pod).strftime("%M") == f"{minute:02}"


@pytest.mark.parametrize(
    ("text", "year"),
    [
        (None, 2),
        ("0000-01-01T00:00:00Z", 2),
        ("0001-01-01T00:00:00Z", 2),
        ("2026-01-01T00:00:00Z", 2026),
        ("9999-12-31T23:59:59Z", 9000),
    ],
)
def test_times_beyond_all_years(text: str | None, year: int) -> None:
    """Go has them, and anybody may write a status."""
    moment = read_time(text)
    assert moment.year == year
    assert later(moment, (1 << 63) - 1).year == 9000
    assert later(moment, -(1 << 63)).year == 2
    assert (later(moment, 60) - moment).total_seconds() == (60 if year < 9000 else 0)


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        (["sleep", "30"], Ending(30, 0)),
        (["/bin/sleep", "1.5m", "2"], Ending(92, 0)),
        (["sleep", "infinity"], Ending(None, 0)),
        (["sleep", "999999999d"], Ending(None, 0)),
        (["/bin/true"], Ending(0, 0)),
        (["false"], Ending(0, 1)),
        (["echo", "a; exit 1"], Ending(0, 0)),
        (shell(""), Ending(0, 0)),
        (shell("exit 3"), Ending(0, 3)),
        (shell("exit 257"), Ending(0, 1)),
        (shell("false; exit"), Ending(0, 1)),
        (shell("\n  echo 'failing; now' >&2\n  sleep 5\n\n  exit 42\n"), Ending(5, 42)),
        (shell('echo "it is $(date)" > /dev/termination-log && sleep 1 && exit 2'), Ending(1, 2)),
        (shell("false && sleep 5 || exit 4"), Ending(0, 4)),
        (shell("true || exit 4"), Ending(0, 0)),
        (shell("sleep 1h; false"), Ending(3600, 1)),
        (["bash", "-c", "echo $0", "name"], Ending(0, 0)),
    ],
)
def test_what_commands_tell_of_their_end(command: list[str], ending: Ending) -> None:
    assert ending_of({"name": "app", "command": command}) == ending
    assert ending_of({"name": "app", "args": command}) == ending
    assert ending_of({"name": "app", "command": command[:1], "args": command[1:]}) == ending


@pytest.mark.parametrize(
    "command",
    [
        [],
        [""],
        ["server", "--port=80"],
        ["exit", "1"],
        [":"],
        ["sleep"],
        ["sleep", "$(PAUSE)"],
        ["sleep", "-1"],
        ["sh"],
        ["sh", "script.sh"],
        shell("exit $CODE"),
        shell("exit -1"),
        shell("sleep ²"),
        shell("exit ²"),
        shell("server & exit 1"),
        shell("(exit 1)"),
        shell("while true; do echo hello; sleep 10; done"),
        shell("if [ -f /data ]; then exit 0; fi; exit 1"),
        shell("exit 1 # always"),
        shell("echo 'open; exit 1"),
        shell("echo `exit 1`"),
        shell("echo " + "a" * 1000),
    ],
)
def test_most_commands_tell_nothing_of_their_end(command: list[str]) -> None:
    assert ending_of({"name": "app", "command": command}) is None
