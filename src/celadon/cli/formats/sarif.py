"""SARIF 2.1.0, which code scanning services read: what the reports of all commands have in common.

One run with the rules it knows, a result for each finding, and a notification for each input that
could not be read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final
from urllib.parse import quote

from celadon import __version__
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column count from 1; a line of 0 is the file as a whole."""

    file: str
    line: int
    column: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    """A finding. `level` is `error`, `warning` or `note`; `logical` names the object, and `related`
    are other places that belong to it, each with what it is."""

    rule: str
    level: str
    text: str
    position: Position
    logical: str
    related: Sequence[tuple[Position, str]] = field(default_factory=tuple)


def document(
    rules: Sequence[dict[str, Any]], results: Sequence[Result], problems: Sequence[Problem]
) -> str:
    """The whole text; `rules` are reporting descriptors, among them those of all results."""
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {"name": "celadon", "semanticVersion": __version__, "rules": list(rules)}
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, numbers[one.rule]) for one in results],
        "invocations": [
            {
                "executionSuccessful": not problems,
                "toolExecutionNotifications": [_notification(one) for one in problems],
            }
        ],
    }
    made = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _result(one: Result, number: int) -> dict[str, Any]:
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": one.logical}]}
    if one.position.file:
        location = {"physicalLocation": _physical(one.position), **location}
    made = {
        "ruleId": one.rule,
        "ruleIndex": number,
        "level": one.level,
        "message": {"text": one.text},
        "locations": [location],
    }
    if one.related:
        made["relatedLocations"] = [
            {"id": number, "physicalLocation": _physical(place), "message": {"text": what}}
            for number, (place, what) in enumerate(one.related, 1)
        ]
    return made


def _notification(problem: Problem) -> dict[str, Any]:
    place = Position(problem.file, problem.line)
    return {
        "level": "error",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": _physical(place)}],
    }


def _physical(place: Position) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(place.file.replace("\\", "/"))}}
    if place.line:
        location["region"] = {"startLine": place.line, "startColumn": place.column}
    return location
